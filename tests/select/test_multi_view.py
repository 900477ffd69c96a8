"""What selectors of several views have in common."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal.select._base import Ranked
from vicinal.select._multi_view import MultiViewSelector
from vicinal.views import stack_views


class Spread(MultiViewSelector):
    """Scores columns by their standard deviation."""

    def __init__(self, n_features_to_select=0.5, *, views=None):
        self.n_features_to_select = n_features_to_select
        self.views = views

    def _rank(self, X):
        scores = np.empty(X.shape[1])
        for columns, part in zip(self.views_.values(), self._split(X).values(), strict=True):
            scores[columns] = (part.toarray() if sp.issparse(part) else part).std(axis=0)
        return Ranked(scores)


class Ruled(Spread):
    """Keeps one column of the first view, two of the second."""

    _has_rule = True

    def _rank(self, X):
        ranked = super()._rank(X)
        ranked.n_auto = list(range(1, len(self.views_) + 1))
        return ranked


@parametrize_with_checks([Spread()])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 7)) * [1, 5, 3, 2, 70, 30, 50]


VIEWS = {"small": slice(0, 4), "large": slice(4, 7)}


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_columns_compete_within_their_view(X, as_given):
    selector = Spread(2, views=VIEWS).fit(as_given(X))
    np.testing.assert_allclose(selector.scores_, X.std(axis=0))
    assert list(selector.view_scores_) == list(selector.views_) == ["small", "large"]
    np.testing.assert_array_equal(selector.view_scores_["large"], selector.scores_[4:])
    np.testing.assert_array_equal(selector.get_support(indices=True), [1, 2, 4, 6])
    np.testing.assert_array_equal(selector.ranking_, [7, 2, 4, 6, 1, 5, 3])
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= 4)
    assert selector.transform(as_given(X)).shape == (30, 4)


@pytest.mark.parametrize(
    ("wanted", "kept"),
    [
        (1, [1, 4]),
        (0.5, [1, 2, 4, 6]),
        ([1, 2], [1, 4, 6]),
        (np.array([1, 2]), [1, 4, 6]),
        ((0.25, "all"), [1, 4, 5, 6]),
        ({"large": 1, "small": 3}, [1, 2, 3, 4]),
        ("all", list(range(7))),
    ],
)
def test_numbers_per_view(X, wanted, kept, monkeypatch):
    np.testing.assert_array_equal(Spread(wanted, views=VIEWS).fit(X).get_support(indices=True), kept)
    selector = Spread(views=VIEWS).fit(X)
    monkeypatch.setattr(Spread, "_rank", None)
    np.testing.assert_array_equal(selector.with_n_features(wanted).get_support(indices=True), kept)


def test_a_rule_per_view(X):
    selector = Ruled("auto", views=VIEWS).fit(X)
    np.testing.assert_array_equal(selector.get_support(indices=True), [1, 4, 6])
    assert selector.n_auto_ == [1, 2]
    np.testing.assert_array_equal(selector.with_n_features([2, "auto"]).get_support(indices=True), [1, 2, 4, 6])


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (4, "n_features_to_select=4, but the view 'large' has 3 features; ask for fewer, or for 'all'."),
        ([1, 4], "the view 'large' has 3"),
        ({"small": 5, "large": 1}, "the view 'small' has 4"),
        ([1], "has 1 numbers, but there are 2 views, 'small', 'large'"),
        ({"small": 1}, "names the views 'small', but the views are 'small', 'large'"),
        ({"small": 1, "large": 1, "huge": 1}, "give a number for each of them"),
        ([0, 1], "whole number of at least 1"),
        ("auto", "got 'auto'"),
        ([1, None], "got None"),
    ],
)
def test_numbers_that_make_no_sense(X, wanted, sentence):
    with pytest.raises(ValueError, match=sentence):
        Spread(wanted, views=VIEWS).fit(X)
    with pytest.raises(ValueError, match=sentence):
        Spread(views=VIEWS).fit(X).with_n_features(wanted)


def test_views_are_checked_against_what_is_fitted(X):
    with pytest.raises(ValueError, match="but X has columns 0 to 4 only"):
        Spread(views=VIEWS).fit(X[:, :5])
    with pytest.raises(ValueError, match="but X has 7 features"):
        Spread(8).fit(X)


def test_views_by_the_names_of_columns(X):
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    views = {"even": list("aceg"), "odd": list("bdf")}
    selector = Spread(1, views=views).set_output(transform="pandas").fit(frame)
    assert list(selector.transform(frame).columns) == ["b", "e"] or list(selector.transform(frame).columns) == [
        "e",
        "f",
    ]
    assert list(selector.get_feature_names_out()) == list(selector.transform(frame).columns)
    with pytest.raises(ValueError, match="no names"):
        clone(selector).fit(X)


def test_cross_validation_with_views(X):
    y = np.arange(30) % 2
    stacked, views = stack_views({"a": X[:, :4], "b": sp.csr_array(X[:, 4:])})
    pipeline = make_pipeline(Spread(views=views), LinearSVC())
    grid = {"spread__n_features_to_select": [1, [2, 1]], "spread__views": [views, [4, 3], [3, 4]]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(stacked, y)
    assert search.best_estimator_[0].support_.sum() in (2, 3)

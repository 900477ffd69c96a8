"""What all selectors have in common."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import NDFS, SNFS, UDFS, LaplacianScore, MaximumVariance


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 8)) * np.arange(1, 9)


def test_scores_ranking_and_support_belong_together(X):
    selector = MaximumVariance(3).fit(X)
    np.testing.assert_allclose(selector.scores_, X.var(axis=0))
    assert sorted(selector.ranking_) == list(range(1, 9))
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= 3)
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.support_])
    np.testing.assert_allclose(selector.objective_, selector.scores_[selector.support_].sum())
    assert selector.n_iter_ == 1


def test_another_number_of_features_needs_no_fit(X, monkeypatch):
    selector = MaximumVariance(3).fit(X)
    monkeypatch.setattr(MaximumVariance, "_rank", None)
    other = selector.with_n_features(5)
    assert other.support_.sum() == other.n_features_to_select == 5
    assert other.objective_ > selector.objective_
    assert selector.support_.sum() == selector.n_features_to_select == 3
    assert selector.with_n_features("all").transform(X).shape == X.shape
    assert selector.with_n_features(0.25).support_.sum() == 2


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (9, "n_features_to_select=9, but X has 8 features; ask for fewer, or for 'all'."),
        (0, "whole number of at least 1"),
        (-1, "got -1"),
        (1.5, "got 1.5"),
        (0.0, "got 0.0"),
        (True, "got True"),
        ("auto", "got 'auto'"),
        ("some", "got 'some'"),
        (None, "got None"),
    ],
)
def test_numbers_that_make_no_sense(X, wanted, sentence):
    with pytest.raises(ValueError, match="n_features_to_select") as caught:
        MaximumVariance(wanted).fit(X)
    assert sentence in str(caught.value)
    with pytest.raises(ValueError, match="n_features_to_select"):
        MaximumVariance().fit(X).with_n_features(wanted)


def test_one_row_is_refused(X):
    with pytest.raises(ValueError, match="1 sample"):
        MaximumVariance().fit(X[:1])


def test_names_of_columns(X):
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    selector = MaximumVariance(2).fit(frame)
    assert list(selector.get_feature_names_out()) == ["g", "h"]
    assert list(selector.set_output(transform="pandas").transform(frame).columns) == ["g", "h"]


def test_sparse_rows_stay_sparse_and_single_precision_stays(X):
    sparse = sp.csr_array(X.astype(np.float32))
    selector = MaximumVariance(2).fit(sparse)
    np.testing.assert_allclose(selector.scores_, X.var(axis=0), rtol=1e-5)
    assert sp.issparse(selector.transform(sparse))
    assert selector.transform(sparse).dtype == np.float32


def test_in_a_pipeline_and_a_grid(X, rng):
    y = (X[:, 7] > 0).astype(int)
    grid = {"maximumvariance__n_features_to_select": [1, 4, "all"]}
    search = GridSearchCV(make_pipeline(MaximumVariance(), LinearSVC()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("selector", [SNFS(), LaplacianScore(), MaximumVariance()])
def test_a_failed_fit_leaves_no_trace(selector, X):
    selector.fit(X)
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="NaN"):
        selector.fit(np.where(X > 5, np.nan, X))
    assert vars(selector) == before


def test_shares_are_not_rounded_up_by_a_crumb(rng):
    X = rng.normal(size=(5, 100))
    assert [MaximumVariance(share).fit(X).support_.sum() for share in (0.07, 0.55, 0.551)] == [7, 55, 56]


def test_duplicate_entries_count_together_and_constants_have_no_variance(rng):
    rows = sp.csr_matrix((np.array([1.0, 1, 2, 1]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4, 4])), shape=(4, 2))
    np.testing.assert_allclose(MaximumVariance("all").fit(rows).scores_, [0.75, 0.6875])
    X = np.column_stack([np.full(1001, 1e8 + 0.1), 1e-9 * rng.normal(size=1001), np.full(1001, 0.1)])
    assert MaximumVariance("all").fit(X).ranking_[1] == 1


@pytest.mark.parametrize("wrong", [2_000_000_000, -7, 25])
def test_indices_that_point_nowhere_are_refused(wrong):
    X = sp.random(50, 20, 0.3, format="csr", random_state=0)
    X.indices[5] = wrong
    with pytest.raises(ValueError, match="ind"):
        MaximumVariance().fit(X)


@pytest.mark.parametrize(
    ("selector", "change"),
    [
        (MaximumVariance(), lambda X: 1e200 * X),
        (UDFS(2, n_clusters=2), lambda X: 1e20 * X),
        (NDFS(2, n_clusters=2), lambda X: X + 1e9),
    ],
)
def test_numbers_too_large_to_compute_with(selector, change, X):
    with pytest.raises(ValueError, match="to a common scale around 0 first"):
        selector.fit(change(X))

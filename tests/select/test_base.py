"""What all selectors have in common."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import SNFS, LaplacianScore, MaximumVariance


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

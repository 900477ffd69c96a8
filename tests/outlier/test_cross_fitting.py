"""p-values of all rows of a table: uniform where rows are exchangeable, by detectors that have not seen the row."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalOutlierDetector, NeighborOutlierDetector
from vicinal.outlier import cross_fitted_p_values


class Memory(OutlierMixin, BaseEstimator):
    """The first column is a row's strangeness; rows that were seen are not strange at all."""

    def fit(self, X, y=None):
        self.seen_ = set(X[:, 0].tolist())
        return self

    def score_samples(self, X):
        return np.array([0.0 if value in self.seen_ else -value for value in X[:, 0]])


@pytest.mark.portable
def test_uniform_on_exchangeable_rows():
    """The p-values of one row over seeds: means and tails as those of uniform numbers."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(300):
        X = rng.standard_t(3, size=(40, 3))
        detector = LocalOutlierDetector(10, random_state=seed)
        found.append(cross_fitted_p_values(detector, X, random_state=seed)[:2])
    found = np.concatenate(found)
    for level in (0.1, 0.25, 0.5, 0.9):
        assert abs((found <= level).mean() - level) < 4 * np.sqrt(level * (1 - level) / len(found)), level


def test_rows_are_scored_by_who_has_not_seen_them():
    X = np.arange(1.0, 41)[:, None]
    p_values = cross_fitted_p_values(Memory(), X, n_folds=4, random_state=0)
    assert sorted(np.rint(10 * p_values).astype(int).tolist()) == sorted(4 * list(range(1, 11)))
    assert p_values[np.argmax(X)] == 0.1


def test_rows_that_are_equally_strange_have_equal_p_values():
    assert cross_fitted_p_values(Memory(), np.ones((8, 1)) * [[3.0]], random_state=0).tolist() == [1.0] * 8


def test_outliers_have_the_least():
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:3] = 9 * np.eye(4)[:3] + 5
    forest = IsolationForest(n_estimators=50, random_state=0)
    detectors = LocalOutlierDetector(40, random_state=0), NeighborOutlierDetector(random_state=0), forest
    for detector in (*detectors, make_pipeline(StandardScaler(), detectors[0])):
        p_values = cross_fitted_p_values(detector, X, random_state=0)
        assert p_values[:3].max() <= 0.04
    with pytest.raises(AttributeError):
        detectors[0].offset_  # noqa: B018


def test_frames_and_sparse_rows():
    X = np.random.default_rng(0).normal(size=(60, 3))
    detector = LocalOutlierDetector(10, random_state=0)
    expected = cross_fitted_p_values(detector, X, random_state=0)
    names = ["a", "b", "c"]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        np.testing.assert_array_equal(cross_fitted_p_values(detector, frame, random_state=0), expected)
    unscaled = LocalOutlierDetector(10, scale=None, random_state=0)
    dense, sparse = (cross_fitted_p_values(unscaled, given, random_state=0) for given in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse, dense)
    np.testing.assert_array_equal(cross_fitted_p_values(detector, X, random_state=0), expected)


def test_what_is_refused():
    with pytest.raises(ValueError, match="2 folds need at least 4 rows; there are 3"):
        cross_fitted_p_values(LocalOutlierDetector(), np.eye(3))
    with pytest.raises(ValueError, match="n_folds must be a whole number of at least 2; got 1"):
        cross_fitted_p_values(LocalOutlierDetector(), np.eye(9), n_folds=1)

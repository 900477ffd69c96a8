"""Scales of data sets: what is learned of the training rows, and what stays sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from vicinal._preparation import SCALES, scaler


def test_minmax(rng):
    X = rng.normal(size=(30, 4))
    scaled = scaler("minmax", X).fit_transform(X)
    np.testing.assert_allclose([scaled.min(axis=0), scaled.max(axis=0)], [[0] * 4, [1] * 4], atol=1e-12)


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_matrix_keeps_ratios_and_learns_from_training_rows_only(as_input):
    X = np.array([[0, 50, 100], [200, 0, 0]], dtype=np.uint8)
    by_range = scaler("matrix", as_input(X))
    scaled = by_range.fit_transform(as_input(X))
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(np.asarray(scaled.todense() if sp.issparse(scaled) else scaled), X / 200)
    more = by_range.transform(as_input(np.array([[400, 0, 0]], dtype=np.int16)))
    assert more.max() == 2


def test_matrix_of_mixed_signs_and_of_zeros():
    X = np.array([[-1.0, 3.0], [np.nan, 0.0]])
    np.testing.assert_allclose(scaler("matrix", X).fit_transform(X), [[-0.25, 0.75], [np.nan, 0]])
    np.testing.assert_array_equal(scaler("matrix", np.zeros((2, 2))).fit_transform(np.zeros((2, 2))), 0)


@pytest.mark.parametrize("kind", SCALES)
def test_csr_stays_sparse(kind):
    X = sp.random(20, 5, density=0.3, format="csr", random_state=0)
    scaled = scaler(kind, X).fit_transform(X)
    assert sp.issparse(scaled)
    assert scaled.nnz == X.nnz


class TestTfidf:
    @pytest.fixture
    def counts(self, rng):
        return sp.csr_matrix(rng.poisson(1.0, (75, 36)), dtype=np.float32)

    def test_is_that_of_all_rows(self, counts):
        made = scaler("tfidf", counts).fit_transform(counts)
        assert made.dtype == np.float32
        np.testing.assert_allclose(made.toarray(), TfidfTransformer().fit_transform(counts).toarray())
        np.testing.assert_allclose(sp.linalg.norm(made, axis=1), 1, rtol=1e-6)
        dense = counts.toarray()
        np.testing.assert_allclose(made.toarray(), scaler("tfidf", dense).fit_transform(dense).toarray())

    def test_negative_numbers_are_refused(self):
        with pytest.raises(ValueError, match="TF-IDF is for counts, but the least value is -1; take another scale"):
            scaler("tfidf", np.array([[-1.0, 2.0]]))


def test_unknown_scales_are_refused():
    with pytest.raises(ValueError, match=r"scale must be one of 'none', 'standard', .*; got 'columns'"):
        scaler("columns", np.eye(2))

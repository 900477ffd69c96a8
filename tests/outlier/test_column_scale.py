"""Columns of any size made comparable."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.outlier._column_scale import FARTHEST, ColumnScale


def test_columns_get_unit_variance_whatever_their_units():
    X = np.random.default_rng(0).normal([1e9, 0, -3], [100, 1e-20, 1e150], size=(500, 3))
    scaled = ColumnScale.of(X, "euclidean").apply(X)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-5)


def test_missing_values_are_left_out():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    scale = ColumnScale.of(X, "euclidean")
    assert scale.center.tolist() == [2.0, 0.0]
    assert scale.scale.tolist() == [1.0, 1.0]
    np.testing.assert_array_equal(scale.apply(X), np.array([[-1, np.nan], [1, np.nan], [np.nan, np.nan]], np.float32))


def test_constant_columns_keep_their_size():
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    scale = ColumnScale.of(X, "euclidean")
    np.testing.assert_allclose(scale.apply(X)[:, 0], 0, atol=1e-6)
    assert np.isclose(scale.apply(np.array([[1.1, 0.0]]))[0, 0] * scale.scale[0], 1.0)


def test_the_zeros_of_sparse_rows_stay_zeros_and_distances_are_those_of_dense_ones():
    X = sp.random_array((200, 5), density=0.3, rng=0, format="csr")
    scaled = ColumnScale.of(X, "euclidean").apply(X)
    assert scaled.nnz == X.nnz
    dense = ColumnScale.of(X.toarray(), "euclidean").apply(X.toarray())
    np.testing.assert_allclose(np.diff(scaled.toarray(), axis=0), np.diff(dense, axis=0), atol=1e-5)


def test_angles_keep_their_origin():
    X = np.random.default_rng(0).uniform(1, 2, size=(50, 3))
    assert ColumnScale.of(X, "cosine").center.tolist() == [0, 0, 0]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_undone_it_is_what_it_was(container):
    X = container(np.random.default_rng(0).normal(5, 3, size=(40, 4)))
    scale = ColumnScale.of(X, "euclidean")
    back = scale.undo(scale.apply(X))
    np.testing.assert_allclose(*(part.toarray() if sp.issparse(part) else part for part in (back, X)), rtol=1e-5)


def test_the_farthest_values_stay_finite():
    X = np.random.default_rng(0).normal(size=(30, 1))
    scale = ColumnScale.of(X, "euclidean")
    assert scale.apply(np.array([[1e300], [-1e300]])).ravel().tolist() == [FARTHEST, -FARTHEST]

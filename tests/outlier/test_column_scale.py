"""Columns of any size made comparable."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.outlier._column_scale import FARTHEST, ColumnScale


def scale_of(X):
    return ColumnScale.of(X, unit_variance=True)


def test_columns_get_unit_variance_whatever_their_units():
    X = np.random.default_rng(0).normal([5, 0, -3], [1, 1e-20, 1e150], size=(500, 3))
    scaled = scale_of(X).apply(X)
    assert scaled.dtype == np.float32
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-5)
    assert ColumnScale.of(X, unit_variance=False).scale.tolist() == [1, 1, 1]


def test_columns_far_from_zero_are_in_double_precision():
    X = np.random.default_rng(0).normal(1e9, 1, size=(500, 1))
    scaled = scale_of(X).apply(X)
    assert scaled.dtype == np.float64
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-5)


def test_missing_values_are_left_out():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    scale = scale_of(X)
    assert scale.scale.tolist() == [1.0, 1.0]
    assert scale.largest == 3
    np.testing.assert_array_equal(scale.apply(X), X.astype(np.float32))


def test_constant_columns_keep_their_size():
    X = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    assert 0.03 < scale_of(X).scale[0] <= 1


@pytest.mark.parametrize("seed", range(20))
def test_sparse_rows_are_those_of_dense_ones_digit_by_digit(seed):
    X = sp.random_array((200, 5), density=0.3, rng=seed, format="csr")
    sparse, dense = scale_of(X), scale_of(X.toarray())
    np.testing.assert_array_equal(sparse.scale, dense.scale)
    np.testing.assert_array_equal(sparse.apply(X).toarray(), dense.apply(X.toarray()))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_undone_it_is_what_it_was(container):
    X = container(np.random.default_rng(0).normal(5, 3, size=(40, 4)))
    scale = scale_of(X)
    back = scale.undo(scale.apply(X))
    np.testing.assert_allclose(*(part.toarray() if sp.issparse(part) else part for part in (back, X)), rtol=1e-5)


def test_the_farthest_values_stay_finite():
    X = np.random.default_rng(0).normal(size=(30, 1))
    scale = scale_of(X)
    limit = np.float32(FARTHEST * scale.largest)
    assert scale.apply(np.array([[1e300], [-1e300]])).ravel().tolist() == [limit, -limit]

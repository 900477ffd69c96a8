"""Features of parts that are no cells."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from vicinal.model._maps import ColumnsAndRanks, KernelAtRows


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(80, 5))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_inner_products_are_the_kernels(rows, make):
    X = np.where(rows > 0, rows, 0)
    map_ = KernelAtRows(200, sharpness=2.0).fit(make(X))
    made = map_.transform(make(X))
    np.testing.assert_allclose(made @ made.T, rbf_kernel(X, gamma=2 / X.var(axis=0).sum()), atol=5e-4)


def test_a_part_of_the_rows_comes_near(rows):
    many = np.repeat(rows, 3, axis=0) + 0.01 * np.random.default_rng(1).normal(size=(240, 5))
    map_ = KernelAtRows(80, random_state=0).fit(many)
    made = map_.transform(many)
    assert made.shape == (240, 80)
    assert np.abs(made @ made.T - rbf_kernel(many, gamma=map_.gamma_)).mean() < 0.05


def test_equal_rows_and_constant_columns_do_no_harm():
    for X in (np.ones((10, 2)), np.repeat(np.eye(3), 5, axis=0)):
        assert np.isfinite(KernelAtRows().fit_transform(X.astype(np.float32))).all()
        assert np.isfinite(ColumnsAndRanks().fit_transform(X.astype(np.float32))).all()


def test_columns_and_ranks_have_a_mean_squared_length_of_one(rows):
    X = np.exp(3 * rows).astype(np.float32)
    made = ColumnsAndRanks().fit_transform(X)
    assert made.shape == (80, 10)
    assert (made**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-5)
    np.testing.assert_array_equal(np.argsort(made[:, 5]), np.argsort(X[:, 0]))
    sparse = ColumnsAndRanks().fit_transform(sp.csr_array(X))
    assert sparse.shape == (80, 5)
    assert sparse.multiply(sparse).sum() / 80 == pytest.approx(1, rel=1e-5)

"""Leading eigenvectors by products with blocks, against dense ones."""

import numpy as np
import pytest

from vicinal._optim import leading_subspace


def with_values(rng, n, values):
    """A symmetric matrix with these eigenvalues, and its eigenvectors."""
    vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return (vectors * values) @ vectors.T, vectors


@pytest.mark.parametrize(
    "leading",
    [
        [5.0, 4.0, 3.0],
        [5.0, 5.0, 5.0],  # as often as the block is wide
        [1e-3, 0.9e-3, 0.8e-3],
        [1.05, 1.04, 1.03],
    ],
)
def test_equal_to_dense_ones(rng, leading):
    n = 150
    values = np.concatenate([leading, np.linspace(-1, 1, n - 3) * min(1.0, 0.5 * leading[-1])])
    A, vectors = with_values(rng, n, values)
    found, U = leading_subspace(lambda block: A @ block, rng.normal(size=(n, 5)), 3, tol=1e-9, max_iter=500)
    np.testing.assert_allclose(found[:3], leading, rtol=1e-9)
    np.testing.assert_allclose(U.T @ U, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(U[:, :3] @ U[:, :3].T, vectors[:, :3] @ vectors[:, :3].T, atol=1e-6)


def test_no_product_is_lost_where_the_start_is_near(rng):
    A, vectors = with_values(rng, 100, np.linspace(1, 0, 100) ** 4)
    calls = []

    def product(block):
        calls.append(block)
        return A @ block

    leading_subspace(product, vectors[:, :6], 3)
    assert len(calls) == 1


def test_the_sum_never_falls_below_that_of_the_start(rng):
    A, _ = with_values(rng, 80, rng.normal(size=80))
    start = np.linalg.qr(rng.normal(size=(80, 4)))[0]
    before = np.linalg.eigvalsh(start.T @ A @ start)[::-1][:2].sum()
    for max_iter in range(1, 12):
        values, vectors = leading_subspace(lambda block: A @ block, start, 2, max_iter=max_iter)
        np.testing.assert_allclose(np.diag(vectors.T @ A @ vectors), values, atol=1e-10)
        assert values[:2].sum() >= before - 1e-12
        before = values[:2].sum()


def test_matrices_of_low_rank_and_of_zeros(rng):
    v = rng.normal(size=(60, 1))
    values, vectors = leading_subspace(lambda block: v @ (v.T @ block), rng.normal(size=(60, 4)), 2)
    np.testing.assert_allclose(values[:2], [np.vdot(v, v), 0], atol=1e-9)
    np.testing.assert_allclose(np.abs(vectors[:, 0] @ v / np.linalg.norm(v)), 1)
    values, vectors = leading_subspace(np.zeros_like, rng.normal(size=(60, 4)), 2)
    assert not values.any()
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)

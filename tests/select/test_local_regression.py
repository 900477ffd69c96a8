import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.graphs import nearest_rows
from vicinal.select._local_regression import (
    gaussian_kernel,
    kernel_regression_laplacian,
    kernel_regression_weights,
    local_learning_laplacian,
    local_learning_weights,
    robust_squared_width,
    robust_weights,
    squared_from_mean,
)

LAPLACIANS = [local_learning_laplacian, kernel_regression_laplacian]
WEIGHTS = [local_learning_weights, kernel_regression_weights]


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 6)) + 1


def huber(distances, width):
    return np.where(distances <= width, distances**2, 2 * width * distances - width**2)


@pytest.mark.parametrize("ridge", [0.01, 1.0, 30.0])
def test_local_learning_is_kernel_ridge_regression_within_each_neighbourhood(X, ridge):
    A = local_learning_weights(X, 5, ridge=ridge).toarray()
    for i, near in enumerate(nearest_rows(X, n_neighbors=5)[1]):
        K = X[near] @ X[near].T
        expected = X[i] @ X[near].T @ np.linalg.inv(K + ridge * np.trace(K) / 5 * np.eye(5))
        np.testing.assert_allclose(A[i, near], expected, rtol=1e-8, atol=1e-12)
        assert np.count_nonzero(A[i]) == 5


def test_kernel_regression_takes_each_neighbourhoods_robust_middle(X):
    X[7] *= 5
    X[8] = X[7] + 0.1
    S = kernel_regression_weights(X, 6).toarray()
    distances, indices = nearest_rows(X, n_neighbors=6)
    squared = distances**2
    for i, near in enumerate(indices):
        kernel = np.exp(-squared[i] / squared[i].mean())
        between = ((X[near][:, None] - X[near][None]) ** 2).sum(axis=2)
        width = np.sqrt(np.median(between[np.triu_indices(6, 1)]) / 2)  # of 15 pairs
        middle = S[i, near] @ X[near]

        def loss(m, near=near, kernel=kernel, width=width):
            return kernel @ huber(np.linalg.norm(X[near] - m, axis=1), width)

        least = loss(middle)
        for step in 1e-2 * width * np.vstack([np.eye(6), -np.eye(6)]):
            assert loss(middle + step) > least


def test_each_step_of_the_robust_middle_goes_downhill(rng):
    points = rng.normal(size=(20, 6, 3)) * np.exp(rng.normal(size=(20, 6, 1)))
    between = ((points[:, :, None] - points[:, None]) ** 2).sum(axis=3)
    kernel = gaussian_kernel(rng.exponential(size=(20, 6)))
    width = np.sqrt(robust_squared_width(between))

    def losses(n_steps):
        weights = robust_weights(between, kernel, n_steps=n_steps)
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        middle = np.einsum("ij,ijk->ik", weights, points)
        distances = np.linalg.norm(points - middle[:, None], axis=2)
        np.testing.assert_allclose(squared_from_mean(between, weights), distances**2, atol=1e-10)
        return (kernel * huber(distances, width[:, None])).sum(axis=1)

    history = np.array([losses(steps) for steps in range(12)])
    assert (np.diff(history, axis=0) <= 1e-12 * history[:-1]).all()
    assert history[1].sum() < history[0].sum()


def test_a_stray_neighbour_counts_less_than_its_nearness_says():
    X = np.array([[0.0, 0.0], [1.0, 0.1], [1.0, -0.1], [1.1, 0.0], [-1.05, 0.0]])
    S = kernel_regression_weights(X, 4).toarray()
    distances, indices = nearest_rows(X, n_neighbors=4)
    plain = gaussian_kernel(distances[:1] ** 2)[0]
    assert S[0, 4] < 0.2 * plain[indices[0] == 4].item()


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_laplacians_are_positive_semidefinite(X, laplacian):
    L = laplacian(X, 5)
    assert isinstance(L, sp.csr_array)
    dense = L.toarray()
    np.testing.assert_allclose(dense, dense.T, atol=1e-14)
    assert np.linalg.eigvalsh(dense).min() > -1e-12


def test_kernel_regression_reproduces_constants(X):
    assert np.abs(kernel_regression_laplacian(X, 5) @ np.ones(40)).max() < 1e-14


@pytest.mark.parametrize("laplacian", LAPLACIANS)
@pytest.mark.parametrize(
    ("n_copies", "kinds"),
    [
        (1, [sp.csr_array, sp.csr_matrix]),
        (1500, [np.asarray, sp.csr_array, sp.csr_matrix]),  # more values than are gathered at a time
        (20000, [np.asarray]),  # as many in a single neighbourhood
    ],
)
def test_sparse_equals_dense_and_copies_of_columns_change_nothing(X, laplacian, n_copies, kinds):
    X[np.abs(X) < 0.5] = 0
    expected = laplacian(X, 5).toarray()
    for kind in kinds:
        np.testing.assert_allclose(laplacian(kind(np.tile(X, n_copies)), 5).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("laplacian", LAPLACIANS)
def test_order_of_rows_and_unit_of_columns_do_not_matter(X, laplacian, rng):
    order = rng.permutation(40)
    expected = laplacian(X, 5).toarray()
    np.testing.assert_allclose(laplacian(1000 * X[order], 5).toarray(), expected[np.ix_(order, order)], atol=1e-10)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_duplicates_zeros_and_few_rows(weights):
    for X in [np.ones((7, 2)), np.zeros((7, 2)), np.repeat(np.eye(3), 4, axis=0), np.eye(2), np.eye(3)]:
        for n_neighbors in [1, 2, 5, 100]:
            W = weights(X, n_neighbors)
            assert np.isfinite(W.data).all()
            assert (W.diagonal() == 0).all()
    assert weights(np.zeros((7, 2)), 3).sum(axis=1).max() <= 1 + 1e-12
    twins = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_allclose(kernel_regression_weights(twins, 1).toarray(), np.kron(np.eye(2), [[0, 1], [1, 0]]))

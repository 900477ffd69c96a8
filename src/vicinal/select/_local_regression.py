"""Laplacians of what neighbourhoods predict: how far each row's value is from what its nearest rows say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix
from ..graphs import nearest_rows

_BLOCK = 2**22  # values of gathered rows held at a time
_STEPS = 30
_LEAST_WIDTH = 1e-6  # of the mean squared distance, where most points of a neighbourhood are equal


def local_learning_laplacian(X: Matrix, n_neighbors: int = 5, *, ridge: float = 1.0) -> sp.csr_array:
    """``(I - A)'(I - A)`` where row i of A predicts a value at row i by ridge regression within its neighbourhood.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    n_neighbors : int
    ridge : float
        Above 0; see `local_learning_weights`.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semidefinite.
    """
    return _laplacian(local_learning_weights(X, n_neighbors, ridge=ridge))


def kernel_regression_laplacian(X: Matrix, n_neighbors: int = 5) -> sp.csr_array:
    """``(I - S)'(I - S)`` where row i of S predicts a value at row i by robust kernel regression.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    n_neighbors : int

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric and positive semidefinite; constant vectors are mapped to 0.
    """
    return _laplacian(kernel_regression_weights(X, n_neighbors))


def local_learning_weights(X: Matrix, n_neighbors: int = 5, *, ridge: float = 1.0) -> sp.csr_array:
    """Row i holds ``k_i' (K_i + ridge m_i I)^-1``, at the nearest rows of row i.

    K_i are the inner products of the nearest rows with each other, k_i those with row i, and m_i is the nearest rows'
    mean squared length: `ridge` has no unit, and for rows of unit length it is the paper's lambda. Where all nearest
    rows are zero nothing is predicted but 0.
    """
    _, neighbors = nearest_rows(X, n_neighbors=n_neighbors)
    n, k = neighbors.shape
    weights = np.empty((n, k))
    for block in _blocks(n, (k + 1) ** 2 * _values_per_row(X)):
        members = np.column_stack([np.arange(block.start, block.stop), neighbors[block]])
        products = _products_within(X, members)
        K, to_center = products[:, 1:, 1:], products[:, 1:, 0]
        mean = np.trace(K, axis1=1, axis2=2) / k
        scale = np.where(mean > 0, mean, 1.0)
        K = K / scale[:, None, None] + ridge * np.eye(k)
        weights[block] = np.linalg.solve(K, (to_center / scale[:, None])[:, :, None])[:, :, 0]
    return _sparse_rows(neighbors, weights)


def kernel_regression_weights(X: Matrix, n_neighbors: int = 5) -> sp.csr_array:
    """Row i holds what the nearest rows of row i count in their robust middle; the weights of a row sum to 1.

    Plain kernel regression takes the mean of the nearest rows weighted by ``exp(-d^2 / s_i)``, s_i their mean d^2.
    Huber's loss takes the place of its squared loss: a neighbour that strays from the others counts less than its
    nearness to row i says. The middle is found by reweighting, from distances between neighbours only.
    """
    distances, neighbors = nearest_rows(X, n_neighbors=n_neighbors)
    n, k = neighbors.shape
    weights = np.empty((n, k))
    for block in _blocks(n, k**2 * _values_per_row(X)):
        products = _products_within(X, neighbors[block])
        lengths = np.diagonal(products, axis1=1, axis2=2)
        between = np.maximum(lengths[:, :, None] + lengths[:, None, :] - 2 * products, 0.0)
        weights[block] = robust_weights(between, gaussian_kernel(np.square(distances[block])))
    return _sparse_rows(neighbors, weights)


def gaussian_kernel(squared: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row's exp(-d^2 / mean d^2), divided by their sum; equal weights where all distances are 0."""
    nearest = squared.min(axis=1, keepdims=True)
    mean = squared.mean(axis=1, keepdims=True)
    kernel = np.exp((nearest - squared) / np.where(mean > 0, mean, 1.0))
    return kernel / kernel.sum(axis=1, keepdims=True)


def robust_weights(
    between: NDArray[np.float64], kernel: NDArray[np.float64], *, n_steps: int = _STEPS
) -> NDArray[np.float64]:
    """Weights, each row's summing to 1, by which the points' mean m minimises the sum of kernel_j Huber(||x_j - m||).

    Huber's loss is d^2 up to the neighbourhood's own width, and grows like d beyond. The width is what distances from
    the middle would be if all distances between points were their median; no stray point can widen it much.

    Parameters
    ----------
    between : ndarray of shape (m, k, k)
        Squared distances between the k points of each of m neighbourhoods.
    kernel : ndarray of shape (m, k)
        What points count before; each row sums to 1.
    n_steps : int
        Steps of reweighting. 0 gives `kernel` back.
    """
    squared_width = robust_squared_width(between)[:, None]
    weights = kernel
    for _ in range(n_steps):
        squared = np.maximum(squared_from_mean(between, weights), squared_width)
        weights = kernel * np.sqrt(squared_width / squared)
        weights = weights / weights.sum(axis=1, keepdims=True)
    return weights


def robust_squared_width(between: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half the (lower) median squared distance between two points; 1 where all are equal."""
    first, second = np.triu_indices(between.shape[1], 1)
    if not len(first):
        return np.ones(len(between))
    pairs = between[:, first, second]
    middle = (len(first) - 1) // 2
    median = np.partition(pairs, middle, axis=1)[:, middle]
    width = np.maximum(median, _LEAST_WIDTH * pairs.mean(axis=1)) / 2
    return np.where(width > 0, width, 1.0)


def squared_from_mean(between: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Squared distances of points from their weighted mean, by those between points."""
    to_others = np.einsum("ijk,ik->ij", between, weights)
    spread = np.einsum("ij,ij->i", to_others, weights)
    return np.maximum(to_others - spread[:, None] / 2, 0.0)


def _products_within(X: Matrix, members: NDArray[np.intp]) -> NDArray[np.float64]:
    """Inner products of rows within each group: of shape (groups, size, size)."""
    n_groups, size = members.shape
    if not sp.issparse(X):
        gathered = X[members]
        return gathered @ gathered.transpose(0, 2, 1)
    first, second = np.triu_indices(size)
    pairs = X[members[:, first].ravel()].multiply(X[members[:, second].ravel()])
    products = np.empty((n_groups, size, size))
    products[:, first, second] = np.asarray(pairs.sum(axis=1)).reshape(n_groups, -1)
    products[:, second, first] = products[:, first, second]
    return products


def _sparse_rows(neighbors: NDArray[np.intp], weights: NDArray[np.float64]) -> sp.csr_array:
    n, k = neighbors.shape
    return sp.csr_array((weights.ravel(), (np.repeat(np.arange(n), k), neighbors.ravel())), shape=(n, n))


def _laplacian(weights: sp.csr_array) -> sp.csr_array:
    missing = sp.csr_array(sp.eye_array(weights.shape[0]) - weights)
    return sp.csr_array(missing.T @ missing)


def _values_per_row(X: Matrix) -> int:
    return 1 + (X.nnz // X.shape[0] if sp.issparse(X) else X.shape[1])


def _blocks(n_rows: int, values_per_row: int) -> Iterator[slice]:
    size = max(1, _BLOCK // values_per_row)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))

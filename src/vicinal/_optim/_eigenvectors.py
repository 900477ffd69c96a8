"""Leading eigenvectors of large symmetric matrices that are known by their products, from a start that is near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Block = NDArray[np.float64]

_DEPTH = 8  # blocks that are kept between two restarts
_DEPENDENT = 1e-10  # of a column's length: what is left below it, without the columns before, is rounding


def leading_subspace(
    product: Callable[[Block], Block], start: Block, n_vectors: int, *, tol: float = 1e-8, max_iter: int = 100
) -> tuple[NDArray[np.float64], Block]:
    """Eigenvectors of a symmetric matrix with the largest eigenvalues, by restarted block Lanczos iterations.

    Many columns are multiplied at once, which costs little more than one of them. The sum of the leading values never
    falls below what `start` gives.

    Parameters
    ----------
    product : callable
        ``product(block)``, the matrix times several columns.
    start : ndarray of shape (n, width)
        Some more columns than vectors are wanted speed it up; eigenvalues that occur up to `width` times are found as
        often. Twice as wide it must still have fewer columns than rows.
    n_vectors : int
    tol : float
        Ends when ``A u - value u`` is no longer than this times the largest value, for each wanted vector u.
    max_iter : int
        Most products.

    Returns
    -------
    values : ndarray of shape (width,)
        In descending order; only the first `n_vectors` are accurate.
    vectors : ndarray of shape (n, width)
        Orthonormal.
    """
    width = start.shape[1]
    basis = np.linalg.qr(start)[0]
    images = last = product(basis)
    values, vectors, moved = _best_of(basis, images, width)
    for _ in range(max_iter - 1):
        residual = moved[:, :n_vectors] - vectors[:, :n_vectors] * values[:n_vectors]
        if np.linalg.norm(residual, axis=0).max() <= tol * np.abs(values).max():
            break
        if basis.shape[1] + width > min(_DEPTH * width, len(basis)):
            basis, images, last = vectors, moved, moved
        last = _orthonormal(last, basis)
        if not last.shape[1]:
            break  # the space holds its own images
        basis = np.hstack([basis, last])
        last = product(last)
        images = np.hstack([images, last])
        values, vectors, moved = _best_of(basis, images, width)
    return values, vectors


def _best_of(vectors: Block, images: Block, width: int) -> tuple[NDArray[np.float64], Block, Block]:
    """The combinations of the columns with the largest values (Rayleigh and Ritz), and their images."""
    values, mixed = np.linalg.eigh(vectors.T @ images)
    mixed = mixed[:, ::-1][:, :width]
    return values[::-1][:width], vectors @ mixed, images @ mixed


def _orthonormal(block: Block, against: Block) -> Block:
    """An orthonormal basis of what columns have beside those of `against`."""
    lengths = np.linalg.norm(block, axis=0)
    block = block[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # once more takes away what rounding left
        block = block - against @ (against.T @ block)
        Q, R, _ = scipy.linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
        block = Q[:, np.abs(np.diag(R)) > _DEPENDENT]
    return block

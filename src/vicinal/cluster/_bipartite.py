"""The graph of rows and columns that non-negative features define: equal weights, and its leading singular vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads, one_blas_thread
from .._optim import leading_subspace
from .._validation import Matrix

_SPARE = 8  # columns beyond the wanted ones, with which iterations converge faster
_DENSE_SIDE = 300  # up to here a dense solver costs less than iterations
_TOLERANCE = 1e-3  # of eigenvectors' residuals: what k-means would not see
_MOST_PRODUCTS = 60
_EQUAL = 1e-6  # of the largest eigenvalue: values that differ by less are one
_BLOCKS = 16  # of about as many entries each: enough to share between threads

Product = Callable[[NDArray], NDArray]


def inverse_roots(totals: NDArray, dtype: np.dtype) -> NDArray:
    """One over the root of each total; 0 for totals of 0."""
    totals = np.asarray(totals, dtype=np.float64).ravel()
    return np.divide(1, np.sqrt(totals), out=np.zeros_like(totals), where=totals > 0).astype(dtype)


def balanced(F: Matrix, column_weights: NDArray) -> Matrix:
    """Columns by their weights, and rows by one over the root of their sum in F."""
    row_weights = inverse_roots(F.sum(axis=1), F.dtype)
    if not sp.issparse(F):
        return F * column_weights * row_weights[:, None]
    parts = F.data * column_weights[F.indices], F.indices, F.indptr
    parts[0][:] *= np.repeat(row_weights, np.diff(F.indptr))
    return sp.csr_array(parts, shape=F.shape)


def leading_right_vectors(
    W: Matrix, n_vectors: int, rng: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest singular values of W, and their right vectors, one to a row; those of values of 0 are zeros.

    The result does not depend on the number of threads: every entry of a product is summed in one order.
    """
    by_rows = W.shape[0] <= W.shape[1]
    with one_blas_thread(), _products(W, n_threads(None)) as (ahead, back):
        first, second = (back, ahead) if by_rows else (ahead, back)
        side = min(W.shape)
        width = n_vectors + _SPARE
        if side <= max(_DENSE_SIDE, 2 * width):
            gram = second(first(np.eye(side, dtype=W.dtype))).astype(np.float64)
            values, vectors = _eigenvectors(gram, rng.normal(size=(side, side)))
        else:
            values, vectors = leading_subspace(
                lambda block: second(first(block.astype(W.dtype))).astype(np.float64),
                rng.normal(size=(side, width)),
                n_vectors,
                tol=_TOLERANCE,
                max_iter=_MOST_PRODUCTS,
            )
        singular_values = np.sqrt(np.maximum(values[:n_vectors], 0.0))
        vectors = np.ascontiguousarray(vectors[:, :n_vectors])
        if by_rows:
            vectors = back(vectors.astype(W.dtype)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=0)
    # They are the roots of eigenvalues, of which rounding leaves as much as this.
    smallest = 8 * np.sqrt(np.finfo(W.dtype).eps) * singular_values.max(initial=0.0)
    kept = (singular_values > smallest) & (lengths > 0)
    vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=kept)
    return np.where(kept, singular_values, 0.0), vectors.T


def _eigenvectors(gram: NDArray, start: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """With the largest values first. Of those with one value, which rounding would choose, `start` chooses."""
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1].copy()
    borders = np.flatnonzero(values[:-1] - values[1:] > _EQUAL * values[0]) + 1
    for first, last in pairwise([0, *borders.tolist(), len(values)]):
        if last - first > 1:
            space = vectors[:, first:last]
            vectors[:, first:last] = space @ np.linalg.qr(space.T @ start[:, : last - first])[0]
    return values, vectors


@contextmanager
def _products(W: Matrix, threads: int) -> Iterator[tuple[Product, Product]]:
    """``W @ block`` and ``W.T @ block``, of sparse matrices by several threads."""
    if not sp.issparse(W):
        yield (lambda block: W @ block), (lambda block: W.T @ block)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield _shared(sp.csr_array(W), pool), _shared(sp.csr_array(W.T), pool)


def _shared(rows: sp.csr_array, pool: ThreadPoolExecutor) -> Product:
    """Blocks of rows are multiplied one by one, whoever does it: SciPy's loops leave other threads free to run."""
    inner = np.searchsorted(rows.indptr, np.linspace(0, rows.nnz, _BLOCKS + 1)[1:-1])
    ends = [0, *np.unique(inner).tolist(), rows.shape[0]]
    parts = [rows[start:end] for start, end in pairwise(ends) if start < end]

    def product(block: NDArray) -> NDArray:
        block = np.ascontiguousarray(block)
        return np.concatenate(list(pool.map(lambda part: part @ block, parts)))

    return product

"""Gram matrices of kernels that are products over the columns, and what goes in and out of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils import gen_batches

from .._validation import Matrix, canonical, refuse_other_than_numbers

BLOCK_ENTRIES = 2**17  # of a block of the Gram matrix that is multiplied up column by column: 1 MB stays in the cache
LARGEST_VALUE = 1e150  # squares of larger ones, and sums of these, would not fit a float64


def checked_pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Matrix, Matrix]:
    """Rows of one number type; CSR with one entry per place. Y is X itself if it is None."""
    same = Y is None or Y is X
    for given in (X,) if same else (X, Y):
        refuse_other_than_numbers(given, "A kernel")
    rows, others = check_pairwise_arrays(X, None if same else Y, accept_sparse="csr")
    rows = canonical(rows)
    return rows, rows if same else canonical(others)


def with_narrow_indices(rows: Matrix) -> Matrix:
    """Indices of 32 bits, where they suffice: not all of scikit-learn reads others."""
    if not sp.issparse(rows) or max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max:
        return rows
    return type(rows)((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)


def refuse_large_values(name: str, rows: Matrix) -> None:
    entries = rows.data if sp.issparse(rows) else rows
    if entries.size and max(float(entries.max()), -float(entries.min())) > LARGEST_VALUE:
        raise ValueError(
            f"{name} has values beyond {LARGEST_VALUE:g}, whose squares are too large for a float64; scale the data "
            "first, for example with sklearn.preprocessing.StandardScaler."
        )


def refuse_overflow(gram: NDArray[Any], what: str) -> NDArray[Any]:
    if not np.isfinite(gram).all():
        raise ValueError(
            f"{what} of these rows is too large for {gram.dtype}; scale the rows down, for example with "
            "sklearn.preprocessing.normalize."
        )
    return gram


def product_over_columns(X: Matrix, Y: Matrix, factor: Callable[..., NDArray[np.float64]]) -> NDArray[Any]:
    """The product of factor(x_i, y_i) over all columns, which must be 1 for two zeros.

    Of CSR rows one column at a time is made dense, and columns without entries are left out.
    """
    out = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    others = Y.tocsc() if sp.issparse(Y) else Y
    for rows in gen_batches(X.shape[0], max(1, BLOCK_ENTRIES // Y.shape[0])):
        block = X[rows].tocsc() if sp.issparse(X) else X[rows]
        columns = np.arange(X.shape[1])
        if sp.issparse(X) and sp.issparse(Y):
            columns = np.flatnonzero(np.diff(block.indptr) + np.diff(others.indptr))
        product = np.ones((block.shape[0], Y.shape[0]))
        for column in columns:
            product *= factor(_column(block, column), _column(others, column))
        with np.errstate(over="ignore"):
            out[rows] = product
    return out


def falling_factorials(degree: int) -> NDArray[np.float64]:
    """p! / (p - k)! for k from 0 to p."""
    return np.cumprod(np.concatenate([[1.0], np.arange(degree, 0, -1, dtype=np.float64)]))


def interaction_sums(X: Matrix, Y: Matrix, weights: NDArray[np.float64]) -> NDArray[Any]:
    """The sum over k of weights[k] times the products x_i y_i of all sets of k columns, summed.

    With each column, the sum of degree k gains the product of the column's x_i y_i and the sum of degree k - 1 so far.
    """
    out = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    others = Y.tocsc() if sp.issparse(Y) else Y
    weights = weights[: X.shape[1] + 1]
    for rows in gen_batches(X.shape[0], max(1, BLOCK_ENTRIES // Y.shape[0])):
        block = X[rows].tocsc() if sp.issparse(X) else X[rows]
        sums = np.zeros((len(weights), block.shape[0], Y.shape[0]))
        sums[0] = 1
        for column in _columns_with_entries(block, others):
            (ours, x), (theirs, y) = _entries(block, column), _entries(others, column)
            places, product = np.ix_(ours, theirs), np.multiply.outer(x, y)
            for k in range(len(weights) - 1, 0, -1):
                sums[k][places] += sums[k - 1][places] * product
        with np.errstate(over="ignore"):
            out[rows] = np.tensordot(weights, sums, axes=1)
    return out


def _columns_with_entries(X: Matrix, Y: Matrix) -> NDArray[np.intp]:
    """Columns in which dense or CSC rows of X and of Y both have entries."""
    counts = [np.diff(table.indptr) for table in (X, Y) if sp.issparse(table)]
    return np.flatnonzero(np.min(counts, axis=0)) if counts else np.arange(X.shape[1])


def _entries(table: Matrix, column: int) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Rows and values of a column's entries."""
    if not sp.issparse(table):
        return np.arange(table.shape[0]), table[:, column].astype(np.float64, copy=False)
    entries = slice(table.indptr[column], table.indptr[column + 1])
    return table.indices[entries], table.data[entries].astype(np.float64, copy=False)


def _column(table: Matrix, column: int) -> NDArray[np.float64]:
    rows, entries = _entries(table, column)
    if not sp.issparse(table):
        return entries
    values = np.zeros(table.shape[0])
    values[rows] = entries
    return values


def over_common_entries(
    X: Matrix,
    Y: Matrix,
    of_x: NDArray[np.float64],
    of_y: NDArray[np.float64],
    combine: np.ufunc,
    term: Callable[..., NDArray[np.float64]],
    finish: Callable[[NDArray[np.float64]], NDArray[np.float64]] = np.asarray,
) -> NDArray[Any]:
    """finish(of_x, of_y and term(x_i, y_i) of all columns in which both CSR rows have entries, combined)."""
    out = np.empty((X.shape[0], Y.shape[0]), dtype=X.dtype)
    others = Y.astype(np.float64).tocsc()
    for rows in gen_batches(X.shape[0], max(1, 16 * BLOCK_ENTRIES // Y.shape[0])):
        block = X[rows].astype(np.float64).tocsc()
        result = combine.outer(of_x[rows], of_y)
        for column in _columns_with_entries(block, others):
            (ours, x), (theirs, y) = _entries(block, column), _entries(others, column)
            places = np.ix_(ours, theirs)
            result[places] = combine(result[places], term(x, y))
        out[rows] = finish(result)
    return out


def cauchy_of_sparse(X: Matrix, Y: Matrix, gamma: float) -> NDArray[Any]:
    """The product of 1 / (1 + gamma (x_i - y_i)^2) over all columns, from the entries of CSR rows alone.

    Entries count as differences from 0 first, and columns in which both rows have one are corrected.
    """

    def logarithm(differences: NDArray[np.float64]) -> NDArray[np.float64]:
        return 2 * np.log(np.hypot(1, np.sqrt(gamma) * differences))  # whose squares may be too large

    def from_zero(rows: Matrix) -> NDArray[np.float64]:
        logarithms = rows.astype(np.float64)
        logarithms.data = logarithm(logarithms.data)
        return -np.asarray(logarithms.sum(axis=1)).ravel()

    def correction(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.add.outer(logarithm(x), logarithm(y)) - logarithm(np.subtract.outer(x, y))

    return over_common_entries(X, Y, from_zero(X), from_zero(Y), np.add, correction, np.exp)


def largest_difference(X: Matrix, Y: Matrix) -> float:
    """Of two entries of one column: an upper bound."""
    ranges = [(np.min(rows.min(axis=0)), np.max(rows.max(axis=0))) for rows in (X, Y)]
    return max(float(ranges[0][1]) - float(ranges[1][0]), float(ranges[1][1]) - float(ranges[0][0]), 0.0)

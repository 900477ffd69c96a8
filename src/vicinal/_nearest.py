"""The one search for nearest rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from . import _native
from ._calls import as_native, current_callback, kernel_dtype, n_threads
from ._validation import Matrix, as_numbers, check_choice, check_count

METRICS = ("euclidean", "manhattan", "cosine", "inner")  # in the order of the compiled part

_CENTER_ROWS = 1024


def nearest_rows(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    n_neighbors: int,
    metric: str = "euclidean",
    exclude_self: bool | ArrayLike | None = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
    """Finds the nearest rows of Y, or of X itself, to each row of X.

    The search is exact: every pair of rows that could matter is compared in double precision. Distances are rounded to
    44 binary digits (1 part in 10^13), so that rows that only rounding could tell apart are equally near. Of equally
    near rows the lower index comes first. The answer does not depend on the number of threads, on the instruction set,
    or on whether rows are dense or sparse. Nothing of the size rows x rows is held in memory.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_queries, n_features)
        The rows that neighbours are found for.
    Y : array-like or sparse matrix of shape (n_rows, n_features), default=None
        The rows that they are found among; None for X.
    n_neighbors : int
        How many. Where there are fewer rows, all of them are returned.
    metric : {"euclidean", "manhattan", "cosine", "inner"}, default="euclidean"
        "cosine" is 1 minus the cosine, and 1 for rows of zeros, whatever the other row is; angles are told apart down
        to 4e-15. "inner" is the inner product, of which the largest come first.
    exclude_self : bool or array of int of shape (n_queries,), default=None
        Whether a row is left out of its own neighbours; its duplicates stay. None leaves it out where Y is None. An
        array says for each row of X which row of Y it is, or -1 for none of them.
    n_jobs : int, default=None
        Threads. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors)
        Or inner products. Single precision if X and Y are.
    indices : ndarray of int of shape (n_queries, n_neighbors)
        The rows of Y, the nearest first.

    Notes
    -----
    Distances are right for values up to the largest and down to the smallest numbers, as long as a number holds them.
    Inner products below 10^-300 of the largest one that entries of their size could have count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import nearest_rows
    >>> distances, indices = nearest_rows(np.array([[0.0], [1.0], [5.0]]), n_neighbors=1)
    >>> indices.ravel(), distances.ravel()
    (array([1, 0, 1]), array([1., 1., 4.]))
    """
    check_choice("metric", metric, METRICS)
    n_neighbors = check_count("n_neighbors", n_neighbors)
    queries = _checked_rows(X, "X")
    rows = queries if Y is None else _checked_rows(Y, "Y")
    if queries.shape[1] != rows.shape[1]:
        raise ValueError(f"X has {queries.shape[1]} columns and Y has {rows.shape[1]}; both must have the same.")
    own = _own_rows(exclude_self, queries.shape[0], rows.shape[0], within=Y is None)
    k = min(n_neighbors, rows.shape[0] - (own is not None))
    if k == 0:
        raise ValueError("X has only one row, which has no other rows near it; give more rows, or exclude_self=False.")
    dtype = np.promote_types(kernel_dtype(queries.dtype), kernel_dtype(rows.dtype))
    if sp.issparse(queries) != sp.issparse(rows):
        queries, rows = sp.csr_array(queries), sp.csr_array(rows)
    center, scale = (None, 1.0) if metric in ("cosine", "inner") else _placement(queries, rows)
    distances, indices = np.empty((queries.shape[0], k)), np.empty((queries.shape[0], k), np.int64)
    native = as_native(queries)
    _native.nearest_rows(
        native,
        native if rows is queries else as_native(rows),
        distances,
        indices,
        metric=METRICS.index(metric),
        own=own,
        center=center,
        scale=scale,
        n_threads=n_threads(n_jobs),
        callback=current_callback(),
    )
    with np.errstate(over="ignore", under="ignore"):
        return distances.astype(dtype, copy=False), indices


def _checked_rows(X: ArrayLike, name: str) -> Matrix:
    rows = check_array(X, accept_sparse="csr", dtype="numeric", input_name=name)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; its dtype is {rows.dtype}.")
    return as_numbers(rows)


def _own_rows(
    exclude_self: bool | ArrayLike | None, n_queries: int, n_rows: int, *, within: bool
) -> NDArray[np.int64] | None:
    """Per query the row that it is; None if none is left out."""
    if exclude_self is None or isinstance(exclude_self, bool | np.bool_):
        if exclude_self and not within:
            raise ValueError(
                "exclude_self=True needs Y=None; with a Y of its own, give the row of Y that each row of X is."
            )
        return np.arange(n_queries) if within and exclude_self is not False else None
    own = np.asarray(exclude_self)
    if own.shape != (n_queries,) or own.dtype.kind not in "iu" or own.min() < -1 or own.max() >= n_rows:
        raise ValueError(
            f"exclude_self must be True, False, or for each of the {n_queries} rows of X a row number from -1 (none) "
            f"to {n_rows - 1}; got {exclude_self!r}."
        )
    return own.astype(np.int64) if own.max() >= 0 else None


def _placement(queries: Matrix, rows: Matrix) -> tuple[NDArray[np.float64] | None, float]:
    """A power of two that brings all values near 1 and, for dense rows, where their middle is after that.

    Both affect which candidates are looked at closely, not the result.
    """
    parts = (queries,) if rows is queries else (queries, rows)
    values = [part.data if sp.issparse(part) else part for part in parts]
    largest = max(max(float(part.max(initial=0)), -float(part.min(initial=0))) for part in values)
    scale = float(np.exp2(np.clip(-np.frexp(largest)[1] - 1, -1000, 1000)))
    if sp.issparse(rows):
        return None, scale
    sample = rows[:: max(1, rows.shape[0] // _CENTER_ROWS)]
    return (sample.astype(np.float64) * scale).mean(axis=0), scale

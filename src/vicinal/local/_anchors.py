"""The engine of all local features: groups of anchors, and the search for each row's nearest ones.

A group is a subspace (some columns) and some training rows that serve as anchors in it. Fitted state is a handful of
plain arrays; this module turns them into calls of the compiled kernel.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config

from .. import _native
from .._validation import Matrix

METRICS = ("euclidean", "manhattan", "cosine")
BLOCK = 4096


@dataclass(frozen=True)
class AnchorGroups:
    """Groups of anchors as plain arrays.

    Group ``t`` spans the columns ``features[feature_ptr[t]:feature_ptr[t + 1]]``; its anchors are the rows
    ``rows[anchor_ptr[t]:anchor_ptr[t + 1]]`` of ``table``. ``center`` and ``scale`` say where the kernel does its
    arithmetic; they change rounding, never the result.
    """

    table: Matrix
    anchor_ptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    feature_ptr: NDArray[np.int64]
    features: NDArray[np.int32]
    center: NDArray[np.float64] | None
    scale: float
    fingerprints: NDArray[np.uint64]
    metric: str = "euclidean"

    @property
    def n_groups(self) -> int:
        return len(self.anchor_ptr) - 1

    def native(self, *, exclude_self: bool) -> _native.AnchorGroups:
        return _native.AnchorGroups(
            as_native(self.table),
            self.anchor_ptr,
            self.rows,
            self.feature_ptr,
            self.features,
            self.center,
            self.scale,
            METRICS.index(self.metric),
            self.fingerprints if exclude_self else None,
        )


def sample_groups(
    X: Matrix,
    anchors: Sequence[NDArray[np.integer]],
    features: Sequence[NDArray[np.integer]],
    metric: str,
) -> tuple[AnchorGroups, NDArray[np.int64]]:
    """Groups with the given rows of X as anchors and the given columns, and which rows of X their table holds."""
    samples, rows = np.unique(np.concatenate(anchors), return_inverse=True)
    table = X[samples].astype(kernel_dtype(X.dtype), copy=False)
    center, scale = _placement(table, metric)
    fingerprints = np.empty(len(samples), np.uint64)
    _native.fingerprints(as_native(table), fingerprints)
    groups = AnchorGroups(
        table=table,
        anchor_ptr=np.concatenate([[0], np.cumsum([len(a) for a in anchors])]).astype(np.int64),
        rows=rows.astype(np.int32).ravel(),
        feature_ptr=np.concatenate([[0], np.cumsum([len(f) for f in features])]).astype(np.int64),
        features=np.concatenate(features).astype(np.int32),
        center=center,
        scale=scale,
        fingerprints=fingerprints,
        metric=metric,
    )
    return groups, samples


def mean_distances(groups: AnchorGroups, X: Matrix, *, n_jobs: int | None) -> NDArray[np.float64]:
    """Each group's mean over all distances between a row and an anchor (D_avg, Alg. 1 line 4)."""
    single = kernel_dtype(X.dtype) == np.float32
    sums, counts, _ = _native.sum_distances(as_native(X), groups.native(exclude_self=False), single, n_threads(n_jobs))
    return _divide(sums, counts)


def nearest_anchors(
    groups: AnchorGroups,
    X: Matrix,
    *,
    means: NDArray[np.float64] | None,
    epsilon: float,
    unit_rows: bool = False,
    n_neighbors: int = 1,
    exclude_self: bool,
    n_jobs: int | None,
) -> tuple[sp.csr_matrix | sp.csr_array, NDArray[np.float64]]:
    """The CSR matrix of Alg. 1 for all groups side by side, and the mean distances (computed here if not given)."""
    n_samples, width = X.shape[0], groups.n_groups * n_neighbors
    index_dtype = np.int32 if max(n_samples * width, groups.anchor_ptr[-1]) < 2**31 else np.int64
    columns = np.empty((n_samples, width), index_dtype)
    values = np.empty((n_samples, width), kernel_dtype(X.dtype))
    threads = n_threads(n_jobs)
    sums, counts, n_missing = _native.nearest(
        as_native(X),
        groups.native(exclude_self=exclude_self),
        columns,
        values,
        mean_distances=means,
        epsilon=epsilon,
        unit_rows=unit_rows,
        n_neighbors=n_neighbors,
        n_threads=threads,
    )
    if means is None:
        means = _divide(sums, counts)
        _native.finish(columns, values, groups.n_groups, means, epsilon, unit_rows, threads)
    indptr = np.arange(0, n_samples * width + 1, width, dtype=np.int64)
    if n_missing:
        _native.drop_missing(columns, values, indptr)
    nnz = indptr[-1]
    container = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    arrays = values.ravel()[:nnz], columns.ravel()[:nnz], indptr.astype(index_dtype, copy=False)
    out = container(arrays, shape=(n_samples, int(groups.anchor_ptr[-1])), copy=False)
    out.has_canonical_format = True
    return out, means


def nearest_codes(groups: AnchorGroups, X: Matrix, *, exclude_self: bool, n_jobs: int | None) -> NDArray[np.int32]:
    """Each row's nearest anchor in each group, counted within the group; -1 where it has none."""
    codes = np.empty((X.shape[0], groups.n_groups), np.int32)
    values = np.empty(codes.shape, kernel_dtype(X.dtype))
    _native.nearest(
        as_native(X),
        groups.native(exclude_self=exclude_self),
        codes,
        values,
        mean_distances=np.zeros(groups.n_groups),
        n_threads=n_threads(n_jobs),
    )
    has_anchor = codes >= 0
    np.subtract(codes, groups.anchor_ptr[:-1].astype(np.int32), out=codes, where=has_anchor)
    return codes


def kernel_dtype(dtype: np.dtype) -> np.dtype:
    """Single precision for float32 and for the integers that it holds exactly, double for all else."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def n_threads(n_jobs: int | None) -> int:
    """None is all cores, as in scikit-learn's compiled loops, or what OMP_NUM_THREADS (which joblib sets) allows."""
    if n_jobs is not None:
        return joblib.effective_n_jobs(n_jobs)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(joblib.cpu_count(), int(limit)) if limit.isdigit() and int(limit) > 0 else joblib.cpu_count()


def as_native(X: Matrix) -> Any:
    if not sp.issparse(X):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indptr = X.indptr.astype(X.indices.dtype, copy=False)
    return X.data, X.indices, indptr, X.shape[1]


def _divide(sums: list[float], counts: list[int]) -> NDArray[np.float64]:
    return np.asarray(sums) / np.maximum(np.asarray(counts), 1)


def _placement(table: Matrix, metric: str) -> tuple[NDArray[np.float64] | None, float]:
    """Where the kernel works: a center near the anchors' mean and a power of two that brings them near one.

    The center is rounded to a power of two near each column's spread, so that small integers stay small integers and
    moving by it loses nothing; most columns need none.
    """
    if metric == "cosine" or table.dtype.kind != "f":
        return None, 1.0
    if sp.issparse(table):
        return None, _scale(abs(table.data).max(initial=0))
    lowest, highest, mean, spread = _column_statistics(table)
    center = np.zeros(table.shape[1])
    if metric == "euclidean":
        grid = np.exp2(np.round(np.log2(spread, where=spread > 0, out=np.zeros_like(spread))))
        center = np.where(spread > 0, np.round(mean / grid) * grid, lowest)
        center = np.nan_to_num(center.astype(table.dtype).astype(np.float64), posinf=0, neginf=0)
    largest = np.maximum(highest - center, center - lowest).max(initial=0)
    return (center if center.any() else None), _scale(largest)


def _scale(largest: float) -> float:
    if 2.0**-20 <= largest <= 2.0**20 or not 0 < largest < np.inf:
        return 1.0
    return float(np.exp2(-np.frexp(largest)[1]))


def _column_statistics(table: NDArray[np.floating]) -> tuple[NDArray[np.float64], ...]:
    """Minimum, maximum, mean and standard deviation of each column over its present values, in blocks of rows."""
    n_columns = table.shape[1]
    lowest, highest = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
    count, total, squares = np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns)
    shift = np.nan_to_num(table[0].astype(np.float64), posinf=0, neginf=0)
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(table), BLOCK):
            block = table[start : start + BLOCK].astype(np.float64)
            present = ~np.isnan(block)
            np.fmin(lowest, np.fmin.reduce(block), out=lowest)
            np.fmax(highest, np.fmax.reduce(block), out=highest)
            block = np.where(present, block - shift, 0)
            count += present.sum(0)
            total += block.sum(0)
            squares += (block * block).sum(0)
        mean = total / np.maximum(count, 1)
        spread = np.sqrt(np.maximum(squares / np.maximum(count, 1) - mean * mean, 0))
    empty = count == 0
    lowest[empty] = highest[empty] = 0
    spread[(highest == lowest) | ~np.isfinite(spread)] = 0
    return lowest, highest, mean + shift, spread

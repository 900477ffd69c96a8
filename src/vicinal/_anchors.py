"""The engine of all local features: groups of anchors, and the search for each row's nearest ones.

A group is a subspace (some columns) and some training rows that serve as anchors in it. Fitted state is a handful of
plain arrays; this module turns them into calls of the compiled kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config

from . import _native
from ._calls import as_native, current_callback, kernel_dtype, n_threads
from ._validation import Matrix

METRICS = ("euclidean", "manhattan", "cosine")
BLOCK = 4096


@dataclass(frozen=True)
class CoarseCells:
    """Cells of anchors as plain arrays.

    Group ``t`` has the cells ``coarse_ptr[t]`` to ``coarse_ptr[t + 1]``. Cell ``c`` has the anchors ``cell_ptr[c]`` to
    ``cell_ptr[c + 1]``, counted over all groups, and is the cell of the row ``coarse_rows[c]`` of the groups' table.
    """

    coarse_ptr: NDArray[np.int64]
    cell_ptr: NDArray[np.int64]
    coarse_rows: NDArray[np.int32]

    @classmethod
    def of(cls, fitted: Any) -> CoarseCells | None:
        """Those of a fitted map; None if it has one level."""
        if fitted.coarse_ptr_ is None:
            return None
        return cls(fitted.coarse_ptr_, fitted.cell_ptr_, fitted.coarse_rows_)

    def alone(self, group: int, rows: NDArray[np.int32]) -> CoarseCells:
        """The cells of one group, whose anchors are these rows, coarse ones among them."""
        first, last = self.coarse_ptr[group : group + 2]
        order = np.argsort(rows, kind="stable")
        places = order[np.searchsorted(rows, self.coarse_rows[first:last], sorter=order)]
        pointers = self.cell_ptr[first : last + 1] - self.cell_ptr[first]
        return CoarseCells(np.array([0, last - first]), pointers, places.astype(np.int32))


@dataclass(frozen=True)
class AnchorGroups:
    """Groups of anchors as plain arrays.

    Group ``t`` spans the columns ``features[feature_ptr[t]:feature_ptr[t + 1]]``; its anchors are the rows
    ``rows[anchor_ptr[t]:anchor_ptr[t + 1]]`` of ``table``. With ``directions``, as many per group as ``table`` has
    columns, the columns are a row's products with the group's directions, taken where ``center`` and ``scale`` put the
    row, and ``table`` holds such products. ``center`` and ``scale`` say where the kernel does its arithmetic, and a
    ``table`` in double precision that it is done in double: they change rounding, not the result. With ``cells``, a row
    looks for its nearest anchors in the cell of its nearest coarse anchor alone, and sums of distances are over the
    coarse anchors.
    """

    table: Matrix
    anchor_ptr: NDArray[np.int64]
    rows: NDArray[np.int32]
    feature_ptr: NDArray[np.int64]
    features: NDArray[np.int32]
    center: NDArray[np.float64] | None
    scale: float
    fingerprints: NDArray[np.uint64] | None
    metric: str = "euclidean"
    directions: NDArray[np.floating] | None = None
    cells: CoarseCells | None = None

    @property
    def n_groups(self) -> int:
        return len(self.anchor_ptr) - 1

    def alone(self, group: int) -> AnchorGroups:
        """One group, for rows in its own coordinates; its table holds its anchors in their order."""
        columns = self.features[self.feature_ptr[group] : self.feature_ptr[group + 1]]
        rows = self.rows[self.anchor_ptr[group] : self.anchor_ptr[group + 1]]
        projected = self.directions is not None
        return replace(
            self,
            table=self.table[rows][:, columns],
            anchor_ptr=np.array([0, len(rows)]),
            rows=np.arange(len(rows), dtype=np.int32),
            feature_ptr=np.array([0, len(columns)]),
            features=np.arange(len(columns), dtype=np.int32),
            center=None if self.center is None or projected else self.center[columns],
            scale=1.0 if projected else self.scale,
            fingerprints=None,
            directions=None,
            cells=None if self.cells is None else self.cells.alone(group, rows),
        )

    def native(self, X: Matrix, *, exclude_self: bool) -> _native.AnchorGroups:
        """For rows of X: a center would have to move the zeros of a sparse X."""
        return _native.AnchorGroups(
            as_native(self.table),
            self.anchor_ptr,
            self.rows,
            self.feature_ptr,
            self.features,
            None if sp.issparse(X) else self.center,
            self.scale,
            METRICS.index(self.metric),
            self.fingerprints if exclude_self else None,
            self.directions,
            *((self.cells.coarse_ptr, self.cells.cell_ptr, self.cells.coarse_rows) if self.cells else ()),
        )


def fitted_groups(fitted: Any) -> AnchorGroups:
    """The groups of a fitted RandLocal."""
    return AnchorGroups(
        table=fitted.anchors_,
        anchor_ptr=fitted.anchor_ptr_,
        rows=fitted.anchor_rows_,
        feature_ptr=fitted.feature_ptr_,
        features=fitted.feature_indices_,
        center=fitted.center_,
        scale=fitted.scale_,
        fingerprints=fitted.fingerprints_,
        metric=fitted.metric,
        cells=CoarseCells.of(fitted),
    )


def sampled_groups(fitted: Any) -> AnchorGroups:
    """The groups of fitted SampledLandmarks."""
    n_groups = len(fitted.landmark_ptr_) - 1
    return AnchorGroups(
        table=fitted.landmarks_,
        anchor_ptr=fitted.landmark_ptr_,
        rows=fitted.landmark_rows_,
        feature_ptr=np.arange(n_groups + 1, dtype=np.int64) * (len(fitted.feature_indices_) // n_groups),
        features=fitted.feature_indices_,
        center=fitted.center_,
        scale=fitted.scale_,
        fingerprints=None,
        metric=fitted.metric,
        cells=CoarseCells.of(fitted),
    )


def draw_group_sizes(
    bounds: tuple[int, int], n_samples: int, n_groups: int, rng: np.random.RandomState
) -> NDArray[np.int64]:
    """Numbers of anchors: 2^p, rounded down, p uniform between the bounds' logarithms, at most half the rows."""
    low, high = np.log2(bounds)
    high = min(high, np.log2(n_samples / 2))
    return np.floor(np.exp2(rng.uniform(min(low, high), high, n_groups)) + 1e-9).astype(np.int64)


def sample_groups(
    X: Matrix,
    anchors: Sequence[NDArray[np.integer]],
    features: Sequence[NDArray[np.integer]],
    metric: str,
) -> tuple[AnchorGroups, NDArray[np.int64]]:
    """Groups with the given rows of X as anchors and the given columns, and which rows of X their table holds."""
    drawn = np.concatenate(anchors)
    is_anchor = np.zeros(X.shape[0], bool)
    is_anchor[drawn] = True
    samples, place = np.flatnonzero(is_anchor), np.cumsum(is_anchor, dtype=np.int32) - np.int32(1)
    table = X[samples].astype(kernel_dtype(X.dtype), copy=False)
    table, center, scale = placement(table, metric)
    fingerprints = np.empty(len(samples), np.uint64)
    _native.fingerprints(as_native(table), fingerprints)
    groups = AnchorGroups(
        table=table,
        anchor_ptr=np.concatenate([[0], np.cumsum([len(a) for a in anchors])]).astype(np.int64),
        rows=place[drawn],
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
    single = np.promote_types(kernel_dtype(X.dtype), groups.table.dtype) == np.float32
    native = groups.native(X, exclude_self=False)
    sums, counts, _ = _native.sum_distances(as_native(X), native, single, n_threads(n_jobs), current_callback())
    return _divide(sums, counts)


def median_distances(groups: AnchorGroups, X: Matrix, *, exclude_self: bool, n_jobs: int | None) -> NDArray[np.float64]:
    """Each group's median distance between a row and its nearest anchor, over at most 4,096 rows; 0 without any."""
    rows = X if X.shape[0] <= BLOCK else X[np.linspace(0, X.shape[0] - 1, BLOCK).astype(np.intp)]
    found = nearest_blocks(groups, rows, exclude_self=exclude_self, n_jobs=n_jobs)
    distances = np.concatenate([np.where(anchors < 0, np.nan, values) for anchors, values in found])
    some = ~np.isnan(distances).all(axis=0)
    medians = np.zeros(groups.n_groups)
    medians[some] = np.nanmedian(distances[:, some], axis=0)
    return medians


def nearest_anchors(
    groups: AnchorGroups,
    X: Matrix,
    *,
    means: NDArray[np.float64] | None = None,
    widths: NDArray[np.float64] | None = None,
    row_means: bool = False,
    epsilon: float,
    unit_rows: bool = False,
    n_neighbors: int = 1,
    exclude_self: bool,
    n_jobs: int | None,
) -> tuple[sp.csr_matrix | sp.csr_array, NDArray[np.float64]]:
    """The CSR matrix of all groups side by side, and the groups' mean distances (computed here if not given).

    A distance d becomes ``max(mean - d, epsilon * mean)``. The mean is the group's over all rows or, with `row_means`,
    the row's own over all anchors of the group. With `widths` b of the groups it becomes
    ``max(exp(-(d^2 - e^2) / (2 b^2)), epsilon)``, e the row's least distance in the group; these numbers are then
    brought to unit length.
    """
    columns, values = empty_entries(X, groups.n_groups * n_neighbors, groups.anchor_ptr[-1], groups.table.dtype)
    threads = n_threads(n_jobs)
    sums, counts, n_missing = _native.nearest(
        as_native(X),
        groups.native(X, exclude_self=exclude_self),
        columns,
        values,
        mean_distances=means,
        epsilon=epsilon,
        unit_rows=unit_rows,
        n_neighbors=n_neighbors,
        n_threads=threads,
        callback=current_callback(),
        row_means=row_means,
        widths=widths,
    )
    if means is None:
        means = _divide(sums, counts)
        if not row_means:
            _native.finish(columns, values, groups.n_groups, means, epsilon, unit_rows, threads, widths)
    return as_csr(columns, values, groups.anchor_ptr[-1], kernel_dtype(X.dtype), n_missing), means


def nearest_codes(groups: AnchorGroups, X: Matrix, *, exclude_self: bool, n_jobs: int | None) -> NDArray[np.int32]:
    """Each row's nearest anchor in each group, counted within the group; -1 where it has none."""
    codes = np.empty((X.shape[0], groups.n_groups), np.int32)
    values = np.empty(codes.shape, np.promote_types(kernel_dtype(X.dtype), groups.table.dtype))
    _native.nearest(
        as_native(X),
        groups.native(X, exclude_self=exclude_self),
        codes,
        values,
        mean_distances=np.zeros(groups.n_groups),
        n_threads=n_threads(n_jobs),
        callback=current_callback(),
    )
    has_anchor = codes >= 0
    np.subtract(codes, groups.anchor_ptr[:-1].astype(np.int32), out=codes, where=has_anchor)
    return codes


def nearest_blocks(
    groups: AnchorGroups, X: Matrix, *, exclude_self: bool, n_jobs: int | None
) -> Iterator[tuple[NDArray[np.integer], NDArray[np.floating]]]:
    """For blocks of rows: each row's nearest anchor in each group, counted over all groups (-1: none), and how far."""
    native = groups.native(X, exclude_self=exclude_self)
    for start in range(0, X.shape[0], BLOCK):
        block = X[start : start + BLOCK]
        anchors, distances = empty_entries(block, groups.n_groups, groups.anchor_ptr[-1], groups.table.dtype)
        threads = n_threads(n_jobs)
        _native.nearest(as_native(block), native, anchors, distances, n_threads=threads, sum_distances=False)
        yield anchors, distances


def cell_sums(
    groups: AnchorGroups,
    X: Matrix,
    means: NDArray[np.float64],
    *,
    emptiness: NDArray[np.float64] | None = None,
    nearness: NDArray[np.float64] | None = None,
    exclude_self: bool,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """What rows' nearest anchors add up to over the groups, of which nothing else is kept.

    Columns: groups in which the row has an anchor; distances as shares s of the group's mean, 1 + log s
    beyond 1; the anchors' `emptiness`; logarithms of the distance times the anchors' `nearness`.
    """
    sums = np.zeros((X.shape[0], 4))
    single = np.promote_types(kernel_dtype(X.dtype), groups.table.dtype) == np.float32
    native = groups.native(X, exclude_self=exclude_self)
    _native.score_cells(as_native(X), native, means, sums, emptiness, nearness, single, n_threads(n_jobs))
    return sums


def empty_entries(
    X: Matrix, width: int, n_columns: int, dtype: np.dtype
) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
    """Room for `width` entries per row of X: their columns and their values."""
    index_dtype = np.int32 if max(X.shape[0] * width, n_columns) < 2**31 else np.int64
    shape = X.shape[0], width
    return np.empty(shape, index_dtype), np.empty(shape, np.promote_types(kernel_dtype(X.dtype), dtype))


def as_csr(
    columns: NDArray[np.integer],
    values: NDArray[np.floating],
    n_columns: int,
    dtype: np.dtype,
    n_missing: int = 0,
) -> sp.csr_matrix | sp.csr_array:
    """The entries as a CSR matrix over the same memory; those without a column (-1) are dropped."""
    n_samples, width = columns.shape
    indptr = np.arange(0, n_samples * width + 1, width, dtype=np.int64)
    if n_missing:
        _native.drop_missing(columns, values, indptr)
    nnz = indptr[-1]
    container = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    try:
        with np.errstate(over="raise"):
            values = values.astype(dtype, copy=False)
    except FloatingPointError:
        raise ValueError(f"Distances of these rows are too large for {dtype}; scale X down first.") from None
    arrays = values.ravel()[:nnz], columns.ravel()[:nnz], indptr.astype(columns.dtype, copy=False)
    out = container(arrays, shape=(n_samples, int(n_columns)), copy=False)
    out.has_canonical_format = True
    return out


def _divide(sums: list[float], counts: list[int]) -> NDArray[np.float64]:
    return np.asarray(sums) / np.maximum(np.asarray(counts), 1)


def placement(
    table: Matrix, metric: str, *, one_scale: bool = False
) -> tuple[Matrix, NDArray[np.float64] | None, float]:
    """Where and how precisely the kernel works: the table, a center for its columns, and a power of two to scale by.

    A column that lies far from zero is moved near it, by a number whose subtraction is exact (within a factor of two of
    all its values: Sterbenz' lemma). Numbers whose squares single precision cannot hold make the table double. For
    cosines the kernel brings every row near 1 by a power of two of its own; `one_scale` is for other uses of the table.
    """
    if sp.issparse(table):
        largest = abs(table).max(axis=0).toarray().ravel()
        center = np.zeros(table.shape[1])
    else:
        lowest, highest = _column_ranges(table)
        middle = ((lowest + highest) / 2).astype(table.dtype).astype(np.float64)
        near, far = np.minimum(abs(lowest), abs(highest)), np.maximum(abs(lowest), abs(highest))
        exact = (np.sign(lowest) * np.sign(highest) > 0) & (abs(middle) <= 2 * near) & (far <= 2 * abs(middle))
        center = np.where(exact & (metric == "euclidean"), middle, 0.0)
        largest = np.maximum(highest - center, center - lowest)
    largest = largest[(largest > 0) & np.isfinite(largest)].astype(np.float64)
    scale = 1.0
    if len(largest):
        if largest.max() > 2.0**50 or largest.min() < 2.0**-50:
            table = table.astype(np.float64, copy=False)
        if largest.max() > 2.0**400 or largest.max() < 2.0**-400:
            scale = float(np.exp2(min(-np.frexp(largest.max())[1], 1000))) if metric != "cosine" or one_scale else 1.0
    return table, center if center.any() else None, scale


def _column_ranges(table: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each column over its present values, in blocks of rows; 0 where there are none."""
    lowest, highest = np.full(table.shape[1], np.nan), np.full(table.shape[1], np.nan)
    for start in range(0, len(table), BLOCK):
        block = table[start : start + BLOCK]
        lowest = np.fmin(lowest, np.fmin.reduce(block))
        highest = np.fmax(highest, np.fmax.reduce(block))
    return np.nan_to_num(lowest, posinf=0, neginf=0), np.nan_to_num(highest, posinf=0, neginf=0)

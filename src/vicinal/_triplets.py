"""Triplets of rows (i, j, k), where i and j are linked and i and k are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native
from ._calls import n_threads
from ._magnitudes import as_doubles, with_squares
from ._validation import Matrix

Triplets = NDArray[np.int32]
_BLOCK = 2**20  # candidates that are drawn at a time
_OFTEN, _TRIES = 0.25, 8  # how often a draw must be a triplet to be drawn at random, and how often it is tried


@dataclass(frozen=True)
class Rows:
    """CSR rows as the compiled part takes them; `values` is None where all are 1.

    Values are in single precision if that changes none of them: reading them is most of the work. Values whose squares
    could not be held are divided by a power of two.
    """

    values: NDArray[np.float64] | NDArray[np.float32] | None
    columns: NDArray
    starts: NDArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: Matrix) -> Rows:
        rows = sp.csr_array(as_doubles(with_squares(X)[0]))
        wide = np.int64 if max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max else np.int32
        values = None if (rows.data == 1).all() else _shortest(rows.data)
        return cls(values, rows.indices.astype(wide, copy=False), rows.indptr.astype(wide, copy=False), rows.shape)

    def native(self) -> tuple[Any, ...]:
        return self.values, self.columns, self.starts, self.shape[1]

    def all(self) -> sp.csr_array:
        """The rows as SciPy has them."""
        data = np.ones(len(self.columns)) if self.values is None else self.values.astype(np.float64)
        return sp.csr_array((data, self.columns, self.starts), shape=self.shape)

    def margins(self, triplets: Triplets, weights: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """s_ijk = w . (x_i * (x_j - x_k)) (Eq. 3.3), a row per triplet and a column per w, and the squared lengths."""
        margins, squares = np.empty((len(triplets), len(weights))), np.empty(len(triplets))
        _native.triplet_margins(
            self.native(), triplets, np.ascontiguousarray(weights), margins, squares, n_threads=n_threads(None)
        )
        return margins, squares


def _shortest(values: NDArray[np.float64]) -> NDArray[np.float64] | NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        single = values.astype(np.float32)
    return single if (single == values).all() else np.ascontiguousarray(values)


def are_linked(links: sp.csr_array, first: NDArray, second: NDArray) -> NDArray[np.bool_]:
    """Whether there are links from nodes to others, which are broadcast; indices of the rows of `links` are sorted."""
    first, second = np.broadcast_arrays(first, second)
    found = np.empty(first.size, np.uint8)
    one, other = (np.ascontiguousarray(nodes, dtype=np.int32).ravel() for nodes in (first, second))
    starts = links.indptr.astype(links.indices.dtype, copy=False)
    _native.are_linked(links.indices, starts, one, other, found)
    return found.astype(bool).reshape(first.shape)


class TripletSampler:
    """Draws triplets of a network.

    Parameters
    ----------
    links : csr_array
        Row i holds the nodes that i is linked to.
    random : RandomState
    apart : csr_array, default=None
        Row i holds the nodes that are never the third of triplets of i, linked ones included; by default just these.
    """

    def __init__(self, links: sp.csr_array, random: np.random.RandomState | None, apart: sp.csr_array | None = None):
        self.random: Any = random
        self.n_nodes = links.shape[0]
        wide = np.int64 if links.nnz > np.iinfo(np.int32).max else np.int32
        self.targets, self.starts = links.indices.astype(wide, copy=False), links.indptr.astype(wide, copy=False)
        excluded = links if apart is None else apart
        self.excluded = excluded.indices.astype(wide, copy=False), excluded.indptr.astype(wide, copy=False)
        self.degrees = np.diff(links.indptr).astype(np.int64)
        self.n_others = self.n_nodes - 1 - np.diff(excluded.indptr).astype(np.int64)
        self.n_triplets = int((self.degrees * self.n_others).sum())

    def draw(self, count: int) -> Triplets:
        """Uniform over all triplets."""
        share = self.n_triplets / max(1, len(self.targets) * self.n_nodes)
        if share >= _OFTEN:
            return self._by_links(count, share)
        weights = np.cumsum(self.degrees * self.n_others)
        drawn = np.searchsorted(weights, self._below(np.full(count, self.n_triplets)), side="right")
        return self._of_pivots(drawn.astype(np.int32))

    def draw_by_node(self, count: int) -> Triplets:
        """Each node that has triplets with equal chance, then a triplet of it (Eq. 3.15)."""
        able = np.flatnonzero((self.degrees > 0) & (self.n_others > 0))
        return self._of_pivots(able[self.random.randint(len(able), size=count)].astype(np.int32))

    def _by_links(self, count: int, share: float) -> Triplets:
        """A link, a third node, and both once more if that node is no part of a triplet."""
        pivots = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.degrees)
        parts, missing = [np.empty((0, 3), np.int32)], count
        while missing > 0:
            size = int(min(_BLOCK, missing / share * 1.05 + 16))
            drawn = self.random.randint(len(pivots), size=size)
            third = self.random.randint(self.n_nodes, size=size).astype(np.int32)
            good = np.flatnonzero(~self.no_triplet(pivots[drawn], third))[:missing]
            chosen = drawn[good]
            parts.append(np.column_stack([pivots[chosen], self.targets[chosen], third[good]]).astype(np.int32))
            missing -= len(good)
        return np.concatenate(parts)

    def _of_pivots(self, pivots: NDArray[np.int32]) -> Triplets:
        """One triplet of each of these nodes, which all have some."""
        linked = self.targets[self.starts[pivots] + self._below(self.degrees[pivots])]
        return np.column_stack([pivots, linked, self.thirds(pivots)]).astype(np.int32)

    def thirds(self, pivots: NDArray[np.int32]) -> NDArray[np.int32]:
        """The third node of a triplet of each of these nodes, which all have some."""
        third = self.random.randint(self.n_nodes, size=len(pivots)).astype(np.int32)
        rejected = np.flatnonzero(self.no_triplet(pivots, third))
        for _ in range(_TRIES):
            third[rejected] = self.random.randint(self.n_nodes, size=len(rejected))
            rejected = rejected[self.no_triplet(pivots[rejected], third[rejected])]
        for pivot in np.unique(pivots[rejected]):  # linked to nearly all: what is left is listed
            targets, starts = self.excluded
            free = np.ones(self.n_nodes, dtype=bool)
            free[targets[starts[pivot] : starts[pivot + 1]]] = free[pivot] = False
            others, places = np.flatnonzero(free), rejected[pivots[rejected] == pivot]
            third[places] = others[self._below(np.full(len(places), len(others)))]
        return third

    def _below(self, limits: NDArray) -> NDArray:
        return np.minimum((self.random.random_sample(len(limits)) * limits).astype(np.int64), limits - 1)

    def no_triplet(self, pivots: NDArray[np.int32], third: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether the third row is the pivot, or linked to it."""
        linked = np.empty(len(pivots), np.uint8)
        first, second = (np.ascontiguousarray(ends, dtype=np.int32) for ends in (pivots, third))
        _native.are_linked(*self.excluded, first, second, linked)
        return linked.astype(bool) | (pivots == third)


def auc_by_columns(rows: Rows, triplets: Triplets, order: NDArray, counts: Sequence[int]) -> list[float]:
    """The share of triplets with a positive margin, ties half, for the first so many columns of an order.

    Parameters
    ----------
    rows : Rows
    triplets : ndarray of shape (n_triplets, 3)
    order : ndarray
        Columns, the best first.
    counts : sequence of int
        Numbers of columns.
    """
    kept = np.zeros((len(counts), rows.shape[1]))
    for weights, count in zip(kept, counts, strict=True):
        weights[order[:count]] = 1
    margins, squares = rows.margins(triplets, kept)
    tie = 1e-9 * np.sqrt(squares)[:, None]
    return (0.5 * (margins > tie).mean(axis=0) + 0.5 * (margins >= -tie).mean(axis=0)).tolist()


def exact_link_auc(rows: sp.csr_array, linked: sp.csr_array, apart: sp.csr_array) -> float:
    """The mean over rows of Eq. 3.14, ties half; links of `apart` that are not `linked` count on neither side."""
    n = rows.shape[0]
    nodes = np.flatnonzero((np.diff(linked.indptr) > 0) & (np.diff(apart.indptr) < n - 1))
    found = []
    for start in range(0, len(nodes), max(1, _BLOCK // n)):
        block = nodes[start : start + max(1, _BLOCK // n)]
        similarities = (rows[block] @ rows.T).toarray()
        for place, node in enumerate(block):
            others = np.ones(n, dtype=bool)
            others[apart.indices[apart.indptr[node] : apart.indptr[node + 1]]] = False
            others[node] = False
            low = np.sort(similarities[place, others])
            tie = 1e-9 * max(abs(low[0]), abs(low[-1]))
            ours = similarities[place, linked.indices[linked.indptr[node] : linked.indptr[node + 1]]]
            below, up_to = np.searchsorted(low, ours - tie, side="left"), np.searchsorted(low, ours + tie, side="right")
            found.append(float((below + up_to).mean()) / (2 * len(low)))
    return float(np.mean(found))

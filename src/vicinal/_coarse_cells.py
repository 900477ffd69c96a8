"""Two levels of anchors: some of a group's anchors are coarse, and every anchor lies in the cell of the nearest one.

A row is compared with the coarse anchors and then with the anchors of one cell, not with all of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from . import _native
from ._anchors import AnchorGroups, CoarseCells
from ._calls import as_native, kernel_dtype, n_threads
from ._validation import Matrix

FIXED_BOUNDS = (32, 1024)
MANY_ROWS = 1 << 15  # beyond them the fixed bounds are outgrown
FEWEST_OF_MANY, ROWS_PER_ANCHOR = 512, (64, 16)  # at the lowest and the highest number of anchors
SPREAD = 2  # rows are where many anchors are: in their cells there are more than in the mean cell


def divided(
    groups: AnchorGroups, *, least: int, rng: np.random.RandomState, n_jobs: int | None
) -> tuple[AnchorGroups, NDArray[np.integer]]:
    """The groups with their anchors in cells of at least `least`, and which rows of the table are still needed.

    Anchors that are equal in all columns of their group count once, unless too few are left.
    """
    parts = [_divided_group(groups, group, least, rng, n_jobs) for group in range(groups.n_groups)]
    rows, sizes, coarse = zip(*parts, strict=True)
    needed = np.zeros(groups.table.shape[0], bool)
    for kept in (*rows, *coarse):
        needed[kept] = True
    place = (np.cumsum(needed) - 1).astype(np.int32)
    cells = CoarseCells(
        coarse_ptr=_pointers([len(kept) for kept in coarse]),
        cell_ptr=_pointers(np.concatenate(sizes)),
        coarse_rows=place[np.concatenate(coarse)],
    )
    kept_rows = np.flatnonzero(needed)
    out = replace(
        groups,
        table=groups.table if needed.all() else groups.table[kept_rows],
        fingerprints=None if groups.fingerprints is None else groups.fingerprints[kept_rows],
        anchor_ptr=_pointers([len(kept) for kept in rows]),
        rows=place[np.concatenate(rows)],
        cells=cells,
    )
    return out, kept_rows


def growing_bounds(n_samples: int) -> tuple[tuple[int, int], int]:
    """Lowest and highest number of anchors of a group for so many rows, and how many levels they should have.

    On tables of 40,000 to 110,000 rows a linear model wants coarse groups beside fine ones, on half a million rows only
    fine ones: between these the lowest number grows with the square of the rows.
    """
    if n_samples <= MANY_ROWS:
        return FIXED_BOUNDS, 1
    most, least = ROWS_PER_ANCHOR
    low = max(FEWEST_OF_MANY, min(n_samples // most, (n_samples >> 12) ** 2))
    return (low, n_samples // least), 2


def n_coarse_anchors(n_anchors: int, least: int) -> int:
    """How many of so many anchors are coarse: about as many as a row will then meet in its cell."""
    return int(np.clip(round(np.sqrt(SPREAD * n_anchors)), 1, max(n_anchors // least, 1)))


def _divided_group(
    groups: AnchorGroups, group: int, least: int, rng: np.random.RandomState, n_jobs: int | None
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """A group's anchors in the order of their cells, the cells' sizes and coarse anchors, by rows of the table."""
    rows, own = groups.rows[groups.anchor_ptr[group] : groups.anchor_ptr[group + 1]], groups.alone(group)
    kept = _distinct(own.table, least)
    rows, anchors = rows[kept], own.table[kept]
    n_coarse = n_coarse_anchors(len(rows), least)
    coarse = np.sort(sample_without_replacement(len(rows), n_coarse, random_state=rng)).astype(np.int32)
    own = replace(own, table=anchors)
    cell_of = _nearest_coarse(own, coarse, anchors, n_jobs)
    sizes = np.bincount(cell_of[cell_of >= 0], minlength=n_coarse)
    large = sizes >= least
    if not large.any():
        large[np.argmax(sizes)] = True
    homeless = np.flatnonzero((cell_of < 0) | ~large[cell_of])
    cell_of = (np.cumsum(large) - 1)[cell_of]
    coarse = coarse[large]
    if len(homeless):
        # An anchor without a column in common with any coarse one is never met: it may lie in any cell.
        cell_of[homeless] = np.maximum(_nearest_coarse(own, coarse, anchors[homeless], n_jobs), 0)
    order = np.argsort(cell_of, kind="stable")
    return rows[order], np.bincount(cell_of, minlength=len(coarse)), rows[coarse]


def _distinct(anchors: Matrix, least: int) -> NDArray[np.int64]:
    """The first of all anchors that are equal, and as many others as `least` asks for; ascending."""
    fingerprints = np.empty(anchors.shape[0], np.uint64)
    _native.fingerprints(as_native(anchors), fingerprints)
    _, first = np.unique(fingerprints, return_index=True)
    if len(first) < least:
        others = np.setdiff1d(np.arange(anchors.shape[0]), first)
        first = np.append(first, others[: least - len(first)])
    return np.sort(first)


def _nearest_coarse(
    own: AnchorGroups, coarse: NDArray[np.int32], anchors: Matrix, n_jobs: int | None
) -> NDArray[np.int32]:
    """The nearest of the coarse anchors, which are rows of one group's table, counted among them; -1: none."""
    among_coarse = replace(own, anchor_ptr=_pointers([len(coarse)]), rows=coarse)
    found = np.empty((anchors.shape[0], 1), np.int32)
    distances = np.empty(found.shape, kernel_dtype(anchors.dtype))
    native = among_coarse.native(anchors, exclude_self=False)
    _native.nearest(
        as_native(anchors), native, found, distances, mean_distances=np.zeros(1), n_threads=n_threads(n_jobs)
    )
    return found.ravel()


def _pointers(sizes: list[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

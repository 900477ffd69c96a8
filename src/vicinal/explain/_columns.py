"""What each column has to do with the distances between rows and their anchors, and with scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix
from ._groups import LocalGroups

BLOCK = 2**24  # numbers of a block of rows in full


def distance_parts(
    rows: NDArray[np.floating], anchors: NDArray[np.floating], metric: str
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What each column adds to the distance of each pair of rows, and which columns both of the pair have.

    Arrays have a line for each column, and a pair of rows stands in the same place of both. Parts are squares of
    differences for "euclidean", differences without their sign for "manhattan", and squares of differences between rows
    of unit length for "cosine", since 1 minus the cosine is half their sum. A column that either row lacks (NaN) adds
    nothing.

    >>> row, anchor = np.array([[1.0], [5.0], [np.nan]]), np.array([[2.0], [2.0], [1.0]])
    >>> parts, present = distance_parts(row, anchor, "euclidean")
    >>> parts.ravel().tolist(), present.ravel().tolist()
    ([1.0, 9.0, 0.0], [True, True, False])
    """
    gaps = np.subtract(rows, anchors, dtype=np.float64)
    present = gaps == gaps
    if metric == "cosine":
        gaps = np.subtract(*(_unit_length(np.where(present, part, 0.0)) for part in (rows, anchors)))
    elif not present.all():
        gaps[~present] = 0
    return np.abs(gaps) if metric == "manhattan" else np.multiply(gaps, gaps, out=gaps), present


def _unit_length(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows.astype(np.float64), axis=0)
    return np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > 0)


@dataclass(frozen=True)
class ColumnShares:
    """Per row and column: its part of the score, and its share of the distances to the anchors."""

    scores: NDArray[np.float64]
    shares: NDArray[np.float64]


def column_shares(groups: LocalGroups, prepared: Matrix, contributions: sp.csr_array) -> ColumnShares:
    """Scores and distances by column.

    A contribution is divided equally among the columns of its group that the row and the anchor have. A column's share
    of a distance counts by the size of the contribution that the distance has led to.
    """
    size = max(1, BLOCK // groups.n_columns)
    blocks = [
        _shares_of_block(groups, prepared[start : start + size], contributions[start : start + size])
        for start in range(0, contributions.shape[0], size)
    ]
    return ColumnShares(*(np.concatenate([getattr(block, name) for block in blocks]) for name in ("scores", "shares")))


def _shares_of_block(groups: LocalGroups, prepared: Matrix, contributions: sp.csr_array) -> ColumnShares:
    by_column = np.ascontiguousarray((prepared.toarray() if sp.issparse(prepared) else prepared).T)
    table = groups.table if sp.issparse(groups.table) else np.ascontiguousarray(groups.table.T)
    scores, shares, totals = np.zeros(by_column.shape), np.zeros(by_column.shape), np.zeros(by_column.shape[1])
    for group, rows, entries in _rounds(groups, contributions):
        columns, added = groups.columns(group), contributions.data[entries]
        anchors = groups.rows[contributions.indices[entries]]
        all_rows = len(rows) == len(totals)
        theirs = table[anchors][:, columns].toarray().T if sp.issparse(table) else table[columns][:, anchors]
        ours = by_column[columns]
        parts, present = distance_parts(ours if all_rows else ours[:, rows], theirs, groups.metric)
        sums = parts.sum(0)
        parts *= np.divide(abs(added), sums, out=np.zeros(len(sums)), where=sums > 0)
        each = present * (added / np.maximum(present.sum(0), 1))
        place = columns if all_rows else np.ix_(columns, rows)
        shares[place] += parts
        scores[place] += each
        totals[rows] += abs(added) * (sums > 0)
    shares = np.divide(shares, totals, out=np.zeros(shares.shape), where=totals > 0)
    return ColumnShares(scores.T, shares.T)


def _rounds(
    groups: LocalGroups, contributions: sp.csr_array
) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.intp]]]:
    """(group, rows, entries): all entries, in portions of one group and at most one entry of each row."""
    rows = np.repeat(np.arange(contributions.shape[0]), np.diff(contributions.indptr))
    group_of = groups.group_of(contributions.indices)
    follows = (rows[1:] == rows[:-1]) & (group_of[1:] == group_of[:-1])
    starts = np.flatnonzero(np.r_[True, ~follows])
    level = np.arange(len(rows)) - np.repeat(starts, np.diff(np.r_[starts, len(rows)]))
    order = np.lexsort((rows, level, group_of))
    first = np.flatnonzero(np.r_[True, (np.diff(group_of[order]) != 0) | (np.diff(level[order]) != 0)])
    for entries in np.split(order, first[1:]) if len(order) else ():
        yield int(group_of[entries[0]]), rows[entries], entries


def anchor_parts(
    groups: LocalGroups, row: Matrix, cells: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For one row and the output columns that it switches on: their anchors, each once, and what each column adds to
    the distances from them, summed over the groups that they share."""
    anchors, places = np.unique(groups.rows[cells], return_inverse=True)
    sums = np.zeros((len(anchors), groups.n_columns))
    ours, theirs = (part.toarray() if sp.issparse(part) else part for part in (row, groups.table[anchors]))
    for group, place in zip(groups.group_of(cells), places, strict=True):
        columns = groups.columns(group)
        parts, _ = distance_parts(ours[:, columns].T, theirs[place : place + 1, columns].T, groups.metric)
        sums[place, columns] += parts[:, 0]
    return anchors, sums

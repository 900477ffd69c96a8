"""Scores of queries and candidates against the links between them: the arithmetic of precision, recall and AUC."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from ._validation import check_count


def hits_at(scores: ArrayLike, links: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of the best n candidates of each query are linked to it, and how many are linked at all."""
    given, truth = checked_pairs(scores, links)
    place = given.shape[1] - min(check_count("n", n), given.shape[1])
    hits = np.zeros(len(given), dtype=np.int64)
    for query, row in enumerate(given):
        lowest = np.partition(row, place)[place]
        best = row > lowest
        best[np.flatnonzero(row == lowest)[: given.shape[1] - place - int(best.sum())]] = True
        best &= row > -np.inf
        hits[query] = best[truth.indices[truth.indptr[query] : truth.indptr[query + 1]]].sum()
    return hits, np.diff(truth.indptr).astype(np.int64)


def checked_pairs(scores: ArrayLike, links: Any) -> tuple[NDArray[np.float64], sp.csr_array]:
    given = check_array(scores, dtype=np.float64, ensure_all_finite=False, input_name="scores")
    truth = sp.csr_array(check_array(links, accept_sparse="csr", dtype=None, input_name="links")).astype(bool)
    if truth.shape != given.shape:
        raise ValueError(f"scores have the shape {given.shape} and links {truth.shape}; give both for the same pairs.")
    if np.isnan(given).any():
        raise ValueError("scores contain NaN; give -inf to pairs that must not be recommended.")
    truth.sum_duplicates()
    truth.eliminate_zeros()
    if not truth.nnz:
        raise ValueError("No pair is linked, so that there is nothing to be found.")
    return given, truth


def linked_above(scores: NDArray[np.float64], linked: NDArray[np.float64]) -> float:
    """For all entries together, how many scores of linked pairs, which are sorted, are above; of equal ones half.

    The linked pairs are among the entries: with themselves and each other they make half of all their pairs.
    """
    total = 0.0
    for row in scores:
        first, last = (np.searchsorted(linked, np.sort(row), side) for side in ("left", "right"))
        total += len(linked) * len(row) - 0.5 * float((first + last).sum())
    return total

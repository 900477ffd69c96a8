"""The rounds of RankBoost: which rule comes next, what it weighs, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import current_callback
from .._validation import Matrix
from ._graded_pairs import GradedPairs
from ._rules import Rules

Floats = NDArray[np.float64]

LARGEST_EDGE = 1 - 1e-10  # of which the weight is 12: a rule without mistakes would have an infinite one
LEAST_EDGE = 1e-8  # whose square, by which the bound falls, is that of rounding
LEAST_LOG_BOUND = -52 * np.log(2)  # all pairs are in order, unless one has a smaller share than a float64 resolves


@dataclass
class Rounds:
    """What rounds have made so far."""

    found: list[tuple[int, float, int, float, float]] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    held_out_scores: list[float] = field(default_factory=list)

    def rules(self) -> Rules:
        columns, thresholds, second, second_thresholds, weights = np.array(self.found, dtype=float).reshape(-1, 5).T
        names = columns.astype(np.int64), second.astype(np.int64)
        return Rules(names[0], thresholds.copy(), names[1], second_thresholds.copy(), weights.copy())

    def first(self, count: int) -> Rounds:
        return Rounds(self.found[:count], self.bounds[:count], self.held_out_scores[:count])


class HeldOut:
    """Rows that are not learned from, and how many of their pairs are in order."""

    def __init__(self, rows: Matrix, pairs: GradedPairs):
        self.columns, self.pairs = _by_columns(rows), pairs
        self.scores = np.zeros(rows.shape[0])

    def score_with(self, rule: tuple[int, float, int, float, float]) -> float:
        column, threshold, second, second_threshold, weight = rule
        holds = self._column(column) > threshold
        if second >= 0:
            holds &= self._column(second) > second_threshold
        self.scores += weight * holds
        return self.pairs.in_order(self.scores)

    def _column(self, column: int) -> Floats:
        values = np.zeros(len(self.scores))
        entries = slice(self.columns.indptr[column], self.columns.indptr[column + 1])
        values[self.columns.indices[entries]] = self.columns.data[entries]
        return values


@dataclass(frozen=True)
class Boosting:
    """How many rounds there are at most, how many first stumps look for partners, and who says when to stop."""

    n_rounds: int
    n_first: int
    n_threads: int
    held_out: HeldOut | None = None
    patience: int = 0

    def run(self, rows: Matrix, pairs: GradedPairs) -> Rounds:
        """Rounds until nothing is left to learn; with held-out rows, those up to their best score."""
        search = _search(rows, by_rows=self.n_first > 0, n_threads=self.n_threads)
        scores, marks = np.zeros(rows.shape[0]), np.empty(rows.shape[0], dtype=np.uint8)
        done, pulls, best = Rounds(), pairs.pulls(np.zeros(rows.shape[0])), 0
        callback = current_callback()
        while len(done.found) < self.n_rounds and pulls.log_bound > LEAST_LOG_BOUND:
            column, threshold, second, second_threshold, edge = search.best(
                pulls.of_rows, self.n_first, marks, self.n_threads
            )
            if abs(edge) < LEAST_EDGE:
                break
            weight = float(np.arctanh(np.clip(edge, -LARGEST_EDGE, LARGEST_EDGE)))
            scores += weight * marks
            changed = pairs.pulls(scores)
            if not changed.log_bound < pulls.log_bound:
                break
            pulls = changed
            done.found.append((column, threshold, second, second_threshold, weight))
            done.bounds.append(float(np.exp(pulls.log_bound)))
            if self.held_out is not None:
                done.held_out_scores.append(self.held_out.score_with(done.found[-1]))
                best = best if done.held_out_scores[best] >= done.held_out_scores[-1] else len(done.found) - 1
                if len(done.found) - 1 - best >= self.patience:
                    break
            if callback is not None:
                callback(len(done.found) / self.n_rounds)
        return done if self.held_out is None else done.first(best + 1)


def _by_columns(rows: Matrix) -> sp.csc_array:
    columns = sp.csc_array(rows)
    columns.sum_duplicates()
    return columns


def _search(rows: Matrix, *, by_rows: bool, n_threads: int) -> _native.Stumps:
    columns = _by_columns(rows)
    starts = columns.indptr.astype(columns.indices.dtype, copy=False)
    values = columns.data.astype(np.float64, copy=False)
    return _native.Stumps(values, columns.indices, starts, rows.shape[0], by_rows, n_threads)

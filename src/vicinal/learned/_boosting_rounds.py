"""The rounds of RankBoost: which rule comes next, what it weighs, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import current_callback
from .._validation import Matrix
from ._graded_pairs import GradedPairs, Pulls
from ._rules import Rules

Floats = NDArray[np.float64]

LARGEST_EDGE = 1 - 1e-10  # of which the weight is 12: a rule without mistakes would have an infinite one
LEAST_EDGE = 1e-8  # whose square, by which the bound falls, is that of rounding
SOME_WEIGHT = 1e-3  # of all pairs' weight: what is added on both sides before the best weight of a rule is taken
LEAST_LOG_BOUND = -52 * np.log(2)  # all pairs are in order, unless one has a smaller share than a float64 resolves


@dataclass
class Rounds:
    """What rounds have made so far."""

    found: list[tuple[float, ...]] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    held_out_scores: list[float] = field(default_factory=list)
    ended_for: str = "rounds"

    def rules(self) -> Rules:
        columns, thresholds, second, second_thresholds, weights = np.array(self.found, dtype=float).reshape(-1, 5).T
        names = columns.astype(np.int64), second.astype(np.int64)
        return Rules(names[0], thresholds.copy(), names[1], second_thresholds.copy(), weights.copy())

    def first(self, count: int) -> Rounds:
        return Rounds(self.found[:count], self.bounds[:count], self.held_out_scores[:count], self.ended_for)


class HeldOut:
    """Rows that are not learned from, and how many of their pairs are in order."""

    def __init__(self, rows: Matrix, pairs: GradedPairs):
        self.columns, self.pairs = _by_columns(rows), pairs
        self.scores = np.zeros(rows.shape[0])

    def score_with(self, rule: tuple[float, ...]) -> float:
        column, threshold, second, second_threshold, weight = rule
        holds = self._column(int(column)) > threshold
        if second >= 0:
            holds &= self._column(int(second)) > second_threshold
        self.scores += weight * holds
        return self.pairs.in_order(self.scores)

    def _column(self, column: int) -> Floats:
        values = np.zeros(len(self.scores))
        entries = slice(self.columns.indptr[column], self.columns.indptr[column + 1])
        values[self.columns.indices[entries]] = self.columns.data[entries]
        return values


@dataclass(frozen=True)
class Boosting:
    """How rounds are made: how many at most, where rules are looked for, what they weigh, and who says when to stop."""

    n_rounds: int
    n_first: int  # best stumps that look for partners; 0 for rules of one column
    n_threads: int
    line_search: bool = False
    learning_rate: float = 1.0
    parts: NDArray[np.int32] | None = None  # the part of each column; rounds look at one part after the other
    held_out: HeldOut | None = None
    patience: int = 0

    def run(self, rows: Matrix, pairs: GradedPairs) -> Rounds:
        """Rounds until nothing is left to learn; with held-out rows, those up to their best score."""
        search = _search(rows, by_rows=self.n_first > 0, n_threads=self.n_threads, parts=self.parts)
        n_parts = 1 if self.parts is None else int(self.parts.max()) + 1
        scores, marks = np.zeros(rows.shape[0]), np.empty(rows.shape[0], dtype=np.uint8)
        done, pulls, best = Rounds(), pairs.pulls(np.zeros(rows.shape[0])), 0
        looked_at, found_at = 0, 0  # how many times a part was, and when a rule was found there last
        callback = current_callback()
        while len(done.found) < self.n_rounds and pulls.log_bound > LEAST_LOG_BOUND:
            if looked_at - found_at == n_parts:
                done.ended_for = "no rule left"
                break
            part = looked_at % n_parts
            *rule, edge = search.best(pulls.of_rows, self.n_first, marks, self.n_threads, None, part)
            looked_at += 1
            if abs(edge) < LEAST_EDGE:
                continue
            weight = self.learning_rate * self._weight(pairs, scores, pulls, marks, edge)
            changed = pairs.pulls(scores + weight * marks)
            if not changed.log_bound < pulls.log_bound:
                continue
            scores += weight * marks
            pulls, found_at = changed, looked_at
            done.found.append((*rule, weight))
            done.bounds.append(float(np.exp(pulls.log_bound)))
            if self.held_out is not None:
                done.held_out_scores.append(self.held_out.score_with(done.found[-1]))
                best = best if done.held_out_scores[best] >= done.held_out_scores[-1] else len(done.found) - 1
                if len(done.found) - 1 - best >= self.patience:
                    done.ended_for = "validation"
                    break
            if callback is not None:
                callback(len(done.found) / self.n_rounds)
        else:
            done.ended_for = "rounds" if len(done.found) == self.n_rounds else "all pairs in order"
        return done if self.held_out is None else done.first(best + 1)

    def _weight(self, pairs: GradedPairs, scores: Floats, pulls: Pulls, marks: NDArray[np.uint8], edge: float) -> float:
        """Of the third method, 1/2 ln((1 + r) / (1 - r)); or the one at which the bound is lowest.

        The bound is W_0 + W_+ exp(-a) + W_- exp(a) for the weight a, where W_+ is the weight of the pairs that a rule
        puts in order, W_- of those that it puts the other way round, and r = W_+ - W_-. Its value at one more place
        gives both, for classes and for grades. So that a rule of few rows is not believed too soon, some weight is
        added to both.
        """
        if not self.line_search:
            return float(np.arctanh(np.clip(edge, -LARGEST_EDGE, LARGEST_EDGE)))
        at = np.copysign(1.0, edge)
        value = np.exp(pairs.pulls(scores + at * marks).log_bound - pulls.log_bound)
        both = (value - 1 + edge * np.sinh(at)) / (np.cosh(at) - 1)
        in_order, reversed_ = max(both + edge, 0.0) / 2, max(both - edge, 0.0) / 2
        return float(np.log((in_order + SOME_WEIGHT) / (reversed_ + SOME_WEIGHT)) / 2)


def _by_columns(rows: Matrix) -> sp.csc_array:
    columns = sp.csc_array(rows)
    columns.sum_duplicates()
    return columns


def _search(rows: Matrix, *, by_rows: bool, n_threads: int, parts: NDArray[np.int32] | None = None) -> _native.Stumps:
    columns = _by_columns(rows)
    starts = columns.indptr.astype(columns.indices.dtype, copy=False)
    values = columns.data.astype(np.float64, copy=False)
    n_parts = 1 if parts is None else int(parts.max()) + 1
    return _native.Stumps(values, columns.indices, starts, rows.shape[0], by_rows, n_threads, None, parts, n_parts)

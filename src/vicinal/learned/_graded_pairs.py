"""Pairs of rows with different grades, as RankBoost weighs them: sums over all of them from one pass over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .. import _native

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pulls:
    """Where pairs that are not yet in order would have rows move, and how far all are from their order."""

    of_rows: Floats  # D(i, x) summed over lower rows i, less D(x, k) summed over higher rows k
    log_bound: float  # the logarithm of the right side of Eq. 7


class GradedPairs:
    """All pairs (i, j) with y_i < y_j, of weights P(i, j) = w_i w_j (y_j - y_i) / Z."""

    def __init__(self, grades: Floats, weights: Floats):
        levels, ranks = np.unique(grades, return_inverse=True)
        levels = levels / max(float(np.abs(levels).max()), np.finfo(float).tiny)
        self.levels, self.ranks, self.weights = levels, ranks, weights / weights.max()
        self.gaps = np.diff(levels)
        with np.errstate(divide="ignore"):
            self.log_weights = np.log(self.weights)
        self.log_total = 0.0
        self.log_total = self.pulls(np.zeros(len(grades))).log_bound

    def pulls(self, scores: Floats) -> Pulls:
        """For real grades y_x - y_i is the sum of the gaps between, so that prefix sums have no differences."""
        low, high = self.log_weights + scores, self.log_weights - scores
        tops = float(low.max()), float(high.max())
        low, high = np.exp(low - tops[0]), np.exp(high - tops[1])
        n_levels = len(self.levels)
        below = np.cumsum(np.bincount(self.ranks, low, n_levels))[:-1]
        above = np.cumsum(np.bincount(self.ranks, high, n_levels)[::-1])[-2::-1]
        from_below, from_above = np.zeros(n_levels), np.zeros(n_levels)
        np.cumsum(self.gaps * below, out=from_below[1:])
        from_above[-2::-1] = np.cumsum((self.gaps * above)[::-1])
        up, down = high * from_below[self.ranks], low * from_above[self.ranks]
        total, same = float(up.sum()), float(down.sum())
        if not total > 0 or not same > 0:
            return Pulls(np.zeros(len(scores)), -np.inf)
        return Pulls(up / total - down / same, float(np.log(total)) + sum(tops) - self.log_total)

    def in_order(self, scores: Floats) -> float:
        """The share, by P, of the pairs that scores put in order; equal scores count half."""
        given: Any = np.ascontiguousarray(scores, dtype=np.float64)
        ranks = self.ranks.astype(np.int32)
        found, least = (
            _native.ordered_pairs(some, self.levels[self.ranks], ranks, self.weights)
            for some in (given, np.zeros(len(given)))
        )
        return found / (2 * least)  # where all scores are equal, half of the pairs are counted


def classes_of(labels: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
    check_classification_targets(labels)
    classes, places = np.unique(labels, return_inverse=True)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels)}: y has {len(classes)} classes; for grades, set target='grades'."
        )
    return classes, places.astype(np.float64)


def grades_of(y: NDArray[Any]) -> Floats:
    try:
        grades = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must be numbers where target='grades'; give labels of two classes to 'classes'.") from None
    if not np.isfinite(grades).all():
        raise ValueError("y must be finite numbers where target='grades'; leave rows without a grade out.")
    return grades


def graded_pairs(grades: Floats, weights: Floats, what: str) -> GradedPairs:
    if len(grades) == 0 or np.ptp(grades) == 0:
        raise ValueError(
            f"{what} has one class only, or one grade, so that no pair of rows has an order; RankBoost needs at least "
            "two, of rows whose weights are above 0."
        )
    return GradedPairs(grades, weights)


def fewest_errors(scores: Floats, places: Floats, weights: Floats) -> float:
    """What is added to scores for the fewest errors; of equally good ones that in the widest gap."""
    unit = 1e-9 * max(float(np.abs(scores).max()), np.finfo(float).tiny)  # scores that differ by rounding are equal
    values, order = np.unique(np.round(scores / unit), return_inverse=True)
    values = values * unit
    costs = np.bincount(order, np.where(places > 0, weights, -weights), len(values))
    # Above a cut after value v, rows are taken for the second class: those at or below it that are so are errors.
    errors = np.concatenate([[0.0], np.cumsum(costs)])
    gaps = np.concatenate([[0.0], np.diff(values), [0.0]])
    cuts = np.concatenate([[values[0] - 1], values[:-1] / 2 + values[1:] / 2, [values[-1] + 1]])
    least = errors <= errors.min() + 1e-9 * weights.sum()
    widest = least & (gaps >= gaps[least].max() * (1 - 1e-6))
    return -float(cuts[np.flatnonzero(widest)[0]])

"""The rows on which a kernel perceptron was wrong, their coefficients, and which of them a budget forgets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix
from ._perceptron import Signs, correction
from .kernels import Kernel

BLOCK_ROWS = 256  # whose kernel values are computed in one call
BLOCK_ENTRIES = 2**22  # of a block of kernel values: 32 MB
ROUNDING = 1e-9  # rows whose loss differs by less than this share of the largest one are equally dispensable


class SupportLearner:
    """The rows M with their coefficients, each in a slot of its own, while mistakes add rows and a budget takes some.

    A slot is free where `ages` is -1. Rows are known by their places in `stored`, the rows from earlier calls,
    followed by the rows that are learned from now.
    """

    def __init__(
        self, kernel: Kernel, stored: Matrix, coefficients: NDArray[np.float64], budget: int | None, forget: str
    ):
        n_stored = stored.shape[0]
        self.kernel, self.stored, self.budget, self.forget = kernel, stored, budget, forget
        self.coefficients, self.delays = coefficients.copy(), np.zeros_like(coefficients)
        self.squared_norms = np.zeros(n_stored)
        self.places, self.ages = np.arange(n_stored), np.arange(n_stored)
        self.next_age = n_stored
        self.free: list[int] = []
        self.n_steps = self.n_mistakes = self.mean_start = 0
        self.new: Matrix = None
        self.slot_of = np.empty(0, dtype=np.intp)
        self.watches_margins = budget is not None and forget == "least_harmful"
        self.pairs, self.own_scores = np.zeros((0, 0)), np.zeros((0, coefficients.shape[1]))

    @property
    def n_mean_steps(self) -> int:
        return self.n_steps - self.mean_start

    def slots_by_age(self) -> NDArray[np.intp]:
        used = np.flatnonzero(self.ages >= 0)
        return used[np.argsort(self.ages[used])]

    def rows_in(self, slots: NDArray[np.intp]) -> Matrix:
        """The rows of slots that are sorted by age: those from earlier calls come first."""
        places, n_stored = self.places[slots], self.stored.shape[0]
        earlier, later = places[places < n_stored], places[places >= n_stored] - n_stored
        if not len(earlier):
            return of_the_same_kind(self.new[later], self.stored)
        if not len(later):
            return self.stored[earlier]
        stack = sp.vstack if sp.issparse(self.stored) else np.vstack
        return stack([self.stored[earlier], of_the_same_kind(self.new[later], self.stored)])

    def learn(
        self, rows: Matrix, targets: NDArray[np.intp], order: NDArray[np.intp], block_rows: int = BLOCK_ROWS
    ) -> None:
        if self.new is None:
            self.new, self.slot_of = rows, np.full(rows.shape[0], -1, dtype=np.intp)
            self._prepare_forgetting()
        start = 0
        while start < len(order):
            size = block_size(len(self.ages) - len(self.free) + block_rows, block_rows)
            block = order[start : start + size]
            self._learn_block(block, targets[block])
            start += size

    def _learn_block(self, samples: NDArray[np.intp], targets: NDArray[np.intp]) -> None:
        rows = in_double(of_the_same_kind(self.new[samples], self.stored))
        used = self.slots_by_age()
        self._reserve(len(samples))
        values = np.empty((len(self.ages), len(samples)))
        scores = np.zeros((self.coefficients.shape[1], len(samples)))
        if len(used):
            values[used] = against = kernel_values(self.kernel, in_double(self.rows_in(used)), rows)
            scores = self.coefficients[used].T @ against
        within, first = None, 0
        for column, (sample, target) in enumerate(zip(samples.tolist(), targets.tolist(), strict=True)):
            signs = correction(scores[:, column], target)
            if signs:
                self.n_mistakes += 1
                slot = int(self.slot_of[sample])
                is_new = slot < 0
                if is_new:
                    if within is None:
                        within, first = kernel_values(self.kernel, rows[column:], rows[column:]), column
                    slot = self._place(sample)
                    values[slot, column:] = within[column - first, column - first :]
                    self._measure(slot, values[:, column], scores[:, column])
                self._correct(slot, signs)
                for output, sign in signs:
                    scores[output, column + 1 :] += sign * values[slot, column + 1 :]
                if is_new and self._exceeds_budget():
                    worst = self._most_dispensable(newest=slot)
                    scores[:, column + 1 :] -= np.outer(self.coefficients[worst], values[worst, column + 1 :])
                    self._remove(worst)
            self.n_steps += 1

    def _correct(self, slot: int, signs: Signs) -> None:
        for output, sign in signs:
            self.coefficients[slot, output] += sign
            self.delays[slot, output] += sign * self.n_mean_steps
            if self.watches_margins:
                self.own_scores[:, output] += sign * self.pairs[slot]

    def _reserve(self, n_more: int) -> None:
        """Free slots for new rows; one above the budget is enough, as a row goes when one more has come."""
        n_used = len(self.ages) - len(self.free)
        needed = n_used + n_more if self.budget is None else min(n_used + n_more, self.budget + 1)
        size = len(self.ages)
        if needed <= size:
            return
        grown = max(needed, 2 * size) if self.budget is None else self.budget + 1
        n_added = grown - size
        self.ages = np.pad(self.ages, (0, n_added), constant_values=-1)
        self.places, self.squared_norms = (np.pad(a, (0, n_added)) for a in (self.places, self.squared_norms))
        self.coefficients, self.delays = (np.pad(a, ((0, n_added), (0, 0))) for a in (self.coefficients, self.delays))
        self.free += range(grown - 1, size - 1, -1)
        if self.watches_margins:
            self.pairs = np.pad(self.pairs, (0, n_added))
            self.own_scores = np.pad(self.own_scores, ((0, n_added), (0, 0)))

    def _place(self, sample: int) -> int:
        slot = self.free.pop()
        self.ages[slot], self.places[slot] = self.next_age, self.stored.shape[0] + sample
        self.slot_of[sample] = slot
        self.next_age += 1
        return slot

    def _measure(self, slot: int, values: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
        """What the rules of forgetting need to know of a new row, by its kernel values with the rows of all slots."""
        self.squared_norms[slot] = values[slot]
        if self.watches_margins:
            used = self.ages >= 0
            self.pairs[slot, used] = self.pairs[used, slot] = values[used]
            self.own_scores[slot] = scores

    def _prepare_forgetting(self) -> None:
        if self.watches_margins and self.stored.shape[0]:
            stored = in_double(self.stored)
            self.pairs = kernel_values(self.kernel, stored, stored)
            self.own_scores = self.pairs @ self.coefficients
        while self._exceeds_budget():  # it was lowered
            self._remove(self._most_dispensable(newest=None))

    def _exceeds_budget(self) -> bool:
        return self.budget is not None and len(self.ages) - len(self.free) > self.budget

    def _most_dispensable(self, newest: int | None) -> int:
        slots = self.slots_by_age()
        slots = slots[slots != newest]
        if self.forget == "oldest":
            return int(slots[0])
        losses = self._smallest(slots) if self.forget == "smallest" else self._harm(slots)
        return int(slots[np.argmax(losses <= losses.min() + ROUNDING * np.abs(losses).max())])

    def _smallest(self, slots: NDArray[np.intp]) -> NDArray[np.float64]:
        return (self.coefficients[slots] ** 2).sum(axis=1) * self.squared_norms[slots]

    def _harm(self, slots: NDArray[np.intp]) -> NDArray[np.float64]:
        """Minus the margin of each row when it is gone; its class is the one with the positive coefficient."""
        coefficients = self.coefficients[slots]
        without = self.own_scores[slots] - coefficients * self.squared_norms[slots, None]
        if coefficients.shape[1] == 1:
            return -(np.sign(coefficients) * without)[:, 0]
        every, targets = np.arange(len(slots)), coefficients.argmax(axis=1)
        own = without[every, targets]
        without[every, targets] = -np.inf
        return without.max(axis=1) - own

    def _remove(self, slot: int) -> None:
        if self.watches_margins:
            self.own_scores -= np.outer(self.pairs[slot], self.coefficients[slot])
        place = self.places[slot] - self.stored.shape[0]
        if place >= 0:
            self.slot_of[place] = -1
        self.ages[slot] = -1
        self.coefficients[slot] = 0
        self.free.append(slot)
        self.delays[:] = 0
        self.mean_start = self.n_steps


class PrecomputedLearner(SupportLearner):
    """The same for rows that are known by their places in a matrix of kernel values."""

    def __init__(self, gram: Matrix, n_outputs: int, budget: int | None, forget: str):
        super().__init__(partial(_looked_up, gram), np.empty((0, 1)), np.zeros((0, n_outputs)), budget, forget)

    def learn(
        self, rows: Matrix, targets: NDArray[np.intp], order: NDArray[np.intp], block_rows: int = BLOCK_ROWS
    ) -> None:
        super().learn(np.arange(rows.shape[0], dtype=np.float64)[:, None], targets, order, block_rows)


def _looked_up(gram: Matrix, X: NDArray[np.float64], Y: NDArray[np.float64]) -> Matrix:
    return gram[X[:, 0].astype(np.intp)][:, Y[:, 0].astype(np.intp)]


def block_size(n_support: int, most: int = BLOCK_ROWS) -> int:
    return max(1, min(most, BLOCK_ENTRIES // n_support))


def in_double(rows: Matrix) -> Matrix:
    return rows.astype(np.float64, copy=False)


def of_the_same_kind(rows: Matrix, pattern: Matrix) -> Matrix:
    """Dense or CSR rows, as the pattern is: not every kernel takes one of each."""
    if sp.issparse(pattern):
        return rows if sp.issparse(rows) else type(pattern)(rows)
    return rows.toarray() if sp.issparse(rows) else rows


def kernel_values(kernel: Kernel, X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    given: Any = kernel(X, Y)
    values = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=np.float64)
    if values.shape != (X.shape[0], Y.shape[0]):
        raise ValueError(
            f"The kernel of {X.shape[0]} and {Y.shape[0]} rows must be a matrix of shape "
            f"{(X.shape[0], Y.shape[0])}; {kernel!r} returned the shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"{kernel!r} returned values that are not finite; scale X, or mend the kernel.")
    return values

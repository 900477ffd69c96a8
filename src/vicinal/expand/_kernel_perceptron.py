"""KernelPerceptron: the perceptron in the features of a kernel, by the rows on which it was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .._validation import Matrix, check_choice, check_count
from ._perceptron import BasePerceptron, Signs, correction, mean_of_steps
from .kernels import Kernel, get_kernel

BLOCK_ROWS = 256  # whose kernel values are computed in one call
BLOCK_ENTRIES = 2**22  # of a block of kernel values: 32 MB
RULES = ("oldest", "smallest", "least_harmful")
ROUNDING = 1e-9  # rows whose loss differs by less than this share of the largest one are equally dispensable


class KernelPerceptron(BasePerceptron):
    """The perceptron in the features of a kernel, which are never computed.

    Its weights are a sum over the rows M on which it made mistakes, so that the score of a row x is a sum of kernel
    values, ``sum(coefficient * kernel(x, row))`` over M. It makes the mistakes that `OnlinePerceptron` without
    intercept makes on the kernel's features, where these exist. A row on which a later pass of `fit` is wrong again
    gets a larger coefficient and is not stored twice.

    M grows with the number of mistakes, and the time of a prediction with it. A budget bounds both: when M exceeds it,
    a row is forgotten. The row that was just added stays, so that a mistake always teaches something.

    Parameters
    ----------
    kernel : str or callable, default="polynomial"
        A name that `vicinal.expand.kernels.get_kernel` knows, an instance of a kernel, for example
        ``Polynomial(degree=3)``, or any function of two tables that returns the matrix of kernel values.
    n_passes : int, default=1
        Passes of `fit` over the rows. `partial_fit` always makes one.
    shuffle : bool, default=False
        Whether each pass of `fit` takes the rows in a new random order. By default they are taken as they come, which
        makes ``fit(X, y)`` the same as one call of `partial_fit`. Rows that are sorted by class need a shuffle, and
        several passes usually gain by it.
    average : bool, default=False
        Predict by the mean of the weights after each row so far, in place of the last weights. Mistakes, and what is
        forgotten, are those of the last weights in either case. With a budget see the notes.
    budget : int, default=None
        The largest number of rows in M. None keeps all.
    forget : {"oldest", "smallest", "least_harmful"}, default="oldest"
        Which row a budget removes; among equals, the oldest. "oldest" is the one that has been in M longest.
        "smallest" is the one whose removal changes the weights least, by the norm of its coefficients times
        ``sqrt(kernel(x, x))``. "least_harmful" is the one that itself is classified with the largest margin when it is
        gone; this rule holds the kernel values of all pairs in M.
    random_state : int, RandomState instance or None, default=None
        Draws the orders, where ``shuffle=True``.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features_in_)
        The rows M, the oldest first. Whether they are dense or CSR is decided by the first rows.
    dual_coef_ : ndarray of shape (n_support, 1) or (n_support, n_classes)
        The coefficients that predict. With two classes they are those of the second one.
    kernel_ : callable
        The kernel in use; `partial_fit` goes on with it.
    classes_ : ndarray of shape (n_classes,)
    n_mistakes_ : int
        Mistakes so far, also those that are forgotten.
    n_steps_ : int
        Rows so far, each as often as it was passed.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The mean of all weights so far consists of all rows that have ever been in M. With a budget and ``average=True`` it
    is therefore the mean of the weights since a row was last forgotten, which is exact and needs no row but those in
    M. As long as the budget suffices this is the mean of all; once M is full, each new row makes it start again.

    Kernel values are computed for blocks of rows, once against M and, if there is a mistake in the block, once among
    themselves. Beside X, `fit` holds a copy of M in double precision, which all arithmetic is in, and a few blocks of
    up to 32 MB. After a pass without mistakes it counts the remaining passes, which could not make any, without making
    them.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University 2015, section 1.1.
    Freund, Schapire: Large Margin Classification Using the Perceptron Algorithm, Machine Learning 37, 1999.
    Crammer, Kandola, Singer: Online Classification on a Budget, NIPS 2003 ("least_harmful").
    Dekel, Shalev-Shwartz, Singer: The Forgetron, SIAM Journal on Computing 37, 2008 ("oldest").

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.expand import KernelPerceptron
    >>> from vicinal.expand.kernels import Polynomial
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelPerceptron(Polynomial(degree=3), n_passes=3, average=True).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.93)
    True
    >>> small = KernelPerceptron(Polynomial(degree=3), budget=50, forget="least_harmful").fit(X[:1000], y[:1000])
    >>> small.support_vectors_.shape
    (50, 64)
    """

    def __init__(
        self,
        kernel: str | Kernel = "polynomial",
        *,
        n_passes: int = 1,
        shuffle: bool = False,
        average: bool = False,
        budget: int | None = None,
        forget: str = "oldest",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.average = average
        self.budget = budget
        self.forget = forget
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _new_learner(self, rows: Matrix, n_outputs: int) -> SupportLearner:
        return SupportLearner(get_kernel(self.kernel), rows[:0], np.zeros((0, n_outputs)), *self._checked_budget())

    def _old_learner(self, rows: Matrix) -> SupportLearner:
        learner = SupportLearner(self.kernel_, self.support_vectors_, self._coefficients, *self._checked_budget())
        learner.delays, learner.squared_norms = self._delays.copy(), self._squared_norms.copy()
        learner.n_steps, learner.n_mistakes, learner.mean_start = self.n_steps_, self.n_mistakes_, self._mean_start
        return learner

    def _checked_budget(self) -> tuple[int | None, str]:
        check_choice("forget", self.forget, RULES)
        return None if self.budget is None else check_count("budget", self.budget), self.forget

    def _keep(self, learner: SupportLearner, classes: NDArray[Any]) -> None:
        slots = learner.slots_by_age()
        current, delays = learner.coefficients[slots], learner.delays[slots]
        self.support_vectors_ = learner.rows_in(slots)
        self.dual_coef_ = mean_of_steps(current, delays, learner.n_mean_steps) if self.average else current
        self._coefficients, self._delays, self._squared_norms = current, delays, learner.squared_norms[slots]
        self.kernel_, self.classes_ = learner.kernel, classes
        self.n_steps_, self.n_mistakes_, self._mean_start = learner.n_steps, learner.n_mistakes, learner.mean_start

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        support = _in_double(self.support_vectors_)
        scores = np.empty((rows.shape[0], self.dual_coef_.shape[1]))
        for block in gen_batches(rows.shape[0], _block_size(support.shape[0])):
            values = _kernel_values(self.kernel_, _in_double(_of_the_same_kind(rows[block], support)), support)
            np.matmul(values, self.dual_coef_, out=scores[block])
        return scores


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
            return _of_the_same_kind(self.new[later], self.stored)
        if not len(later):
            return self.stored[earlier]
        stack = sp.vstack if sp.issparse(self.stored) else np.vstack
        return stack([self.stored[earlier], _of_the_same_kind(self.new[later], self.stored)])

    def learn(self, rows: Matrix, targets: NDArray[np.intp], order: NDArray[np.intp]) -> None:
        if self.new is None:
            self.new, self.slot_of = rows, np.full(rows.shape[0], -1, dtype=np.intp)
            self._prepare_forgetting()
        start = 0
        while start < len(order):
            size = _block_size(len(self.ages) - len(self.free) + BLOCK_ROWS)
            block = order[start : start + size]
            self._learn_block(block, targets[block])
            start += size

    def _learn_block(self, samples: NDArray[np.intp], targets: NDArray[np.intp]) -> None:
        rows = _in_double(_of_the_same_kind(self.new[samples], self.stored))
        used = self.slots_by_age()
        self._reserve(len(samples))
        values = np.empty((len(self.ages), len(samples)))
        scores = np.zeros((self.coefficients.shape[1], len(samples)))
        if len(used):
            values[used] = against = _kernel_values(self.kernel, _in_double(self.rows_in(used)), rows)
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
                        within, first = _kernel_values(self.kernel, rows[column:], rows[column:]), column
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
            stored = _in_double(self.stored)
            self.pairs = _kernel_values(self.kernel, stored, stored)
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


def _block_size(n_support: int) -> int:
    return max(1, min(BLOCK_ROWS, BLOCK_ENTRIES // n_support))


def _in_double(rows: Matrix) -> Matrix:
    return rows.astype(np.float64, copy=False)


def _of_the_same_kind(rows: Matrix, pattern: Matrix) -> Matrix:
    """Dense or CSR rows, as the pattern is: not every kernel takes one of each."""
    if sp.issparse(pattern):
        return rows if sp.issparse(rows) else type(pattern)(rows)
    return rows.toarray() if sp.issparse(rows) else rows


def _kernel_values(kernel: Kernel, X: Matrix, Y: Matrix) -> NDArray[np.float64]:
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

"""KernelPerceptron: the perceptron in the features of a kernel, by the rows on which it was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags, gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if

from .._validation import Matrix, check_choice, check_count
from ._perceptron import BasePerceptron, mean_of_steps
from ._support import PrecomputedLearner, SupportLearner, block_size, in_double, kernel_values, of_the_same_kind
from .kernels import Kernel, get_kernel

RULES = ("oldest", "smallest", "least_harmful")


def _takes_rows(perceptron: KernelPerceptron) -> bool:
    if perceptron._is_precomputed:
        raise AttributeError(
            "partial_fit needs a kernel, as it compares new rows with rows of earlier calls; kernel is 'precomputed'. "
            "Use fit, or pass the kernel as a function."
        )
    return True


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
        "precomputed" means that X is this matrix itself: of shape (n_samples, n_samples) for `fit`, and with a row for
        each new row and a column for each training row afterwards. There is no `partial_fit` then.
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
        The rows M, the oldest first. Whether they are dense or CSR is decided by the first rows. Of shape (0, 0) where
        the kernel is "precomputed".
    support_ : ndarray of shape (n_support,) or None
        Where the kernel is "precomputed", the places of the rows M among the training rows.
    dual_coef_ : ndarray of shape (n_support, 1) or (n_support, n_classes)
        The coefficients that predict. With two classes they are those of the second one.
    kernel_ : callable or "precomputed"
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

    The same with a matrix of kernel values:

    >>> gram = Polynomial(degree=3)(X, X[:1000])
    >>> model = KernelPerceptron("precomputed", n_passes=3, average=True).fit(gram[:1000], y[:1000])
    >>> bool(model.score(gram[1000:], y[1000:]) > 0.93)
    True
    """

    kernel_: Any

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

    partial_fit = available_if(_takes_rows)(BasePerceptron.partial_fit)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _new_learner(self, rows: Matrix, n_outputs: int) -> SupportLearner:
        if self._is_precomputed:
            if rows.shape[0] != rows.shape[1]:
                raise ValueError(
                    "With kernel='precomputed', X must be the square matrix of kernel values of the training rows; its "
                    f"shape is {rows.shape}."
                )
            return PrecomputedLearner(rows, n_outputs, *self._checked_budget())
        return SupportLearner(get_kernel(self.kernel), rows[:0], np.zeros((0, n_outputs)), *self._checked_budget())

    def _old_learner(self, rows: Matrix) -> SupportLearner:
        if self.support_ is not None:
            raise ValueError("partial_fit cannot go on from a precomputed matrix, whose rows are not known; call fit.")
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
        rows, by_places = learner.rows_in(slots), isinstance(learner, PrecomputedLearner)
        self.support_vectors_ = np.empty((0, 0)) if by_places else rows
        self.support_ = rows[:, 0].astype(np.intp) if by_places else None
        self.dual_coef_ = mean_of_steps(current, delays, learner.n_mean_steps) if self.average else current
        self._coefficients, self._delays, self._squared_norms = current, delays, learner.squared_norms[slots]
        self.kernel_, self.classes_ = "precomputed" if by_places else learner.kernel, classes
        self.n_steps_, self.n_mistakes_, self._mean_start = learner.n_steps, learner.n_mistakes, learner.mean_start

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        if self.support_ is not None:
            return safe_sparse_dot(in_double(rows[:, self.support_]), self.dual_coef_, dense_output=True)
        support = in_double(self.support_vectors_)
        scores = np.empty((rows.shape[0], self.dual_coef_.shape[1]))
        for block in gen_batches(rows.shape[0], block_size(support.shape[0])):
            values = kernel_values(self.kernel_, in_double(of_the_same_kind(rows[block], support)), support)
            np.matmul(values, self.dual_coef_, out=scores[block])
        return scores

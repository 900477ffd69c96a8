"""OnlinePerceptron: the perceptron, row by row; and what it shares with its kernel form."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import Matrix, all_or_nothing, check_count, checked_rows

LARGEST_VALUE = 1e140  # sums of products of larger ones would not fit a float64
Signs = tuple[tuple[int, int], ...]  # of pairs (output, 1 or -1)


@obeys_n_jobs
class BasePerceptron(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Labels, passes and predictions; what a row's score is, and what a mistake changes, is left to the children."""

    n_passes: int
    shuffle: bool
    random_state: int | np.random.RandomState | None
    average: bool

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Start anew and pass over the rows `n_passes` times.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes at least.

        Returns
        -------
        self
        """
        rows, labels = self._checked_pair(X, y, reset=True)
        classes, targets = np.unique(labels, return_inverse=True)
        _refuse_one_class(classes, "y")
        n_passes, n_rows = check_count("n_passes", self.n_passes), rows.shape[0]
        rng = check_random_state(self.random_state)
        learner = self._new_learner(rows, count_outputs(classes))
        for n_left in reversed(range(n_passes)):
            order = rng.permutation(n_rows) if self.shuffle else np.arange(n_rows)
            n_mistakes = learner.n_mistakes
            learner.learn(rows, targets, order)
            if learner.n_mistakes == n_mistakes:  # further passes would change nothing but the mean
                learner.n_steps += n_left * n_rows
                break
        self._keep(learner, classes)
        return self

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Go on with one pass over more rows, in the order in which they come.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever come. Needed in the first call only.

        Returns
        -------
        self
        """
        is_first = not hasattr(self, "classes_")
        rows, labels = self._checked_pair(X, y, reset=is_first)
        known = self._known_classes(classes)
        targets = _places(labels, known)
        learner = self._new_learner(rows, count_outputs(known)) if is_first else self._old_learner(rows)
        learner.learn(rows, targets, np.arange(rows.shape[0]))
        self._keep(learner, known)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest score, for every row; the first of several.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return self.classes_[places]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """The scores of all classes or, where there are two, of the second one against the first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        scores = self._scores(rows)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _new_learner(self, rows: Matrix, n_outputs: int) -> Any:
        """What a pass changes: it has `learn`, `n_steps` and `n_mistakes`."""

    @abstractmethod
    def _old_learner(self, rows: Matrix) -> Any:
        """The same, from the fitted state."""

    @abstractmethod
    def _keep(self, learner: Any, classes: NDArray[Any]) -> None:
        """The fitted state, from what was learned."""

    @abstractmethod
    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        """The scores of checked rows, of shape (n_samples, n_outputs)."""

    def _checked_pair(self, X: ArrayLike, y: ArrayLike, *, reset: bool) -> tuple[Matrix, NDArray[Any]]:
        rows, labels = checked_rows(self, X, y, reset=reset, multi_output=False)
        check_classification_targets(labels)
        entries = rows.data if sp.issparse(rows) else rows
        if entries.size and max(float(entries.max()), -float(entries.min())) > LARGEST_VALUE:
            raise ValueError(
                f"X has values beyond {LARGEST_VALUE:g}, whose products are too large for a float64; scale X first, "
                "for example with sklearn.preprocessing.StandardScaler."
            )
        return rows, labels

    def _known_classes(self, classes: ArrayLike | None) -> NDArray[Any]:
        if not hasattr(self, "classes_"):
            if classes is None:
                raise ValueError("The first call of partial_fit needs classes: pass all labels that will ever come.")
            given = np.unique(np.asarray(classes))
            _refuse_one_class(given, "classes")
            return given
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), self.classes_):
            raise ValueError(
                f"classes are {self.classes_.tolist()} since the first call, but {np.asarray(classes).tolist()} were "
                "given now; leave classes out, or call fit to start anew."
            )
        return self.classes_


class OnlinePerceptron(BasePerceptron):
    """The perceptron: one row at a time, and only mistakes teach.

    A row x with the label y, -1 or 1, is a mistake if ``y * <w, x> <= 0``; then y x is added to the weights w, which
    are zero at first. With more than two classes each has weights of its own, the largest score wins, and a mistake
    adds x to the weights of its class and subtracts it from those of the best other one (a tie is a mistake). For two
    classes both are the same. There is no learning rate: it would scale the weights and change no prediction.

    With features of an explicit map, such as `PolynomialMap`, this is the perceptron of the map's kernel, which
    `KernelPerceptron` computes without the features.

    Parameters
    ----------
    n_passes : int, default=1
        Passes of `fit` over the rows. `partial_fit` always makes one.
    shuffle : bool, default=False
        Whether each pass of `fit` takes the rows in a new random order. By default they are taken as they come, which
        makes ``fit(X, y)`` the same as one call of `partial_fit`. Rows that are sorted by class need a shuffle, and
        several passes usually gain by it.
    average : bool, default=False
        Predict by the mean of the weights after each row so far, in place of the last weights. It depends far less on
        the last rows and is usually more accurate. Mistakes are those of the last weights in either case.
    fit_intercept : bool, default=True
        Whether rows have a further feature that is always 1.
    random_state : int, RandomState instance or None, default=None
        Draws the orders, where ``shuffle=True``.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features_in_) or (n_classes, n_features_in_)
        The weights that predict. With two classes they are those of the second one.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    n_mistakes_ : int
        Mistakes so far.
    n_steps_ : int
        Rows so far, each as often as it was passed.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where rows of length at most R are separated with a margin of gamma, there are at most (R / gamma)^2 mistakes,
    however many rows and passes there are. After a pass without mistakes `fit` counts the remaining passes, which
    could not make any, without making them.

    Arithmetic is in double precision. A step costs a product of the row with the weights; for CSR rows, with those of
    the row's entries only. The mean costs no more: beside the weights, their changes are summed, each times the
    number of steps before it.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University 2015, section 1.1.
    Rosenblatt: The Perceptron, Psychological Review 65, 1958.
    Crammer, Singer: Ultraconservative Online Algorithms for Multiclass Problems, JMLR 3, 2003.
    Freund, Schapire: Large Margin Classification Using the Perceptron Algorithm, Machine Learning 37, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.expand import OnlinePerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = OnlinePerceptron(n_passes=5, shuffle=True, average=True, random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.9)
    True
    """

    def __init__(
        self,
        n_passes: int = 1,
        *,
        shuffle: bool = False,
        average: bool = False,
        fit_intercept: bool = True,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.average = average
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _new_learner(self, rows: Matrix, n_outputs: int) -> LinearLearner:
        shape = (n_outputs, rows.shape[1] + 1)
        return LinearLearner(np.zeros(shape), np.zeros(shape), self.fit_intercept, n_steps=0, n_mistakes=0)

    def _old_learner(self, rows: Matrix) -> LinearLearner:
        weights, delays = self._weights.copy(), self._delays.copy()
        return LinearLearner(weights, delays, self.fit_intercept, n_steps=self.n_steps_, n_mistakes=self.n_mistakes_)

    def _keep(self, learner: LinearLearner, classes: NDArray[Any]) -> None:
        predicting = learner.weights
        if self.average:
            predicting = mean_of_steps(learner.weights, learner.delays, learner.n_steps)
        self.coef_, self.intercept_ = predicting[:, :-1], predicting[:, -1]
        self._weights, self._delays = learner.weights, learner.delays
        self.classes_, self.n_steps_, self.n_mistakes_ = classes, learner.n_steps, learner.n_mistakes

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        return safe_sparse_dot(rows, self.coef_.T, dense_output=True) + self.intercept_


class LinearLearner:
    """Weights, the intercepts in the last column, that are changed in place by each mistake."""

    def __init__(
        self,
        weights: NDArray[np.float64],
        delays: NDArray[np.float64],
        fit_intercept: bool,
        *,
        n_steps: int,
        n_mistakes: int,
    ):
        self.weights, self.delays = weights, delays
        self.constant = float(bool(fit_intercept))
        self.n_steps, self.n_mistakes = n_steps, n_mistakes

    def learn(self, rows: Matrix, targets: NDArray[np.intp], order: NDArray[np.intp]) -> None:
        learn = self._learn_sparse if sp.issparse(rows) else self._learn_dense
        learn(rows, targets.tolist(), order.tolist())

    def _learn_dense(self, rows: NDArray[Any], targets: list[int], order: list[int]) -> None:
        weights, intercepts = self.weights[:, :-1], self.weights[:, -1]
        for place in order:
            row = rows[place]
            signs = correction(weights @ row + intercepts, targets[place])
            if signs:
                self._correct(signs, slice(None, -1), row)
            self.n_steps += 1

    def _learn_sparse(self, rows: Matrix, targets: list[int], order: list[int]) -> None:
        if not rows.has_canonical_format:  # an entry that is stored twice would be added once
            rows = rows.copy()
            rows.sum_duplicates()
        intercepts = self.weights[:, -1]
        starts = rows.indptr.tolist()
        for place in order:
            entries = slice(starts[place], starts[place + 1])
            columns, values = rows.indices[entries], rows.data[entries]
            signs = correction(self.weights.take(columns, axis=1) @ values + intercepts, targets[place])
            if signs:
                self._correct(signs, columns, values)
            self.n_steps += 1

    def _correct(self, signs: Signs, columns: slice | NDArray[Any], values: NDArray[Any]) -> None:
        for output, sign in signs:
            delay = sign * self.n_steps
            self.weights[output, columns] += sign * values
            self.delays[output, columns] += delay * values.astype(np.float64, copy=False)
            self.weights[output, -1] += sign * self.constant
            self.delays[output, -1] += delay * self.constant
        self.n_mistakes += 1


def correction(scores: NDArray[np.float64], target: int) -> Signs:
    """Which outputs a row is added to (1) or subtracted from (-1); none if it is no mistake."""
    if len(scores) == 1:
        sign = 1 if target else -1
        return () if sign * scores[0] > 0 else ((0, sign),)
    others = scores.copy()
    others[target] = -np.inf
    rival = int(others.argmax())
    return () if scores[target] > others[rival] else ((target, 1), (rival, -1))


def mean_of_steps(current: NDArray[np.float64], delays: NDArray[np.float64], n_steps: int) -> NDArray[np.float64]:
    """The mean over the steps 1 to T of sums of changes: one that came in step t is missing in the first t - 1."""
    return current - delays / n_steps


def count_outputs(classes: NDArray[Any]) -> int:
    return 1 if len(classes) == 2 else len(classes)


def _refuse_one_class(classes: NDArray[Any], name: str) -> None:
    if len(classes) < 2:
        raise ValueError(f"{name} has one class only, {classes.tolist()}, but a classifier needs at least two classes.")


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Where each label is among the classes."""
    place_of = {label: place for place, label in enumerate(classes.tolist())}
    present, positions = np.unique(labels, return_inverse=True)
    strangers = [label for label in present.tolist() if label not in place_of]
    if strangers:
        raise ValueError(
            f"y has labels that are not among the classes of the first call, {strangers}; known are "
            f"{classes.tolist()}, and only fit starts anew with others."
        )
    return np.array([place_of[label] for label in present.tolist()], dtype=np.intp)[positions]

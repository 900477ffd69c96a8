"""LocalLinearClassifier: a linear classifier, on any rows or on the codes of local features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing
from ._base import LinearOnCodes
from ._solver import CLASSIFICATION, Outputs


@obeys_n_jobs
class LocalLinearClassifier(ClassifierMixin, LinearOnCodes):
    """A linear classifier, each class against the rest, that learns all classes in one pass over the rows.

    It minimises, for each class, liblinear's objective ``|w|^2 / 2 + C * sum of losses``, with ``l1 * |w|_1`` added if
    wanted, and says how near it came: no weights whatever have an objective that is smaller by more than the share
    `duality_gap_`. It takes any dense or CSR rows, and with `features`, a map such as `RandLocal`, rows as they are
    before the map: their local features are then kept as codes of one or two bytes, and values of one, not as a
    matrix.

    Parameters
    ----------
    features : transformer, default=None
        A map with groups of anchors or leaves, such as ``RandLocal()`` or ``ForestCells()``; it is fitted as a clone.
        None takes rows as they are.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        Of a row with score s and target y of -1 or 1: ``max(0, 1 - y s)^2``, ``max(0, 1 - y s)`` or
        ``log(1 + exp(-y s))``.
    C : float, default=1.0
        What losses weigh: the larger, the closer the model follows the training rows. With `features`, the local
        features are first multiplied by one number such that the mean squared length of rows is 1.
    l1 : float, default=0.0
        What the sum of absolute weights costs, beside half the sum of their squares: above 0 many weights are exactly
        zero. The intercept's is not among them.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        The intercept is the weight of one more column with this value, as in liblinear, and so is part of ``|w|^2``;
        the larger the value, the less that matters.
    class_weight : dict, "balanced" or None, default=None
        A factor per class for the weights of its rows. With more than two classes it counts where the class stands
        against the rest, as in liblinear. "balanced" makes it inversely proportional to the number of rows.
    tol : float, default=0.01
        Ends when the duality gap is at most this share of the objective. On local features of large tables predictions
        have settled at 0.1 already; 1e-4 and below are for comparing objectives.
    max_iter : int, default=1000
        Most passes over the rows. Rows that nothing moves are left out of most of them.
    early_stopping : bool, default=False
        Whether to hold back some rows and to end, before the gap is `tol`, when their loss does not fall any more;
        they are looked at after 1, 2, 4, 8, ... passes, and the weights that they like best are kept.
    validation_fraction : float, default=0.1
        The share of the rows that are held back.
    warm_start : bool, default=False
        Whether a fit begins where the last one ended, if it has as many rows and classes; these must be the same rows.
        `features_` stays as it was. Dual variables are kept for it, one per row and class.
    random_state : int, RandomState instance or None, default=None
        Draws the order of rows. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads; each takes up to eight classes at a time, so that with two classes one thread learns. None uses all
        cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Weights of the columns or, with `features`, of the local features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    features_ : transformer
        The fitted map, with `features` alone.
    n_iter_ : int
        Passes over the rows, of the classes that took most.
    objective_ : float
        The objective at the weights, summed over classes.
    duality_gap_ : float
        How far `objective_` may be above the smallest possible one, as a share of it. It is computed in double
        precision from the weights that are kept.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The solver is dual coordinate descent. The weights of up to eight classes lie side by side, so that one look at a
    row serves all of them. float32 rows and codes are learned in single precision and certified in double; float64 rows
    are learned in double. Rows with up to 100 columns, and more rows than columns, are learned by Newton's steps
    instead, unless the loss is "hinge".

    One estimator stands for map and model because the steps of a Pipeline hand matrices to each other:
    ``make_pipeline(RandLocal(), LocalLinearClassifier())`` works as well, and has the whole matrix in memory. Here
    values of features are rounded to 255 levels per group for learning; `predict` takes them as they are. The map
    looks at the rows twice, once to fit and once to code.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A Dual Coordinate Descent Method for Large-scale Linear SVM, ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from vicinal import LocalLinearClassifier, RandLocal
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = LocalLinearClassifier(RandLocal(random_state=0), random_state=0).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.97), bool(model.duality_gap_ <= 0.01)
    (True, True)
    """

    def __init__(
        self,
        features: Any = None,
        *,
        loss: str = "squared_hinge",
        C: float = 1.0,
        l1: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        tol: float = 0.01,
        max_iter: int = 1000,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.features = features
        self.loss = loss
        self.C = C
        self.l1 = l1
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LocalLinearClassifier:
        """Learn the weights of all classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        self._check_parameters(CLASSIFICATION)
        rows, given = self._checked(X, y, reset=True)
        check_classification_targets(given)
        weights = self._row_weights(rows, sample_weight)
        self.classes_, labels = np.unique(given, return_inverse=True)
        if len(np.unique(labels[weights > 0])) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes whose weights are above 0; there is one "
                f"class, {self.classes_[labels[weights > 0][0]]!r}."
            )
        self._fit_rows(rows, given, self._outputs(labels.astype(np.int32), given), weights)
        return self

    @all_or_nothing
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> LocalLinearClassifier:
        """Learn from more rows, on top of what was learned from others, which are not needed any more.

        Dual variables of former rows stay as they are, those of the new rows are brought to where the objective over
        all of them is best. A map is fitted to the rows of the first call. `objective_` and `duality_gap_` are those of
        the step: half the squared distance from the former weights, and the new rows' losses.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes that there will be; needed at the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        self._check_parameters(CLASSIFICATION)
        if isinstance(self.class_weight, str):
            raise ValueError(
                f"class_weight={self.class_weight!r} needs all rows at once; give partial_fit a dict of weights."
            )
        first = not hasattr(self, "coef_")
        _check_partial_fit_first_call(self, classes)
        rows, given = self._checked(X, y, reset=first)
        check_classification_targets(given)
        unknown = np.setdiff1d(given, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y has the label {unknown.tolist()[0]!r}, which is not among the classes of the first call."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes; there is {self.classes_.tolist()[0]!r} alone."
            )
        weights = self._row_weights(rows, sample_weight)
        labels = np.searchsorted(self.classes_, given).astype(np.int32)
        self._fit_rows(rows, given, self._outputs(labels, self.classes_), weights, base=None if first else self._base())
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of rows; with two classes those of the second.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the highest score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of the classes, each against the rest, then scaled to a sum of 1; for logistic loss alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        chances = expit(self._scores(X))
        if chances.shape[1] == 1:
            return np.hstack([1 - chances, chances])
        return chances / np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def _outputs(self, labels: NDArray[np.int32], y: NDArray[Any]) -> Outputs:
        """Of two classes the second alone; class weights as liblinear has them."""
        of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        if not (np.isfinite(of_class).all() and (of_class > 0).all()):
            raise ValueError(f"class_weight must give numbers above 0; got {self.class_weight!r}.")
        counts = np.bincount(labels, minlength=len(self.classes_)).astype(np.float64)
        if len(self.classes_) == 2:
            return Outputs(of_class[::-1, None].copy(), counts[1:], labels=labels - np.int32(1))
        return Outputs(np.stack([of_class, np.ones_like(of_class)]), counts, labels=labels)

"""LocalLinearRegressor: linear regression, on any rows or on the codes of local features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing, check_positive
from ._base import LinearOnCodes
from ._solver import Outputs


@obeys_n_jobs
class LocalLinearRegressor(RegressorMixin, LinearOnCodes):
    """Linear regression with squares or Huber's loss, on any rows or on the codes of local features.

    It minimises ``|w|^2 / 2 + l1 * |w|_1 + C * sum of losses`` for each target, and says how near it came: no weights
    whatever have an objective that is smaller by more than the share `duality_gap_`. With `features`, a map such as
    `RandLocal`, it takes rows as they are before the map and keeps their local features as codes, never as a matrix.

    Parameters
    ----------
    features : transformer, default=None
        A map with groups of anchors or leaves, such as ``RandLocal()`` or ``ForestCells()``; it is fitted as a clone.
        None takes rows as they are.
    loss : {"squared", "huber"}, default="squared"
        Of the difference r between target and prediction: ``r^2``; or ``r^2`` up to a difference of `knee` and
        ``knee * (2 |r| - knee)`` beyond.
    knee : float, default=1.35
        Where Huber's loss becomes a line, in standard deviations of the target.
    C : float, default=1.0
        What losses weigh; with squares it is scikit-learn's Ridge with ``alpha = 1 / (2 * C)``. With `features`, the
        local features are first multiplied by one number such that the mean squared length of rows is 1.
    l1 : float, default=0.0
        What the sum of absolute weights costs, beside half the sum of their squares: above 0 many weights are exactly
        zero. The intercept's is not among them.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        Targets are moved to a mean of zero; what is left of the intercept is the weight of one more column with this
        value, and so is part of ``|w|^2``.
    tol : float, default=1e-3
        Ends when the duality gap is at most this share of the objective.
    max_iter : int, default=1000
        Most passes over the rows.
    early_stopping : bool, default=False
        Whether to hold back some rows and to end, before the gap is `tol`, when their loss does not fall any more;
        they are looked at after 1, 2, 4, 8, ... passes, and the weights that they like best are kept.
    validation_fraction : float, default=0.1
        The share of the rows that are held back.
    warm_start : bool, default=False
        Whether a fit begins where the last one ended, if it has as many rows and targets; these must be the same rows.
        `features_` stays as it was. Dual variables are kept for it, one per row and target.
    random_state : int, RandomState instance or None, default=None
        Draws the order of rows. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads; each takes up to eight targets at a time. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,) or (n_targets, n_columns)
        Weights of the columns or, with `features`, of the local features.
    intercept_ : float or ndarray of shape (n_targets,)
    features_ : transformer
        The fitted map, with `features` alone.
    n_iter_ : int
        Passes over the rows, of the targets that took most.
    objective_ : float
        The objective at the weights, summed over targets, of targets in standard deviations.
    duality_gap_ : float
        How far `objective_` may be above the smallest possible one, as a share of it.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LocalLinearRegressor, RandLocal
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    >>> y = np.sin(3 * X[:, 0]) * X[:, 1]
    >>> model = LocalLinearRegressor(RandLocal(random_state=0), C=10, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    def __init__(
        self,
        features: Any = None,
        *,
        loss: str = "squared",
        knee: float = 1.35,
        C: float = 1.0,
        l1: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.features = features
        self.loss = loss
        self.knee = knee
        self.C = C
        self.l1 = l1
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LocalLinearRegressor:
        """Learn the weights of all targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, first=True)

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LocalLinearRegressor:
        """Learn from more rows, on top of what was learned from others, which are not needed any more.

        Dual variables of former rows stay as they are, those of the new rows are brought to where the objective over
        all of them is best. Targets are in units of the first call's mean and deviation, and a map is fitted to its
        rows. `objective_` and `duality_gap_` are those of the step.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, first=not hasattr(self, "coef_"))

    def _learn(self, X: ArrayLike, y: ArrayLike, sample_weight: Any, *, first: bool) -> LocalLinearRegressor:
        self._check_parameters(("squared", "huber"))
        check_positive("knee", self.knee)
        rows, numbers = self._checked(X, y, reset=first, y_numeric=True, multi_output=True)
        weights = self._row_weights(rows, sample_weight)
        targets = np.asarray(numbers, dtype=np.float64).reshape(len(numbers), -1)
        if first:
            self._measure_targets(targets, weights)
        elif np.shape(self.coef_)[:-1] != np.shape(numbers)[1:]:
            raise ValueError(f"y has the shape {np.shape(numbers)}, but not so many targets as at the first call.")
        n_targets = targets.shape[1]
        scaled = (targets - self._center) / self._spread
        outputs = Outputs(np.ones((2, n_targets)), np.ones(n_targets), targets=scaled)
        knee = float(self.knee) if self.loss == "huber" else np.inf
        base = None if first else self._base()
        self._fit_rows(rows, numbers, outputs, weights, base=base, loss="huber", knee=knee)
        self.coef_ = self.coef_ * self._spread[:, None]
        self.intercept_ = self.intercept_ * self._spread + self._center
        if np.ndim(numbers) == 1:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def _measure_targets(self, targets: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        """The solver's units: it is given targets with a mean of 0 and a deviation of 1."""
        n_targets = targets.shape[1]
        self._center = np.average(targets, axis=0, weights=weights) if self.fit_intercept else np.zeros(n_targets)
        spread = np.sqrt(np.average((targets - self._center) ** 2, axis=0, weights=weights))
        self._spread = np.where(spread > 0, spread, 1.0)

    def _solved_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        intercepts = (np.atleast_1d(self.intercept_) - self._center) / self._spread
        return np.atleast_2d(self.coef_) / self._spread[:, None], intercepts

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Targets of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._scores(X)

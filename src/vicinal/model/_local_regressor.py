"""LocalRegressor: numbers from cells around anchors and of trees, with settings that it chooses itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_sample_weight

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing
from ._local_model import LocalModel


@obeys_n_jobs
class LocalRegressor(RegressorMixin, LocalModel):
    """Numbers from cells: one estimator, from a table as it is to predictions.

    It is to numbers what `LocalClassifier` is to classes: the same family of cells, tried on rows that they have not
    learned from; the best ones are added up such that squared errors are least.

    Parameters
    ----------
    parts : list of dict, default=None
        The parts to use, such as ``[{"part": "local", "n_neighbors": 5}, {"part": "forest"}]``; what a part leaves open
        has a default, and what parts count is found on held-out rows, unless each has a "weight". None chooses them.
    family : list of str, default=None
        The kinds of parts to choose from, such as ``["local", "columns"]``; None for all of them.
    budget : str, float or None, default="5m"
        Time for the fit, as text ("90s", "5m", "2h") or in seconds. Fewer settings are tried where it is short, and on
        large tables parts are made smaller. It is a wish, not a promise; None takes the time that it takes.
    scale : {"auto", "standard", "minmax", "matrix", "none", "tfidf"}, default="auto"
        What is done to numbers first, as in `LocalClassifier`.
    image_shape : (int, int) or (int, int, int), default=None
        Height, width and, if there are any, channels (last) of images in the rows; then cells may be of rectangles.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads. None uses all cores, or as many as OMP_NUM_THREADS allows. The result does not depend on it, unless
        time ran out.

    Attributes
    ----------
    chosen_ : dict
        Parameters that give the same model again: ``LocalRegressor(**chosen_, random_state=...)``, at the price of one
        fit of each part.
    models_ : list of fitted estimators
        The parts; they predict targets in units of `spread_` around `center_`.
    weights_ : ndarray of shape (n_parts,)
        What the parts' predictions are multiplied by.
    biases_ : ndarray of shape (1,)
        What is added to their sum.
    center_, spread_ : float
        Mean and deviation of the targets.
    validation_loss_ : float or None
        Half the mean squared error on rows that the parts had not learned from, in units of the squared deviation; None
        if all was given.
    validation_score_ : float or None
        R2 of these rows.
    shares_ : ndarray of shape (n_parts,) or None
        What part of the sum's spread on these rows comes from each part.
    preparation_ : transformer
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.model_selection import train_test_split
    >>> from vicinal import LocalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> parts = [{"part": "local", "n_groups": 50}, {"part": "columns"}]
    >>> model = LocalRegressor(parts, random_state=0).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.3), [part["part"] for part in model.chosen_["parts"]]
    (True, ['local', 'columns'])
    """

    def __init__(
        self,
        parts: Sequence[Mapping[str, Any]] | None = None,
        *,
        family: Sequence[str] | None = None,
        budget: str | float | None = "5m",
        scale: str = "auto",
        image_shape: tuple[int, ...] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.parts = parts
        self.family = family
        self.budget = budget
        self.scale = scale
        self.image_shape = image_shape
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LocalRegressor:
        """Choose parts, fit them, and find what each counts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        numbers = self._checked_y(y, numeric=True).astype(np.float64)
        weights = _check_sample_weight(sample_weight, numbers, dtype=np.float64, ensure_non_negative=True)
        shares = weights if weights.any() else np.ones_like(weights)
        self.center_ = float(np.average(numbers, weights=shares))
        spread = float(np.sqrt(np.average((numbers - self.center_) ** 2, weights=shares)))
        self.spread_ = spread if spread > 0 else 1.0
        self._learn(X, (numbers - self.center_) / self.spread_, np.ones(len(numbers)), 0, sample_weight)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Targets of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._combined(X)[:, 0] * self.spread_ + self.center_

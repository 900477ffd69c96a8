"""What detectors share: a threshold, p-values from rows held out, and a bound on false alarms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._validation import check_share

AUTO_OFFSET = -2.0  # as strange as one training row in a hundred


class CalibratedDetector(OutlierMixin, BaseEstimator, ABC):
    """A detector with `score_samples`, `offset_` and `calibration_scores_`."""

    contamination: Any
    calibration: Any
    offset_: float
    calibration_scores_: NDArray[np.float64]

    @abstractmethod
    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Minus how strange each row is."""

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """`score_samples` minus `offset_`: negative for outliers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike, fdr: float | None = None) -> NDArray[np.int64]:
        """-1 for outliers, 1 for all others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        fdr : float, default=None
            In place of the threshold: the expected share of false alarms among the rows that are called outliers
            (Benjamini and Hochberg's procedure on the p-values). With few rows held out, p-values cannot be small
            enough for a single outlier among many rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if fdr is None:
            return np.where(self.decision_function(X) < 0, -1, 1)
        check_share("fdr", fdr)
        return np.where(rejected(self.p_values(X), fdr), -1, 1)

    def p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """How likely a row like those of the training data is at least as strange, by rows held out of `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that `fit` has not seen.

        Returns
        -------
        ndarray of shape (n_samples,)
            ``(1 + held-out rows at least as strange) / (1 + held-out rows)``.
        """
        check_is_fitted(self)
        if not len(self.calibration_scores_):
            raise ValueError("p-values need rows held out of fit: set calibration above 0, and give more rows to fit.")
        n = len(self.calibration_scores_)
        at_least_as_strange = np.searchsorted(self.calibration_scores_, self.score_samples(X), side="right")
        return (1 + at_least_as_strange) / (1 + n)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_calibration(self) -> None:
        if not (isinstance(self.contamination, str) and self.contamination == "auto") and not (
            isinstance(self.contamination, float | int | np.floating) and 0 < self.contamination <= 0.5
        ):
            raise ValueError(f"contamination must be 'auto' or a share in (0, 0.5]; got {self.contamination!r}.")
        if not isinstance(self.calibration, float | int | np.floating) or not 0 <= self.calibration < 1:
            raise ValueError(
                f"calibration must be the share of rows to hold out, at least 0 and below 1; got {self.calibration!r}."
            )

    def _calibrate(self, learned: NDArray[np.float64], held_out: NDArray[np.float64]) -> None:
        """Sets the threshold by the scores of all rows, and keeps those of the rows held out."""
        self.calibration_scores_ = np.sort(held_out)
        self.offset_ = AUTO_OFFSET
        if self.contamination != "auto":
            self.offset_ = float(np.percentile(np.concatenate([learned, held_out]), 100 * self.contamination))


def split_rows(
    n_rows: int, most: int, calibration: float, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to learn from and rows to hold out, each in order, of at most `most` in all."""
    rows = rng.permutation(n_rows)[: min(n_rows, most)]
    n_held_out = min(int(calibration * len(rows)), len(rows) - 2)
    return np.sort(rows[n_held_out:]), np.sort(rows[:n_held_out])


def rejected(p_values: NDArray[np.float64], fdr: float) -> NDArray[np.bool_]:
    """Benjamini and Hochberg's choice: the k smallest, for the largest k with the k-th at most ``fdr k / n``."""
    order = np.sort(p_values)
    n = len(order)
    below = np.flatnonzero(order <= fdr * np.arange(1, n + 1) / n)
    return p_values <= order[below[-1]] if len(below) else np.zeros(n, bool)

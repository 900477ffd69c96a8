"""Regression: numbers predicted by models, or from features by ridge regression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from .._experiment import Experiment
from .._method import Role
from .._methods import find_method
from .._metric import Metric
from .prediction import Prediction

RANGES = 10  # of targets, of which every fold has its share


class Regression(Prediction):
    """Models are given targets with the mean 0 and the deviation 1 of the training part; errors are in deviations."""

    name = "regression"
    metrics = (
        Metric("r2", "R²", low=-float("inf")),
        Metric("rmse", "root mean square error, in deviations", "low", "error", high=float("inf")),
        Metric("mae", "mean absolute error, in deviations", "low", "error", high=float("inf")),
    )
    predicts_numbers = True
    all_rows = True  # no number stands for a missing one

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        for spec in experiment.methods:
            method = find_method(spec.name)
            if method.role is Role.MODEL and not method.predicts_numbers:
                raise ValueError(f"The experiment {experiment.name}: {spec.name!r} predicts classes only, not numbers.")

    def groups(self, y: NDArray) -> NDArray:
        """Ranges of about equally many rows."""
        order = np.empty(len(y), np.intp)
        order[np.argsort(y, kind="stable")] = np.arange(len(y))
        return order * min(RANGES, max(1, len(y) // RANGES)) // len(y)

    def learned_as(self, y: NDArray) -> Callable[[NDArray], NDArray]:
        center, spread = np.mean(y, dtype=np.float64), np.std(y, dtype=np.float64) or 1.0
        return lambda given: (given - center) / spread

    def values(self, work: Any, fitted: Any, X: Any, y: NDArray) -> dict[str, float]:
        predicted = fitted.predict(X)
        return {
            "r2": r2_score(y, predicted),
            "rmse": root_mean_squared_error(y, predicted),
            "mae": mean_absolute_error(y, predicted),
        }

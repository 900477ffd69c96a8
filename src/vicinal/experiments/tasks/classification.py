"""Classification: features or models, chosen and fitted without the test part, scored on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, log_loss

from .._experiment import Cell, Experiment
from .._metric import Measure, Metric
from .prediction import Prediction

LOG_LOSS = "log_loss"
SCORES: dict[str, Callable[[NDArray, NDArray], float]] = {
    "accuracy": lambda y, predicted: float(np.mean(y == predicted)),
    "micro_f1": lambda y, predicted: f1_score(y, predicted, average="micro"),
    "macro_f1": lambda y, predicted: f1_score(y, predicted, average="macro"),
}


class Classification(Prediction):
    name = "classification"
    metrics = (
        Metric("accuracy", "accuracy"),
        Metric("micro_f1", "micro-F1"),
        Metric("macro_f1", "macro-F1"),
        Metric(LOG_LOSS, "log loss", "low", "error", high=float("inf")),
    )

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        """Without the log loss for methods that give no probabilities."""
        found = super().measures(experiment, cell)
        if all(measure.metric.name != LOG_LOSS for measure in found) or experiment.method(cell).gives_probabilities:
            return found
        return tuple(measure for measure in found if measure.metric.name != LOG_LOSS)

    def groups(self, y: NDArray) -> NDArray:
        return y

    def values(self, work: Any, fitted: Any, X: Any, y: NDArray) -> dict[str, float]:
        predicted = fitted.predict(X)
        found = {name: score(y, predicted) for name, score in SCORES.items()}
        if work.method.gives_probabilities:
            found[LOG_LOSS] = log_loss(y, fitted.predict_proba(X), labels=fitted.classes_)
        return found

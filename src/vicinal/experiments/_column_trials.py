"""Trials of selectors: columns chosen with every combination of a grid, and which of them count."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._sample import Sample
from ._metric import Measure, Metric
from ._work import Outcome, fit, recording_warnings

Scores = Mapping[str, NDArray[np.float64]]  # by metric and run


@dataclass(frozen=True)
class Trial:
    """What one number of columns gave with one combination of parameters: scores by metric and run."""

    parameters: Mapping[str, Any]
    n_features: int
    nonzeros_per_row: float
    scores: Scores

    def level(self, metric: Metric) -> float:
        """Its mean over runs; more is better, whatever the metric."""
        return metric.sign * float(self.scores[metric.name].mean())


@dataclass
class Fits:
    """What fits of selectors took, and what they warned of."""

    number: int = 0
    seconds: float = 0.0
    complaints: Counter[str] = field(default_factory=Counter)

    def fitted(self, selector: Any, sample: Sample) -> Any:
        start = time.perf_counter()
        _, caught = recording_warnings(partial(fit, selector, sample))
        self.seconds += time.perf_counter() - start
        self.number += 1
        self.complaints.update(dict.fromkeys(map(_complaint, caught), 1))
        return selector


def middle(candidates: list[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """All combinations of a grid, or so many in the middle of it."""
    left_out = max(0, len(candidates) - most) if most is not None else 0
    return candidates[left_out // 2 :][: len(candidates) - left_out]


def median_trial(trials: Sequence[Trial], metric: Metric) -> Trial:
    """The trial whose mean over runs is the median or, of an even number, the worse one of the two in the middle."""
    ordered = sorted(trials, key=lambda trial: trial.level(metric))
    return ordered[(len(ordered) - 1) // 2]


def best_trial(trials: Sequence[Trial], metric: Metric) -> Trial:
    return max(trials, key=lambda trial: trial.level(metric))


def record(outcome: Outcome, measure: Measure, trial: Trial) -> None:
    """A trial that counts, by one measure."""
    scores = trial.scores[measure.metric.name]
    outcome.values += [(run, measure, float(score)) for run, score in enumerate(scores)]
    own_number = isinstance(measure.at, str) and trial.n_features > 0  # links alone have no columns
    number = {"n_features": trial.n_features} if own_number else {}
    outcome.chosen_by_measure[measure] = {**trial.parameters, **number}
    outcome.nonzeros_by_measure[measure] = trial.nonzeros_per_row


def _complaint(warning: warnings.WarningMessage) -> str:
    """What a selector warned of, without its advice."""
    if issubclass(warning.category, ConvergenceWarning):
        return "stopped before they converged"
    return f"warned: {re.split('[:;]', str(warning.message))[0].rstrip('.')}"

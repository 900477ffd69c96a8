"""Columns chosen without labels, then k-means: one cell of the task "selection"."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..cluster import repeated_kmeans
from ._evaluate import CLUSTERING, Outcome, Protocol, fitting_rows, listening, nonzeros, pass_on, readable
from ._methods import Method


@dataclass(frozen=True)
class Trial:
    """What k-means made of one number of columns in one setting: scores by metric and run."""

    parameters: Mapping[str, Any]
    n_features: int
    nonzeros_per_row: float
    scores: Mapping[str, NDArray[np.float64]]


def select(
    method: Method,
    protocol: Protocol,
    X: Any,
    y: NDArray,
    *,
    features: Sequence[int | str],
    runs: int,
    unit_rows: bool,
    starts: int = 1,
    most_settings: int | None = None,
) -> Outcome:
    """k-means on the columns that a method keeps of all rows, `runs` times for every number of columns.

    Of the `starts` of each run the best by the criterion of k-means counts. The method is fitted once in each setting
    of its grid, or in the middle `most_settings`. Two settings of a grid count, for each number of columns and each
    metric: that of the median of the means over runs, and the best one, whose metrics begin with "best_" and which
    only the labels tell. A method without a map has all columns.
    """
    outcome = Outcome(training_rows=len(y), test_rows=len(y))
    X = protocol.preparation(X).fit_transform(X)
    X, _ = readable(method, outcome, X, X)
    settings = middle(method.map_settings(protocol.setting), most_settings)
    trials: dict[int | str, list[Trial]] = {count: [] for count in method.counts(features)}
    kmeans = partial(repeated_kmeans, n_clusters=len(np.unique(y)), n_runs=runs, n_starts=starts, unit_rows=unit_rows)
    fit_seconds, cluster_seconds, complaints = 0.0, 0.0, Counter[str]()
    for parameters in settings:
        kept: dict[int | str, NDArray[np.intp]] = {"all": np.arange(X.shape[1])}
        if method.make_map is not None:
            selector = method.build_map(protocol.setting, parameters)
            start = time.perf_counter()
            _, warned = listening(partial(selector.fit, fitting_rows(protocol, X, outcome)))
            fit_seconds += time.perf_counter() - start
            complaints.update(dict.fromkeys(map(_complaint, warned), 1))
            kept = {count: selector.with_n_features(count).get_support(indices=True) for count in trials}
        start = time.perf_counter()
        for count, made in trials.items():
            made.append(_trial(protocol, parameters, X[:, kept[count]], y, kmeans, outcome))
        cluster_seconds += time.perf_counter() - start
    outcome.notes += [f"{times} of {len(settings)} fits {what}" for what, times in complaints.items()]
    outcome.feature_seconds = fit_seconds / len(settings)
    outcome.model_seconds = cluster_seconds / (len(settings) * len(trials) * runs)
    outcome.nonzeros_per_row = nonzeros(X) / X.shape[0]
    for count, made in trials.items():
        for metric in protocol.metrics:
            _record(outcome, f"{metric}@{count}", median_trial(made, metric), metric)
            if len(settings) > 1:
                _record(outcome, f"best_{metric}@{count}", best_trial(made, metric), metric)
    outcome.values.sort(key=lambda value: value[0])
    return outcome


def middle(settings: list[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """All settings of a grid, or so many in the middle of it."""
    left_out = max(0, len(settings) - most) if most is not None else 0
    return settings[left_out // 2 :][: len(settings) - left_out]


def median_trial(trials: Sequence[Trial], metric: str) -> Trial:
    """The trial whose mean over runs is the median or, of an even number, the lower one of the two in the middle."""
    ordered = sorted(trials, key=lambda trial: trial.scores[metric].mean())
    return ordered[(len(ordered) - 1) // 2]


def best_trial(trials: Sequence[Trial], metric: str) -> Trial:
    return max(trials, key=lambda trial: trial.scores[metric].mean())


def _record(outcome: Outcome, name: str, trial: Trial, metric: str) -> None:
    outcome.values += [(run, name, float(score)) for run, score in enumerate(trial.scores[metric])]
    own_number = {} if name.split("@")[1].isdigit() else {"n_features": trial.n_features}
    outcome.by_metric[name] = {
        "chosen": {**trial.parameters, **own_number},
        "nonzeros_per_row": trial.nonzeros_per_row,
    }


def _trial(
    protocol: Protocol,
    parameters: Mapping[str, Any],
    F: Any,
    y: NDArray,
    kmeans: Callable[[Any], NDArray[np.int32]],
    outcome: Outcome,
) -> Trial:
    clusters, warned = listening(partial(kmeans, F))
    if any(issubclass(warning.category, ConvergenceWarning) for warning in warned):
        _note(outcome, "fewer different rows than clusters on some columns")
    pass_on(warned, but=ConvergenceWarning)
    scores = {
        metric: np.array([CLUSTERING[metric](y, labels) for labels in clusters], dtype=np.float64)
        for metric in protocol.metrics
    }
    return Trial(parameters, F.shape[1], nonzeros(F) / F.shape[0], scores)


def _complaint(warning: warnings.WarningMessage) -> str:
    """What a selector warned of, without its advice."""
    if issubclass(warning.category, ConvergenceWarning):
        return "stopped before they converged"
    return f"warned: {re.split('[:;]', str(warning.message))[0].rstrip('.')}"


def _note(outcome: Outcome, note: str) -> None:
    if note not in outcome.notes:
        outcome.notes.append(note)

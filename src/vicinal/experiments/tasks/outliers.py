"""Outliers: detectors, and the distance to the k-th neighbour in feature space."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ..._page import Section
from ..._validation import check_choice
from ...graphs import nearest_rows
from .._curves import over_places
from .._experiment import Cell, Experiment
from .._method import Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._task import Task
from .._work import Outcome, Work, best_by_labels, fit, fitting_rows, nonzeros

AUC = Metric("auc", "AUC")


@dataclass(frozen=True)
class OutlierOptions:
    """The neighbours k of the outlier score."""

    neighbors: tuple[int, ...] = ()


@dataclass(frozen=True)
class OutlierUse:
    """Rows of unit length, and how features become a score: by neighbours' distance, or by small values."""

    unit_rows: bool = False
    detector: str = "distance"

    def __post_init__(self) -> None:
        check_choice("detector", self.detector, ("distance", "values"))


class Outliers(Task):
    name = "outliers"
    metrics = (AUC,)
    Options = OutlierOptions
    MethodOptions = OutlierUse
    roles = (Role.COLUMNS, Role.MAP, Role.SELECTOR, Role.DETECTOR)

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        if not experiment.options.neighbors:
            raise ValueError(f"The experiment {experiment.name} needs 'neighbors', the k of its outlier scores.")

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        return tuple(Measure(AUC, k) for k in experiment.options.neighbors)

    def evaluate(self, work: Work) -> Outcome:
        sample, outcome = work.all_rows()
        assert sample.y is not None
        outliers, neighbors = sample.y == 1, work.options.neighbors

        def areas(scores: Any) -> list[tuple[int, Measure, float]]:
            columns = zip(neighbors, scores.T, strict=True)
            return [(0, Measure(AUC, k), float(roc_auc_score(outliers, column))) for k, column in columns]

        if work.method.role is Role.DETECTOR:
            return self._detect(work, sample, outcome, areas)

        def measure(F: Any) -> list[tuple[int, Measure, float]]:
            if work.method_options.detector == "distance":
                distances, _ = nearest_rows(F, n_neighbors=max(neighbors), n_jobs=work.context.threads)
                return areas(distances[:, np.minimum(neighbors, distances.shape[1]) - 1])
            return areas(_repeated(-np.asarray(F.sum(axis=1)).ravel(), len(neighbors)))

        def criterion(values: list[tuple[int, Measure, float]]) -> float:
            return float(np.mean([value for _, _, value in values]))

        unit_rows = work.method_options.unit_rows
        return best_by_labels(work, sample, outcome, unit_rows=unit_rows, measure=measure, criterion=criterion)

    def _detect(self, work: Work, sample: Any, outcome: Outcome, areas: Any) -> Outcome:
        """A detector has one score, whatever the neighbour."""
        start = time.perf_counter()
        detector = fit(work.method.build(work.context, {}), fitting_rows(work, sample, outcome))
        scores = -detector.score_samples(sample.X)
        outcome.model_seconds = time.perf_counter() - start
        outcome.values = areas(_repeated(scores, len(work.options.neighbors)))
        outcome.nonzeros_per_row = nonzeros(sample.X) / len(sample)
        return outcome

    def place(self, measure: Measure) -> str:
        return f"k = {measure.at}"

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        return (("Protocol", f"distance to the k-th neighbour; up to {experiment.repeats} draws"),)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        return (over_places(experiment, summaries, "AUC over the neighbour k", "neighbour k"), tables)


def _repeated(scores: Any, times: int) -> Any:
    return np.repeat(scores.reshape(-1, 1), times, axis=1)

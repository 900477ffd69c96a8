"""Outliers: detectors, and the distance to the k-th neighbour in feature space."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from ..._page import Section
from ..._sample import Sample
from ..._validation import check_choice
from ..._words import capital
from ...graphs import nearest_rows
from .._curves import over_places
from .._experiment import Cell, Experiment
from .._method import Role
from .._methods import find_method
from .._metric import Measure, Metric
from .._summary import Summary
from .._tables import metrics_of
from .._task import Task
from .._work import Outcome, Work, best_by_labels, fit, fitting_places, fitting_rows, nonzeros

AUC, AVERAGE_PRECISION = Metric("auc", "AUC"), Metric("average_precision", "average precision")
SCORES = {AUC: roc_auc_score, AVERAGE_PRECISION: average_precision_score}
# Where detectors keep the scores of the rows that they were fitted on, if these are not those of `score_samples`, which
# would find each of these rows beside itself.
FITTED_SCORES = ("fitted_scores_", "negative_outlier_factor_")

Values = list[tuple[int, Measure, float]]


@dataclass(frozen=True)
class OutlierOptions:
    """The neighbours k of the outlier score; none where all methods have one score."""

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
    metrics = (AUC, AVERAGE_PRECISION)
    Options = OutlierOptions
    MethodOptions = OutlierUse
    roles = (Role.COLUMNS, Role.MAP, Role.SELECTOR, Role.DETECTOR)

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        by_distance = [spec.id for spec in experiment.methods if _looks_at_neighbors(spec.name, spec.options)]
        if by_distance and not experiment.options.neighbors:
            raise ValueError(
                f"The experiment {experiment.name} needs 'neighbors', the k of its outlier scores; {by_distance[0]!r} "
                "is no detector, which would do without."
            )

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        return tuple(Measure(metric, k) for k in _places(experiment) for metric in experiment.metrics)

    def evaluate(self, work: Work) -> Outcome:
        sample, outcome = work.all_rows()
        assert sample.y is not None
        outliers = sample.y == 1

        def measured(columns: Sequence[NDArray]) -> Values:
            """From a score for each neighbour, or from one for all."""
            values = [
                {metric: float(SCORES[metric](outliers, column)) for metric in work.experiment.metrics}
                for column in columns
            ]
            places = _places(work.experiment)
            values = values * len(places) if len(values) == 1 else values
            return [
                (0, Measure(metric, k), value)
                for k, found in zip(places, values, strict=True)
                for metric, value in found.items()
            ]

        if work.method.role is Role.DETECTOR:
            return self._detect(work, sample, outcome, measured)

        def measure(F: Any) -> Values:
            if not _looks_at_neighbors(work.method.name, work.method_options):
                return measured([-np.asarray(F.sum(axis=1)).ravel()])
            neighbors = work.options.neighbors
            distances, _ = nearest_rows(F, n_neighbors=max(neighbors), n_jobs=work.context.threads)
            return measured(list(distances[:, np.minimum(neighbors, distances.shape[1]) - 1].T))

        def criterion(values: Values) -> float:
            first = work.experiment.metrics[0]
            return float(np.mean([value for _, measure, value in values if measure.metric == first]))

        unit_rows = work.method_options.unit_rows
        return best_by_labels(work, sample, outcome, unit_rows=unit_rows, measure=measure, criterion=criterion)

    def _detect(self, work: Work, sample: Sample, outcome: Outcome, measured: Any) -> Outcome:
        """A detector has one score, whatever the neighbour; its fit counts as features, its scores as the model."""
        some, detector = fitting_rows(work, sample, outcome), work.method.build(work.context, {})
        start = time.perf_counter()
        fit(detector, some)
        outcome.feature_seconds = time.perf_counter() - start
        start = time.perf_counter()
        scores = _scores(detector, sample.X, fitting_places(work, len(sample)))
        outcome.model_seconds = time.perf_counter() - start
        outcome.values = measured([-scores])
        outcome.nonzeros_per_row = nonzeros(sample.X) / len(sample)
        return outcome

    def place(self, measure: Measure) -> str:
        return "" if measure.at is None else f"k = {measure.at}"

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        how = "distance to the k-th neighbour" if experiment.options.neighbors else "detectors fitted on all rows"
        return (("Protocol", f"{how}; up to {experiment.repeats} draws"),)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        if not experiment.options.neighbors:
            return super().sections(experiment, summaries, tables)
        charts = (
            over_places(
                experiment,
                [summary for summary in summaries if summary.measure.metric == metric],
                f"{capital(metric.label)} over the neighbour k",
                "neighbour k",
            )
            for metric in metrics_of(summaries)
        )
        return (*charts, tables)


def _places(experiment: Experiment) -> tuple[int | None, ...]:
    return experiment.options.neighbors or (None,)


def _looks_at_neighbors(method: str, use: OutlierUse) -> bool:
    return find_method(method).role is not Role.DETECTOR and use.detector == "distance"


def _scores(detector: Any, X: Any, fitted: NDArray[np.intp] | None) -> NDArray:
    """Of all rows, the lower, the stranger; `fitted` are those that the detector was fitted on, if not all."""
    own = next((getattr(detector, name) for name in FITTED_SCORES if hasattr(detector, name)), None)
    if own is not None and fitted is None:
        return np.asarray(own)
    scores = np.array(detector.score_samples(X))
    if own is not None:
        scores[fitted] = own
    return scores

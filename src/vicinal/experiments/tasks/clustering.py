"""Clustering, compared with the classes: k-means on features of all rows, and methods that cluster by themselves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from ..._sample import Sample
from ...cluster import repeated_kmeans
from ...metrics import clustering_accuracy, normalized_mutual_information
from .._experiment import Experiment
from .._method import Role
from .._methods import find_method
from .._metric import Measure, Metric
from .._task import Task
from .._work import Outcome, Work, best_by_labels, fitting_rows, nonzeros

QUICK_RUNS = 5

METRICS = (
    Metric("accuracy", "accuracy"),
    Metric("nmi", "NMI"),
    Metric("nmi_geometric", "NMI (geometric mean)"),
)
SCORES: dict[str, Callable[..., float]] = {
    "accuracy": clustering_accuracy,
    "nmi": normalized_mutual_information,
    "nmi_geometric": partial(normalized_mutual_info_score, average_method="geometric"),
}


@dataclass(frozen=True)
class ClusteringOptions:
    """Runs of k-means on the same features, and fits of methods that cluster by themselves, each with a seed."""

    runs: int = 20
    fits: int = field(default=3, metadata={"came_later": True})


@dataclass(frozen=True)
class ClusteringUse:
    """Whether rows of features are scaled to unit length."""

    unit_rows: bool = False


class Clustering(Task):
    name = "clustering"
    metrics = METRICS
    Options = ClusteringOptions
    MethodOptions = ClusteringUse
    roles = (Role.COLUMNS, Role.MAP, Role.SELECTOR, Role.CLUSTERER)

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.runs

    def runs_of(self, experiment: Experiment, method: str) -> int:
        by_itself = find_method(experiment.method_spec(method).name).role is Role.CLUSTERER
        return experiment.options.fits if by_itself else experiment.options.runs

    def quick_options(self, options: ClusteringOptions) -> ClusteringOptions:
        return replace(options, runs=min(options.runs, QUICK_RUNS), fits=1)

    def evaluate(self, work: Work) -> Outcome:
        """k-means on the features of all rows, `runs` times; of a grid the best mean of the first metric counts."""
        sample, outcome = work.all_rows()
        if work.method.role is Role.CLUSTERER:
            return self._clusters(work, sample, outcome)
        metrics, runs = work.experiment.metrics, work.options.runs

        def measure(F: Any) -> list[tuple[int, Measure, float]]:
            clusters = repeated_kmeans(F, sample.n_classes, n_runs=runs, unit_rows=False)
            return [value for run, labels in enumerate(clusters) for value in _scores(work, run, sample.y, labels)]

        def criterion(values: list[tuple[int, Measure, float]]) -> float:
            return float(np.mean([value for _, measure, value in values if measure.metric == metrics[0]]))

        unit_rows = work.method_options.unit_rows
        return best_by_labels(
            work, sample, outcome, unit_rows=unit_rows, measure=measure, criterion=criterion, runs=runs
        )

    def _clusters(self, work: Work, sample: Sample, outcome: Outcome) -> Outcome:
        """A method that clusters by itself, with several seeds. Where rows are capped, those it has seen count."""
        seen = fitting_rows(work, sample, outcome)
        X = normalize(seen.X) if work.method_options.unit_rows else seen.X
        start = time.perf_counter()
        for fit in range(work.options.fits):
            to = replace(work.context_for(X), seed=work.context.seed + fit)
            clusters = np.asarray(work.method.build(to, {}).fit_predict(X))
            outcome.values += _scores(work, fit, seen.y, clusters)
            if (noise := clusters < 0).any():
                outcome.note(f"{100 * noise.mean():.0f} % of the rows are noise, which counts as a cluster of its own")
        outcome.model_seconds = (time.perf_counter() - start) / work.options.fits
        outcome.training_rows = outcome.test_rows = len(seen)
        outcome.nonzeros_per_row = nonzeros(X) / len(seen)
        return outcome

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        by_themselves = any(find_method(spec.name).role is Role.CLUSTERER for spec in experiment.methods)
        alone = f"; methods that cluster by themselves {experiment.options.fits} times" if by_themselves else ""
        seeds = "; of such methods over their seeds, which draw all anew" if by_themselves else ""
        return (
            ("Protocol", f"k-means {experiment.options.runs} times on features of all rows{alone}"),
            ("Intervals and tests", f"95 %, over the starts of k-means; the features were drawn once{seeds}"),
        )


def _scores(work: Work, run: int, truth: Any, clusters: Any) -> list[tuple[int, Measure, float]]:
    return [(run, Measure(metric), float(SCORES[metric.name](truth, clusters))) for metric in work.experiment.metrics]

"""Clustering: k-means on the features of all rows, compared with the classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ...cluster import repeated_kmeans
from ...metrics import clustering_accuracy, normalized_mutual_information
from .._experiment import Experiment
from .._metric import Measure, Metric
from .._task import Task
from .._work import Outcome, Work, best_by_labels

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
    """Runs of k-means on the same features."""

    runs: int = 20


@dataclass(frozen=True)
class ClusteringUse:
    """Whether rows of features are scaled to unit length."""

    unit_rows: bool = False


class Clustering(Task):
    name = "clustering"
    metrics = METRICS
    Options = ClusteringOptions
    MethodOptions = ClusteringUse

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.runs

    def quick_options(self, options: ClusteringOptions) -> ClusteringOptions:
        return replace(options, runs=min(options.runs, QUICK_RUNS))

    def evaluate(self, work: Work) -> Outcome:
        """k-means on the features of all rows, `runs` times; of a grid the best mean of the first metric counts."""
        sample, outcome = work.all_rows()
        metrics, runs = work.experiment.metrics, work.options.runs

        def measure(F: Any) -> list[tuple[int, Measure, float]]:
            clusters = repeated_kmeans(F, sample.n_classes, n_runs=runs, unit_rows=False)
            return [
                (run, Measure(metric), float(SCORES[metric.name](sample.y, labels)))
                for run, labels in enumerate(clusters)
                for metric in metrics
            ]

        def criterion(values: list[tuple[int, Measure, float]]) -> float:
            return float(np.mean([value for _, measure, value in values if measure.metric == metrics[0]]))

        unit_rows = work.method_options.unit_rows
        return best_by_labels(
            work, sample, outcome, unit_rows=unit_rows, measure=measure, criterion=criterion, runs=runs
        )

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        return (
            ("Protocol", f"k-means {experiment.options.runs} times on features of all rows"),
            ("Intervals and tests", "95 %, over the starts of k-means; the features were drawn once"),
        )

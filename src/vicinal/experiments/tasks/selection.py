"""Selection: columns chosen without labels, then k-means on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ... import cluster
from ..._sample import Sample
from .._column_task import QUICK_CANDIDATES, ColumnOptions, ColumnTask, Protocol, Scorer, grid_words
from .._column_trials import Scores
from .._experiment import Experiment
from .._method import Role
from .._metric import KMeansProtocol, Metric
from .._work import Outcome, Work, recording_warnings, show_again
from .clustering import METRICS, SCORES

QUICK_RUNS = 5


@dataclass(frozen=True)
class SelectionOptions(ColumnOptions):
    """How k-means is run on the columns that are kept.

    Attributes
    ----------
    runs : int
        Runs of k-means.
    starts : int or tuple of int
        Of the starts of every run the best by its own criterion counts.
    unit_rows : bool or tuple of bool
        Whether rows are scaled to unit length after columns were selected.

    Where `starts` or `unit_rows` has several values, columns that were chosen once are clustered in every combination.
    """

    runs: int = 20
    starts: int | tuple[int, ...] = 1
    unit_rows: bool | tuple[bool, ...] = True

    def protocols(self) -> list[KMeansProtocol]:
        """Every way in which k-means is run."""
        rows = self.unit_rows if isinstance(self.unit_rows, tuple) else (self.unit_rows,)
        starts = self.starts if isinstance(self.starts, tuple) else (self.starts,)
        return [KMeansProtocol(unit_rows, n_starts) for unit_rows in rows for n_starts in starts]

    def in_measures(self, protocol: Protocol) -> Protocol:
        several = isinstance(self.unit_rows, tuple) or isinstance(self.starts, tuple)
        return protocol if several else None


class Selection(ColumnTask):
    name = "selection"
    metrics = METRICS
    Options = SelectionOptions
    roles: ClassVar[tuple[Role, ...]] = (Role.COLUMNS, Role.SELECTOR, Role.LINKS)

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        options = experiment.options
        for name, given in (("unit_rows", options.unit_rows), ("starts", options.starts)):
            if isinstance(given, tuple) and (not given or len(set(given)) < len(given)):
                raise ValueError(f"The experiment {experiment.name}: {name} must list different values; got {given}.")
        if isinstance(options.unit_rows, tuple) and not all(isinstance(value, bool) for value in options.unit_rows):
            raise ValueError(
                f"The experiment {experiment.name}: unit_rows is true, false or both; got {options.unit_rows}."
            )

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.runs

    def quick_options(self, options: SelectionOptions) -> SelectionOptions:
        starts = options.starts
        few = tuple(dict.fromkeys(min(n, 2) for n in starts)) if isinstance(starts, tuple) else 1
        return replace(options, runs=min(options.runs, QUICK_RUNS), starts=few)

    def scorer(self, work: Work, sample: Sample, outcome: Outcome) -> Scorer:
        """Scores of k-means on some columns, or of clusters by links where the method looks at nothing else."""
        how = {"n_clusters": sample.n_classes, "n_runs": work.options.runs}
        metrics = work.experiment.metrics
        if work.method.role is Role.LINKS and sample.adjacency is None:
            raise ValueError(f"{work.method.name} needs links between rows, and {work.cell.data} has none.")

        @cache
        def by_links(starts: int) -> Scores:
            find = partial(cluster.cluster_links, sample.adjacency, n_starts=starts, **how)
            return cluster_scores(find, sample, metrics, outcome)

        def by_columns(kept: NDArray[np.intp], way: KMeansProtocol) -> Scores:
            rows = sample.X[:, kept]
            find = partial(cluster.repeated_kmeans, rows, n_starts=way.starts, unit_rows=way.unit_rows, **how)
            return cluster_scores(find, sample, metrics, outcome)

        # Whether rows have unit length does not matter to links.
        return (lambda kept, way: by_links(way.starts)) if work.method.role is Role.LINKS else by_columns

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        ways = options.protocols()
        several = "in each of these ways: " if len(ways) > 1 else ""
        return (
            (
                "Protocol",
                f"columns chosen on all rows, without labels; k-means {options.runs} times on these columns, as many "
                f"clusters as classes, {several}{'; '.join(way.label for way in ways)}; of several starts the best by "
                "its own criterion counts",
            ),
            grid_words(options),
            ("Intervals and tests", "95 %, over the runs of k-means; every selector was fitted once per combination"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        grids = f", {QUICK_CANDIDATES} combinations of each grid" if experiment.options.grids else ""
        return f"{experiment.options.runs} runs of k-means{grids}"


def cluster_scores(
    find: Callable[[], NDArray[np.int32]], sample: Sample, metrics: Sequence[Metric], outcome: Outcome
) -> Scores:
    """Scores of clusters, by metric and run."""
    clusters, caught = recording_warnings(find)
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            own = "did not converge" in str(warning.message)
            outcome.note(
                "clustering stopped before it converged on some columns"
                if own
                else "fewer different rows than clusters on some columns"
            )
    show_again(caught, but=ConvergenceWarning)
    return {
        metric.name: np.array([SCORES[metric.name](sample.y, labels) for labels in clusters], dtype=np.float64)
        for metric in metrics
    }

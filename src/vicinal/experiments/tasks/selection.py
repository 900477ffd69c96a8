"""Selection: columns chosen without labels, then k-means on them."""

from __future__ import annotations

import itertools
import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ... import cluster
from ..._page import Section, Table
from ..._sample import Sample
from .._column_numbers import ColumnNumbers, Number, check_numbers, counts, in_words
from .._curves import over_columns, over_parameter
from .._experiment import Cell, Experiment
from .._method import Context, Method, Role
from .._methods import find_method
from .._metric import KMeansProtocol, Measure, Metric
from .._ranks import rank_section
from .._selection_words import OWN_NUMBER, selection_tables, selection_verdict
from .._summary import Summary
from .._task import Task
from .._verdicts import longest_fit_verdict
from .._work import Outcome, Work, fit, fitting_rows, nonzeros, recording_warnings, show_again
from .clustering import METRICS, SCORES

# Selectors take time that grows with the square of rows, once for every combination of their grids.
QUICK_ROWS, QUICK_CANDIDATES, QUICK_RUNS = 200, 2, 5

GRIDS = (
    "of selectors with regularisation weights the median combination, the lower one of two, for each number of "
    "columns; the best one, which only labels show, is beside it and never ranked"
)

Scores = Mapping[str, NDArray[np.float64]]  # by metric and run
Kept = dict[Number | str, NDArray[np.intp]]  # columns, by how many are wanted
Way = tuple[Number | str, KMeansProtocol]  # number of columns, and how k-means is run on them


@dataclass(frozen=True)
class SelectionOptions(ColumnNumbers):
    """How k-means is run on the columns that are kept.

    Attributes
    ----------
    runs : int
        Runs of k-means.
    starts : int or tuple of int
        Of the starts of every run the best by its own criterion counts.
    unit_rows : bool or tuple of bool
        Whether rows are scaled to unit length after columns were selected.
    grids : bool
        Whether the weights of selectors' objectives are tried over a grid; if not, those that an experiment does not
        give are at their defaults.

    Where `starts` or `unit_rows` has several values, columns that were chosen once are clustered in every combination.
    """

    runs: int = 20
    starts: int | tuple[int, ...] = 1
    unit_rows: bool | tuple[bool, ...] = True
    grids: bool = field(default=True, metadata={"came_later": True})

    def candidates(self, method: Method, to: Context) -> list[dict[str, Any]]:
        """The combinations of parameters that a method is fitted with."""
        return method.candidates(to) if self.grids else [{}]

    def protocols(self) -> list[KMeansProtocol]:
        """Every way in which k-means is run."""
        rows = self.unit_rows if isinstance(self.unit_rows, tuple) else (self.unit_rows,)
        starts = self.starts if isinstance(self.starts, tuple) else (self.starts,)
        return [KMeansProtocol(unit_rows, n_starts) for unit_rows in rows for n_starts in starts]

    def in_measures(self, protocol: KMeansProtocol) -> KMeansProtocol | None:
        """A protocol as measures have it: the only one is not named."""
        several = isinstance(self.unit_rows, tuple) or isinstance(self.starts, tuple)
        return protocol if several else None


@dataclass(frozen=True)
class Trial:
    """What k-means made of one number of columns with one combination of parameters: scores by metric and run."""

    parameters: Mapping[str, Any]
    n_features: int
    nonzeros_per_row: float
    scores: Scores


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


class Selection(Task):
    name = "selection"
    metrics = METRICS
    Options = SelectionOptions
    roles: ClassVar[tuple[Role, ...]] = (Role.COLUMNS, Role.SELECTOR, Role.LINKS)
    quick_rows = QUICK_ROWS

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        check_numbers(experiment)
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

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        method, options = experiment.method(cell), experiment.options
        grids = (False, True) if len(options.candidates(method, Context(1, 1))) > 1 else (False,)
        return tuple(
            Measure(metric, count, best_of_grid, options.in_measures(protocol))
            for protocol in options.protocols()
            for count in counts(method, options.of(cell.data))
            for best_of_grid in grids
            for metric in experiment.metrics
        )

    def quick_options(self, options: SelectionOptions) -> SelectionOptions:
        starts = options.starts
        few = tuple(dict.fromkeys(min(n, 2) for n in starts)) if isinstance(starts, tuple) else 1
        return replace(options, runs=min(options.runs, QUICK_RUNS), starts=few)

    def evaluate(self, work: Work) -> Outcome:
        """k-means on the columns that a method keeps of all rows, `runs` times for every number of columns.

        The method is fitted once with each combination of its grid; a quick run takes those in the middle. Two of them
        count, for each number of columns, protocol and metric: that of the median of the means over runs, and the best
        one, which only the labels show. A method without a map has all columns, or clusters by links alone.
        """
        whole, outcome = work.all_rows()
        options, metrics = work.options, work.experiment.metrics
        most = QUICK_CANDIDATES if work.experiment.quick else None
        candidates = middle(options.candidates(work.method, work.context), most)
        wanted = counts(work.method, options.of(work.cell.data))
        trials: dict[Way, list[Trial]] = {(count, way): [] for count in wanted for way in options.protocols()}
        fits, cluster_seconds = Fits(), 0.0
        for sample, ways in self.preparations(work, whole):
            scores_of = self.scorer(work, sample, outcome)
            for parameters in candidates:
                every = np.arange(sample.X.shape[1] if work.method.role is not Role.LINKS else 0)
                kept: Kept = {"all": every}
                if work.method.has_map:
                    kept = self.columns(work, parameters, fitting_rows(work, sample, outcome), wanted, fits)
                start = time.perf_counter()
                for count, way in itertools.product(wanted, ways):
                    full = nonzeros(sample.X[:, kept[count]]) / len(sample)
                    trial = Trial(parameters, len(kept[count]), full, scores_of(kept[count], way))
                    trials[count, way].append(trial)
                cluster_seconds += time.perf_counter() - start
        outcome.notes += [f"{times} of {fits.number} fits {what}" for what, times in fits.complaints.items()]
        outcome.feature_seconds = fits.seconds / max(fits.number, 1)
        outcome.model_seconds = cluster_seconds / (len(candidates) * len(trials) * options.runs)
        outcome.nonzeros_per_row = nonzeros(whole.X) / len(whole)
        for (count, way), made in trials.items():
            for metric in metrics:
                measure = Measure(metric, count, protocol=options.in_measures(way))
                _record(outcome, measure, median_trial(made, metric.name))
                if len(candidates) > 1:
                    _record(outcome, replace(measure, best_of_grid=True), best_trial(made, metric.name))
        outcome.values.sort(key=lambda value: value[0])
        return outcome

    def preparations(self, work: Work, sample: Sample) -> Iterable[tuple[Sample, list[KMeansProtocol]]]:
        """Rows from which columns are chosen, each with the ways in which these are clustered."""
        return [(sample, work.options.protocols())]

    def columns(
        self, work: Work, parameters: Mapping[str, Any], sample: Sample, wanted: Sequence[Number | str], fits: Fits
    ) -> Kept:
        """The columns that a method keeps, for each number of them."""
        selector = fits.fitted(work.method.build(work.context, parameters), sample)
        return {count: selector.with_n_features(count).get_support(indices=True) for count in wanted}

    def scorer(
        self, work: Work, sample: Sample, outcome: Outcome
    ) -> Callable[[NDArray[np.intp], KMeansProtocol], Scores]:
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

    def contest(self, experiment: Experiment, summary: Summary) -> Hashable:
        """Selectors with a number of columns of their own and all columns are one contest."""
        if summary.measure.at == "all":
            summary = replace(summary, measure=replace(summary.measure, at="auto"))
        return super().contest(experiment, summary)

    def takes_time(self, experiment: Experiment, method: str) -> bool:
        return find_method(experiment.method_spec(method).name).role is Role.SELECTOR

    def place(self, measure: Measure) -> str:
        columns = in_words(measure.at) if isinstance(measure.at, int | float) else OWN_NUMBER
        return columns if measure.protocol is None else f"{columns}, {measure.protocol.label}"

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
            ("Grids", GRIDS if options.grids else "none: parameters as declared, all others at their defaults"),
            ("Intervals and tests", "95 %, over the runs of k-means; every selector was fitted once per combination"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        grids = f", {QUICK_CANDIDATES} combinations of each grid" if experiment.options.grids else ""
        return f"{experiment.options.runs} runs of k-means{grids}"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return selection_verdict(experiment, summaries)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return longest_fit_verdict(experiment, summaries)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        if experiment.shown:
            return super().tables(experiment, summaries)
        return tuple(selection_tables(experiment, summaries))

    def tables_text(self, experiment: Experiment, summaries: list[Summary]) -> str:
        text = super().tables_text(experiment, summaries)
        if any(summary.by_labels for summary in summaries):
            text += " Selectors with a grid have its median/best; only labels show the best, so that it is not ranked."
        return text.strip()

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        varied = next((name for spec in experiment.methods for name in spec.vary), None)
        if varied is None:
            return (rank_section(experiment, summaries), *over_columns(experiment, summaries), tables)
        chart = over_parameter(experiment, summaries, varied, name=lambda s: f"{s.label}, {self.place(s.measure)}")
        return (chart, tables) if chart else (tables,)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None  # chosen columns look as before


def middle(candidates: list[dict[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """All combinations of a grid, or so many in the middle of it."""
    left_out = max(0, len(candidates) - most) if most is not None else 0
    return candidates[left_out // 2 :][: len(candidates) - left_out]


def median_trial(trials: Sequence[Trial], metric: str) -> Trial:
    """The trial whose mean over runs is the median or, of an even number, the lower one of the two in the middle."""
    ordered = sorted(trials, key=lambda trial: trial.scores[metric].mean())
    return ordered[(len(ordered) - 1) // 2]


def best_trial(trials: Sequence[Trial], metric: str) -> Trial:
    return max(trials, key=lambda trial: trial.scores[metric].mean())


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


def _record(outcome: Outcome, measure: Measure, trial: Trial) -> None:
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

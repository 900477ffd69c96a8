"""Selection: columns chosen without labels, then k-means on them."""

from __future__ import annotations

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..._page import Section, Table
from ..._sample import Sample
from ...cluster import repeated_kmeans
from .._curves import over_columns, over_parameter
from .._experiment import Cell, Experiment
from .._method import Context, Method, Role
from .._methods import find_method
from .._metric import FEATURE_SECONDS, Measure
from .._ranks import rank_section
from .._selection_words import OWN_NUMBER, selection_tables, selection_verdict
from .._summary import Summary
from .._task import Task
from .._verdicts import time_verdict
from .._work import Outcome, Work, fit, fitting_rows, nonzeros, recording_warnings, show_again
from .clustering import METRICS, SCORES

# Selectors take time that grows with the square of rows, once for every combination of their grids.
QUICK_ROWS, QUICK_CANDIDATES, QUICK_RUNS = 200, 2, 5


@dataclass(frozen=True)
class SelectionOptions:
    """Numbers of columns that are kept, and how k-means is run on them.

    Attributes
    ----------
    features : tuple of int or "auto"
        Numbers of columns; "auto" is the selectors' own, of those that have a rule.
    runs, starts : int
        Runs of k-means; of the starts of every run the best by its own criterion counts.
    unit_rows : bool
        Whether rows are scaled to unit length after columns were selected.
    """

    features: tuple[int | str, ...] = ()
    runs: int = 20
    starts: int = 1
    unit_rows: bool = True


@dataclass(frozen=True)
class Trial:
    """What k-means made of one number of columns with one combination of parameters: scores by metric and run."""

    parameters: Mapping[str, Any]
    n_features: int
    nonzeros_per_row: float
    scores: Mapping[str, NDArray[np.float64]]


class Selection(Task):
    name = "selection"
    metrics = METRICS
    Options = SelectionOptions
    roles = (Role.COLUMNS, Role.SELECTOR)
    quick_rows = QUICK_ROWS

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        features = experiment.options.features
        if not features:
            raise ValueError(
                f"The experiment {experiment.name} needs 'features', the numbers of columns that are kept."
            )
        for count in features:
            if count != "auto" and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
                raise ValueError(
                    f'The experiment {experiment.name}: features are whole numbers from 1 on, or "auto"; got {count!r}.'
                )
        for spec in experiment.methods:
            if not counts(find_method(spec.name), features):
                raise ValueError(
                    f"The experiment {experiment.name}: {spec.name!r} does not know how many columns to keep; add a "
                    "number to 'features'."
                )

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.runs

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        method = experiment.method(cell)
        grids = (False, True) if len(method.candidates(Context(1, 1))) > 1 else (False,)
        return tuple(
            Measure(metric, count, best_of_grid)
            for count in counts(method, experiment.options.features)
            for best_of_grid in grids
            for metric in experiment.metrics
        )

    def quick_options(self, options: SelectionOptions) -> SelectionOptions:
        return replace(options, runs=min(options.runs, QUICK_RUNS), starts=1)

    def evaluate(self, work: Work) -> Outcome:
        """k-means on the columns that a method keeps of all rows, `runs` times for every number of columns.

        The method is fitted once with each combination of its grid; a quick run takes those in the middle. Two of them
        count, for each number of columns and each metric: that of the median of the means over runs, and the best one,
        which only the labels show. A method without a map has all columns.
        """
        sample, outcome = work.all_rows()
        options, metrics = work.options, work.experiment.metrics
        candidates = middle(work.method.candidates(work.context), QUICK_CANDIDATES if work.experiment.quick else None)
        trials: dict[int | str, list[Trial]] = {count: [] for count in counts(work.method, options.features)}
        kmeans = partial(
            repeated_kmeans,
            n_clusters=sample.n_classes,
            n_runs=options.runs,
            n_starts=options.starts,
            unit_rows=options.unit_rows,
        )
        fit_seconds, cluster_seconds, complaints = 0.0, 0.0, Counter[str]()
        for parameters in candidates:
            kept: dict[int | str, NDArray[np.intp]] = {"all": np.arange(sample.X.shape[1])}
            if work.method.has_map:
                selector = work.method.build(work.context, parameters)
                start = time.perf_counter()
                _, caught = recording_warnings(partial(fit, selector, fitting_rows(work, sample, outcome)))
                fit_seconds += time.perf_counter() - start
                complaints.update(dict.fromkeys(map(_complaint, caught), 1))
                kept = {count: selector.with_n_features(count).get_support(indices=True) for count in trials}
            start = time.perf_counter()
            for count, made in trials.items():
                scores = cluster_scores(sample.X[:, kept[count]], sample, kmeans, metrics, outcome)
                nonzeros_per_row = nonzeros(sample.X[:, kept[count]]) / len(sample)
                made.append(Trial(parameters, len(kept[count]), nonzeros_per_row, scores))
            cluster_seconds += time.perf_counter() - start
        outcome.notes += [f"{times} of {len(candidates)} fits {what}" for what, times in complaints.items()]
        outcome.feature_seconds = fit_seconds / len(candidates)
        outcome.model_seconds = cluster_seconds / (len(candidates) * len(trials) * options.runs)
        outcome.nonzeros_per_row = nonzeros(sample.X) / len(sample)
        for count, made in trials.items():
            for metric in metrics:
                _record(outcome, Measure(metric, count), median_trial(made, metric.name))
                if len(candidates) > 1:
                    _record(outcome, Measure(metric, count, best_of_grid=True), best_trial(made, metric.name))
        outcome.values.sort(key=lambda value: value[0])
        return outcome

    def contest(self, experiment: Experiment, summary: Summary) -> Hashable:
        """Selectors with a number of columns of their own and all columns are one contest."""
        if summary.measure.at == "all":
            summary = replace(summary, measure=replace(summary.measure, at="auto"))
        return super().contest(experiment, summary)

    def takes_time(self, experiment: Experiment, method: str) -> bool:
        return find_method(experiment.method_spec(method).name).role is Role.SELECTOR

    def place(self, measure: Measure) -> str:
        return f"{measure.at} columns" if isinstance(measure.at, int) else OWN_NUMBER

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        scaled = "scaled to unit length" if options.unit_rows else "as they are"
        starts = f", each the best of {options.starts} starts by its own criterion" if options.starts > 1 else ""
        return (
            (
                "Protocol",
                f"columns chosen on all rows, without labels; k-means {options.runs} times{starts}, on these "
                f"columns, rows {scaled}, as many clusters as classes",
            ),
            (
                "Grids",
                "of selectors with regularisation weights the median combination, the lower one of two, for each "
                "number of columns; the best one, which only labels show, is beside it and never ranked",
            ),
            ("Intervals and tests", "95 %, over the runs of k-means; every selector was fitted once per combination"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.options.runs} runs of k-means, {QUICK_CANDIDATES} combinations of each grid"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return selection_verdict(experiment, summaries)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        longest = max((summary for summary in summaries if summary.n), key=lambda summary: summary.mean)
        times = time_verdict(experiment, summaries, longest.data, FEATURE_SECONDS)
        return (f"One fit on {experiment.data_label(longest.data)}, where fits take longest: {times}.",)

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
            return (rank_section(experiment, summaries), over_columns(experiment, summaries), tables)
        chart = over_parameter(experiment, summaries, varied, name=lambda s: f"{s.label}, {self.place(s.measure)}")
        return (chart, tables) if chart else (tables,)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None  # chosen columns look as before


def counts(method: Method, features: Sequence[int | str]) -> list[int | str]:
    """For which numbers of columns a method is measured: a selector without a rule has none of its own."""
    if method.role is not Role.SELECTOR:
        return ["all"]
    return [count for count in features if count != "auto" or method.has_rule]


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
    F: Any, sample: Sample, kmeans: Callable[[Any], NDArray[np.int32]], metrics: Any, outcome: Outcome
) -> dict[str, NDArray[np.float64]]:
    """Scores by metric and run of k-means."""
    clusters, caught = recording_warnings(partial(kmeans, F))
    if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        outcome.note("fewer different rows than clusters on some columns")
    show_again(caught, but=ConvergenceWarning)
    return {
        metric.name: np.array([SCORES[metric.name](sample.y, labels) for labels in clusters], dtype=np.float64)
        for metric in metrics
    }


def _record(outcome: Outcome, measure: Measure, trial: Trial) -> None:
    scores = trial.scores[measure.metric.name]
    outcome.values += [(run, measure, float(score)) for run, score in enumerate(scores)]
    own_number = {} if isinstance(measure.at, int) else {"n_features": trial.n_features}
    outcome.chosen_by_measure[measure] = {**trial.parameters, **own_number}
    outcome.nonzeros_by_measure[measure] = trial.nonzeros_per_row


def _complaint(warning: warnings.WarningMessage) -> str:
    """What a selector warned of, without its advice."""
    if issubclass(warning.category, ConvergenceWarning):
        return "stopped before they converged"
    return f"warned: {re.split('[:;]', str(warning.message))[0].rstrip('.')}"

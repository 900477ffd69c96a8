"""From results to summaries: means with intervals, tests between methods, and the paper's values beside ours."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..metrics import corrected_t_test, mean_interval
from ._experiment import Experiment, Variant
from ._metric import Measure
from ._results import Result

SIGNIFICANT = 0.05
LEAST_VALUES = 3

Repeat = tuple[int, int]  # seed and fold, or run


@dataclass(frozen=True)
class Summary:
    """What a table's cell says: one method on one data set, in one variant, by one measure.

    Parameters
    ----------
    data, method : str
        Name of the data set, and the method's id.
    variant : Variant
        What is changed in it.
    measure : Measure
        What was measured.
    label : str
        The method's name in tables and sentences.
    mean, low, high, deviation : float
        Mean, 95 % interval and standard deviation over folds, seeds and runs; NaN where too few values are known.
    n : int
        Number of values.
    feature_seconds, model_seconds : float
        Mean times for features and for the model.
    peak_memory_mb : float
        Mean of the processes' peak memory.
    training_rows : int
        The most rows that it was fitted on.
    nonzeros_per_row : float
        How full the features are.
    chosen : tuple of mappings
        The different parameters that were chosen from a grid.
    notes : tuple of str
        What a reader of the mean must know.
    planned : int, default=0
        Number of values of a whole run.
    best : bool, default=False
        Whether it has the best mean among those it is ranked with.
    p_value : float, default=None
        Of the difference from the best; None for the best itself and where it was not tested.
    paper : float, default=None
        The value that the paper reports.
    paper_deviation : float, default=None
        The deviation that it reports.
    other_data : bool, default=False
        Whether the paper's value is of other data.
    ours : bool, default=False
        Whether it belongs to the method that the experiment is about.
    by_labels : Summary, default=None
        Beside the median of a selector's grid, the best of it, which only labels show; it is never ranked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import compare
    >>> (summary,) = compare(*load_iris(return_X_y=True), methods=("raw",), splits=3)
    >>> summary.label, str(summary.measure), summary.n, summary.training_rows
    ('raw features', 'accuracy', 3, 100)
    """

    data: str
    method: str
    variant: Variant
    measure: Measure
    label: str
    mean: float
    low: float
    high: float
    deviation: float
    n: int
    feature_seconds: float
    model_seconds: float
    peak_memory_mb: float
    training_rows: int
    nonzeros_per_row: float
    chosen: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    planned: int = 0
    best: bool = False
    p_value: float | None = None
    paper: float | None = None
    paper_deviation: float | None = None
    other_data: bool = False
    ours: bool = False
    by_labels: Summary | None = None

    @property
    def seconds(self) -> float:
        return self.feature_seconds + self.model_seconds

    @property
    def n_columns(self) -> int | None:
        """How many columns a selector's own rule kept, the most of several fits; for other methods, all columns."""
        return max((chosen["n_features"] for chosen in self.chosen if "n_features" in chosen), default=None)

    @property
    def tied(self) -> bool:
        """Not the best, but not significantly worse either."""
        return not self.best and self.p_value is not None and self.p_value >= SIGNIFICANT

    @property
    def from_paper(self) -> float | None:
        """By how much the mean is above the paper's value, if that is of the same data."""
        return None if self.paper is None or self.other_data else self.mean - self.paper

    @property
    def shown(self) -> str:
        """Its mean in a sentence or a table."""
        return self.measure.metric.show(self.mean) if self.n else "\N{EN DASH}"


def summarise(experiment: Experiment, results: list[Result]) -> list[Summary]:
    """Every summary of an experiment, in its order. Cells that could not be run have a mean of NaN and say why.

    Intervals and tests allow for the rows that training parts share (Nadeau and Bengio 2003); `p_value` belongs to the
    difference from the best method on the same data, variant and measure, fold by fold, of those it is ranked among.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    results : list of Result
        What `run`, `run_comparison` or `read_results` gives.

    Returns
    -------
    list of Summary

    Examples
    --------
    >>> from vicinal.experiments import Measure, Result, comparison, summarise
    >>> experiment = comparison("iris", methods=("raw", "randlocal"))
    >>> accuracy, scores = Measure(experiment.metrics[0]), {"raw": 0.90, "randlocal": 0.93}
    >>> results = [
    ...     Result("compare", "iris", cell.method, cell.variant, cell.seed, cell.fold, accuracy, scores[cell.method])
    ...     for cell in experiment.cells()
    ... ]
    >>> [(summary.label, summary.mean, summary.n, summary.best) for summary in summarise(experiment, results)]
    [('raw features', 0.9, 5, False), ('RandLocal', 0.93, 5, True)]
    """
    groups: dict[tuple[str, str, Variant, Measure | None], list[Result]] = defaultdict(list)
    for result in results:
        if experiment.only and replace(result.measure, best_of_grid=False) not in experiment.only:
            continue
        # Seconds belong to a cell, whatever is measured: all its results have the same.
        groups[result.data, result.method, result.variant, None if experiment.shown else result.measure].append(result)
    cells = Counter((cell.data, cell.method, cell.variant) for cell in experiment.cells())
    found: list[Summary] = []
    best_of_grid: dict[tuple[str, str, Variant, Measure], Summary] = {}
    contests: dict[Hashable, list[tuple[str, dict[Repeat, float]]]] = defaultdict(list)
    for (data, method, variant, _), members in groups.items():
        if experiment.shown and not experiment.task.takes_time(experiment, method):
            continue
        for measure, values in _measured(experiment, members):
            summary = _summary(experiment, measure, members, list(values.values()))
            per_cell = 1 if experiment.shown else experiment.task.runs_of(experiment, method)
            summary = replace(summary, planned=per_cell * cells[data, method, variant])
            if measure.best_of_grid:
                best_of_grid[data, method, variant, replace(measure, best_of_grid=False)] = summary
                continue
            found.append(summary)
            contests[experiment.task.contest(experiment, summary)].append((method, values))
    return [
        replace(
            _ranked(experiment, summary, contests[experiment.task.contest(experiment, summary)]),
            by_labels=best_of_grid.get((summary.data, summary.method, summary.variant, summary.measure)),
        )
        for summary in found
    ]


def _measured(experiment: Experiment, members: list[Result]) -> Iterator[tuple[Measure, dict[Repeat, float]]]:
    """The measures that a group of results is about, with their values by repeat."""
    known = [result for result in members if result.value is not None]
    if not experiment.shown:
        yield members[0].measure, {(result.seed, result.fold): result.value for result in known}  # type: ignore[misc]
        return
    # The runs of k-means share a fit, and its seconds.
    once = [result for result in known if experiment.task.runs(experiment) == 1 or result.fold == 0]
    for metric in experiment.shown:
        yield Measure(metric), {(result.seed, result.fold): getattr(result, metric.name) for result in once}


def _summary(experiment: Experiment, measure: Measure, members: list[Result], values: list[float]) -> Summary:
    first = members[0]
    low, high = _interval(experiment, measure, values)

    def average(name: str) -> float:
        known = [getattr(result, name) for result in members if getattr(result, name) is not None]
        return statistics.fmean(known) if known else np.nan

    reported = experiment.paper.get(first.method, {}).get(first.data, {})
    place = str(measure) if not first.variant else f"{measure}, {first.variant}"
    # A value of the whole data set says nothing about a small part of it.
    paper = None if experiment.quick else reported.get(place)
    return Summary(
        data=first.data,
        method=first.method,
        variant=first.variant,
        measure=measure,
        label=experiment.label(first.method),
        mean=statistics.fmean(values) if values else np.nan,
        low=low,
        high=high,
        deviation=float(np.std(values)) if values else np.nan,
        n=len(values),
        feature_seconds=average("feature_seconds"),
        model_seconds=average("model_seconds"),
        peak_memory_mb=average("peak_memory_mb"),
        training_rows=max(result.training_rows or 0 for result in members),
        nonzeros_per_row=average("nonzeros_per_row"),
        chosen=_different(result.chosen for result in members if result.chosen),
        notes=tuple(dict.fromkeys(note for result in members for note in _notes(result))),
        paper=paper[0] if paper else None,
        paper_deviation=paper[1] if paper and len(paper) > 1 else None,
        other_data=bool(experiment.paper_data),
        ours=first.method.startswith(experiment.subject),
    )


def _different(mappings: Any) -> tuple[Mapping[str, Any], ...]:
    found: list[Mapping[str, Any]] = []
    for mapping in mappings:
        if mapping not in found:
            found.append(mapping)
    return tuple(found)


def _notes(result: Result) -> list[str]:
    """Notes one by one; the reason why a cell was not run is a sentence of its own."""
    return [note for note in (result.notes.split("; ") if result.value is not None else [result.notes]) if note]


def _interval(experiment: Experiment, measure: Measure, values: list[float]) -> tuple[float, float]:
    """The interval, within the metric's range; NaN for fewer than three values, whose spread says next to nothing."""
    if len(values) < LEAST_VALUES:
        return np.nan, np.nan
    test_over_training, _ = experiment.task.shared_rows(experiment)
    _, low, high = mean_interval(values, test_over_training)
    return max(low, measure.metric.low), min(high, measure.metric.high)


def _ranked(experiment: Experiment, summary: Summary, contest: list[tuple[str, dict[Repeat, float]]]) -> Summary:
    scored = [(method, values) for method, values in contest if values]
    metric = summary.measure.metric
    if not scored or summary.n == 0 or len(scored) == 1 or metric.better is None:
        return summary
    best, best_values = max(scored, key=lambda entry: metric.sign * statistics.fmean(entry[1].values()))
    if best == summary.method:
        return replace(summary, best=True)
    own = next(values for method, values in scored if method == summary.method)
    common = sorted(own.keys() & best_values.keys())
    if len(common) < LEAST_VALUES:
        return summary
    _, test_share = experiment.task.shared_rows(experiment)
    test = corrected_t_test([best_values[key] - own[key] for key in common], test_share)
    return replace(summary, p_value=float(test.p_value))

"""From rows to figures: means with intervals, tests between methods, and the paper's figures beside ours."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np

from ..metrics import corrected_t_test, mean_interval
from ._experiment import Experiment
from ._results import Row

SIGNIFICANT = 0.05
LEAST_VALUES = 3
SECONDS = ("feature_seconds", "model_seconds")
LOWER_IS_BETTER = (*SECONDS, "rms_error", "max_error")
NEITHER_END_IS_BETTER = ("sparsity_ratio",)
BEST_OF_GRID = "best_"


@dataclass(frozen=True)
class Figure:
    """What a table's cell says: one method on one data set, in one setting, by one metric.

    `by_labels` is, beside the median of a selector's grid, the best of it, which only labels tell; it is never ranked.
    """

    data: str
    method: str
    setting: str
    metric: str
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
    chosen: tuple[str, ...]
    notes: tuple[str, ...]
    planned: int = 0
    best: bool = False
    p_value: float | None = None
    paper: float | None = None
    ours: bool = False
    by_labels: Figure | None = None

    @property
    def seconds(self) -> float:
        return self.feature_seconds + self.model_seconds

    @property
    def n_columns(self) -> int | None:
        """How many columns a selector's own rule kept, the most of several fits; for no selector, all there are."""
        told = [json.loads(text).get("n_features") for text in self.chosen]
        return max((number for number in told if number is not None), default=None)

    @property
    def tied(self) -> bool:
        """Not the best, but not significantly worse either."""
        return not self.best and self.p_value is not None and self.p_value >= SIGNIFICANT

    @property
    def from_paper(self) -> float | None:
        return None if self.paper is None else self.mean - self.paper


def summarise(experiment: Experiment, rows: list[Row]) -> list[Figure]:
    """Every figure of an experiment, in its order. Cells that could not be run have a mean of NaN and say why.

    Intervals and tests allow for the rows that training parts share (Nadeau and Bengio 2003); `p_value` belongs to the
    difference from the best method on the same data, setting and metric, fold by fold, of those it is ranked among.
    Selectors with a number of columns of their own and all columns are one contest.
    """
    groups: dict[tuple[str, str, str, str], list[Row]] = defaultdict(list)
    for row in rows:
        # Seconds belong to a cell, whatever the metrics: their rows say the same.
        groups[row["data"], row["method"], row["setting"], "" if experiment.shown else row["metric"]].append(row)
    cells = Counter((cell.data, cell.method, cell.setting) for cell in experiment.cells())
    per_cell = 1 if experiment.shown else experiment.runs_per_cell
    found: list[Figure] = []
    best_of_grid: dict[tuple[str, str, str, str], Figure] = {}
    contests: dict[tuple[str, str, str, str], list[tuple[str, dict[tuple[str, str], float]]]] = defaultdict(list)
    for (data, method, setting, metric), members in groups.items():
        if experiment.shown and experiment.task == "selection" and not experiment.selects(method):
            continue  # all columns are no choice that would take time
        for shown, values in _shown(experiment, metric, members):
            figure = _figure(experiment, data, method, setting, shown, members, list(values.values()))
            figure = replace(figure, planned=per_cell * cells[data, method, setting])
            if shown.startswith(BEST_OF_GRID):
                best_of_grid[data, method, setting, shown.removeprefix(BEST_OF_GRID)] = figure
                continue
            found.append(figure)
            contests[_contest(experiment, figure)].append((method, values))
    return [
        replace(
            _ranked(experiment, figure, contests[_contest(experiment, figure)]),
            by_labels=best_of_grid.get((figure.data, figure.method, figure.setting, figure.metric)),
        )
        for figure in found
    ]


def _contest(experiment: Experiment, figure: Figure) -> tuple[str, str, str, str]:
    """What figures have in common that are ranked together."""
    metric = figure.metric.replace("@all", "@auto")
    return figure.data, figure.setting, metric, experiment.method_spec(figure.method).among


def _shown(experiment: Experiment, metric: str, members: list[Row]) -> list[tuple[str, dict[tuple[str, str], float]]]:
    def by_fold(column: str, rows: list[Row]) -> dict[tuple[str, str], float]:
        return {(row["seed"], row["fold"]): float(row[column]) for row in rows if row["value"]}

    if experiment.shown:
        # The runs of k-means share a fit, and its seconds.
        once = [row for row in members if experiment.runs_per_cell == 1 or row["fold"] == "0"]
        return [(column, by_fold(column, once)) for column in experiment.shown]
    return [(metric, by_fold("value", members))]


def _figure(
    experiment: Experiment, data: str, method: str, setting: str, metric: str, members: list[Row], values: list[float]
) -> Figure:
    mean = statistics.fmean(values) if values else np.nan
    low, high = _interval(experiment, metric, values)

    def average(column: str) -> float:
        told = [float(row[column]) for row in members if row[column]]
        return statistics.fmean(told) if told else np.nan

    name = metric if not setting else f"{metric}, {setting}"
    paper = experiment.paper.get(method, {}).get(data, {}).get(name)
    if experiment.quick:
        paper = None  # a figure of the whole data set says nothing about a small part of it
    return Figure(
        data=data,
        method=method,
        setting=setting,
        metric=metric,
        label=experiment.label(method),
        mean=mean,
        low=low,
        high=high,
        deviation=float(np.std(values)) if values else np.nan,
        n=len(values),
        feature_seconds=average("feature_seconds"),
        model_seconds=average("model_seconds"),
        peak_memory_mb=average("peak_memory_mb"),
        training_rows=max(int(row["training_rows"] or 0) for row in members),
        nonzeros_per_row=average("nonzeros_per_row"),
        chosen=tuple(dict.fromkeys(row["chosen"] for row in members if row["chosen"])),
        notes=tuple(dict.fromkeys(note for row in members for note in _notes(row))),
        paper=paper[0] if paper else None,
        ours=method.startswith(experiment.subject),
    )


def _notes(row: Row) -> list[str]:
    """Notes one by one; the reason why a cell was not run is a sentence of its own."""
    return [note for note in (row["notes"].split("; ") if row["value"] else [row["notes"]]) if note]


def _interval(experiment: Experiment, metric: str, values: list[float]) -> tuple[float, float]:
    """None of fewer than three values, whose spread says next to nothing; scores end at 0 and 1, costs at 0."""
    if len(values) < LEAST_VALUES:
        return np.nan, np.nan
    _, low, high = mean_interval(values, _overlap(experiment))
    return max(low, 0.0), high if metric in LOWER_IS_BETTER else min(high, 1.0)


def _overlap(experiment: Experiment) -> float:
    """Test rows over training rows; runs of k-means and repeated draws on the same rows need no correction."""
    return 1 / (experiment.folds - 1) if experiment.task == "classification" else 0.0


def _ranked(experiment: Experiment, figure: Figure, contest: list[tuple[str, dict[tuple[str, str], float]]]) -> Figure:
    scored = [(method, values) for method, values in contest if values]
    if not scored or figure.n == 0 or len(scored) == 1 or figure.metric in NEITHER_END_IS_BETTER:
        return figure
    sign = -1 if figure.metric in LOWER_IS_BETTER else 1
    best, best_values = max(scored, key=lambda entry: sign * statistics.fmean(entry[1].values()))
    if best == figure.method:
        return replace(figure, best=True)
    own = next(values for method, values in scored if method == figure.method)
    common = sorted(own.keys() & best_values.keys())
    if len(common) < LEAST_VALUES:
        return figure
    test = corrected_t_test([best_values[key] - own[key] for key in common], _test_share(experiment))
    return replace(figure, p_value=float(test.p_value))


def _test_share(experiment: Experiment) -> float:
    return 1 / experiment.folds if experiment.task == "classification" else 0.0

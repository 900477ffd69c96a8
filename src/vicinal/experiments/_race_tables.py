"""Tables of races over many data sets: data sets down, methods across, means and mean ranks at the end."""

from __future__ import annotations

import statistics
from typing import Literal

from scipy.stats import rankdata

from .._page import Cell, Column, Table
from .._words import capital
from ._experiment import Experiment
from ._metric import MODEL_SECONDS, Metric
from ._summary import Summary
from ._tables import NOTHING, by_data_set, metrics_of, result_cell

Scores = dict[str, dict[str, float]]  # by data set and method


def race_tables(experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
    """A table for each metric, and one of what fits cost."""
    first = metrics_of(summaries)[0]
    return (
        *(_table(experiment, summaries, metric) for metric in metrics_of(summaries)),
        _seconds([summary for summary in summaries if summary.measure.metric == first and summary.n]),
    )


def race_ranks(summaries: list[Summary], metric: Metric) -> tuple[dict[str, float], int]:
    """Mean ranks of methods, 1 for the best, by their labels; and over how many data sets, which all of them have."""
    whole = _whole(summaries, metric)
    labels = list(next(iter(whole.values()), {}))
    ranks = [rankdata([-metric.sign * scores[label] for label in labels]) for scores in whole.values()]
    return {label: statistics.fmean(rank[place] for rank in ranks) for place, label in enumerate(labels)}, len(whole)


def _whole(summaries: list[Summary], metric: Metric) -> Scores:
    """Means on those data sets that every method of the metric was run on."""
    own = [summary for summary in summaries if summary.measure.metric == metric and summary.n]
    scores: Scores = {}
    for summary in own:
        scores.setdefault(summary.data, {})[summary.label] = summary.mean
    labels = list(dict.fromkeys(summary.label for summary in own))
    return {
        data: {label: found[label] for label in labels} for data, found in scores.items() if len(found) == len(labels)
    }


def _table(experiment: Experiment, summaries: list[Summary], metric: Metric) -> Table:
    own = [summary for summary in summaries if summary.measure.metric == metric]
    known = {summary.label for summary in own if summary.n}
    labels = [label for label in map(experiment.label, (spec.id for spec in experiment.methods)) if label in known]
    rows = []
    for label, members in by_data_set(experiment, own):
        found = {summary.label: result_cell(summary) for summary in members}
        rows.append((Cell(label), *(found.get(method, Cell(NOTHING)) for method in labels)))
    whole, (ranks, n_data) = _whole(summaries, metric), race_ranks(summaries, metric)
    caption = capital(metric.label)
    if whole:
        means = {label: statistics.fmean(scores[label] for scores in whole.values()) for label in labels}
        best = max(means.values(), key=lambda mean: metric.sign * mean)
        rows.append(_last_row(f"mean of {n_data}", labels, means, best, metric.show))
        rows.append(_last_row("mean rank", labels, ranks, min(ranks.values()), "{:.2f}".format))
        if n_data < len(by_data_set(experiment, own)):
            caption += f"; means and ranks over the {n_data} data sets that all methods were run on"
    columns = (Column("data"), *(Column(label, "number", metric.better) for label in labels))
    return Table(caption, columns, tuple(rows))


def _last_row(name: str, labels: list[str], values: dict[str, float], best: float, show: object) -> tuple[Cell, ...]:
    def mark(value: float) -> Literal["best", ""]:
        return "best" if value == best else ""

    return (Cell(name), *(Cell(show(values[label]), values[label], mark=mark(values[label])) for label in labels))  # type: ignore[operator]


def _seconds(summaries: list[Summary]) -> Table:
    """What a fit and its predictions took, with the choice of settings where a method makes it itself."""
    labels = list(dict.fromkeys(summary.label for summary in summaries))
    rows = []
    for label in labels:
        times = [s.feature_seconds + s.model_seconds for s in summaries if s.label == label]
        median = statistics.median(times)
        rows.append(
            (Cell(label), Cell(MODEL_SECONDS.show(median), median), Cell(MODEL_SECONDS.show(max(times)), max(times)))
        )
    columns = (Column("method"), Column("median", "number", "low"), Column("longest", "number", "low"))
    return Table("Seconds of a fit and its predictions, without choosing by a grid", columns, tuple(rows))

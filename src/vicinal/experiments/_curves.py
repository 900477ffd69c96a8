"""Charts of an experiment: scores over what its methods vary, over places, over time, and beside the paper's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

from .._page import DotRow, Dots, Lines, Point, Scatter, Section, Series
from .._words import capital
from ._experiment import Experiment
from ._metric import Metric
from ._summary import Summary
from ._tables import by_data_set, column_label, or_none, protocols_of, shared_parameter, with_protocol

ZERO_ON_A_LOG_SCALE = 1e-6
LEAST_SECONDS = 1e-3


def over_time(experiment: Experiment, summaries: list[Summary]) -> Section:
    """A chart per data set and a line per method, from its smallest size to its largest."""
    metric, own = _first_metric(summaries)
    blocks = [
        lines(
            f"{data}: {metric.label} against time",
            "seconds for features and model",
            metric.label,
            members,
            name=lambda summary: summary.label,
            x=lambda summary: max(summary.seconds, LEAST_SECONDS),
            x_log=True,
            x_seconds=True,
        )
        for data, members in by_data_set(experiment, own)
    ]
    text = (
        "Time for features and model after parameters were chosen, one fold. Points of a line are sizes of the same "
        "method. Up and to the left is better."
    )
    return Section("What it costs", text, tuple(blocks))


def _first_metric(summaries: list[Summary]) -> tuple[Metric, list[Summary]]:
    metric = summaries[0].measure.metric
    return metric, [summary for summary in summaries if summary.measure.metric == metric]


def kernel_errors(experiment: Experiment, summaries: list[Summary], metric: Metric) -> Section:
    """For each data set, a chart of the subject's kernel and one of the other kernels, with the line 1 / sqrt(m)."""
    subject = next((spec.among for spec in experiment.methods if spec.id.startswith(experiment.subject)), "")
    others = {spec.among for spec in experiment.methods} - {subject}
    varied = [summary for summary in summaries if summary.measure.metric == metric and summary.variant]
    blocks = []
    for (data, members), kernels in itertools.product(by_data_set(experiment, varied), ({subject}, others)):
        own = [summary for summary in members if experiment.method_spec(summary.method).among in kernels]
        if not any(summary.n for summary in own):
            continue
        which = ", ".join(filter(None, kernels)) if len(kernels) == 1 else "other kernels"
        chart = lines(
            f"{data}{f', {which}' if which else ''}: {metric.label} over features",
            "features m",
            metric.label,
            own,
            name=lambda summary: summary.label,
            x=_value,
            x_log=True,
        )
        ends = tuple(sorted({_value(summary) for summary in own if summary.n}))
        falling = Series("1/√m", ends, tuple(1 / math.sqrt(m) for m in ends), guide=True)
        blocks.append(replace(chart, y_log=True, series=(*chart.series, falling)))
    text = "Lower is better. The dashed line falls with 1/√m, as errors of random features do."
    return Section(f"{capital(metric.label)} over the number of features", text, tuple(blocks))


def over_places(experiment: Experiment, summaries: list[Summary], title: str, x_label: str) -> Section:
    """A chart per data set over the places of the measures, which are numbers."""
    blocks = [
        lines(
            data,
            x_label,
            members[0].measure.metric.label,
            members,
            name=lambda summary: summary.label,
            x=lambda summary: float(summary.measure.at or 0),
            x_log=True,
        )
        for data, members in by_data_set(experiment, summaries)
    ]
    return Section(title, "", tuple(blocks))


def over_columns(experiment: Experiment, summaries: list[Summary]) -> tuple[Section, ...]:
    """A chart per data set: a line per selector, a point at its own number where it has one, what selects none across.

    There is a section for every way in which k-means was run.
    """
    metric, own = _first_metric(summaries)
    text = (
        "Selectors with a grid are shown at its median; lines across are methods that select no columns. Only the "
        "paper's own method has its interval drawn."
    )
    sections = []
    for protocol in protocols_of(own):
        members = [summary for summary in own if summary.measure.protocol == protocol]
        title = with_protocol("How many columns?", protocol).replace("?;", "? With")
        sections.append(Section(title, text, tuple(column_charts(experiment, metric, members))))
    return tuple(sections)


def column_charts(experiment: Experiment, metric: Metric, summaries: list[Summary]) -> list[Lines]:
    """A chart per data set over the numbers of columns; methods that select none are lines across."""
    blocks = []
    for data, members in by_data_set(experiment, summaries):
        whole = [summary for summary in members if summary.measure.at == "all" and summary.n]
        kept = [s for s in members if s.measure.at != "all" and s.n and _columns_kept(s) is not None]
        if not kept:
            continue
        chart = lines(
            f"{data}: {metric.label} over {experiment.options.kept}",
            f"{'share of ' * any(isinstance(s.measure.at, float) for s in kept)}{experiment.options.kept}",
            metric.label,
            kept,
            name=lambda s: f"{s.label}, {experiment.task.place(s.measure)}" if s.measure.at == "auto" else s.label,
            x=lambda summary: float(_columns_kept(summary) or 0),
            x_log=True,
        )
        series = tuple(line if line.highlight else replace(line, low=(), high=()) for line in chart.series)
        blocks.append(replace(chart, series=series, reference=tuple((s.label, s.mean) for s in whole)))
    return blocks


def _columns_kept(summary: Summary) -> int | float | None:
    return summary.n_columns if isinstance(summary.measure.at, str | None) else summary.measure.at


def sensitivity(experiment: Experiment, summaries: list[Summary]) -> Section:
    """A chart per varied parameter, a line per data set."""
    parameters = dict.fromkeys(summary.variant.parameter for summary in summaries if summary.variant.parameter)
    blocks = []
    for parameter in parameters:
        own = [summary for summary in summaries if summary.variant.parameter == parameter]
        label = own[0].measure.metric.label
        logarithmic = min(map(_value, own)) < 0.01
        blocks.append(
            lines(
                f"{label} over {parameter}",
                parameter,
                label,
                own,
                name=lambda summary: experiment.data_label(summary.data),
                x=lambda summary: max(_value(summary), ZERO_ON_A_LOG_SCALE),
                x_log=logarithmic,
                caption=f"The leftmost point is {parameter} = 0." if logarithmic else "",
            )
        )
    return Section("Sensitivity", "", tuple(blocks))


def over_parameter(
    experiment: Experiment,
    summaries: list[Summary],
    parameter: str | None = None,
    *,
    name: Callable[[Summary], str] = lambda summary: summary.label,
) -> Section | None:
    """A chart per data set and a line per method; methods that do not vary are lines across.

    The parameter is one that several methods vary, if none is named; there may be no such parameter.
    """
    parameter = parameter or shared_parameter(experiment)
    if parameter is None:
        return None
    label = "groups or iterations" if parameter == "n_groups" else parameter
    metric, own = _first_metric(summaries)
    blocks = []
    for data, members in by_data_set(experiment, own):
        varied = [summary for summary in members if summary.variant.parameter == parameter]
        if varied:
            title = f"{data}: {metric.label} over {label}"
            chart = lines(title, label, metric.label, varied, name=name, x=_value, x_log=True)
            across = tuple((summary.label, summary.mean) for summary in members if not summary.variant and summary.n)
            blocks.append(replace(chart, reference=across))
    return Section("Sensitivity", "", tuple(blocks))


def beside_the_paper(experiment: Experiment, summaries: list[Summary]) -> Section:
    """A row of dots per method, with the paper's values as open diamonds."""
    metric, own = _first_metric(summaries)
    blocks = []
    for column, members in _by_column(experiment, own).items():
        if any(summary.paper is not None for summary in members):
            rows = tuple(
                DotRow(s.label, s.mean if s.n else None, or_none(s.low), or_none(s.high), s.paper, s.ours)
                for s in members
            )
            blocks.append(Dots(column, metric.label, rows))
    other = f" Theirs are of other data: {experiment.paper_data}." if experiment.paper_data else ""
    return Section("Beside the paper", f"What the authors report, and what this run gives.{other}", tuple(blocks))


def against_time(experiment: Experiment, summaries: list[Summary]) -> Section:
    metric, own = _first_metric(summaries)
    blocks = [
        time_chart(f"{capital(metric.label)} against time, {column}", metric.label, members)
        for column, members in _by_column(experiment, own).items()
        if members[0].variant.noise in ("", "none")
    ]
    text = "Time for features and model after parameters were chosen, one fold. Up and to the left is better."
    return Section("What it costs", text, tuple(blocks))


def time_chart(title: str, metric: str, members: list[Summary]) -> Scatter:
    points = tuple(
        Point(s.label, max(s.seconds, LEAST_SECONDS), s.mean, or_none(s.low), or_none(s.high), s.ours)
        for s in members
        if s.n
    )
    return Scatter(title, "seconds for features and model", metric, points)


def _by_column(experiment: Experiment, summaries: list[Summary]) -> dict[str, list[Summary]]:
    columns: dict[str, list[Summary]] = {}
    for summary in summaries:
        columns.setdefault(column_label(experiment, summary), []).append(summary)
    return columns


def _value(summary: Summary) -> float:
    return float(summary.variant.value)


def lines(
    title: str,
    x_label: str,
    y_label: str,
    summaries: list[Summary],
    *,
    name: Callable[[Summary], str],
    x: Callable[[Summary], float],
    x_log: bool,
    x_seconds: bool = False,
    caption: str = "",
) -> Lines:
    """One line per name through the means."""
    series = []
    for label in dict.fromkeys(map(name, summaries)):
        own = sorted((summary for summary in summaries if name(summary) == label and summary.n), key=x)
        series.append(
            Series(
                label,
                tuple(map(x, own)),
                tuple(summary.mean for summary in own),
                tuple(or_none(summary.low) for summary in own),
                tuple(or_none(summary.high) for summary in own),
                highlight=any(summary.ours and label.startswith(summary.label) for summary in own),
                names=tuple(str(summary.variant) for summary in own) if x_seconds else (),
            )
        )
    return Lines(title, x_label, y_label, tuple(series), x_log=x_log, x_seconds=x_seconds, caption=caption)

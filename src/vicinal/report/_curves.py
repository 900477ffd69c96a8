"""Curves of an experiment: figures over what its methods vary, over neighbours, and over time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

from ..experiments import Experiment, Figure
from ._page import Lines, Section, Series
from ._verdict import METRIC_NAMES, OWN_NUMBER, count_label, metric_family

ZERO_ON_A_LOG_SCALE = 1e-6
LEAST_SECONDS = 1e-3


def over_time(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    """A chart per data set and a line per method, from its smallest size to its largest."""
    blocks = []
    for spec in experiment.data:
        own = [figure for figure in figures if figure.data == spec.name and metric_family(figure) == metric]
        if own:
            title = f"{experiment.data_label(spec.name)}: {METRIC_NAMES[metric]} against time"
            chart = lines(
                title,
                "seconds for features and model",
                METRIC_NAMES[metric],
                own,
                name=lambda figure: figure.label,
                x=lambda figure: max(figure.seconds, LEAST_SECONDS),
                x_log=True,
                x_seconds=True,
            )
            blocks.append(chart)
    text = (
        "Time for features and model after parameters were chosen, one fold. Points of a line are sizes of the same "
        "method. Up and to the left is better."
    )
    return Section("What it costs", text, tuple(blocks))


def kernel_errors(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    """For each data set a chart of the subject's kernel and one of the other kernels, with the line 1 / sqrt(m)."""
    subject = next((spec.among for spec in experiment.methods if spec.id.startswith(experiment.subject)), "")
    others = {spec.among for spec in experiment.methods} - {subject}
    name = METRIC_NAMES[metric]
    blocks = []
    for spec, kernels in itertools.product(experiment.data, ({subject}, others)):
        own = [f for f in figures if f.data == spec.name and f.metric == metric and f.setting]
        own = [f for f in own if experiment.method_spec(f.method).among in kernels]
        if not any(figure.n for figure in own):
            continue
        which = ", ".join(filter(None, kernels)) if len(kernels) == 1 else "other kernels"
        chart = lines(
            f"{experiment.data_label(spec.name)}{f', {which}' if which else ''}: {name} over features",
            "features m",
            name,
            own,
            name=lambda figure: figure.label,
            x=_value,
            x_log=True,
        )
        ends = tuple(sorted({_value(figure) for figure in own if figure.n}))
        falling = Series("1/√m", ends, tuple(1 / math.sqrt(m) for m in ends), guide=True)
        blocks.append(replace(chart, y_log=True, series=(*chart.series, falling)))
    text = "Lower is better. The dashed line falls with 1/√m, as errors of random features do."
    return Section(f"{name[0].upper()}{name[1:]} over the number of features", text, tuple(blocks))


def over_neighbors(experiment: Experiment, figures: list[Figure]) -> Section:
    blocks = []
    for spec in experiment.data:
        own = [figure for figure in figures if figure.data == spec.name]
        if own:
            blocks.append(
                lines(
                    experiment.data_label(spec.name),
                    "neighbour k",
                    "AUC",
                    own,
                    name=lambda figure: figure.label,
                    x=lambda figure: float(figure.metric.split("@")[1]),
                    x_log=True,
                )
            )
    return Section("AUC over the neighbour k", "", tuple(blocks))


def over_columns(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    """A chart per data set: a line per selector, a point at its own number where it has one, all columns across."""
    blocks = []
    for spec in experiment.data:
        own = [f for f in figures if f.data == spec.name and metric_family(f) == metric and f.n]
        whole = [f for f in own if f.metric.endswith("@all")]
        kept = [f for f in own if not f.metric.endswith("@all") and _n_columns(f) is not None]
        if kept:
            chart = lines(
                f"{experiment.data_label(spec.name)}: {METRIC_NAMES[metric]} over columns kept",
                "columns kept",
                METRIC_NAMES[metric],
                kept,
                name=lambda f: f"{f.label}, {OWN_NUMBER}" if f.metric.endswith("@auto") else f.label,
                x=lambda f: float(_n_columns(f) or 0),
                x_log=True,
            )
            series = tuple(line if line.highlight else replace(line, low=(), high=()) for line in chart.series)
            blocks.append(replace(chart, series=series, reference=tuple((f.label, f.mean) for f in whole)))
    text = (
        "Selectors with a grid are shown in its median setting; the line across is k-means on all columns. Only the "
        "paper's own method has its interval drawn."
    )
    return Section("How many columns?", text, tuple(blocks))


def _n_columns(figure: Figure) -> int | None:
    count = figure.metric.split("@")[1]
    return int(count) if count.isdigit() else figure.n_columns


def sensitivity(experiment: Experiment, figures: list[Figure]) -> Section:
    shared = shared_parameter(experiment)
    if shared is not None:
        return _over_parameter(experiment, figures, shared)
    parameters = list(dict.fromkeys(figure.setting.split("=")[0] for figure in figures if "=" in figure.setting))
    blocks = []
    for parameter in parameters:
        own = [figure for figure in figures if figure.setting.split("=")[0] == parameter]
        logarithmic = min(_value(figure) for figure in own) < 0.01
        blocks.append(
            lines(
                f"{METRIC_NAMES[metric_family(own[0])]} over {parameter}",
                parameter,
                METRIC_NAMES[metric_family(own[0])],
                own,
                name=lambda figure: experiment.data_label(figure.data),
                x=lambda figure: max(_value(figure), ZERO_ON_A_LOG_SCALE),
                x_log=logarithmic,
                caption=f"The leftmost point is {parameter} = 0." if logarithmic else "",
            )
        )
    return Section("Sensitivity", "", tuple(blocks))


def _over_parameter(experiment: Experiment, figures: list[Figure], parameter: str) -> Section:
    """A chart per data set and a line per method; methods that do not vary are lines across."""
    label = "groups or iterations" if parameter == "n_groups" else parameter
    metric = metric_family(figures[0])
    blocks = []
    for spec in experiment.data:
        own = [figure for figure in figures if figure.data == spec.name and metric_family(figure) == metric]
        varied = [figure for figure in own if figure.setting.startswith(f"{parameter}=")]
        if varied:
            chart = lines(
                f"{experiment.data_label(spec.name)}: {METRIC_NAMES[metric]} over {label}",
                label,
                METRIC_NAMES[metric],
                varied,
                name=lambda f: f"{f.label}, {count_label(f)}" if experiment.task == "selection" else f.label,
                x=_value,
                x_log=True,
            )
            across = tuple((figure.label, figure.mean) for figure in own if not figure.setting and figure.n)
            blocks.append(replace(chart, reference=across))
    return Section("Sensitivity", "", tuple(blocks))


def shared_parameter(experiment: Experiment) -> str | None:
    """What more than one method varies, if there is such a parameter; of selectors, what any varies."""
    varied = [name for spec in experiment.methods for name in spec.vary]
    if experiment.task == "selection":
        return next(iter(varied), None)
    return next((name for name in varied if varied.count(name) > 1), None)


def _value(figure: Figure) -> float:
    return float(figure.setting.split("=")[1])


def lines(
    title: str,
    x_label: str,
    y_label: str,
    figures: list[Figure],
    *,
    name: Callable[[Figure], str],
    x: Callable[[Figure], float],
    x_log: bool,
    x_seconds: bool = False,
    caption: str = "",
) -> Lines:
    """One line per name through the figures' means."""
    series = []
    for label in dict.fromkeys(map(name, figures)):
        own = sorted((figure for figure in figures if name(figure) == label and figure.n), key=x)
        series.append(
            Series(
                label,
                tuple(map(x, own)),
                tuple(figure.mean for figure in own),
                tuple(or_none(figure.low) for figure in own),
                tuple(or_none(figure.high) for figure in own),
                highlight=any(figure.ours and label.startswith(figure.label) for figure in own),
                names=tuple(figure.setting for figure in own) if x_seconds else (),
            )
        )
    return Lines(title, x_label, y_label, tuple(series), x_log=x_log, x_seconds=x_seconds, caption=caption)


def or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None

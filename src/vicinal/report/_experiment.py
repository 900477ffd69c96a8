"""The page of an experiment: verdict, tables, and the pictures that its task asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from ..experiments import Experiment, Figure, cell_features, load_rows, scaler
from ._page import (
    Cell,
    Column,
    DotRow,
    Dots,
    FeatureImage,
    FeatureImages,
    Lines,
    Page,
    Point,
    Scatter,
    Section,
    Series,
    Table,
)
from ._pictures import PICTURE_ROWS, feature_image, picture_section
from ._scales import human_seconds
from ._verdict import METRIC_NAMES, column_label, metric_family, quick_warning, show, verdict

ZERO_ON_A_LOG_SCALE = 1e-6
PICTURE_ITERATIONS = 8


def experiment_page(
    experiment: Experiment,
    figures: list[Figure],
    *,
    command: str,
    facts: tuple[tuple[str, str], ...],
    pictures: Section | None = None,
) -> Page:
    """The report of an experiment, from its summary.

    Parameters
    ----------
    experiment : Experiment
    figures : list of Figure
        What `vicinal.experiments.summarise` gives.
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Machine, versions, date.
    pictures : Section, default=None
        What `picture_section` makes of one of the data sets.
    """
    metrics = list(dict.fromkeys(metric_family(figure) for figure in figures))
    sections = [_tables(experiment, figures, metrics)]
    if experiment.task == "images":
        sections, pictures = [*([pictures] if pictures else []), *sections], None
    elif any(experiment.method_spec(figure.method).vary for figure in figures):
        sections = [_sensitivity(experiment, figures), *sections]
    elif experiment.task == "outliers":
        sections = [_over_neighbors(experiment, figures), *sections]
    elif not experiment.shown:
        sections.append(_beside_the_paper(experiment, figures, metrics[0]))
        sections.append(_against_time(experiment, figures, metrics[0]))
    if pictures is not None:
        sections.append(pictures)
    return Page(
        title=experiment.title,
        subtitle=experiment.source,
        verdict=verdict(experiment, figures),
        warning=quick_warning(experiment),
        sections=tuple(section for section in sections if section.blocks),
        command=command,
        facts=(*protocol_facts(experiment), *facts),
        notes=experiment.remarks,
    )


def data_pictures(experiment: Experiment) -> Section:
    """What the methods make of the first data set or, where pictures are not all that it is about, its subject."""
    if experiment.task == "images":
        return _side_by_side(experiment)
    spec = experiment.data[0]
    if experiment.subject != "randlocal":
        few = replace(
            experiment,
            data=(replace(spec, rows=min(spec.rows or PICTURE_ROWS, PICTURE_ROWS)),),
            n_groups=min(experiment.n_groups, PICTURE_ITERATIONS),
        )
        method = next(method for method in few.methods if method.id.startswith(few.subject))
        image = _image(few, method.id, f"{few.label(method.id)}, rows sorted by class")
        text = f"{few.data_label(spec.name)}: a class that has columns of its own is easy for a linear model."
        return Section("What the features look like", text, (image,))
    X, y = load_rows(spec.name)
    names, codes = np.unique(y, return_inverse=True)
    rows = scaler(spec.scale, X).fit_transform(X)
    return picture_section(rows, codes, tuple(map(str, names)), place=experiment.data_label(spec.name))


def _side_by_side(experiment: Experiment) -> Section:
    place = experiment.data_label(experiment.data[0].name)
    images = tuple(_image(experiment, spec.id, experiment.label(spec.id)) for spec in experiment.methods)
    caption = (
        "The same rows in every picture, as many of each class, sorted by class. Where a class has columns of its own, "
        "its rows chose the same landmarks."
    )
    return Section("The features", "", (FeatureImages(f"Features of {place}", images, caption),))


def _image(experiment: Experiment, method: str, title: str) -> FeatureImage:
    """The features of a method on the experiment's first data set, without noise."""
    spec = replace(experiment.method_spec(method), vary={}, skip=())
    alone = replace(experiment, data=experiment.data[:1], methods=(spec,), noise=("none",))
    return feature_image(*cell_features(alone, alone.cells()[0]), title=title)


def protocol_facts(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    if experiment.task == "clustering":
        return (
            ("Protocol", f"k-means {experiment.runs} times on features of all rows"),
            ("Intervals and tests", "95 %, over the starts of k-means; the features were drawn once"),
        )
    if experiment.task == "images":
        return (("Protocol", "features of all rows, learned from all rows"),)
    if experiment.task == "outliers":
        return (("Protocol", f"distance to the k-th neighbour; up to {experiment.repeats} draws"),)
    return (
        (
            "Protocol",
            f"{experiment.folds}-fold cross-validation; parameters chosen by {experiment.tuning_folds}-fold "
            f"cross-validation on at most {experiment.tuning_rows:,} rows of the training part",
        ),
        ("Intervals and tests", "95 %, over folds, corrected for shared training rows (Nadeau and Bengio 2003)"),
    )


def figure_cell(figure: Figure) -> Cell:
    if not figure.n:
        return Cell("–", detail="; ".join(figure.notes))
    details = []
    if figure.paper is not None:
        if figure.metric.endswith("_seconds"):
            details.append(f"paper {human_seconds(figure.paper)}")
        else:
            details.append(f"paper {figure.paper:.4f} ({figure.from_paper:+.4f})")
    details += [note for note in figure.notes if "rows" in note or "settings" in note]
    if figure.n < figure.planned:
        details.append(f"{figure.n} of {figure.planned} runs")
    return Cell(
        show(figure),
        figure.mean,
        low=_or_none(figure.low),
        high=_or_none(figure.high),
        mark="best" if figure.best else "tie" if figure.tied else "",
        detail="; ".join(details),
    )


def _tables(experiment: Experiment, figures: list[Figure], metrics: list[str]) -> Section:
    """A table per metric or, where methods share a varied parameter, per metric and data set."""
    by_data = [spec.name for spec in experiment.data] if _shared_parameter(experiment) else [None]
    blocks = []
    for metric in metrics:
        name = METRIC_NAMES[metric][0].upper() + METRIC_NAMES[metric][1:]
        for data in by_data:
            own = [f for f in figures if metric_family(f) == metric and data in (None, f.data)]
            if data is None:
                blocks.append(_table(name, metric, own, lambda figure: column_label(experiment, figure)))
            elif own:
                caption = f"{name}, {experiment.data_label(data)}"
                blocks.append(_table(caption, metric, own, lambda figure: figure.setting or "not varied"))
    return Section("The figures", "Ours, and the paper's own where it gives one for the same data.", tuple(blocks))


def _table(caption: str, metric: str, figures: list[Figure], column_of: Callable[[Figure], str]) -> Table:
    place = {(figure.label, column_of(figure)): figure for figure in figures}
    labels, columns = (list(dict.fromkeys(keys)) for keys in zip(*place, strict=True))
    better: Literal["low", "high"] | None = "low" if metric.endswith("_seconds") else "high"
    if metric == "sparsity_ratio":
        better = None
    rows = tuple(
        (
            Cell(label),
            *(figure_cell(place[label, column]) if (label, column) in place else Cell("–") for column in columns),
        )
        for label in labels
    )
    return Table(caption, (Column("method"), *(Column(column, "number", better) for column in columns)), rows)


def _beside_the_paper(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    blocks = []
    for column, members in _by_column(experiment, figures, metric).items():
        if any(figure.paper is not None for figure in members):
            rows = tuple(
                DotRow(f.label, f.mean if f.n else None, _or_none(f.low), _or_none(f.high), f.paper, f.ours)
                for f in members
            )
            blocks.append(Dots(column, METRIC_NAMES[metric], rows))
    return Section("Beside the paper", "What the authors report, and what this run gives.", tuple(blocks))


def _against_time(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    name = METRIC_NAMES[metric]
    blocks = [
        time_chart(f"{name[0].upper()}{name[1:]} against time, {column}", name, members)
        for column, members in _by_column(experiment, figures, metric).items()
        if "noise" not in column or "none" in column
    ]
    text = "Time for features and model after parameters were chosen, one fold. Up and to the left is better."
    return Section("What it costs", text, tuple(blocks))


def time_chart(title: str, metric: str, members: list[Figure]) -> Scatter:
    points = tuple(
        Point(f.label, max(f.seconds, 1e-3), f.mean, _or_none(f.low), _or_none(f.high), f.ours) for f in members if f.n
    )
    return Scatter(title, "seconds for features and model", metric, points)


def _by_column(experiment: Experiment, figures: list[Figure], metric: str) -> dict[str, list[Figure]]:
    columns: dict[str, list[Figure]] = {}
    for figure in figures:
        if metric_family(figure) == metric:
            columns.setdefault(column_label(experiment, figure), []).append(figure)
    return columns


def _shared_parameter(experiment: Experiment) -> str | None:
    """What more than one method varies, if there is such a parameter."""
    varied = [name for spec in experiment.methods for name in spec.vary]
    return next((name for name in varied if varied.count(name) > 1), None)


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
                name=lambda figure: figure.label,
                x=_value,
                x_log=True,
            )
            across = tuple((figure.label, figure.mean) for figure in own if not figure.setting and figure.n)
            blocks.append(replace(chart, reference=across))
    return Section("Sensitivity", "", tuple(blocks))


def _sensitivity(experiment: Experiment, figures: list[Figure]) -> Section:
    shared = _shared_parameter(experiment)
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


def _value(figure: Figure) -> float:
    return float(figure.setting.split("=")[1])


def _over_neighbors(experiment: Experiment, figures: list[Figure]) -> Section:
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


def lines(
    title: str,
    x_label: str,
    y_label: str,
    figures: list[Figure],
    *,
    name: Callable[[Figure], str],
    x: Callable[[Figure], float],
    x_log: bool,
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
                tuple(_or_none(figure.low) for figure in own),
                tuple(_or_none(figure.high) for figure in own),
                highlight=any(figure.ours and figure.label == label for figure in own),
            )
        )
    return Lines(title, x_label, y_label, tuple(series), x_log=x_log, caption=caption)


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None

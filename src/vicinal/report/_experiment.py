"""The page of an experiment: verdict, tables, and the pictures that its task asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from ..experiments import Experiment, Figure, load_rows, scaler
from ._page import Cell, Column, DotRow, Dots, Lines, Page, Point, Scatter, Section, Series, Table
from ._pictures import picture_section
from ._scales import human_seconds

OURS = "randlocal"
METRIC_NAMES = {
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "accuracy": "accuracy",
    "nmi": "NMI",
    "auc": "AUC",
    "feature_seconds": "time for features",
    "model_seconds": "time for the linear SVM",
}
ZERO_ON_A_LOG_SCALE = 1e-6


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
    if any(experiment.method_spec(figure.method).vary for figure in figures):
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
    """What RandLocal makes of the first data set."""
    spec = experiment.data[0]
    X, y = load_rows(spec.name)
    names, codes = np.unique(y, return_inverse=True)
    rows = scaler(spec.scale, X).fit_transform(X)
    return picture_section(rows, codes, tuple(map(str, names)), place=experiment.data_label(spec.name))


def quick_warning(experiment: Experiment) -> str | None:
    if not experiment.quick:
        return None
    rows = max(spec.rows or 0 for spec in experiment.data)
    return (
        f"Quick run: at most {rows:,} rows of each data set, {experiment.folds} folds, {experiment.n_groups} groups. "
        "It shows that everything works; its figures are not those of the experiment. Run it without --quick for them."
    )


def protocol_facts(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    if experiment.task == "clustering":
        return (
            ("Protocol", f"k-means {experiment.runs} times on features of all rows"),
            ("Intervals and tests", "95 %, over the starts of k-means; the features were drawn once"),
        )
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


def verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    """The outcome in words: where our methods lead, and how they stand to the paper's figures."""
    first = metric_family(figures[0])
    if experiment.shown:
        return _time_verdict(experiment, figures)
    contests: dict[tuple[str, str, str], list[Figure]] = {}
    for figure in figures:
        if metric_family(figure) == first and figure.n:
            contests.setdefault((figure.data, figure.setting, figure.metric), []).append(figure)
    sentences = []
    won = [figs for figs in contests.values() if len(figs) > 1 and any(f.best and is_ours(f) for f in figs)]
    contested = [figs for figs in contests.values() if len(figs) > 1]
    if contested:
        sentences.append(
            f"By {METRIC_NAMES[first]}, RandLocal has the best figure in {len(won)} of {len(contested)} comparisons."
        )
        lost = [figs for figs in contested if figs not in won]
        if lost and len(lost) <= 6:
            told = []
            for figs in lost:
                best = next(figure for figure in figs if figure.best)
                ours = max((figure for figure in figs if is_ours(figure)), key=lambda f: f.mean, default=None)
                if ours is not None:
                    place = column_label(experiment, best)
                    near = " (not significantly less)" if ours.tied else ""
                    told.append(f"{place}, {best.label} {show(best)}, RandLocal {show(ours)}{near}")
            sentences.append("Elsewhere: " + "; ".join(told) + ".")
    beside = [figure for figure in figures if is_ours(figure) and figure.from_paper is not None and figure.n]
    if beside:
        reached = [figure for figure in beside if (figure.from_paper or 0) >= 0]
        worst = min(beside, key=lambda figure: figure.from_paper or 0)
        sentence = f"Of the paper's {len(beside)} RandLocal figures, {len(reached)} are reached or beaten"
        if worst.from_paper is not None and worst.from_paper < 0:
            sentence += (
                f"; the furthest below is {METRIC_NAMES[metric_family(worst)]} on {column_label(experiment, worst)}, "
                f"{show(worst)} against {worst.paper:.4f}"
            )
        sentences.append(sentence + ".")
    return tuple(sentences) or (f"{len(figures)} figures.",)


def _time_verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    largest = experiment.data[-1].name
    seconds = {(figure.method, figure.metric): figure.mean for figure in figures if figure.data == largest and figure.n}
    told = [
        f"{experiment.label(method)} {human_seconds(value)}"
        for (method, metric), value in seconds.items()
        if metric == "feature_seconds" and value > 0
    ]
    models = [
        f"{experiment.label(method)} {human_seconds(value)}"
        for (method, metric), value in seconds.items()
        if metric == "model_seconds" and method in ("raw", OURS)
    ]
    place = experiment.data_label(largest)
    return (f"Features of {place}: {', '.join(told)}.", f"The linear SVM on {place}: {', '.join(models)}.")


def metric_family(figure: Figure) -> str:
    return figure.metric.split("@")[0]


def is_ours(figure: Figure) -> bool:
    return figure.method.startswith(OURS)


def column_label(experiment: Experiment, figure: Figure) -> str:
    parts = [experiment.data_label(figure.data)]
    if figure.setting:
        parts.append(figure.setting)
    if "@" in figure.metric:
        parts.append("k = " + figure.metric.split("@")[1])
    return ", ".join(parts)


def show(figure: Figure) -> str:
    if not figure.n:
        return "–"
    return human_seconds(figure.mean) if figure.metric.endswith("_seconds") else f"{figure.mean:.4f}"


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
    blocks = []
    for metric in metrics:
        own = [figure for figure in figures if metric_family(figure) == metric]
        columns = list(dict.fromkeys(column_label(experiment, figure) for figure in own))
        labels = list(dict.fromkeys(figure.label for figure in own))
        place = {(figure.label, column_label(experiment, figure)): figure for figure in own}
        better: Literal["low", "high"] = "low" if metric.endswith("_seconds") else "high"
        rows = tuple(
            (
                Cell(label),
                *(figure_cell(place[label, column]) if (label, column) in place else Cell("–") for column in columns),
            )
            for label in labels
        )
        header = (Column("method"), *(Column(column, "number", better) for column in columns))
        name = METRIC_NAMES[metric]
        blocks.append(Table(name[0].upper() + name[1:], header, rows))
    return Section("The figures", "Ours, and the paper's own where it gives one for the same data.", tuple(blocks))


def _beside_the_paper(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    blocks = []
    for column, members in _by_column(experiment, figures, metric).items():
        if any(figure.paper is not None for figure in members):
            rows = tuple(
                DotRow(f.label, f.mean if f.n else None, _or_none(f.low), _or_none(f.high), f.paper, is_ours(f))
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
        Point(f.label, max(f.seconds, 1e-3), f.mean, _or_none(f.low), _or_none(f.high), is_ours(f))
        for f in members
        if f.n
    )
    return Scatter(title, "seconds for features and model", metric, points)


def _by_column(experiment: Experiment, figures: list[Figure], metric: str) -> dict[str, list[Figure]]:
    columns: dict[str, list[Figure]] = {}
    for figure in figures:
        if metric_family(figure) == metric:
            columns.setdefault(column_label(experiment, figure), []).append(figure)
    return columns


def _sensitivity(experiment: Experiment, figures: list[Figure]) -> Section:
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
                highlight=label.startswith("RandLocal"),
            )
        )
    return Lines(title, x_label, y_label, tuple(series), x_log=x_log, caption=caption)


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None

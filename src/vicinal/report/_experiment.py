"""The page of an experiment: verdict, tables, and the pictures that its task asks for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from .._preparation import scaler
from ..experiments import (
    LOWER_IS_BETTER,
    Experiment,
    Figure,
    cell_features,
    entry_label,
    find_method,
    load_rows,
    mean_ranks,
)
from ._curves import (
    LEAST_SECONDS,
    kernel_errors,
    or_none,
    over_columns,
    over_neighbors,
    over_time,
    sensitivity,
    shared_parameter,
)
from ._page import (
    Cell,
    Column,
    DotRow,
    Dots,
    FeatureImage,
    FeatureImages,
    Page,
    Point,
    Scatter,
    Section,
    Table,
)
from ._pictures import PICTURE_ROWS, feature_image, picture_section
from ._scales import human_seconds
from ._verdict import (
    METRIC_NAMES,
    OWN_NUMBER,
    column_label,
    count_label,
    metric_family,
    quick_warning,
    show,
    sizes_differ,
    verdict,
)

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
    elif experiment.task == "kernel":
        sections = [kernel_errors(experiment, figures, metric) for metric in metrics] + sections
    elif sizes_differ(experiment) and not experiment.shown:
        sections = [over_time(experiment, figures, metrics[0]), *sections]
    elif any(experiment.method_spec(figure.method).vary for figure in figures):
        sections = [sensitivity(experiment, figures), *sections]
    elif experiment.task == "selection" and not experiment.shown:
        sections = [_ranks(experiment, figures, metrics), over_columns(experiment, figures, metrics[0]), *sections]
    elif experiment.task == "outliers":
        sections = [over_neighbors(experiment, figures), *sections]
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
    if find_method(experiment.subject).size == "n_components" or experiment.task == "selection":
        return Section("What the features look like")  # dense ones look alike, selected ones as before
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
    if experiment.task == "selection":
        scaled = "scaled to unit length" if experiment.unit_rows else "as they are"
        starts = f", each the best of {experiment.starts} starts by its own criterion" if experiment.starts > 1 else ""
        return (
            (
                "Protocol",
                f"columns chosen on all rows, without labels; k-means {experiment.runs} times{starts}, on these "
                f"columns, rows {scaled}, as many clusters as classes",
            ),
            (
                "Grids",
                "of selectors with regularisation weights the median setting, the lower one of two, for each number of "
                "columns; the best one, which labels had to tell, is beside it and never ranked",
            ),
            ("Intervals and tests", "95 %, over the runs of k-means; every selector was fitted once per setting"),
        )
    if experiment.task == "images":
        return (("Protocol", "features of all rows, learned from all rows"),)
    if experiment.task == "kernel":
        return (
            (
                "Protocol",
                "inner products of features of random pairs of rows, against the kernel; maps fitted on all rows",
            ),
            ("Intervals and tests", f"95 %, over {experiment.repeats} draws of map and pairs"),
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
        low=or_none(figure.low),
        high=or_none(figure.high),
        mark="best" if figure.best else "tie" if figure.tied else "",
        detail="; ".join(details),
    )


def _selection_cell(figure: Figure) -> Cell:
    """Median and best of a grid, and how many columns are kept; tables are too wide for intervals that are drawn."""
    cell = figure_cell(replace(figure, paper=None))
    if not figure.n:
        return cell
    details = [f"±{figure.high - figure.mean:.4f}"] if math.isfinite(figure.high) else []
    if figure.n_columns is not None:
        details.append(f"{figure.n_columns:,} columns")
    best = figure.by_labels
    if figure.paper is not None:
        beside = f"/{best.paper:.4f}" if best is not None and best.paper is not None else ""
        details.append(f"paper {figure.paper:.4f}{beside} ({figure.from_paper:+.4f})")
    text = f"{cell.text}/{show(best)}" if best is not None else cell.text
    return replace(cell, text=text, low=None, high=None, detail="; ".join(filter(None, (*details, cell.detail))))


def _tables(experiment: Experiment, figures: list[Figure], metrics: list[str]) -> Section:
    """A table per metric or, where methods share a varied parameter or choose columns, per metric and data set."""
    selection = experiment.task == "selection" and not experiment.shown
    by_data = [spec.name for spec in experiment.data] if selection or shared_parameter(experiment) else [None]
    blocks = []
    for metric in metrics:
        name = METRIC_NAMES[metric][0].upper() + METRIC_NAMES[metric][1:]
        for data in by_data:
            own = [f for f in figures if metric_family(f) == metric and data in (None, f.data)]
            if data is None:
                blocks.append(_table(name, metric, own, lambda figure: column_label(experiment, figure)))
            elif own:
                caption = f"{name}, {experiment.data_label(data)}"
                if selection:
                    blocks.append(_table(caption, metric, own, _selection_column, _selection_cell))
                else:
                    blocks.append(_table(caption, metric, own, lambda figure: figure.setting or "not varied"))
    text = "Ours, and the paper's own where it gives one for the same data." if experiment.paper else ""
    if selection and any(figure.by_labels for figure in figures):
        text += " Selectors with a grid have its median/best; only labels tell the best, so that it is not ranked."
    return Section("The figures", text, tuple(blocks))


def _selection_column(figure: Figure) -> str:
    return figure.setting or count_label(figure)


def _ranks(experiment: Experiment, figures: list[Figure], metrics: list[str]) -> Section:
    """A table of mean ranks per metric: methods down, numbers of columns across."""
    blocks = []
    for metric in metrics:
        contests = mean_ranks(experiment, figures, metric)
        if not contests:
            continue
        entries = list(dict.fromkeys(entry for contest in contests for entry in contest.ranks))
        columns = [Column("method")]
        rows = [[Cell(entry_label(experiment, entry))] for entry in entries]
        most = max(len(contest.scores) for contest in contests)
        for contest in contests:
            hint = "" if contest.count else "with a rule, the selector's own number; without, the average of the others"
            if len(contest.scores) < most:
                hint = "; ".join(filter(None, (hint, f"over {len(contest.scores)} data sets only")))
            name = f"{contest.count} columns" if contest.count else f"{OWN_NUMBER} or average"
            columns.append(Column(name, "number", "low", hint))
            least = min(contest.ranks.values())
            for entry, row in zip(entries, rows, strict=True):
                rank = contest.ranks.get(entry)
                mark: Literal["best", ""] = "best" if rank == least else ""
                row.append(Cell("–") if rank is None else Cell(f"{rank:.2f}", rank, mark=mark))
        caption = f"Mean rank by {METRIC_NAMES[metric]}, over {most} data set{'s' * (most != 1)}"
        blocks.append(Table(caption, tuple(columns), tuple(map(tuple, rows))))
    text = (
        "1 is the best. For each number of columns all selectors that keep so many are ranked, and all columns; those "
        "with a rule for how many also at their own number, in place of the other. Grids are there by their median."
    )
    return Section("Who is ahead?", text, tuple(blocks))


def _table(
    caption: str,
    metric: str,
    figures: list[Figure],
    column_of: Callable[[Figure], str],
    cell_of: Callable[[Figure], Cell] = figure_cell,
) -> Table:
    place = {(figure.label, column_of(figure)): figure for figure in figures}
    labels, columns = (list(dict.fromkeys(keys)) for keys in zip(*place, strict=True))
    columns.sort(key=lambda column: column == OWN_NUMBER)
    better: Literal["low", "high"] | None = "low" if metric in LOWER_IS_BETTER else "high"
    if metric == "sparsity_ratio":
        better = None
    rows = tuple(
        (
            Cell(label),
            *(cell_of(place[label, column]) if (label, column) in place else Cell("–") for column in columns),
        )
        for label in labels
    )
    return Table(caption, (Column("method"), *(Column(column, "number", better) for column in columns)), rows)


def _beside_the_paper(experiment: Experiment, figures: list[Figure], metric: str) -> Section:
    blocks = []
    for column, members in _by_column(experiment, figures, metric).items():
        if any(figure.paper is not None for figure in members):
            rows = tuple(
                DotRow(f.label, f.mean if f.n else None, or_none(f.low), or_none(f.high), f.paper, f.ours)
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
        Point(f.label, max(f.seconds, LEAST_SECONDS), f.mean, or_none(f.low), or_none(f.high), f.ours)
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

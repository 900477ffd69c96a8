"""Tables of selectors on the terminal: figures by number of columns, and mean ranks."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from rich.markup import escape
from rich.table import Table

from ..experiments import Contest, Experiment, Figure, entry_label, mean_ranks
from ..report._verdict import METRIC_NAMES, OWN_NUMBER, count_label


def selection_tables(experiment: Experiment, figures: list[Figure]) -> list[Table]:
    """A table per metric and data set, then one of mean ranks per metric; narrow enough for 80 columns.

    Where parameters vary, a table per metric with the settings down and the data sets across.
    """
    tables, ranks = [], []
    for metric in experiment.metrics:
        for spec in experiment.data:
            own = [f for f in figures if f.data == spec.name and f.metric.split("@")[0] == metric]
            if own and not any(figure.setting for figure in own):
                title = f"{experiment.data_label(spec.name)}: {METRIC_NAMES[metric]} by number of columns"
                tables.append(_figures(title, own, count_label, lambda figure: ""))
        own = [figure for figure in figures if figure.metric.split("@")[0] == metric]
        if any(figure.setting for figure in own):
            title = f"{experiment.title} {METRIC_NAMES[metric]}"
            setting_of = _with_count if len({f.metric for f in own if f.setting}) > 1 else attrgetter("setting")
            tables.append(_figures(title, own, lambda figure: experiment.data_label(figure.data), setting_of))
        contests = mean_ranks(experiment, figures, metric)
        if contests:
            ranks.append(_ranks(experiment, f"Mean rank, {METRIC_NAMES[metric]}", contests))
    return tables + ranks


def _with_count(figure: Figure) -> str:
    return ", ".join(filter(None, (figure.setting, count_label(figure))))


def _figures(
    title: str, figures: list[Figure], column_of: Callable[[Figure], str], setting_of: Callable[[Figure], str]
) -> Table:
    """Methods and their settings down; the paper's figure in brackets below ours."""
    if any(figure.by_labels for figure in figures):
        title += ", median of the grid/best by labels"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("method")
    settings = any(map(setting_of, figures))
    if settings:
        table.add_column("setting", overflow="fold")
    columns = sorted(dict.fromkeys(map(column_of, figures)), key=lambda column: column == OWN_NUMBER)
    for column in columns:
        table.add_column(escape(column.removesuffix(" columns")), justify="right", min_width=8)
    lines: dict[tuple[str, str], dict[str, str]] = {}
    labels = list(dict.fromkeys(figure.label for figure in figures))
    for figure in sorted(figures, key=lambda figure: labels.index(figure.label)):
        lines.setdefault((figure.label, setting_of(figure)), {})[column_of(figure)] = _shown(figure)
    last = ""
    for (label, setting), shown in lines.items():
        head = (escape(label) if label != last else "", *((escape(setting),) if settings else ()))
        table.add_row(*head, *(shown.get(column, "–") for column in columns))
        last = label
    return table


def _shown(figure: Figure) -> str:
    if not figure.n:
        return "–"
    best = figure.by_labels
    text = f"[bold green]{figure.mean:.4f}[/]" if figure.best else f"{figure.mean:.4f}"
    if best is not None and best.n:
        text += f"\n/{best.mean:.4f}"
    if figure.n_columns is not None:
        text += f"\nn={figure.n_columns:,}"
    if figure.paper is not None:
        text += f"\n({figure.paper:.4f}" + (f"\n/{best.paper:.4f})" if best is not None and best.paper else ")")
    return text


def _ranks(experiment: Experiment, title: str, contests: list[Contest]) -> Table:
    table = Table(title=f"{title} by number of columns", title_justify="left")
    table.add_column("method")
    for contest in contests:
        table.add_column(str(contest.count or f"{OWN_NUMBER} or average"), justify="right", min_width=6)
    for entry in dict.fromkeys(entry for contest in contests for entry in contest.ranks):
        cells = []
        for contest in contests:
            rank = contest.ranks.get(entry)
            text = "–" if rank is None else f"{rank:.2f}"
            cells.append(f"[bold green]{text}[/]" if rank == min(contest.ranks.values()) else text)
        table.add_row(escape(entry_label(experiment, entry)), *cells)
    return table

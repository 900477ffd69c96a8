"""Tables of an experiment's results on the terminal."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from ..experiments import Experiment, Figure, experiment_names, load_experiment
from ._selection_tables import selection_tables


def comparison_table(figures: list[Figure], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("features")
    for name in ("accuracy", "features s", "model s", "non-zeros", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for figure in figures:
        if not figure.n:
            table.add_row(escape(figure.label), "–", "–", "–", "–", "–")
            continue
        spread = f" ±{figure.high - figure.mean:.3f}" if figure.high == figure.high else ""
        accuracy = f"{figure.mean:.4f}{spread}"
        table.add_row(
            escape(figure.label),
            f"[bold green]{accuracy}[/]" if figure.best else accuracy,
            f"{figure.feature_seconds:.2f}",
            f"{figure.model_seconds:.2f}",
            f"{figure.nonzeros_per_row:,.0f}",
            f"{figure.peak_memory_mb:,.0f}",
        )
    return table


def figure_tables(experiment: Experiment, figures: list[Figure]) -> list[Table]:
    """A table per metric: methods and their settings down, data sets across, the paper's figure in brackets below.

    Data sets are few and their figures short, so that tables fit a terminal of 80 columns.
    """
    if experiment.task == "selection" and not experiment.shown:
        return selection_tables(experiment, figures)
    tables = []
    for metric in dict.fromkeys(figure.metric for figure in figures):
        own = [figure for figure in figures if figure.metric == metric]
        table = Table(title=f"{experiment.title}: {metric}", title_justify="left")
        table.add_column("method")
        settings = any(figure.setting for figure in own)
        if settings:
            table.add_column("setting", overflow="fold")
        data = list(dict.fromkeys(figure.data for figure in own))
        for name in data:
            table.add_column(escape(experiment.data_label(name)), justify="right", min_width=8)
        lines: dict[tuple[str, str], dict[str, str]] = {}
        for figure in sorted(own, key=lambda figure: [f.label for f in own].index(figure.label)):
            lines.setdefault((figure.label, figure.setting), {})[figure.data] = _shown(figure)
        last = ""
        for (label, setting), shown in lines.items():
            head = (escape(label) if label != last else "", *((escape(setting),) if settings else ()))
            table.add_row(*head, *(shown.get(name, "–") for name in data))
            last = label
        tables.append(table)
    return tables


def _shown(figure: Figure) -> str:
    if not figure.n:
        return "–"
    digits = 2 if figure.metric.endswith("_seconds") else 4
    text = f"{figure.mean:.{digits}f}"
    text = f"[bold green]{text}[/]" if figure.best else text
    paper = f"\n({figure.paper:.{digits}f})" if figure.paper is not None else ""
    return text + paper


def experiment_table() -> Table:
    table = Table(title="Experiments", title_justify="left")
    for name in ("name", "what", "from", "data", "methods"):
        table.add_column(name, no_wrap=name == "name")
    for name in experiment_names():
        experiment = load_experiment(name)
        table.add_row(
            name,
            escape(experiment.title),
            escape(experiment.source),
            str(len(experiment.data)),
            str(len(experiment.methods)),
        )
    return table

"""What the command line shows: tables on standard output, progress on standard error."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time

import sklearn
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from . import __version__, datasets
from .experiments import Cell, Experiment, Figure, experiment_names, load_experiment

stderr = Console(stderr=True, highlight=False)
stdout = Console(highlight=False)


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


class Steps:
    """A bar on a terminal, plain lines elsewhere."""

    def __init__(self, total: int):
        self._total = total
        self._bar: Progress | None = None

    def __enter__(self) -> Steps:
        if stderr.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=stderr, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def cell(self, cell: Cell, event: str) -> None:
        """A cell of an experiment has started, is done, or could not be run."""
        name = " ".join(filter(None, (cell.data, cell.method, cell.setting, f"fold {cell.fold}")))
        if self._bar is not None:
            ended = event not in ("started", "kept")
            self._bar.update(self._task, description=name, advance=0 if event == "started" else 1)
            if ended and event != "done":
                self._bar.console.print(f"{name}: {event}", markup=False)
        elif event not in ("started", "kept"):
            stderr.print(f"{name}: {event}", markup=False)

    def share(self, done: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description="nearest anchors", completed=done)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def data_table() -> Table:
    table = Table(title="Data sets", title_justify="left")
    for name in ("name", "rows x columns", "here", "what it is"):
        table.add_column(name, no_wrap=name == "name")
    for entry in datasets.catalog():
        path = datasets.path_of(entry.name)
        place = "yes" if path is not None else "can be fetched" if entry.fetchable else "no"
        about = entry.description + (f" Stands in for {entry.stand_in_for}." if entry.stand_in_for else "")
        table.add_row(entry.name, f"{entry.shape[0]:,} x {entry.shape[1]:,}", place, escape(about))
    return table


def chosen(text: str) -> str:
    parts = json.loads(text)
    return ", ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in parts.items()
    )


def command() -> str:
    return shlex.join(["vicinal", *sys.argv[1:]])


def facts(threads: int) -> tuple[tuple[str, str], ...]:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {threads} thread(s) per method"
    versions = f"vicinal {__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}"
    return (("Machine", machine), ("Versions", versions), ("Date", time.strftime("%Y-%m-%d %H:%M")))

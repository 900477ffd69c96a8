"""What the command line shows: tables on standard output, progress on standard error."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Sequence

import numpy as np
import sklearn
from numpy.typing import NDArray
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from . import __version__, datasets
from ._selection_tables import selection_tables
from .experiments import Cell, Experiment, Figure, experiment_names, load_experiment
from .report import _scales
from .report._score_curve import cuts, is_early, score_range

stderr = Console(stderr=True, highlight=False)
stdout = Console(highlight=False)

CHART_WIDTH, CHART_HEIGHT = 80, 9  # in letters
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # the letters' dots, from the top


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


def score_table(names: Sequence[str], scores: NDArray[np.float64], n_kept: int) -> Table:
    """The best columns, with a line below those that are kept."""
    table = Table(title="The best columns", title_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("column", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    largest = np.abs(scores).max(initial=0) or 1.0
    digits = max(3 - int(np.floor(np.log10(largest))), 0)  # four that matter, of the largest
    form = f",.{digits}f" if digits <= 8 and largest < 1e9 else ".3e"
    for rank, (name, score) in enumerate(zip(names, scores, strict=True), start=1):
        table.add_row(
            f"{rank:,}",
            escape(name),
            f"{score:{form}}",
            style="" if rank <= n_kept else "dim",
            end_section=rank == n_kept,
        )
    return table


def score_chart(scores: NDArray[np.float64], n_kept: int, n_auto: int | None, width: int) -> Text:
    """All scores from the best to the worst as dots of braille letters, filled as far as columns are kept.

    Ranks have a log scale where the cut would otherwise be squeezed into the first tenth.
    """
    low, high = score_range(scores)
    labels = [_scales.figure(high), *[""] * (CHART_HEIGHT - 2), _scales.figure(low)]
    margin = max(map(len, labels))
    n_letters = max(min(width, CHART_WIDTH) - margin - 2, 10)
    log = is_early(len(scores), n_kept, n_auto)
    steps = np.linspace(0, 1, 2 * n_letters)
    ranks = np.rint(len(scores) ** steps if log else 1 + steps * (len(scores) - 1)).astype(int)
    heights = np.rint((scores[ranks - 1] - low) / ((high - low) or 1.0) * (4 * CHART_HEIGHT - 1)).astype(int)
    dots = np.zeros((4 * CHART_HEIGHT, 2 * n_letters), dtype=np.uint8)
    for place, (rank, height, before) in enumerate(zip(ranks, heights, [heights[0], *heights], strict=False)):
        dots[0 if rank <= n_kept else height : max(before, height + 1), place] = 1

    cells = dots[::-1].reshape(CHART_HEIGHT, 4, n_letters, 2)
    letters = np.einsum("hdcs,ds->hc", cells, BRAILLE) + 0x2800
    end = _last_place(ranks, n_kept) // 2 + 1 if n_kept else 0
    chart = Text(f"Scores from the best column to the worst{', ranks on a log scale' * log}\n", style="italic")
    for label, row in zip(labels, letters, strict=True):
        curve = "".join(map(chr, row))
        chart.append(f"{label:>{margin}} {'┤' if label else '│'}", style="not italic")
        chart.append(curve[:end], style="not italic cyan").append(f"{curve[end:]}\n", style="not italic dim")
    last = f"{len(scores):,}"
    chart.append(f"{'':{margin}} └{'─' * n_letters}\n{'':{margin}}  1{last:>{n_letters - 1}}\n", style="not italic")
    for number, words in cuts(n_kept, n_auto):
        place = _last_place(ranks, number) // 2
        mark = f"▲ {words}" if place + len(words) + 2 <= n_letters else f"{words} ▲"
        start = margin + 2 + (place if mark[0] == "▲" else place + 1 - len(mark))
        chart.append(f"{'':{max(start, 0)}}{mark}\n", style="not italic bold")
    chart.rstrip()
    return chart


def _last_place(ranks: NDArray[np.int_], number: int) -> int:
    """The last place of a chart that shows one of the first `number` ranks."""
    return max(int(np.searchsorted(ranks, number, side="right")) - 1, 0)


class Steps:
    """A bar on a terminal, plain lines elsewhere; without a total it only shows that something is going on."""

    def __init__(self, total: int | None, doing: str = ""):
        self._total = total
        self._doing = doing
        self._bar: Progress | None = None

    def __enter__(self) -> Steps:
        if stderr.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=stderr, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._doing, total=self._total)
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
            self._bar.update(self._task, total=1, completed=done)

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

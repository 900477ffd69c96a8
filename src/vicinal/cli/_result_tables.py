"""Tables of results on the terminal, narrow enough for 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from .._page import Table as PageTable

if TYPE_CHECKING:
    from .._page import Cell, Section
    from ..experiments import Summary

UNIT = " columns"  # that the heads of a table share
LONGEST_WORD = 12  # of a method's name, which is not broken
MANY = 5  # columns of numbers, beyond which their heads are broken rather than names


def comparison_table(summaries: list[Summary], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("features")
    for name in ("accuracy", "features s", "model s", "non-zeros", "MB"):
        table.add_column(name, justify="right", no_wrap=True)
    for summary in summaries:
        if not summary.n:
            table.add_row(escape(summary.label), "–", "–", "–", "–", "–")
            continue
        spread = f" ±{summary.high - summary.mean:.3f}" if summary.high == summary.high else ""
        accuracy = f"{summary.mean:.4f}{spread}"
        table.add_row(
            escape(summary.label),
            f"[bold green]{accuracy}[/]" if summary.best else accuracy,
            f"{summary.feature_seconds:.2f}",
            f"{summary.model_seconds:.2f}",
            f"{summary.nonzeros_per_row:,.0f}",
            f"{summary.peak_memory_mb:,.0f}",
        )
    return table


def section_tables(sections: Iterable[Section]) -> list[Table]:
    """The tables of a report, for the terminal."""
    return [terminal_table(block) for section in sections for block in section.blocks if isinstance(block, PageTable)]


def terminal_table(page_table: PageTable) -> Table:
    """A table of a report: what stands beside a number there stands below it here."""
    table = Table(title=escape(page_table.caption), title_justify="left")
    words = [word for row in page_table.rows for word in row[0].text.split()]
    many = sum(column.kind == "number" for column in page_table.columns) > MANY
    for place, column in enumerate(page_table.columns):
        name = escape(column.label.removesuffix(UNIT)).replace("=", "=\n")
        if column.kind == "number":
            lines = [line for row in page_table.rows for line in (row[place].text, row[place].beside, row[place].brief)]
            widest = max(6, *map(len, lines)) if many else None
            table.add_column(name, justify="right", min_width=6, max_width=widest, overflow="fold")
        else:
            longest = max(map(len, words), default=0)
            table.add_column(name, overflow="fold", min_width=None if table.columns else min(longest, LONGEST_WORD))
    last = ""
    for row in page_table.rows:
        first = row[0].text
        table.add_row(escape(first) if first != last else "", *map(_shown, row[1:]))
        last = first
    return table


def _shown(cell: Cell) -> str:
    text = escape(cell.text)
    text = f"[bold green]{text}[/]" if cell.mark == "best" else text
    return "\n".join(filter(None, (text, escape(cell.beside), escape(cell.brief))))


def experiment_table() -> Table:
    from ..experiments import experiment_names, load_experiment

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

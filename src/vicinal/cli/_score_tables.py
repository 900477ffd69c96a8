"""What `vicinal select` shows: the best columns, and the curve of all scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .._page import Cell, Column, Lines, Series
from .._page import Table as PageTable
from .._score_cuts import cuts, is_early, score_range
from .._words import short_number

CURVE = "scores from the best column to the worst"
CHART_WIDTH, CHART_HEIGHT = 80, 9  # in letters
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # the letters' dots, from the top


def score_table(names: Sequence[str], scores: NDArray[np.float64], n_kept: int) -> Table:
    """The best columns, with a line below those that are kept."""
    table = Table(title="The best columns", title_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("column", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    form = number_form(scores)
    for rank, (name, score) in enumerate(zip(names, scores, strict=True), start=1):
        table.add_row(
            f"{rank:,}",
            escape(name),
            f"{score:{form}}",
            style="" if rank <= n_kept else "dim",
            end_section=rank == n_kept,
        )
    return table


def score_lines(title: str, scores: NDArray[np.float64], n_kept: int) -> Lines:
    """The curve of all scores, from the best to the worst, for a report."""
    ranks = np.unique(np.geomspace(1, len(scores), 200).astype(int))
    kept, others = ranks[ranks <= n_kept], ranks[ranks >= n_kept]
    series = [
        Series(label, tuple(map(float, part)), tuple(map(float, scores[part - 1])), highlight=highlight)
        for label, part, highlight in (("kept", kept, True), ("others", others, False))
        if len(part)
    ]
    log = is_early(len(scores), n_kept, None)
    return Lines(title, "rank", "score", tuple(series), x_log=log)


def best_columns(names: Sequence[str], scores: NDArray[np.float64], n_kept: int) -> PageTable:
    """The best columns, for a report."""
    form = number_form(scores)
    rows = []
    for rank, (name, score) in enumerate(zip(names, scores, strict=True), start=1):
        numbers = Cell(f"{rank:,}", rank), Cell(f"{score:{form}}", float(score))
        rows.append((Cell(name), *numbers, Cell("yes" if rank <= n_kept else "no")))
    heads = (Column("column"), Column("rank", "number"), Column("score", "number", "high"), Column("kept"))
    return PageTable("The best columns", heads, tuple(rows))


def number_form(scores: NDArray[np.float64]) -> str:
    """How scores are written one below the other: with four digits that matter, of the largest."""
    largest = np.abs(scores).max(initial=0) or 1.0
    digits = max(3 - int(np.floor(np.log10(largest))), 0)
    return f",.{digits}f" if digits <= 8 and largest < 1e9 else ".3e"


def score_chart(scores: NDArray[np.float64], n_kept: int, n_auto: int | None, width: int) -> Text:
    """All scores from the best to the worst as dots of braille letters, filled as far as columns are kept.

    Ranks have a log scale where the cut would otherwise be squeezed into the first tenth.
    """
    low, high = score_range(scores)
    labels = [short_number(high), *[""] * (CHART_HEIGHT - 2), short_number(low)]
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

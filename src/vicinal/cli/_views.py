"""Views of a table's columns: what --views says of them, and what each contributes to the columns that are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table as ShownTable

from .._files import Table, listed
from .._page import Cell, Column, Page, Section
from .._page import Table as PageTable
from .._validation import suggest
from ..select import SELECTORS, PerView
from ._score_tables import CURVE, score_lines
from ._terminal import command_line, facts, warn

Views = dict[str, NDArray[np.intp]]

FORM = 'name:pattern or name:first-last, such as "text:w_*,tags:t_*" or "text:0-99,tags:100-"'
AUTO = "auto"


def check_views(method: str, views: str | None, plot: Path | None, *, linked: bool) -> None:
    """Refuses, before the table is read, what is no description of views, and what does not go with them."""
    if views is None:
        return
    if linked:
        raise ValueError(f"The method {method} looks at links, not at views; leave out --links or --views.")
    if plot is not None and plot.suffix.lower() == ".svg":
        raise ValueError(f"With --views there is a curve for each view; write an .html file rather than {plot.name}.")
    if views != AUTO:
        parse_views(views)


def parse_views(text: str) -> list[tuple[str, str]]:
    """Names of views with their patterns; a view may have several."""
    parts = [part.partition(":") for part in text.split(",")]
    if not all(name.strip() and pattern.strip() for name, _, pattern in parts):
        raise ValueError(f"--views must be a list of {FORM}, or auto; got {text!r}.")
    return [(name.strip(), pattern.strip()) for name, _, pattern in parts]


def read_views(text: str | None, table: Table, method: str) -> Views | None:
    """The columns of each view as --views gives them, or as the file does; None where columns are not divided."""
    if text == AUTO and not table.views:
        raise ValueError(f"The file has no views of its own for --views auto; give a list of {FORM}.")
    if text is None or text == AUTO:
        if SELECTORS[method].reads_views and not table.views:
            warn(f"{method} looks at several views, and none are given: all columns are one view. See --views.")
        wanted = text == AUTO or SELECTORS[method].reads_views
        return dict(table.views) if wanted and table.views else None
    found: dict[str, list[int]] = {}
    owners: dict[int, str] = {}
    for view, pattern in parse_views(text):
        for column in _matching(view, pattern, table.names):
            if column in owners:
                where = f"the views {owners[column]!r} and {view!r}" if owners[column] != view else f"{view!r} twice"
                raise ValueError(f"--views has the column {table.names[column]!r} in {where}; give each to one view.")
            owners[column] = view
            found.setdefault(view, []).append(column)
    left = [name for column, name in enumerate(table.names) if column not in owners]
    if left:
        which, them = (f"Columns {listed(left, 3)} are", "them") if len(left) > 1 else (f"Column {left[0]!r} is", "it")
        raise ValueError(f"{which} in no view of --views; give {them} to one, or leave {them} out with --drop.")
    return {view: np.sort(columns) for view, columns in found.items()}


def _matching(view: str, pattern: str, names: Sequence[str]) -> list[int]:
    span = re.fullmatch(r"(\d+)-(\d*)", pattern)
    if span is None:
        columns = [column for column, name in enumerate(names) if fnmatchcase(name, pattern)]
        if not columns:
            near = suggest(pattern.strip("*?"), names)
            raise ValueError(f"The view {view!r} has no column: none is named like {pattern!r}; {near}")
        return columns
    first, last = int(span[1]), int(span[2] or len(names) - 1)
    if not first <= last < len(names):
        raise ValueError(
            f"The view {view!r} has the columns {pattern}, but the columns are numbered from 0 to {len(names) - 1}."
        )
    return list(range(first, last + 1))


def with_views(selector: Any, views: Views) -> Any:
    """A selector of several views with these; any other one for each of them by itself."""
    if "views" in selector.get_params():
        return selector.set_params(views=views)
    return PerView(selector, views=views)


def check_view_numbers(wanted: Any, views: Views, file: Path) -> None:
    """Refuses numbers for views that are not there, and more columns than a view has."""
    numbers = wanted if isinstance(wanted, Mapping) else dict.fromkeys(views, wanted)
    for view in numbers:
        if view not in views:
            raise ValueError(f"-k names the view {view!r}, which there is not; {suggest(view, views)}")
    for view, columns in views.items():
        if view not in numbers:
            raise ValueError(
                f"-k says nothing about the view {view!r}; give a number for each of {listed(list(views))}."
            )
        number = numbers[view]
        if isinstance(number, int) and number > len(columns):
            raise ValueError(
                f"The view {view!r} of {file.name} has {len(columns):,} columns to choose from, but -k asks for "
                f'{number}; ask for fewer, or for each view by itself: -k "{view}={len(columns)},...".'
            )


@dataclass(frozen=True)
class Contribution:
    """What a view is worth: its columns from the best to the worst, and the share of the fused graph's edges it has."""

    view: str
    names: list[str]
    scores: NDArray[np.float64]
    n_kept: int
    share: float | None = None


def contributions(selector: Any, names: Sequence[str]) -> list[Contribution]:
    """Of every view, in their order; shares of edges where the method joined the views to one graph."""
    shares = getattr(selector, "shared_edges_", {})
    made = []
    for view, columns in selector.views_.items():
        order = columns[np.argsort(selector.ranking_[columns])]
        n_kept = int(selector.support_[columns].sum())
        made.append(Contribution(view, [names[j] for j in order], selector.scores_[order], n_kept, shares.get(view)))
    return made


SHARES = "edges shared"
SHARES_HINT = "Edges shared: the share of the fused graph's edges that also join nearest rows of the view alone."


def view_table(made: Sequence[Contribution], top: int) -> ShownTable:
    table = ShownTable(title="What each view contributes", title_justify="left", show_lines=True)
    table.add_column("view", overflow="fold")
    table.add_column("columns", justify="right")
    table.add_column("kept", justify="right")
    with_shares = has_shares(made)
    if with_shares:
        table.add_column(SHARES, justify="right")
    if top:
        table.add_column("kept, the best first", overflow="fold")
    for one in made:
        shares = [f"{one.share:.0%}"] if with_shares else []
        best = [escape(_best(one, top))] if top else []
        table.add_row(escape(one.view), f"{len(one.names):,}", f"{one.n_kept:,}", *shares, *best)
    return table


def has_shares(made: Sequence[Contribution]) -> bool:
    return all(one.share is not None for one in made)


def _best(one: Contribution, top: int) -> str:
    kept = one.names[: one.n_kept]
    return ", ".join(kept[:top]) + ", …" * (len(kept) > top)


def view_page(made: Sequence[Contribution], title: str, top: int, threads: str) -> Page:
    """A report: what each view contributes, and the curve of its scores."""
    with_shares = has_shares(made)
    heads = [Column("view"), Column("columns", "number"), Column("kept", "number")]
    heads += [Column(SHARES, "number", "high")] * with_shares
    rows = []
    for one in made:
        shares = [Cell(f"{one.share:.0%}", one.share)] if with_shares else []
        sizes = [Cell(f"{number:,}", number) for number in (len(one.names), one.n_kept)]
        rows.append((Cell(one.view), *sizes, *shares, Cell(_best(one, top))))
    table = PageTable("Views", (*heads, Column("kept, the best first")), tuple(rows))
    curves = tuple(score_lines(f"{one.view}: {CURVE}", one.scores, one.n_kept) for one in made)
    n_kept, n_all = sum(one.n_kept for one in made), sum(len(one.names) for one in made)
    return Page(
        title,
        verdict=(f"{n_kept:,} of {n_all:,} columns are kept, of {len(made)} view{'s' * (len(made) != 1)}.",),
        sections=(
            Section("What each view contributes", SHARES_HINT * with_shares, (table,)),
            Section("Scores", "Columns compete within their view.", curves),
        ),
        command=command_line(),
        facts=facts(threads),
    )

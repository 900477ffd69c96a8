"""Side information of `vicinal select`: what --side names, the meta-paths that count, and the report of both."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table as ShownTable

from .._files import Table
from .._page import Cell, Column, Page, Schema, SchemaRelation, SchemaType, Section
from .._page import Table as PageTable
from .._side_arrays import holds_relations
from .._side_arrays import read_side as read_arrays
from .._side_tables import declared_target
from .._words import capital, counted
from ..network import HeteroNetwork, from_tables
from ..select import SELECTORS
from ._links import row_names
from ._score_tables import CURVE, best_columns, score_lines
from ._terminal import command_line, facts, note

AUTO = "auto"
PATHS = "Rows are similar if many paths of these kinds lead from one to the other."
MOST_PATHS = 30  # of the table on a terminal


@dataclass(frozen=True)
class SideOptions:
    """What was asked for: --side, and what goes with it or does not."""

    side: str | None
    metapath: tuple[str, ...]
    aggregation: str | None
    nodes: str | None
    links: Path | None
    views: str | None


def check_side(method: str, file: Path, options: SideOptions) -> None:
    """Refuses, before the table is read, what does not go together, and files that are not as they must be."""
    if options.side is None:
        if SELECTORS[method].reads_side and (options.metapath or options.aggregation):
            option = "--metapath" if options.metapath else "--aggregation"
            raise ValueError(f"{option} is about the meta-paths of --side; name the file of relations, too.")
        return
    if not SELECTORS[method].reads_side:
        readers = ", ".join(entry.name for entry in SELECTORS.values() if entry.reads_side)
        raise ValueError(f"The method {method} does not look at side information; take {readers}, or leave out --side.")
    for option, given in (("--links", options.links), ("--views", options.views)):
        if given is not None:
            raise ValueError(f"{method} looks at side information, and at nothing else; leave out {option} or --side.")
    if options.side == AUTO:
        if options.nodes is not None:
            raise ValueError("With --side auto the nodes are the rows by their numbers; leave out --nodes.")
        if file.suffix.lower() != ".npz":
            raise ValueError(
                f"--side auto takes the relations that an NPZ file holds itself, and {file.name} is none; name a TOML "
                "file of relations."
            )
        return
    path = Path(options.side)
    if path.suffix.lower() != ".toml":
        raise ValueError(f"--side must be a TOML file that names relations, or auto; got {options.side!r}.")
    if declared_target(path)[0] is None:
        raise ValueError(f"{path.name} lacks 'target', the type of nodes that the rows of {file.name} are.")


def read_side(options: SideOptions, file: Path, table: Table, n_rows: int) -> HeteroNetwork | None:
    """The network whose target nodes are the rows; None where none is asked for."""
    if options.side is None:
        return None
    network = (
        read_arrays(file) if options.side == AUTO else _of_tables(Path(options.side), table, options.nodes, n_rows)
    )
    name = file.name if options.side == AUTO else Path(options.side).name
    if len(network) != n_rows:
        raise ValueError(
            f"{name} has {counted(len(network), 'node')} of its target type {network.target}, but {file.name} has "
            f"{counted(n_rows, 'row')}; there must be one for each, in their order."
        )
    for text in options.metapath:
        network.metapath(text)
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in network.n_nodes.items())
    links = f"{counted(sum(network.n_links.values()), 'link')} by {counted(len(network.relations), 'relation')}"
    note(f"{name}: {kinds}; {links}; {_alone(network):,} of {n_rows:,} rows have none.")
    return network


def _of_tables(path: Path, table: Table, nodes: str | None, n_rows: int) -> HeteroNetwork:
    """Rows are named by a column of the table, by the TOML file, by the NPZ file, or numbered: the first of these."""
    target, named = declared_target(path)
    assert target is not None
    names = None if named and nodes is None else row_names(table, nodes, n_rows)
    try:
        return from_tables(path, nodes=None if names is None else {target: names})
    except ValueError as error:
        if f"of type {target} " not in str(error):
            raise
        hint = "Edges may name rows of the table alone; leave out the others."
        if isinstance(names, int):
            hint = "The rows are numbered from 0; say with --nodes which column names them."
        raise ValueError(f"{error} {hint}") from None


def _alone(network: HeteroNetwork) -> int:
    """How many rows have no link."""
    linked = np.zeros(len(network), dtype=bool)
    for key, links in network.relations.items():
        for place, axis in ((0, 1), (2, 0)):
            if key[place] == network.target:
                linked |= np.asarray(links.sum(axis=axis)).ravel() > 0
    return int((~linked).sum())


def without_side(method: str, file: Path) -> str:
    """What to say of a method that looks at side information where none is given."""
    own = " The file holds relations itself: --side auto takes them." if holds_relations(file) else " See --side."
    return f"{method} looks at side information, and none is given: nearest rows stand in for it.{own}"


@dataclass(frozen=True)
class PathUse:
    """A meta-path, what it weighs, and how many pairs of rows it joins."""

    name: str
    weight: float
    pairs: int
    share: float


def path_uses(selector: Any, n_rows: int) -> list[PathUse]:
    """Of all meta-paths that count, those that join the most pairs first."""
    every = max(n_rows * (n_rows - 1) // 2, 1)
    order = np.argsort(-selector.metapath_pairs_, kind="stable")
    return [
        PathUse(
            selector.metapaths_[k],
            float(selector.metapath_weights_[k]),
            int(selector.metapath_pairs_[k]),
            float(selector.metapath_pairs_[k] / every),
        )
        for k in order
    ]


def path_table(uses: Sequence[PathUse], width: int) -> ShownTable:
    """The meta-paths as a table that is no wider than the terminal; long ones go on after a hyphen."""
    table = ShownTable(title="What makes rows similar", title_justify="left")
    table.add_column("meta-path", overflow="fold")
    for head in ("weight", "pairs of rows", "of all"):
        table.add_column(head, justify="right", no_wrap=True)
    room = max(min(width, 120) - 39, 16)
    for use in uses[:MOST_PATHS]:
        name = "\n".join(textwrap.wrap(use.name, room))
        table.add_row(escape(name), f"{use.weight:.3f}", f"{use.pairs:,}", _percent(use.share))
    if len(uses) > MOST_PATHS:
        rest = uses[MOST_PATHS:]
        table.add_row(f"and {len(rest)} more", f"{sum(use.weight for use in rest):.3f}", "", "")
    return table


def _percent(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def side_page(
    selector: Any,
    network: HeteroNetwork,
    names: Sequence[str],
    scores: NDArray[np.float64],
    *,
    title: str,
    top: int,
    threads: str,
) -> Page:
    """A report: the web of types and relations, the meta-paths that count, and the columns from the best on."""
    uses, n_kept = path_uses(selector, len(network)), int(selector.support_.sum())
    kept = f"{n_kept:,} of {counted(len(names), 'column')} are kept"
    verdict = [f"{kept}, by {counted(len(uses), 'meta-path')} between rows."]
    if len(uses) > 1:
        joined = f"{uses[0].pairs:,}, {_percent(uses[0].share)} of all"
        verdict.append(f"The most pairs of rows are joined by {uses[0].name}: {joined}.")
    best = (best_columns(names[:top], scores[:top], n_kept),) if top else ()
    return Page(
        title,
        verdict=tuple(verdict),
        sections=(
            Section(
                "What is known of the rows",
                f"{capital(network.target)} nodes are the rows of the table. Every relation can be walked both ways.",
                (_schema(network),),
            ),
            Section("Meta-paths", PATHS, (_paths(uses),)),
            Section("Columns", "", (score_lines(capital(CURVE), scores, n_kept), *best)),
        ),
        command=command_line(),
        facts=facts(threads),
    )


def _schema(network: HeteroNetwork) -> Schema:
    types = tuple(SchemaType(kind, size, kind == network.target) for kind, size in network.n_nodes.items())
    relations = tuple(SchemaRelation(*key, count) for key, count in network.n_links.items())
    return Schema("Types of nodes and relations, with numbers of nodes and links", types, relations)


def _paths(uses: Sequence[PathUse]) -> PageTable:
    heads = (
        Column("meta-path"),
        Column("weight", "number", hint="its part in the similarity; all add up to 1"),
        Column("pairs of rows", "number", hint="pairs of different rows that at least one such path joins"),
        Column("of all pairs", "number"),
    )
    rows = []
    for use in uses:
        numbers = Cell(f"{use.weight:.3f}", use.weight), Cell(f"{use.pairs:,}", use.pairs)
        rows.append((Cell(use.name), *numbers, Cell(_percent(use.share), use.share)))
    return PageTable("Meta-paths", heads, tuple(rows))

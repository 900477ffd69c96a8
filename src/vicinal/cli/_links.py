"""Links between the rows of a table: read from a file, and what the chosen columns tell of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table as ShownTable

from .._files import Table
from .._triplets import Rows, TripletSampler, auc_by_columns
from .._validation import Matrix
from ..network import Network, from_edges
from ..select import SELECTORS
from ._terminal import note

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNTS = (10, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 102400)
TRIPLETS = 20_000


def check_links(method: str, links: Path | None, nodes: str | None, *, side: str | None) -> None:
    """Refuses, before the table is read, links for a method that does not look at any."""
    if links is None:
        if nodes is not None and side is None:
            raise ValueError("--nodes names the rows for --links and for --side; give one of these, too.")
        return
    if not SELECTORS[method].reads_links:
        readers = ", ".join(entry.name for entry in SELECTORS.values() if entry.reads_links)
        raise ValueError(f"The method {method} does not look at links; take one of {readers}, or leave out --links.")
    if not links.exists():
        raise FileNotFoundError(f"There is no file {links}.")


def read_links(path: Path, table: Table, nodes: str | None, n_rows: int) -> Network:
    """The network between the rows, which are named by a column of the table or numbered from 0."""
    names = n_rows if nodes is None else row_names(table, nodes, n_rows)
    network = from_edges(path, nodes=names, self_loops="drop")
    alone = int((network.degrees == 0).sum())
    note(f"{path.name}: {network.n_links:,} links; {alone:,} of {n_rows:,} rows have none.")
    return network


def row_names(table: Table, nodes: str | None, n_rows: int) -> Any:
    """What a column calls the rows, or an NPZ file; without either, how many there are."""
    if nodes is None:
        return table.row_names or n_rows
    if table.frame is None or nodes not in table.frame.columns:
        known = ", ".join(table.frame.columns[:8]) if table.frame is not None else "none, for it is no table"
        raise ValueError(f"There is no column {nodes!r} that could name the rows; the columns are {known}.")
    return table.frame[nodes].to_list()


def kept_auc(X: Matrix, network: Network, order: Sequence[int], n_kept: int) -> list[tuple[int, float]]:
    """The AUC of links for the best 10, 50, 100, ... columns, for those that are kept, and for all."""
    n_columns = X.shape[1]
    counts = sorted({*(count for count in COUNTS if count < n_columns), n_columns, *([n_kept] if n_kept else [])})
    sampler = TripletSampler(network.tocsr(), np.random.RandomState(0))
    shares = auc_by_columns(Rows.of(X), sampler.draw_by_node(TRIPLETS), np.asarray(order), counts)
    return list(zip(counts, shares, strict=True))


def auc_table(kept: Sequence[tuple[int, float]], n_kept: int) -> ShownTable:
    title = "How well they tell linked rows from others (0.5: not at all)"
    table = ShownTable(title=title, title_justify="left", min_width=len(title))
    table.add_column("best columns", justify="right")
    table.add_column("link AUC", justify="right", no_wrap=True)
    for place, (count, share) in enumerate(kept):
        name = "all" if place == len(kept) - 1 else f"{count:,}"
        table.add_row(name, f"{share:.3f}", style="bold" if count == n_kept else "")
    return table


def auc_words(kept: Sequence[tuple[int, float]]) -> str:
    parts = [f"{share:.3f} with {count:,}" for count, share in kept[:-1]]
    return f"Link AUC {', '.join(parts)}{' and ' * bool(parts)}{kept[-1][1]:.3f} with all columns"

"""The command `vicinal data`: data sets by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cyclopts import App

from . import COMMANDS
from ._arguments import Force

if TYPE_CHECKING:
    from rich.table import Table

data = App(name="data", help=COMMANDS["data"])


@data.command(name="list")
def list_all() -> None:
    """Which data sets are known, and which of them are on this machine."""
    from ._terminal import say, show

    show(data_table())
    say("Looked for in the folder VICINAL_DATA, then in the cache (VICINAL_CACHE), which `vicinal data fetch` fills.")


@data.command
def fetch(names: tuple[str, ...], /, *, force: Force = False) -> None:
    """Fetch data sets from their public sources into the cache.

    Parameters
    ----------
    names
        Names that `vicinal data list` shows.
    """
    from .. import datasets
    from ._terminal import note, say

    for name in names:
        path = datasets.fetch(name, force=force, callback=note)
        say(f"{name}: {path}", wrap=False)


def data_table() -> Table:
    from rich.markup import escape
    from rich.table import Table

    from .. import datasets

    table = Table(title="Data sets", title_justify="left")
    for name in ("name", "rows x columns", "here", "what it is"):
        table.add_column(name, no_wrap=name == "name")
    for entry in datasets.catalog():
        path = datasets.path_of(entry.name)
        place = "yes" if path is not None else "can be fetched" if entry.fetchable else "no"
        about = entry.description + (f" Stands in for {entry.stand_in_for}." if entry.stand_in_for else "")
        table.add_row(entry.name, f"{entry.shape[0]:,} x {entry.shape[1]:,}", place, escape(about))
    return table

"""What `vicinal cluster` shows: sizes of clusters, and what tells each apart."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from .._cluster_profiles import Profile
from ._clustering import Clustering

MOST_TRAITS, LEAST_DIFFERENCE = 3, 0.5
ALIKE = "little: its columns are much like those of other rows"


def cluster_table(found: Clustering) -> Table:
    table = Table(title="Clusters", title_justify="left", show_lines=True)
    table.add_column("cluster", justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("what tells it apart: its mean or share (others')", overflow="fold")
    for number, profile in enumerate(found.profiles, start=1):
        size = len(profile.rows)
        share = 100 * size / len(found.numbers)
        table.add_row(str(number), f"{size:,}", f"{share:.1f} %", escape(told(profile)))
    return table


def told(profile: Profile) -> str:
    traits = profile.telling(LEAST_DIFFERENCE, MOST_TRAITS)
    return "\n".join(trait.sentence() for trait in traits) or ALIKE

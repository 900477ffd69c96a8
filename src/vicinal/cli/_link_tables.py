"""What `vicinal links` shows: recommended links, and the attributes that are worth most."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.markup import escape
from rich.table import Table

from ._recommending import Recommendations
from ._score_tables import number_form

MOST_NODES, MANY_NODES, FEW_LINKS = 10, 3, 3
LONGEST_NAME = 16  # of a node, that is not broken


def shown_rows(found: Recommendations) -> list[int]:
    """All links of up to three nodes, and the best three of each of up to ten."""
    nodes = list(dict.fromkeys(found.nodes.tolist()))
    most = FEW_LINKS if found.n_nodes > MANY_NODES else len(found)
    shown = set(nodes[:MOST_NODES])
    ends = zip(found.nodes.tolist(), found.ranks.tolist(), strict=True)
    return [row for row, (node, rank) in enumerate(ends) if rank <= most and node in shown]


def link_table(found: Recommendations) -> Table:
    """Beside links the attributes that speak for them; the strongest alone where many nodes are shown."""
    rows = shown_rows(found)
    reasoned, n_reasons = any(found.reasons), 1 if found.n_nodes > MANY_NODES else None
    table = Table(title="Recommended links", title_justify="left")
    for name, ends in (("node", found.nodes), ("recommended", found.others)):
        longest = max(len(str(end)) for end in ends[rows])
        table.add_column(name, overflow="fold", min_width=min(longest, LONGEST_NAME))
    table.add_column("score", justify="right", no_wrap=True)
    if reasoned:
        table.add_column("what speaks most for it" if n_reasons else "what speaks for it", overflow="fold")
    form = number_form(found.scores[rows])
    last = None
    for row in rows:
        node = str(found.nodes[row])
        if last not in (None, node):
            table.add_section()
        reasons = [escape(", ".join(found.reasons[row][:n_reasons]))] if reasoned else []
        name = escape(node) if node != last else ""
        table.add_row(name, escape(str(found.others[row])), f"{found.scores[row]:{form}}", *reasons)
        last = node
    return table


def left_out(found: Recommendations, output: bool) -> str:
    """What the table does not show, and where it is."""
    more = len(found) - len(shown_rows(found))
    if not more:
        return ""
    return f"{more:,} more {'are in the file' if output else 'would go to a file (-o links.csv)'}."


def worth_table(worth: Sequence[tuple[str, float]]) -> Table:
    title = "The attributes worth most"
    table = Table(title=title, title_justify="left", min_width=len(title) + 4)
    table.add_column("attribute", overflow="fold")
    table.add_column("worth", justify="right", no_wrap=True)
    form = number_form(np.array([score for _, score in worth]))
    for name, score in worth:
        table.add_row(escape(name), f"{score:{form}}")
    return table

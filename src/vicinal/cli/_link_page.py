"""The report of `vicinal links`, as plain records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._page import Cell, Column, Page, Section, Table
from .._words import counted
from ._link_check import POOR, Check
from ._link_nodes import Shown
from ._recommending import Recommendations
from ._score_tables import number_form

MOST_ROWS, MOST_ATTRIBUTES = 500, 25
TRUST = "Can it be trusted?"


def link_page(
    title: str,
    method: str,
    found: Recommendations,
    shown: Shown,
    worth: Sequence[tuple[str, float]],
    check: Check | None,
    *,
    command: str,
    facts: tuple[tuple[str, str], ...],
) -> Page:
    poor = check is not None and check.least < POOR
    checked = (f"{check.sentence()} {check.verdict()}",) if check is not None else ()
    return Page(
        title=f"{title}: links that are not there yet",
        subtitle=f"{counted(len(shown.names), 'node')}, by {method}",
        verdict=(f"{found.sentence()}.", *checked),
        warning="Hidden links were hardly found again: do not rely on what is recommended here." if poor else None,
        sections=(_check(check), _nodes(shown), _worth(worth), _links(found)),
        command=command,
        facts=facts,
    )


def _links(found: Recommendations) -> Section:
    reasoned = any(found.reasons)
    n_rows = min(len(found), MOST_ROWS)
    form = number_form(found.scores[:n_rows])
    columns = [Column("node"), Column("recommended"), Column("rank", "number")]
    columns.append(
        Column("score", "number", better="high", hint="the larger, the likelier the link; not a probability")
    )
    if reasoned:
        columns.append(Column("what speaks for it", hint="attributes of either node that add most to the score"))
    rows = []
    for row in range(n_rows):
        score, rank = float(found.scores[row]), int(found.ranks[row])
        cells = [Cell(str(found.nodes[row])), Cell(str(found.others[row])), Cell(f"{rank:,}", rank)]
        cells.append(Cell(f"{score:{form}}", score))
        rows.append((*cells, *([Cell(", ".join(found.reasons[row]))] if reasoned else [])))
    text = (
        f"The first {n_rows:,} of {len(found):,} links; -o writes all of them to a file." if n_rows < len(found) else ""
    )
    return Section("Recommended links", text, (Table("Recommended links", tuple(columns), tuple(rows)),))


def _worth(worth: Sequence[tuple[str, float]]) -> Section:
    title = "The attributes worth most"
    if not worth:
        return Section(title)
    form = number_form(np.array([score for _, score in worth]))
    rows = tuple((Cell(name), Cell(f"{score:{form}}", score)) for name, score in worth)
    hint = "how far the attribute moves a node among those that it might be linked to: its coefficients' sum of squares"
    columns = (Column("attribute"), Column("worth", "number", better="high", hint=hint))
    return Section(title, blocks=(Table(title, columns, rows),))


def _nodes(shown: Shown) -> Section:
    parts = (("links and attributes", shown.both), ("only links", shown.link_only))
    rows = [_share(name, part) for name, part in (*parts, ("only attributes", shown.attribute_only))]
    columns = (Column("nodes that show"), Column("nodes", "number"), Column("share", "number"))
    return Section("What the nodes show", blocks=(Table("What the nodes show", columns, tuple(rows)),))


def _share(name: str, part: np.ndarray) -> tuple[Cell, Cell, Cell]:
    count, share = int(part.sum()), float(part.mean())
    return Cell(name), Cell(f"{count:,}", count), Cell(f"{100 * share:.1f} %", share)


def _check(check: Check | None) -> Section:
    if check is None:
        return Section(TRUST, "No links were hidden to see whether they would be found again.")
    text = (
        "The method was fitted once without some of the links, and asked for scores of these and of random pairs "
        "without a link. The AUC is the share of cases in which the link had the higher score: 0.5 is chance."
    )
    rows = [_checked(f"{counted(check.n_links, 'link')}, drawn at random", check.auc)]
    if check.newcomers is not None:
        rows.append(_checked(f"all links of {counted(check.n_newcomers, 'node')}", check.newcomers))
    columns = (Column("what was hidden"), Column("AUC", "number", better="high"))
    return Section(TRUST, text, (Table("Hidden links against random pairs", columns, tuple(rows)),))


def _checked(name: str, auc: float) -> tuple[Cell, Cell]:
    return Cell(name), Cell(f"{auc:.3f}", auc)

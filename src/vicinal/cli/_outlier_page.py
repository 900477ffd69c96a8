"""The report of `vicinal outliers`, as plain records."""

from __future__ import annotations

import numpy as np

from .._page import Cell, Column, Lines, Page, Section, Series, Table
from .._words import counted, listed
from ._outlier_scores import COUNTING, ScoredRows

MOST_ROWS, MOST_COLUMNS = 200, 15
SCALE = "1 for a row stranger than nine in ten, 2 for one stranger than 99 in a hundred, and so on"


def outlier_page(title: str, found: ScoredRows, *, top: int, command: str, facts: tuple[tuple[str, str], ...]) -> Page:
    n_columns = len(found.reasons.column_names)
    return Page(
        title=f"{title}: strange rows",
        subtitle=f"{counted(len(found.scores), 'row')}, {counted(n_columns, 'column')}, by LocalOutlierDetector",
        verdict=(found.verdict(), *_first(found)),
        warning=found.remark() or None,
        sections=(_rows(found, top), _columns(found), _scores(found)),
        command=command,
        facts=facts,
        notes=(f"{COUNTING} No labels were looked at.",),
    )


def _first(found: ScoredRows) -> tuple[str, ...]:
    if not found.outliers.any():
        return ()
    row, reasons = found.reasons.rows[0], listed(list(map(str, found.named(0))))
    return (f"The strangest is row {row}: {reasons}; in parentheses, what the nearest normal row has.",)


def _shown(found: ScoredRows, top: int) -> int:
    """Rows that the report shows: all outliers, and as many rows as were asked for, up to a limit."""
    return min(max(int(found.outliers.sum()), top), len(found.reasons), MOST_ROWS)


def _rows(found: ScoredRows, top: int) -> Section:
    rows = []
    for place in range(_shown(found, top)):
        row = int(found.reasons.rows[place])
        score, p_value = float(found.scores[row]), f"p {found.p_values[row]:.2g}"
        name = Cell(f"{row}" if found.outliers[row] else f"{row}, no outlier")
        reasons = Cell("; ".join(f"{100 * reason.share:.0f} % {reason}" for reason in found.named(place)))
        rows.append((name, Cell(f"{score:.2f}", score, detail=p_value), reasons))
    unseen = "rows held out when the model was fitted" if found.by_model else "rows of the same half of the file"
    columns = (
        Column("row"),
        Column("score", "number", hint=f"p: the share of {unseen}, which the model had not seen, at least as strange"),
        Column(
            "what makes it strange",
            hint="shares of the score, columns and the row's values; in parentheses those of the nearest normal row",
        ),
    )
    text = f"The {len(rows):,} strangest of {counted(len(found.scores), 'row')}." if len(rows) > 1 else ""
    return Section("The strangest rows", text, (Table("Scores and reasons", columns, tuple(rows)),) if rows else ())


def _columns(found: ScoredRows) -> Section:
    """Which columns make outliers strange, over all of those that are explained."""
    outliers = np.flatnonzero(found.reasons.outliers)
    if not len(outliers):
        return Section("Which columns")
    by_column = found.reasons.column_scores[outliers]
    shares = by_column / np.maximum(by_column.sum(axis=1, keepdims=True), 1e-300)
    means, first = shares.mean(axis=0), np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])
    rows = []
    for j in np.argsort(-means, kind="stable")[:MOST_COLUMNS]:
        share = Cell(f"{100 * means[j]:.1f} %", float(means[j]))
        rows.append((Cell(found.reasons.column_names[j]), share, Cell(f"{first[j]:,}", float(first[j]))))
    columns = (
        Column("column"),
        Column("share", "number", hint="mean share of the scores of outliers"),
        Column("first in", "number", hint="in how many outliers it has the largest share"),
    )
    whole = int(found.outliers.sum())
    which = f"the {len(outliers):,} strangest of {whole:,} outliers" if len(outliers) < whole else "all outliers"
    return Section("Which columns make them strange", f"Over {which}.", (Table("Columns", columns, tuple(rows)),))


def _scores(found: ScoredRows) -> Section:
    order = found.order
    ranks = np.unique(np.geomspace(1, len(order), 120).astype(int))
    scores, is_outlier = found.scores[order[ranks - 1]], found.outliers[order[ranks - 1]]
    series = tuple(
        Series(label, tuple(map(float, ranks[part])), tuple(map(float, scores[part])), highlight=highlight)
        for label, part, highlight in (("outliers", is_outlier, True), ("other rows", ~is_outlier, False))
        if part.any()
    )
    threshold = ((f"threshold {found.threshold:.2f}", found.threshold),) if found.fdr is None else ()
    chart = Lines(
        "Scores from the strangest row on",
        "rows at least as strange",
        "score",
        series,
        x_log=True,
        reference=threshold,
        caption="A gap below the outliers speaks for them; where there is none, the threshold could lie elsewhere.",
    )
    rows = []
    for least in range(0, max(4, int(np.ceil(min(found.scores.max(), 12)))) + 1):
        count = int((found.scores >= least).sum())
        rows.append((Cell(f"{least} and more"), Cell(f"{count:,}", count), Cell(f"{count / len(order):.2%}", count)))
    columns = (Column("score"), Column("rows", "number"), Column("share", "number"))
    return Section("How strange rows are", f"A score is {SCALE}.", (chart, Table("Scores", columns, tuple(rows))))

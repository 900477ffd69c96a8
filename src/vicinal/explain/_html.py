"""Reasons as a piece of HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ._reasons import COLUMNS_HEAD, GROUPS_TITLE, AnchorReason, GroupReason, Reasons

_WIDEST_BAR = 5.0
_STYLE = (
    "<style>.vicinal-reasons{font:14px/1.4 system-ui,sans-serif;max-width:46em}"
    ".vicinal-reasons table{font:inherit;border-collapse:collapse;margin:.3em 0 1em}"
    ".vicinal-reasons td,.vicinal-reasons th{padding:.1em .8em .1em 0;text-align:left;vertical-align:top}"
    ".vicinal-reasons .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".vicinal-reasons .bar{min-width:5em}.vicinal-reasons i{display:inline-block;height:.7em;border-radius:2px}"
    ".vicinal-reasons .for{background:#2166ac}.vicinal-reasons .against{background:#b2182b}</style>"
)


def as_html(all_reasons: Sequence[Reasons], more: str = "") -> str:
    """The reasons of some rows; the piece needs nothing else, and every text in it is escaped."""
    parts = [_STYLE, '<div class="vicinal-reasons">']
    for reasons in all_reasons:
        parts.append(f"<p><b>{escape(reasons.heading)}</b> {escape(reasons.note)}</p>")
        if reasons.intercept is not None:
            parts.append(f"<p>Intercept {reasons.number(reasons.intercept)}</p>")
        for side in reasons.sides:
            parts += [
                f"<div>{escape(side.title)}: {reasons.sum_of(side)}</div>",
                _scored_table(reasons, side.strongest),
            ]
        if reasons.groups:
            parts += [f"<div>{GROUPS_TITLE}</div>", _scored_table(reasons, reasons.groups)]
        if reasons.columns:
            parts += [f"<div>{escape(reasons.columns_title)}</div>", _column_table(reasons)]
    return "".join([*parts, f"<p>{escape(more)}</p>" if more else "", "</div>"])


def _scored_table(reasons: Reasons, scored: Sequence[AnchorReason | GroupReason]) -> str:
    """Score, bar and words of each; the bars of all tables have one scale."""
    scores = [group.score for group in reasons.groups]
    scores += [anchor.score for side in reasons.sides for anchor in side.strongest]
    strongest = max(map(abs, scores), default=0.0) or 1.0
    lines = []
    for one in scored:
        side, length = "for" if one.score >= 0 else "against", _WIDEST_BAR * abs(one.score) / strongest
        bar = f'<i class="{side}" style="width:{length:.2f}em"></i>'
        number, words = reasons.number(one.score), escape(one.in_words())
        lines.append(f'<tr><td class="n">{number}</td><td class="bar">{bar}</td><td>{words}</td></tr>')
    return f"<table>{''.join(lines)}</table>"


def _column_table(reasons: Reasons) -> str:
    cells = reasons.column_cells()
    shown = [place for place in range(len(COLUMNS_HEAD)) if any(line[place] for line in cells)]
    lines = ["<tr>", *(f"<th{_side(place)}>{COLUMNS_HEAD[place]}</th>" for place in shown), "</tr>"]
    for line in cells:
        lines += ["<tr>", *(f"<td{_side(place)}>{escape(line[place])}</td>" for place in shown), "</tr>"]
    return f"<table>{''.join(lines)}</table>"


def _side(place: int) -> str:
    return ' class="n"' if place > 2 else ""

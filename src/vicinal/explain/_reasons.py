"""Reasons of one row, ready to be shown: as text, as HTML, and to plots.

Whatever can say what each group of columns adds to a row's score can make `Reasons`; anchors are optional.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from .._words import counted, listed

MARGIN = 2
_LONGEST_NAME = 32


@dataclass(frozen=True)
class AnchorReason:
    """A training row that adds to a score, in how many groups, and the columns that these groups look at most."""

    name: str
    score: float
    n_groups: int
    columns: Sequence[str]
    n_columns: int

    def columns_in_words(self) -> str:
        more = self.n_columns - len(self.columns)
        return (
            listed([*self.columns, *[""] * more], most=len(self.columns)) if more > 1 else listed(self.columns, most=9)
        )


@dataclass(frozen=True)
class ColumnReason:
    """A column's part of a score and its share of the distances, with the row's value in it ("" if there is none)."""

    name: str
    value: str
    score: float
    share: float | None


@dataclass(frozen=True)
class Side:
    """Anchors that pull to one side: the strongest of them, and how many there are with which sum."""

    title: str
    total: float
    n_anchors: int
    strongest: Sequence[AnchorReason]


@dataclass(frozen=True)
class Reasons:
    """What is said of one row."""

    heading: str
    intercept: float | None
    sides: Sequence[Side]
    columns: Sequence[ColumnReason]
    columns_title: str
    unit: str = ""  # "%" where scores are shares of 1
    note: str = ""

    def number(self, value: float) -> str:
        """A part of the score, with its sign where there are two sides."""
        if self.unit == "%":
            return f"{100 * value:.1f} %"
        digits = 4 if self._largest() < 0.1 else 3 if self._largest() < 10 else 1
        return f"{value:+.{digits}f}"

    def _largest(self) -> float:
        return max((abs(side.total) for side in self.sides), default=1.0)


def as_text(reasons: Reasons, width: int = 80) -> str:
    """The reasons in lines of at most `width` letters.

    >>> side = Side("For it", 0.5, 1, [AnchorReason("training row 3", 0.5, 2, ["size"], 1)])
    >>> print(as_text(Reasons("Row 0: class a, score 0.4.", -0.1, [side], [], "")))
    Row 0: class a, score 0.4.
    <BLANKLINE>
    For it: 1 anchor, +0.500 in all; intercept -0.100
      +0.500  training row 3, in 2 groups by size
    """
    lines = [*textwrap.wrap(reasons.heading, width), *textwrap.wrap(reasons.note, width)]
    for place, side in enumerate(reasons.sides):
        rest = (
            f"; intercept {reasons.number(reasons.intercept)}" if place == 0 and reasons.intercept is not None else ""
        )
        lines += ["", *textwrap.wrap(f"{side.title}: {_sum_of(side, reasons)}{rest}", width)]
        room = max((len(reasons.number(anchor.score)) for anchor in side.strongest), default=0)
        for anchor in side.strongest:
            start = " " * MARGIN + reasons.number(anchor.score).rjust(room) + "  "
            said = f"{anchor.name}, in {counted(anchor.n_groups, 'group')} by {anchor.columns_in_words()}"
            lines += textwrap.wrap(said, width, initial_indent=start, subsequent_indent=" " * (len(start) + MARGIN))
    if reasons.columns:
        lines += ["", *textwrap.wrap(reasons.columns_title, width), *_column_lines(reasons, width)]
    return "\n".join(lines)


def _sum_of(side: Side, reasons: Reasons) -> str:
    if not side.n_anchors:
        return "no anchor"
    total = f", {reasons.number(side.total)} in all" if reasons.unit != "%" else ""
    return f"{counted(side.n_anchors, 'anchor')}{total}"


def _column_lines(reasons: Reasons, width: int) -> list[str]:
    """A table with a line for each column: name, value, score, share of the distances."""
    head = ("column", "value", "score", "of distances")
    cells = [
        (
            _cut(column.name, _LONGEST_NAME),
            _cut(column.value, _LONGEST_NAME // 2),
            reasons.number(column.score),
            "" if column.share is None else f"{100 * column.share:.1f} %",
        )
        for column in reasons.columns
    ]
    shown = [place for place in range(4) if any(line[place] for line in cells)]
    rooms = [max(len(line[place]) for line in (head, *cells)) for place in range(4)]
    lines = []
    for line in (head, *cells):
        parts = [line[0].ljust(rooms[0]), *(line[place].rjust(rooms[place]) for place in shown[1:])]
        lines.append((" " * MARGIN + "  ".join(parts)).rstrip()[:width])
    return lines


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "\N{HORIZONTAL ELLIPSIS}"


_STYLE = (
    "<style>.vicinal-reasons{font:14px/1.4 system-ui,sans-serif;max-width:46em}"
    ".vicinal-reasons table{border-collapse:collapse;margin:.3em 0 1em}"
    ".vicinal-reasons td,.vicinal-reasons th{padding:.1em .8em .1em 0;text-align:left;vertical-align:top}"
    ".vicinal-reasons .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    ".vicinal-reasons i{display:inline-block;height:.7em;border-radius:2px}"
    ".vicinal-reasons .for{background:#2166ac}.vicinal-reasons .against{background:#b2182b}</style>"
)


def as_html(all_reasons: Sequence[Reasons], more: str = "") -> str:
    """The reasons of some rows as a piece of HTML that needs nothing else; every text is escaped."""
    parts = [_STYLE, '<div class="vicinal-reasons">']
    for reasons in all_reasons:
        parts.append(f"<p><b>{escape(reasons.heading)}</b> {escape(reasons.note)}</p>")
        if reasons.intercept is not None:
            parts.append(f"<p>Intercept {reasons.number(reasons.intercept)}</p>")
        for side in reasons.sides:
            parts.append(f"<div>{escape(side.title)}: {_sum_of(side, reasons)}</div><table>")
            parts += [_anchor_line(reasons, anchor, _strongest(reasons)) for anchor in side.strongest]
            parts.append("</table>")
        if reasons.columns:
            parts.append(f"<div>{escape(reasons.columns_title)}</div><table><tr><th>column</th><th>value</th>")
            parts.append('<th class="n">score</th><th class="n">of distances</th></tr>')
            parts += [_column_line(reasons, column) for column in reasons.columns]
            parts.append("</table>")
    return "".join([*parts, f"<p>{escape(more)}</p>" if more else "", "</div>"])


def _strongest(reasons: Reasons) -> float:
    return max((abs(anchor.score) for side in reasons.sides for anchor in side.strongest), default=0.0) or 1.0


def _anchor_line(reasons: Reasons, anchor: AnchorReason, strongest: float) -> str:
    side, length = "for" if anchor.score >= 0 else "against", 5 * abs(anchor.score) / strongest
    said = f"{anchor.name}, in {counted(anchor.n_groups, 'group')} by {anchor.columns_in_words()}"
    bar = f'<i class="{side}" style="width:{length:.2f}em"></i>'
    return f'<tr><td class="n">{reasons.number(anchor.score)}</td><td>{bar}</td><td>{escape(said)}</td></tr>'


def _column_line(reasons: Reasons, column: ColumnReason) -> str:
    share = "" if column.share is None else f"{100 * column.share:.1f} %"
    return (
        f"<tr><td>{escape(column.name)}</td><td>{escape(column.value)}</td>"
        f'<td class="n">{reasons.number(column.score)}</td><td class="n">{share}</td></tr>'
    )

"""Reasons of one row, ready to be shown, and shown as text.

Whatever can say what each group of columns adds to a row's score can make `Reasons`; anchors are optional.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from .._words import counted, listed

GROUPS_TITLE = "Groups of columns that add most"
COLUMNS_HEAD = ("column", "value", "normal row", "score", "of distances")
_MARGIN = 2
_LONGEST_NAME = 32
_LONGEST_VALUE = 16


@dataclass(frozen=True)
class AnchorReason:
    """A training row that adds to a score, in how many groups, and the columns that these groups look at most."""

    name: str
    score: float
    n_groups: int
    columns: Sequence[str]
    n_columns: int

    def in_words(self) -> str:
        more = self.n_columns - len(self.columns)
        columns = f"{', '.join(self.columns)} and {more} more" if more else listed(self.columns, most=9)
        return f"{self.name}, in {counted(self.n_groups, 'group')} by {columns}"


@dataclass(frozen=True)
class GroupReason:
    """A group of columns that adds to a score."""

    name: str
    score: float
    columns: Sequence[str]

    def in_words(self) -> str:
        return f"{self.name}: {listed(self.columns, most=5)}"


@dataclass(frozen=True)
class ColumnReason:
    """A column's part of a score and its share of the distances, with the row's value in it ("" if there is none), and
    that of a normal row beside it."""

    name: str
    value: str
    score: float
    share: float | None
    normal: str = ""


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
    columns: Sequence[ColumnReason]
    columns_title: str
    sides: Sequence[Side] = ()
    groups: Sequence[GroupReason] = ()
    intercept: float | None = None
    note: str = ""
    unit: str = ""  # "%" where scores are shares of 1

    def number(self, value: float) -> str:
        """A part of the score, with its sign where it may have one."""
        if self.unit == "%":
            return f"{100 * value:.1f} %"
        parts = [*(side.total for side in self.sides), *(group.score for group in self.groups)]
        largest = max(map(abs, parts), default=1.0)
        return f"{value:+.{4 if largest < 0.1 else 3 if largest < 10 else 1}f}"

    def sum_of(self, side: Side) -> str:
        """How many anchors pull to a side, and how much."""
        if not side.n_anchors:
            return "no anchor"
        total = f", {self.number(side.total)} in all" if self.unit != "%" else ""
        return f"{counted(side.n_anchors, 'anchor')}{total}"

    def column_cells(self) -> list[tuple[str, ...]]:
        """Lines of the table of columns, as `COLUMNS_HEAD` says."""
        return [
            (
                column.name,
                column.value,
                column.normal,
                self.number(column.score),
                "" if column.share is None else f"{100 * column.share:.1f} %",
            )
            for column in self.columns
        ]


def as_text(reasons: Reasons, width: int = 80) -> str:
    """The reasons in lines of at most `width` letters.

    >>> side = Side("For it", 0.5, 1, [AnchorReason("training row 3", 0.5, 2, ["size"], 1)])
    >>> print(as_text(Reasons("Row 0: class a, score 0.4.", [], "", [side], intercept=-0.1)))
    Row 0: class a, score 0.4.
    <BLANKLINE>
    For it: 1 anchor, +0.500 in all; intercept -0.100
      +0.500  training row 3, in 2 groups by size
    """
    lines = [*textwrap.wrap(reasons.heading, width), *textwrap.wrap(reasons.note, width)]
    rest = "" if reasons.intercept is None else f"; intercept {reasons.number(reasons.intercept)}"
    for side in reasons.sides:
        lines += ["", *textwrap.wrap(f"{side.title}: {reasons.sum_of(side)}{rest}", width)]
        lines += _scored_lines(reasons, side.strongest, width)
        rest = ""
    if reasons.groups:
        lines += ["", *textwrap.wrap(GROUPS_TITLE, width), *_scored_lines(reasons, reasons.groups, width)]
    if reasons.columns:
        lines += ["", *textwrap.wrap(reasons.columns_title, width), *_column_lines(reasons, width)]
    return "\n".join(lines)


def _scored_lines(reasons: Reasons, scored: Sequence[AnchorReason | GroupReason], width: int) -> list[str]:
    """A line for each, or more where it is long: score and words."""
    room = max((len(reasons.number(one.score)) for one in scored), default=0)
    lines = []
    for one in scored:
        start = " " * _MARGIN + reasons.number(one.score).rjust(room) + "  "
        after = " " * (len(start) + _MARGIN)
        lines += textwrap.wrap(one.in_words(), width, initial_indent=start, subsequent_indent=after)
    return lines


def _column_lines(reasons: Reasons, width: int) -> list[str]:
    """A table with a line for each column; parts that no column has are left out."""
    cells = [
        COLUMNS_HEAD,
        *((name, *(_cut(value, _LONGEST_VALUE) for value in values)) for name, *values in reasons.column_cells()),
    ]
    shown = [place for place in range(1, len(COLUMNS_HEAD)) if any(line[place] for line in cells[1:])]
    rooms = [max(len(line[place]) for line in cells) for place in range(len(COLUMNS_HEAD))]
    rest = _MARGIN + sum(2 + rooms[place] for place in shown)
    rooms[0] = min(rooms[0], _LONGEST_NAME, max(width - rest, len(COLUMNS_HEAD[0])))
    lines = []
    for line in cells:
        parts = [_cut(line[0], rooms[0]).ljust(rooms[0]), *(line[place].rjust(rooms[place]) for place in shown)]
        lines.append((" " * _MARGIN + "  ".join(parts)).rstrip())
    return lines


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "\N{HORIZONTAL ELLIPSIS}"

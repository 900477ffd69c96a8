"""Tables of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._validation import check_choice


@dataclass(frozen=True)
class Column:
    """The head of a table's column.

    Parameters
    ----------
    label : str
        Its name.
    kind : {"text", "number"}, default="text"
        Numbers are aligned to the right and sorted by the cells' `value`, text is sorted by what it says.
    better : {"high", "low", None}, default=None
        Which end is the good one, where there is one.
    hint : str, default=""
        What the column means; it is printed below the table.

    Examples
    --------
    >>> from vicinal.report import Column
    >>> Column("time", "number", better="low", hint="to fit and to predict").better
    'low'
    >>> Column("time", "seconds")
    Traceback (most recent call last):
        ...
    ValueError: kind must be one of 'text', 'number'; got 'seconds'.
    """

    label: str
    kind: Literal["text", "number"] = "text"
    better: Literal["high", "low"] | None = None
    hint: str = ""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("text", "number"))
        check_choice("better", self.better, ("high", "low", None))


@dataclass(frozen=True)
class Cell:
    """One cell of a table; a dash alone is a missing value.

    Parameters
    ----------
    text : str
        What it says.
    value : float or None, default=None
        What it is sorted by, in a column of numbers.
    low, high : float or None, default=None
        An interval, drawn beside the number on the scale of its column.
    mark : {"best", "tie", ""}, default=""
        The best of its column, or not significantly worse than the best.
    detail : str, default=""
        Small print below the number.
    beside : str, default=""
        A second number, behind the first or, in narrow tables, below it.
    brief : str, default=""
        What narrow tables show in place of `detail`, a few letters to a line.

    Examples
    --------
    >>> from vicinal.report import Cell
    >>> cell = Cell("97.8 %", 0.978, low=0.971, high=0.985, mark="best", detail="paper 97.5 %")
    >>> cell.text, cell.value
    ('97.8 %', 0.978)
    """

    text: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    mark: Literal["best", "tie", ""] = ""
    detail: str = ""
    beside: str = ""
    brief: str = ""

    def __post_init__(self) -> None:
        check_choice("mark", self.mark, ("best", "tie", ""))


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by every column; the first column names the rows.

    Parameters
    ----------
    caption : str
        A heading above the table.
    columns : tuple of Column
        The heads.
    rows : tuple of tuples of Cell
        One cell for each column.

    Examples
    --------
    >>> from vicinal.report import Cell, Column, Table
    >>> table = Table(
    ...     "Accuracy of one split",
    ...     (Column("features"), Column("accuracy", "number", better="high")),
    ...     ((Cell("raw"), Cell("0.967", 0.967)), (Cell("RandLocal"), Cell("0.978", 0.978, mark="best"))),
    ... )
    >>> len(table.rows)
    2
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"Row {number} of the table {self.caption!r} has {len(row)} cells for {len(self.columns)} columns; "
                    "give one cell per column, a dash where there is nothing."
                )

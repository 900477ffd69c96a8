"""What a report shows: plain records that experiments fill and that `vicinal.report` turns into one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._validation import check_choice

Figures = tuple[float | None, ...]


@dataclass(frozen=True)
class Column:
    """The head of a table's column.

    Parameters
    ----------
    label : str
        Its name.
    kind : {"text", "number"}
        Numbers are set to the right and sorted by the cells' `value`, text by what it says.
    better : {"high", "low", None}
        Which end is the good one, where there is one.
    hint : str
        What the column means, said below the table.
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
    value : float or None
        What it is sorted by, in a column of numbers.
    low, high : float or None
        An interval, drawn beside the figure on the scale of its column.
    mark : {"best", "tie", ""}
        The best of its column, or not significantly worse than the best.
    detail : str
        Small print below the number.
    beside : str
        A second number, behind the first or, in narrow tables, below it.
    brief : str
        What narrow tables show in place of `detail`, a few letters a line.
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


@dataclass(frozen=True)
class Point:
    """One method of a `Scatter`, with an interval of y; highlighted ones stand out, groups have their own markers."""

    label: str
    x: float | None
    y: float | None
    low: float | None = None
    high: float | None = None
    highlight: bool = False
    group: str = ""


@dataclass(frozen=True)
class Scatter:
    """Quality against cost: higher y is better, lower x is better, and the points that nothing beats are joined.

    Parameters
    ----------
    title, x_label, y_label : str
        What is shown.
    points : tuple of Point
        Those without a figure, or without a positive x on a log axis, are named below instead of drawn.
    x_log : bool
        Whether x has a log axis.
    caption : str
        A sentence below.
    x_seconds : bool
        Whether x is in seconds, which are then written as milliseconds, minutes and hours.
    """

    title: str
    x_label: str
    y_label: str
    points: tuple[Point, ...]
    x_log: bool = True
    caption: str = ""
    x_seconds: bool = True


@dataclass(frozen=True)
class Series:
    """One line of `Lines`; `low` and `high`, where given, are as long as `x` and drawn as a band.

    `names`, where given, say what each point is beside the label. A guide is a dashed line without points, of what a
    theory says for example.
    """

    label: str
    x: Figures
    y: Figures
    low: Figures = ()
    high: Figures = ()
    highlight: bool = False
    names: tuple[str, ...] = ()
    guide: bool = False

    def __post_init__(self) -> None:
        for name, values in (("y", self.y), ("low", self.low), ("high", self.high), ("names", self.names)):
            if len(values) != len(self.x) and (name == "y" or len(values)):
                raise ValueError(
                    f"The series {self.label!r} has {len(self.x)} values of x but {len(values)} of {name}; "
                    "give as many, None where there is nothing."
                )


@dataclass(frozen=True)
class Lines:
    """Curves named at their ends, over linear or log axes, with dashed reference lines `(label, y)`.

    `x_seconds` writes x as milliseconds, minutes and hours.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    x_log: bool = False
    caption: str = ""
    reference: tuple[tuple[str, float], ...] = ()
    y_log: bool = False
    x_seconds: bool = False


@dataclass(frozen=True)
class DotRow:
    """One row of `Dots`: our figure with its interval, and the figure that the paper gives."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    highlight: bool = False


@dataclass(frozen=True)
class Dots:
    """A dot plot, one row below the other; figures of the paper are open diamonds."""

    title: str
    x_label: str
    rows: tuple[DotRow, ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class FeatureImage:
    """A matrix of features as a picture, its rows sorted by class. `feature_image` makes one from data.

    Parameters
    ----------
    title : str
        What is shown.
    pixels : ndarray of uint8, rows x columns
        0 is absent, 255 the strongest.
    boundaries : tuple of (label, first row, last row + 1)
        The classes' bands.
    sparsity : float
        The sparsity ratio: the share of the whole matrix' entries that are not zero.
    caption : str
        A sentence below.
    """

    title: str
    pixels: NDArray[np.uint8]
    boundaries: tuple[tuple[str, int, int], ...]
    sparsity: float
    caption: str = ""

    def __post_init__(self) -> None:
        if self.pixels.ndim != 2 or self.pixels.dtype != np.uint8:
            raise ValueError(
                f"pixels must be a matrix of uint8; got {self.pixels.ndim} dimension(s) of {self.pixels.dtype}. "
                "feature_image makes one from any features."
            )


@dataclass(frozen=True, eq=False)
class FeatureImages:
    """What several methods make of the same rows, side by side."""

    title: str
    images: tuple[FeatureImage, ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class VoronoiPanel:
    """Anchors and rows in the plane; `class_names[c]` is the name of class c."""

    title: str
    anchors: ArrayLike
    points: ArrayLike
    classes: ArrayLike
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("anchors", "points"):
            shape = np.shape(getattr(self, name))
            if len(shape) != 2 or shape[1] != 2:
                raise ValueError(f"{name} must have two columns, for a picture of the plane; got the shape {shape}.")
        classes = np.asarray(self.classes)
        if len(classes) != len(np.asarray(self.points)):
            raise ValueError(
                f"There are {len(np.asarray(self.points))} points but {len(classes)} classes; give as many."
            )
        if len(classes) and not 0 <= classes.min() <= classes.max() < len(self.class_names):
            raise ValueError(
                f"classes must be whole numbers from 0 to {len(self.class_names) - 1}, one per name; "
                f"got {classes.min()} to {classes.max()}."
            )


@dataclass(frozen=True, eq=False)
class Voronoi:
    """The cells that anchors cut the plane into, one panel per number of anchors. `voronoi_cells` makes one."""

    title: str
    panels: tuple[VoronoiPanel, ...]
    caption: str = ""


Block = Table | Scatter | Lines | Dots | FeatureImage | FeatureImages | Voronoi


@dataclass(frozen=True)
class Section:
    """A heading, a sentence or two, and what there is to see."""

    title: str
    text: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title, subtitle : str
        What was looked at.
    verdict : tuple of str
        What came out: the first sentence is the headline, the others follow it.
    warning : str or None
        What a reader must know before believing any of it, as a banner.
    sections : tuple of Section
        The evidence; sections without text and blocks are left out.
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Versions, machine, date, protocol.
    notes : tuple of str
        Small print.

    Examples
    --------
    >>> from vicinal.report import Page, Section, render
    >>> page = Page("digits", verdict=("RandLocal wins.",), sections=(Section("Why", "It is local."),))
    >>> "RandLocal wins." in render(page)
    True
    """

    title: str
    subtitle: str = ""
    verdict: tuple[str, ...] = ()
    warning: str | None = None
    sections: tuple[Section, ...] = ()
    command: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

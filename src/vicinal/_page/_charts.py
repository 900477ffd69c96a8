"""Charts of a page: quality against cost, curves, and dots."""

from __future__ import annotations

from dataclasses import dataclass

Values = tuple[float | None, ...]


@dataclass(frozen=True)
class Point:
    """One method of a `Scatter`.

    Parameters
    ----------
    label : str
        Its name, written beside the point.
    x, y : float or None
        Cost and quality; None where there is no value.
    low, high : float or None, default=None
        An interval of y.
    highlight : bool, default=False
        Whether the point stands out from the others.
    group : str, default=""
        Points of a group share a marker, which the key explains.

    Examples
    --------
    >>> from vicinal.report import Point
    >>> Point("RandLocal", x=0.42, y=0.978, low=0.971, high=0.985, highlight=True).label
    'RandLocal'
    """

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
        Those without a value, or without a positive x on a log axis, are named below instead of drawn.
    x_log : bool, default=True
        Whether x has a log axis.
    caption : str, default=""
        A sentence below.
    x_seconds : bool, default=True
        Whether x is in seconds, which are then written as milliseconds, minutes and hours.

    Examples
    --------
    >>> from vicinal.report import Page, Point, Scatter, Section, render
    >>> points = (Point("raw features", 0.01, 0.95), Point("RandLocal", 0.4, 0.98, highlight=True))
    >>> chart = Scatter("Accuracy against time", "time", "accuracy", points)
    >>> "RandLocal: accuracy 0.98, time 400 ms" in render(Page("digits", sections=(Section("Cost", blocks=(chart,)),)))
    True
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
    """One line of `Lines`.

    Parameters
    ----------
    label : str
        Its name, written at its end.
    x, y : tuple of float or None
        The points; None where there is no value.
    low, high : tuple of float or None, default=()
        Limits of y, as many as there are points, drawn as a band.
    highlight : bool, default=False
        Whether the line stands out from the others.
    names : tuple of str, default=()
        What each point is, beside the label.
    guide : bool, default=False
        Whether it is a dashed line without points: of what a theory says, for example.

    Examples
    --------
    >>> from vicinal.report import Series
    >>> Series("RandLocal", x=(50, 100, 200), y=(0.95, 0.97, None)).y
    (0.95, 0.97, None)
    >>> Series("RandLocal", x=(50, 100, 200), y=(0.95, 0.97))
    Traceback (most recent call last):
        ...
    ValueError: The series 'RandLocal' has 3 values of x but 2 of y; give as many, None where there is nothing.
    """

    label: str
    x: Values
    y: Values
    low: Values = ()
    high: Values = ()
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
    """Curves named at their ends, over linear or log axes.

    Parameters
    ----------
    title, x_label, y_label : str
        What is shown.
    series : tuple of Series
        The curves.
    x_log, y_log : bool, default=False
        Whether an axis is a log axis.
    caption : str, default=""
        A sentence below.
    reference : tuple of (label, y), default=()
        Dashed lines across.
    x_seconds : bool, default=False
        Whether x is in seconds, which are then written as milliseconds, minutes and hours.

    Examples
    --------
    >>> from vicinal.report import Lines, Series
    >>> curve = Series("RandLocal", x=(50, 100, 200), y=(0.95, 0.97, 0.98), highlight=True)
    >>> chart = Lines("Digits", "groups", "accuracy", (curve,), x_log=True, reference=(("raw features", 0.95),))
    >>> len(chart.series), chart.reference
    (1, (('raw features', 0.95),))
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
    """One row of `Dots`: our value with its interval, and the value that the paper reports.

    Parameters
    ----------
    label : str
        Its name.
    value : float or None
        What was measured; None where there is no value.
    low, high : float or None, default=None
        Its interval.
    paper : float or None, default=None
        The paper's value.
    highlight : bool, default=False
        Whether the row stands out from the others.

    Examples
    --------
    >>> from vicinal.report import DotRow
    >>> row = DotRow("RandLocal", 0.978, low=0.971, high=0.985, paper=0.975, highlight=True)
    >>> row.value > row.paper
    True
    """

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    highlight: bool = False


@dataclass(frozen=True)
class Dots:
    """A dot plot, one row below the other; the paper's values are open diamonds.

    Parameters
    ----------
    title, x_label : str
        What is shown.
    rows : tuple of DotRow
        Those without any value are named below instead of drawn.
    caption : str, default=""
        A sentence below.

    Examples
    --------
    >>> from vicinal.report import DotRow, Dots
    >>> rows = (DotRow("raw features", 0.951), DotRow("RandLocal", 0.978, paper=0.975, highlight=True))
    >>> [row.label for row in Dots("Digits", "accuracy", rows).rows]
    ['raw features', 'RandLocal']
    """

    title: str
    x_label: str
    rows: tuple[DotRow, ...]
    caption: str = ""

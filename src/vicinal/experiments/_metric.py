"""What is measured: metrics with their words, and the measures of a task that are made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .._words import human_seconds

BEST_OF_GRID = "best_"


@dataclass(frozen=True)
class Metric:
    """A metric: its name in files and in sentences, which end is the good one, and how its values are written.

    Parameters
    ----------
    name : str
        As TOML and CSV files have it.
    label : str
        As sentences have it.
    better : {"high", "low", None}
        None where neither end is the good one.
    kind : {"score", "error", "count", "seconds"}
        Scores have four decimals, errors three digits, counts two decimals.
    low, high : float
        The ends of its range; intervals end there, too.

    Examples
    --------
    >>> from vicinal.experiments import Metric
    >>> Metric("rms_error", "root mean square error", better="low", kind="error").show(0.0123456)
    '0.0123'
    """

    name: str
    label: str
    better: Literal["high", "low"] | None = "high"
    kind: Literal["score", "error", "count", "seconds"] = "score"
    low: float = 0.0
    high: float = 1.0

    def show(self, value: float) -> str:
        if self.kind == "seconds":
            return human_seconds(value)
        return f"{value:{ {'score': '.4f', 'count': ',.2f'}.get(self.kind, '.3g') }}"

    def show_change(self, value: float) -> str:
        """A difference of values, with its sign."""
        return f"{value:{'+,.2f' if self.kind == 'count' else '+.4f'}}"

    @property
    def sign(self) -> int:
        return -1 if self.better == "low" else 1

    @property
    def precision(self) -> str:
        """How values are written to files: errors may be small."""
        return ".6f" if self.kind == "score" else ".6g"


FEATURE_SECONDS = Metric("feature_seconds", "time for features", "low", "seconds", high=float("inf"))
MODEL_SECONDS = Metric("model_seconds", "time for the linear SVM", "low", "seconds", high=float("inf"))
COSTS = (FEATURE_SECONDS, MODEL_SECONDS)


@dataclass(frozen=True)
class KMeansProtocol:
    """How k-means is run on columns, where an experiment runs it in several ways.

    Parameters
    ----------
    unit_rows : bool
        Whether rows are scaled to unit length first.
    starts : int
        Starts of each run, of which the best by its own criterion counts.

    Examples
    --------
    >>> from vicinal.experiments import KMeansProtocol
    >>> protocol = KMeansProtocol(unit_rows=True, starts=5)
    >>> str(protocol), protocol.label
    ('unit-5', 'rows of unit length, best of 5 starts')
    """

    unit_rows: bool
    starts: int

    def __str__(self) -> str:
        return f"{'unit' if self.unit_rows else 'raw'}-{self.starts}"

    @property
    def label(self) -> str:
        rows = "rows of unit length" if self.unit_rows else "rows as they are"
        return f"{rows}, {'one start' if self.starts == 1 else f'best of {self.starts} starts'}"


@dataclass(frozen=True)
class Measure:
    """A metric, at a place that the task gives a meaning (a number of columns, a neighbour).

    Parameters
    ----------
    metric : Metric
        What is measured.
    at : int, float or str, default=None
        The place; None where the task has none.
    best_of_grid : bool, default=False
        Whether it is the value of the best parameters of a grid, which only labels show.
    protocol : KMeansProtocol, default=None
        How k-means was run; None where an experiment runs it in one way, or not at all.

    Examples
    --------
    >>> from vicinal.experiments import KMeansProtocol, Measure, Metric
    >>> nmi = Metric("nmi", "NMI")
    >>> str(Measure(nmi)), str(Measure(nmi, at=100)), str(Measure(nmi, at=100, best_of_grid=True))
    ('nmi', 'nmi@100', 'best_nmi@100')
    >>> str(Measure(nmi, at=100, protocol=KMeansProtocol(unit_rows=False, starts=1)))
    'nmi@100/raw-1'
    """

    metric: Metric
    at: int | float | str | None = None
    best_of_grid: bool = False
    protocol: KMeansProtocol | None = None

    def __str__(self) -> str:
        place = "" if self.at is None else f"@{self.at}"
        protocol = "" if self.protocol is None else f"/{self.protocol}"
        return f"{BEST_OF_GRID * self.best_of_grid}{self.metric.name}{place}{protocol}"


def read_measure(text: str, metrics: Iterable[Metric]) -> Measure:
    """The measure that `str` writes so."""
    for metric in metrics:
        place, protocol_form = r"(?:@(\w+|0\.\d+))?", r"(?:/(raw|unit)-([1-9]\d*))?"
        match = re.fullmatch(rf"({BEST_OF_GRID})?{re.escape(metric.name)}{place}{protocol_form}", text)
        if match:
            best, at, rows, starts = match.groups()
            protocol = KMeansProtocol(rows == "unit", int(starts)) if rows else None
            return Measure(metric, _place(at), bool(best), protocol)
    raise ValueError(f"There is no metric {text!r} here; there are {', '.join(metric.name for metric in metrics)}.")


def _place(written: str | None) -> int | float | str | None:
    if written is None or written[0].isalpha():
        return written
    return float(written) if "." in written else int(written)

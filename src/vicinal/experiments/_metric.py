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
    kind : {"score", "error", "seconds"}
        Scores have four decimals, errors three digits.
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
    kind: Literal["score", "error", "seconds"] = "score"
    low: float = 0.0
    high: float = 1.0

    def show(self, value: float) -> str:
        if self.kind == "seconds":
            return human_seconds(value)
        return f"{value:.4f}" if self.kind == "score" else f"{value:.3g}"

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
class Measure:
    """A metric, at a place that the task gives a meaning (a number of columns, a neighbour).

    Parameters
    ----------
    metric : Metric
        What is measured.
    at : int or str, default=None
        The place; None where the task has none.
    best_of_grid : bool, default=False
        Whether it is the value of the best parameters of a grid, which only labels show.

    Examples
    --------
    >>> from vicinal.experiments import Measure, Metric
    >>> nmi = Metric("nmi", "NMI")
    >>> str(Measure(nmi)), str(Measure(nmi, at=100)), str(Measure(nmi, at=100, best_of_grid=True))
    ('nmi', 'nmi@100', 'best_nmi@100')
    """

    metric: Metric
    at: int | str | None = None
    best_of_grid: bool = False

    def __str__(self) -> str:
        place = "" if self.at is None else f"@{self.at}"
        return f"{BEST_OF_GRID * self.best_of_grid}{self.metric.name}{place}"


def read_measure(text: str, metrics: Iterable[Metric]) -> Measure:
    """The measure that `str` writes so."""
    for metric in metrics:
        match = re.fullmatch(rf"({BEST_OF_GRID})?{re.escape(metric.name)}(?:@(\w+))?", text)
        if match:
            at = match[2]
            return Measure(metric, int(at) if at and at.isdigit() else at, best_of_grid=bool(match[1]))
    raise ValueError(f"There is no metric {text!r} here; there are {', '.join(metric.name for metric in metrics)}.")

"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

State = TypeVar("State")
Matrix = Any  # an ndarray of two dimensions or a CSR matrix


def without_rounding(objective: list[float]) -> list[float]:
    """The same history, where rises that rounding explains are levelled; others are left to be seen."""
    lowest = np.minimum.accumulate(objective)
    rises = np.asarray(objective) > lowest + 1e-10 * np.abs(lowest)
    return np.where(rises, objective, lowest).tolist()


@dataclass
class Solved(Generic[State]):
    """A solver's answer. Solvers never warn: whoever calls one looks at `converged`.

    Attributes
    ----------
    solution : object
        The best that was found.
    objective : list of float
        Values of what is minimised, one per iteration and the last one that of the solution; it never rises.
    n_iter : int
    converged : bool
        False where the iterations ended before the tolerance was met.
    """

    solution: State
    objective: list[float]
    n_iter: int
    converged: bool

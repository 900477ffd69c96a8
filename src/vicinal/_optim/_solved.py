"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

State = TypeVar("State")
Matrix = Any  # an ndarray of two dimensions or a CSR matrix


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

"""How strong a penalty keeps as many features as are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

State = TypeVar("State")


@dataclass
class FoundPenalty(Generic[State]):
    """The penalty, the solution there, how many features it keeps, and how many penalties were tried."""

    penalty: float
    state: State
    kept: int
    n_tried: int


def find_penalty(
    solve: Callable[[float, State], tuple[int, State]],
    wanted: int,
    start: State,
    *,
    penalty: float,
    factor: float = 4.0,
    max_tries: int = 30,
) -> FoundPenalty[State]:
    """Bisects the logarithm of the penalty until `wanted` features are kept, or no penalty between two comes nearer.

    Parameters
    ----------
    solve : callable
        ``solve(penalty, state)`` returns how many features are kept, and the solution. It is started from the solution
        of the penalty tried before.
    wanted : int
    start : object
        What the first one is started from.
    penalty : float
        Where to begin.
    factor : float
        By which the penalty grows or shrinks until the wanted number lies between two.
    max_tries : int
        Then the nearest that was found counts.
    """
    fewer = more = None
    best: FoundPenalty[State] | None = None
    state = start
    for tried in range(1, max_tries + 1):
        kept, state = solve(penalty, state)
        if best is None or abs(kept - wanted) < abs(best.kept - wanted):
            best = FoundPenalty(penalty, state, kept, tried)
        if kept == wanted:
            break
        if kept < wanted:
            fewer = penalty
        else:
            more = penalty
        if fewer is not None and more is not None and fewer / more < 1 + 1e-5:
            break
        if fewer is None:
            penalty *= factor
        elif more is None:
            penalty /= factor
        else:
            penalty = float(np.sqrt(fewer * more))
    assert best is not None
    best.n_tried = tried
    return best

"""How strong a penalty keeps as many features as are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._solved import Solved, State


@dataclass
class FoundPenalty(Solved[State]):
    """What `find_penalty` returns: the solution at the penalty, and how far the number kept is from the wanted one.

    Attributes
    ----------
    penalty : float
    kept : int
        How many features the solution keeps.
    """

    penalty: float
    kept: int


def find_penalty(
    solve: Callable[[float, State], tuple[int, State]],
    wanted: int,
    start: State,
    *,
    penalty: float,
    factor: float = 4.0,
    lowest: float = 0.0,
    max_tries: int = 30,
    tolerance: int = 0,
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
    lowest : float
        No penalty below it is tried: if it keeps too few, the search has not converged.
    max_tries : int
        Then the nearest that was found counts, and the search has not converged.
    tolerance : int
        By how much the number may differ from the wanted one.
    """
    fewer = more = None
    best: tuple[float, int, State] | None = None
    away: list[float] = []
    state, found = start, False
    while not found and len(away) < max_tries:
        kept, state = solve(penalty, state)
        if best is None or abs(kept - wanted) < abs(best[1] - wanted):
            best = penalty, kept, state
        away.append(float(abs(best[1] - wanted)))
        if kept <= wanted:
            fewer = penalty
        if kept >= wanted:
            more = penalty
        found = abs(kept - wanted) <= tolerance or (fewer is not None and more is not None and fewer / more < 1 + 1e-5)
        if fewer is None:
            penalty *= factor
        elif more is None:
            if penalty <= lowest:
                break
            penalty = max(penalty / factor, lowest)
        else:
            penalty = float(np.sqrt(fewer * more))
    assert best is not None
    return FoundPenalty(best[2], away, len(away), found, best[0], best[1])

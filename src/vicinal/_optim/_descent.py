"""Steps downhill until one gains little, and reweighting: such steps for objectives with the l2,1 norm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ._solved import Solved, State

Vector = NDArray[np.float64]


def descend(
    step: Callable[[State], State],
    value: Callable[[State], float],
    start: State,
    *,
    max_iter: int,
    tol: float,
    start_counts: bool = True,
) -> Solved[State]:
    """Repeats a step until the objective falls by no more than a share `tol` of it.

    Parameters
    ----------
    step : callable
        ``step(state)`` returns the next state, which is not worse but for rounding.
    value : callable
        ``value(state)``, the objective, of the states that steps return.
    start : object
    max_iter : int
    tol : float
    start_counts : bool
        Whether the start is a state that can be returned, with which the first one is compared.

    Returns
    -------
    Solved
        With one value of the objective per step. A step that goes uphill is taken back, and is the last one; so is one
        whose value is not finite, but then `converged` is False.
    """
    best = start
    lowest = value(start) if start_counts else np.inf
    objective: list[float] = []
    for n_iter in range(1, max_iter + 1):
        candidate = step(best)
        reached = value(candidate)
        if not np.isfinite(reached):
            return Solved(best if np.isfinite(lowest) else candidate, objective, n_iter, False)
        fall = lowest - reached
        if fall >= 0:  # else it is rounding
            best, lowest = candidate, reached
        objective.append(lowest)
        if fall <= tol * abs(lowest):
            return Solved(best, objective, n_iter, True)
    return Solved(best, objective, max_iter, False)


def descend_by_reweighting(
    step: Callable[[State, Vector], State],
    value: Callable[[State], float],
    start: State,
    spread: Vector,
    *,
    coefficients: Callable[[State], NDArray[np.float64]] = lambda state: np.asarray(state),
    smoothing: float = 0.0,
    max_iter: int,
    tol: float,
) -> Solved[State]:
    """Minimises an objective with a multiple of ``||W||_{2,1} = sum_i ||w_i||`` in it (thesis, Algorithm 5).

    Each length ``||w_i||`` is replaced by a parabola above it, ``||w_i||^2 / spread_i + spread_i / 4``, that touches it
    where ``spread_i = 2 ||w_i||``, that is at the last W. A step that lowers the sum of parabolas lowers the objective.

    Parameters
    ----------
    step : callable
        ``step(state, spread)`` returns a state that is not worse, with ``sum_i ||w_i||^2 / spread_i`` in place of the
        norm. A spread may be 0, by which a row of W is 0.
    value : callable
        ``value(state)``, the objective itself, smoothed lengths included.
    start : object
        What the first step is given; it need not belong to `spread`.
    spread : ndarray
        Of the first step.
    coefficients : callable
        ``coefficients(state)``, W; by default the state is W.
    smoothing : float
        ``sqrt(||w_i||^2 + smoothing^2)`` stands for ``||w_i||``.
    max_iter, tol
        See `descend`.
    """

    def reweighted(state: State) -> State:
        nonlocal spread
        found = step(state, spread)
        spread = 2 * np.hypot(row_lengths(coefficients(found)), smoothing)
        return found

    return descend(reweighted, value, start, max_iter=max_iter, tol=tol, start_counts=False)


def row_lengths(W: NDArray[np.float64]) -> Vector:
    """The sum of these is the l2,1 norm."""
    return np.linalg.norm(W, axis=1)

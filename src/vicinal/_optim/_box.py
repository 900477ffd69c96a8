"""Smooth functions over a box: projected L-BFGS."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._solved import Solved

Vector = NDArray[np.float64]
Bound = float | Vector
Function = Callable[[Vector], tuple[float, Vector]]

SUFFICIENT = 1e-4  # c_1 of the Armijo rule
BACKTRACKS = 40


@dataclass
class BoxMinimum(Solved[Vector]):
    """What `minimize_in_box` returns; its objective begins with the value at the start.

    Attributes
    ----------
    gradient : ndarray
    gap : float
        The most that a linear model of the function falls within the box; of a convex function, how far the minimum can
        lie below at most.
    n_evaluations : int
    """

    gradient: Vector
    gap: float
    n_evaluations: int


def minimize_in_box(
    function: Function,
    start: Vector,
    lower: Bound = 0.0,
    upper: Bound = 1.0,
    *,
    tol: float = 1e-4,
    max_iter: int = 500,
    memory: int = 10,
    callback: Callable[[float], object] | None = None,
) -> BoxMinimum:
    """Minimises a smooth function of many variables between `lower` and `upper` (thesis, section 2.4.2, Algorithm 1).

    Variables at a bound that the gradient pushes against are restricted: they are set there (2.10, 2.17). The others
    take the step of L-BFGS on their own part of the last `memory` changes, projected to the box (2.15), backtracked
    until f(x_new) <= f(x) + c_1 g'(x_new - x). That is the Armijo rule; (2.14) prints it the other way round.

    Parameters
    ----------
    function : callable
        ``function(x)`` returns the value and the gradient.
    start : ndarray
    lower, upper : float or ndarray
        Infinite for variables without a bound; these should be scaled such that the curvature is about 1.
    tol : float
        Ends when `BoxMinimum.gap` is at most this share of the objective; where variables have no bound it never is,
        unless the gradient is zero.
    max_iter : int
    memory : int
    callback : callable
        Called with the gap as a share of the objective after every iteration.
    """
    x = np.clip(start, lower, upper)
    value, gradient = function(x)
    objective, n_evaluations = [value], 1
    changes: deque[tuple[Vector, Vector]] = deque(maxlen=memory)
    gap = box_gap(x, gradient, lower, upper)
    n_iter = 0
    negligible = 1e-9 * abs(value)  # where the minimum is zero, no share of it is ever reached
    while gap > tol * max(abs(value), negligible) and n_iter < max_iter:
        margin = min(1e-6, float(np.abs(x - np.clip(x - gradient, lower, upper)).max()))
        low = (x <= lower + margin) & (gradient > 0)
        high = (x >= upper - margin) & (gradient < 0)
        free = ~(low | high)
        step_of_free, curved = _two_loops(gradient, free, changes)
        direction = np.where(low, lower - x, np.where(high, upper - x, step_of_free))
        if direction @ gradient >= 0:
            changes.clear()
            curved = False
            direction[free] = -gradient[free]
        step = 1.0 if curved else _first_step(direction, np.min(np.subtract(upper, lower)))
        for _ in range(BACKTRACKS):
            candidate = np.clip(x + step * direction, lower, upper)
            expected = float(gradient @ (candidate - x))
            reached, slope = function(candidate)
            n_evaluations += 1
            if reached <= value + SUFFICIENT * expected:
                break
            step *= _shrink(value, reached, expected)
        else:
            if not changes:
                break  # rounding hides what is left to gain
            changes.clear()
            continue
        changes.append((candidate - x, slope - gradient))
        x, value, gradient = candidate, reached, slope
        objective.append(value)
        gap = box_gap(x, gradient, lower, upper)
        n_iter += 1
        if callback is not None:
            callback(gap / max(abs(value), 1e-300))
    converged = gap <= tol * max(abs(value), negligible)
    return BoxMinimum(x, objective, n_iter, converged, gradient, gap, n_evaluations)


def box_gap(x: Vector, gradient: Vector, lower: Bound, upper: Bound) -> float:
    """max over v in the box of gradient'(x - v): zero at stationary points only."""
    farthest = np.where(gradient > 0, x - lower, x - upper)
    return float(np.where(gradient == 0, 0.0, gradient * np.where(gradient == 0, 1.0, farthest)).sum())


def _two_loops(gradient: Vector, free: NDArray[np.bool_], changes: deque[tuple[Vector, Vector]]) -> tuple[Vector, bool]:
    """Minus the inverse Hessian of the free variables, as L-BFGS sees it, times their gradient; 0 for the others.

    Also, whether any change tells of curvature.
    """
    kept = free.astype(np.float64)  # products with it are cheaper than parts of all changes
    products = [(s, y, float(np.einsum("i,i,i", s, y, kept))) for s, y in changes]
    pairs = [(s, y, sy) for s, y, sy in products if sy > 1e-12 * np.sqrt((s @ s) * (y @ y))]
    direction = -gradient * kept
    alphas = []
    for s, y, sy in reversed(pairs):
        alphas.append((s @ direction) / sy)
        direction -= alphas[-1] * y
        direction *= kept
    if pairs:
        s, y, sy = pairs[-1]
        direction *= sy / np.einsum("i,i,i", y, y, kept)
    for (s, y, sy), alpha in zip(pairs, reversed(alphas), strict=True):
        direction += (alpha - (y @ direction) / sy) * s
        direction *= kept
    return direction, bool(pairs)


def _first_step(direction: Vector, width: float) -> float:
    """Without curvature known: no variable moves by more than a tenth of the box, if that ends somewhere."""
    return 0.1 * width / max(float(np.abs(direction).max()), 1e-300) if np.isfinite(width) else 1.0


def _shrink(value: float, reached: float, expected: float) -> float:
    """Where a parabola through what is known has its minimum, within sensible bounds."""
    if not np.isfinite(reached):
        return 0.1
    return float(np.clip(-expected / (2 * (reached - value - expected)), 0.1, 0.5))

"""Smooth functions of variables of which some may not be negative: some steps of projected L-BFGS."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from ._box import Function, Vector, _shrink, _two_loops

SUFFICIENT = 1e-4  # c_1 of the Armijo rule
BACKTRACKS = 30
SMALL = 1e-3  # of the whole gain: a step that is the last


def descend_above_zero(
    function: Function, start: Vector, bounded: NDArray[np.bool_], *, n_steps: int, memory: int
) -> tuple[Vector, float]:
    """At most `n_steps` steps downhill from `start`, with x >= 0 where `bounded`; the place and its value.

    Ends early where no step gains anything, or one gains a small share of what all have gained. `start` obeys the
    bounds, and should be scaled so that the curvature is about 1 everywhere: the first step is the plain gradient.
    """
    x = start
    value, gradient = function(x)
    before = value
    changes: deque[tuple[Vector, Vector]] = deque(maxlen=memory)
    for _ in range(n_steps):
        free = ~(bounded & (x <= 0) & (gradient > 0))
        direction = np.zeros_like(x)
        direction[free] = _two_loops(gradient[free], free, changes)
        if direction @ gradient >= 0:
            changes.clear()
            direction = np.where(free, -gradient, 0.0)
        step = 1.0
        for _ in range(BACKTRACKS):
            candidate = x + step * direction
            candidate[bounded] = np.maximum(candidate[bounded], 0.0)
            expected = float(gradient @ (candidate - x))
            reached, slope = function(candidate)
            if reached <= value + SUFFICIENT * min(expected, 0.0):
                break
            step *= _shrink(value, reached, expected)
        else:
            if not changes:
                break
            changes.clear()
            continue
        changes.append((candidate - x, slope - gradient))
        small = value - reached <= SMALL * (before - reached)
        x, value, gradient = candidate, reached, slope
        if small:
            break
    return x, value

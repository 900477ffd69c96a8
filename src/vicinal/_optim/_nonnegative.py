"""Multiplicative updates for non-negative matrices, never uphill."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

TINY = 1e-300
HALVINGS = 40
FLOOR = 1e-12


def multiplicative_step(
    F: NDArray[np.float64],
    rising: NDArray[np.float64],
    falling: NDArray[np.float64],
    objective: Callable[[NDArray[np.float64]], float],
    value: float,
) -> tuple[NDArray[np.float64], float]:
    """F times (falling / rising)^t, and the objective there; t is 1, or halved until that is not above `value`.

    `rising` and `falling` are non-negative and the objective's gradient at F is ``rising - falling``: entries that the
    gradient calls too small grow, the others shrink, and none changes its sign. The direction goes downhill, so that
    some t will do; where rounding hides that, F is returned as it is. Entries other than 0 stop at 1e-12 of the largest
    one: where `falling` shrinks with F they would soon be 0, and could never grow again.
    """
    lowest = np.minimum(F, FLOOR * F.max(initial=0.0))
    logarithm = np.log(np.maximum(falling, TINY)) - np.log(np.maximum(rising, TINY))
    exponent = 1.0
    for _ in range(HALVINGS):
        candidate = np.maximum(F * np.exp(exponent * np.minimum(logarithm, 50.0)), lowest)
        reached = objective(candidate)
        if reached <= value:
            return candidate, reached
        exponent /= 2
    return F, value


def orthogonal_parts(
    F: NDArray[np.float64], product: NDArray[np.float64], orthogonality: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The gradient of Tr(F' P F) + orthogonality / 2 ||F' F - I||^2 as (rising, falling), where product is P F."""
    negative = np.maximum(-product, 0.0)
    rising = 2 * (product + negative) + 2 * orthogonality * (F @ (F.T @ F))
    return rising, 2 * negative + 2 * orthogonality * F

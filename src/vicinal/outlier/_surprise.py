"""Scores of any kind on one scale: how many training rows have a higher one, in powers of ten."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BODY = 0.99  # up to here the rows themselves are counted, beyond it their tail is continued
TAIL = 0.9  # from here on the tail is taken to fall exponentially
N_LEVELS = 1000


def score_levels(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of the training rows' scores, from the lowest to the highest: all that `surprise` needs.

    They rise from one to the next, if only by a trifle: a score that many rows share is as strange as the least strange
    of them, and one that only rounding tells from it is no stranger.
    """
    levels = np.quantile(scores, np.linspace(0, 1, N_LEVELS + 1))
    return levels + 1e-6 * _width(levels[0], levels[-1]) * np.linspace(0, 1, N_LEVELS + 1)


def surprise(scores: NDArray[np.float64], levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for a score that one training row in ten exceeds, 2 for one in a hundred.

    Beyond that an exponential tail goes on, which has no end: scores that no training row reached keep their order.
    """
    shares = np.linspace(0, 1, len(levels))
    begin, end = np.interp((TAIL, BODY), shares, levels)
    body = -np.log10(1 - np.minimum(np.interp(scores, levels, shares), BODY))
    decades = np.log10((1 - TAIL) / (1 - BODY))
    tail = -np.log10(1 - BODY) + decades * (scores - end) / _width(begin, end)
    return np.where(scores > end, tail, body)


def _width(begin: float, end: float) -> float:
    """From one score to another; where they are nearly equal, no less than a millionth of them."""
    return max(end - begin, 1e-6 * max(abs(begin), abs(end)), 1e-9)

"""Stochastic steps over triplets of rows, with lazy shrinking and lazy averages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native

LOSSES = ("identity", "logistic", "hinge", "huber")  # in the order of the compiled part


class TripletDescent:
    """Weights w of columns that step down the mean loss of triplets and penalty / 2 ||w||^2, for several penalties.

    Step t with the triplet (i, j, k) has the margin s = w . (x_i * (x_j - x_k)) and changes w to
    (1 - 1/t) w - loss'(s) / (penalty t) x_i * (x_j - x_k), which is Pegasos; without a penalty to
    w - first_step loss'(s) / sqrt(t) x_i * (x_j - x_k). A step costs the non-zeros of three rows.

    Parameters
    ----------
    n_columns : int
    loss : {"identity", "logistic", "hinge"}
        -s, log(1 + exp(-s)) or max(0, 1 - s).
    penalties : sequence of float
        All take their steps with the same triplets.
    first_step : float
        Where there is no penalty.
    """

    def __init__(self, n_columns: int, loss: str, penalties: Sequence[float], first_step: float = 1.0):
        self.loss, self.first_step = loss, float(first_step)
        self.penalties = np.array(penalties, dtype=np.float64)
        self.directions = np.zeros((len(self.penalties), n_columns))
        self.corrections = np.zeros_like(self.directions)
        self.state = np.tile([1.0, 0.0, 0.0], (len(self.penalties), 1))  # scale, sum of scales, steps

    @property
    def n_steps(self) -> int:
        return int(self.state[0, 2])

    def step(self, rows: tuple[Any, ...], triplets: NDArray[np.int32]) -> None:
        """One step for each triplet, in their order."""
        _native.triplet_steps(
            rows,
            triplets,
            LOSSES.index(self.loss),
            self.directions,
            self.corrections,
            self.state,
            self.penalties,
            first_step=self.first_step,
        )

    def last(self) -> NDArray[np.float64]:
        """The weights, one row for each penalty."""
        return self.state[:, :1] * self.directions

    def average(self) -> NDArray[np.float64]:
        """The means of all iterates; with a penalty, whose first steps are very long, step t counts t times."""
        passed, steps = self.state[:, 1:2], self.state[:, 2:]
        counted = np.where(self.penalties[:, None] > 0, steps * (steps + 1) / 2, steps)
        return (passed * self.directions - self.corrections) / np.maximum(counted, 1)

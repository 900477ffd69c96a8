"""Stochastic steps over triplets of rows, with lazy shrinking and lazy averages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native

LOSSES = ("identity", "logistic", "hinge")


@dataclass
class TripletDescent:
    """Weights w of columns, and the steps that they have taken down the mean loss of triplets.

    Step t with the triplet (i, j, k) has the margin s = w . (x_i * (x_j - x_k)) and changes w to
    (1 - 1/t) w - loss'(s) / (penalty t) x_i * (x_j - x_k), which is Pegasos; without a penalty to
    w - first_step loss'(s) / sqrt(t) x_i * (x_j - x_k). A step costs the non-zeros of three rows.

    Parameters
    ----------
    n_columns : int
    loss : {"identity", "logistic", "hinge"}
        -s, log(1 + exp(-s)) or max(0, 1 - s).
    penalty : float
        lambda of lambda / 2 ||w||^2.
    first_step : float
        Where there is no penalty.
    """

    n_columns: int
    loss: str
    penalty: float = 0.0
    first_step: float = 1.0
    direction: NDArray[np.float64] = field(init=False)
    correction: NDArray[np.float64] = field(init=False)
    state: tuple[float, float, int] = (1.0, 0.0, 0)

    def __post_init__(self) -> None:
        self.direction, self.correction = np.zeros(self.n_columns), np.zeros(self.n_columns)

    @property
    def n_steps(self) -> int:
        return self.state[2]

    def step(self, rows: tuple[Any, ...], triplets: NDArray[np.int32]) -> None:
        """One step for each triplet, in their order."""
        self.state = _native.triplet_steps(
            rows,
            triplets,
            LOSSES.index(self.loss),
            self.direction,
            self.correction,
            self.state,
            penalty=self.penalty,
            first_step=self.first_step,
            linear=self.penalty > 0,
        )

    def last(self) -> NDArray[np.float64]:
        return self.state[0] * self.direction

    def average(self) -> NDArray[np.float64]:
        """The mean of all iterates; with a penalty, whose first steps are very long, step t counts t times."""
        _, passed, steps = self.state
        weight = steps * (steps + 1) / 2 if self.penalty > 0 else steps
        return (passed * self.direction - self.correction) / max(weight, 1)

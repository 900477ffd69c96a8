"""Ends a solver before its gap is small, once rows that it does not see gain no more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import Matrix
from ._coded_rows import CodedRows
from ._newton import losses_and_slopes
from ._solver import Outputs, Solved, solve

LEAST_GAIN = 1e-3  # share of the unseen rows' loss by which it must fall between two looks


@dataclass(frozen=True)
class UnseenRows:
    """Rows that are not learned from, and what a model loses on them."""

    rows: Matrix
    outputs: Outputs
    weights: NDArray[np.float64]
    constant: float
    loss: str
    knee: float

    def loss_of(self, coefficients: NDArray[np.float64]) -> float:
        """The sum of losses over rows and outputs."""
        scores = self.rows @ coefficients[:, :-1].T + self.constant * coefficients[:, -1]
        total = 0.0
        for c in range(scores.shape[1]):
            targets, caps = self.outputs.of(c, self.weights)
            total += float(caps @ losses_and_slopes(self.loss, self.knee, scores[:, c], targets)[0])
        return total


def solve_until_settled(
    rows: Matrix | CodedRows,
    outputs: Outputs,
    weights: NDArray[np.float64],
    *,
    share: float,
    loss: str,
    knee: float = np.inf,
    constant: float,
    max_iter: int,
    seed: int,
    duals: NDArray[Any] | None,
    tol: float,
    **options: Any,
) -> tuple[Solved, bool]:
    """The model that a share of the rows, held back, likes best; and whether it settled before `max_iter` passes.

    It is looked at after 1, 2, 4, 8, ... passes, and the end comes when the unseen rows' loss has not fallen since the
    last look by a thousandth, or when the gap is at most `tol`.
    """
    counted = np.flatnonzero(weights > 0)
    n_unseen = int(np.clip(round(share * len(counted)), 1, len(counted) - 1))
    held_back = np.sort(np.random.default_rng(seed).choice(counted, n_unseen, replace=False))
    taken = rows.take(held_back).to_csr() if isinstance(rows, CodedRows) else rows[held_back]
    unseen = UnseenRows(taken, outputs.take(held_back), weights[held_back], constant, loss, knee)
    seen = weights.copy()
    seen[held_back] = 0
    best, lowest, n_passes = None, np.inf, 0
    while n_passes < max_iter:
        found = solve(
            rows,
            outputs,
            seen,
            loss=loss,
            knee=knee,
            constant=constant,
            tol=tol,
            max_iter=min(max(1, n_passes), max_iter - n_passes),
            seed=seed + n_passes,
            duals=duals,
            **options,
        )
        n_passes, duals = n_passes + max(1, found.n_iter), found.duals
        now = unseen.loss_of(found.coefficients)
        settled = now > lowest * (1 - LEAST_GAIN) or found.gap <= tol
        if now < lowest:
            best, lowest = found, now
        if settled:
            break
    assert best is not None
    return replace(best, n_iter=n_passes), settled

"""Newton's steps for rows with few columns, where one dual variable at a time would take forever."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from .._validation import Matrix

Array = NDArray[Any]


def losses_and_slopes(name: str, knee: float, scores: Array, targets: Array) -> tuple[Array, Array, Array]:
    """The loss of each row, its derivative by the score, and the second derivative."""
    if name == "squared_hinge":
        short_of = np.maximum(0, 1 - targets * scores)
        return short_of**2, -2 * targets * short_of, 2.0 * (short_of > 0)
    if name == "hinge":
        inside = targets * scores < 1
        return np.where(inside, 1 - targets * scores, 0.0), -targets * inside, np.zeros_like(scores)
    if name == "logistic":
        chances = expit(-targets * scores)
        return np.logaddexp(0, -targets * scores), -targets * chances, chances * (1 - chances)
    apart = scores - targets
    near = np.abs(apart) <= knee
    lines = knee * (2 * np.abs(apart) - knee) if np.isfinite(knee) else 0.0
    return np.where(near, apart**2, lines), 2 * np.clip(apart, -knee, knee), 2.0 * near


def _solved(hessian: Array, gradient: Array) -> Array:
    """The solution for columns brought to one size, of which some may say the same."""
    size = np.sqrt(np.diag(hessian))
    return np.linalg.lstsq(hessian / size[:, None] / size, gradient / size, rcond=None)[0] / size


class NewtonProblem:
    """Rows with the intercept's column, in double precision."""

    def __init__(self, rows: Matrix, constant: float, loss: str, knee: float):
        dense = rows.toarray() if sp.issparse(rows) else rows
        self.rows = np.empty((rows.shape[0], rows.shape[1] + 1))
        self.rows[:, :-1], self.rows[:, -1] = dense, constant
        self.loss, self.knee = loss, knee

    def value(self, w: Array, targets: Array, caps: Array) -> float:
        losses, _, _ = losses_and_slopes(self.loss, self.knee, self.rows @ w, targets)
        return float(w @ w / 2 + caps @ losses)

    def minimise(self, start: Array, targets: Array, caps: Array, tol: float, max_iter: int) -> tuple[Any, ...]:
        """Weights, dual variables, the objective, the gap to the dual one, and steps.

        The duals are ``-caps * slope``; where the loss has a derivative, the gap is half the squared gradient.
        """
        w = start
        for n_iter in range(max_iter + 1):
            losses, slopes, curves = losses_and_slopes(self.loss, self.knee, self.rows @ w, targets)
            primal = float(w @ w / 2 + caps @ losses)
            gradient = w + self.rows.T @ (caps * slopes)
            gap = float(gradient @ gradient) / 2
            if gap <= tol * primal or n_iter == max_iter:
                break
            hessian = self.rows.T @ (self.rows * (caps * curves)[:, None])
            hessian[np.diag_indices_from(hessian)] += 1
            step = -_solved(hessian, gradient)
            size = self._size(w, step, primal, float(gradient @ step), targets, caps)
            if size == 0:  # the last digits of the objective
                break
            w = w + size * step
        return w, -caps * slopes, primal, gap, n_iter

    def _size(self, w: Array, step: Array, primal: float, slope: float, targets: Array, caps: Array) -> float:
        size = 1.0
        while size > 1e-10:
            if self.value(w + size * step, targets, caps) <= primal + 1e-4 * size * slope:
                return size
            size /= 2
        return 0.0

"""Latent vectors of nodes by triplets (i, j, k): u_i . u_j should exceed u_i . u_k."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from .. import _native
from ._solved import Solved, without_rounding
from ._triplets import LOSSES

Matrix = NDArray[np.float64]


class LatentTriplets:
    """The sum over triplets of the loss of u_i . (u_j - u_k), with its gradient.

    Parameters
    ----------
    triplets : ndarray of int32 of shape (n_triplets, 3)
    n_nodes : int
    loss : str
        One of `LOSSES`.
    n_threads : int
        The answer does not depend on it.
    """

    def __init__(self, triplets: NDArray[np.int32], n_nodes: int, loss: str, *, n_threads: int = 1):
        self.triplets, self.loss, self.n_threads = np.ascontiguousarray(triplets), LOSSES.index(loss), n_threads
        self.places = np.argsort(triplets.ravel(), kind="stable")
        counts = np.bincount(triplets.ravel(), minlength=n_nodes)
        self.starts = np.concatenate([[0], np.cumsum(counts)])
        self.losses, self.slopes = np.empty(len(triplets)), np.empty(len(triplets))

    def value(self, U: Matrix) -> float:
        _native.latent_losses(U, self.triplets, self.loss, self.losses, self.slopes, n_threads=self.n_threads)
        return float(self.losses.sum())

    def value_and_gradient(self, U: Matrix) -> tuple[float, Matrix]:
        value, gradient = self.value(U), np.empty_like(U)
        _native.latent_gradient(
            U, self.triplets, self.slopes, self.places, self.starts, gradient, n_threads=self.n_threads
        )
        return value, gradient


def minimize_smooth(
    function: Callable[[Matrix], tuple[float, Matrix]], start: Matrix, *, max_iter: int, tol: float
) -> Solved[Matrix]:
    """Minimises a smooth function of a matrix without bounds, by L-BFGS; the objective never rises.

    Parameters
    ----------
    function : callable
        ``function(U)`` returns the value and the gradient.
    start : ndarray
    max_iter : int
    tol : float
        Ends when a step lowers the objective by no more than this share of it.
    """
    objective: list[float] = []

    def flat(u: NDArray) -> tuple[float, NDArray]:
        value, gradient = function(u.reshape(start.shape))
        return value, gradient.ravel()

    found = scipy.optimize.minimize(
        flat,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: objective.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxfun": 10 * max_iter},
    )
    solution = np.asarray(found.x).reshape(start.shape)
    return Solved(solution, without_rounding(objective or [float(found.fun)]), int(found.nit), found.status == 0)

"""The mathematics of partial orders on a network: each row should be more like rows it is linked to than like others.

The margin of a triplet (i, j, k), where i and j are linked and i and k are not, is s_ijk = w . (x_i * (x_j - x_k)).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from .. import _native
from .._optim import Solved, minimize_in_box, without_rounding
from .._triplets import Rows
from .._validation import Matrix

Loss = Literal["logistic", "hinge"]
Vector = NDArray[np.float64]

_BLOCK = 2**22  # margins held at a time
_FIRST_SMOOTHING, _LAST_SMOOTHING = 0.1, 1e-9


def mean_differences(rows: Rows, links: sp.csr_array, n_threads: int) -> Vector:
    """The mean of x_i * (x_j - x_k) over all triplets, in closed form (Eq. 3.7, divided by their number).

    With the links A, degrees d and column sums c, the sum over triplets is
    (n - 1) sum_i x_i * (A X)_i - c * (X' d) + (X * X)' d: the rows that i is not linked to are all but i and those that
    it is linked to.
    """
    n = rows.shape[0]
    X = rows.all()
    degrees = np.diff(links.indptr).astype(np.float64)
    shared = np.empty(rows.shape[1])
    kind = np.int64 if links.nnz > np.iinfo(np.int32).max else np.int32
    _native.link_products(
        rows.native(),
        links.indices.astype(kind, copy=False),
        links.indptr.astype(kind, copy=False),
        shared,
        n_threads=n_threads,
    )
    linked_rows = X.T @ degrees  # sum_i d_i x_i
    sums = np.asarray(X.sum(axis=0)).ravel()
    squares = X.copy()
    squares.data = squares.data**2
    # sum_i [(n - 1 - d_i) x_i * (A X)_i - d_i x_i * (c - x_i - (A X)_i)], where the products with d_i cancel.
    total = (n - 1) * shared - sums * linked_rows + squares.T @ degrees
    n_triplets = float((degrees * (n - 1 - degrees)).sum())
    return total / n_triplets


def margin_loss(loss: Loss, margins: NDArray, smoothing: float = 0.0) -> tuple[NDArray, NDArray]:
    """Losses and minus their slopes. The hinge is rounded off within `smoothing` below 1, by at most half of that."""
    if loss == "logistic":
        return np.logaddexp(0, -margins), expit(-margins)
    short = 1 - margins
    if not smoothing:
        return np.maximum(short, 0), (short > 0).astype(np.float64)
    slopes = np.clip(short / smoothing, 0, 1)
    return slopes * (short - smoothing * slopes / 2), slopes


class PartialOrders:
    """The mean loss of all triplets plus penalty / 2 ||w||^2, computed without drawing any.

    Each evaluation costs links times rows: for networks of some thousand rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
    links : csr_array
    loss : {"logistic", "hinge"}
    penalty : float
        lambda, above 0: the problem is then strictly convex.
    """

    def __init__(self, X: Matrix, links: sp.csr_array, loss: Loss, penalty: float):
        self.X, self.links, self.loss, self.penalty = sp.csr_array(X), links, loss, penalty
        degrees = np.diff(links.indptr).astype(np.float64)
        self.n_triplets = float((degrees * (X.shape[0] - 1 - degrees)).sum())

    def value_and_gradient(self, w: Vector, smoothing: float = 0.0) -> tuple[float, Vector]:
        X = self.X
        total, gradient = 0.0, np.zeros(X.shape[1])
        for rows in self._blocks():
            own = X[rows]
            similarities = (own.multiply(w[None, :]) @ X.T).toarray()
            pulls = np.zeros_like(similarities)
            ends = self.links[rows]
            unlinked = ends.toarray() == 0
            unlinked[np.arange(len(rows)), rows] = False
            for place in range(len(rows)):
                linked = ends.indices[ends.indptr[place] : ends.indptr[place + 1]]
                others = np.flatnonzero(unlinked[place])
                margins = similarities[place, linked][:, None] - similarities[place, others][None, :]
                losses, slopes = margin_loss(self.loss, margins, smoothing)
                total += losses.sum()
                pulls[place, linked] = slopes.sum(axis=1)
                pulls[place, others] = -slopes.sum(axis=0)
            gradient -= np.asarray(own.multiply(pulls @ X).sum(axis=0)).ravel()
        value = total / self.n_triplets + self.penalty / 2 * float(w @ w)
        return float(value), gradient / self.n_triplets + self.penalty * w

    def solve(self, *, max_iter: int, tol: float) -> Solved[Vector]:
        """The weights of the least objective, as precise as `tol` times the objective at w = 0, by strong convexity.

        The hinge is rounded off, less and less: the minimum of what is rounded off by h lies at most h / 2 too low.
        """
        root = np.sqrt(self.penalty)
        at_zero = float(margin_loss(self.loss, np.zeros(1))[0][0])
        radius = np.sqrt(2 * at_zero)  # penalty / 2 ||w||^2 is at most the objective of w = 0
        u, n_iter = np.zeros(self.X.shape[1]), 0
        smoothing = _FIRST_SMOOTHING if self.loss == "hinge" else 0.0
        objective: list[float] = []
        while True:

            def scaled(u: Vector, smoothing: float = smoothing) -> tuple[float, Vector]:
                value, gradient = self.value_and_gradient(u / root, smoothing)
                return value, gradient / root

            found = minimize_in_box(scaled, u, -radius, radius, tol=0.1 * tol, max_iter=max_iter)
            u, n_iter = found.solution, n_iter + found.n_iter
            gap = float(found.gradient @ found.gradient) / 2  # the objective of u has a curvature of at least 1
            objective += [value + smoothing / 2 for value in found.objective]
            converged = bool(gap + smoothing / 2 <= tol * at_zero)
            if converged or smoothing <= _LAST_SMOOTHING or n_iter >= max_iter:
                break
            smoothing /= 10
        objective.append(self.value_and_gradient(u / root)[0])
        return Solved(u / root, without_rounding(objective), n_iter, converged)

    def _blocks(self) -> Iterator[NDArray]:
        """Rows that have triplets, a few at a time."""
        n = self.X.shape[0]
        degrees = np.diff(self.links.indptr)
        rows = np.flatnonzero((degrees > 0) & (degrees < n - 1))
        step = max(1, _BLOCK // max(n, self.X.shape[1]))
        for start in range(0, len(rows), step):
            yield rows[start : start + step]

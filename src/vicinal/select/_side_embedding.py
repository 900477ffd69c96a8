"""The mathematics of SideFS: vectors of rows that tell who is linked, and from which columns can be told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from .._optim import Solved, descend, minimize_smooth, row_lengths, shortest_rows
from .._validation import Matrix

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

LINKS = ("logistic", "distance")
_NO_DISTANCE = 1e-12  # below, two rows are at one place, and all that is known is that they should not be


class LinkedPairs:
    """Minus the logarithm of how likely links and non-links are (thesis, Eq. 7.5), and its gradient.

    A pair is linked with probability ``1 / (1 + exp(-u_i . u_j))`` or ``1 / (1 + ||u_i - u_j||^2)``.
    """

    def __init__(self, links: Pairs, non_links: Pairs, n_rows: int, link: str):
        self.first, self.second = np.concatenate([links, non_links]).T
        self.linked = np.repeat([True, False], [len(links), len(non_links)])
        self.logistic = link == "logistic"
        ends = np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first])
        order = np.lexsort(ends[::-1])
        self._pair = order % max(len(self.first), 1)  # of each entry of the matrix of slopes, whose pattern stays
        indptr = np.concatenate([[0], np.cumsum(np.bincount(ends[0], minlength=n_rows))])
        self._slopes = sp.csr_array((np.zeros(len(order)), ends[1][order], indptr), shape=(n_rows, n_rows))

    def __call__(self, U: Array) -> tuple[float, Array]:
        first, second = U[self.first], U[self.second]
        if self.logistic:
            affinities = np.einsum("ij,ij->i", first, second)
            losses = np.logaddexp(0, np.where(self.linked, -affinities, affinities))
            self._slopes.data[:] = (expit(affinities) - self.linked)[self._pair]
            return float(losses.sum()), self._slopes @ U  # (7.11), of each end of a pair
        squares = np.square(first - second).sum(axis=1)
        apart = np.maximum(squares, _NO_DISTANCE)
        losses = np.log1p(squares) - np.where(self.linked, 0.0, np.log(apart))
        pushed = ~self.linked & (squares > _NO_DISTANCE)
        slopes = 2 * (1 / (1 + squares) - pushed / apart)
        self._slopes.data[:] = slopes[self._pair]
        return float(losses.sum()), self._slopes.sum(axis=1)[:, None] * U - self._slopes @ U


class Regressions:
    """``||U V' + 1 a' - X||^2``, with the best a or with none, for dense and for sparse X.

    X is divided by `length`, the root of the mean square of its rows' lengths, around the mean if there is an a.
    """

    def __init__(self, X: Matrix, *, intercept: bool):
        n_rows, n_columns = X.shape
        self.intercept = intercept
        mean = np.asarray(X.mean(axis=0)).ravel() if intercept else np.zeros(n_columns)
        if sp.issparse(X):
            filled = np.bincount(X.indices, minlength=n_columns)
            squares = np.square(X.data - mean[X.indices]).sum() + ((n_rows - filled) * mean**2).sum()
        else:
            X, mean = X - mean, np.zeros(n_columns)  # far from 0 all else would be rounding
            squares = np.square(X).sum()
        self.length = float(np.sqrt(squares / n_rows)) or 1.0
        self.X, self.mean, self.squares = X / self.length, mean / self.length, float(squares) / self.length**2
        self.transposed = sp.csr_array(self.X.T) if sp.issparse(X) else self.X.T

    def centred(self, U: Array) -> Array:
        return U - U.mean(axis=0) if self.intercept else U

    def times(self, V: Array) -> Array:
        """X V, centred."""
        return np.asarray(self.X @ V) - self.mean @ V

    def products(self, U: Array) -> tuple[Array, Array]:
        """G = U'U and B = X'U, of centred U and X."""
        Z = self.centred(U)
        return Z.T @ Z, np.asarray(self.transposed @ Z)  # that Z is centred spares the mean of X

    def left_over(self, G: Array, B: Array, V: Array) -> float:
        return self.squares - 2 * float(np.vdot(B, V)) + float(np.vdot(V @ G, V))


@dataclass(frozen=True)
class SideObjective:
    """L(U, V) = pairs(U) + weight_decay ||U||^2 + reconstruction ||U V' - X||^2 + sparsity ||V||_{2,1}  (7.10)."""

    pairs: LinkedPairs
    regressions: Regressions
    reconstruction: float
    sparsity: float
    weight_decay: float

    def of_vectors(self, V: Array, U: Array) -> tuple[float, Array]:
        """What depends on U, and its gradient (7.11, 7.12)."""
        XV, VV = self.regressions.times(V), V.T @ V
        return self._of_vectors(XV, VV, U)

    def _of_vectors(self, XV: Array, VV: Array, U: Array) -> tuple[float, Array]:
        value, gradient = self.pairs(U)
        Z = self.regressions.centred(U)
        ZVV = Z @ VV
        value += self.weight_decay * float(np.vdot(U, U))
        value += self.reconstruction * (float(np.vdot(ZVV, Z)) - 2 * float(np.vdot(Z, XV)))
        return value, gradient + 2 * self.weight_decay * U + 2 * self.reconstruction * (ZVV - XV)

    def value(self, U: Array, V: Array) -> float:
        G, B = self.regressions.products(U)
        penalties = self.weight_decay * float(np.vdot(U, U)) + self.sparsity * float(row_lengths(V).sum())
        return self.pairs(U)[0] + penalties + self.reconstruction * self.regressions.left_over(G, B, V)

    def best_vectors(self, U: Array, V: Array, *, max_iter: int, tol: float) -> Array:
        """Step 1: U by L-BFGS."""
        XV, VV = self.regressions.times(V), V.T @ V
        return minimize_smooth(lambda U: self._of_vectors(XV, VV, U), U, max_iter=max_iter, tol=tol).solution

    def best_coefficients(self, U: Array) -> Array:
        """Step 2: V column by column of X, exactly (7.13)."""
        G, B = self.regressions.products(U)
        return shortest_rows(G, B, self.sparsity / self.reconstruction)

    def solve(self, U: Array, *, max_iter: int, steps: int, tol: float) -> Solved[tuple[Array, Array]]:
        """Both by turns (Algorithm 7) from V = 0."""

        def turn(state: tuple[Array, Array]) -> tuple[Array, Array]:
            found = self.best_vectors(*state, max_iter=steps, tol=0.01 * tol)
            return found, self.best_coefficients(found)

        start = U, np.zeros((self.regressions.X.shape[1], U.shape[1]))
        return descend(turn, lambda state: self.value(*state), start, max_iter=max_iter, tol=tol)

    def scores(self, U: Array, V: Array) -> Array:
        """Lengths of V's rows; columns that have none by what they lack to get some, below 0."""
        _, B = self.regressions.products(U)
        share = 2 * row_lengths(B) / (self.sparsity / self.reconstruction)  # of the slope that a vector needs
        return np.where(V.any(axis=1), row_lengths(V), np.minimum(share - 1, 0.0))

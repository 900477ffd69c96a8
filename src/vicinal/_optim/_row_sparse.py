"""Least squares with few non-zero rows of coefficients (the l2,1 norm), by reweighting."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from ._descent import descend_by_reweighting, row_lengths
from ._solved import Matrix, Solved

Form = Literal["auto", "rows", "columns"]

_GOLDEN = (1 + np.sqrt(5)) / 2


def products_of_rows(X: Matrix, *, n_threads: int = 1) -> NDArray[np.float64]:
    """X X', dense. Threads are those for CSR; BLAS has its own limit."""
    if not sp.issparse(X) or X.shape[0] < 2:
        return np.asarray((X @ X.T).todense() if sp.issparse(X) else X @ X.T)
    gram = np.empty((X.shape[0], X.shape[0]))
    _native.products_of_rows(_native.sparse_rows(X.tocsr()), np.ones(X.shape[1]), gram, n_threads=n_threads)
    return gram


class RowWeightedRidge:
    """The minimiser W of ||X W - F||^2 + penalty sum_i ||w_i||^2 / spread_i, for any F.

    With ``spread = 2 ||w_i||`` of an earlier W this is one step of reweighting for ``penalty ||W||_{2,1}``. Columns
    of X whose spread is zero, or next to it, have zero coefficients, without a division. What is factorised is n x n
    ("rows") or as wide as the columns that are left ("columns"): "auto" takes the smaller.
    """

    def __init__(
        self, X: Matrix, spread: NDArray[np.float64], penalty: float, *, form: Form = "auto", n_threads: int = 1
    ):
        self.n_columns = X.shape[1]
        # Below, products are subnormal numbers, with which processors are tens of times slower.
        self.kept = np.flatnonzero(spread > 1e-200 * spread.max(initial=0.0))
        self.penalty = penalty
        self.root = np.sqrt(spread[self.kept])
        X = X if len(self.kept) == self.n_columns else X[:, self.kept]
        scaled = X.multiply(self.root).tocsr() if sp.issparse(X) else X * self.root
        self.scaled = scaled
        self.by_rows = form == "rows" or (form == "auto" and X.shape[0] <= len(self.kept))
        gram = products_of_rows(scaled if self.by_rows else scaled.T, n_threads=n_threads)
        gram.flat[:: gram.shape[0] + 1] += penalty
        # Symmetric, and its transpose is laid out as LAPACK wants it: nothing is copied.
        self.factor = scipy.linalg.cho_factor(gram.T, lower=True, overwrite_a=True, check_finite=False)

    def coefficients(self, F: NDArray[np.float64]) -> NDArray[np.float64]:
        """W, of shape (n_columns, F's columns)."""
        kept = self.scaled.T @ self._solve(F) if self.by_rows else self._solve(self.scaled.T @ F)
        W = np.zeros((self.n_columns, F.shape[1]))
        W[self.kept] = self.root[:, None] * kept
        return W

    def residual(self, F: NDArray[np.float64]) -> NDArray[np.float64]:
        """F - X W. The minimum itself is the sum of its products with F."""
        if self.by_rows:
            return self.penalty * self._solve(F)
        return F - self.scaled @ self._solve(self.scaled.T @ F)

    def _solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        return scipy.linalg.cho_solve(self.factor, right, check_finite=False)


def row_sparse_least_squares(
    X: Matrix,
    F: NDArray[np.float64],
    penalty: float,
    *,
    start: NDArray[np.float64] | None = None,
    ridge: float = 0.0,
    form: Form = "auto",
    max_iter: int = 100,
    tol: float = 1e-6,
    n_threads: int = 1,
) -> Solved[NDArray[np.float64]]:
    """Minimises ||X W - F||^2 + penalty ||W||_{2,1} + ridge ||W||^2 by reweighting (thesis, Algorithm 5).

    The objective never rises.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    F : ndarray of shape (n, c)
    penalty : float
    start : ndarray of shape (D, c), default=None
        A warm start; rows that are zero stay so. A ridge regression by default.
    ridge : float
    form : "auto", "rows" or "columns"
        Whether n x n or D x D systems are solved.
    max_iter : int
    tol : float
        Ends when the objective falls by less than this share of it.
    n_threads : int
        For CSR.
    """

    def step(W: NDArray[np.float64], spread: NDArray[np.float64]) -> NDArray[np.float64]:
        both = spread / (1 + ridge / penalty * spread) if ridge else spread
        return RowWeightedRidge(X, both, penalty, form=form, n_threads=n_threads).coefficients(F)

    def value(W: NDArray[np.float64]) -> float:
        residual = F - X @ W
        return float(np.vdot(residual, residual) + penalty * row_lengths(W).sum() + ridge * np.vdot(W, W))

    spread = np.ones(X.shape[1]) if start is None else 2 * row_lengths(start)
    first = np.zeros((X.shape[1], F.shape[1])) if start is None else start
    return descend_by_reweighting(step, value, first, spread, max_iter=max_iter, tol=tol)


def row_sparse_by_shrinking(
    X: Matrix,
    F: NDArray[np.float64],
    penalty: float,
    start: NDArray[np.float64],
    *,
    ridge: float = 0.0,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> Solved[NDArray[np.float64]]:
    """Minimises ||X W - F||^2 + penalty ||W||_{2,1} + ridge ||W||^2 by accelerated steps that shrink rows (FISTA).

    Nothing is factorised: a step costs two products with X. Rows become exactly zero, and may come back.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    F : ndarray of shape (n, c)
    penalty : float
    start : ndarray of shape (D, c)
        Any, also with rows of zeros.
    ridge : float
    max_iter : int
    tol : float
        Ends when the objective falls by less than this share of it.
    """

    def value(W: NDArray[np.float64], fitted: NDArray[np.float64]) -> float:
        residual = fitted - F
        return float(np.vdot(residual, residual) + penalty * row_lengths(W).sum() + ridge * np.vdot(W, W))

    step = 1 / (2 * (_largest_square(X) + ridge))
    W, fitted, momentum = start, X @ start, 1.0
    ahead, fitted_ahead = W, fitted
    lowest, objective = value(W, fitted), list[float]()
    for n_iter in range(1, max_iter + 1):
        moved = ahead - 2 * step * (X.T @ (fitted_ahead - F) + ridge * ahead)
        lengths = row_lengths(moved)
        shrunk = np.maximum(1 - step * penalty / np.maximum(lengths, 1e-300), 0)[:, None] * moved
        fitted_shrunk = X @ shrunk
        reached = value(shrunk, fitted_shrunk)
        if not reached <= lowest:  # momentum led uphill: once more without it
            if momentum == 1.0:
                return Solved(W, [*objective, lowest], n_iter, True)
            ahead, fitted_ahead, momentum = W, fitted, 1.0
            continue
        fall, lowest = lowest - reached, reached
        objective.append(reached)
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        beyond = (momentum - 1) / following
        ahead, fitted_ahead = shrunk + beyond * (shrunk - W), fitted_shrunk + beyond * (fitted_shrunk - fitted)
        W, fitted, momentum = shrunk, fitted_shrunk, following
        if fall <= tol * abs(lowest):
            return Solved(W, objective, n_iter, True)
    return Solved(W, objective or [lowest], max_iter, False)


def _largest_square(X: Matrix, n_steps: int = 30) -> float:
    """A bound of the largest squared singular value: what the power method finds, and a tenth more."""
    vector = 0.5 + np.arange(1, X.shape[1] + 1) * _GOLDEN % 1  # without a pattern
    square = 0.0
    for _ in range(n_steps):
        length = float(np.linalg.norm(vector))
        if not length:
            break
        vector = X.T @ (X @ (vector / length))
        square = float(np.linalg.norm(vector))
    entries = X.data if sp.issparse(X) else X
    return 1.1 * square if square > 0 else max(float(np.square(entries).sum()), 1e-300)

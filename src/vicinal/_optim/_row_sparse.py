"""Least squares with few non-zero rows of coefficients (the l2,1 norm), by reweighting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import n_threads, sparse_rows
from .._validation import Matrix

Form = Literal["auto", "rows", "columns"]


def products_of_rows(X: Matrix) -> NDArray[np.float64]:
    """X X', dense."""
    if not sp.issparse(X) or X.shape[0] < 2:
        return np.asarray((X @ X.T).todense() if sp.issparse(X) else X @ X.T)
    gram = np.empty((X.shape[0], X.shape[0]))
    _native.products_of_rows(sparse_rows(X.tocsr()), np.ones(X.shape[1]), gram, n_threads=n_threads(None))
    return gram


class RowWeightedRidge:
    """The minimiser W of ||X W - F||^2 + penalty sum_i ||w_i||^2 / spread_i, for any F.

    With ``spread = 2 ||w_i||`` of an earlier W this is one step of reweighting for ``penalty ||W||_{2,1}``. Columns
    of X whose spread is zero, or next to it, have zero coefficients, without a division. What is factorised is n x n
    ("rows") or as wide as the columns that are left ("columns"): "auto" takes the smaller.
    """

    def __init__(self, X: Matrix, spread: NDArray[np.float64], penalty: float, *, form: Form = "auto"):
        self.n_columns = X.shape[1]
        # Below, products are subnormal numbers, with which processors are tens of times slower.
        self.kept = np.flatnonzero(spread > 1e-200 * spread.max(initial=0.0))
        self.penalty = penalty
        self.root = np.sqrt(spread[self.kept])
        X = X if len(self.kept) == self.n_columns else X[:, self.kept]
        scaled = X.multiply(self.root).tocsr() if sp.issparse(X) else X * self.root
        self.scaled = scaled
        self.by_rows = form == "rows" or (form == "auto" and X.shape[0] <= len(self.kept))
        gram = products_of_rows(scaled if self.by_rows else scaled.T)
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


@dataclass
class RowSparse:
    """What `row_sparse_least_squares` returns."""

    coefficients: NDArray[np.float64]
    objective: list[float]
    converged: bool


def row_sparse_least_squares(
    X: Matrix,
    F: NDArray[np.float64],
    penalty: float,
    *,
    start: NDArray[np.float64] | None = None,
    form: Form = "auto",
    max_iter: int = 100,
    tol: float = 1e-6,
) -> RowSparse:
    """Minimises ||X W - F||^2 + penalty ||W||_{2,1} by reweighting (thesis, Algorithm 5); the objective never rises.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    F : ndarray of shape (n, c)
    penalty : float
    start : ndarray of shape (D, c), default=None
        A warm start; rows that are zero stay so. A ridge regression by default.
    form : "auto", "rows" or "columns"
        Whether n x n or D x D systems are solved.
    max_iter : int
    tol : float
        Ends when the objective falls by less than this share of it.
    """
    norms = np.linalg.norm(start, axis=1) if start is not None else np.full(X.shape[1], 0.5)
    W = np.zeros((X.shape[1], F.shape[1]))
    objective: list[float] = []
    for _ in range(max_iter):
        ridge = RowWeightedRidge(X, 2 * norms, penalty, form=form)
        candidate = ridge.coefficients(F)
        norms = np.linalg.norm(candidate, axis=1)
        residual = ridge.residual(F)
        reached = float(np.vdot(residual, residual) + penalty * norms.sum())
        fall = objective[-1] - reached if objective else np.inf
        if fall >= 0:  # else it is rounding
            W = candidate
            objective.append(reached)
        if fall <= tol * reached:
            return RowSparse(W, objective, True)
    return RowSparse(W, objective, False)

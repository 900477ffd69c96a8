"""Few columns, and combinations of them with a small quadratic form: traces with the l2,1 norm, by reweighting."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from ._descent import descend_by_reweighting, row_lengths
from ._row_sparse import Form, products_of_rows
from ._solved import Matrix, Solved

Array = NDArray[np.float64]

SMOOTHING = 1e-6
_KRYLOV_STEPS = 3


class RowForm:
    """A positive semidefinite form of rows, B = S - F F': a sparse matrix less one of low rank, if there is one."""

    def __init__(self, S: sp.csr_array, F: sp.csr_array | None = None):
        self.S, self.F = S, F

    def __matmul__(self, V: Array) -> Array:
        return self.S @ V if self.F is None else self.S @ V - self.F @ (self.F.T @ V)

    def of_columns(self, X: Matrix) -> Array:
        """X' B X, dense."""
        found = _dense(X.T @ (self.S @ X))
        if self.F is not None:
            sums = _dense(self.F.T @ X)
            found -= sums.T @ sums
        return found

    def diagonal(self, X: Matrix) -> Array:
        """Of X' B X."""
        found = _column_sums(X, self.S @ X)
        if self.F is not None:
            sums = self.F.T @ X
            found -= _column_sums(sums, sums)
        return np.maximum(found, 0)


def minimize_trace(
    X: Matrix,
    B: RowForm,
    n_vectors: int,
    penalty: float,
    *,
    gram: float = 0.0,
    ridge: float = 1.0,
    max_iter: int,
    tol: float,
    form: Form = "auto",
    n_threads: int = 1,
) -> Solved[Array]:
    """Minimises ``Tr(W' X' B X W) + penalty sum_i ||w_i||`` over W with ``W' (gram X' X + ridge I) W = I``.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
    B : RowForm
        A form of the rows.
    n_vectors : int
        Columns of W; no more than those of X.
    penalty : float
        Above 0. Lengths are smoothed: ``sqrt(||w_i||^2 + SMOOTHING^2)`` stands for ``||w_i||``.
    gram, ridge : float
        What has unit length: combinations X W, W itself, or both.
    max_iter, tol
        See `descend`.
    form : {"auto", "rows", "columns"}
        Whether what is factorised in each step is n_rows or n_columns wide; "auto" takes the smaller.
    n_threads : int
        Of products of CSR rows.
    """
    squares = gram * _column_sums(X, X) + ridge
    alone = B.diagonal(X) / squares + penalty / np.sqrt(squares)  # the objective of each column alone
    lengths = 1 / alone
    lengths *= np.sqrt(n_vectors / (lengths**2 @ squares))
    start = np.zeros((X.shape[1], n_vectors))
    best = np.argsort(alone, kind="stable")[:n_vectors]
    start[best, np.arange(n_vectors)] = 1 / np.sqrt(squares[best])

    def step(W: Array, spread: Array) -> Array:
        return Reweighted(X, B, spread, penalty, gram, ridge, form, n_threads).lower(W)

    def value(W: Array) -> float:
        combined = X @ W
        return float(np.vdot(combined, B @ combined) + penalty * np.hypot(row_lengths(W), SMOOTHING).sum())

    return descend_by_reweighting(
        step, value, start, 2 * np.hypot(lengths, SMOOTHING), smoothing=SMOOTHING, max_iter=max_iter, tol=tol
    )


class Reweighted:
    """The form X' B X + penalty diag(1 / spread), whose smallest eigenvectors are wanted, by gram X' X + ridge I.

    With R = diag(spread)^1/2 and W = R V it is Y' B Y + penalty I in V, where Y = X R: no large number appears where a
    spread is small. Its inverse is a matter of columns x columns, or of rows x rows:
    (Y' B Y + penalty I)^-1 = (I - Y' B (Y Y' B + penalty I)^-1 Y) / penalty.
    """

    def __init__(
        self,
        X: Matrix,
        B: RowForm,
        spread: Array,
        penalty: float,
        gram: float = 0.0,
        ridge: float = 1.0,
        form: Form = "auto",
        n_threads: int = 1,
    ):
        self.B, self.penalty, self.gram = B, penalty, gram
        self.root = np.sqrt(spread)[:, None]
        self.scaled = X.multiply(self.root.T).tocsr() if sp.issparse(X) else X * self.root.T
        self.root_of_ridge = np.sqrt(ridge) * self.root
        self.by_rows = form == "rows" or (form == "auto" and X.shape[0] < X.shape[1])
        if self.by_rows:
            inner = (B @ products_of_rows(self.scaled, n_threads=n_threads)).T
            inner.flat[:: inner.shape[0] + 1] += penalty
            self.factor = scipy.linalg.lu_factor(inner, overwrite_a=True, check_finite=False)
        else:
            inner = B.of_columns(self.scaled)
            inner.flat[:: inner.shape[0] + 1] += penalty
            self.factor = scipy.linalg.cho_factor(inner, overwrite_a=True, check_finite=False)

    def lower(self, W: Array) -> Array:
        """Vectors of unit length, by that measure, with the lowest sum of the form in span{W, C W, C C W, ...}.

        C is the inverse of the form times the measure.
        """
        blocks = [W / self.root]
        for _ in range(_KRYLOV_STEPS):
            block = self.solve(self._measured(blocks[-1]))
            blocks.append(block / np.sqrt(np.diag(self._products(block))))
        basis = np.hstack(blocks)
        for _ in range(2):  # the second time mends what the first leaves of nearly dependent columns
            sizes, directions = np.linalg.eigh(self._products(basis))
            kept = sizes > 1e-13 * sizes[-1]
            basis = basis @ (directions[:, kept] / np.sqrt(sizes[kept]))
        combined = self.scaled @ basis
        values = combined.T @ (self.B @ combined) + self.penalty * (basis.T @ basis)
        _, directions = np.linalg.eigh((values + values.T) / 2)
        return self.root * (basis @ directions[:, : W.shape[1]])

    def solve(self, V: Array) -> Array:
        """The inverse of the form, in the coordinates of V, times V."""
        if not self.by_rows:
            return scipy.linalg.cho_solve(self.factor, V, check_finite=False)
        inner = scipy.linalg.lu_solve(self.factor, self.scaled @ V, check_finite=False)
        return (V - self.scaled.T @ (self.B @ inner)) / self.penalty

    def _measured(self, V: Array) -> Array:
        measured = self.root_of_ridge**2 * V
        return measured + self.gram * (self.scaled.T @ (self.scaled @ V)) if self.gram else measured

    def _products(self, V: Array) -> Array:
        """V' (gram X' X + ridge I) V, in the coordinates of W."""
        weighted = self.root_of_ridge * V
        products = weighted.T @ weighted
        if self.gram:
            combined = self.scaled @ V
            products += self.gram * (combined.T @ combined)
        return products


def _dense(matrix: Matrix) -> Array:
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _column_sums(A: Matrix, B: Matrix) -> Array:
    """Of the products of entries."""
    sums = A.multiply(B).sum(axis=0) if sp.issparse(A) else np.einsum("ij,ij->j", A, B)
    return np.asarray(sums, dtype=np.float64).ravel()

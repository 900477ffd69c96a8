"""How well all columns can be predicted from a few weighted ones, by the best coefficients for these weights.

Y = X_A diag(s_A) are the weighted columns, those of a set A only: the others have no coefficients. W is never needed
for the Gaussian model, nor is anything of the size of X' X: what its value and slopes are made of is as wide as A, or
n x n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._calls import n_threads
from .._optim import Form, products_of_rows
from .._validation import Matrix

Array = NDArray[np.float64]
Columns = NDArray[np.intp]
Reduced = Callable[[Array], tuple[float, Array]]

LARGEST_SYSTEM = 6000  # rows of dense matrices that are factorised; six of them are held
N_SKETCHED = 128  # random combinations of the columns that stand for all, where systems would be larger
_BLOCK = 2**22
_LENGTHENING, _LONGEST = 1.5, 30.0  # of steps beyond the minimum of parabolas
_CG_TOLERANCE, _CG_STEPS = 1e-8, 1000


class GaussianContent:
    """min over W of ||X diag(s) W - X||^2 + ridge ||W||^2 (thesis, Eq. 4.9) as a function of s."""

    def __init__(
        self, X: Matrix, ridge: float, random_state: Any, *, form: Form = "auto", largest: int = LARGEST_SYSTEM
    ):
        self.X, self.ridge, self.form, self.largest = X, ridge, form, largest
        self.by_columns = X.tocsc() if sp.issparse(X) else X
        self.squares = float((X.multiply(X) if sp.issparse(X) else X * X).sum())
        self.random_state = random_state
        self.sketch: Array | None = None
        self.gram: Array | None = None

    @property
    def unexplained(self) -> float:
        """The value without any column: W = 0."""
        return self.squares

    def expect(self, n_columns: int) -> None:
        """Decides, for about so many columns with coefficients, whether a sketch must stand for X; once for a fit."""
        if min(self.X.shape[0], n_columns) > self.largest:
            self._draw_sketch()

    def around(self, columns: Columns) -> Reduced:
        """The value and its slopes as a function of the weights of these columns; all others are 0."""
        part = self.by_columns[:, columns]
        if self.sketch is not None:
            return self._by_conjugate_gradients(sp.csr_array(part) if sp.issparse(part) else part, self.sketch)
        if self.form == "rows" or (self.form == "auto" and len(columns) > self.X.shape[0]):
            return self._by_rows(part)
        G, C = _products(part), products_through(self.X, part)

        def reduced(s: Array) -> tuple[float, Array]:
            fall, squares = explained(G, C, s, self.ridge)
            return self.squares - fall, -2 * self.ridge * _over(squares, s)

        return reduced

    def _by_rows(self, part: Matrix) -> Reduced:
        """The n x n form: with P = (Y Y' + ridge I)^-1 the value is ridge Tr(P X X')."""
        if self.gram is None:
            self.gram = _products_of_rows(self.X)
        K = self.gram
        blocks = _blocks(part.shape[1], self.X.shape[0])

        def reduced(s: Array) -> tuple[float, Array]:
            system = _products_of_rows(part.multiply(s).tocsr() if sp.issparse(part) else part * s)
            system.flat[:: len(system) + 1] += self.ridge
            P = _inverse(system)
            inner = P @ K @ P
            squares = np.empty(len(s))
            for block in blocks:
                columns = part[:, block].toarray() if sp.issparse(part) else part[:, block]
                squares[block] = np.einsum("ij,ij->j", columns, inner @ columns)
            return self.ridge * float(np.vdot(P, K)), -2 * self.ridge * s * squares

        return reduced

    def _draw_sketch(self) -> None:
        """T = X Omega with E[T T'] = X X': what is minimised then has the right expectation for every s."""
        random = check_random_state(self.random_state)
        self.sketch = np.zeros((self.X.shape[0], N_SKETCHED))
        for block in _blocks(self.X.shape[1], N_SKETCHED):
            columns = self.by_columns[:, block]
            self.sketch += columns @ random.standard_normal((columns.shape[1], N_SKETCHED))
        self.sketch /= np.sqrt(N_SKETCHED)
        self.squares = float(np.vdot(self.sketch, self.sketch))

    def _by_conjugate_gradients(self, part: Matrix, target: Array) -> Reduced:
        transposed = sp.csr_array(part.T) if sp.issparse(part) else part.T
        lengths = np.asarray((part.multiply(part) if sp.issparse(part) else part * part).sum(axis=0)).ravel()

        def reduced(s: Array) -> tuple[float, Array]:
            weights = s[:, None]

            def system(W: Array) -> Array:
                return weights * (transposed @ (part @ (weights * W))) + self.ridge * W

            W = conjugate_gradients(system, weights * (transposed @ target), (lengths * s * s + self.ridge)[:, None])
            residual = part @ (weights * W) - target
            value = float(np.vdot(residual, residual) + self.ridge * np.vdot(W, W))
            return value, 2 * np.einsum("ij,ij->i", transposed @ residual, W)

        return reduced


class BernoulliContent:
    """min over W of sum log(1 + exp(eta)) - x eta, eta = X diag(s) W, and of ridge ||W||^2 (thesis, Eq. 4.10).

    W has no closed form. The logistic loss lies below a parabola of curvature 1/4 that touches it at the last W: with
    the target T = eta - 4 (1 / (1 + exp(-eta)) - X) that is 1/8 (||X diag(s) W - T||^2 + 8 ridge ||W||^2) and a
    constant, which is minimised instead, in s and in W at once. The loss bends less than its parabolas: once s is at
    rest, W goes further than to their minimum, as far as that is seen to pay.
    """

    def __init__(self, X: Matrix, ridge: float):
        self.X, self.ridge = X, ridge
        self.by_columns = X.tocsc() if sp.issparse(X) else X
        self.columns: Columns = np.arange(0)
        self.weights = np.zeros(0)
        self.coefficients = np.zeros((0, X.shape[1]))  # W
        self.length = 1.0
        self.safe: Array | None = None
        self.value = self.unexplained

    @property
    def unexplained(self) -> float:
        return self.X.shape[0] * self.X.shape[1] * float(np.log(2))

    def around(self, columns: Columns) -> Reduced:
        """The parabolas above the loss, and their slopes, as a function of the weights of these columns.

        `value` is then the loss itself at the last W.
        """
        part = self.by_columns[:, columns]
        self.gram = _products(part)
        self.products = np.empty((len(columns), self.X.shape[1]))
        loss = constant = 0.0
        for block, eta, x in self._predicted():
            small = np.exp(-np.abs(eta))
            loss += float(np.log1p(small).sum() + np.maximum(eta, 0).sum() - np.vdot(x, eta))
            excess = np.where(eta < 0, small, 1) / (1 + small) - x
            target = eta - 4 * excess
            constant += float(np.vdot(target, target)) / 8 - 2 * float(np.vdot(excess, excess))
            self.products[:, block] = part.T @ target
        self.value = loss + self.ridge * float(np.vdot(self.coefficients, self.coefficients))
        C = self.products @ self.products.T

        def reduced(s: Array) -> tuple[float, Array]:
            fall, squares = explained(self.gram, C, s, 8 * self.ridge)
            return loss + constant - fall / 8, -2 * self.ridge * _over(squares, s)

        return reduced

    def settle(self, columns: Columns, s: Array) -> None:
        """Takes the W that is best for s below the parabolas of the last `around`, or one beyond it."""
        system = self.gram * s[:, None] * s
        system.flat[:: len(system) + 1] += 8 * self.ridge
        used = np.flatnonzero(s > 0)
        W = scipy.linalg.solve(system, s[:, None] * self.products, assume_a="pos", overwrite_a=True)[used]
        at_rest = np.array_equal(columns[used], self.columns) and np.array_equal(s[used], self.weights)
        self.columns, self.weights = columns[used], s[used]
        self.length = min(self.length * _LENGTHENING, _LONGEST) if at_rest else 1.0
        self.safe = W if self.length > 1 else None
        self.coefficients = W if self.safe is None else self.coefficients + self.length * (W - self.coefficients)

    def retreat(self) -> bool:
        """Takes the minimum itself if W went beyond it; whether it did."""
        if self.safe is None:
            return False
        self.coefficients, self.safe, self.length = self.safe, None, 1.0
        return True

    def _predicted(self) -> Any:
        """eta and X, some columns at a time."""
        part = self.by_columns[:, self.columns]
        part = sp.csr_array(part) if sp.issparse(part) else part
        weights = self.weights[:, None]
        for block in _blocks(self.X.shape[1], self.X.shape[0]):
            x = self.by_columns[:, block]
            yield block, part @ (weights * self.coefficients[:, block]), x.toarray() if sp.issparse(x) else x


def explained(G: Array, C: Array, s: Array, ridge: float) -> tuple[float, Array]:
    """By how much the best W lowers ||Y W - T||^2 + ridge ||W||^2, and the squares of the lengths of its rows.

    From G = X_A' X_A and C = X_A' T T' X_A alone, by W W' = M^-1 S C S M^-1 with M = S G S + ridge I (4.18).
    """
    used = np.flatnonzero(s > 0)
    weights = s[used]
    grid = np.ix_(used, used)
    outer = weights[:, None] * weights
    system = G[grid] * outer
    system.flat[:: len(used) + 1] += ridge
    inverse = _inverse(system)
    half = inverse @ (C[grid] * outer)
    squares = np.zeros(len(s))
    squares[used] = np.einsum("ij,ij->i", half, inverse)
    return float(np.trace(half)), squares


def products_through(X: Matrix, part: Matrix) -> Array:
    """part' X X' part, where part are columns of X, some of them at a time."""
    found = np.empty((part.shape[1], part.shape[1]))
    transposed = X.T
    for block in _blocks(part.shape[1], max(X.shape)):
        columns = part[:, block].toarray() if sp.issparse(part) else part[:, block]
        found[:, block] = part.T @ (X @ (transposed @ columns))
    return (found + found.T) / 2


def conjugate_gradients(system: Callable[[Array], Array], right: Array, diagonal: Array) -> Array:
    """Solves a positive definite system for every column of `right` at once."""
    found = np.zeros_like(right)
    residual = right.copy()
    scaled = residual / diagonal
    direction = scaled.copy()
    size = np.einsum("ij,ij->j", residual, scaled)
    enough = _CG_TOLERANCE**2 * size.max(initial=0.0)
    for _ in range(_CG_STEPS):
        if size.max(initial=0.0) <= enough:
            break
        image = system(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=curvature > 0)
        found += step * direction
        residual -= step * image
        scaled = residual / diagonal
        before, size = size, np.einsum("ij,ij->j", residual, scaled)
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    return found


def _blocks(n_columns: int, values_per_column: int) -> list[slice]:
    step = max(1, _BLOCK // values_per_column)
    return [slice(start, start + step) for start in range(0, n_columns, step)]


def _inverse(system: Array) -> Array:
    """Of a positive definite matrix, which is overwritten."""
    factor = scipy.linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return scipy.linalg.cho_solve(factor, np.eye(len(system)), overwrite_b=True, check_finite=False)


def _products(part: Matrix) -> Array:
    """part' part, dense."""
    found = part.T @ part
    return found.toarray() if sp.issparse(found) else found


def _products_of_rows(X: Matrix) -> Array:
    return products_of_rows(X, n_threads=n_threads(None))


def _over(squares: Array, s: Array) -> Array:
    """squares / s; both are 0 together."""
    return np.divide(squares, s, out=np.zeros_like(s), where=s > 0)

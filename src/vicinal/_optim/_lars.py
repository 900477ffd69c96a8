"""The Lasso by least angle regression, on columns that may be sparse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._solved import Matrix, Solved

_STEPS_PER_TERM = 100  # a path takes few more steps than it has terms, but nobody promises that


@dataclass
class LassoPath(Solved[NDArray[np.float64]]):
    """What `least_angle_lasso` returns: the coefficients, and half the squared residuals that they leave.

    Attributes
    ----------
    nearness : ndarray
        Each column's correlation with the residuals, as a share of the penalty: 1 for columns that take part.
    """

    nearness: NDArray[np.float64]


def least_angle_lasso(
    columns: Columns, target: NDArray, candidates: NDArray[np.bool_], most: int, steps_per_term: int = _STEPS_PER_TERM
) -> LassoPath:
    """The Lasso's solution for the smallest penalty at which no more than `most` coefficients are non-zero.

    Along the path all active columns have the same correlation with the residuals up to sign, the penalty. It falls
    until another column is as correlated, which joins, or a coefficient reaches 0, which leaves. Not converged is a
    path that went to and fro between the same columns, which are then nearly collinear, and was cut short after
    `steps_per_term` times `most` steps.
    """
    correlations = columns.products(target)
    coef = np.zeros(len(correlations))
    free = candidates.copy()
    active: list[int] = []
    signs: list[float] = []
    held = np.zeros(len(coef))  # columns that left at this penalty, and must not rejoin with this sign
    inverse = _InverseFactor()
    penalty = np.abs(correlations[free]).max(initial=0.0)
    smallest = penalty * 1e-10
    joining = _first_smallest(np.where(free, penalty - np.abs(correlations), np.inf), 0.01 * smallest)
    n_steps, converged = 0, True
    while penalty > smallest and (joining < 0 or len(active) < most):
        if n_steps == steps_per_term * most:
            converged = False
            break
        n_steps += 1
        if joining >= 0:
            free[joining] = False
            if inverse.append(*columns.gram_column(active, joining)):
                active.append(joining)
                signs.append(np.sign(correlations[joining]))
        direction = inverse.solve(np.array(signs))
        slopes = columns.gram_times(active, direction)
        joins = np.minimum(
            _steps(penalty - correlations, 1 - slopes, free & (held <= 0)),
            _steps(penalty + correlations, 1 + slopes, free & (held >= 0)),
        )
        leaves = _steps_to_zero(coef[active], direction, np.array(signs))
        to_join, to_leave = joins.min(), leaves.min(initial=np.inf)
        length = min(to_join, to_leave, penalty)
        coef[active] += length * direction
        correlations -= length * slopes
        penalty -= length
        if length > smallest:
            held[:] = 0
        joining = _first_smallest(joins, 0.01 * smallest)
        if to_leave < to_join and penalty > smallest:
            leaving = int(np.argmin(leaves))
            column = active.pop(leaving)
            coef[column] = 0
            free |= candidates
            free[active] = False
            held[column] = signs.pop(leaving)
            inverse.remove(leaving)
            joining = -1
    nearness = np.zeros(len(coef))
    if penalty > smallest:
        nearness[candidates] = np.minimum(np.abs(correlations[candidates]) / penalty, 1)
    residuals = target - columns.fitted(coef)
    return LassoPath(coef, [0.5 * float(residuals @ residuals)], n_steps, converged, nearness)


def _first_smallest(values: NDArray, resolution: float) -> int:
    """Of copies the first comes first, whatever rounding says."""
    return int(np.argmax(values <= values.min() + resolution))


def _steps(gaps: NDArray, rates: NDArray, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """After how long a gap that closes at this rate is closed; columns that move with the active ones never do."""
    steps = np.full(len(gaps), np.inf)
    closing = allowed & (rates > 1e-9)
    steps[closing] = np.maximum(gaps[closing], 0) / rates[closing]
    return steps


def _steps_to_zero(coef: NDArray, direction: NDArray, signs: NDArray) -> NDArray[np.float64]:
    """After how long a coefficient is 0; at once if it would leave 0 against the sign of its correlation."""
    steps = np.where((coef == 0) & (direction * signs < 0), 0.0, np.inf)
    shrinking = coef * direction < 0
    steps[shrinking] = -coef[shrinking] / direction[shrinking]
    return steps


class Columns:
    """Centred columns, of which only products are needed; sparse ones are not centred in memory."""

    def __init__(self, X: Matrix):
        means = np.asarray(X.mean(axis=0)).ravel()
        self.X = X if sp.issparse(X) else X - means
        self.means = means if sp.issparse(X) else np.zeros(len(means))
        self.transposed = self.X.T.tocsr() if sp.issparse(X) else self.X.T

    def products(self, rows: NDArray) -> NDArray:
        return self.transposed @ rows - self.means * rows.sum()

    def fitted(self, coef: NDArray) -> NDArray:
        return self.X @ coef - self.means @ coef

    def gram_column(self, active: list[int], column: int) -> tuple[NDArray, float]:
        """Inner products of a column with the active ones, and with itself."""
        products = self.gram_times([column], np.ones(1))
        return products[active], products[column]

    def gram_times(self, active: list[int], coef: NDArray) -> NDArray:
        """Inner products of all columns with a combination of the active ones."""
        spread = np.zeros(self.X.shape[1])
        spread[active] = coef
        return self.products(self.fitted(spread))


class FewColumns(Columns):
    """The same for few columns, whose products with each other are found once."""

    def __init__(self, X: NDArray):
        super().__init__(X)
        self.gram = self.X.T @ self.X

    def gram_column(self, active: list[int], column: int) -> tuple[NDArray, float]:
        return self.gram[active, column], self.gram[column, column]

    def gram_times(self, active: list[int], coef: NDArray) -> NDArray:
        return self.gram[:, active] @ coef


def as_columns(X: Matrix) -> Columns:
    few = not sp.issparse(X) and X.shape[1] <= min(X.shape[0], 2000)
    return FewColumns(X) if few else Columns(X)


class _InverseFactor:
    """M with M G M' = I, lower triangular, for a matrix G of inner products that grows and shrinks."""

    def __init__(self) -> None:
        self.size = 0
        self.M = np.zeros((16, 16))

    def append(self, inner: NDArray, own: float) -> bool:
        """One more row and column of G; False, and nothing changes, if it depends on those that are there."""
        m = self.size
        if m == len(self.M):
            self.M = np.pad(self.M, (0, m))
        M = self.M[:m, :m]
        along = M @ inner
        rest = own - along @ along
        if rest <= 1e-10 * own:
            return False
        self.M[m, :m] = -(along @ M) / np.sqrt(rest)
        self.M[m, m] = 1 / np.sqrt(rest)
        self.size += 1
        return True

    def remove(self, place: int) -> None:
        """Rotations of neighbouring rows push the column's entries into the last row, which goes with it."""
        M = self.M[: self.size, : self.size]
        for i in range(place, self.size - 1):
            upper, lower = M[i, place], M[i + 1, place]
            radius = np.hypot(upper, lower)
            M[i : i + 2] = np.array([[lower, -upper], [upper, lower]]) @ M[i : i + 2] / radius
        M[:, place:-1] = M[:, place + 1 :].copy()
        M[-1] = 0
        M[:, -1] = 0
        self.size -= 1

    def solve(self, right: NDArray) -> NDArray:
        """``G^-1 right``."""
        M = self.M[: self.size, : self.size]
        return M.T @ (M @ right)

"""Columns that few-termed regressions need to draw the clusters."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._validation import Matrix, check_count
from ..graphs import neighbor_graph, smooth_eigenvectors
from ._base import FeatureSelector, Ranked
from ._laplacian_score import as_doubles, varying

_STEPS_PER_TERM = 100  # a path takes few more steps than it has terms, but nobody promises that


class MCFS(FeatureSelector):
    """Multi-cluster feature selection: keeps the columns that together draw a graph's clusters.

    Rows are joined to their nearest ones. The smoothest eigenvectors of that graph tell its clusters apart; each is
    regressed on all columns with an l1 penalty (Lasso, by least angle regression) until the wanted number of columns
    takes part. A column is as good as its largest coefficient. Columns are chosen together: of several copies only the
    first is taken. They need a common unit.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all. Where more are wanted than take part in a
        regression, those that would have joined next fill up.
    n_clusters : int, default=5
        How many eigenvectors are looked at: about the number of clusters. Fewer than rows.
    n_neighbors : int, default=5
        How many of its nearest rows each row is joined to; what exceeds the other rows is cut.
    weights : {"heat", "binary", "cosine"}, default="heat"
        What an edge of length d weighs: ``exp(-d^2 / t)`` with the mean of all edges' ``d^2`` as t; 1; or the cosine of
        both rows, at least 0.
    n_nonzero : int or None, default=None
        How many columns take part in each regression, at most; what exceeds the columns, or the rows less one, is cut.
        None for half the columns and no more than 50: with many more, regressions fit single rows, whose rare columns
        then have the largest coefficients.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The largest absolute coefficient of each column. For columns in no regression, how near they came to joining
        one: from 0, as correlated with the residuals as those that take part (a copy of one, say), down to -1, not
        correlated at all or constant.
    coef_ : ndarray of shape (n_features_in_, n_clusters)
        The coefficients of the regressions.
    pseudo_labels_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, the smoothest first.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    objective_ : ndarray of shape (1,)
        Half the squared residuals of all regressions.
    n_iter_ : int
        The most steps that a regression took.
    n_features_in_ : int

    Notes
    -----
    The regressions have an intercept, so that nothing depends on the columns' origin: neither do the graph's
    neighbours.

    References
    ----------
    Cai, Zhang, He: Unsupervised feature selection for multi-cluster data, KDD 2010. Efron, Hastie, Johnstone,
    Tibshirani: Least angle regression, Annals of Statistics 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import MCFS
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 5.0, 10.0], 20)
    >>> X = np.column_stack([rng.normal(size=60), group + rng.normal(size=60), (group - 5) ** 2 + rng.normal(size=60)])
    >>> MCFS(2, n_clusters=2).fit(X).get_feature_names_out()
    array(['x1', 'x2'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        weights: str = "heat",
        n_nonzero: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_nonzero = n_nonzero

    def _rank(self, X: Matrix) -> Ranked:
        n_clusters = check_count("n_clusters", self.n_clusters)
        n, n_features = X.shape
        if n_clusters >= n:
            raise ValueError(f"n_clusters={n_clusters}, but X has {n} samples; ask for fewer clusters than samples.")
        half = min(50, (n_features + 1) // 2)
        most = min(half if self.n_nonzero is None else check_count("n_nonzero", self.n_nonzero), n - 1, n_features)
        X = as_doubles(X)
        W = neighbor_graph(X, self.n_neighbors, weights=self.weights)
        _, self.pseudo_labels_ = smooth_eigenvectors(W, n_clusters)
        targets = self.pseudo_labels_ - self.pseudo_labels_.mean(axis=0)
        columns = _as_columns(X)
        candidates = varying(X)
        self.coef_ = np.zeros((n_features, n_clusters))
        nearness = np.zeros(n_features)
        n_iter = 0
        for k in range(n_clusters):
            self.coef_[:, k], near, n_steps = _least_angle_lasso(columns, targets[:, k], candidates, most)
            nearness = np.maximum(nearness, near)
            n_iter = max(n_iter, n_steps)
        residuals = targets - columns.fitted(self.coef_)
        largest = np.abs(self.coef_).max(axis=1)
        scores = np.where(largest > 0, largest, nearness - 1)
        return Ranked(scores, [0.5 * np.sum(residuals**2)], n_iter)


def _least_angle_lasso(
    columns: _Columns, target: NDArray, candidates: NDArray[np.bool_], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """The Lasso's solution for the smallest penalty at which no more than `most` coefficients are non-zero.

    Along the path all active columns have the same correlation with the residuals up to sign, the penalty. It falls
    until another column is as correlated, which joins, or a coefficient reaches 0, which leaves. Also returned are the
    correlations as shares of the penalty, and the number of steps.
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
    n_steps = 0
    while penalty > smallest and (joining < 0 or len(active) < most):
        if n_steps == _STEPS_PER_TERM * most:
            warnings.warn(
                "A Lasso path of MCFS went to and fro between the same columns and was cut short; the columns may be "
                "nearly collinear.",
                ConvergenceWarning,
                stacklevel=5,
            )
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
    if penalty <= smallest:
        return coef, np.zeros(len(coef)), n_steps
    return coef, np.where(candidates, np.minimum(np.abs(correlations) / penalty, 1), 0), n_steps


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


class _Columns:
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


class _FewColumns(_Columns):
    """The same for few columns, whose products with each other are found once."""

    def __init__(self, X: NDArray):
        super().__init__(X)
        self.gram = self.X.T @ self.X

    def gram_column(self, active: list[int], column: int) -> tuple[NDArray, float]:
        return self.gram[active, column], self.gram[column, column]

    def gram_times(self, active: list[int], coef: NDArray) -> NDArray:
        return self.gram[:, active] @ coef


def _as_columns(X: Matrix) -> _Columns:
    few = not sp.issparse(X) and X.shape[1] <= min(X.shape[0], 2000)
    return _FewColumns(X) if few else _Columns(X)


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

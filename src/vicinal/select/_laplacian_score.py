"""Columns that neighbours agree about."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._magnitudes import as_doubles, columns_with_squares, with_squares
from .._validation import Matrix
from ..graphs import neighbor_graph
from ._base import FeatureSelector, Ranked
from ._columns import varying

_BLOCK = 2**23  # differences held at a time


class LaplacianScore(FeatureSelector):
    """Keeps the columns whose values are alike where rows are near.

    Rows are joined to their nearest ones; a column scores by how little it differs along the edges, compared with how
    much it varies at all. Each column is looked at alone: copies of a good column are good.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_neighbors : int, default=5
        How many of its nearest rows each row is joined to; what exceeds the other rows is cut.
    weights : {"heat", "binary", "cosine"}, default="heat"
        What an edge of length d weighs: ``exp(-d^2 / t)`` with the mean of all edges' ``d^2`` as t; 1; or the cosine of
        both rows, at least 0.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        For a column f, ``-f' L f / f' D f`` once its mean, rows weighted by their degrees, has been taken away: L is
        the graph's Laplacian, D the diagonal matrix of its degrees. Between -2 and 0, high for columns that neighbours
        agree about; -2 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    objective_ : ndarray of shape (1,)
        The sum of the kept columns' scores.
    n_iter_ : int
        1.
    n_features_in_ : int

    References
    ----------
    He, Cai, Niyogi: Laplacian score for feature selection, NIPS 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LaplacianScore
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 5.0, 10.0], 20)
    >>> X = np.column_stack([rng.normal(size=60), group + rng.normal(size=60), -group + rng.normal(size=60)])
    >>> LaplacianScore(2).fit(X).get_feature_names_out()
    array(['x1', 'x2'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_neighbors: int = 5,
        weights: str = "heat",
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        X = as_doubles(X)
        W = neighbor_graph(with_squares(X)[0], self.n_neighbors, weights=self.weights)
        X, _ = columns_with_squares(X)
        spread = degree_spread(X, W)
        varies = spread > 0
        scores = np.full(X.shape[1], -2.0)
        scores[varies] = -np.minimum(edge_differences(X, W)[varies] / spread[varies], 2)
        return Ranked(scores)


def weighted_sums(X: Matrix, weights: NDArray) -> NDArray[np.float64]:
    """Of the columns; those of equal columns are equal to the last bit, which BLAS does not promise."""
    return X.T @ weights if sp.issparse(X) else np.einsum("ij,i->j", X, weights)


def edge_differences(X: Matrix, W: sp.csr_array) -> NDArray[np.float64]:
    """``f' L f`` of every column f: the weighted squared differences along the edges, of which none cancels."""
    edges = sp.triu(W, k=1, format="coo")
    totals = np.zeros(X.shape[1])
    values_per_edge = 2 * X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
    size = max(1, int(_BLOCK / max(values_per_edge, 1)))
    for start in range(0, edges.nnz, size):
        block = slice(start, start + size)
        differences = X[edges.row[block]] - X[edges.col[block]]
        squares = differences.multiply(differences) if sp.issparse(X) else np.square(differences, out=differences)
        totals += weighted_sums(squares, edges.data[block])
    return totals


def degree_spread(X: Matrix, W: sp.csr_array) -> NDArray[np.float64]:
    """``f' D f`` of every column f less its mean; exactly 0 where the rows with edges have all the same value."""
    degrees = W.sum(axis=1)
    joined = degrees > 0
    if not joined.all():
        X, degrees = X[joined], degrees[joined]
    if not len(degrees):
        return np.zeros(X.shape[1])
    total = degrees.sum()
    means = weighted_sums(X, degrees) / total
    if sp.issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        weights, shifted = degrees[rows], X.data - means[X.indices]
        absent = np.where(
            np.bincount(X.indices, minlength=X.shape[1]) < len(degrees), total - _by_column(X, weights), 0
        )
        sums = _by_column(X, weights * shifted) - absent * means
        squares = _by_column(X, weights * shifted**2) + absent * means**2
    else:
        shifted = X - means
        sums = weighted_sums(shifted, degrees)
        squares = weighted_sums(np.square(shifted, out=shifted), degrees)
    # The means are rounded: what is left of them is taken away again.
    return np.where(varying(X), np.maximum(squares - sums**2 / total, 0), 0)


def _by_column(X: sp.csr_array, values: NDArray) -> NDArray[np.float64]:
    return np.bincount(X.indices, weights=values, minlength=X.shape[1]).astype(np.float64, copy=False)

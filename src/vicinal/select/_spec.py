"""Columns that follow a graph's spectrum."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._magnitudes import as_doubles, columns_with_squares, with_squares
from .._validation import Matrix, check_choice, check_count
from ..graphs import laplacian, neighbor_graph, smooth_eigenvectors
from ._base import FeatureSelector, Ranked
from ._laplacian_score import degree_spread, edge_differences, weighted_sums

CRITERIA = ("centered", "total", "leading")

_BLOCK = 2**22  # values of dense columns held at a time


class SPEC(FeatureSelector):
    """Keeps the columns that lie in the smooth part of a graph's spectrum.

    Rows are joined to their nearest ones. The eigenvectors of the graph's normalised Laplacian, from smooth to rough,
    are a basis for the columns; a column is good where its weight lies on the smooth ones. Each column is looked at
    alone: copies of a good column are good.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    criterion : {"centered", "total", "leading"}, default="centered"
        With unit columns h and the normalised Laplacian N, see `scores_`: "total" (phi_1 of the paper) is
        ``h' N^power h``, the roughness of the whole column. Its flaw is that the trivial eigenvector, on which constant
        columns lie, counts as the smoothest of all: whatever has a large mean looks good. "centered" (phi_2) divides it
        by the share of h that is not on the trivial eigenvector. "leading" (phi_3) counts only what h has on the
        `n_vectors` smoothest eigenvectors without the trivial one, the smoother the more.
    n_neighbors : int, default=5
        How many of its nearest rows each row is joined to; what exceeds the other rows is cut.
    weights : {"heat", "binary", "cosine"}, default="heat"
        What an edge of length d weighs: ``exp(-d^2 / t)`` with the mean of all edges' ``d^2`` as t; 1; or the cosine of
        both rows, at least 0.
    power : int, default=1
        Eigenvalues count as ``lambda^power``: the higher, the less what is nearly smooth is blamed. "centered" with
        power 1 is the Laplacian score.
    n_vectors : int, default=5
        How many eigenvectors "leading" looks at; fewer than rows.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Higher is better. For a column f, ``h = D^1/2 f / ||D^1/2 f||`` with the degrees on the diagonal of D; "total":
        ``-h' N^power h``; "centered": the same divided by ``1 - (h' x_0)^2`` with the trivial eigenvector x_0, both
        between ``-2^power`` and 0; "leading": the sum of ``(2^power - lambda_j^power) (h' x_j)^2`` over the other
        eigenvectors x_j, at least 0. Constant columns have the lowest possible score.
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
    Zhao, Liu: Spectral feature selection for supervised and unsupervised learning, ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import SPEC
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 5.0, 10.0], 20)
    >>> X = np.column_stack([rng.normal(size=60), group + rng.normal(size=60), -group + rng.normal(size=60)])
    >>> SPEC(2, criterion="leading", n_vectors=2).fit(X).get_feature_names_out()
    array(['x1', 'x2'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        criterion: str = "centered",
        n_neighbors: int = 5,
        weights: str = "heat",
        power: int = 1,
        n_vectors: int = 5,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.power = power
        self.n_vectors = n_vectors
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        check_choice("criterion", self.criterion, CRITERIA)
        power = check_count("power", self.power)
        n_vectors = check_count("n_vectors", self.n_vectors)
        X = as_doubles(X)
        if self.criterion == "leading" and n_vectors >= X.shape[0]:
            raise ValueError(
                f"n_vectors={n_vectors}, but X has {X.shape[0]} samples; criterion='leading' needs fewer vectors than "
                "samples."
            )
        W = neighbor_graph(with_squares(X)[0], self.n_neighbors, weights=self.weights)
        X, _ = columns_with_squares(X)
        spread = degree_spread(X, W)
        varies = spread > 0
        scores = np.full(X.shape[1], 0.0 if self.criterion == "leading" else -(2.0**power))
        if not varies.any():
            return Ranked(scores)
        if self.criterion == "leading":
            values, vectors = smooth_eigenvectors(W, n_vectors)
            parts = (X.T @ (W.sum(axis=1)[:, None] * vectors))[varies] ** 2
            scores[varies] = parts @ (2.0**power - values**power) / _squared_lengths(X, W)[varies]
        else:
            lengths = spread if self.criterion == "centered" else _squared_lengths(X, W)
            scores[varies] = -np.minimum(_roughness(X, W, power)[varies] / lengths[varies], 2.0**power)
        return Ranked(scores)


def _squared_lengths(X: Matrix, W: sp.csr_array) -> NDArray[np.float64]:
    """``f' D f`` of every column f."""
    return weighted_sums(X * X, W.sum(axis=1))


def _roughness(X: Matrix, W: sp.csr_array, power: int, block_values: int = _BLOCK) -> NDArray[np.float64]:
    """``g' N^power g`` of every column f, with ``g = D^1/2 f``; N has the power's half applied to both sides."""
    if power == 1:
        return edge_differences(X, W)
    N = laplacian(W, normalized=True)
    degrees = W.sum(axis=1)
    roots = np.sqrt(degrees)[:, None]
    columns = sp.csc_array(X) if sp.issparse(X) else X
    size = max(1, block_values // X.shape[0])
    totals = np.empty(X.shape[1])
    for start in range(0, X.shape[1], size):
        block = columns[:, start : start + size]
        block = block.toarray() if sp.issparse(block) else block
        # N takes a column's mean to 0, in exact arithmetic only.
        block = roots * (block - weighted_sums(block, degrees) / degrees.sum())
        for _ in range(power // 2):
            block = N @ block
        other = N @ block if power % 2 else block
        totals[start : start + size] = np.einsum("ij,ij->j", block, other)
    return np.maximum(totals, 0)

"""Columns that tell neighbourhoods apart, chosen together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads
from .._magnitudes import as_doubles
from .._optim import RowForm, minimize_trace, row_lengths
from .._validation import Matrix, check_count, check_non_negative, check_positive
from ..graphs import nearest_rows
from ._base import FeatureSelector, Ranked
from ._columns import check_cluster_count, varying

_BLOCK = 2**22  # values of rows held at a time


class UDFS(FeatureSelector):
    """Unsupervised discriminative feature selection: few columns, and combinations of them that vary little nearby.

    Looks for `n_clusters` orthonormal combinations W of the columns that scatter little within each row's
    neighbourhood, compared with how much the neighbourhood scatters at all, and that use few columns::

        min  Tr(W' M W) + gamma sum_i ||w_i||   with  W' W = I,
        M = X' [ sum_i S_i H (X_i X_i' + ridge I)^-1 H S_i' ] X

    where S_i picks row i and its nearest ones, H takes their mean away and X_i are these centred rows. A column scores
    by the length of its row of W.

    Nothing in this asks a column to vary: of two columns the one in the smaller unit scatters less. **Bring columns to
    a common scale first.** Each ``||w_i||`` is at most 1 and their squares sum to `n_clusters`, so that a
    `sparsity` that outweighs M leaves little more than `n_clusters` columns; the others, whose coefficients are tiny,
    are then ranked by how steeply the scatter would fall if they joined in. Pairs of nearly equal columns are liked:
    their difference scatters very little.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_clusters : int, default=5
        The number of combinations, which stand for the classes that are looked for. What exceeds the columns that are
        not constant is cut; with as many, all of these score 1.
    n_neighbors : int, default=5
        How many of its nearest rows belong to each row's neighbourhood; what exceeds the other rows is cut.
    sparsity : float, default=1.0
        How much it costs to use many columns; gamma above and in the paper.
    ridge : float, default=1.0
        What is added to the squares in each neighbourhood before they are inverted (lambda in the paper): with a large
        one all neighbourhoods count alike, with a small one tight ones count more.
    max_iter : int, default=300
        Most reweightings.
    tol : float, default=1e-5
        Ends when the objective falls by less than this share of it.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The lengths of the rows of `coef_`; 0 for constant columns.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    coef_ : ndarray of shape (n_features_in_, n_clusters)
        W. It has fewer columns where `n_clusters` was cut.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, after each reweighting; it never rises.
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    Each reweighting replaces ``||w_i||`` by a parabola above it that touches it at the last W, and takes a W for which
    the sum of parabolas is not higher: the best one in a space that holds the last W and three steps of inverse
    iteration from it. The problem is not convex. The search starts from the `n_clusters` columns that are best alone.
    ``sqrt(||w_i||^2 + 1e-12)`` stands for ``||w_i||`` everywhere, so that no row of W is exactly 0 and all columns can
    be ranked. X stays sparse; systems are n_samples x n_samples, or as wide as X if that is less.

    References
    ----------
    Yang, Shen, Ma, Huang, Zhou: l2,1-norm regularized discriminative feature selection for unsupervised learning,
    IJCAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import UDFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 8))
    >>> X[:, 2:4] += np.repeat([[0.0, 8.0], [8.0, 0.0], [8.0, 8.0]], 30, axis=0)
    >>> X /= X.std(axis=0)
    >>> UDFS(2, n_clusters=2).fit(X).get_feature_names_out()
    array(['x2', 'x3'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        sparsity: float = 1.0,
        ridge: float = 1.0,
        max_iter: int = 300,
        tol: float = 1e-5,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.sparsity = sparsity
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        n_clusters = check_cluster_count(self.n_clusters, X.shape[0])
        check_count("n_neighbors", self.n_neighbors)
        gamma = check_positive("sparsity", self.sparsity)
        ridge = check_positive("ridge", self.ridge)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        X = as_doubles(X)
        n_columns = X.shape[1]
        kept = np.flatnonzero(varying(X))
        self.coef_ = np.zeros((n_columns, min(n_clusters, len(kept))))
        if not len(kept):
            return Ranked(np.zeros(n_columns), [0.0])
        if self.coef_.shape[1] == len(kept):
            self.coef_[kept] = np.eye(len(kept))  # as many combinations as columns: none can be left out
            return Ranked(row_lengths(self.coef_), [gamma * len(kept)])
        X = X[:, kept]
        if not sp.issparse(X):
            X = X - X.mean(axis=0)  # which changes nothing but digits
        scatter = neighborhood_scatter(X, self.n_neighbors, ridge)
        found = minimize_trace(
            X,
            RowForm(scatter),
            self.coef_.shape[1],
            gamma,
            max_iter=self.max_iter,
            tol=self.tol,
            n_threads=n_threads(None),
        )
        self.coef_[kept] = found.solution
        return Ranked.by(found, row_lengths(self.coef_), steps="reweightings")


def neighborhood_scatter(X: Matrix, n_neighbors: int, ridge: float) -> sp.csr_array:
    """B = sum_i S_i H (X_i X_i' + ridge I)^-1 H S_i', such that M = X' B X. Its rows sum to 0."""
    n = X.shape[0]
    members = np.column_stack([np.arange(n), nearest_rows(X, n_neighbors=n_neighbors)[1]])
    size = members.shape[1]
    centring = np.eye(size) - 1 / size
    # Distances do not change with the origin: no mean has to be taken from sparse rows, and nothing cancels.
    grams = centring @ (-0.5 * _squared_distances(X, members)) @ centring
    inner = centring @ np.linalg.inv(grams + ridge * np.eye(size)) @ centring
    inner = (inner + inner.transpose(0, 2, 1)) / 2
    places = np.repeat(members, size, axis=1).ravel(), np.tile(members, size).ravel()
    return sp.csr_array(sp.coo_array((inner.ravel(), places), shape=(n, n)))


def _squared_distances(X: Matrix, members: NDArray[np.intp]) -> NDArray[np.float64]:
    """Between the rows of each group of rows."""
    n, size = members.shape
    squared = np.zeros((n, size, size))
    values_per_row = X.nnz / X.shape[0] if sp.issparse(X) else X.shape[1]
    step = max(1, int(_BLOCK / max(values_per_row, 1)))
    for start in range(0, n, step):
        block = slice(start, start + step)
        for a in range(size):
            for b in range(a + 1, size):
                differences = X[members[block, a]] - X[members[block, b]]
                squares = differences.multiply(differences) if sp.issparse(X) else differences**2
                squared[block, a, b] = squared[block, b, a] = squares.sum(axis=1)
    return squared

"""Columns that few-termed regressions need to draw the clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._magnitudes import as_doubles, with_squares
from .._optim import LassoPath, Solved, as_columns, least_angle_lasso
from .._validation import Matrix, check_count
from ..graphs import neighbor_graph, smooth_eigenvectors
from ._base import FeatureSelector, Ranked
from ._columns import varying


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
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

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
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_nonzero = n_nonzero
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        n_clusters = check_count("n_clusters", self.n_clusters)
        n, n_features = X.shape
        if n_clusters >= n:
            raise ValueError(f"n_clusters={n_clusters}, but X has {n} samples; ask for fewer clusters than samples.")
        half = min(50, (n_features + 1) // 2)
        most = min(half if self.n_nonzero is None else check_count("n_nonzero", self.n_nonzero), n - 1, n_features)
        X, unit = with_squares(as_doubles(X))
        W = neighbor_graph(X, self.n_neighbors, weights=self.weights)
        _, self.pseudo_labels_ = smooth_eigenvectors(W, n_clusters)
        targets = self.pseudo_labels_ - self.pseudo_labels_.mean(axis=0)
        columns = as_columns(X)
        candidates = varying(X)
        paths = [least_angle_lasso(columns, targets[:, k], candidates, most) for k in range(n_clusters)]
        self.coef_ = np.column_stack([path.solution for path in paths]) / unit
        return ranked_by_paths(paths, self.coef_)


def ranked_by_paths(paths: list[LassoPath], coef: NDArray[np.float64]) -> Ranked:
    """What the paths of all pseudo labels say together; one that was cut short is enough for a warning."""
    nearness = np.max([path.nearness for path in paths], axis=0)
    largest = np.abs(coef).max(axis=1)
    scores = np.where(largest > 0, largest, nearness - 1)
    together = Solved(
        coef,
        [sum(path.objective[-1] for path in paths)],
        max(path.n_iter for path in paths),
        all(path.converged for path in paths),
    )
    return Ranked.by(together, scores, cure="remove columns that are nearly sums of others, or lower n_nonzero")

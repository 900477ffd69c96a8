"""Columns from which clusters that neighbours share can be predicted."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from .._calls import n_threads, one_blas_thread
from .._magnitudes import as_doubles
from .._messages import warn
from .._optim import (
    Form,
    RowWeightedRidge,
    Solved,
    descend_by_reweighting,
    multiplicative_step,
    orthogonal_parts,
    row_lengths,
)
from .._validation import Matrix, check_count, check_non_negative, check_positive
from .._views import take_columns
from ..graphs import laplacian, neighbor_graph, smooth_eigenvectors
from ._base import FeatureSelector, Ranked
from ._columns import check_cluster_count, telling, varying

Array = NDArray[np.float64]

_LABEL_STEPS = 30  # of the pseudo labels, for each reweighting


class NDFS(FeatureSelector):
    """Nonnegative discriminative feature selection: few columns that predict clusters which neighbours share.

    Pseudo labels F, a non-negative and nearly orthogonal indicator of clusters, and the coefficients W of their
    regression on few columns are found together::

        min  Tr(F' L F) + alpha (||X W - F||^2 + beta sum_i ||w_i||)   with  F' F = I, F >= 0

    where L is the normalised Laplacian of a graph of nearest rows. A column scores by the length of its row of W.
    Columns should have a common scale; the regression has no intercept.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_clusters : int, default=5
        The number of pseudo classes, the columns of F.
    n_neighbors : int, default=5
        How many of its nearest rows each row is joined to; what exceeds the other rows is cut.
    regression_weight : float, default=1.0
        How much the labels listen to the columns rather than to the graph; alpha above and in the paper.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    orthogonality : float, default=100.0
        What ``||F' F - I||^2 / 2`` costs; the constraint is kept to about ``(2 + alpha) / orthogonality``. It has to be
        well above ``2 + alpha``, or labels shrink to 0. With very large ones (1e8 is often seen) the labels cannot
        leave the clusters they start from.
    max_iter : int, default=300
        Most reweightings.
    tol : float, default=1e-4
        Ends when the objective falls by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Starts the k-means that finds the first labels.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The lengths of the rows of `coef_`; 0 for constant columns. Those of columns that the minimum does without are
        tiny, and tell which of them come nearest to being used.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    coef_ : ndarray of shape (n_features_in_, n_clusters)
        W.
    pseudo_labels_ : ndarray of shape (n_samples, n_clusters)
        F; the largest entry of a row tells its cluster.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, with the cost of what is left of ``F' F - I``, after each reweighting; it never rises.
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    Each reweighting replaces ``||w_i||`` by a parabola above it that touches it at the last W. The best W for any F is
    then linear in F, and what is left is ``Tr(F' P F)`` with ``P = L + alpha (I - X (X' X + beta Lambda)^-1 X')``: F
    goes downhill on it by multiplicative steps, then W follows. Neither can raise the objective. X stays sparse;
    systems are n_samples x n_samples, or as wide as X if that is less. F starts from k-means on the graph's smoothest
    eigenvectors, as indicators + 0.2 with columns of unit length.

    References
    ----------
    Li, Yang, Liu, Zhou, Lu: Unsupervised feature selection using nonnegative spectral analysis, AAAI 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import NDFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 8))
    >>> X[:, 2:4] += np.repeat([[0.0, 8.0], [8.0, 0.0], [8.0, 8.0]], 30, axis=0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> NDFS(2, n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['x2', 'x3'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        regression_weight: float = 1.0,
        sparsity: float = 1.0,
        orthogonality: float = 100.0,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.regression_weight = regression_weight
        self.sparsity = sparsity
        self.orthogonality = orthogonality
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        n_clusters = check_cluster_count(self.n_clusters, X.shape[0])
        check_count("n_neighbors", self.n_neighbors)
        alpha = check_positive("regression_weight", self.regression_weight)
        beta = check_positive("sparsity", self.sparsity)
        orthogonality = check_positive("orthogonality", self.orthogonality)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        X = as_doubles(X)
        varies = varying(X)
        views = telling(self._rivals(), varies)
        graphs = [neighbor_graph(take_columns(X, columns), self.n_neighbors) for columns in views]
        kept = [columns[varies[columns]] for columns in views]
        problem = _Problem(
            [take_columns(X, columns) for columns in kept],
            _mean([laplacian(graph, normalized=True) for graph in graphs]),
            alpha,
            beta,
            orthogonality,
        )
        F = spectral_indicators(_mean(graphs), n_clusters, self.random_state)
        found = problem.minimise(F, self.max_iter, self.tol)
        F, W = found.solution
        if len(W) and not problem.keeps_some(F):
            warn(
                f"sparsity={self.sparsity} keeps no column: with these labels the best coefficients are all 0, and the "
                "ranking tells which columns come nearest to being used; lower sparsity, or scale X up."
            )
        self.coef_ = np.zeros((X.shape[1], n_clusters))
        self.coef_[np.concatenate(kept)] = W
        self.pseudo_labels_ = F
        return Ranked.by(found, row_lengths(self.coef_), steps="reweightings")


def spectral_indicators(graph: sp.csr_array, n_clusters: int, random_state: int | RandomState | None) -> Array:
    """A first F from spectral clusters: positive everywhere, so that multiplicative steps can change all of it."""
    n = graph.shape[0]
    _, embedding = smooth_eigenvectors(graph, min(max(n_clusters - 1, 1), n - 1))
    clusters = KMeans(n_clusters, n_init=10, random_state=random_state).fit_predict(embedding)
    F = np.full((n, n_clusters), 0.2)
    F[np.arange(n), clusters] += 1
    return F / np.linalg.norm(F, axis=0)


def _mean(matrices: list[sp.csr_array]) -> sp.csr_array:
    return sp.csr_array(sum(matrices[1:], matrices[0]) / len(matrices))


class _Problem:
    """Tr(F' L F) + the views' mean of alpha (||X W - F||^2 + beta ||W||_{2,1}) + orthogonality / 2 ||F' F - I||^2."""

    def __init__(
        self, views: list[Matrix], L: sp.csr_array, alpha: float, beta: float, orthogonality: float, form: Form = "auto"
    ):
        self.views, self.L, self.form = views, L, form
        self.alpha, self.beta, self.orthogonality = alpha / len(views), beta, orthogonality
        ends = np.cumsum([0, *(X.shape[1] for X in views)])
        self.columns = [slice(*ends[v : v + 2]) for v in range(len(views))]

    def minimise(self, F: Array, max_iter: int, tol: float) -> Solved[tuple[Array, Array]]:
        """F and W, the views' coefficients one below the other."""

        def step(state: tuple[Array, Array], spread: Array) -> tuple[Array, Array]:
            ridges = [
                RowWeightedRidge(X, spread[columns], self.beta, form=self.form, n_threads=n_threads(None))
                for X, columns in zip(self.views, self.columns, strict=True)
            ]
            with one_blas_thread():  # solves with few columns
                labels = self._lower_labels(state[0], ridges)
            return labels, np.vstack([ridge.coefficients(labels) for ridge in ridges])

        n_columns = self.columns[-1].stop
        start = F, np.zeros((n_columns, F.shape[1]))
        return descend_by_reweighting(
            step,
            lambda state: self.value(*state),
            start,
            np.ones(n_columns),
            coefficients=lambda state: state[1],
            max_iter=max_iter,
            tol=tol,
        )

    def value(self, F: Array, W: Array) -> float:
        regression = self.beta * row_lengths(W).sum()
        for X, columns in zip(self.views, self.columns, strict=True):
            residual = F - X @ W[columns]
            regression += np.vdot(residual, residual)
        return float(np.vdot(F, self.L @ F) + self.alpha * regression + self._constraint(F))

    def keeps_some(self, F: Array) -> bool:
        """Whether W = 0 is not the best for F: some column's gradient there exceeds the slope of its length."""
        return any((2 * row_lengths(X.T @ F) > self.beta).any() for X in self.views)

    def _constraint(self, F: Array) -> float:
        away = F.T @ F - np.eye(F.shape[1])
        return float(self.orthogonality / 2 * np.vdot(away, away))

    def _lower_labels(self, F: Array, ridges: list[RowWeightedRidge]) -> Array:
        """Goes down on Tr(F' P F) and the constraint's cost: W is always the one that is best for F."""
        product = np.empty_like(F)

        def value(candidate: Array) -> float:
            np.add(self.L @ candidate, self.alpha * sum(ridge.residual(candidate) for ridge in ridges), out=product)
            return float(np.vdot(candidate, product) + self._constraint(candidate))

        reached = value(F)
        for _ in range(_LABEL_STEPS):
            before = F
            # `product` is that of F: the last candidate looked at is the one that is taken.
            F, reached = multiplicative_step(F, *orthogonal_parts(F, product, self.orthogonality), value, reached)
            if F is before:
                break
        return F

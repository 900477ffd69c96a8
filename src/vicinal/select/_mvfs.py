"""Columns of several views from which clusters that neighbours share can be predicted."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState

from ._multi_view import MultiViewSelector
from ._ndfs import NDFS


class MVFS(MultiViewSelector, NDFS):
    """Multi-view feature selection: few columns of each view that predict clusters on which all views agree.

    Pseudo labels F, a non-negative and nearly orthogonal indicator of clusters, are common to all views; the
    coefficients W_v of their regression on few columns are each view's own. With m views::

        min  1/m sum_v [ Tr(F' L_v F) + alpha (||X_v W_v - F||^2 + beta ||W_v||_{2,1}) ]   with  F' F = I, F >= 0

    where L_v is the normalised Laplacian of a graph of the view's nearest rows, and the last norm is the sum of the
    lengths of the rows of W_v, by which its columns score. Of one view this is `NDFS`. Columns should have a common
    scale; the regression has no intercept.

    Parameters
    ----------
    n_features_to_select : int, float, "all", sequence or mapping, default=0.5
        How many columns of each view are kept: a number, a share of them, or all; or one of these per view, in their
        order or by name.
    views : None, sequence or mapping, default=None
        The columns of each view, as `vicinal.views.stack_views` describes them: how many there are, side by side, or
        which. None for one view.
    n_clusters : int, default=5
        The number of pseudo classes, the columns of F.
    n_neighbors : int, default=5
        How many of its nearest rows each row is joined to in each view; what exceeds the other rows is cut.
    regression_weight : float, default=1.0
        How much the labels listen to the columns rather than to the graphs; alpha above and in the paper.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    orthogonality : float, default=100.0
        What ``||F' F - I||^2 / 2`` costs, see `NDFS`.
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
        The lengths of the rows of `coef_`; 0 for constant columns.
    view_scores_ : dict of str to ndarray
        The scores of each view's columns.
    views_ : dict of str to ndarray of int
        The columns of each view.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column among all: first by its place within its view, then by its score.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    coef_ : ndarray of shape (n_features_in_, n_clusters)
        W of each view, in the rows of its columns.
    pseudo_labels_ : ndarray of shape (n_samples, n_clusters)
        F; the largest entry of a row tells its cluster.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, with the cost of what is left of ``F' F - I``, after each reweighting; it never rises.
    n_iter_ : int
    n_features_in_ : int

    Notes
    -----
    All views count alike; the paper's weights of views are 1 / m. F starts from k-means on the smoothest eigenvectors
    of the views' mean graph, and is found as in `NDFS`. Systems are n_samples x n_samples for each view, or as wide as
    the view if that is less.

    References
    ----------
    Tang, Hu, Gao, Liu: Unsupervised feature selection for multi-view data in social media, SDM 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import MVFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 10))
    >>> X[:, [2, 7]] += np.repeat([[0.0, 8.0], [8.0, 0.0], [8.0, 8.0]], 30, axis=0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> MVFS(1, views=[5, 5], n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['x2', 'x7'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        views: Any = None,
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
        self.views = views
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.regression_weight = regression_weight
        self.sparsity = sparsity
        self.orthogonality = orthogonality
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

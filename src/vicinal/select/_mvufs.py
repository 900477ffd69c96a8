"""Columns of several views that predict clusters, some rows of which may be outlying."""

from __future__ import annotations

from typing import Any

from ._multi_view import MultiViewSelector
from ._rufs import RUFS


class MVUFS(MultiViewSelector, RUFS):
    """Multi-view unsupervised feature selection: few columns of each view that predict clusters common to all views.

    Pseudo labels F, a non-negative and nearly orthogonal indicator of clusters, are common to all views; the clusters'
    non-negative centres C_v and the coefficients W_v of a regression of the labels on few columns are each view's own.
    With m views::

        min  1/m sum_v [ ||X_v - F C_v||_{2,1} + nu Tr(F' L_v F) + alpha ||X_v W_v - F||_{2,1} + beta ||W_v||_{2,1} ]
        with  F' F = I,  F >= 0,  C_v >= 0

    where the norms are sums of the lengths of rows, and L_v tells how far labels are from what ridge regression within
    each row's neighbourhood in the view predicts. A column scores by the length of its row of W_v. Of one view this is
    `RUFS`. X must not be negative. Columns and views should have a common scale, and columns be 0 where they say
    nothing, like counts and TF-IDF: the regression has no intercept.

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
        How many nearest rows predict a row's labels in each view; what exceeds the other rows is cut.
    regression_weight : float, default=1.0
        How much labels should be what the columns predict; alpha above and in the paper.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    smoothness : float, default=1.0
        How much labels should be what neighbours predict; nu above.
    orthogonality : float, default=30.0
        What ``||F' F - I||^2 / 2`` costs, in units of the rows' total length per cluster, see `RUFS`.
    ridge : float, default=1.0
        How cautious predictions by neighbours are, in units of the neighbours' mean squared length.
    max_iter : int, default=200
        Most rounds of 60 steps each.
    tol : float, default=1e-5
        Ends when the objective falls by less than this share of it in a round.
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
        What is minimised, with the cost of what is left of the constraint, after each round; it never rises.
    n_iter_ : int
        The number of rounds.
    n_features_in_ : int

    Notes
    -----
    Lengths are smoothed and the whole is solved as in `RUFS`, each view by its own usual length of rows. F starts from
    k-means on all columns.

    References
    ----------
    Qian, Zhai: Unsupervised feature selection for multi-view clustering on text-image web news data, CIKM 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import MVUFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(0.3, size=(90, 10)).astype(float)
    >>> X[:, [2, 3, 7]] += np.repeat(np.eye(3), 30, axis=0) * rng.poisson(4, size=(90, 3))
    >>> MVUFS([2, 1], views=[5, 5], n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['x2', 'x3', 'x7'], dtype=object)
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
        smoothness: float = 1.0,
        orthogonality: float = 30.0,
        ridge: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.views = views
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.regression_weight = regression_weight
        self.sparsity = sparsity
        self.smoothness = smoothness
        self.orthogonality = orthogonality
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

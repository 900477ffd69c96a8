"""From features to clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.extmath import randomized_svd, svd_flip
from sklearn.utils.validation import check_is_fitted

from ._agreeing_views import FORMS, agree, normalized_similarities
from ._calls import obeys_n_jobs
from ._messages import warn
from ._validation import (
    all_or_nothing,
    check_choice,
    check_count,
    check_non_negative,
    check_positive,
    checked_rows,
    refuse_other_than_numbers,
)
from .graphs import leading_eigenvectors
from .network import Network
from .views import split_views, stack_views


def repeated_kmeans(
    X: ArrayLike, n_clusters: int, *, n_runs: int = 20, n_starts: int = 1, unit_rows: bool = True
) -> NDArray[np.int32]:
    """Clusters of k-means, started anew `n_runs` times.

    Clusters show what unsupervised features are good for. One run says little, since k-means ends near where it began:
    its starts (k-means++) are drawn with the run's number as the seed.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
    n_runs : int, default=20
    n_starts : int, default=1
        Starts of every run, of which the one with the smallest sum of squares counts; labels are not used.
    unit_rows : bool, default=True
        Whether rows are scaled to unit length first. This matters most after columns of text were selected: short and
        long texts become comparable. Rows of zeros stay as they are.

    Returns
    -------
    ndarray of shape (n_runs, n_samples)
        The cluster of each row, by run.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.cluster import repeated_kmeans
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> [round(clustering_accuracy(y, clusters), 2) for clusters in repeated_kmeans(X, 3, n_runs=3)]
    [0.97, 0.97, 0.97]
    """
    check_count("n_clusters", n_clusters)
    check_count("n_runs", n_runs)
    check_count("n_starts", n_starts)
    refuse_other_than_numbers(X, "repeated_kmeans")
    rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32))
    _refuse_few_rows(n_clusters, rows.shape[0])
    if unit_rows:
        rows = normalize(rows)
    return np.stack([KMeans(n_clusters, n_init=n_starts, random_state=run).fit_predict(rows) for run in range(n_runs)])


def _refuse_few_rows(n_clusters: int, n_rows: int) -> None:
    if n_clusters > n_rows:
        raise ValueError(
            f"n_clusters is {n_clusters}, but there are only {n_rows} rows; take at most as many clusters."
        )


def cluster_links(adjacency: Any, n_clusters: int, *, n_runs: int = 20, n_starts: int = 1) -> NDArray[np.int32]:
    """Clusters of nodes by the links between them alone: spectral clustering, its k-means started `n_runs` times.

    With A the adjacency, D its degrees and t their mean, nodes are placed by the leading eigenvectors of
    ``(D + t I)^-1/2 A (D + t I)^-1/2`` and scaled to unit length. Adding t, which plain spectral clustering does not,
    keeps nodes with few links and small separate parts of the network from being taken for clusters.

    Parameters
    ----------
    adjacency : array-like, sparse matrix or Network of shape (n_nodes, n_nodes)
        Weights of links; those that go one way only count both ways.
    n_clusters : int
        As many eigenvectors are taken.
    n_runs, n_starts : int
        See `repeated_kmeans`.

    Returns
    -------
    ndarray of shape (n_runs, n_nodes)
        The cluster of each node, by run. Nodes without links lie together.

    References
    ----------
    Qin, Rohe: Regularized spectral clustering under the degree-corrected stochastic blockmodel, NIPS 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.cluster import cluster_links
    >>> two_groups = np.kron(np.eye(2), 1 - np.eye(4))
    >>> two_groups[3, 4] = two_groups[4, 3] = 1
    >>> clusters = cluster_links(two_groups, 2, n_runs=1)[0]
    >>> (clusters == clusters[0]).tolist()
    [True, True, True, True, False, False, False, False]
    """
    network = adjacency if isinstance(adjacency, Network) else Network(adjacency)
    links = network.undirected().tocsr()
    if not links.nnz:
        raise ValueError("The network has no links, so that they tell no clusters.")
    if check_count("n_clusters", n_clusters) > network.n_nodes:
        raise ValueError(f"n_clusters is {n_clusters}, but there are only {network.n_nodes} nodes; ask for fewer.")
    degrees = np.asarray(links.sum(axis=1)).ravel()
    scale = sp.diags_array(1 / np.sqrt(degrees + degrees.mean()))
    _, places = leading_eigenvectors(sp.csr_array(scale @ links @ scale), n_clusters)
    return repeated_kmeans(places, n_clusters, n_runs=n_runs, n_starts=n_starts)


def cluster_views(
    X: Any,
    n_clusters: int,
    *,
    views: Any = None,
    agreement: float = 0.1,
    form: str = "pairwise",
    bandwidth: float | None = None,
    n_runs: int = 20,
    n_starts: int = 1,
    max_iter: int = 100,
    tol: float = 1e-5,
) -> NDArray[np.int32]:
    """Clusters on which several views of the rows agree: co-regularised spectral clustering, then k-means.

    Each view v has its similarity ``S = exp(-d^2 / (2 sigma^2))`` of rows at a distance d, ``N_v = D^-1/2 S D^-1/2``
    with the sums of its rows in D, and places the rows by orthonormal columns U_v, as many as there are clusters. All
    are found together::

        max  sum_v Tr(U_v' N_v U_v) + lambda sum_{v < w} ||U_v' U_w||^2    pairwise
        max  sum_v (Tr(U_v' N_v U_v) + lambda ||U_v' U*||^2)               with a centroid U*

    and k-means runs on rows of unit length of all U_v side by side, or of U*.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or list of them
        Views side by side, or one matrix for each. Rows should be comparable; those of text should have unit length.
    n_clusters : int
    views : None, sequence or mapping, default=None
        The columns of each view, see `vicinal.views.split_views`. None for one view: spectral clustering.
    agreement : float, default=0.1
        How much views are drawn towards each other; lambda above and in the paper. 0 leaves each as it is.
    form : {"pairwise", "centroid"}, default="pairwise"
        Whether views are drawn towards each other, or all towards one more.
    bandwidth : float or None, default=None
        sigma; None for the median distance of two rows in the view, or of two that differ if most do not.
    n_runs, n_starts : int
        See `repeated_kmeans`.
    max_iter : int, default=100
        Most passes over the views.
    tol : float, default=1e-5
        Ends when a pass adds less than this share to what is maximised.

    Returns
    -------
    ndarray of shape (n_runs, n_samples)
        The cluster of each row, by run.

    Notes
    -----
    Each U_v in turn becomes the leading eigenvectors of ``N_v + lambda sum_{w != v} U_w U_w'`` (or ``lambda U* U*'``),
    U* those of ``sum_v U_v U_v'``; neither lowers the sum. All start from the leading eigenvectors of ``sum_v N_v``.
    The paper starts from each view's own; where lambda exceeds the differences of eigenvalues, as in text, that creeps
    for hundreds of passes, to smaller sums. Views in which all rows are alike say nothing and are left out. A matrix
    of n_samples x n_samples doubles is held for each view.

    References
    ----------
    Kumar, Rai, Daume: Co-regularized multi-view spectral clustering, NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.cluster import cluster_views
    >>> from vicinal.metrics import clustering_accuracy
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1, 2, 3], 20)
    >>> first = (group // 2)[:, None] + 0.2 * rng.normal(size=(80, 4))
    >>> second = (group % 2)[:, None] + 0.2 * rng.normal(size=(80, 4))
    >>> clusters = cluster_views([first, second], 4, n_runs=1, n_starts=5)[0]
    >>> clustering_accuracy(group, clusters)
    1.0
    """
    for name, value in (("n_clusters", n_clusters), ("n_runs", n_runs), ("n_starts", n_starts), ("max_iter", max_iter)):
        check_count(name, value)
    check_choice("form", form, FORMS)
    check_non_negative("agreement", agreement)
    check_non_negative("tol", tol)
    if bandwidth is not None:
        check_positive("bandwidth", bandwidth)
    several = isinstance(X, Mapping) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(len(np.shape(part)) == 2 for part in X)
    )
    if several and views is not None:
        raise ValueError("X is several matrices, one per view, so that views=... has nothing to say; leave it out.")
    if several:
        X, views = stack_views(X)
    refuse_other_than_numbers(X, "cluster_views")
    parts = [
        check_array(part, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        for part in split_views(X, views).values()
    ]
    _refuse_few_rows(n_clusters, parts[0].shape[0])
    similarities = normalized_similarities(parts, bandwidth)
    if not similarities:
        raise ValueError("All rows are alike in every view, so that they tell no clusters.")
    found = agree(similarities, n_clusters, agreement=agreement, form=form, max_iter=max_iter, tol=tol)
    if not found.converged:
        passes = f"{max_iter} pass{'es' * (max_iter > 1)} over the views"
        warn(f"cluster_views did not converge in {passes}; raise max_iter or tol.", ConvergenceWarning)
    return repeated_kmeans(found.common, n_clusters, n_runs=n_runs, n_starts=n_starts)


@obeys_n_jobs
class SpectralFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The leading singular vectors of sparse non-negative features, for k-means.

    Rows and columns are scaled to equal weight first (``D_r^-1/2 F D_c^-1/2``), so that neither rows near many anchors
    nor anchors near many rows dominate; the result's rows have unit length. On features of nearest anchors this is
    spectral clustering of the similarity that they define, at the cost of a few sparse matrix products.

    Parameters
    ----------
    n_components : int, default=20
        Singular vectors; some more than the clusters that are looked for. At most one less than rows or columns.
    random_state : int, RandomState instance or None, default=None
        Starts the randomised singular value decomposition.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        Right singular vectors.
    singular_values_ : ndarray of shape (n_components,)
    column_weights_ : ndarray of shape (n_features_in_,)
        One over the root of each column's sum; 0 for empty columns.
    n_features_in_ : int

    References
    ----------
    Dhillon: Co-clustering documents and words using bipartite spectral graph partitioning, KDD 2001.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import RandLocal, SpectralFeatures
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(
    ...     RandLocal(task="unsupervised", norm="l2", random_state=0), SpectralFeatures(random_state=0)
    ... )
    >>> clusters = KMeans(10, n_init=5, random_state=0).fit_predict(model.fit_transform(X))
    >>> clustering_accuracy(y, clusters) > 0.85
    True
    """

    def __init__(self, n_components: int = 20, *, random_state: Any = None, n_jobs: int | None = None):
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> SpectralFeatures:
        """Finds the singular vectors."""
        self.fit_transform(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray:
        """Finds the singular vectors and returns the rows' places among them."""
        check_count("n_components", self.n_components)
        F = self._checked(X, reset=True)
        totals = np.asarray(F.sum(axis=0), dtype=np.float64).ravel()
        self.column_weights_ = np.divide(1, np.sqrt(totals), out=np.zeros_like(totals), where=totals > 0).astype(
            F.dtype
        )
        weighted = self._weighted(F)
        most = max(1, min(weighted.shape) - 1)
        U, S, Vt = randomized_svd(
            weighted, min(self.n_components, most), random_state=check_random_state(self.random_state)
        )
        _, Vt = svd_flip(U, Vt, u_based_decision=False)
        self.components_ = np.ascontiguousarray(Vt, dtype=F.dtype)  # so that a copy of the model rounds alike
        self.singular_values_ = S
        self._n_features_out = len(S)
        return self._project(weighted)

    def transform(self, X: ArrayLike) -> NDArray:
        """The rows' places among the singular vectors, at unit length."""
        check_is_fitted(self)
        return self._project(self._weighted(self._checked(X, reset=False)))

    def _checked(self, X: ArrayLike, *, reset: bool) -> Any:
        F = checked_rows(self, X, reset=reset)
        if (F.data if sp.issparse(F) else F).min(initial=0) < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: it needs features that count or measure "
                "nearness, such as RandLocal's."
            )
        return F

    def _weighted(self, F: Any) -> Any:
        """Columns, then rows, at equal weight; rows by their sum."""
        totals = np.asarray(F.sum(axis=1), dtype=np.float64).ravel()
        weights = np.divide(1, np.sqrt(totals), out=np.zeros_like(totals), where=totals > 0).astype(F.dtype)
        if sp.issparse(F):
            return sp.csr_array(F).multiply(self.column_weights_[None, :]).multiply(weights[:, None]).tocsr()
        return F * self.column_weights_ * weights[:, None]

    def _project(self, weighted: Any) -> NDArray:
        return normalize(np.asarray(weighted @ self.components_.T))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

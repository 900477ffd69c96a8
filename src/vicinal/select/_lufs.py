"""Columns that follow both the communities of a network and the neighbourhoods of its rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from .._calls import n_threads
from .._linked_rows import links_between
from .._magnitudes import as_doubles
from .._optim import RowForm, minimize_trace, row_lengths
from .._validation import Matrix, check_count, check_non_negative, check_positive
from ..graphs import laplacian, leading_eigenvectors, neighbor_graph
from ._base import NetworkSelector, Ranked
from ._columns import check_cluster_count, varying

_STARTS = 10


class LUFS(NetworkSelector):
    """Linked unsupervised feature selection: few columns whose combinations are alike within communities.

    Looks for `n_clusters` combinations W of the columns that differ little between nearest rows, and little within the
    communities of the network, and that use few columns::

        min  Tr(W' X' L X W) + alpha Tr(W' X' (I - F F') X W) + beta sum_i ||w_i||
        with W' (X' X + lambda I) W = I

    where L is the Laplacian of a graph of nearest rows, and F has a column for each community, the indicator of its
    members over the root of their number: the second term is what the combinations scatter around the means of
    communities. A column scores by the length of its row of W. Bring columns to a common scale first.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_clusters : int, default=5
        The number of communities, and of combinations.
    n_neighbors : int, default=5
        Nearest rows that a row is compared with; without a network, also those that it is linked to.
    community_weight : float, default=1.0
        How much communities count beside nearest rows; alpha above and in the paper. 0 leaves them out.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    ridge : float, default=1.0
        What is added to the squares of columns where combinations are scaled; lambda above and in the paper.
    max_iter : int, default=300
        Most reweightings.
    tol : float, default=1e-5
        Ends when the objective falls by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Starts the k-means that finds communities.
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
        W, with fewer columns where fewer columns of X vary.
    communities_ : ndarray of shape (n_samples,)
        The community of each row; -1 for rows without links, which count in the first term alone.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, after each reweighting. It never rises.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    UDFS : The same framework without a network.
    GFS : Links in place of communities.

    Notes
    -----
    Communities ("social dimensions") are clusters of k-means on the leading eigenvectors of the network's modularity.
    Edges between nearest rows weigh ``exp(-d^2 / b)``, b their mean squared length: the similarity of all pairs in the
    paper, cut where it is small. Each reweighting factorises a matrix as wide as rows or columns, whichever are fewer.

    References
    ----------
    Tang, Liu: Unsupervised feature selection for linked social media data, KDD 2012; Relational learning via latent
    social dimensions, KDD 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LUFS
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1, 2], 20)
    >>> X = rng.normal(size=(60, 8))
    >>> X[:, [2, 5]] += 6 * np.eye(3)[group][:, :2]
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> adjacency = np.triu((group[:, None] == group) & (rng.random((60, 60)) < 0.3), 1)
    >>> selector = LUFS(2, n_clusters=3, random_state=0).fit(X, adjacency=adjacency | adjacency.T)
    >>> selector.get_feature_names_out()
    array(['x2', 'x5'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        community_weight: float = 1.0,
        sparsity: float = 1.0,
        ridge: float = 1.0,
        max_iter: int = 300,
        tol: float = 1e-5,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.community_weight = community_weight
        self.sparsity = sparsity
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix, adjacency: sp.csr_array | None) -> Ranked:
        n_clusters = check_cluster_count(self.n_clusters, X.shape[0])
        alpha = check_non_negative("community_weight", self.community_weight)
        beta = check_positive("sparsity", self.sparsity)
        ridge = check_positive("ridge", self.ridge)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        X = as_doubles(X)
        links = links_between(X, adjacency, self.n_neighbors, symmetric=True)
        self.communities_ = communities(links, n_clusters, self.random_state)
        kept = np.flatnonzero(varying(X))
        self.coef_ = np.zeros((X.shape[1], min(n_clusters, len(kept))))
        if not len(kept):
            return Ranked(np.zeros(X.shape[1]), [0.0])
        found = minimize_trace(
            X[:, kept],
            scatter(neighbor_graph(X, self.n_neighbors, weights="heat"), self.communities_, alpha),
            self.coef_.shape[1],
            beta,
            gram=1.0,
            ridge=ridge,
            max_iter=self.max_iter,
            tol=self.tol,
            n_threads=n_threads(None),
        )
        self.coef_[kept] = found.solution
        return Ranked.by(found, row_lengths(self.coef_), steps="reweightings")


def communities(links: sp.csr_array, n_clusters: int, random_state: int | RandomState | None) -> np.ndarray:
    """Clusters of the nodes by the leading eigenvectors of the network's modularity; -1 for nodes without links."""
    degrees = np.asarray(links.sum(axis=1)).ravel()
    linked = np.flatnonzero(degrees)
    found = np.full(len(degrees), -1)
    n_clusters = min(n_clusters, len(linked))
    expected = degrees[linked, None] / np.sqrt(degrees.sum())
    _, places = leading_eigenvectors(links[linked][:, linked], n_clusters, less=expected)
    seed = check_random_state(random_state).randint(2**31)
    rounded = np.round(places / np.abs(places).max(), 8)  # nodes that only rounding tells apart are in the same place
    n_different = min(n_clusters, len(np.unique(rounded, axis=0)))
    found[linked] = KMeans(n_different, n_init=_STARTS, random_state=seed).fit_predict(rounded)
    return found


def scatter(graph: sp.csr_array, communities: np.ndarray, weight: float) -> RowForm:
    """L + weight (I - F F') of the rows that belong to a community."""
    members = communities >= 0
    sizes = np.bincount(communities[members])
    places = np.flatnonzero(members), communities[members]
    F = sp.csr_array((np.sqrt(weight / sizes[places[1]]), places), shape=(len(communities), len(sizes)))
    return RowForm(sp.csr_array(laplacian(graph) + weight * sp.diags_array(members.astype(np.float64))), F)

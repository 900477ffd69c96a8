"""cluster_links: clusters of nodes by the links between them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import check_count
from ..graphs import leading_eigenvectors
from ..network import Network
from ._repeated import repeated_kmeans


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

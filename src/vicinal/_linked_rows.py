"""What methods that look at links ask of a network."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ._edges import is_symmetric
from ._validation import Matrix, check_count
from .graphs import neighbor_graph


def links_between(X: Matrix, adjacency: sp.csr_array | None, n_neighbors: int, *, symmetric: bool) -> sp.csr_array:
    """1 for every link between two rows; without a network, each row is linked to its nearest rows.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Read only where there is no network.
    adjacency : csr_array or None
        As `check_adjacency` returns it: non-negative, without links of a row to itself.
    n_neighbors : int
        Nearest rows that a row is linked to if there is no network; at most half of the others.
    symmetric : bool
        Whether the links must go both ways; what they weigh does not matter.
    """
    check_count("n_neighbors", n_neighbors)
    if adjacency is None:
        return neighbor_graph(X, max(1, min(n_neighbors, (X.shape[0] - 1) // 2)))
    if not adjacency.nnz:
        raise ValueError("adjacency has no links, so that it says nothing about the columns; give one with links.")
    links = sp.csr_array((np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    if symmetric and not is_symmetric(links):
        raise ValueError(
            "adjacency is not symmetric, but links must go both ways here; give A.maximum(A.T) for a matrix A, or "
            "network.undirected() for a Network."
        )
    return links

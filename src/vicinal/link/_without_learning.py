"""What people use without learning: like attributes, common neighbours, and paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._magnitudes import unit_rows, with_squares
from .._validation import Matrix, check_count, check_positive
from ..graphs import leading_eigenvectors
from ._base import LinkPredictor
from ._combined import ContentLinks, combined_network
from ._observed import Observed

_BLOCK = 2**23  # scores that are held at a time


class AttributeCosine(LinkPredictor):
    """Links between nodes whose attributes are alike, by the cosine.

    A node that shows no attributes is given the mean of those of its neighbours.

    Parameters
    ----------
    n_jobs : int, default=None
        Threads. None uses all cores.

    Attributes
    ----------
    vectors_ : ndarray or csr_array of shape (n_nodes, n_attributes)
        Attributes of unit length; zeros for nodes that show none and whose neighbours show none.
    names_ : ndarray of shape (n_nodes,)
    linked_, attributed_ : ndarray of bool of shape (n_nodes,)
        Which nodes show links, and which attributes.
    links_ : csr_array of shape (n_nodes, n_nodes)
        The links that are known.

    See Also
    --------
    NRCL : Learns which attributes matter.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import AttributeCosine
    >>> X = np.array([[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [np.nan, np.nan]])
    >>> adjacency = np.zeros((4, 4))
    >>> adjacency[2, 3] = adjacency[3, 2] = 1
    >>> model = AttributeCosine().fit(X, adjacency=adjacency)
    >>> model.recommend([0, 3], top=1).indices.ravel()
    array([1, 1])
    """

    def __init__(self, *, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    def _learn(self, nodes: Observed) -> None:
        if nodes.attributes is None:
            raise ValueError("AttributeCosine compares attributes; give them as X.")
        attributes = with_squares(nodes.attributes)[0]
        neighbors = nodes.links * nodes.attributed[None, :]
        neighbors = sp.csr_array(sp.diags_array((~nodes.attributed).astype(np.float64)) @ neighbors)
        counts = np.maximum(np.asarray(neighbors.sum(axis=1)).ravel(), 1)
        means = sp.csr_array(sp.diags_array(1 / counts) @ neighbors) @ attributes
        self.vectors_ = unit_rows(attributes + means)

    def _vectors(self) -> Matrix:
        return self.vectors_


class AdamicAdar(LinkPredictor):
    """Links between nodes that have neighbours in common, of which those with few links count more.

    Neighbours are those of the combined network: known links, and links between nodes whose attributes are alike.

    Parameters
    ----------
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked; 0
        for none. "auto": the mean number of known links of nodes that have any.
    n_jobs : int, default=None
        Threads. None uses all cores.

    Attributes
    ----------
    vectors_ : csr_array of shape (n_nodes, n_nodes)
        Whose inner products are the scores.
    names_, linked_, attributed_, links_
        See `AttributeCosine`.

    References
    ----------
    Adamic, Adar: Friends and Neighbors on the Web, Social Networks 25, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import AdamicAdar
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> AdamicAdar().fit(None, adjacency=chain).score_pairs([[0, 2], [0, 3]]).round(6)
    array([1.442695, 0.      ])
    """

    def __init__(self, *, content_links: ContentLinks = "auto", n_jobs: int | None = None):
        self.content_links = content_links
        self.n_jobs = n_jobs

    def _learn(self, nodes: Observed) -> None:
        network = combined_network(nodes, self.content_links)
        degrees = np.diff(network.indptr)
        weights = 1 / np.sqrt(np.log(np.maximum(degrees, 2)))  # a neighbour of one node alone is common to none
        self.vectors_ = sp.csr_array(network @ sp.diags_array(weights))

    def _vectors(self) -> Matrix:
        return self.vectors_


class Katz(LinkPredictor):
    """Links between nodes that many short paths join.

    The score of two nodes is the sum over all paths between them of a weight that falls with the path's length. Paths
    are those of the combined network: known links, and links between nodes whose attributes are alike.

    Parameters
    ----------
    decay : float, default=0.5
        By what a path's weight falls with each link, in units of the inverse of the network's largest eigenvalue; below
        1, where the sum of all paths would not end.
    max_length : int, default=10
        The most links of a path.
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked; 0
        for none. "auto": the mean number of known links of nodes that have any.
    n_jobs : int, default=None
        Threads. None uses all cores.

    Attributes
    ----------
    paths_ : csr_array of shape (n_nodes, n_nodes)
        The network, each link with its weight.
    names_, linked_, attributed_, links_
        See `AttributeCosine`.

    References
    ----------
    Katz: A New Status Index Derived from Sociometric Analysis, Psychometrika 18, 1953.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import Katz
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> scores = Katz().fit(None, adjacency=chain).score_pairs([[0, 2], [0, 3]])
    >>> bool(scores[0] > scores[1] > 0)
    True
    """

    def __init__(
        self,
        *,
        decay: float = 0.5,
        max_length: int = 10,
        content_links: ContentLinks = "auto",
        n_jobs: int | None = None,
    ):
        self.decay = decay
        self.max_length = max_length
        self.content_links = content_links
        self.n_jobs = n_jobs

    def _learn(self, nodes: Observed) -> None:
        if not check_positive("decay", self.decay) < 1:
            raise ValueError(f"decay must be below 1, where the sum over all paths has an end; got {self.decay!r}.")
        check_count("max_length", self.max_length)
        network = combined_network(nodes, self.content_links)
        largest = float(leading_eigenvectors(network, 1)[0][0])
        self.paths_ = network * (self.decay / largest)

    def _best(self, queries: NDArray, candidates: NDArray, count: int) -> tuple[NDArray, NDArray]:
        places, scores = np.empty((len(queries), count), np.int64), np.empty((len(queries), count))
        for block in self._blocks(len(queries)):
            reached = self._from(queries[block])[:, candidates]
            # Paths that only the order of sums tells apart are equally good, and the lower number comes first.
            digits, powers = np.frexp(reached)
            order = np.argsort(-np.ldexp(np.round(digits, 12), powers), axis=1, kind="stable")[:, :count]
            places[block], scores[block] = order, np.take_along_axis(reached, order, axis=1)
        return places, scores

    def _scores_of_pairs(self, ends: NDArray[np.int64]) -> NDArray[np.float64]:
        first, number = np.unique(ends[:, 0], return_inverse=True)
        scores = np.empty(len(ends))
        for block in self._blocks(len(first)):
            own = (number >= block.start) & (number < block.stop)
            scores[own] = self._from(first[block])[number[own] - block.start, ends[own, 1]]
        return scores

    def _scores_between(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.concatenate([self._from(first[block])[:, second] for block in self._blocks(len(first))])

    def _blocks(self, count: int) -> list[slice]:
        size = max(1, _BLOCK // self.paths_.shape[0])
        return [slice(start, min(start + size, count)) for start in range(0, count, size)]

    def _from(self, queries: NDArray) -> NDArray[np.float64]:
        """The sums over all paths from these nodes to every node."""
        step = self.paths_[queries].toarray().T
        total: Any = step.copy()
        for _ in range(self.max_length - 1):
            step = self.paths_ @ step
            total += step
        return total.T

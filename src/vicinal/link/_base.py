"""What all methods of link prediction share: scores of pairs, and recommended links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import limited_threads
from .._magnitudes import unit_rows
from .._triplets import are_linked
from .._validation import Matrix, all_or_nothing, check_choice, check_count, suggest
from ..graphs import nearest_rows
from ._combined import ContentLinks, combined_network
from ._observed import Observed, check_mask, listed, observe

_BLOCK = 2**22  # products of pairs that are held at a time


class Recommended(NamedTuple):
    """What `recommend` returns.

    Parameters
    ----------
    indices : ndarray of shape (n_queries, top)
        Numbers of nodes, the best first; -1 where there are no more.
    scores : ndarray of shape (n_queries, top)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import AdamicAdar
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> AdamicAdar().fit(None, adjacency=chain).recommend([0, 1], top=1).indices
    array([[2],
           [3]])
    """

    indices: NDArray[np.int64]
    scores: NDArray[np.float64]


class LinkPredictor(BaseEstimator, ABC):
    """Base of the methods that say which nodes should be linked.

    A method implements `_learn`, which is given nodes that have been checked, and `_vectors`, whose inner products are
    its scores; or `_scores_of`, where no vectors are.

    Examples
    --------
    >>> from vicinal import NRCL
    >>> from vicinal.link import LinkPredictor
    >>> isinstance(NRCL(), LinkPredictor)
    True
    """

    n_jobs: int | None

    @abstractmethod
    def _learn(self, nodes: Observed) -> None:
        """Sets the fitted attributes."""

    def _vectors(self) -> Matrix:
        """One row for each node; scores are inner products."""
        raise AttributeError(f"{type(self).__name__} has no vectors of nodes.")

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None, attributed: Any = None) -> Self:
        """Learns from links and attributes of nodes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_attributes), or None
            Attributes. Nodes that show none have a row of NaN, or of zeros. None where there are no attributes at all.
        y : ignored
            Labels are never read.
        adjacency : array-like, sparse matrix or Network of shape (n_nodes, n_nodes), default=None
            The links that are known; an empty row for nodes that show none. How much they weigh and where they lead is
            not looked at: all count in both directions. None links each row of X to its five nearest rows.
        attributed : array of bool of shape (n_nodes,), default=None
            Which rows of X are attributes; None takes all that hold a number other than 0.

        Returns
        -------
        self
        """
        return self._fit(X, adjacency, attributed)

    @all_or_nothing
    def _fit(self, X: Any, adjacency: Any, attributed: Any) -> Self:
        nodes = observe(self, X, adjacency, attributed)
        with limited_threads(self.n_jobs):
            self._learn(nodes)
        self.names_, self.linked_, self.attributed_ = nodes.names, nodes.linked, nodes.attributed
        self.links_ = nodes.links
        return self

    def score_pairs(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """How likely links are, as numbers of which the larger are likelier.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2)
            Two nodes each, by name, or by number where names are no numbers.

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        check_is_fitted(self)
        return self._scores_of_pairs(self._ends(pairs))

    def scores_between(self, nodes: Any, others: Any) -> NDArray[np.float64]:
        """How likely links are between each of some nodes and each of others.

        Parameters
        ----------
        nodes, others : array-like of nodes
            By number or, where the network has names, by name.

        Returns
        -------
        ndarray of shape (n_nodes, n_others)
            The larger a number, the likelier the link; links that are known have one, too.
        """
        check_is_fitted(self)
        first, second = (self._numbers(np.atleast_1d(np.asarray(given))) for given in (nodes, others))
        with limited_threads(self.n_jobs):
            return self._scores_between(first, second)

    def recommend(self, nodes: Any = None, top: int = 10, among: Any = None) -> Recommended:
        """The likeliest links of nodes that are not there yet.

        A node is recommended neither itself nor a node that it is linked to.

        Parameters
        ----------
        nodes : node, array-like of nodes, or None
            By name, or by number where names are no numbers, or True or False for each node. None: all of them.
        top : int, default=10
            How many for each.
        among : array-like of nodes, default=None
            The nodes that may be recommended; None: all of them.

        Returns
        -------
        Recommended
            The tuple (indices, scores) of arrays of shape (n_queries, top), the best first, of equal ones the lower
            number; `names_[indices]` are their names. Where there are fewer nodes, the others are -1, with a score of
            minus infinity.
        """
        check_is_fitted(self)
        top = check_count("top", top)
        every = np.arange(len(self.names_))
        queries = every if nodes is None else self._numbers(np.atleast_1d(np.asarray(nodes)))
        candidates = every if among is None else np.unique(self._numbers(np.atleast_1d(np.asarray(among))))
        if not len(candidates):
            raise ValueError("There is nobody to recommend: among is empty; name a node at least, or leave it out.")
        indices = np.full((len(queries), top), -1, dtype=np.int64)
        scores = np.full((len(queries), top), -np.inf)
        with limited_threads(self.n_jobs):
            for part, count in self._parts(queries, candidates, top):
                found, reached = self._best(queries[part], candidates, count)
                found = candidates[found]
                left_out = self._known(queries[part], found)
                order = np.argsort(left_out, axis=1, kind="stable")[:, :top]
                kept = ~np.take_along_axis(left_out, order, axis=1)
                width = order.shape[1]
                indices[part, :width] = np.where(kept, np.take_along_axis(found, order, axis=1), -1)
                scores[part, :width] = np.where(kept, np.take_along_axis(reached, order, axis=1), -np.inf)
        return Recommended(indices, scores)

    def _best(self, queries: NDArray, candidates: NDArray, count: int) -> tuple[NDArray, NDArray]:
        """Places among the candidates and scores of the best for each query, known ones included."""
        vectors = self._vectors()
        scores, places = nearest_rows(vectors[queries], vectors[candidates], n_neighbors=count, metric="inner")
        return places, scores

    def _scores_of_pairs(self, ends: NDArray[np.int64]) -> NDArray[np.float64]:
        vectors = self._vectors()
        scores = np.empty(len(ends))
        width = vectors.nnz // vectors.shape[0] if sp.issparse(vectors) else vectors.shape[1]
        size = max(1, _BLOCK // max(1, width))
        for start in range(0, len(ends), size):
            first, second = (vectors[ends[start : start + size, side]] for side in (0, 1))
            products = first.multiply(second) if sp.issparse(first) else first * second
            scores[start : start + size] = np.asarray(products.sum(axis=1)).ravel()
        return scores

    def _scores_between(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        vectors = self._vectors()
        products = vectors[first] @ vectors[second].T
        return np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)

    def _parts(self, queries: NDArray, candidates: NDArray, top: int) -> list[tuple[NDArray, int]]:
        """Queries with about as many known links each, and how many candidates are enough for them."""
        among = np.zeros(len(self.names_))
        among[candidates] = 1
        known = (self.links_[queries] @ among + among[queries]).astype(int)
        sizes = np.where(known > 0, 2 ** np.ceil(np.log2(np.maximum(known, 8))), 0).astype(int)
        return [(np.flatnonzero(sizes == size), int(min(top + size, len(candidates)))) for size in np.unique(sizes)]

    def _known(self, queries: NDArray, found: NDArray) -> NDArray[np.bool_]:
        """Whether what was found for each query is the node itself, or linked to it."""
        return are_linked(self.links_, queries[:, None], found) | (queries[:, None] == found)

    def _ends(self, pairs: ArrayLike) -> NDArray[np.int64]:
        given = np.asarray(pairs)
        if given.ndim != 2 or given.shape[1] != 2:
            raise ValueError(f"pairs must have the shape (n_pairs, 2), two nodes each; theirs is {given.shape}.")
        return self._numbers(given.ravel()).reshape(-1, 2)

    def _numbers(self, nodes: NDArray) -> NDArray[np.int64]:
        """The numbers of nodes, given by number, by name or by a mask."""
        count = len(self.names_)
        if nodes.ndim != 1:
            raise ValueError(f"Nodes are a flat list of names or numbers; the shape is {nodes.shape}.")
        if nodes.dtype.kind == "b":
            return np.flatnonzero(check_mask("A mask of nodes", nodes, count))
        by_place = nodes.dtype.kind in "iu" and self.names_.dtype.kind == "U"
        named = np.arange(count) if by_place else self.names_
        if nodes.size and (nodes.dtype.kind == "U") != (named.dtype.kind == "U"):
            nodes, named = nodes.astype(str), named.astype(str)
        order = np.argsort(named, kind="stable")
        places = order[np.minimum(np.searchsorted(named, nodes, sorter=order), count - 1)].astype(np.int64)
        unknown = np.unique(nodes[named[places] != nodes]) if nodes.size else nodes
        if len(unknown):
            near = suggest(str(unknown[0]), named.astype(str).tolist())
            raise ValueError(
                f"{len(unknown)} node{'s are' if len(unknown) > 1 else ' is'} not known: {listed(unknown)}; {near}"
            )
        return places

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class NetworkEmbedding(LinkPredictor):
    """Base of the methods that place the nodes of one network: known links, and links between like nodes.

    They implement ``_embed(network, random)``, which returns a vector for each node.

    Examples
    --------
    >>> from vicinal import DeepWalk
    >>> from vicinal.link import NetworkEmbedding
    >>> isinstance(DeepWalk(), NetworkEmbedding)
    True
    """

    content_links: ContentLinks
    similarity: str
    random_state: Any

    @abstractmethod
    def _embed(self, network: sp.csr_array, random: np.random.RandomState) -> NDArray:
        """A row for each node of a network that is symmetric."""

    def _learn(self, nodes: Observed) -> None:
        check_choice("similarity", self.similarity, ("cosine", "inner"))
        network = combined_network(nodes, self.content_links)
        self.embedding_ = self._embed(network, check_random_state(self.random_state))

    def fit_transform(self, X: Any, y: Any = None, *, adjacency: Any = None, attributed: Any = None) -> NDArray:
        """Learns from nodes, and returns their vectors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_nodes, n_attributes), or None
        y : ignored
        adjacency : array-like, sparse matrix or Network of shape (n_nodes, n_nodes), default=None
        attributed : array of bool of shape (n_nodes,), default=None
            See `fit`.

        Returns
        -------
        ndarray of shape (n_nodes, n_components)
        """
        return self.fit(X, adjacency=adjacency, attributed=attributed).embedding_

    def _vectors(self) -> Matrix:
        return unit_rows(self.embedding_) if self.similarity == "cosine" else self.embedding_

"""DeepWalk: nodes that are near in random walks have vectors that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads
from .._validation import check_count, check_positive
from ._base import NetworkEmbedding
from ._combined import ContentLinks
from ._walks import SkipGram, random_walks, visits

_HELD = 2**26  # nodes of walks that are held at a time
_SEEDS = 2**31 - 2


class DeepWalk(NetworkEmbedding):
    """Vectors of nodes from random walks: nodes that are near in walks have vectors that are alike.

    Walks begin at every node and go on to a node that is linked to the one before, drawn in proportion to the weights
    of links. Skip-gram with negative sampling reads them as sentences: the vector of a node is learned to tell nodes
    that are near in walks from others. The network has the known links, and links between nodes whose attributes are
    alike.

    Parameters
    ----------
    n_components : int, default=128
        Length of the vectors.
    n_walks : int, default=80
        Walks that begin at each node.
    walk_length : int, default=40
        Nodes of a walk.
    window : int, default=10
        How far apart in a walk two nodes may be to be near; each node looks as far as a number drawn from 1 to this.
    n_negatives : int, default=5
        Nodes, drawn in proportion to their visits to the power 0.75, that a node is told from at a time; in networks of
        a thousand nodes and more, of the quarter of all nodes that it belongs to.
    learning_rate : float, default=0.025
        Of the first step; it falls linearly to next to nothing.
    n_epochs : int, default=1
        How often all walks are read.
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked; 0
        for none. "auto": the mean number of known links of nodes that have any.
    similarity : {"cosine", "inner"}, default="cosine"
        What the score of two nodes is of their vectors.
    random_state : int, RandomState instance or None, default=None
        Draws walks, negatives and the vectors that are begun with.
    n_jobs : int, default=None
        Threads. None uses all cores. The result is the same on any number of them.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
        Single precision. A node without links keeps the random vector that it began with.
    names_, linked_, attributed_, links_
        See `AttributeCosine`.

    Notes
    -----
    The paper has a hierarchical softmax in place of negatives, which people have come to use since. The negatives of a
    node are shared by all that are near to it, as Ji et al. do, which is several times as fast. Networks of many
    millions of nodes are walked a few times at once, and learned from, before they are walked again.

    References
    ----------
    Perozzi, Al-Rfou, Skiena: DeepWalk: Online Learning of Social Representations, KDD 2014.

    Mikolov, Sutskever, Chen, Corrado, Dean: Distributed Representations of Words and Phrases and their
    Compositionality, NIPS 2013.

    Ji, Satish, Li, Dubey: Parallelizing Word2Vec in Shared and Distributed Memory, 2016.

    Examples
    --------
    Two groups of nodes that are all linked, and one link between the groups:

    >>> import numpy as np
    >>> from vicinal import DeepWalk
    >>> adjacency = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    >>> adjacency[4, 5] = adjacency[5, 4] = 1
    >>> model = DeepWalk(16, window=2, random_state=0).fit(None, adjacency=adjacency)
    >>> near, far = model.score_pairs([[0, 3], [0, 8]])
    >>> bool(near > far)
    True
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        n_walks: int = 80,
        walk_length: int = 40,
        window: int = 10,
        n_negatives: int = 5,
        learning_rate: float = 0.025,
        n_epochs: int = 1,
        content_links: ContentLinks = "auto",
        similarity: str = "cosine",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.content_links = content_links
        self.similarity = similarity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, network: sp.csr_array, random: np.random.RandomState) -> NDArray[np.float32]:
        for name in ("n_components", "n_walks", "walk_length", "window", "n_negatives", "n_epochs"):
            check_count(name, getattr(self, name))
        check_positive("learning_rate", self.learning_rate)
        n_nodes, threads = network.shape[0], n_threads(None)
        at_once = max(1, min(self.n_walks, _HELD // (n_nodes * self.walk_length)))
        walk_seed, seed = (int(drawn) for drawn in random.randint(_SEEDS, size=2))
        model = None
        for epoch in range(self.n_epochs):
            for turn in range(0, self.n_walks, at_once):
                turns = min(at_once, self.n_walks - turn)
                first = np.concatenate([random.permutation(n_nodes) for _ in range(turns)])
                done = (epoch * self.n_walks + turn) * n_nodes
                walks = random_walks(network, first, self.walk_length, walk_seed, offset=done, n_threads=threads)
                model = model or SkipGram(
                    visits(walks, n_nodes),
                    n_components=self.n_components,
                    window=self.window,
                    n_negatives=self.n_negatives,
                    learning_rate=self.learning_rate,
                    seed=seed,
                )
                model.learn(walks, done, self.n_epochs * self.n_walks * n_nodes, n_threads=threads)
        assert model is not None
        return model.vectors

"""LINE: linked nodes have vectors that are alike, and so have nodes that are linked to the same ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads
from .._magnitudes import unit_rows
from .._validation import check_choice, check_count, check_positive
from ._base import NetworkEmbedding
from ._combined import ContentLinks
from ._walks import line

_SEEDS = 2**31 - 2


class LINE(NetworkEmbedding):
    """Large-scale information network embedding: vectors of nodes that tell linked nodes from others.

    In the first order, linked nodes have vectors that are alike. In the second order, nodes that are linked to the same
    nodes do: each node has a vector of its own and another one as a neighbour of others. Both are learned by steps over
    links, drawn in proportion to their weights, with negatives. The network has the known links, and links between
    nodes whose attributes are alike.

    Parameters
    ----------
    n_components : int, default=128
        Length of the vectors.
    order : {"both", 1, 2}, default="both"
        Which proximity counts. "both" learns a half of the components by each, and scales each half to unit length; of
        an odd number the second order has one more.
    n_samples : int, default=100
        Links that are drawn, and stepped by, in each order, as a multiple of the links. Small networks want more: a
        node learns from the steps that it has a part in.
    n_negatives : int, default=5
        Nodes, drawn in proportion to the sums of weights of their links to the power 0.75, that are told from each node
        that is drawn.
    learning_rate : float, default=0.025
        Of the first step; it falls linearly to next to nothing.
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked; 0
        for none. "auto": the mean number of known links of nodes that have any.
    similarity : {"cosine", "inner"}, default="cosine"
        What the score of two nodes is of their vectors.
    random_state : int, RandomState instance or None, default=None
        Draws links, negatives and the vectors that are begun with.
    n_jobs : int, default=None
        Threads. None uses all cores. Each order is one thread's work, and so the same on any number of them.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
        Single precision. A node without links keeps the random vector that it began with.
    names_, linked_, attributed_, links_
        See `AttributeCosine`.

    References
    ----------
    Tang, Qu, Wang, Zhang, Yan, Mei: LINE: Large-scale Information Network Embedding, WWW 2015.

    Examples
    --------
    Two groups of nodes that are all linked, and one link between the groups:

    >>> import numpy as np
    >>> from vicinal import LINE
    >>> adjacency = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    >>> adjacency[4, 5] = adjacency[5, 4] = 1
    >>> model = LINE(16, n_samples=1000, random_state=0).fit(None, adjacency=adjacency)
    >>> near, far = model.score_pairs([[0, 3], [0, 8]])
    >>> bool(near > far)
    True
    """

    def __init__(
        self,
        n_components: int = 128,
        *,
        order: int | str = "both",
        n_samples: int = 100,
        n_negatives: int = 5,
        learning_rate: float = 0.025,
        content_links: ContentLinks = "auto",
        similarity: str = "cosine",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.order = order
        self.n_samples = n_samples
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.content_links = content_links
        self.similarity = similarity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, network: sp.csr_array, random: np.random.RandomState) -> NDArray[np.float32]:
        check_choice("order", self.order, ("both", 1, 2))
        for name in ("n_components", "n_samples", "n_negatives"):
            check_count(name, getattr(self, name))
        check_positive("learning_rate", self.learning_rate)
        orders = (1, 2) if self.order == "both" else (int(self.order),)
        width = -(-self.n_components // len(orders))
        halves = line(
            network,
            orders,
            n_components=width,
            n_samples=self.n_samples * (network.nnz // 2),
            n_negatives=self.n_negatives,
            learning_rate=self.learning_rate,
            seed=int(random.randint(_SEEDS)),
            n_threads=n_threads(None),
        )
        if len(orders) == 1 or self.n_components == 1:
            return halves[-1]
        return np.hstack([unit_rows(halves[0][:, : self.n_components - width]), unit_rows(halves[1])])

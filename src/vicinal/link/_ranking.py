"""Vectors of nodes by the order of linked and other nodes, from one network."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads, one_blas_thread
from .._messages import warn_not_converged
from .._optim import LatentTriplets, descend, minimize_smooth
from ._base import NetworkEmbedding
from ._combined import ContentLinks
from ._latent import LatentOptions, LinkTriplets, StochasticVectors


class LinkRanking(NetworkEmbedding):
    """Vectors of nodes by which linked nodes have larger inner products than others.

    The network is that of known links and of links between nodes whose attributes are alike.

    Parameters
    ----------
    n_components : int, default=50
        Length of the vectors.
    loss : {"huber", "logistic"}, default="huber"
        What a triplet costs, of a node, one that it is linked to and one that it is not: "huber" is MM-RL of the
        thesis, "logistic" its P-RL.
    weight_decay : float, default=5.0
        How much long vectors cost.
    n_negatives : int, default=5
        Nodes without a link that each link is compared with, in both of its directions.
    solver : {"sgd", "lbfgs"}, default="sgd"
        See `NRCL`.
    max_iter : int, default=500
        The most iterations of "lbfgs".
    tol : float, default=1e-5
        Ends when an iteration or a pass lowers the objective by no more than this share of it.
    n_epochs : int, default=20
        The most passes of "sgd" over all links.
    learning_rate : float, default=0.3
        Step of "sgd", divided by the root of the sum of squared gradients of a node.
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked; 0
        for none. "auto": the mean number of known links of nodes that have any.
    similarity : {"inner", "cosine"}, default="inner"
        How the score of two nodes is computed from their vectors.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None uses all cores.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
    objective_ : ndarray
        Of each iteration or pass; it never rises.
    n_iter_ : int
    names_, linked_, attributed_, links_
        See `NRCL`.

    See Also
    --------
    NRCL : Learns which attributes matter.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, 2017, section 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LinkRanking
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(30) % 2
    >>> knows = np.triu((group[:, None] == group) & (rng.random((30, 30)) < 0.7), 1).astype(float)
    >>> model = LinkRanking(5, weight_decay=0.5, random_state=0).fit(None, adjacency=knows + knows.T)
    >>> within, between = model.score_pairs([[0, 2], [0, 1]])
    >>> bool(within > between)
    True
    """

    def __init__(
        self,
        n_components: int = 50,
        *,
        loss: str = "huber",
        weight_decay: float = 5.0,
        n_negatives: int = 5,
        solver: str = "sgd",
        max_iter: int = 500,
        tol: float = 1e-5,
        n_epochs: int = 20,
        learning_rate: float = 0.3,
        content_links: ContentLinks = "auto",
        similarity: str = "inner",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.loss = loss
        self.weight_decay = weight_decay
        self.n_negatives = n_negatives
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.content_links = content_links
        self.similarity = similarity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _embed(self, network: sp.csr_array, random: np.random.RandomState) -> NDArray:
        options = LatentOptions.of(self)
        linked = np.flatnonzero(np.diff(network.indptr) > 0)  # nothing is known of other nodes: theirs are zeros
        n_nodes, whole = len(linked), np.zeros((network.shape[0], self.n_components))
        network = network if n_nodes == len(whole) else sp.csr_array(network[linked][:, linked])
        source = LinkTriplets(network, self.n_negatives, random)
        start = random.random_sample((n_nodes, self.n_components))
        if self.solver == "sgd":
            descent = StochasticVectors(start, source, options)

            def step(vectors: NDArray) -> NDArray:
                descent.run()
                return descent.vectors.astype(np.float64)

            with one_blas_thread():  # by which sums do not depend on the number of threads
                found = descend(step, descent.value, start, max_iter=self.n_epochs, tol=self.tol)
            found.converged = True  # so many passes are what was asked for
        else:
            triplets = LatentTriplets(source.draw_all(), n_nodes, self.loss, n_threads=n_threads(None))

            def smooth(U: NDArray) -> tuple[float, NDArray]:
                value, gradient = triplets.value_and_gradient(U)
                decayed = self.weight_decay * float(np.vdot(U, U))
                return value + decayed, gradient + 2 * self.weight_decay * U

            with one_blas_thread():
                found = minimize_smooth(smooth, start, max_iter=self.max_iter, tol=self.tol)
        self.objective_, self.n_iter_ = np.asarray(found.objective), found.n_iter
        if not found.converged:
            warn_not_converged(self, found.n_iter)
        whole[linked] = found.solution
        return whole

"""NRCL: one latent space for nodes that show only links and nodes that show only attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import limited_threads, one_blas_thread
from .._magnitudes import as_doubles
from .._messages import warn, warn_not_converged
from .._optim import row_lengths
from .._validation import Matrix, check_count, check_non_negative, check_positive, checked_rows, refuse_extreme_values
from ._base import LinkPredictor
from ._combined import ContentLinks, combined_network
from ._consensus import Consensus, fold_in, solve_consensus, step_to_consensus
from ._latent import LatentOptions, LinkTriplets, fold_in_triplets
from ._observed import Observed, without_missing

FEW, ADDED, MOST_COMPARED = 10, 3, 50_000  # content_links="auto"
_COLLAPSED = 1e-3  # of the start's size


class NRCL(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinkPredictor):
    """Recommends links between nodes of which some show only their links and others only their attributes.

    Noise-resilient representation consensus learning: nodes with links have vectors u such that linked nodes have
    larger inner products than others; those that show both, links and attributes x, should have u = x W, with few rows
    of W that are not zero. So nodes with attributes alone have a place in the same space.

    Parameters
    ----------
    n_components : int, default=50
        Length of the vectors.
    loss : {"huber", "logistic"}, default="huber"
        What a triplet costs, of a node, one that it is linked to and one that it is not: "huber" is MM-NRCL of the
        thesis, "logistic" its P-NRCL.
    consensus : float, default=1.0
        How much it costs if vectors differ from what attributes say (the thesis' alpha).
    sparsity : float, default=0.3
        How much it costs to use an attribute, in units of `consensus` and of the length of rows of attributes: lambda_a
        is `sparsity` times `consensus` times the root of their mean squared length.
    ridge : float, default=0.3
        How much large coefficients cost, in units of `consensus` and of the mean squared length of rows. The thesis has
        none: where nodes that show both are about as many as attributes, W fits noise without it.
    weight_decay : float, default=3.0
        How much long vectors cost (lambda_g). Too much makes all of them zero, about which `fit` warns.
    content_links : int or "auto", default="auto"
        To how many others with the most similar attributes, by the cosine, a node that shows attributes is linked
        beside the links that are known; 0 for none, as in the thesis. This helps where links are few, and makes W less
        choosy. "auto" is 3 if nodes with links have fewer than 10 on average, otherwise none; none, too, if more than
        50,000 nodes show attributes, as all pairs of them are looked at.
    length_damping : float, default=0.5
        Between 0 and 1: ``x W`` of a node that shows attributes alone is divided by this power of its length, in units
        of the mean length. 0 leaves vectors as they are, as the thesis does, so that nodes with much to say of
        themselves are recommended to everybody; 1 makes all as long.
    n_negatives : int, default=5
        Nodes without a link that each link is compared with, in both of its directions.
    solver : {"sgd", "lbfgs"}, default="sgd"
        "lbfgs" draws all triplets once and minimises, as the thesis does, and holds some 25 times as many numbers as
        all vectors have. "sgd" draws others in each pass and holds little more than the vectors; on Facebook's network
        what it recommends is better, in less time.
    max_iter : int, default=50
        The most turns of "lbfgs" between vectors and W.
    tol : float, default=1e-4
        Ends when a turn or a pass lowers the objective by no more than this share of it.
    n_epochs : int, default=20
        The most passes of "sgd" over all links.
    learning_rate : float, default=0.3
        Step of "sgd", divided by the root of the sum of squared gradients of a node.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None uses all cores.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
        The vector of each node: that of its links where it shows any, also if it shows both; otherwise x W, its length
        damped.
    coefficients_ : ndarray of shape (n_attributes, n_components)
        W. Reweighting never makes rows of it exactly zero: those of less than 1e-6 of the longest count as zero, and
        are set so.
    attributes_ : ndarray or csr_array of shape (n_nodes, n_attributes)
        Those of `fit`, zeros where there are none.
    feature_scores_ : ndarray of shape (n_attributes,)
        The sum of squares of each row of W: what an attribute is worth.
    objective_ : ndarray
        Of each turn, or each pass; it never rises. That of "sgd" is estimated on a fixed sample of triplets.
    n_iter_ : int
    mean_length_ : float
        Of x W, over the nodes that show attributes.
    names_ : ndarray of shape (n_nodes,)
    linked_, attributed_ : ndarray of bool of shape (n_nodes,)
        Which nodes show links, and which attributes.
    links_ : csr_array of shape (n_nodes, n_nodes)
        The links that are known.

    See Also
    --------
    LinkRanking : The same from links alone.
    AttributeCosine : Without learning.

    Notes
    -----
    A row of attributes that is zero says nothing, since x W is zero whatever W is, and counts as one that is not shown.
    Nodes without links are never drawn as those that a node is not linked to: nothing is known of theirs. The thesis'
    own method is ``solver="lbfgs", n_negatives=2, ridge=0, content_links=0, length_damping=0``.

    References
    ----------
    Wei, Xie, Cao, Yu: Cross View Link Prediction by Learning Noise-resilient Representation Consensus, WWW 2017.
    Wei: Unsupervised feature selection for heterogeneous data, 2017, chapter 5.

    Examples
    --------
    Two groups of people, who know each other within a group; the first of three attributes tells which. Four of them
    have just arrived and know nobody, four others have not said anything about themselves:

    >>> import numpy as np
    >>> from vicinal import NRCL
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(40) % 2
    >>> X = np.column_stack([np.where(group, 1.0, -1.0), rng.normal(size=(40, 2))])
    >>> knows = np.triu((group[:, None] == group) & (rng.random((40, 40)) < 0.7), 1).astype(float)
    >>> knows += knows.T
    >>> knows[:4], knows[:, :4], X[4:8] = 0, 0, np.nan
    >>> model = NRCL(5, weight_decay=1, random_state=0).fit(X, adjacency=knows)
    >>> indices, scores = model.recommend([0, 1, 2, 3], top=2, among=[4, 5, 6, 7])
    >>> np.sort(indices)
    array([[4, 6],
           [5, 7],
           [4, 6],
           [5, 7]])
    >>> int(model.feature_scores_.argmax())
    0
    """

    def __init__(
        self,
        n_components: int = 50,
        *,
        loss: str = "huber",
        consensus: float = 1.0,
        sparsity: float = 0.3,
        ridge: float = 0.3,
        weight_decay: float = 3.0,
        content_links: ContentLinks = "auto",
        length_damping: float = 0.5,
        n_negatives: int = 5,
        solver: str = "sgd",
        max_iter: int = 50,
        tol: float = 1e-4,
        n_epochs: int = 20,
        learning_rate: float = 0.3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.loss = loss
        self.consensus = consensus
        self.sparsity = sparsity
        self.ridge = ridge
        self.weight_decay = weight_decay
        self.content_links = content_links
        self.length_damping = length_damping
        self.n_negatives = n_negatives
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, nodes: Observed) -> None:
        options = LatentOptions.of(self)
        check_positive("consensus", self.consensus)
        check_positive("sparsity", self.sparsity)
        check_non_negative("ridge", self.ridge)
        if check_non_negative("length_damping", self.length_damping) > 1:
            raise ValueError(f"length_damping must be between 0 and 1; got {self.length_damping!r}.")
        if nodes.attributes is None or not nodes.both.any():
            raise ValueError(
                "No node shows both links and attributes, so that nothing ties the two together; give some that do, or "
                "take LinkRanking or DeepWalk for links alone."
            )
        refuse_extreme_values("NRCL", nodes.attributes)
        random = check_random_state(self.random_state)
        network = combined_network(nodes, self._n_content_links(nodes))
        linked = np.flatnonzero(np.diff(network.indptr) > 0)
        source = LinkTriplets(sp.csr_array(network[linked][:, linked]), self.n_negatives, random)
        both = nodes.attributed[linked]
        rows = nodes.attributes[linked[both]]
        length = float(np.sqrt((rows.multiply(rows) if sp.issparse(rows) else rows * rows).sum() / rows.shape[0]))
        consensus = Consensus(rows / length, np.flatnonzero(both), self.consensus, self.sparsity, self.ridge)
        start = random.random_sample((len(linked), self.n_components))
        solve = step_to_consensus if self.solver == "sgd" else solve_consensus
        with one_blas_thread():  # by which sums do not depend on the number of threads
            found = solve(source, consensus, start, options)
            U, W = found.solution
            self._keep(nodes, U[nodes.linked[linked]], W / length)
        self.objective_, self.n_iter_ = np.asarray(found.objective), found.n_iter
        if not found.converged:
            warn_not_converged(self, found.n_iter, steps="turns")
        if np.abs(U).max() < _COLLAPSED:
            warn(
                f"All vectors of NRCL are zero, as weight_decay={self.weight_decay:g} is too large for this network; "
                "lower it."
            )

    def _n_content_links(self, nodes: Observed) -> ContentLinks:
        if self.content_links != "auto":
            return self.content_links
        few = nodes.links.nnz < FEW * nodes.linked.sum()
        return ADDED if few and nodes.attributed.sum() <= MOST_COMPARED else 0

    def _keep(self, nodes: Observed, U: NDArray, W: NDArray) -> None:
        lengths = row_lengths(W)
        self.coefficients_ = np.where(lengths[:, None] > 1e-6 * lengths.max(), W, 0.0)
        self.feature_scores_ = np.square(self.coefficients_).sum(axis=1)
        by_attributes = np.asarray(nodes.attributes @ self.coefficients_)
        self.mean_length_ = float(row_lengths(by_attributes[nodes.attributed]).mean())
        self.embedding_ = by_attributes * self._damped(by_attributes)
        self.embedding_[nodes.linked] = U
        self.attributes_: Any = nodes.attributes

    def _damped(self, vectors: NDArray) -> NDArray:
        """What vectors that follow from attributes alone are multiplied by."""
        lengths = row_lengths(vectors)[:, None]
        over = np.divide(self.mean_length_, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return over**self.length_damping

    def _vectors(self) -> Matrix:
        return self.embedding_

    def transform(self, X: ArrayLike | None, *, links: Any = None) -> NDArray[np.float64]:
        """The vectors of new nodes, from their attributes, or from their links to nodes of `fit`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_new, n_attributes), or None
            Attributes; rows of NaN or zeros for nodes that show none. None where there are links alone.
        links : array-like or sparse matrix of shape (n_new, n_nodes), default=None
            Which nodes of `fit` each is linked to; empty rows for nodes that show none. A node that has both is placed
            by its links, and drawn to where its attributes would place it, as in `fit`.

        Returns
        -------
        ndarray of shape (n_new, n_components)
        """
        check_is_fitted(self)
        if X is None and links is None:
            raise ValueError("Give the attributes of new nodes as X, their links to known nodes as links=..., or both.")
        if X is not None:
            given = checked_rows(self, X, reset=False, ensure_all_finite="allow-nan")
            rows, shown = without_missing(as_doubles(given), "NRCL")
            vectors, dtype = np.asarray(rows @ self.coefficients_), given.dtype
            if links is None:
                return (vectors * self._damped(vectors)).astype(dtype, copy=False)
        ends = sp.csr_array(check_array(links, accept_sparse="csr", dtype=np.float64, input_name="links"))
        if X is None:
            vectors, dtype = np.zeros((ends.shape[0], self.n_components)), np.dtype(np.float64)
            shown = np.zeros(ends.shape[0], dtype=bool)
        if ends.shape != (len(shown), len(self.names_)):
            raise ValueError(
                f"links has the shape {ends.shape}; it needs a row for each new node and a column for each of the "
                f"{len(self.names_)} nodes of fit."
            )
        with limited_threads(self.n_jobs), one_blas_thread():
            placed = self._by_links(ends, vectors, np.where(shown, float(self.consensus), 0.0))
        return placed.astype(dtype, copy=False)

    def _by_links(self, ends: sp.csr_array, vectors: NDArray, pulls: NDArray) -> NDArray:
        """New nodes by triplets as in `fit`, their own and those of nodes that they are linked to, which stay."""
        links, found = as_doubles(ends), vectors * self._damped(vectors)
        links.eliminate_zeros()
        placed = np.flatnonzero(np.diff(links.indptr) > 0)
        if len(placed):
            links = sp.csr_array(links[placed])
            drawn = fold_in_triplets(links, self.links_, self.n_negatives)
            targets, options = vectors[placed], LatentOptions.of(self)
            found[placed] = fold_in(drawn, self.embedding_, len(placed), pulls[placed], targets, options)
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def strongest_attributes(self, n_attributes: int = 5) -> list[list[tuple[str, float]]]:
        """The attributes with the largest coefficients of each latent dimension.

        Parameters
        ----------
        n_attributes : int, default=5

        Returns
        -------
        list of list of (name, coefficient)
            One list for each dimension, the strongest first; attributes whose coefficient is zero are left out.
        """
        check_is_fitted(self)
        check_count("n_attributes", n_attributes)
        names = self._attribute_names()
        found = []
        for column in self.coefficients_.T:
            order = np.argsort(-np.abs(column), kind="stable")[:n_attributes]
            found.append([(names[place], float(column[place])) for place in order if column[place] != 0])
        return found

    def attributes_for(self, pairs: ArrayLike, n_attributes: int = 3) -> list[list[tuple[str, float]]]:
        """The attributes that speak for links: what each adds to the score, by the coefficients.

        Attributes of both nodes are looked at, where they show some; x W stands for the vector of the node whose
        attributes these are.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2)
            Two nodes each, by number or by name.
        n_attributes : int, default=3

        Returns
        -------
        list of list of (name, amount)
            One list for each pair, what adds most first; what adds nothing, or speaks against the link, is left out.
        """
        check_is_fitted(self)
        check_count("n_attributes", n_attributes)
        names = self._attribute_names()
        rows = sp.csr_array(self.attributes_)
        found = []
        for pair in self._ends(pairs):
            added = np.zeros(len(names))
            for own, other in (pair, pair[::-1]):
                entries = slice(rows.indptr[own], rows.indptr[own + 1])
                columns, values = rows.indices[entries], rows.data[entries]
                if not self.linked_[own]:
                    values = values * self._damped((values @ self.coefficients_[columns])[None])[0]
                added[columns] += values * (self.coefficients_[columns] @ self.embedding_[other])
            order = np.argsort(-added, kind="stable")[:n_attributes]
            found.append([(names[place], float(added[place])) for place in order if added[place] > 0])
        return found

    def _attribute_names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        return [f"x{place}" for place in range(len(self.coefficients_))] if given is None else list(given)

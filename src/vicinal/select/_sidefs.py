"""Columns that go with what a web of side information says of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.utils import check_random_state

from .._calls import one_blas_thread
from .._linked_rows import links_between
from .._magnitudes import as_doubles, with_squares
from .._messages import warn
from .._side_similarity import check_ways
from .._validation import Matrix, check_choice, check_count, check_non_negative, check_positive
from ..graphs import SideSim
from ..network import HeteroNetwork, MetaPath, links_of
from ._base import Ranked, SideSelector
from ._columns import varying
from ._link_likelihood import sample_non_links
from ._side_embedding import LINKS, LinkedPairs, Regressions, SideObjective

_STEPS_PER_TURN = 100
_VANISHED = 1e-2  # vectors of rows that are linked have lengths around 1


class SideFS(SideSelector):
    """Selection with complex side information: columns that can be told from where rows stand in a web of relations.

    Rows are compounds, say, and it is known which genes they bind and which diseases they treat. Meta-paths such as
    compound-binds-gene-binds-compound say how similar rows are (`vicinal.graphs.SideSim`), and each row is linked to
    its most similar ones. Every row then gets a vector u_i that tells whom it is linked to, and every column a vector
    v_p by which it can be told from these; few columns get one::

        min  - sum_links log f_ij - sum_others log(1 - f_ij) + gamma ||U||^2
             + alpha ||U V' + 1 a' - X||^2 + lambda sum_p ||v_p||
        f_ij = 1 / (1 + exp(-u_i . u_j))

    with as many pairs that are not linked as there are links, drawn once. A column scores by the length of v_p.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_components : int, default=5
        The length of vectors; c in the thesis.
    link : {"logistic", "distance"}, default="logistic"
        How likely two rows are linked: as above, or ``f_ij = 1 / (1 + ||u_i - u_j||^2)``.
    reconstruction : float, default=0.1
        The weight of what columns have that vectors cannot tell; alpha above and in the thesis, where it is 1. With
        less, links decide where rows stand, and columns follow: a few columns of noise could otherwise be told well
        from vectors of their own.
    sparsity : float, default=0.1
        What vectors of columns cost; lambda above and in the thesis, where it is 1. A column gets a vector if it goes
        with those of rows by more than ``sparsity / reconstruction``.
    weight_decay : float, default=0.3
        What vectors of rows cost; gamma above and in the thesis, where it is 1. Too much makes all of them vanish,
        about which `fit` warns.
    fit_intercept : bool, default=True
        Whether the mean of a column, a above, costs nothing. The thesis has none, so that columns which are never 0
        are preferred.
    metapaths : sequence of str or MetaPath, default=None
        The meta-paths by which rows are similar, such as "author-writes-paper-writes-author"; None for all of at most
        `max_length` relations.
    max_length : int, default=4
        The most relations of a meta-path, where none are given.
    aggregation : {"macro", "micro"}, default="macro"
        Whether meta-paths add up by the similarities they make or by their numbers of paths: see `SideSim`.
    weights : mapping of str to float, or sequence of float, default=None
        Of meta-paths: by name, or one for each in their order. None weighs all alike.
    n_neighbors : int, default=10
        Most similar rows that a row is linked to; k in the thesis. Of equally similar ones some are drawn.
    max_iter : int, default=100
        The most turns between rows and columns.
    tol : float, default=1e-5
        Ends when a turn lowers the objective by no more than this share of it.
    random_state : int, RandomState instance or None, default=None
        Draws vectors to begin with, pairs that are not linked, and among equally similar rows.
    n_jobs : int or None, default=None
        Threads of the search for nearest rows, where there is no side information; all else takes one. None uses all
        cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The length of v_p. Columns without a vector have the amount by which they missed one, below 0; columns that do
        not vary come last.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    embedding_ : ndarray of shape (n_samples, n_components)
        U.
    coefficients_ : ndarray of shape (n_features_in_, n_components)
        V, in the units of X.
    metapaths_ : list of str
        The meta-paths that count; none without side information.
    metapath_weights_ : ndarray
        What each of them weighs; their sum is 1.
    metapath_pairs_ : ndarray of int
        How many pairs of rows each of them joins.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, after each turn. It never rises.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    vicinal.graphs.SideSim : How similar rows are, and why.
    GFS : For a network of rows, without other nodes.

    Notes
    -----
    X is taken in units of the root of the mean square of its rows' lengths, around the mean with an intercept, so that
    weights mean the same for counts and for rows of unit length. Words should be weighted (TF-IDF), since frequent
    columns have more to be told of. Rows without side information have no links and are no ends of pairs that are not
    linked: their vectors follow from their columns alone. Without any side information rows are linked to their
    nearest ones.

    For given vectors of rows the best ones of columns are known, column by column, up to the root of a function of one
    variable, and many of them are exactly zero, which a smoothed norm never makes them. Time grows linearly with links
    and with the non-zeros of X.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, PhD thesis, University of Illinois at Chicago 2017,
    chapter 7.

    Examples
    --------
    Drugs of two kinds bind genes of two kinds; the first three of their properties go with the kind:

    >>> import numpy as np
    >>> from vicinal import SideFS
    >>> from vicinal.network import HeteroNetwork
    >>> rng = np.random.default_rng(0)
    >>> kind = np.arange(60) % 2
    >>> binds = rng.random((60, 20)) < np.where(kind[:, None] == np.arange(20) % 2, 0.5, 0.05)
    >>> X = rng.normal(size=(60, 10))
    >>> X[:, :3] += 3 * kind[:, None]
    >>> side = HeteroNetwork({("drug", "binds", "gene"): binds}, target="drug")
    >>> selector = SideFS(3, random_state=0).fit(X, side=side)
    >>> selector.get_support(indices=True)
    array([0, 1, 2])
    >>> selector.metapaths_
    ['drug-binds-gene-binds-drug']
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_components: int = 5,
        link: Literal["logistic", "distance"] = "logistic",
        reconstruction: float = 0.1,
        sparsity: float = 0.1,
        weight_decay: float = 0.3,
        fit_intercept: bool = True,
        metapaths: Sequence[str | MetaPath] | None = None,
        max_length: int = 4,
        aggregation: Literal["macro", "micro"] = "macro",
        weights: Any = None,
        n_neighbors: int = 10,
        max_iter: int = 100,
        tol: float = 1e-5,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.link = link
        self.reconstruction = reconstruction
        self.sparsity = sparsity
        self.weight_decay = weight_decay
        self.fit_intercept = fit_intercept
        self.metapaths = metapaths
        self.max_length = max_length
        self.aggregation = aggregation
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix, side: HeteroNetwork | None) -> Ranked:
        self._check()
        random = check_random_state(self.random_state)
        graph = self._links(X, side, random)
        columns = np.flatnonzero(varying(X))
        if not len(columns):
            X, columns = np.zeros(X.shape), np.arange(X.shape[1])  # no column has anything to tell
        X, scale = with_squares(as_doubles(X if len(columns) == X.shape[1] else X[:, columns]))
        linked = np.flatnonzero(np.diff(graph.indptr) > 0)
        links = links_of(graph[linked][:, linked], directed=False)
        others = sample_non_links(links, len(linked), random)
        pairs = LinkedPairs(linked[links], linked[others], X.shape[0], self.link)
        regressions = Regressions(X, intercept=bool(self.fit_intercept))
        objective = SideObjective(pairs, regressions, self.reconstruction, self.sparsity, self.weight_decay)
        start = random.random_sample((X.shape[0], self.n_components))
        with one_blas_thread():  # products are thin, and sums do not depend on the number of threads
            found = objective.solve(start, max_iter=self.max_iter, steps=_STEPS_PER_TURN, tol=self.tol)
            U, V = found.solution
            found_scores = objective.scores(U, V)
        scores = np.full(self.n_features_in_, min(float(found_scores.min()), 0.0) - 1.0)
        self.embedding_, self.coefficients_ = U, np.zeros((self.n_features_in_, self.n_components))
        scores[columns], self.coefficients_[columns] = found_scores, V * (regressions.length * scale)
        if np.square(U).mean() < _VANISHED**2 and not V.any():
            warn(
                f"All vectors of SideFS vanish, as weight_decay={self.weight_decay:g} is too large for so few links, "
                "and the ranking says little; lower it, or raise n_neighbors."
            )
        return Ranked.by(found, scores, steps="turns")

    def _check(self) -> None:
        check_choice("link", self.link, LINKS)
        check_positive("reconstruction", self.reconstruction)
        check_positive("sparsity", self.sparsity)
        check_positive("weight_decay", self.weight_decay)
        check_ways(self.metapaths, self.max_length, self.aggregation)
        check_count("n_components", self.n_components)
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)

    def _links(self, X: Matrix, side: HeteroNetwork | None, random: RandomState) -> sp.csr_array:
        if side is None:
            self.metapaths_, self.metapath_weights_ = [], np.zeros(0)
            self.metapath_pairs_ = np.zeros(0, dtype=np.int64)
            return links_between(X, None, self.n_neighbors, symmetric=True)
        similar = SideSim(
            side,
            metapaths=self.metapaths,
            max_length=self.max_length,
            aggregation=self.aggregation,
            weights=self.weights,
        )
        graph = similar.neighbor_graph(self.n_neighbors, random_state=random)
        if not graph.nnz:
            raise ValueError("The side information joins no two rows, so that it says nothing about the columns.")
        self.metapaths_ = [str(path) for path in similar.metapaths]
        self.metapath_weights_, self.metapath_pairs_ = similar.weights, similar.n_pairs
        return graph

"""Columns of which links and all other columns could have come."""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import NDArray

from .._linked_rows import links_between
from .._magnitudes import as_doubles
from .._optim import BoxMinimum, minimize_in_box, without_rounding
from .._validation import Matrix, check_choice, check_count, check_non_negative, check_positive
from ..network import links_of
from ._base import NetworkSelector, Ranked
from ._columns import varying
from ._content_models import BernoulliContent, GaussianContent, Reduced
from ._link_likelihood import LinkLikelihood, sample_non_links

Array = NDArray[np.float64]

_LARGEST_BIAS = 30.0  # beyond it a probability is 0 or 1 for all that matters
_LARGEST_VALUE = 1e5  # where x_i x_j is larger still, weights that matter are beyond what steps can find
_STEPS_PER_ROUND = 10


class GFS(NetworkSelector):
    """Generative feature selection: the columns that both the links and all other columns could have come from.

    Every column has a weight s_p between 0 and 1. Two rows are linked the more likely, the more of the weighted columns
    they share, and all columns are predicted from the weighted ones::

        min  L_G(s, b) + L_C(s, W) + lambda sum_p s_p   with  0 <= s <= 1
        P(i and j are linked) = 1 / (1 + exp(-x_i' diag(s) x_j - b))
        L_C = ||X diag(s) W - X||^2 + beta ||W||^2

    where L_G is minus the logarithm of the likelihood of all links and of as many pairs that are not linked, drawn
    once. For columns of 0 and 1, ``content="bernoulli"`` predicts by logistic regression instead. A column scores by
    its weight, and among equal weights by links. Links alone bring columns in, since a column of weight 0 predicts
    nothing, so that most columns end at exactly 0; what they predict then raises the weights, most of them to exactly
    1. Bring columns to a common scale first, from 0 to 1 for example.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    content : {"gaussian", "bernoulli"}, default="gaussian"
        How columns are predicted: as above, or as ``P(x_ij = 1) = 1 / (1 + exp(-(X diag(s) W)_ij))``, without an
        intercept, for values between 0 and 1.
    sparsity : float, default=1.0
        What weights cost; lambda above and in the thesis.
    ridge : float, default=1.0
        What coefficients cost; beta above and in the thesis.
    n_neighbors : int, default=5
        Nearest rows that a row is linked to if `fit` is given no network; at most half of the others.
    max_iter : int, default=1000
        Most steps of projected L-BFGS; with ``content="bernoulli"`` those of links alone, and then rounds of ten steps.
    tol : float, default=1e-4
        Ends when a linear model of the objective falls by no more than this share of it within the box of weights; with
        ``content="bernoulli"``, when a round lowers the objective by no more than this share.
    random_state : int, RandomState instance or None, default=None
        Draws the pairs that are not linked.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The weights s. Where they are at their bounds, 0 and 1, as most are, they are told apart by the slope of
        L_G + lambda s_p, that is by where links would take the weight next if there were no bounds: below 0, so that
        columns of weight 0 are ranked by how nearly they would have joined, and above 1. The slope of L_C is no measure
        there: the product of a weight and its coefficients can stay the same, so that it tells what a larger weight
        saves of the cost of coefficients, and nothing else.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    weights_ : ndarray of shape (n_features_in_,)
        s.
    intercept_ : float
        b, within 30 of 0.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, after each step; with ``content="bernoulli"``, after each round. It never rises.
    n_iter_ : int
    n_features_in_ : int

    See Also
    --------
    LUFS : Clusters of the network in place of its links.

    Notes
    -----
    The problem is not convex, and where the search begins decides what it finds: as in the thesis all weights begin at
    0 with W = 0, so that links are looked at alone until they have nothing more to say. Then weights and coefficients
    move together: for given weights the best W is known, and so is what it leaves, as a function of the weights with
    slopes ``-2 beta ||w_p||^2 / s_p``. Alternating between the two ends at the same place, after many more steps.

    Only the a columns whose weights are not 0 have coefficients. W itself is not made: systems are a x a, or n x n
    if that is less, and three or four products of such matrices are the cost of a step. Products of pairs of rows are
    kept for CSR, made in blocks otherwise; time grows linearly with links. Where both a and n exceed 6,000, 128 random
    combinations of the columns are predicted instead of all columns, which leaves L_C as it is on average, by
    conjugate gradients from products with X alone: a step then costs some hundred products of X with 128 columns.

    With ``content="bernoulli"`` the loss is replaced by parabolas above it, which touch it at the last W; all else is
    as before. Predictions are made for some columns at a time, but a coefficient is kept for each pair of one of the a
    columns and one of all, and every round costs two products of CSR with these.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, PhD thesis, University of Illinois at Chicago 2017,
    chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import GFS
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((80, 12)) < 0.4).astype(float)
    >>> shared = X[:, 3:6] @ X[:, 3:6].T
    >>> adjacency = np.triu((rng.random((80, 80)) < 0.2) & (shared >= 2), 1)
    >>> GFS(3, random_state=0).fit(X, adjacency=adjacency | adjacency.T).get_feature_names_out()
    array(['x3', 'x4', 'x5'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        content: Literal["gaussian", "bernoulli"] = "gaussian",
        sparsity: float = 1.0,
        ridge: float = 1.0,
        n_neighbors: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.content = content
        self.sparsity = sparsity
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix, adjacency: sp.csr_array | None) -> Ranked:
        check_choice("content", self.content, ("gaussian", "bernoulli"))
        check_positive("sparsity", self.sparsity)
        ridge = check_positive("ridge", self.ridge)
        check_count("max_iter", self.max_iter)
        check_non_negative("tol", self.tol)
        X = as_doubles(X)
        if abs(X).max() > _LARGEST_VALUE:
            raise ValueError(self._unreadable(X))
        links = links_of(links_between(X, adjacency, self.n_neighbors, symmetric=True), directed=False)
        likelihood = LinkLikelihood(X, links, sample_non_links(links, X.shape[0], self.random_state))
        if self.content == "gaussian":
            search = _Search(likelihood, GaussianContent(X, ridge, self.random_state), self.sparsity)
        else:
            _refuse_other_than_shares(X)
            search = _Search(likelihood, BernoulliContent(X, ridge), self.sparsity)
        converged = search.run(self.max_iter, self.tol)
        self.weights_, self.intercept_ = search.s, search.b
        scores = search.scores()
        steps = "rounds" if self.content == "bernoulli" else "iterations"
        return Ranked(scores, search.objective, len(search.objective), converged=converged, steps=steps)


def _refuse_other_than_shares(X: Matrix) -> None:
    values = X.data if sp.issparse(X) else X
    lowest, highest = values.min(initial=0.0), values.max(initial=0.0)
    if lowest < 0 or highest > 1:
        raise ValueError(
            f"content='bernoulli' needs values between 0 and 1, but those of X go from {lowest:.3g} to {highest:.3g}; "
            "give X > 0 of counts, or take content='gaussian'."
        )


class _Search:
    """s and b, and the objective on the way to them."""

    def __init__(self, likelihood: LinkLikelihood, content: GaussianContent | BernoulliContent, sparsity: float):
        self.likelihood, self.content, self.sparsity = likelihood, content, sparsity
        self.s, self.b = np.zeros(likelihood.X.shape[1]), 0.0
        self.varies = varying(likelihood.X)  # a constant column says what b says
        self.objective: list[float] = []
        # The curvature in b is at most a quarter of the pairs: in these units it is at most 1.
        self.unit_of_bias = 2 / np.sqrt(max(len(likelihood.pairs), 1))

    def run(self, max_iter: int, tol: float) -> bool:
        """Links alone first, W = 0; then also what the columns that came in predict. Whether tol was met."""
        found = self._minimise(np.flatnonzero(self.varies), None, max_iter, tol)
        content, converged = self.content, found.converged
        if isinstance(content, GaussianContent):
            content.expect(int(np.count_nonzero(self.s)))
        self.objective = [value + content.unexplained for value in found.objective]
        if converged and isinstance(content, GaussianContent):
            converged = self._with_gaussian(content, max_iter, tol)
        elif converged and isinstance(content, BernoulliContent):
            converged = self._with_bernoulli(content, max_iter, tol)
        self.objective = without_rounding(self.objective[1:] or self.objective)
        return converged

    def scores(self) -> Array:
        """s, told apart at its bounds by where links would take it next: below 0, and above 1."""
        slopes = self._slopes()
        none, all_of_it = self.s <= 0, self.s >= 1
        above = slopes[all_of_it].max(initial=-np.inf) - slopes
        return self.s - np.where(none, np.maximum(slopes, 0.0), 0.0) + np.where(all_of_it, above, 0.0)

    def _with_gaussian(self, content: GaussianContent, max_iter: int, tol: float) -> bool:
        while len(self.objective) <= max_iter:
            columns = self._candidates()
            found = self._minimise(columns, content.around(columns), max_iter + 1 - len(self.objective), tol)
            self.objective += found.objective
            others = np.delete(self._slopes(), columns)
            if not found.converged or -np.minimum(others, 0).sum() <= tol * abs(found.objective[-1]):
                return found.converged  # or no more can be gained by those that could join
        return False

    def _with_bernoulli(self, content: BernoulliContent, max_iter: int, tol: float) -> bool:
        columns = self._candidates()
        parabolas = content.around(columns)
        while len(self.objective) <= max_iter:
            self._minimise(columns, parabolas, _STEPS_PER_ROUND, 0.1 * tol)
            content.settle(columns, self.s[columns])
            columns, before = self._candidates(), self.objective[-1]
            parabolas = content.around(columns)
            value = self.likelihood(self.s, self.b)[0] + self.sparsity * float(self.s.sum())
            if value + content.value > before and content.retreat():
                parabolas = content.around(columns)
            self.objective.append(value + content.value)
            if before - self.objective[-1] <= tol * abs(self.objective[-1]):
                return True
        return False

    def _candidates(self) -> NDArray[np.intp]:
        """Columns that have a weight, or would get one."""
        return np.flatnonzero((self.s > 0) | (self._slopes() < 0))

    def _slopes(self) -> Array:
        """Of the likelihood, but for constant columns, and of what weights cost."""
        return np.where(self.varies, self.likelihood(self.s, self.b)[1], 0.0) + self.sparsity

    def _minimise(self, columns: NDArray[np.intp], content: Reduced | None, max_iter: int, tol: float) -> BoxMinimum:
        """Weights of these columns and b; without content, the value lacks its constant."""
        s = np.zeros(len(self.s))

        def function(x: Array) -> tuple[float, Array]:
            s[columns] = x[:-1]
            value, slopes, in_b = self.likelihood(s, x[-1] * self.unit_of_bias)
            value += self.sparsity * float(x[:-1].sum())
            slopes = slopes[columns] + self.sparsity
            if content is not None:
                more, further = content(x[:-1])
                value, slopes = value + more, slopes + further
            return value, np.append(slopes, in_b * self.unit_of_bias)

        bound = _LARGEST_BIAS / self.unit_of_bias
        lower = np.append(np.zeros(len(columns)), -bound)
        upper = np.append(np.ones(len(columns)), bound)
        start = np.append(self.s[columns], self.b / self.unit_of_bias)
        found = minimize_in_box(function, start, lower, upper, tol=tol, max_iter=max_iter)
        self.s = np.zeros(len(self.s))
        self.s[columns], self.b = found.solution[:-1], float(found.solution[-1] * self.unit_of_bias)
        return found

"""SNFS: columns that keep every row's neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._calls import current_callback, n_threads
from .._messages import warn
from .._optim import BoxMinimum, find_penalty, minimize_in_box
from .._validation import Matrix, check_choice, check_count, check_positive, check_selected_count, check_share
from ._base import FeatureSelector, Ranked
from ._columns import varying
from ._stochastic_neighbors import NeighborLoss, StochasticNeighbors

FIRST_PENALTY, LOWEST_PENALTY = 1e-3, 1e-9  # per row, where one is looked for


class SNFS(FeatureSelector):
    """Keeps the columns that preserve stochastic neighbours.

    Every row has all others as neighbours with some probability: a softmax of affinities, as in t-SNE. Each column
    gets a weight between 0 and 1 such that the probabilities with weighted columns stay near those with all columns
    (Kullback-Leibler divergence), while a penalty makes the weights small. Columns are judged together, without
    clusters and without labels, and those whose weights end near 1 are the ones to keep. The problem is convex.

    On text, give it TF-IDF rows of unit length, and scale the rows to unit length again after selecting.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or "all", default="auto"
        How many columns are kept: a number, a share, those with a weight above `threshold` ("auto", N_0.9 in the
        paper), or all.
    perplexity : float, default=15.0
        The effective number of neighbours of a row; at most half of the other rows are taken, and no fewer than a row
        has equals.
    penalty : float or "auto", default=1e-3
        Of the sum of the weights, per row (lambda / n in the paper): the larger, the fewer columns have a weight.
        The default suits thousands of columns; tens need 0.01 to 0.1. "auto" finds one by which `n_features_to_select`
        columns, a number or share, have a weight above `threshold`; where fewer columns than that vary, these are kept,
        with a warning.
    affinity : {"inner", "cosine", "euclidean"}, default="inner"
        What makes rows likely neighbours: the inner product, the cosine, or the negative squared distance. A cosine is
        a sum over columns of products of rows of unit length; the weights count these products, so that the problem
        stays convex, and lengths are those with all columns. How long a row is then makes no difference.
    threshold : float, default=0.9
        Of the weights, for "auto".
    n_neighbors : int or None, default=None
        None compares every row with every other. A number compares it with so many nearest rows and as many random ones
        that stand for the rest: for ten thousand CSR rows and more. 50 is hardly less accurate than all.
    max_iter : int, default=1000
    tol : float, default=1e-4
        The objective is at most this share above its minimum.
    random_state : int, RandomState instance or None, default=None
        Draws the random rows where `n_neighbors` is a number; nothing else is random.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        The columns' weights between 0 and 1.
    scores_ : ndarray of shape (n_features_in_,)
        The weights, told apart at both ends by what another bit of weight would gain over the penalty's price: above 1
        for columns that are worth more than it, between -1 and 0 for those that are worth less.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    n_auto_ : int
        Columns with a weight above `threshold`, at least 1.
    objective_ : ndarray of shape (n_iter_ + 1,)
        The objective after every iteration, with the penalty that was used.
    gap_ : float
        The objective is at most so much above its minimum.
    n_iter_ : int
    penalty_ : float
        The penalty per row that was used.
    scale_ : float
        1 / sigma^2, by which affinities are multiplied.
    n_features_in_ : int

    References
    ----------
    Wei, Yu: Unsupervised Feature Selection by Preserving Stochastic Neighbors, AISTATS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import SNFS
    >>> rng = np.random.default_rng(0)
    >>> centers = rng.normal(scale=3, size=(4, 5))
    >>> X = np.hstack([centers[rng.integers(4, size=200)], np.zeros((200, 20))]) + rng.normal(size=(200, 25))
    >>> selector = SNFS(5, penalty=0.1).fit(X)
    >>> selector.get_support(indices=True)
    array([0, 1, 2, 3, 4])
    >>> selector.with_n_features(2).transform(X).shape
    (200, 2)
    """

    _has_rule = True

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        perplexity: float = 15.0,
        penalty: float | str = 1e-3,
        affinity: str = "inner",
        threshold: float = 0.9,
        n_neighbors: int | None = None,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.perplexity = perplexity
        self.penalty = penalty
        self.affinity = affinity
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        n, n_columns = X.shape
        wanted = self._check(n_columns)
        largest = float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0))
        if self.affinity != "cosine" and largest and not 1e-70 < largest < 1e70:
            raise ValueError(
                f"Values of X go up to {largest:.3g}, whose products a computer cannot hold; scale X first."
            )
        threads = n_threads(self.n_jobs)
        rng = check_random_state(self.random_state) if self.n_neighbors is not None else None
        neighbors = StochasticNeighbors(X, self.affinity, self.n_neighbors, threads, rng)
        self.scale_ = neighbors.scale_of(min(self.perplexity, max((n - 1) / 2, 1.0)))
        loss = NeighborLoss(neighbors, self.scale_, 0.0)
        n_varying = int(np.count_nonzero(varying(neighbors.X)))
        if wanted is None:
            found = self._minimize(loss, float(self.penalty) * n, np.ones(n_columns))
        else:
            found = self._search_penalty(loss, wanted, n_varying)
        kept = self._kept(found.solution)
        n_most = max(1, kept) if wanted is not None and n_varying < wanted else None
        if kept == 0 and self.n_features_to_select == "auto":
            warn(
                f"penalty={self.penalty} leaves no column with a weight above {self.threshold}; of the others the best "
                "is kept. Lower the penalty."
            )
        self.weights_, self.gap_, self.penalty_ = found.solution, found.gap, loss.penalty / n
        lowest = found.objective[-1]
        notes = {"detail": f"its objective of {lowest:.6g} is up to {found.gap:.2g} above the minimum"}
        if lowest < -1e-9 * n:
            found.converged = False
            notes = {
                "detail": f"its objective is {lowest:.3g} by rounding, though it cannot be negative",
                "cure": "bring the columns nearer to 0, or to a common scale",
            }
        return Ranked.by(found, _scores(found, loss.penalty), n_auto=max(1, kept), n_most=n_most, **notes)

    def _search_penalty(self, loss: NeighborLoss, wanted: int, n_varying: int) -> BoxMinimum:
        """The minimum with a penalty by which `wanted` columns are kept, which `loss` has then, or the nearest."""
        n, n_columns = loss.neighbors.n_rows, loss.neighbors.n_columns

        def solve(penalty: float, before: BoxMinimum) -> tuple[int, BoxMinimum]:
            result = self._minimize(loss, penalty, before.solution)
            return self._kept(result.solution), result

        start = np.ones(n_columns)
        nothing = BoxMinimum(start, [], 0, True, start, np.inf, 0)
        searched = find_penalty(
            solve, min(wanted, n_varying), nothing, penalty=FIRST_PENALTY * n, lowest=LOWEST_PENALTY * n
        )
        loss.penalty = searched.penalty
        if wanted > n_varying or not searched.converged:
            why = f"{n_varying} of {n_columns} columns vary" if wanted > n_varying else "the others hardly matter"
            warn(
                f"No penalty keeps {wanted} columns, since {why}; with the one that was taken, "
                f"{searched.penalty / n:.3g}, {searched.kept} have a weight above {self.threshold}. Ask for fewer "
                "columns, or give a penalty."
            )
        return searched.solution

    def _minimize(self, loss: NeighborLoss, penalty: float, start: NDArray[np.float64]) -> BoxMinimum:
        loss.penalty = penalty
        report = current_callback()
        first: list[float] = []

        def progress(gap: float) -> None:
            first.append(gap)
            if report is not None and first[0] > max(gap, self.tol) > 0:
                report(min(1.0, np.log(first[0] / max(gap, self.tol)) / np.log(first[0] / self.tol)))

        return minimize_in_box(loss, start, tol=self.tol, max_iter=self.max_iter, callback=progress)

    def _kept(self, weights: NDArray[np.float64]) -> int:
        return int(np.count_nonzero(weights > self.threshold))

    def _check(self, n_columns: int) -> int | None:
        """The number of columns that a penalty is to be found for; None where one is given."""
        check_choice("affinity", self.affinity, ("inner", "cosine", "euclidean"))
        if check_positive("perplexity", self.perplexity) < 1:
            raise ValueError(
                f"perplexity must be at least 1, a row's effective number of neighbours; got {self.perplexity!r}."
            )
        if check_share("threshold", self.threshold) == 1:
            raise ValueError("threshold must be below 1, since no weight is above 1; got 1.")
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        if self.n_neighbors is not None:
            check_count("n_neighbors", self.n_neighbors)
        if isinstance(self.penalty, str) and self.penalty == "auto":
            wanted = check_selected_count(self.n_features_to_select, n_columns, has_rule=True)
            if wanted is None:
                raise ValueError(
                    "penalty='auto' needs n_features_to_select as a number or a share; got 'auto' for both."
                )
            return wanted
        check_positive("penalty", self.penalty)
        return None


def _scores(found: BoxMinimum, penalty: float) -> NDArray[np.float64]:
    """Weights; beyond the bounds by the gradient over the penalty, of which more than 1 is as bad as no column."""
    beyond = np.minimum(found.gradient / penalty, 1.0)
    scores = np.where(found.solution >= 1, 1 - np.minimum(beyond, 0), found.solution)
    return np.where(found.solution <= 0, -np.maximum(beyond, 0), scores)

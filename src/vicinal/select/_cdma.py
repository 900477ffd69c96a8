"""CDMA-FS: columns of each view whose kernel agrees with what all views say together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads
from .._magnitudes import as_doubles, unit_rows, with_squares
from .._messages import warn
from .._optim import BoxMinimum, find_penalty, minimize_in_box
from .._validation import Matrix, check_choice, check_count, check_non_negative, check_positive
from ..graphs import WEIGHTS, fuse_graphs, neighbor_graph
from ._alignment import KernelAlignment
from ._base import Ranked
from ._columns import varying
from ._multi_view import MultiViewSelector

LOWEST_PENALTY = 1e-5  # as a share of the largest coefficient of a column, where one is looked for
GROWTH = 8.0  # of the penalty, from the lowest one on
TRIES = 16  # penalties at most: the number kept can jump past the wanted one
SAYS_NOTHING = -2.0  # the score of columns that do not vary, below all others
TOLERANCE = 40  # the number kept may differ by one in so many from the wanted one, then scores decide


class CDMAFS(MultiViewSelector):
    """Keeps the columns of each view that agree with all views together: cross-diffused matrix alignment.

    First the neighbours of rows in all views are made one graph by cross diffusion (`vicinal.graphs.fuse_graphs`). Then
    each column of a view gets a weight between 0 and 1 such that the Gaussian kernel of the view's weighted columns
    aligns with that graph, while a penalty drives weights to 0. Columns are judged together, not by linear regression,
    and without clusters; those whose weights end at 1 are the ones to keep.

    Parameters
    ----------
    n_features_to_select : int, float, "auto", "all", or a sequence or mapping of them, default=0.5
        How many columns of each view are kept: a number or share of every view, those with weight 1 ("auto"), all, or
        one of these for each view, in the order of views or by name.
    views : None, sequence or mapping, default=None
        The columns of each view, as `vicinal.views.stack_views` describes them: for each view, in order or by name, a
        slice, a list of column numbers or of column names; or each view's number of columns, if they stand side by
        side. None for one view.
    penalty : float or "auto", default="auto"
        Of the sum of the weights (lambda). "auto" looks in each view for one by which about as many columns as wanted
        have weight 1. Where even one that is next to nothing keeps fewer, the scores decide about the rest.
    n_neighbors : int, default=5
        Of a row, in each view's graph and in the fused one (k).
    weights : {"binary", "heat", "cosine"}, default="binary"
        Of the edges of the views' graphs, as in `vicinal.graphs.neighbor_graph`; for rows of unit length "cosine" is
        the dot product.
    regularization : float, default=1.0
        Of the diffusion (alpha).
    n_diffusions : int, default=20
        Iterations of the diffusion at most.
    bandwidth : float or "auto", default="auto"
        Of the kernel (sigma^2): exp(-d^2 / bandwidth) at distance d. "auto" is half the mean squared distance between
        the rows of a view, which for texts of unit length is nearly 1.
    unit_rows : bool, default=True
        Whether each view's rows are first brought to length 1, within that view.
    max_iter : int, default=1000
        Iterations for each penalty.
    tol : float, default=1e-4
        Ends when no step within the bounds would lower a linear model of the objective by more than this share of it.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        The columns' weights between 0 and 1 (s).
    scores_ : ndarray of shape (n_features_in_,)
        The weights, told apart at both ends by the slope of the objective: above 1 by how much more weight would still
        gain, at and below 0 by how much weight would gain or cost once there is some. Columns that do not vary have -2.
    view_scores_ : dict of str to ndarray
        The scores of each view's columns.
    views_ : dict of str to ndarray of int
        The columns of each view.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best: by the place within its view, then by score.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    n_auto_ : list of int
        How many columns of each view have weight 1, at least 1.
    shared_edges_ : dict of str to float
        The share of the fused graph's edges that each view's own graph has.
    penalty_ : dict of str to float
        The penalty that was used in each view.
    objective_ : ndarray of shape (n_iter_ + 1,)
        The sum of all views' objectives after every iteration, with the penalties that were used.
    n_iter_ : int
        Of the view that took most.
    n_features_in_ : int

    Notes
    -----
    A column whose weight reached 0 never gets one again, since the slope there is the penalty. That is why all
    penalties are reached from next to none, each from the weights of a lower one. A row that is all zeros in one view
    has no neighbours there, and those that the other views give it.

    References
    ----------
    Wei, Cao, Yu: Multi-view Unsupervised Feature Selection by Cross-diffused Matrix Alignment, IJCNN 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import CDMAFS
    >>> from vicinal.views import stack_views
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=90)
    >>> def view(n_informative):
    ...     rows = rng.normal(size=(90, 8))
    ...     rows[:, :n_informative] += 4 * rng.normal(size=(3, n_informative))[labels]
    ...     return rows
    >>> X, views = stack_views({"text": view(2), "tags": view(3)})
    >>> selector = CDMAFS({"text": 2, "tags": 3}, views=views).fit(X)
    >>> selector.get_support(indices=True)
    array([ 0,  1,  8,  9, 10])
    """

    _has_rule = True

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        views: Any = None,
        penalty: float | str = "auto",
        n_neighbors: int = 5,
        weights: str = "binary",
        regularization: float = 1.0,
        n_diffusions: int = 20,
        bandwidth: float | str = "auto",
        unit_rows: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.views = views
        self.penalty = penalty
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.regularization = regularization
        self.n_diffusions = n_diffusions
        self.bandwidth = bandwidth
        self.unit_rows = unit_rows
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix) -> Ranked:
        self._check()
        parts = {name: _prepared(part, self.unit_rows) for name, part in self._split(X).items()}
        graphs = {name: self._graph(part) for name, (part, _) in parts.items()}
        graph: Any = fuse_graphs(
            list(graphs.values()),
            self.n_neighbors,
            regularization=self.regularization,
            max_iter=self.n_diffusions,
            n_jobs=self.n_jobs,
        )
        self._judge(graph, graphs)
        self.weights_, scores = np.zeros(self.n_features_in_), np.full(self.n_features_in_, SAYS_NOTHING)
        self.penalty_, found = {}, []
        for (name, columns), wanted in zip(self.views_.items(), self._counts(self.n_features_to_select), strict=True):
            part, scale = parts[name]
            kept = varying(part)
            loss = None
            result = BoxMinimum(np.zeros(0), [0.0], 0, True, np.zeros(0), 0.0, 0)
            if kept.any():
                part = part if kept.all() else part[:, np.flatnonzero(kept)]
                bandwidth = half_mean_square(part) if self.bandwidth == "auto" else float(self.bandwidth) / scale**2
                loss = KernelAlignment(part, graph, bandwidth, n_threads(self.n_jobs))
                result = self._minimum(loss, wanted)
                self.weights_[columns[kept]] = s = result.solution
                scores[columns[kept]] = _scores(s, loss.aligned(s, everywhere=True)[1], loss.penalty)
            else:
                warn(f"No column of {self._called(name)} varies, so that scores do not tell them apart.")
            found.append(result)
            self.penalty_[name] = 0.0 if loss is None else loss.penalty
        n_iter = max(1, *(result.n_iter for result in found))
        histories = [np.pad(result.objective, (0, n_iter - result.n_iter), mode="edge") for result in found]
        return Ranked(
            scores,
            np.sum(histories, axis=0).tolist(),
            n_iter,
            n_auto=[max(1, n_whole(result.solution)) for result in found],
            converged=all(result.converged for result in found),
        )

    def _judge(self, graph: sp.csr_array, graphs: Mapping[str, sp.csr_array]) -> None:
        """How much of the fused graph each view has; and whether it says anything."""
        n = graph.shape[0]
        if graph.nnz == n * (n - 1):
            warn(
                f"n_neighbors={self.n_neighbors} joins all {n} rows to each other, so that the graph of the views says "
                "nothing; lower it, or give more rows."
            )
        joined = graph.astype(bool)
        self.shared_edges_ = {
            name: float(joined.multiply(own > 0).sum() / max(graph.nnz, 1)) for name, own in graphs.items()
        }

    def _graph(self, X: Matrix) -> sp.csr_array:
        """Each row's neighbours in a view; rows of zeros, which are as near to any row as to any other, have none."""
        n = X.shape[0]
        there = np.flatnonzero(np.asarray(abs(X).max(axis=1).todense() if sp.issparse(X) else abs(X).max(axis=1)))
        if len(there) < 2:
            return sp.csr_array((n, n))
        graph = neighbor_graph(X[there], self.n_neighbors, weights=self.weights, n_jobs=self.n_jobs).tocoo()
        first, second = graph.coords
        return sp.csr_array((graph.data, (there[first], there[second])), shape=(n, n))

    def _minimum(self, loss: KernelAlignment, wanted: int | None) -> BoxMinimum:
        """The minimum with the penalty that is given, or with the one that keeps about as many columns as wanted."""
        start = np.ones(loss.n_columns)
        solved: dict[float, BoxMinimum] = {}

        def solve(penalty: float, _: Any) -> tuple[int, BoxMinimum]:
            lower = [tried for tried in solved if tried <= penalty]  # from above, zeros would not come back
            loss.penalty = penalty
            begin = solved[max(lower)].solution if lower else start
            solved[penalty] = minimize_in_box(loss, begin, tol=self.tol, max_iter=self.max_iter)
            return n_whole(solved[penalty].solution), solved[penalty]

        largest = float(np.abs(loss.aligned(start, everywhere=True)[1]).max())
        lowest = LOWEST_PENALTY * largest
        if self.penalty != "auto":
            # Straight from s = 1, steps down a high penalty end at 0 in columns that a lower one would have kept.
            penalty = lowest
            while 0 < penalty < float(self.penalty):
                solve(penalty, None)
                penalty *= GROWTH
            return solve(float(self.penalty), None)[1]
        if wanted is None or not lowest:
            return solve(lowest, None)[1]
        searched = find_penalty(
            solve,
            wanted,
            None,
            penalty=lowest,
            factor=GROWTH,
            lowest=lowest,
            max_tries=TRIES,
            tolerance=wanted // TOLERANCE,
        )
        loss.penalty = searched.penalty
        assert searched.solution is not None
        return searched.solution

    def _check(self) -> None:
        check_count("n_neighbors", self.n_neighbors)
        check_choice("weights", self.weights, WEIGHTS)
        check_non_negative("regularization", self.regularization)
        check_count("n_diffusions", self.n_diffusions)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        check_choice("unit_rows", self.unit_rows, (True, False))
        if isinstance(self.penalty, str):
            check_choice("penalty", self.penalty, ("auto",))
        else:
            check_non_negative("penalty", self.penalty)
        if isinstance(self.bandwidth, str):
            check_choice("bandwidth", self.bandwidth, ("auto",))
        else:
            check_positive("bandwidth", self.bandwidth)


def half_mean_square(X: Matrix) -> float:
    """Half the mean squared distance between two rows: the sum of the columns' variances."""
    means = np.asarray(X.mean(axis=0)).ravel()
    if not sp.issparse(X):
        return float(np.square(X - means).mean(axis=0).sum())
    within = np.square(X.data - means[X.indices]).sum()
    absent = X.shape[0] - np.bincount(X.indices, minlength=X.shape[1])
    return float(within + absent @ np.square(means)) / X.shape[0]


def n_whole(s: NDArray[np.float64]) -> int:
    """How many columns have weight 1."""
    return int(np.count_nonzero(s >= 1))


def _prepared(X: Matrix, to_unit_rows: bool) -> tuple[Matrix, float]:
    """Rows of length 1, or rows over a power of two such that squares can be held; and that."""
    X = as_doubles(X)
    return (unit_rows(X), 1.0) if to_unit_rows else with_squares(X)


def _scores(s: NDArray[np.float64], coefficients: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    """Weights; those of 1 by how far the slope still falls, those of 0 by the slope per weight that they would have."""
    largest = float(np.abs(coefficients).max()) or 1.0
    scores = np.where(s >= 1, 1 + np.maximum(-(coefficients + penalty) / largest, 0), s)
    return np.where(s <= 0, (-coefficients / largest - 1) / 2, scores)

"""Partial orders on a network: columns by which rows are more like rows they are linked to than like others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._calls import n_threads
from .._magnitudes import with_squares
from .._triplets import Rows
from .._validation import Matrix
from ._base import NetworkSelector, Ranked
from ._partial_order import mean_differences
from ._triplet_selector import TripletSelector, with_triplets


class SPOP(NetworkSelector):
    """Simple partial order preserving selection: columns that linked rows share and others do not.

    A triplet (i, j, k) is a row i, a row j that it is linked to and a row k that it is not linked to. The score of a
    column p is the mean of ``x_ip (x_jp - x_kp)`` over all triplets of the network, computed exactly and without
    drawing any: how much more linked rows have the column in common than rows that are not linked.

    Each column is judged alone. Where rows share many columns, as in long texts, the best ones say the same thing again
    and again: `PPOP` and `MMPOP` judge columns together.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_neighbors : int, default=5
        Without a network, each row is linked to so many of its nearest rows.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The mean over triplets; negative for columns that linked rows share less than others.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    objective_ : ndarray of shape (1,)
        The sum of the scores of the columns that are kept.
    n_iter_ : int
        1.
    n_features_in_ : int

    Notes
    -----
    With links A, degrees d and column sums c, the sum over triplets is
    ``(n - 1) sum_i x_i * (A X)_i - c * (X' d) + (X * X)' d``: it costs links times the non-zeros of a row. Links that
    go one way only count from their first row. Weights of links are not looked at.

    References
    ----------
    Wei, Xie, Yu: Efficient partial order preserving unsupervised feature selection on networks, SDM 2015.

    Examples
    --------
    Two groups of rows with links within each; the first column tells them apart, the second all rows share:

    >>> import numpy as np
    >>> from vicinal import SPOP
    >>> group = np.repeat([0, 1], 5)
    >>> X = np.column_stack([group, np.ones(10), np.arange(10) % 2])
    >>> adjacency = (group[:, None] == group) & ~np.eye(10, dtype=bool)
    >>> SPOP(1).fit(X, adjacency=adjacency).get_feature_names_out()
    array(['x0'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_neighbors: int = 5,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _rank(self, X: Matrix, adjacency: sp.csr_array | None) -> Ranked:
        X, links, sampler = with_triplets(X, adjacency, self.n_neighbors)
        if not sampler.n_triplets:
            return Ranked(np.zeros(X.shape[1]))
        X, scale = with_squares(X)
        with np.errstate(over="ignore"):
            return Ranked(mean_differences(Rows.of(X), links, n_threads(None)) * scale**2)


class PPOP(TripletSelector):
    """Probabilistic partial order preserving selection: columns that together make linked rows likely to be alike.

    A triplet (i, j, k) is a row i, a row j that it is linked to and a row k that it is not linked to. With weights w of
    the columns, i is more like j than like k by ``s_ijk = w . (x_i * (x_j - x_k))``, and this order is kept with the
    probability ``1 / (1 + exp(-s_ijk))``. The weights::

        min  mean over triplets of log(1 + exp(-s_ijk)) + lambda / 2 ||w||^2

    rank the columns. Triplets whose order is certain no longer count: of several columns that say the same one is
    enough. The objective is a smooth stand-in for the AUC of links.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    penalty : float or "auto", default=1e-4
        lambda, in units of the mean squared length of ``x_i * (x_j - x_k)``, so that it means the same whatever the
        unit of X. A large one ranks as `SPOP` does, a small one trusts rare columns. "auto" holds out a fifth of the
        links and takes the penalty whose best columns, as many as are wanted, tell these links from other pairs of rows
        best, by their AUC; labels are not read. 0 leaves it out.
    n_triplets : float, default=12.0
        Steps of stochastic descent, one per triplet, as a multiple of the links.
    average : bool, default=True
        Whether the mean of all iterates counts, or the last one alone, as in the thesis' Algorithm 2.
    first_step : float, default=1.0
        Without a penalty, step t has the length ``first_step / sqrt(t)``, over the mean squared length of
        ``x_i * (x_j - x_k)``. With a penalty it is ``1 / (lambda t)``.
    solver : {"sgd", "exact"}, default="sgd"
        "exact" minimises over all triplets without drawing any, which costs links times rows in each iteration: for
        networks of up to a few thousand rows.
    n_neighbors : int, default=5
        Without a network, each row is linked to so many of its nearest rows.
    max_iter : int, default=500
        Most iterations of the exact solver.
    tol : float, default=1e-3
        How far the exact solver may end above the minimum, as a share of the objective without any weights.
    random_state : int, RandomState instance or None, default=None
        Draws triplets, and the links that are held out.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The weights w; columns with negative ones make linked rows less alike than others.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    penalty_ : float
        The penalty that was used, in the units of `penalty`.
    objective_ : ndarray
        The objective, estimated after each tenth of the steps on 2,000 triplets that are drawn once; of the exact
        solver its values, which never rise.
    n_iter_ : int
        Steps, one per triplet; iterations of the exact solver.
    n_features_in_ : int

    Notes
    -----
    Triplets are uniform over all triplets of the network. A step costs the non-zeros of three rows; it is one thread's
    work, and so the same on any number of threads. Features may be binary, counts or real numbers of a common scale,
    from 0 to 1 for example: large values outweigh the others. They should not be centred: columns that rows lack are
    zero. Weights of links are not looked at.

    References
    ----------
    Wei, Xie, Yu: Efficient partial order preserving unsupervised feature selection on networks, SDM 2015.

    Examples
    --------
    Rows are linked where they share one of the first three columns; the others are noise:

    >>> import numpy as np
    >>> from vicinal import PPOP
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((200, 20)) < 0.3).astype(float)
    >>> adjacency = np.triu(X[:, :3] @ X[:, :3].T > rng.random((200, 200)) * 20, 1)
    >>> selector = PPOP(3, random_state=0).fit(X, adjacency=adjacency | adjacency.T)
    >>> selector.get_feature_names_out()
    array(['x0', 'x1', 'x2'], dtype=object)
    """

    _loss = "logistic"

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        penalty: float | str = 1e-4,
        n_triplets: float = 12.0,
        average: bool = True,
        first_step: float = 1.0,
        solver: str = "sgd",
        n_neighbors: int = 5,
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.penalty = penalty
        self.n_triplets = n_triplets
        self.average = average
        self.first_step = first_step
        self.solver = solver
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class MMPOP(TripletSelector):
    """Maximum margin partial order preserving selection: columns that together set linked rows apart from others.

    As `PPOP`, with the hinge loss: in each triplet the row i should be more like j, which it is linked to, than like k,
    which it is not linked to, by a margin of 1::

        min  mean over triplets of max(0, 1 - s_ijk) + lambda / 2 ||w||^2,   s_ijk = w . (x_i * (x_j - x_k))

    and the weights w rank the columns. Triplets that have their margin no longer count: of several columns that say the
    same one is enough.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    penalty : float or "auto", default=2e-4
        lambda, in units of the mean squared length of ``x_i * (x_j - x_k)``, so that it means the same whatever the
        unit of X. A large one ranks as `SPOP` does, a small one trusts rare columns. "auto" holds out a fifth of the
        links and takes the penalty whose best columns, as many as are wanted, tell these links from other pairs of rows
        best, by their AUC; labels are not read. 0 leaves it out.
    n_triplets : float, default=12.0
        Steps of stochastic descent, one per triplet, as a multiple of the links.
    average : bool, default=True
        Whether the mean of all iterates counts, or the last one alone, as in the thesis' Algorithm 2.
    first_step : float, default=1.0
        Without a penalty, step t has the length ``first_step / sqrt(t)``, over the mean squared length of
        ``x_i * (x_j - x_k)``. With a penalty it is ``1 / (lambda t)``.
    solver : {"sgd", "exact"}, default="sgd"
        "exact" minimises over all triplets without drawing any, which costs links times rows in each iteration: for
        networks of up to a few thousand rows.
    n_neighbors : int, default=5
        Without a network, each row is linked to so many of its nearest rows.
    max_iter : int, default=500
        Most iterations of the exact solver.
    tol : float, default=1e-3
        How far the exact solver may end above the minimum, as a share of the objective without any weights.
    random_state : int, RandomState instance or None, default=None
        Draws triplets, and the links that are held out.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The weights w; columns with negative ones make linked rows less alike than others.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    penalty_ : float
        The penalty that was used, in the units of `penalty`.
    objective_ : ndarray
        The objective, estimated after each tenth of the steps on 2,000 triplets that are drawn once; of the exact
        solver its values, which never rise.
    n_iter_ : int
        Steps, one per triplet; iterations of the exact solver.
    n_features_in_ : int

    Notes
    -----
    Triplets are uniform over all triplets of the network. With a penalty, the steps are those of Pegasos. A step costs
    the non-zeros of three rows; it is one thread's work, and so the same on any number of threads. Features may be
    binary, counts or real numbers of a common scale, and should not be centred. Weights of links are not looked at.

    References
    ----------
    Wei, Xie, Yu: Efficient partial order preserving unsupervised feature selection on networks, SDM 2015.

    Examples
    --------
    Rows are linked where they share one of the first three columns; the others are noise:

    >>> import numpy as np
    >>> from vicinal import MMPOP
    >>> rng = np.random.default_rng(0)
    >>> X = (rng.random((200, 20)) < 0.3).astype(float)
    >>> adjacency = np.triu(X[:, :3] @ X[:, :3].T > rng.random((200, 200)) * 20, 1)
    >>> selector = MMPOP(3, random_state=0).fit(X, adjacency=adjacency | adjacency.T)
    >>> selector.get_feature_names_out()
    array(['x0', 'x1', 'x2'], dtype=object)
    """

    _loss = "hinge"

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        penalty: float | str = 2e-4,
        n_triplets: float = 12.0,
        average: bool = True,
        first_step: float = 1.0,
        solver: str = "sgd",
        n_neighbors: int = 5,
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.penalty = penalty
        self.n_triplets = n_triplets
        self.average = average
        self.first_step = first_step
        self.solver = solver
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

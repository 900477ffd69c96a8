"""Columns that predict clusters, some rows of which may be outlying."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags

from .._optim import multiplicative_step
from .._validation import Matrix, check_non_negative, check_positive
from ._label_learning import Array, LabelLearner, ViewObjective, smooth_lengths
from ._local_regression import local_learning_laplacian

_SMOOTHING = 1e-2  # of residuals, against labels of size 1 and against the rows' usual length
_CENTER_STEPS = 5


class RUFS(LabelLearner):
    """Robust unsupervised feature selection: few columns that predict clusters, some rows of which may be outlying.

    Pseudo labels F, a non-negative and nearly orthogonal indicator of clusters, the clusters' non-negative centres C
    and the coefficients W of a regression of the labels on few columns are found together::

        min  sum_i ||x_i - f_i C|| + nu Tr(F' L F) + alpha sum_i ||x_i W - f_i|| + beta sum_j ||w_j||
        with  F' F = I,  F >= 0,  C >= 0

    The first sums go over rows, whose distances are not squared: an outlying row has little say. L tells how far labels
    are from what ridge regression within each row's neighbourhood predicts. A column scores by the length of its row of
    W. X must not be negative. Columns should have a common scale and be 0 where they say nothing, like counts and
    TF-IDF: the regression has no intercept.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_clusters : int, default=5
        The number of pseudo classes, the columns of F.
    n_neighbors : int, default=5
        How many nearest rows predict a row's labels; what exceeds the other rows is cut.
    regression_weight : float, default=1.0
        How much labels should be what the columns predict; alpha above and in the paper.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    smoothness : float, default=1.0
        How much labels should be what neighbours predict; nu above and in the paper.
    orthogonality : float, default=30.0
        What ``||F' F - I||^2 / 2`` costs, in units of the rows' total length per cluster,
        ``sqrt(n_samples) ||X|| / n_clusters``; by default the constraint is kept to about 1e-2. The larger, the longer
        labels take to leave the clusters that they start from.
    ridge : float, default=1.0
        How cautious predictions by neighbours are, in units of the neighbours' mean squared length; lambda in the paper
        for rows of unit length. The kernel is linear: the inner product of rows.
    max_iter : int, default=200
        Most rounds of 60 steps each.
    tol : float, default=1e-5
        Ends when the objective falls by less than this share of it in a round.
    random_state : int, RandomState instance or None, default=None
        Starts the k-means that finds the first labels.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The lengths of the rows of `coef_`; 0 for constant columns. Those of columns that the minimum does without are
        tiny, and tell which of them come nearest to being used.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    coef_ : ndarray of shape (n_features_in_, n_clusters)
        W.
    pseudo_labels_ : ndarray of shape (n_samples, n_clusters)
        F; the largest entry of a row tells its cluster.
    objective_ : ndarray of shape (n_iter_,)
        What is minimised, with the cost of what is left of the constraint, after each round; it never rises.
    n_iter_ : int
        The number of rounds.
    n_features_in_ : int

    Notes
    -----
    All lengths are smoothed, ``sqrt(d^2 + e^2)``: e is 1e-2 s for labels, where s = sqrt(n_clusters / n_samples) is
    their size, 1e-2 of the rows' root mean squared length for rows, and 1e-4 s over that length for coefficients. In
    each round C takes some multiplicative steps, then F and W go downhill together by projected L-BFGS, with variables
    scaled anew. X stays sparse, ``X - F C`` is never formed, and no matrix is larger than X.

    References
    ----------
    Qian, Zhai: Robust unsupervised feature selection, IJCAI 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.select import RUFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(0.3, size=(90, 8)).astype(float)
    >>> X[:, 2:5] += np.repeat(np.eye(3), 30, axis=0) * rng.poisson(4, size=(90, 3))
    >>> RUFS(3, n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['x2', 'x3', 'x4'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        regression_weight: float = 1.0,
        sparsity: float = 1.0,
        smoothness: float = 1.0,
        orthogonality: float = 30.0,
        ridge: float = 1.0,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.regression_weight = regression_weight
        self.sparsity = sparsity
        self.smoothness = smoothness
        self.orthogonality = orthogonality
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _weights(self, X: Matrix) -> dict[str, float]:
        if (X.data if sp.issparse(X) else X).min(initial=0) < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: it takes rows apart into non-negative ones; "
                "shift or scale the columns to at least 0, or take RSFS."
            )
        check_positive("ridge", self.ridge)
        return {
            "alpha": check_positive("regression_weight", self.regression_weight),
            "beta": check_non_negative("sparsity", self.sparsity),
            "nu": check_non_negative("smoothness", self.smoothness),
            "orthogonality": check_positive("orthogonality", self.orthogonality),
        }

    def _objective(self, X: Matrix, F: Array, **weights: float) -> ViewObjective:
        return RUFSObjective(X, local_learning_laplacian(X, self.n_neighbors, ridge=self.ridge), F, **weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class RUFSObjective(ViewObjective):
    """||X - FC||_{2,1} + nu Tr(F'LF) + alpha ||XW - F||_{2,1} + beta ||W||_{2,1} + the penalty for orthogonality.

    Weights are those for labels with ``F'F = I``. The lengths of the rows of X - FC come from X C' and C C'; what
    cancels in them is far below the smoothing.
    """

    def __init__(
        self,
        X: Matrix,
        L: sp.csr_array,
        F: Array,
        *,
        alpha: float,
        beta: float,
        nu: float,
        orthogonality: float,
        smoothing: float = _SMOOTHING,
    ):
        super().__init__(X, L, F.shape[1])
        self.smoothing = smoothing
        self.alpha, self.beta = self.label_size * alpha, self.label_size * beta
        self.nu = self.label_size**2 * nu
        self.orthogonality = orthogonality * self.usual_length
        self.set_centers(self.label_size**2 * (X.T @ F).T)

    def set_centers(self, C: Array) -> None:
        self.C, self.projected, self.products = C, self.X @ C.T, C @ C.T

    def row_lengths(self, F: Array) -> Array:
        explained = np.einsum("ij,ij->i", F, 2 * self.projected - F @ self.products)
        return smooth_lengths(self.squared_rows - explained, self.smoothing * self.usual_length)

    def label_lengths(self, residual: Array) -> Array:
        return smooth_lengths(np.einsum("ij,ij->i", residual, residual), self.smoothing)

    def __call__(self, F: Array, W: Array) -> tuple[float, Array, Array]:
        residual = self.X @ W - F
        row_lengths, label_lengths = self.row_lengths(F), self.label_lengths(residual)
        lengths = self.coefficient_lengths(W)
        rough = self.L @ F
        away = self.away_from_orthogonal(F)
        value = (
            row_lengths.sum()
            + self.nu * np.vdot(F, rough)
            + self.alpha * label_lengths.sum()
            + self.beta * lengths.sum()
            + self.orthogonality / (2 * self.label_size**2) * np.vdot(away, away)
        )
        directions = self.alpha * residual / label_lengths[:, None]
        by_labels = (F @ self.products - self.projected) / row_lengths[:, None] - directions
        by_labels += 2 * (self.nu * rough + self.orthogonality * (F @ away))
        return float(value), by_labels, self.X.T @ directions + self.beta * W / lengths[:, None]

    def curvature(self, F: Array, W: Array) -> tuple[Array, Array]:
        row_lengths, label_lengths = self.row_lengths(F), self.label_lengths(self.X @ W - F)
        by_labels = self.products.trace() / F.shape[1] / row_lengths + self.alpha / label_lengths
        by_coefficients = self.alpha * (self.squares.T @ (1 / label_lengths))
        return by_labels + 2 * self.nu * self.L.diagonal(), by_coefficients + self.beta / self.coefficient_lengths(W)

    def update(self, F: Array) -> None:
        """Centres by multiplicative steps: the gradient is (F / length)'F C - (F / length)'X."""
        lengths = self.row_lengths(F)
        for _ in range(_CENTER_STEPS):
            rising, falling = self.center_parts(F, lengths)
            self.set_centers(multiplicative_step(self.C, rising, falling, lambda C: self._at(C, F), lengths.sum())[0])
            lengths = self.row_lengths(F)

    def center_parts(self, F: Array, lengths: Array) -> tuple[Array, Array]:
        weighted = F / lengths[:, None]
        return (weighted.T @ F) @ self.C, (self.X.T @ weighted).T

    def _at(self, C: Array, F: Array) -> float:
        self.set_centers(C)
        return float(self.row_lengths(F).sum())

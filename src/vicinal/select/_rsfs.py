"""Columns that predict clusters, some entries of which may be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import Matrix, check_non_negative, check_positive
from ._label_learning import Array, LabelLearner, ViewObjective
from ._local_regression import kernel_regression_laplacian


class RSFS(LabelLearner):
    """Robust spectral feature selection: few columns that predict clusters, some entries of which may be wrong.

    Pseudo labels F, a non-negative and nearly orthogonal indicator of clusters, and the coefficients W of their
    regression on few columns are found together::

        min  Tr(F' L F) + alpha (||X W - F - Z||^2 + s gamma ||Z||_1 + s beta sum_i ||w_i||)
        with  F' F = I,  F >= 0

    where s = sqrt(n_clusters / n_samples) is the size of a label. L tells how far labels are from what robust kernel
    regression within each row's neighbourhood says, and Z takes up single labels that no column explains. A column
    scores by the length of its row of W. Columns should have a common scale and be 0, or 0 on average, where they say
    nothing: the regression has no intercept.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.
    n_clusters : int, default=5
        The number of pseudo classes, the columns of F.
    n_neighbors : int, default=5
        How many nearest rows predict a row's labels; what exceeds the other rows is cut.
    regression_weight : float, default=1.0
        How much the labels listen to the columns rather than to their neighbours; alpha above and in the paper.
    sparsity : float, default=1.0
        How much it costs to use many columns; beta above and in the paper.
    outlier_cost : float, default=1.0
        What an outlying label costs, gamma above and in the paper: residuals above half of it, times the size of a
        label, count by their size and not by their square. Large values give least squares.
    orthogonality : float, default=100.0
        What ``||F' F - I||^2 / 2`` costs; by default the constraint is kept to less than 1e-2. The larger, the longer
        labels take to leave the clusters that they start from.
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
    The paper has no s. Without it `sparsity` and `outlier_cost` mean something else for every number of rows: on a
    thousand rows of text a sparsity of 1 leaves hardly a column, and with a cost of 1 no label is ever outlying.

    The best Z is a soft threshold, and what remains of the loss is Huber's. Lengths ``||w_i||`` are smoothed,
    ``sqrt(||w_i||^2 + e^2)`` with e = 1e-4 s over the rows' root mean squared length. The whole is minimised by
    projected L-BFGS, with variables scaled anew in each round. X stays sparse, and no matrix is larger than X.

    References
    ----------
    Shi, Du, Shen: Robust spectral learning for unsupervised feature selection, ICDM 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.select import RSFS
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 8))
    >>> X[:, 2:4] += np.repeat([[0.0, 8.0], [8.0, 0.0], [8.0, 8.0]], 30, axis=0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> RSFS(2, n_clusters=3, random_state=0).fit(X).get_feature_names_out()
    array(['x2', 'x3'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        regression_weight: float = 1.0,
        sparsity: float = 1.0,
        outlier_cost: float = 1.0,
        orthogonality: float = 100.0,
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
        self.outlier_cost = outlier_cost
        self.orthogonality = orthogonality
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _weights(self, X: Matrix) -> dict[str, float]:
        return {
            "alpha": check_positive("regression_weight", self.regression_weight),
            "beta": check_non_negative("sparsity", self.sparsity),
            "gamma": check_positive("outlier_cost", self.outlier_cost),
            "orthogonality": check_positive("orthogonality", self.orthogonality),
        }

    def _objective(self, X: Matrix, F: Array, **weights: float) -> ViewObjective:
        return RSFSObjective(X, kernel_regression_laplacian(X, self.n_neighbors), F.shape[1], **weights)


class RSFSObjective(ViewObjective):
    """(c / n) (Tr(F'LF) + alpha (sum of Huber(XW - F) + beta ||W||_{2,1})) + orthogonality / 2 ||(c / n) F'F - I||^2.

    The least of ``(r - z)^2 + gamma |z|`` over z, at r shrunk by gamma / 2, is Huber's loss: r^2 up to gamma / 2, and
    gamma |r| - gamma^2 / 4 beyond.
    """

    def __init__(
        self,
        X: Matrix,
        L: sp.csr_array,
        n_clusters: int,
        *,
        alpha: float,
        beta: float,
        gamma: float,
        orthogonality: float,
    ):
        super().__init__(X, L, n_clusters)
        self.alpha, self.beta, self.gamma, self.orthogonality = alpha, beta, gamma, orthogonality
        self.squared_columns = np.asarray(self.squares.sum(axis=0)).ravel()

    def __call__(self, F: Array, W: Array) -> tuple[float, Array, Array]:
        residual = self.X @ W - F
        cut = np.clip(residual, -self.gamma / 2, self.gamma / 2)
        lengths = self.coefficient_lengths(W)
        rough = self.L @ F
        away = self.away_from_orthogonal(F)
        unit = self.label_size**2
        loss = np.vdot(cut, 2 * residual - cut) + self.beta * lengths.sum()
        value = unit * (np.vdot(F, rough) + self.alpha * loss) + self.orthogonality / 2 * np.vdot(away, away)
        by_labels = 2 * unit * (rough - self.alpha * cut + self.orthogonality * (F @ away))
        by_coefficients = unit * self.alpha * (2 * (self.X.T @ cut) + self.beta * W / lengths[:, None])
        return float(value), by_labels, by_coefficients

    def curvature(self, F: Array, W: Array) -> tuple[Array, Array]:
        unit = self.label_size**2
        by_coefficients = 2 * self.squared_columns + self.beta / self.coefficient_lengths(W)
        return 2 * unit * (self.L.diagonal() + self.alpha), unit * self.alpha * by_coefficients

    def update(self, F: Array) -> None:
        """There is nothing else: Z has been minimised away."""

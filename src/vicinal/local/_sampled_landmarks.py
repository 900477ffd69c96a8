"""SampledLandmarks: sparse features from the nearest landmarks within sampled columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._anchors import sample_groups, sampled_groups
from .._validation import Matrix, check_feature_count
from ._landmarks import LeveledLandmarks


class SampledLandmarks(LeveledLandmarks):
    """Sparse features from the nearest landmarks within sampled columns (Variant II of RULLS).

    Many times over, a few columns and some training rows (landmarks) are drawn. A row switches on the features of its
    `n_nearest` nearest landmarks: the nearer, the larger. This is `RandLocal` with several landmarks per row in place
    of one, the row's own mean distance in place of the group's, and a fixed number of columns.

    Parameters
    ----------
    n_iterations : int, default=100
        Number of draws (T in the paper).
    n_columns : int or float, default=0.2
        Columns per draw: a number, or a share of all columns.
    n_landmarks : int, (int, int) or "auto", default=(32, 1024)
        Landmarks per draw (l_p). A pair is a range: the number is 2^p, rounded down, with p uniform between the two
        logarithms. It is at most half the rows, but above `n_nearest`. With "auto", as in `RandLocal`, the number grows
        with the rows: beyond 32,768 rows it goes from 512, or with 262,144 rows and more from one landmark for every 64
        rows, to one for every 16, in two levels; up to there it is the default, in one level.
    n_levels : {1, 2}, default=1
        With 1 a row is compared with all landmarks of a draw. With 2, as in `RandLocal`, it goes to the nearest of
        some coarse landmarks, over which its mean distance is taken, and is described by the nearest landmarks in that
        one's cell: many thousands of landmarks cost as much as a few hundred do with one level. Where `n_landmarks` is
        "auto", it chooses the levels, too.
    n_nearest : int, default=10
        Landmarks that describe a row in each draw (l_k).
    regularization : float, default=1e-4
        The least value of a feature, as a share of the row's mean distance (reg_p).
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance within a draw's columns.
    random_state : int, RandomState instance or None, default=None
        Draws columns and landmarks. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    landmarks_ : ndarray or CSR matrix of shape (n_stored, n_features_in_)
        The training rows that serve as landmarks, each once.
    landmark_samples_ : ndarray of shape (n_stored,)
        Their places in the training data.
    landmark_rows_ : ndarray of shape (n_features_out,)
        For each output column, the row of `landmarks_` that is its landmark.
    landmark_ptr_ : ndarray of shape (n_iterations + 1,)
        Output columns of iteration t: ``landmark_ptr_[t]`` to ``landmark_ptr_[t + 1]``.
    feature_indices_ : ndarray of shape (n_iterations * columns per draw,)
        Columns of X that the draws use, one after the other.
    n_levels_ : int
        Levels of landmarks: `n_levels`, or what "auto" chose.
    coarse_ptr_ : ndarray of shape (n_iterations + 1,) or None
        With two levels, the cells of iteration t: ``coarse_ptr_[t]`` to ``coarse_ptr_[t + 1]``.
    coarse_rows_ : ndarray of shape (n_cells,) or None
        For each cell, the row of `landmarks_` that is its coarse landmark.
    cell_ptr_ : ndarray of shape (n_cells + 1,) or None
        Output columns of cell c: ``cell_ptr_[c]`` to ``cell_ptr_[c + 1]``.
    n_nearest_ : int
        `n_nearest`, or less where there are too few rows.
    center_ : ndarray of shape (n_features_in_,) or None
    scale_ : float
        Where the arithmetic takes place; they affect rounding only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Missing values (NaN) are left out as in `RandLocal`. With two levels, landmarks that are equal in all columns of
    their draw count once, and a cell has at least `n_nearest` of them.

    References
    ----------
    Lokare, Silva, Kaynar Kabul: RULLS: Randomized Union of Locally Linear Subspaces for Feature Engineering, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import SampledLandmarks
    >>> X, _ = load_iris(return_X_y=True)
    >>> SampledLandmarks(n_iterations=5, n_columns=2, random_state=0).fit_transform(X).nnz
    7500
    """

    _takes_missing = True

    def __init__(
        self,
        n_iterations: int = 100,
        *,
        n_columns: float = 0.2,
        n_landmarks: int | tuple[int, int] | str = (32, 1024),
        n_levels: int = 1,
        n_nearest: int = 10,
        regularization: float = 1e-4,
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_iterations = n_iterations
        self.n_columns = n_columns
        self.n_landmarks = n_landmarks
        self.n_levels = n_levels
        self.n_nearest = n_nearest
        self.regularization = regularization
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, landmarks: list[NDArray[np.int64]], rng: np.random.RandomState) -> dict[str, Any]:
        count = check_feature_count("n_columns", self.n_columns, X.shape[1])
        columns = [np.sort(sample_without_replacement(X.shape[1], count, random_state=rng)) for _ in landmarks]
        groups, samples = sample_groups(X, landmarks, columns, self.metric)
        groups, samples = self._in_levels(groups, samples, X.shape[0], rng)
        own = {"landmark_rows_": groups.rows, "feature_indices_": groups.features}
        return self._fitted(groups, samples) | own

    def _transform(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        return self._nearest(sampled_groups(self), X)

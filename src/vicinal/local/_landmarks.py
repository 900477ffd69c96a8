"""Sparse features from distances to several landmarks: what RULLS and its variants share, and the two variants."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from .. import _native
from .._calls import as_native, kernel_dtype, n_threads, obeys_n_jobs
from .._validation import (
    Matrix,
    all_or_nothing,
    check_choice,
    check_count,
    check_count_range,
    check_feature_count,
    check_non_negative,
    checked_rows,
)
from ._anchors import BLOCK, METRICS, AnchorGroups, draw_group_sizes, nearest_anchors, placement, sample_groups


@obeys_n_jobs
class LandmarkFeatures(TransformerMixin, BaseEstimator):
    """Draws landmarks for each iteration and turns distances to the nearest of them into features (Eq. 6).

    Subclasses say in `_fit`, which returns their fitted attributes, in which subspace distances are measured, and in
    `_transform` measure them.
    """

    _takes_missing = False

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Draw the landmarks from X, and the subspaces.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows = self._checked(X, reset=True)
        check_choice("metric", self.metric, METRICS)
        check_non_negative("regularization", self.regularization)
        rng = check_random_state(self.random_state)
        landmarks, n_nearest = self._draw_landmarks(rows.shape[0], rng)
        for name, value in self._fit(rows, landmarks, rng).items():
            setattr(self, name, value)
        self.n_nearest_ = n_nearest
        self.landmark_ptr_ = np.concatenate([[0], np.cumsum([len(drawn) for drawn in landmarks])]).astype(np.int64)
        return self

    def transform(self, X: ArrayLike) -> sp.csr_matrix | sp.csr_array:
        """The rows' features: for complete rows exactly ``n_iterations * n_nearest_`` entries each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_features_out)
        """
        check_is_fitted(self, "landmark_ptr_")
        return self._transform(self._checked(X, reset=False))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names that tell iteration and landmark: ``"iteration12_landmark34"``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self, "landmark_ptr_")
        sizes = np.diff(self.landmark_ptr_)
        names = [f"iteration{t}_landmark{place}" for t, size in enumerate(sizes) for place in range(size)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        finite, least = "allow-nan" if self._takes_missing else True, 2 if reset else 1
        return checked_rows(self, X, reset=reset, dtype="numeric", ensure_all_finite=finite, ensure_min_samples=least)

    def _draw_landmarks(self, n_samples: int, rng: np.random.RandomState) -> tuple[list[NDArray[np.int64]], int]:
        """The rows that are landmarks in each iteration, and how many nearest ones a row gets (1 <= l_k < l_p)."""
        check_count("n_iterations", self.n_iterations)
        n_nearest = check_count("n_nearest", self.n_nearest)
        bounds = check_count_range("n_landmarks", self.n_landmarks, least=2)
        if bounds[1] <= n_nearest:
            raise ValueError(
                f"n_nearest={n_nearest} must be less than n_landmarks={self.n_landmarks}: "
                "a row is described by the nearest of the landmarks."
            )
        if n_samples <= n_nearest:
            warnings.warn(
                f"n_nearest={n_nearest} needs more than {n_nearest} rows to draw landmarks from; X has {n_samples}, "
                f"so n_nearest={n_samples - 1} is used.",
                stacklevel=3,
            )
            n_nearest = n_samples - 1
        sizes = draw_group_sizes(bounds, n_samples, self.n_iterations, rng)
        sizes = np.clip(sizes, n_nearest + 1, n_samples)
        return [np.sort(sample_without_replacement(n_samples, size, random_state=rng)) for size in sizes], n_nearest

    def _nearest(self, groups: AnchorGroups, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        out, _ = nearest_anchors(
            groups,
            X,
            row_means=True,
            epsilon=self.regularization,
            n_neighbors=self.n_nearest_,
            exclude_self=False,
            n_jobs=self.n_jobs,
        )
        return out


class SampledLandmarks(LandmarkFeatures):
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
    n_landmarks : int or (int, int), default=(32, 1024)
        Landmarks per draw (l_p). A pair is a range: the number is 2^p, rounded down, with p uniform between the two
        logarithms. It stays at most at half the rows, but above `n_nearest`.
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
    n_nearest_ : int
        `n_nearest`, or less where there are too few rows.
    center_ : ndarray of shape (n_features_in_,) or None
    scale_ : float
        Where the arithmetic takes place; they affect rounding only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Missing values (NaN) are left out as in `RandLocal`.

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
        n_landmarks: int | tuple[int, int] = (32, 1024),
        n_nearest: int = 10,
        regularization: float = 1e-4,
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_iterations = n_iterations
        self.n_columns = n_columns
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.regularization = regularization
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, landmarks: list[NDArray[np.int64]], rng: np.random.RandomState) -> dict[str, Any]:
        count = check_feature_count("n_columns", self.n_columns, X.shape[1])
        columns = [np.sort(sample_without_replacement(X.shape[1], count, random_state=rng)) for _ in landmarks]
        groups, samples = sample_groups(X, landmarks, columns, self.metric)
        return {
            "landmark_samples_": samples,
            "landmarks_": groups.table,
            "landmark_rows_": groups.rows,
            "feature_indices_": groups.features,
            "center_": groups.center,
            "scale_": groups.scale,
        }

    def _transform(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        n_groups = len(self.landmark_ptr_) - 1
        groups = AnchorGroups(
            table=self.landmarks_,
            anchor_ptr=self.landmark_ptr_,
            rows=self.landmark_rows_,
            feature_ptr=np.arange(n_groups + 1, dtype=np.int64) * (len(self.feature_indices_) // n_groups),
            features=self.feature_indices_,
            center=self.center_,
            scale=self.scale_,
            fingerprints=None,
            metric=self.metric,
        )
        return self._nearest(groups, X)


class ProjectedLandmarks(LandmarkFeatures):
    """Sparse features from the nearest landmarks within random projections (Variant I of RULLS).

    Many times over, the rows are projected on a random subspace and some training rows (landmarks) are drawn. A row
    switches on the features of its `n_nearest` nearest landmarks in the subspace: the nearer, the larger.

    Parameters
    ----------
    n_iterations : int, default=100
        Number of projections (T in the paper).
    n_components : int or float, default=0.2
        Dimensions of each subspace: a number, or a share of the columns (the paper: 10 to 40 %).
    n_landmarks : int or (int, int), default=(32, 1024)
        Landmarks per projection (l_p). A pair is a range: the number is 2^p, rounded down, with p uniform between the
        two logarithms. It stays at most at half the rows, but above `n_nearest`.
    n_nearest : int, default=10
        Landmarks that describe a row in each projection (l_k).
    regularization : float, default=1e-4
        The least value of a feature, as a share of the row's mean distance (reg_p).
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance within the subspace.
    random_state : int, RandomState instance or None, default=None
        Draws subspaces and landmarks. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    directions_ : ndarray of shape (n_iterations * n_dimensions, n_features_in_)
        Orthonormal directions of the subspaces, one subspace after the other.
    landmarks_ : ndarray of shape (n_features_out, n_dimensions)
        The landmarks' coordinates, each in its subspace.
    landmark_samples_ : ndarray of shape (n_features_out,)
        Their places in the training data.
    landmark_ptr_ : ndarray of shape (n_iterations + 1,)
        Output columns of iteration t: ``landmark_ptr_[t]`` to ``landmark_ptr_[t + 1]``.
    n_nearest_ : int
        `n_nearest`, or less where there are too few rows.
    center_ : ndarray of shape (n_features_in_,) or None
    scale_ : float
        Where the arithmetic takes place; they affect rounding only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The directions are kept, `n_iterations` times `n_components` times as many numbers as there are columns: with many
    thousands of columns ask for few components by number, not by share.

    References
    ----------
    Lokare, Silva, Kaynar Kabul: RULLS: Randomized Union of Locally Linear Subspaces for Feature Engineering, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import ProjectedLandmarks
    >>> X, _ = load_iris(return_X_y=True)
    >>> ProjectedLandmarks(n_iterations=5, n_components=2, random_state=0).fit_transform(X).nnz
    7500
    """

    def __init__(
        self,
        n_iterations: int = 100,
        *,
        n_components: float = 0.2,
        n_landmarks: int | tuple[int, int] = (32, 1024),
        n_nearest: int = 10,
        regularization: float = 1e-4,
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_iterations = n_iterations
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.regularization = regularization
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, landmarks: list[NDArray[np.int64]], rng: np.random.RandomState) -> dict[str, Any]:
        n_features = X.shape[1]
        count = check_feature_count("n_components", self.n_components, n_features)
        samples = np.concatenate(landmarks)
        stored = X[np.unique(samples)].astype(kernel_dtype(X.dtype), copy=False)
        stored, center, scale = placement(stored, self.metric)
        directions = np.empty((len(landmarks) * count, n_features), stored.dtype)
        coordinates = np.empty((len(samples), count), stored.dtype)
        filled = 0
        for t, drawn in enumerate(landmarks):
            own = directions[t * count : (t + 1) * count]
            own[:] = np.linalg.qr(rng.standard_normal((n_features, count)))[0].T
            part = coordinates[filled : filled + len(drawn)]
            threads = n_threads(self.n_jobs)
            _native.project(as_native(X[drawn]), own, part, None if sp.issparse(X) else center, scale, threads)
            filled += len(drawn)
        return {
            "directions_": directions,
            "landmarks_": coordinates,
            "landmark_samples_": samples,
            "center_": center,
            "scale_": scale,
        }

    def _transform(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        n_groups, count = len(self.landmark_ptr_) - 1, self.landmarks_.shape[1]
        groups = AnchorGroups(
            table=self.landmarks_,
            anchor_ptr=self.landmark_ptr_,
            rows=np.arange(len(self.landmarks_), dtype=np.int32),
            feature_ptr=np.arange(n_groups + 1, dtype=np.int64) * count,
            features=np.tile(np.arange(count, dtype=np.int32), n_groups),
            center=self.center_,
            scale=self.scale_,
            fingerprints=None,
            metric=self.metric,
            directions=self.directions_,
        )
        if sp.issparse(X) and self.center_ is not None:  # its zeros have to move, too
            blocks = range(0, X.shape[0], BLOCK)
            return sp.vstack([self._nearest(groups, X[start : start + BLOCK].toarray()) for start in blocks], "csr")
        return self._nearest(groups, X)

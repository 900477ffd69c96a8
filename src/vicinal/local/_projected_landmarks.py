"""ProjectedLandmarks: sparse features from the nearest landmarks within random projections."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.random_projection import johnson_lindenstrauss_min_dim

from .. import _native
from .._anchors import BLOCK, AnchorGroups, CoarseCells, placement
from .._calls import as_native, kernel_dtype, n_threads
from .._validation import Matrix, check_feature_count
from ._landmarks import LeveledLandmarks


class ProjectedLandmarks(LeveledLandmarks):
    """Sparse features from the nearest landmarks within random projections (Variant I of RULLS).

    Many times over, the rows are projected on a random subspace and some training rows (landmarks) are drawn. A row
    switches on the features of its `n_nearest` nearest landmarks in the subspace: the nearer, the larger.

    Parameters
    ----------
    n_iterations : int, default=100
        Number of projections (T in the paper).
    n_components : int, float or "auto", default=0.2
        Dimensions of each subspace: a number, or a share of the columns (the paper: 10 to 40 %). "auto" is the number
        that keeps all distances between training rows within `distortion`, by the lemma of Johnson and Lindenstrauss,
        but not more than the columns.
    distortion : float, default=0.5
        With "auto": the relative error, above 0 and below 1, that squared distances may have (gamma in the paper).
    n_landmarks : int, (int, int) or "auto", default=(32, 1024)
        Landmarks per projection (l_p). A pair is a range: the number is 2^p, rounded down, with p uniform between the
        two logarithms. It is at most half the rows, but above `n_nearest`. With "auto", as in `RandLocal`, the number
        grows with the rows: beyond 32,768 rows it goes from 512, or with 262,144 rows and more from one landmark for
        every 64 rows, to one for every 16, in two levels; up to there it is the default, in one level.
    n_levels : {1, 2}, default=1
        With 1 a row is compared with all landmarks of a projection. With 2, as in `RandLocal`, it goes to the nearest
        of some coarse landmarks, over which its mean distance is taken, and is described by the nearest landmarks in
        that one's cell. Where `n_landmarks` is "auto", it chooses the levels, too.
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
    "auto" is ``4 ln(n) / (distortion^2 / 2 - distortion^3 / 3)`` for n training rows
    (`sklearn.random_projection.johnson_lindenstrauss_min_dim`). With this number a random subspace keeps all squared
    Euclidean distances between the rows, but for the factor of the dimensions' ratio that all have in common, within
    1 - `distortion` and 1 + `distortion`, with a probability of at least 1/n. It is meant for many columns: 1,000 rows
    and a distortion of 0.5 need 332 dimensions.

    Missing values (NaN) are refused: a row's place along a direction is a sum over all columns, and to leave some out
    would move the row.

    The directions are kept, `n_iterations` times `n_components` times as many numbers as there are columns: with many
    thousands of columns ask for few components by number, not by share.

    With two levels, landmarks that are equal in their subspace count once, and a cell has at least `n_nearest` of them.
    All threads together then hold up to 32 MB of rows, and each the same rows in one subspace.

    References
    ----------
    Lokare, Silva, Kaynar Kabul: RULLS: Randomized Union of Locally Linear Subspaces for Feature Engineering, 2018.

    Dasgupta, Gupta: An Elementary Proof of a Theorem of Johnson and Lindenstrauss, Random Structures and Algorithms
    22(1), 2003.

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
        n_components: float | str = 0.2,
        distortion: float = 0.5,
        n_landmarks: int | tuple[int, int] | str = (32, 1024),
        n_levels: int = 1,
        n_nearest: int = 10,
        regularization: float = 1e-4,
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_iterations = n_iterations
        self.n_components = n_components
        self.distortion = distortion
        self.n_landmarks = n_landmarks
        self.n_levels = n_levels
        self.n_nearest = n_nearest
        self.regularization = regularization
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, landmarks: list[NDArray[np.int64]], rng: np.random.RandomState) -> dict[str, Any]:
        n_features = X.shape[1]
        count = self._n_dimensions(*X.shape)
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
        groups = self._groups(coordinates, self.landmark_ptr_, directions, center, scale)
        groups, samples = self._in_levels(groups, samples, X.shape[0], rng)
        if groups.cells:
            groups, samples = _in_order_of_columns(groups, groups.cells), samples[groups.rows]
        return self._fitted(groups, samples) | {"directions_": directions}

    def _n_dimensions(self, n_samples: int, n_features: int) -> int:
        if not isinstance(self.n_components, str) or self.n_components != "auto":
            return check_feature_count("n_components", self.n_components, n_features, or_auto=True)
        if not isinstance(self.distortion, float | np.floating) or not 0 < self.distortion < 1:
            raise ValueError(f"distortion must be a number above 0 and below 1; got {self.distortion!r}.")
        # Rounding up: scikit-learn cuts what is behind the comma.
        return min(int(johnson_lindenstrauss_min_dim(n_samples, eps=float(self.distortion))) + 1, n_features)

    def _transform(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        groups = self._groups(self.landmarks_, self.landmark_ptr_, self.directions_, self.center_, self.scale_)
        groups = replace(groups, cells=CoarseCells.of(self))
        if sp.issparse(X) and self.center_ is not None:  # its zeros have to move, too
            blocks = range(0, X.shape[0], BLOCK)
            return sp.vstack([self._nearest(groups, X[start : start + BLOCK].toarray()) for start in blocks], "csr")
        return self._nearest(groups, X)

    def _groups(
        self,
        coordinates: NDArray[np.floating],
        ptr: NDArray[np.int64],
        directions: NDArray[np.floating],
        center: NDArray[np.float64] | None,
        scale: float,
    ) -> AnchorGroups:
        """One group per projection, each with landmarks of its own."""
        n_groups, count = len(ptr) - 1, coordinates.shape[1]
        return AnchorGroups(
            table=coordinates,
            anchor_ptr=ptr,
            rows=np.arange(len(coordinates), dtype=np.int32),
            feature_ptr=np.arange(n_groups + 1, dtype=np.int64) * count,
            features=np.tile(np.arange(count, dtype=np.int32), n_groups),
            center=center,
            scale=scale,
            fingerprints=None,
            metric=self.metric,
            directions=directions,
        )


def _in_order_of_columns(groups: AnchorGroups, cells: CoarseCells) -> AnchorGroups:
    """The groups with a table whose rows are in the order of the output columns: no row is in two groups."""
    place = np.empty_like(groups.rows)
    place[groups.rows] = np.arange(len(place), dtype=np.int32)
    cells = replace(cells, coarse_rows=place[cells.coarse_rows])
    return replace(groups, table=groups.table[groups.rows], rows=np.sort(groups.rows), cells=cells)

"""RULLS: sparse features from distances to landmarks, each measured in the landmark's own local subspace."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._anchors import BLOCK, METRICS, as_csr, empty_entries, placement
from .._calls import as_native, current_callback, kernel_dtype, n_threads, one_blas_thread
from .._validation import Matrix, check_choice, check_count, check_positive, check_share
from ..graphs import nearest_rows
from ._landmarks import LandmarkFeatures
from ._local_bases import centred, directions, principal_coefficients, products, robust_coefficients

BATCH_BYTES = 2 << 20  # of neighbourhoods in double precision that a thread holds at a time
EXPANDED_BYTES = 64 << 20  # of directions that are written out at a time
# Rounding, as a share of the spread along the weakest directions, that is let pass.
TOLERATED_ROUNDING = 0.02


@dataclass(frozen=True)
class Place:
    """Where the arithmetic takes place: rows there, in double precision."""

    center: NDArray[np.float64] | None
    scale: float

    def __call__(self, rows: Matrix) -> NDArray[np.float64]:
        found = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
        return (found if self.center is None else found - self.center) * self.scale


def _rounding(table: Matrix, weights: list[NDArray[np.float64]], place: Place, dtype: np.dtype) -> float:
    """Rounding of products with the table's rows, as a share of the spread along the weakest directions."""
    blocks = range(0, table.shape[0], BLOCK)
    length = sum(float(np.square(place(table[start : start + BLOCK])).sum()) for start in blocks) / table.shape[0]
    steepest = [np.einsum("kq,kq->q", weight, weight).max(initial=0) for weight in weights]
    return float(np.finfo(dtype).eps * length * np.sqrt(len(weights[0])) * np.quantile(steepest, 0.99))


class RULLS(LandmarkFeatures):
    """Randomized union of locally linear subspaces.

    Many times over, some training rows (landmarks) are drawn. Each landmark has a subspace of its own: the principal
    directions of its nearest rows. A row's distance to a landmark is measured within the landmark's subspace, and the
    row switches on the features of its `n_nearest` nearest landmarks with the values
    ``max(mean - distance, regularization * mean)``, where ``mean`` is its mean distance to all landmarks of the draw.

    Parameters
    ----------
    n_iterations : int, default=100
        Number of draws (T in the paper).
    n_landmarks : int or (int, int), default=(32, 1024)
        Landmarks per draw (l_p). A pair is a range: the number is 2^p, rounded down, with p uniform between the two
        logarithms. It is at most half the rows, but above `n_nearest`.
    n_neighborhood : int, default=30
        Rows that make a landmark's neighbourhood, the landmark among them (k_epsilon).
    radius : float, default=None
        Only rows within this distance of the landmark belong to its neighbourhood (epsilon). A landmark with fewer
        than two other rows so near has its `n_neighborhood` nearest rows after all.
    n_nearest : int, default=10
        Landmarks that describe a row in each draw (l_k).
    variance : float, default=0.95
        Share of the neighbourhood's variance that its subspace explains.
    regularization : float, default=1e-4
        The least value of a feature, as a share of the row's mean distance (reg_p).
    normalize : bool, default=False
        Scale columns to unit deviation within each neighbourhood first (the paper's flag).
    pca : {"classic", "robust"}, default="classic"
        Principal directions, or those of `RobustPCA`, which a few outliers in a neighbourhood do not turn.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance between rows, by which neighbourhoods are found, and within subspaces.
    random_state : int, RandomState instance or None, default=None
        Draws landmarks. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    landmark_samples_ : ndarray of shape (n_stored,)
        The training rows that are landmarks, each once.
    landmark_rows_ : ndarray of shape (n_features_out,)
        For each output column, which of `landmark_samples_` is its landmark.
    landmark_ptr_ : ndarray of shape (n_iterations + 1,)
        Output columns of iteration t: ``landmark_ptr_[t]`` to ``landmark_ptr_[t + 1]``.
    direction_ptr_ : ndarray of shape (n_stored + 1,)
        Directions of each stored landmark's subspace: their differences are the subspaces' dimensions.
    own_ : ndarray of shape (n_directions,)
        The landmarks' own places along their directions.
    directions_ : ndarray of shape (n_directions, n_features_in_) or None
        The directions, where that takes less room and work than to combine them from rows.
    rows_ : ndarray or CSR matrix of shape (n_rows, n_features_in_) or None
    neighbors_ : ndarray of shape (n_stored, n_neighborhood) or None
        Otherwise the training rows that are in some neighbourhood, each once, and the neighbourhoods among them; -1
        where a neighbourhood has fewer rows than others.
    coefficients_ : ndarray of shape (n_directions * n_neighborhood,) or None
        A subspace's directions as combinations of its neighbourhood's rows: a matrix with a row per neighbour and a
        column per direction, one landmark after the other.
    n_nearest_ : int
        `n_nearest`, or less where there are too few rows.
    center_ : ndarray of shape (n_features_in_,) or None
    scale_ : float
        Where the arithmetic takes place; they affect rounding only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A direction is a combination of a neighbourhood's rows, so a row's products with the training rows serve all
    landmarks of all draws, and a landmark costs ``n_neighborhood`` operations per direction in place of one per column.
    Whichever takes fewer operations is used; data whose neighbourhoods are tiny beside their distance from the origin
    are computed in double precision or by directions. A landmark that was drawn several times is measured once. With
    `normalize` there are no such products: each call of `transform` writes the directions out, some at a time, which
    pays for many rows, not for single ones.

    A neighbourhood of equal rows has no directions; the landmark's nearest rows that differ from each other take their
    place. Where most rows are equal `pca="robust"` finds no directions and the principal ones are taken. If all rows
    are equal, so are all distances, and every value is `regularization`. With ``metric="cosine"`` angles are taken at
    the origin, with `normalize`, too: columns are scaled then, not moved.

    Missing values (NaN) are refused. A distance between two rows can be taken over the columns that both have, as in
    `SampledLandmarks`; but a row's place along a direction is a sum over all columns, to leave some out would move the
    row, and a neighbourhood with gaps has no principal directions. Impute them first.

    References
    ----------
    Lokare, Silva, Kaynar Kabul: RULLS: Randomized Union of Locally Linear Subspaces for Feature Engineering, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from vicinal import RULLS
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), RULLS(n_iterations=20, random_state=0), LinearSVC())
    >>> bool(model.fit(X_train, y_train).score(X_test, y_test) > 0.97)
    True
    """

    def __init__(
        self,
        n_iterations: int = 100,
        *,
        n_landmarks: int | tuple[int, int] = (32, 1024),
        n_neighborhood: int = 30,
        radius: float | None = None,
        n_nearest: int = 10,
        variance: float = 0.95,
        regularization: float = 1e-4,
        normalize: bool = False,
        pca: str = "classic",
        metric: str = "euclidean",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_iterations = n_iterations
        self.n_landmarks = n_landmarks
        self.n_neighborhood = n_neighborhood
        self.radius = radius
        self.n_nearest = n_nearest
        self.variance = variance
        self.regularization = regularization
        self.normalize = normalize
        self.pca = pca
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, X: Matrix, landmarks: list[NDArray[np.int64]], rng: np.random.RandomState) -> dict[str, Any]:
        check_choice("pca", self.pca, ("classic", "robust"))
        variance = check_share("variance", self.variance)
        if self.radius is not None:
            check_positive("radius", self.radius)
        samples, drawn = np.unique(np.concatenate(landmarks), return_inverse=True)
        neighbors = self._neighborhoods(X, samples)
        used, places = np.unique(neighbors[neighbors >= 0], return_inverse=True)
        stored = X[used].astype(kernel_dtype(X.dtype), copy=False)
        table, center, scale = placement(stored, self.metric, one_scale=True)
        place = Place(center, scale)
        neighbors[neighbors >= 0] = places
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(samples))

        def bases(part: slice) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
            rows, deviation = self._neighborhood_rows(table, neighbors[part], place)
            if self.pca == "classic":
                weights = principal_coefficients(rows, neighbors[part] >= 0, variance)
            else:
                weights = robust_coefficients(rows, neighbors[part] >= 0, variance, seeds[part])
            return weights, products(rows, deviation, weights, place(X[samples[part]]))

        found = self._in_batches(bases, neighbors.shape, X.shape[1])
        weights = [weight for some, _ in found for weight in some]
        return {
            "landmark_samples_": samples,
            "landmark_rows_": drawn.astype(np.int32).ravel(),
            "direction_ptr_": np.cumsum([0, *(weight.shape[1] for weight in weights)]),
            "own_": np.concatenate([own for _, own in found]),
            "center_": center,
            "scale_": scale,
            **self._smaller_form(table, neighbors.astype(np.int32), weights, place),
        }

    def _neighborhoods(self, X: Matrix, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows around each landmark; -1 where there are fewer than others have."""
        k = check_count("n_neighborhood", self.n_neighborhood, least=2)
        if k > X.shape[0]:
            warnings.warn(
                f"n_neighborhood={k} needs at least as many rows; X has {X.shape[0]}, and all of them are used.",
                stacklevel=7,
            )
            k = X.shape[0]
        distances, neighbors = nearest_rows(X[samples], X, n_neighbors=k, metric=self.metric, n_jobs=self.n_jobs)
        if self.radius is not None:
            outside = distances > np.float64(self.radius)
            few = (~outside).sum(1) < min(3, k)
            neighbors[outside & ~few[:, None]] = -1
            if few.any():
                warnings.warn(
                    f"radius={self.radius} catches fewer than two other rows around {few.sum()} of {len(few)} "
                    f"landmarks; their {k} nearest rows are used.",
                    stacklevel=7,
                )
        equal = np.where(neighbors >= 0, distances, 0).max(1) == 0
        if equal.any():
            neighbors[equal] = self._different_rows(X, samples[equal], k)
        return neighbors

    def _different_rows(self, X: Matrix, samples: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        """The nearest rows that differ from each other, for landmarks whose nearest rows are all equal."""
        fingerprints = np.empty(X.shape[0], np.uint64)
        _native.fingerprints(as_native(X), fingerprints)
        different = np.sort(np.unique(fingerprints, return_index=True)[1])
        _, found = nearest_rows(X[samples], X[different], n_neighbors=k, metric=self.metric, n_jobs=self.n_jobs)
        return np.pad(different[found], ((0, 0), (0, k - found.shape[1])), constant_values=-1)

    def _smaller_form(
        self, table: Matrix, neighbors: NDArray[np.int32], weights: list[NDArray[np.float64]], place: Place
    ) -> dict[str, Any]:
        """The directions, or what they are combined from, whichever is less.

        Both take as many operations per row as they have numbers; double precision takes twice as long.
        """
        n_directions, k = sum(weight.shape[1] for weight in weights), neighbors.shape[1]
        combined = float(table.shape[0] * table.shape[1] + n_directions * k)
        dtype = table.dtype
        if not self.normalize and _rounding(table, weights, place, dtype) > TOLERATED_ROUNDING:
            combined *= 2
            dtype = np.dtype(np.float64)
            if _rounding(table, weights, place, dtype) > TOLERATED_ROUNDING:
                combined = np.inf
        form: dict[str, Any] = dict.fromkeys(("rows_", "neighbors_", "coefficients_", "directions_"))
        if n_directions * table.shape[1] > combined:
            flat = np.concatenate([weight.ravel() for weight in weights]).astype(dtype)
            return form | {"rows_": table.astype(dtype, copy=False), "neighbors_": neighbors, "coefficients_": flat}

        def write_out(part: slice) -> NDArray[np.floating]:
            rows, deviation = self._neighborhood_rows(table, neighbors[part], place)
            return directions(rows, deviation, weights[part]).astype(table.dtype)

        return form | {"directions_": np.vstack(self._in_batches(write_out, neighbors.shape, table.shape[1]))}

    def _neighborhood_rows(
        self, table: Matrix, neighbors: NDArray[np.integer], place: Place
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = place(table[np.maximum(neighbors, 0).ravel()])
        return centred(rows.reshape(*neighbors.shape, -1), neighbors >= 0, self.normalize)

    def _in_batches(self, work: Callable[[slice], Any], shape: tuple[int, ...], n_columns: int) -> list[Any]:
        """What `work` makes of all landmarks, a few at a time, in as many threads as there may be."""
        size = max(1, BATCH_BYTES // (8 * shape[1] * n_columns))
        parts = [slice(start, min(start + size, shape[0])) for start in range(0, shape[0], size)]
        with one_blas_thread():
            return joblib.Parallel(n_threads(self.n_jobs), require="sharedmem")(
                joblib.delayed(work)(part) for part in parts
            )

    def _transform(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        table = self.rows_ if self.directions_ is None else self.directions_
        n_iterations = len(self.landmark_ptr_) - 1
        columns, values = empty_entries(X, n_iterations * self.n_nearest_, self.landmark_ptr_[-1], table.dtype)
        search = self._search
        if self.directions_ is None and self.normalize:
            search = self._search_expanded
        if sp.issparse(X) and self.center_ is not None:  # its zeros have to move, too
            for start in range(0, X.shape[0], BLOCK):
                block = slice(start, start + BLOCK)
                search(X[block].toarray(), columns[block], values[block])
        else:
            search(X, columns, values)
        return as_csr(columns, values, self.landmark_ptr_[-1], kernel_dtype(X.dtype))

    def _search(self, X: Matrix, columns: NDArray[np.integer], values: NDArray[np.floating]) -> None:
        by_products = self.directions_ is None
        landmarks = _native.LandmarkSubspaces(
            as_native(self.rows_) if by_products else self.directions_,
            self.direction_ptr_,
            self.own_,
            self.landmark_ptr_,
            self.landmark_rows_,
            np.maximum(self.neighbors_, 0) if by_products else None,
            self.coefficients_.astype(values.dtype, copy=False)[None] if by_products else None,
            self.center_,
            self.scale_,
            METRICS.index(self.metric),
        )
        self._nearest_in(landmarks, X, columns, values)

    def _search_expanded(self, X: Matrix, columns: NDArray[np.integer], values: NDArray[np.floating]) -> None:
        """By directions, written out for some iterations at a time."""
        dimensions = np.diff(self.direction_ptr_)
        size = np.add.reduceat(dimensions[self.landmark_rows_], self.landmark_ptr_[:-1]) * X.shape[1]
        part = np.cumsum(size * values.itemsize) // EXPANDED_BYTES
        for iterations in np.split(np.arange(len(part)), np.flatnonzero(np.diff(part)) + 1):
            first, last = iterations[0], iterations[-1] + 1
            start, stop = self.landmark_ptr_[first], self.landmark_ptr_[last]
            used, drawn = np.unique(self.landmark_rows_[start:stop], return_inverse=True)
            landmarks = _native.LandmarkSubspaces(
                self._written_out(used).astype(values.dtype),
                np.concatenate([[0], np.cumsum(dimensions[used])]),
                np.concatenate([self.own_[self.direction_ptr_[p] : self.direction_ptr_[p + 1]] for p in used]),
                self.landmark_ptr_[first : last + 1] - start,
                drawn.astype(np.int32).ravel(),
                center=self.center_,
                scale=self.scale_,
                metric=METRICS.index(self.metric),
            )
            entries = slice(first * self.n_nearest_, last * self.n_nearest_)
            own_columns, own_values = (np.empty_like(part[:, entries], order="C") for part in (columns, values))
            self._nearest_in(landmarks, X, own_columns, own_values)
            columns[:, entries], values[:, entries] = own_columns + start, own_values

    def _written_out(self, landmarks: NDArray[np.integer]) -> NDArray[np.floating]:
        """The directions of some landmarks."""
        ptr, k = self.direction_ptr_ * self.neighbors_.shape[1], self.neighbors_.shape[1]

        def write_out(part: slice) -> NDArray[np.floating]:
            place = Place(self.center_, self.scale_)
            rows, deviation = self._neighborhood_rows(self.rows_, self.neighbors_[landmarks[part]], place)
            weights = [self.coefficients_[ptr[p] : ptr[p + 1]].reshape(k, -1) for p in landmarks[part]]
            return directions(rows, deviation, weights).astype(self.rows_.dtype)

        return np.vstack(self._in_batches(write_out, (len(landmarks), k), self.n_features_in_))

    def _nearest_in(
        self,
        landmarks: _native.LandmarkSubspaces,
        X: Matrix,
        columns: NDArray[np.integer],
        values: NDArray[np.floating],
    ) -> None:
        _native.nearest_in_subspaces(
            as_native(X),
            landmarks,
            columns,
            values,
            epsilon=self.regularization,
            n_nearest=self.n_nearest_,
            n_threads=n_threads(self.n_jobs),
            callback=current_callback(),
        )

"""Sparse features from distances to several landmarks: what RULLS and its variants share."""

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

from .._anchors import METRICS, AnchorGroups, draw_group_sizes, nearest_anchors
from .._calls import obeys_n_jobs
from .._coarse_cells import divided, growing_bounds
from .._validation import (
    Matrix,
    all_or_nothing,
    check_choice,
    check_count,
    check_count_range,
    check_non_negative,
    checked_rows,
)


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
        self.n_nearest_ = n_nearest
        self.landmark_ptr_ = np.concatenate([[0], np.cumsum([len(drawn) for drawn in landmarks])]).astype(np.int64)
        for name, value in self._fit(rows, landmarks, rng).items():
            setattr(self, name, value)
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
        """Names of iteration and landmark: ``"iteration12_landmark34"``.

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
        least = 2 if reset else 1
        rows = checked_rows(
            self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan", ensure_min_samples=least
        )
        values = rows.data if sp.issparse(rows) else rows
        if not self._takes_missing and values.dtype.kind == "f" and np.isnan(values.min(initial=0)):
            raise ValueError(
                f"X has missing values (NaN), which {type(self).__name__} cannot leave out, as a row's place in a "
                "subspace is a sum over all columns; impute them first, for example with sklearn.impute.SimpleImputer, "
                "or use SampledLandmarks or RandLocal, which compare rows by the columns that they have."
            )
        return rows

    def _draw_landmarks(self, n_samples: int, rng: np.random.RandomState) -> tuple[list[NDArray[np.int64]], int]:
        """The rows that are landmarks in each iteration, and how many nearest ones a row gets (1 <= l_k < l_p)."""
        check_count("n_iterations", self.n_iterations)
        n_nearest = check_count("n_nearest", self.n_nearest)
        bounds = self._landmark_bounds(n_samples)
        if bounds[1] <= n_nearest:
            raise ValueError(
                f"n_nearest={n_nearest} must be less than n_landmarks={self.n_landmarks}"
                f"{f', which is at most {bounds[1]} here' if self.n_landmarks == 'auto' else ''}: "
                "a row is described by the nearest of the landmarks."
            )
        if n_samples <= n_nearest:
            warnings.warn(
                f"n_nearest={n_nearest} needs more than {n_nearest} rows to draw landmarks from; X has {n_samples}, "
                f"so n_nearest={n_samples - 1} is used.",
                stacklevel=6,
            )
            n_nearest = n_samples - 1
        sizes = draw_group_sizes(bounds, n_samples, self.n_iterations, rng)
        sizes = np.clip(sizes, n_nearest + 1, n_samples)
        return [np.sort(sample_without_replacement(n_samples, size, random_state=rng)) for size in sizes], n_nearest

    def _landmark_bounds(self, n_samples: int) -> tuple[int, int]:
        """Lowest and highest number of landmarks of an iteration."""
        return check_count_range("n_landmarks", self.n_landmarks, least=2)


class LeveledLandmarks(LandmarkFeatures):
    """Landmarks of one or two levels, in groups that share the columns or directions of their subspace."""

    def _landmark_bounds(self, n_samples: int) -> tuple[int, int]:
        check_choice("n_levels", self.n_levels, (1, 2))
        if self._grows:
            return growing_bounds(n_samples)[0]
        return check_count_range("n_landmarks", self.n_landmarks, least=2, or_auto=True)

    @property
    def _grows(self) -> bool:
        return isinstance(self.n_landmarks, str) and self.n_landmarks == "auto"

    def _in_levels(
        self, groups: AnchorGroups, samples: NDArray[np.int64], n_samples: int, rng: np.random.RandomState
    ) -> tuple[AnchorGroups, NDArray[np.int64]]:
        """The groups in one or two levels, and the places of their table's rows in the training data."""
        n_levels = growing_bounds(n_samples)[1] if self._grows else self.n_levels
        if n_levels == 1:
            return groups, samples
        groups, needed = divided(groups, least=self.n_nearest_, rng=rng, n_jobs=self.n_jobs)
        return groups, samples[needed]

    def _fitted(self, groups: AnchorGroups, samples: NDArray[np.int64]) -> dict[str, Any]:
        """The attributes that both variants have."""
        cells = groups.cells
        return {
            "landmarks_": groups.table,
            "landmark_samples_": samples,
            "landmark_ptr_": groups.anchor_ptr,
            "n_levels_": 2 if cells else 1,
            "coarse_ptr_": cells.coarse_ptr if cells else None,
            "coarse_rows_": cells.coarse_rows if cells else None,
            "cell_ptr_": cells.cell_ptr if cells else None,
            "center_": groups.center,
            "scale_": groups.scale,
        }

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

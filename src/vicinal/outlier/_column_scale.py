"""Columns of any size made comparable, block by block."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.sparsefuncs import inplace_column_scale, mean_variance_axis

from .._magnitudes import power_of_two_below
from .._validation import Matrix

FARTHEST = 1e6  # in standard deviations: beyond it nothing is more of an outlier, and single precision holds squares


@dataclass(frozen=True)
class ColumnScale:
    """Rows minus a center, over a scale; the zeros of sparse rows stay zeros."""

    center: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def none(cls, n_columns: int) -> ColumnScale:
        return cls(np.zeros(n_columns), np.ones(n_columns))

    @classmethod
    def of(cls, X: Matrix, metric: str) -> ColumnScale:
        """Means and standard deviations of the values that are there; constant columns keep their size.

        Angles are those at the origin, which stays where it is for cosines.
        """
        if sp.issparse(X):
            largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
            powers = power_of_two_below(np.nan_to_num(largest))
            scaled = X.astype(np.float64)
            inplace_column_scale(scaled, 1 / powers)
            _, variance = mean_variance_axis(scaled, axis=0)
            center, deviation = np.zeros(X.shape[1]), np.sqrt(np.nan_to_num(variance))
        else:
            rows = np.asarray(X, dtype=np.float64)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # columns without any value
                powers = power_of_two_below(np.nan_to_num(np.nanmax(np.abs(rows), axis=0)))
                center = np.nan_to_num(np.nanmean(rows / powers, axis=0))
                deviation = np.nan_to_num(np.nanstd(rows / powers, axis=0))
        varies = deviation > 1e-13
        return cls(center * powers * (metric != "cosine"), np.where(varies, deviation, 1.0) * powers)

    def apply(self, X: Matrix) -> Matrix:
        """Rows in single precision."""
        if sp.issparse(X):
            out = sp.csr_array(X, dtype=np.float64, copy=True)
            inplace_column_scale(out, 1 / self.scale)
            np.clip(out.data, -FARTHEST, FARTHEST, out=out.data)
            return out.astype(np.float32)
        with np.errstate(over="ignore"):
            moved = (np.asarray(X, dtype=np.float64) - self.center) / self.scale
        return np.clip(moved, -FARTHEST, FARTHEST, out=moved).astype(np.float32)

    def undo(self, X: Matrix) -> Matrix:
        """Scaled rows as they were, but for rounding."""
        if sp.issparse(X):
            out = sp.csr_array(X, dtype=np.float64, copy=True)
            inplace_column_scale(out, self.scale)
            return out
        return X * self.scale + self.center

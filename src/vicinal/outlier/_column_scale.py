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

NEAR = 1e3  # standard deviations from zero up to which single precision has digits enough for differences
FARTHEST = 1e6  # times the farthest training row, beyond which nothing is more of an outlier


@dataclass(frozen=True)
class ColumnScale:
    """Rows over a scale for each column, of which the training rows had values up to `largest`.

    Nothing is moved: sparse rows are those of dense ones, digit by digit.
    """

    scale: NDArray[np.float64]
    largest: float

    @classmethod
    def of(cls, X: Matrix, *, unit_variance: bool) -> ColumnScale:
        """By standard deviations of the values that are there, or by none; constant columns keep their size."""
        scale = _deviations(X) if unit_variance else np.ones(X.shape[1])
        return cls(scale, _most(_scaled(X, scale)))

    def apply(self, X: Matrix) -> Matrix:
        """Rows over the scale: in single precision, unless training rows were so far from zero that it needs double."""
        out = _scaled(X, self.scale)
        values = out.data if sp.issparse(out) else out
        limit = FARTHEST * max(self.largest, 1.0)
        np.clip(values, -limit, limit, out=values)
        return out.astype(np.float32) if self.largest <= NEAR else out

    def undo(self, X: Matrix) -> Matrix:
        """Scaled rows as they were, but for rounding."""
        return _scaled(X, 1 / self.scale)


def _deviations(X: Matrix) -> NDArray[np.float64]:
    if sp.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
        powers = power_of_two_below(np.nan_to_num(largest))
        scaled = sp.csr_array(X, dtype=np.float64, copy=True)
        inplace_column_scale(scaled, 1 / powers)
        _, variance = mean_variance_axis(scaled, axis=0)
        deviation = np.sqrt(np.nan_to_num(variance))
    else:
        rows = np.asarray(X, dtype=np.float64)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # columns without any value
            powers = power_of_two_below(np.nan_to_num(np.nanmax(np.abs(rows), axis=0)))
            deviation = np.nan_to_num(np.nanstd(rows / powers, axis=0))
    # Rounded, since the variance of sparse columns is added up in another order.
    return np.where(deviation > 1e-13, deviation.astype(np.float32), 1.0) * powers


def _scaled(X: Matrix, scale: NDArray[np.float64]) -> Matrix:
    """A copy in double precision, each column over its scale."""
    with np.errstate(over="ignore"):
        if not sp.issparse(X):
            return np.asarray(X, dtype=np.float64) * (1 / scale)
        out = sp.csr_array(X, dtype=np.float64, copy=True)
        inplace_column_scale(out, 1 / scale)
        return out


def _most(X: Matrix) -> float:
    values = X.data if sp.issparse(X) else X
    return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))

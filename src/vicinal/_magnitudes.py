"""Numbers of any size: doubles, scales by powers of two, unit rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._validation import Matrix

SMALLEST, LARGEST = 1e-100, 1e100  # sums of squares of such numbers, and of differences between them, can be held


def as_doubles(X: Matrix) -> Matrix:
    """X in double precision; of CSR, each entry once. What is given is left as it is."""
    if not sp.issparse(X):
        return np.asarray(X, dtype=np.float64)
    rows = sp.csr_array(X, dtype=np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def largest_magnitude(X: Matrix) -> float:
    """The largest absolute value, without a copy of them all."""
    entries = X.data if sp.issparse(X) else X
    return float(max(entries.max(initial=0.0), -entries.min(initial=0.0)))


def with_squares(X: Matrix) -> tuple[Matrix, float]:
    """X over a power of two, and that: 1, unless squares of its largest values would be 0 or infinite."""
    largest = largest_magnitude(X)
    if not largest or SMALLEST < largest < LARGEST:
        return X, 1.0
    scale = float(power_of_two_below(np.array(largest)))
    return X / scale, scale


def columns_with_squares(X: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """The same for each column by itself: what depends on a column's shape alone can be found from it."""
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sp.issparse(X) else largest
    odd = (largest > 0) & ((largest <= SMALLEST) | (largest >= LARGEST))
    scales = np.where(odd, power_of_two_below(largest), 1.0)
    if not odd.any():
        return X, scales
    return sp.csr_array(X @ sp.diags_array(1 / scales)) if sp.issparse(X) else X / scales, scales


def unit_rows(X: Matrix) -> Matrix:
    """Rows of length 1, however large or small their values are; rows of zeros stay so."""
    largest = abs(X).max(axis=1)
    largest = np.asarray(largest.todense() if sp.issparse(largest) else largest).ravel()
    scaled = _times_rows(X, 1 / power_of_two_below(largest))  # else squares could be 0 or infinite
    squares = np.asarray((scaled.multiply(scaled) if sp.issparse(X) else scaled * scaled).sum(axis=1)).ravel()
    return _times_rows(scaled, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)))


def power_of_two_below(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each value, by which it can be divided without rounding; 1 for 0. At least 2^-1022, whose inverse exists."""
    exponents = np.frexp(values)[1] - 1
    return np.where(values > 0, np.ldexp(1.0, np.clip(exponents, -1022, 1022)), 1.0)


def _times_rows(X: Matrix, factors: NDArray[np.float64]) -> Matrix:
    return sp.csr_array(sp.diags_array(factors) @ X) if sp.issparse(X) else X * factors[:, None]

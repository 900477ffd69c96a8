"""A sample of a stream in which newer rows have greater chances."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix


def draw_keys(
    n_rows: int, first: float, last: float, half_life: float | None, rng: np.random.RandomState, *, each: float = 1.0
) -> NDArray[np.float64]:
    """Keys of rows that came evenly between two times, each of them for `each` rows.

    The rows with the largest keys are a sample without replacement in proportion to the rows' weights, because the
    largest of Gumbel variables shifted by the logarithms of weights is a draw in proportion to them. A key never
    changes: with the time, all weights shrink by the same factor.
    """
    times = np.linspace(first, last, n_rows, endpoint=False)
    decay = 0.0 if half_life is None else np.log(2) / half_life
    return decay * times + np.log(each) + rng.gumbel(size=n_rows)


def keep_largest(rows: Matrix, keys: NDArray[np.float64], most: int) -> tuple[Matrix, NDArray[np.float64]]:
    """The rows with the largest keys, in the order in which they came."""
    kept = np.sort(np.argsort(-keys, kind="stable")[:most])
    return rows[kept], keys[kept]


def stacked(parts: list[Matrix]) -> Matrix:
    """Rows one below the other; sparse if any of them are."""
    return sp.vstack(parts, format="csr") if any(map(sp.issparse, parts)) else np.concatenate(parts)

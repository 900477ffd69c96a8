"""The width of a kernel, from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .._validation import Matrix, canonical, check_choice, check_positive

KINDS = ("gaussian", "laplacian", "cauchy")
N_PAIRS = 1000  # of rows, whose distances stand for all
BLOCK_ENTRIES = 2**21  # of the differences of pairs: 16 MB


def resolve_gamma(gamma: float | str, X: Matrix, kind: str, rng: np.random.RandomState) -> float:
    """The kernel's gamma: a number as it is, "scale" and "median" from the rows of X.

    "scale" is ``1 / (n_features * X.var())`` for "gaussian" and "cauchy" kernels and ``1 / (n_features * X.std())``
    for "laplacian" ones. "median" is 1 / (2 m), with m the median of squared Euclidean distances, and 1 / m, with m
    the median of Manhattan distances, over pairs of rows: all pairs, or 1,000 drawn with `rng` where there are more.
    If most pairs are equal rows, the median is that of the others. Constant data gives 1.
    """
    check_choice("kind", kind, KINDS)
    if isinstance(gamma, str) and gamma == "scale":
        return gamma_from_scale(X) if kind != "laplacian" else _inverse(X.shape[1] * np.sqrt(_variance(X)))
    if isinstance(gamma, str) and gamma == "median":
        distances = _pair_distances(X, 1 if kind == "laplacian" else 2, rng)
        median = np.median(distances) if len(distances) else 0.0
        if median == 0 and distances.any():
            median = np.median(distances[distances > 0])
        return _inverse(float(median) if kind == "laplacian" else 2 * float(median))
    if isinstance(gamma, str):
        raise ValueError(f"gamma must be a number above 0, 'scale' or 'median'; got {gamma!r}.")
    return check_positive("gamma", gamma)


def gamma_from_scale(X: Matrix) -> float:
    """1 / (n_features * X.var()), as in `sklearn.svm.SVC`; 1 if X is constant.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.expand import gamma_from_scale
    >>> gamma_from_scale(np.array([[0.0, 2.0], [0.0, 2.0]]))
    0.5
    """
    return _inverse(X.shape[1] * _variance(X))


def _variance(X: Matrix) -> float:
    """Of all entries; exactly 0 if they are all equal."""
    if not sp.issparse(X):
        with np.errstate(over="ignore"):  # infinite, then
            return 0.0 if X.min() == X.max() else float(X.var(dtype=np.float64))
    entries = canonical(X).data.astype(np.float64, copy=False)
    n_entries = X.shape[0] * X.shape[1]
    if len(entries) == n_entries and entries.min() == entries.max():
        return 0.0
    mean = entries.sum() / n_entries
    return float((np.square(entries - mean).sum() + (n_entries - len(entries)) * mean**2) / n_entries)


def _pair_distances(X: Matrix, power: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Sums of powers of the differences of pairs of rows."""
    n_rows = X.shape[0]
    if n_rows * (n_rows - 1) // 2 <= N_PAIRS:
        first, second = np.triu_indices(n_rows, k=1)
    else:
        first = rng.randint(n_rows, size=N_PAIRS)
        second = (first + rng.randint(1, n_rows, size=N_PAIRS)) % n_rows
    distances = np.empty(len(first))
    if not len(first):
        return distances
    for pairs in gen_batches(len(first), max(1, BLOCK_ENTRIES // X.shape[1])):
        left, right = X[first[pairs]].astype(np.float64), X[second[pairs]].astype(np.float64)
        distances[pairs] = np.asarray(_powers(left - right, power).sum(axis=1)).ravel()
    return distances


def _powers(differences: Matrix, power: int) -> Any:
    if power == 1:
        return abs(differences)
    return differences.multiply(differences) if sp.issparse(differences) else np.square(differences)


def _inverse(spread: float) -> float:
    if spread > np.finfo(np.float64).max / 4:
        raise ValueError("X is too large for a gamma of its own scale; scale X first, or set gamma to a number.")
    return float(1 / spread) if spread >= np.finfo(np.float64).tiny else 1.0

"""Which columns a group of anchors looks at."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._validation import Matrix

CORRELATION_ROWS = 2000
CORRELATION_POWER = 4


def random_subspaces(
    n_groups: int, n_features: int, bounds: tuple[int, int], rng: np.random.RandomState
) -> Iterator[NDArray[np.int64]]:
    """Subsets of uniform size within the bounds, all columns alike (Alg. 2, lines 3 and 4)."""
    for _ in range(n_groups):
        size = rng.randint(bounds[0], bounds[1] + 1)
        yield np.sort(sample_without_replacement(n_features, size, random_state=rng))


def correlated_subspaces(
    X: Matrix, n_groups: int, bounds: tuple[int, int], rng: np.random.RandomState
) -> Iterator[NDArray[np.int64]]:
    """Subsets around a random column: others join with a chance that grows with the fourth power of their
    correlation to it.

    Correlations come from at most 2,000 rows; columns with next to none join when all others have.
    """
    n_features = X.shape[1]
    rows = sample_without_replacement(X.shape[0], min(X.shape[0], CORRELATION_ROWS), random_state=rng)
    sample, deviation = _centred(X[np.sort(rows)])
    varying = np.flatnonzero(deviation > 0)
    for _ in range(n_groups):
        size = rng.randint(bounds[0], bounds[1] + 1)
        weights = np.zeros(n_features)
        if len(varying):
            seed = varying[rng.randint(len(varying))]
            correlation = sample.correlation(seed)
            weights = np.abs(correlation) ** CORRELATION_POWER
            weights[seed] = np.inf
        # The largest u^(1/w) of uniform u is a draw without replacement in proportion to w (Efraimidis, Spirakis 2006).
        keys = np.log(rng.uniform(size=n_features)) / np.maximum(weights, 1e-6)
        yield np.sort(np.argpartition(-keys, size - 1)[:size])


def image_subspaces(
    shape: tuple[int, int, int], n_groups: int, bounds: tuple[int, int], rng: np.random.RandomState
) -> Iterator[NDArray[np.int64]]:
    """Rectangles of pixels with all their channels: sides uniform among those that keep the bounds, anywhere."""
    height, width, channels = shape
    sides = np.array([(h, w) for h in range(1, height + 1) for w in range(1, width + 1)])
    pixels = sides.prod(1) * channels
    sides = sides[(pixels >= bounds[0]) & (pixels <= bounds[1])]
    if not len(sides):
        raise ValueError(
            f"No rectangle of the {height} x {width} image with {channels} channel(s) has between {bounds[0]} and "
            f"{bounds[1]} values; widen feature_range."
        )
    index = np.arange(height * width * channels).reshape(height, width, channels)
    for _ in range(n_groups):
        h, w = sides[rng.randint(len(sides))]
        top, left = rng.randint(height - h + 1), rng.randint(width - w + 1)
        yield index[top : top + h, left : left + w].ravel()


class _Centred:
    """Columns whose correlations are one product away; sparse columns stay sparse."""

    def __init__(self, X: Matrix, mean: NDArray[np.float64], deviation: NDArray[np.float64]):
        self.X, self.mean, self.deviation = X, mean, deviation

    def correlation(self, column: int) -> NDArray[np.float64]:
        values = self.X[:, [column]].toarray().ravel() if sp.issparse(self.X) else self.X[:, column]
        covariance = self.X.T @ (values - self.mean[column]) / self.X.shape[0]
        scale = self.deviation * self.deviation[column]
        return np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)


def _centred(X: Matrix) -> tuple[_Centred, NDArray[np.float64]]:
    if sp.issparse(X):
        X = X.astype(np.float64)
        X.data = np.nan_to_num(X.data)
        mean = np.asarray(X.mean(0)).ravel()
        squares = np.asarray(X.multiply(X).mean(0)).ravel()
        variance, magnitude = squares - mean**2, np.sqrt(squares)
    else:
        X = X.astype(np.float64)
        present = np.isfinite(X)
        mean = np.where(present, X, 0).sum(0) / np.maximum(present.sum(0), 1)
        magnitude = np.abs(np.where(present, X, 0)).max(0)
        X = np.where(present, X - mean, 0)  # a missing value says nothing about a correlation
        mean = np.zeros_like(mean)
        variance = (X * X).mean(0)
    deviation = np.sqrt(np.where(variance > 1e-12 * magnitude**2, variance, 0))
    return _Centred(X, mean, deviation), deviation

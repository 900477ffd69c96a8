"""Which columns a group of anchors looks at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._validation import Matrix, check_choice, check_feature_range, check_image_shape

CORRELATION_ROWS = 2000
CORRELATION_POWER = 4


def draw_subspaces(
    drawing: Any, X: Matrix, weights: NDArray[np.float64] | None, rng: np.random.RandomState
) -> list[NDArray[np.int64]]:
    """Columns of all groups, as the parameters of a map say; with weights, how useful columns are."""
    n_groups, n_features = drawing.n_groups, X.shape[1]
    check_choice("task", drawing.task, ("supervised", "unsupervised"))
    check_choice("subspace", drawing.subspace, ("random", "correlated", "image"))
    if drawing.feature_range is not None:
        bounds = check_feature_range("feature_range", drawing.feature_range, n_features)
    else:
        bounds = (1 if drawing.task == "supervised" else (n_features + 1) // 2, n_features)
    if drawing.subspace == "image":
        shape = check_image_shape(drawing.image_shape, n_features)
        return list(image_subspaces(shape, n_groups, bounds, rng))
    if drawing.image_shape is not None:
        raise ValueError(f"image_shape is only used where subspace='image'; subspace is {drawing.subspace!r}.")
    if drawing.subspace == "correlated":
        return list(correlated_subspaces(X, n_groups, bounds, rng))
    if weights is not None:
        return list(useful_subspaces(weights, n_groups, bounds, rng))
    return list(random_subspaces(n_groups, n_features, bounds, rng))


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
        yield _drawn(np.maximum(weights, 1e-6), size, rng)


def useful_subspaces(
    weights: NDArray[np.float64], n_groups: int, bounds: tuple[int, int], rng: np.random.RandomState
) -> Iterator[NDArray[np.int64]]:
    """Subsets of uniform size within the bounds, columns with chances in proportion to their weights."""
    for _ in range(n_groups):
        yield _drawn(np.maximum(weights, 1e-12), rng.randint(bounds[0], bounds[1] + 1), rng)


def _drawn(weights: NDArray[np.float64], size: int, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Columns without replacement, in proportion to weights: those with the largest u^(1/w) of uniform u (Efraimidis,
    Spirakis 2006)."""
    keys = np.log(rng.uniform(size=len(weights))) / weights
    return np.sort(np.argpartition(-keys, size - 1)[:size])


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

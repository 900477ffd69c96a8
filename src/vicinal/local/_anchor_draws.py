"""Which training rows become a group's anchors: any, rows far from each other, or rows near the boundary of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.random import sample_without_replacement

from .._forests import doubts
from .._validation import Matrix

ANCHORS = ("random", "spread", "boundary")
CANDIDATES, MOST_CANDIDATES = 16, 8192  # per anchor, of which spread ones are drawn; of a group
ROUNDS = 4  # in which they are drawn, each by the distances to those before
LEAST_DOUBT = 0.05  # so that no row is left out for good


def draw_anchors(
    kind: str,
    X: Matrix,
    y: ArrayLike | None,
    features: Sequence[NDArray[np.int64]],
    sizes: NDArray[np.int64],
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> list[NDArray[np.int32]]:
    """Rows of each group, in increasing order."""
    n_rows = X.shape[0]
    if kind == "boundary":
        if y is None:
            raise ValueError('anchors="boundary" asks where labels are in doubt; fit needs y.')
        chances = LEAST_DOUBT + doubts(X, np.asarray(y), rng, n_jobs)
        return [_sorted(weighted_sample(chances, size, rng)) for size in sizes]
    if kind == "spread":
        return [_sorted(_spread(X, columns, size, rng)) for columns, size in zip(features, sizes, strict=True)]
    return [_sorted(sample_without_replacement(n_rows, size, random_state=rng)) for size in sizes]


def weighted_sample(weights: NDArray[np.float64], size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Different places, one after the other with chances in proportion to the weights of those left."""
    keys = rng.exponential(size=len(weights)) / np.maximum(weights, 1e-300)
    return np.argpartition(keys, size - 1)[:size]


def _spread(X: Matrix, columns: NDArray[np.int64], size: int, rng: np.random.RandomState) -> NDArray[Any]:
    """As k-means++ draws, several at a time: by the squared distance to the nearest of the rows before."""
    n_rows = X.shape[0]
    candidates = sample_without_replacement(n_rows, _n_candidates(n_rows, size), random_state=rng)
    rows = X[candidates][:, columns].astype(np.float64)
    if sp.issparse(rows):
        rows.data = np.nan_to_num(rows.data)
    else:
        rows = np.nan_to_num(rows)
    taken = np.zeros(0, np.intp)
    apart = np.ones(len(candidates))
    for ends in np.linspace(0, size, ROUNDS + 1).astype(int)[1:]:
        if ends == len(taken):
            continue
        apart[taken] = 0
        more = weighted_sample(apart, ends - len(taken), rng)
        taken = np.concatenate([taken, more])
        nearest = euclidean_distances(rows, rows[more], squared=True).min(axis=1)
        apart = nearest if ends == len(more) else np.minimum(apart, nearest)
    return candidates[taken]


def _n_candidates(n_rows: int, size: int) -> int:
    return min(n_rows, max(size, min(CANDIDATES * size, MOST_CANDIDATES)))


def _sorted(rows: NDArray[Any]) -> NDArray[np.int32]:
    return np.sort(rows).astype(np.int32)

"""Distances to the k-th nearest other row, for dense features and for sparse ones with very many columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

BLOCK_BYTES = 64 << 20


def neighbor_distances(F: Any, neighbors: tuple[int, ...]) -> NDArray[np.float64]:
    """Column j: each row's Euclidean distance to its neighbors[j]-th nearest other row."""
    most = min(max(neighbors), F.shape[0] - 1)
    places = np.minimum(neighbors, most) - 1
    if not sp.issparse(F):
        return NearestNeighbors(n_neighbors=most).fit(F).kneighbors()[0][:, places]
    F = F.tocsr().astype(np.float64)
    transposed = F.T.tocsr()
    squares = np.asarray(F.multiply(F).sum(axis=1)).ravel()
    distances = np.empty((F.shape[0], len(places)))
    step = max(1, BLOCK_BYTES // (8 * F.shape[0]))
    for start in range(0, F.shape[0], step):
        rows = np.arange(start, min(start + step, F.shape[0]))
        block = (F[rows] @ transposed).toarray()
        block *= -2
        block += squares
        block += squares[rows, None]
        block[np.arange(len(rows)), rows] = np.inf
        nearest = np.sort(np.partition(block, most - 1, axis=1)[:, :most], axis=1)
        distances[rows] = np.sqrt(np.maximum(nearest[:, places], 0))
    return distances

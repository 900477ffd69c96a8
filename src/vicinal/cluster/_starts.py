"""k-means with good starts: many on a part of the rows, the best of which goes on with all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from .._calls import limited_threads

SAMPLE = 10_000  # rows on which starts compete: many for a few clusters, and quickly done


def best_of_starts(rows: NDArray, n_clusters: int, *, n_starts: int, rng: np.random.RandomState) -> KMeans:
    """k-means as fitted to all rows, from the centers with the smallest sum of squares of `n_starts` runs on some.

    It runs in one thread, since its sums depend on how rows are shared between threads.
    """
    seed = rng.randint(2**31 - 1)
    some = rows
    if len(rows) > SAMPLE:
        some = rows[np.sort(rng.permutation(len(rows))[:SAMPLE])]
    with limited_threads(1):
        best = KMeans(n_clusters, n_init=n_starts, random_state=seed).fit(some)
        if some is rows:
            return best
        return KMeans(n_clusters, init=best.cluster_centers_, n_init=1).fit(rows)

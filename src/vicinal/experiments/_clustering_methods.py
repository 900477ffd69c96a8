"""Methods that give clusters themselves, as many as there are classes where they can be told, one entry each.

None has a grid: nothing is chosen by the labels. Of those that hold a matrix of rows by rows, or search for neighbours
in many columns, the rows are capped.
"""

from __future__ import annotations

from typing import Any

from sklearn.cluster import HDBSCAN, MiniBatchKMeans, SpectralClustering

from ..cluster import LocalSpectralClustering
from ._method import Context, Method, Role

MOST_IN_GRAPH = 10_000  # rows of the graph of sklearn.cluster.SpectralClustering
MOST_IN_TREE = 5_000  # rows of HDBSCAN, which compares all with all where there are many columns
NEIGHBORS = 10  # scikit-learn's own default
LEAST_CLUSTER = 0.01  # of the rows, for HDBSCAN, whose own default of 5 rows finds hundreds of clusters


def _local_spectral(to: Context) -> LocalSpectralClustering:
    return LocalSpectralClustering(to.n_classes, random_state=to.seed, n_jobs=to.threads)


def _spectral(to: Context) -> SpectralClustering:
    """Of a graph of neighbours, since the default's Gaussian kernel of width 1 suits few data."""
    return SpectralClustering(
        to.n_classes,
        affinity="nearest_neighbors",
        n_neighbors=max(1, min(NEIGHBORS, to.n_rows - 1)),
        random_state=to.seed,
    )


def _hdbscan(to: Context) -> Any:
    least = max(5, round(LEAST_CLUSTER * min(to.n_rows, MOST_IN_TREE)))
    return HDBSCAN(min_cluster_size=least, copy=True)


CLUSTERERS: tuple[Method, ...] = (
    Method("local-spectral", "local spectral", Role.CLUSTERER, _local_spectral),
    Method(
        "mini-batch-k-means",
        "mini-batch k-means",
        Role.CLUSTERER,
        lambda to: MiniBatchKMeans(to.n_classes, n_init=10, random_state=to.seed),
    ),
    Method("spectral", "spectral (scikit-learn)", Role.CLUSTERER, _spectral, most_rows=MOST_IN_GRAPH),
    Method("hdbscan", "HDBSCAN", Role.CLUSTERER, _hdbscan, most_rows=MOST_IN_TREE),
)

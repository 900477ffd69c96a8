"""repeated_kmeans: clusters of k-means, started anew several times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from .._validation import check_count, refuse_other_than_numbers


def repeated_kmeans(
    X: ArrayLike, n_clusters: int, *, n_runs: int = 20, n_starts: int = 1, unit_rows: bool = True
) -> NDArray[np.int32]:
    """Clusters of k-means, started anew `n_runs` times.

    Clusters show what unsupervised features are good for. One run says little, since k-means ends near where it began:
    its starts (k-means++) are drawn with the run's number as the seed.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_clusters : int
    n_runs : int, default=20
    n_starts : int, default=1
        Starts of every run, of which the one with the smallest sum of squares counts; labels are not used.
    unit_rows : bool, default=True
        Whether rows are scaled to unit length first. This matters most after columns of text were selected: short and
        long texts become comparable. Rows of zeros stay as they are.

    Returns
    -------
    ndarray of shape (n_runs, n_samples)
        The cluster of each row, by run.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.cluster import repeated_kmeans
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, y = load_iris(return_X_y=True)
    >>> [round(clustering_accuracy(y, clusters), 2) for clusters in repeated_kmeans(X, 3, n_runs=3)]
    [0.97, 0.97, 0.97]
    """
    check_count("n_clusters", n_clusters)
    check_count("n_runs", n_runs)
    check_count("n_starts", n_starts)
    refuse_other_than_numbers(X, "repeated_kmeans")
    rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32))
    refuse_few_rows(n_clusters, rows.shape[0])
    if unit_rows:
        rows = normalize(rows)
    return np.stack([KMeans(n_clusters, n_init=n_starts, random_state=run).fit_predict(rows) for run in range(n_runs)])


def refuse_few_rows(n_clusters: int, n_rows: int) -> None:
    if n_clusters > n_rows:
        raise ValueError(
            f"n_clusters is {n_clusters}, but there are only {n_rows} rows; take at most as many clusters."
        )

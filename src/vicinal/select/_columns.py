"""What several selectors ask of the rows and columns that they are given."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix, check_count


def varying(X: Matrix) -> NDArray[np.bool_]:
    """Which columns have two values or more."""
    lowest, highest = X.min(axis=0), X.max(axis=0)
    if sp.issparse(X):
        lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
    return lowest < highest


def telling(groups: list[NDArray[np.intp]], kept: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Groups with a column that is kept: rows that are all alike have no nearest ones. Where none has, the first."""
    return [columns for columns in groups if kept[columns].any()] or groups[:1]


def check_cluster_count(n_clusters: int, n_samples: int) -> int:
    if check_count("n_clusters", n_clusters) > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters}, but X has {n_samples} rows; ask for at most as many clusters as rows."
        )
    return int(n_clusters)

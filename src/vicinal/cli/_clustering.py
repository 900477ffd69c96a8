"""Clusters of a table, and what is known of them: what `vicinal cluster` shows, writes and puts into its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls import watching
from .._cluster_profiles import Profile, profiles
from .._preparation import is_frame, make_preparation
from ..cluster import LocalSpectralClustering
from ._terminal import telling_warnings


@dataclass(frozen=True)
class Clustering:
    """Rows with the numbers of their clusters, from 1, what tells these apart, and the spectrum."""

    X: Any
    names: Sequence[str]
    numbers: NDArray[np.int64]
    profiles: list[Profile]
    singular_values: NDArray[np.float64]
    max_clusters: int
    suggested: bool

    def suggestion(self) -> str:
        count = len(self.profiles)
        return (
            f"The number of clusters was not given: the largest gap in the spectrum, of up to {self.max_clusters} "
            f"clusters, suggests {count}. Say with -k if you want another."
        )

    def value(self, row: int, column: str) -> Any:
        """As the table has it."""
        if is_frame(self.X):
            return self.X[column][row]
        return self.X[row, list(self.names).index(column)]


def find_clusters(
    X: Any,
    names: Sequence[str],
    model: LocalSpectralClustering,
    *,
    scale: str,
    progress: Callable[[float], object],
) -> Clustering:
    rows = make_preparation(X, scale).fit_transform(X)
    with telling_warnings(), watching(progress):
        labels = model.fit_predict(rows)
    places = model.features_.transform(model.map_.transform(rows))
    distances = np.linalg.norm(places - model.cluster_centers_[labels], axis=1)
    return Clustering(
        X=X,
        names=names,
        numbers=labels.astype(np.int64) + 1,
        profiles=profiles(X, names, labels, distances),
        singular_values=model.singular_values_,
        max_clusters=model.max_clusters,
        suggested=model.n_clusters == "auto",
    )

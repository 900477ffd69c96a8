"""Clusters of a table, and what is known of them: what `vicinal cluster` shows, writes and puts into its report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import watching
from .._cluster_profiles import Profile, profiles
from .._files import Table
from .._preparation import is_frame, make_preparation
from ..cluster import LocalSpectralClustering
from ._terminal import telling_warnings

MOST_COLUMNS = 1000  # of a matrix that are written beside the clusters


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


def labelled_columns(table: Table, numbers: NDArray[np.int64]) -> tuple[dict[str, Any], int]:
    """What is written: the table with a column of clusters. Of a matrix of very many columns, rows by number or name;
    then also how many columns are left out."""
    columns: dict[str, Any]
    left_out = 0
    if table.frame is not None:
        columns = {name: table.frame[name] for name in table.frame.columns}
    else:
        X: Any = table.X
        columns = {"name": table.row_names} if table.row_names else {}
        if X.shape[1] <= MOST_COLUMNS:
            dense = X.toarray() if sp.issparse(X) else np.asarray(X)
            columns |= {name: dense[:, place] for place, name in enumerate(table.names)}
        else:
            left_out = X.shape[1]
            columns = columns or {"row": np.arange(1, X.shape[0] + 1)}
        if table.y is not None:
            columns[_free(table.target, columns)] = table.y
    columns[_free("cluster", columns)] = numbers
    return columns, left_out


def _free(name: str, taken: dict[str, Any]) -> str:
    while name in taken:
        name += "_"
    return name

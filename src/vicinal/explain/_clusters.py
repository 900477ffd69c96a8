"""explain_clusters: the training rows and columns that set a cluster apart."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import StandardScaler

from .._validation import Matrix, check_count
from .._words import counted, listed
from ._frames import as_frame, check_frame
from ._groups import LocalGroups
from ._inputs import names_of_map
from ._pipeline import as_rows, taken_apart

COLUMNS_OF_PROTOTYPE = 3
_UNITS = "In brackets: how far from the mean, in standard deviations of all anchors."


@dataclass(frozen=True, repr=False)
class ClusterExplanation:
    """What sets clusters apart, made by `explain_clusters`.

    Attributes
    ----------
    labels : ndarray of shape (n_clusters,)
    sizes : ndarray of shape (n_clusters,) or None
        Rows of each cluster; None where no rows were given.
    centers : ndarray of shape (n_clusters, n_features_out)
        Mean features of each cluster's rows.
    contrasts : ndarray of shape (n_clusters, n_features_out)
        How much a cluster's mean exceeds the mean of the other clusters' means.
    prototype_scores : ndarray of shape (n_clusters, n_anchors)
        Sums of the positive contrasts of each training row that is an anchor.
    column_deviations : ndarray of shape (n_clusters, n_columns)
        How far the prototypes' values, weighted by their scores, lie from those of all anchors on average, in standard
        deviations of the anchors: above 0 where a cluster has high values.
    anchor_samples : ndarray of shape (n_anchors,)
        The anchors' places in the training data.
    column_names : ndarray of shape (n_columns,)
        Names of the columns that the map sees.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain_clusters
    >>> X = load_iris().data
    >>> local = RandLocal(task="unsupervised", norm="l2", random_state=0)
    >>> kmeans = KMeans(3, n_init=10, random_state=0).fit(local.fit_transform(X))
    >>> clusters = explain_clusters(kmeans, local, X)
    >>> int(clusters.sizes.sum()), clusters.prototype_scores.shape[0]
    (150, 3)
    """

    labels: NDArray[Any]
    sizes: NDArray[np.int64] | None
    centers: NDArray[np.float64]
    contrasts: NDArray[np.float64]
    prototype_scores: NDArray[np.float64]
    column_deviations: NDArray[np.float64]
    anchor_samples: NDArray[np.integer]
    column_names: NDArray[np.object_]
    _groups: LocalGroups = field(repr=False)
    _n_prototypes: int = 5
    _frame: str | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def strongest(self, cluster: int) -> NDArray[np.intp]:
        """The prototypes of a cluster, given by its place in `labels`, as places in `anchor_samples`."""
        order = np.argsort(-self.prototype_scores[cluster], kind="stable")[: self._n_prototypes]
        return order[self.prototype_scores[cluster, order] > 0]

    @property
    def anchor_values(self) -> Matrix:
        """All anchors as the map sees them, in the order of `anchor_samples`."""
        return self._groups.table

    @property
    def prototypes(self) -> Any:
        """A frame of the clusters' prototypes, the strongest first.

        Its columns: `cluster`, `anchor` (place in the training data), `score`, `groups` (in how many it sets the
        cluster apart) and `columns` (those that these groups look at most).
        """
        lines = [(cluster, *line) for cluster in range(len(self)) for line in self._prototypes_of(cluster)]
        clusters, anchors, groups, columns = zip(*lines, strict=True) if lines else ((), (), (), ())
        places = np.array(clusters, np.intp), np.array(anchors, np.intp)
        table = {
            "cluster": self.labels[places[0]],
            "anchor": self.anchor_samples[places[1]],
            "score": self.prototype_scores[places],
            "groups": np.array(groups, np.int64),
            "columns": [", ".join(names) for names in columns],
        }
        return as_frame(table, self._frame)

    @property
    def cells(self) -> Any:
        """A frame of the features that set each cluster apart most, as many as prototypes.

        Its columns: `cluster`, `group`, `anchor` (place in the training data), `value` (the cluster's mean), `others`
        (the mean of the other clusters' means) and `columns` (all that the group looks at).
        """
        order = np.argsort(-self.contrasts, axis=1, kind="stable")[:, : self._n_prototypes]
        clusters, cells = np.repeat(np.arange(len(self)), order.shape[1]), order.ravel()
        values, contrasts = self.centers[clusters, cells], self.contrasts[clusters, cells]
        keep = contrasts > 0
        clusters, cells, values, contrasts = clusters[keep], cells[keep], values[keep], contrasts[keep]
        groups = self._groups.group_of(cells)
        table = {
            "cluster": self.labels[clusters],
            "group": groups,
            "anchor": self.anchor_samples[self._groups.rows[cells]],
            "value": values,
            "others": values - contrasts,
            "columns": [", ".join(self.column_names[np.sort(self._groups.columns(group))]) for group in groups],
        }
        return as_frame(table, self._frame)

    def _prototypes_of(self, cluster: int) -> list[tuple[int, int, list[str]]]:
        """(anchor, number of groups, names of the columns that count most) of each prototype."""
        found = []
        cells = np.flatnonzero(self.contrasts[cluster] > 0)
        anchors, groups = self._groups.rows[cells], self._groups.group_of(cells)
        for anchor in self.strongest(cluster):
            own = anchors == anchor
            weights = sp.csr_array(
                (self.contrasts[cluster, cells[own]], (np.zeros(own.sum(), int), groups[own])),
                shape=(1, self._groups.n_groups),
            )
            by_column = (weights @ self._groups.membership).toarray()[0]
            top = np.argsort(-by_column, kind="stable")[:COLUMNS_OF_PROTOTYPE]
            names = self.column_names[top[by_column[top] > 0]].tolist()
            found.append((int(anchor), len(np.unique(groups[own])), names))
        return found

    def _words(self) -> list[tuple[str, list[str]]]:
        """A heading of each cluster, and a sentence for each of its prototypes."""
        words = []
        for cluster, label in enumerate(self.labels):
            size = "" if self.sizes is None else f" ({counted(int(self.sizes[cluster]), 'row')})"
            deviations = self.column_deviations[cluster]
            top = np.argsort(-abs(deviations), kind="stable")[:COLUMNS_OF_PROTOTYPE]
            names = [
                f"{'high' if deviations[j] > 0 else 'low'} {self.column_names[j]} ({deviations[j]:+.1f})" for j in top
            ]
            heading = f"Cluster {label}{size}: {listed(names)}; its rows are near"
            sentences = [
                f"training row {self.anchor_samples[anchor]}, in {counted(n_groups, 'group')} by {listed(columns)}"
                for anchor, n_groups, columns in self._prototypes_of(cluster)
            ]
            words.append((heading, sentences or ["no training row more than those of other clusters are"]))
        return words

    def __str__(self) -> str:
        lines = []
        for heading, sentences in self._words():
            lines += ["", *textwrap.wrap(heading, 80, subsequent_indent="  ")]
            for sentence in sentences:
                lines += textwrap.wrap(sentence, 80, initial_indent="  ", subsequent_indent="    ")
        return "\n".join([*lines[1:], "", *textwrap.wrap(f"({_UNITS})", 80)])

    def __repr__(self) -> str:
        return f"<ClusterExplanation of {counted(len(self), 'cluster')}>"

    def _repr_html_(self) -> str:
        parts = []
        for heading, sentences in self._words():
            items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
            parts.append(f"<p><b>{escape(heading)}</b></p><ul>{items}</ul>")
        return f"<div>{''.join(parts)}<p>{_UNITS}</p></div>"


def explain_clusters(
    clusters: Any,
    local_map: Any = None,
    X: ArrayLike | None = None,
    *,
    n_prototypes: int = 5,
    column_names: Sequence[Any] | None = None,
    frame: str | None = None,
) -> ClusterExplanation:
    """Which training rows and columns set clusters apart.

    A feature of `RandLocal` is an anchor, a training row, in a group of columns. Features that are higher in a cluster
    than in the others show rows that its members are near, and the columns by which they are.

    Parameters
    ----------
    clusters : KMeans, array-like of shape (n_rows,), or a clustering with a map of its own
        Anything with `cluster_centers_` in the space of the map's features, or a cluster for each row of X. Rows of
        cluster -1 belong to none. A clustering that keeps its map as `map_` and has `predict` needs X alone.
    local_map : Pipeline or RandLocal, default=None
        Fitted: `RandLocal` or `SampledLandmarks`, with what prepares the rows for it, if anything. None for a
        clustering with a map of its own.
    X : array-like, sparse matrix or frame of shape (n_rows, n_features), default=None
        The rows that were clustered, as the map takes them. Not needed for a KMeans, but without them nothing is known
        of the clusters' sizes and of the names of columns.
    n_prototypes : int, default=5
        Training rows to show for each cluster.
    column_names : sequence of str, default=None
        Names of the columns where X has none.
    frame : {None, "pandas", "polars"}, default=None
        Of which kind tables are. None is pandas, or polars where only that is installed.

    Returns
    -------
    ClusterExplanation

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> X[:100, 1] += 10
    >>> local = RandLocal(task="unsupervised", random_state=0).fit(X)
    >>> clusters = explain_clusters(np.repeat(["high", "low"], 100), local, X, column_names=["a", "b", "c"])
    >>> clusters.column_deviations[:, 1].round().tolist()
    [1.0, -1.0]
    >>> bool((clusters.prototypes.query("cluster == 'high'")["anchor"] < 100).all())
    True
    """
    check_frame(frame)
    check_count("n_prototypes", n_prototypes)
    if local_map is None:
        clusters, local_map = _own_map(clusters, X)
    parts = taken_apart(local_map)
    if parts.model is not None:
        raise ValueError(
            f"The map must be the last step; {type(parts.model).__name__} follows it. Give pipeline[:-1], and the "
            "clusters by themselves."
        )
    groups = parts.groups
    rows = None if X is None else as_rows(X, parts.first)
    features = None if rows is None else sp.csr_array(parts.mapped(rows)[1])
    labels, sizes, centers = _centers(clusters, features, groups)
    if len(labels) < 2:
        raise ValueError("At least two clusters are needed: what is alike in all rows sets nothing apart.")
    others = (centers.sum(axis=0) - centers) / (len(centers) - 1)
    contrasts = centers - others
    rising = sp.csr_array(np.maximum(contrasts, 0))
    prototype_scores = groups.summed_by_anchor(rising).toarray()
    return ClusterExplanation(
        labels=labels,
        sizes=sizes,
        centers=centers,
        contrasts=contrasts,
        prototype_scores=prototype_scores,
        column_deviations=_deviations(groups.table, prototype_scores),
        anchor_samples=groups.samples,
        column_names=names_of_map(parts.before, parts.map, X, groups.n_columns, column_names),
        _groups=groups,
        _n_prototypes=int(n_prototypes),
        _frame=frame,
    )


def _own_map(clusters: Any, X: ArrayLike | None) -> tuple[NDArray[Any], Any]:
    """The clusters of rows by a clustering that has a map of its own, and that map."""
    if not hasattr(clusters, "map_") or not hasattr(clusters, "predict"):
        raise ValueError("Give the map that the clusters were found with, as the second argument.")
    if X is None:
        raise ValueError(f"Give the rows, too: explain_clusters(model, X=X) asks {type(clusters).__name__} of each.")
    return clusters.predict(X), clusters.map_


def _centers(
    clusters: Any, features: sp.csr_array | None, groups: LocalGroups
) -> tuple[NDArray[Any], NDArray[np.int64] | None, NDArray[np.float64]]:
    """Labels, sizes and mean features of the clusters."""
    width = int(groups.anchor_ptr[-1])
    if hasattr(clusters, "cluster_centers_"):
        centers = np.asarray(clusters.cluster_centers_, np.float64)
        if centers.shape[1:] != (width,):
            raise ValueError(
                f"The centres of {type(clusters).__name__} have {centers.shape[1]} columns, the map has {width}; "
                "cluster its features, or give labels and rows."
            )
        labels = np.arange(len(centers))
        return labels, None if features is None else _sizes(clusters.predict(features), labels), centers
    if hasattr(clusters, "fit"):
        raise ValueError(
            f"{type(clusters).__name__} has no cluster_centers_; fit it first, or give its labels and the rows."
        )
    if features is None:
        raise ValueError("Labels say nothing of features without the rows that they belong to; give X, too.")
    given = np.asarray(clusters)
    if given.shape != (features.shape[0],):
        raise ValueError(f"One cluster is needed for each of {features.shape[0]} rows; the labels are {given.shape}.")
    labels = np.unique(given)
    labels = labels[labels != -1] if labels.dtype.kind in "if" else labels
    sizes = _sizes(given, labels)
    members = sp.csr_array((given == labels[:, None]).astype(np.float64))
    return labels, sizes, (members @ features).toarray() / sizes[:, None]


def _deviations(table: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted means of the table's rows, less the means of all, in standard deviations; what is missing is left out.

    >>> _deviations(np.array([[1.0, 5.0], [3.0, np.nan]]), np.array([[0.0, 2.0]])).tolist()
    [[1.0, 0.0]]
    """
    scaler = StandardScaler(with_mean=False).fit(table)
    values = sp.csr_array(table, dtype=np.float64)
    missing = sp.csr_array((np.isnan(values.data) * 1.0, values.indices, values.indptr), shape=values.shape)
    values.data = np.nan_to_num(values.data)
    known = weights.sum(axis=1, keepdims=True) - weights @ missing
    means = np.divide(weights @ values, known, out=np.zeros(known.shape), where=known > 0)
    return np.where(known > 0, np.nan_to_num((means - scaler.mean_) / scaler.scale_), 0.0)


def _sizes(given: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    return (given == labels[:, None]).sum(axis=1)

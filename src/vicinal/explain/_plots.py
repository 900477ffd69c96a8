"""Pictures of explanations, in matplotlib."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._anchors import nearest_codes
from .._validation import check_choice, check_count
from ._clusters import ClusterExplanation
from ._drawing import (
    AGAINST,
    FOR,
    REST,
    draw_bars,
    draw_cells,
    draw_heat_map,
    draw_images,
    draw_points,
    full,
    new_axes,
    short,
)
from ._explanation import Explanation
from ._groups import LocalGroups, anchor_groups
from ._inputs import names_of_map
from ._pipeline import as_rows, taken_apart


def plot_explanation(explanation: Explanation, *, what: str = "anchors", n_bars: int = 10, ax: Any = None) -> Any:
    """Bars of what adds to a row's score: anchors, or columns.

    Parameters
    ----------
    explanation : Explanation
        Of one row: ``explain(pipeline, X)[3]``.
    what : {"anchors", "columns"}, default="anchors"
    n_bars : int, default=10
        The strongest are shown; one more bar is the sum of all others, and one the intercept.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain, plot_explanation
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(RandLocal(50, random_state=0), RidgeClassifier()).fit(X, y)
    >>> ax = plot_explanation(explain(model, X[:1]), n_bars=5)
    >>> len(ax.patches)
    7
    """
    check_choice("what", what, ("anchors", "columns"))
    check_count("n_bars", n_bars)
    if not isinstance(explanation, Explanation):
        raise ValueError(f"plot_explanation draws what explain returns; got a {type(explanation).__name__}.")
    if len(explanation) != 1:
        raise ValueError(f"One row can be drawn, and there are {len(explanation)}; give explanation[0].")
    names, values = _parts(explanation, what)
    has_model = explanation.predictions is not None
    if not has_model:
        values = 100 * values / (explanation.scores[0] or 1.0)
    order = np.argsort(-abs(values), kind="stable")
    shown, left = order[:n_bars], order[n_bars:]
    bars = [(names[k], values[k], FOR if values[k] >= 0 else AGAINST) for k in shown]
    bars.sort(key=lambda bar: -bar[1])
    if len(left):
        bars.append((f"{len(left)} other {what[:-1]}{'s' * (len(left) > 1)}", values[left].sum(), REST))
    if has_model:
        bars.append(("intercept", explanation.intercepts[0], REST))
    if not bars:
        raise ValueError("This row has no anchor to draw: it lacks the columns of every group.")
    ax = new_axes(ax, height=1.3 + 0.3 * len(bars))
    draw_bars(ax, bars, percent=not has_model)
    ax.set_xlabel("part of the score" if has_model else "part of the row's features, in %")
    ax.set_title(_title(explanation), loc="left", fontsize="medium")
    return ax


def plot_voronoi(
    local_map: Any,
    X: ArrayLike | None = None,
    *,
    group: int | None = None,
    y: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """The cells of one group of two columns: where which anchor is the nearest.

    Of a map with two levels they are the cells that its `transform` goes by: the nearest anchor among those of the
    nearest coarse anchor.

    Parameters
    ----------
    local_map : Pipeline, RandLocal or SampledLandmarks
        Fitted; of a pipeline the map in it is drawn. Axes are the columns as the map sees them, that is, after what
        prepares them.
    X : array-like, sparse matrix or frame of shape (n_rows, n_features), default=None
        Rows to draw over the cells.
    group : int, default=None
        Which group; the first that has two columns by default.
    y : array-like of shape (n_rows,), default=None
        Labels of the rows, as colours.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import plot_voronoi
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> local = RandLocal(n_anchors=8, feature_range=(2, 2), random_state=0).fit(X)
    >>> ax = plot_voronoi(local, X, y=y)
    >>> ax.get_title()
    'Group 0: the cells of 8 anchors'
    """
    parts = taken_apart(local_map)
    groups = parts.groups
    group = _flat_group(groups, group)
    columns = groups.columns(group)
    rows = None if X is None else as_rows(X, parts.first)
    labels = _checked_labels(y, None if rows is None else rows.shape[0])
    names = names_of_map(parts.before, parts.map, rows, groups.n_columns, None)[columns]
    own = anchor_groups(parts.map).alone(group)
    anchors = full(own.table)
    complete = ~np.isnan(anchors).any(axis=1)
    anchors = anchors[complete]
    if not len(anchors):
        raise ValueError(f"Every anchor of group {group} lacks a value in one of its two columns; name another group.")
    if own.cells is None:  # cells of two levels are what they are by all of their anchors
        own = replace(own, rows=own.rows[complete], anchor_ptr=np.array([0, len(anchors)]))
    points = None if rows is None else full(parts.mapped(rows)[0], columns)
    ax = new_axes(ax, height=4.8)
    around = anchors if points is None else np.vstack([anchors, points])
    draw_cells(ax, around, lambda places: nearest_codes(own, places, exclude_self=False, n_jobs=None).ravel())
    if points is not None:
        draw_points(ax, points, labels)
    ax.plot(*anchors.T, "k+", markersize=8, markeredgewidth=1.6, label="anchor", linestyle="none", zorder=3)
    ax.set_xlabel(short(names[0]))
    ax.set_ylabel(short(names[1]))
    ax.set_title(f"Group {group}: the cells of {len(anchors)} anchors", fontsize="medium")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0)
    return ax


def plot_prototypes(
    clusters: ClusterExplanation, *, image_shape: tuple[int, int] | None = None, n_columns: int = 20, ax: Any = None
) -> Any:
    """The prototypes of clusters: as a table of colours, or as images.

    Parameters
    ----------
    clusters : ClusterExplanation
        Made by `explain_clusters`, where `n_prototypes` says how many each cluster has.
    image_shape : (int, int), default=None
        Height and width, if rows are images; then each cluster is a line of pictures.
    n_columns : int, default=20
        Without images, the columns that are shown: those in which the clusters differ most.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain_clusters, plot_prototypes
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> local = RandLocal(50, task="unsupervised", random_state=0).fit(X)
    >>> ax = plot_prototypes(explain_clusters(y, local, X, n_prototypes=3))
    >>> len(ax.get_yticklabels())
    9
    """
    if not isinstance(clusters, ClusterExplanation):
        raise ValueError(f"plot_prototypes draws what explain_clusters returns; got a {type(clusters).__name__}.")
    check_count("n_columns", n_columns)
    chosen = [clusters.strongest(cluster) for cluster in range(len(clusters))]
    if not sum(map(len, chosen)):
        raise ValueError("There is no prototype to draw: the clusters' centres are all alike.")
    table = full(clusters.anchor_values)
    if image_shape is None:
        return draw_heat_map(ax, clusters, chosen, table, n_columns)
    if len(image_shape) != 2 or np.prod(image_shape) != table.shape[1]:
        raise ValueError(f"image_shape must be (height, width) of {table.shape[1]} pixels; got {image_shape!r}.")
    return draw_images(ax, clusters, chosen, table, image_shape)


def _parts(explanation: Explanation, what: str) -> tuple[list[str], NDArray[np.float64]]:
    """Names and scores of all anchors or columns of the one row."""
    if what == "columns":
        values = explanation.column_values(0)
        told = [
            f"{name} = {value}" if value else name for name, value in zip(explanation.column_names, values, strict=True)
        ]
        return told, explanation.column_scores[0]
    scores = explanation.anchor_scores
    return explanation.anchor_names(scores.indices), scores.data


def _title(explanation: Explanation) -> str:
    if explanation.predictions is None:
        return f"Row {explanation.rows[0]}: how near its anchors are"
    return explanation.reasons().heading.rstrip(".")


def _flat_group(groups: LocalGroups, group: int | None) -> int:
    sizes = np.diff(groups.feature_ptr)
    flat = np.flatnonzero(sizes == 2)
    if group is None:
        if not len(flat):
            raise ValueError("No group of this map has two columns to draw; fit one with feature_range=(2, 2).")
        return int(flat[0])
    if not isinstance(group, int | np.integer) or not 0 <= group < groups.n_groups:
        raise ValueError(f"group must be a number from 0 to {groups.n_groups - 1}; got {group!r}.")
    if sizes[group] != 2:
        some = f"groups that do are {', '.join(map(str, flat[:5]))}" if len(flat) else "no group does"
        raise ValueError(f"Group {group} has {sizes[group]} columns, and a plane shows two: {some}.")
    return int(group)


def _checked_labels(y: ArrayLike | None, n_rows: int | None) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if n_rows is None or labels.shape != (n_rows,):
        raise ValueError(f"y needs one label for each row of X; it is {labels.shape}, and X has {n_rows or 'no'} rows.")
    return labels

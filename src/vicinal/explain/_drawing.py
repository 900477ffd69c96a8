"""What pictures of explanations are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._optional import need
from .._validation import Matrix
from ._clusters import ClusterExplanation

FOR, AGAINST, REST = "#2166ac", "#b2182b", "#8c8c8c"
# Soft colours for cells, told apart by neighbours; strong ones for labels (Okabe and Ito, for colour-blind eyes, too).
_SOFT = ("#e8eef4", "#f7efe2", "#e9f2e6", "#f6e9ea", "#efe9f4", "#f0eeea")
_STRONG = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#7f7f7f")
_LONGEST_LABEL = 36
_RESOLUTION = 400


def new_axes(ax: Any, *, width: float = 7.0, height: float = 4.0) -> Any:
    """The axes that were given, or those of a new figure that makes room for labels."""
    if ax is not None:
        return ax
    pyplot = need("matplotlib.pyplot", "to draw explanations", install="vicinal[plot]")
    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    return ax


def short(text: Any) -> str:
    text = str(text)
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "\N{HORIZONTAL ELLIPSIS}"


def draw_bars(ax: Any, bars: Sequence[tuple[str, float, str]], *, percent: bool) -> None:
    """Horizontal bars from the top down, (name, value, colour) each, with their values at the ends."""
    places, values = np.arange(len(bars))[::-1], np.array([bar[1] for bar in bars])
    ax.barh(places, values, color=[bar[2] for bar in bars], height=0.7)
    ax.axvline(0, color="black", linewidth=0.8)
    room = 0.16 * max(np.ptp([0, *values]), 1e-12)  # for the numbers
    ax.set_xlim(min(values.min(), 0) - room * (values.min() < 0), max(values.max(), 0) + room * (values.max() > 0))
    largest = abs(values).max()
    form = "{:.1f} %" if percent else "{:+.1f}" if largest >= 100 else "{:+.3f}" if largest >= 0.1 else "{:+.5f}"
    for place, value in zip(places, values, strict=True):
        ax.annotate(
            form.format(value),
            (value, place),
            (4 if value >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if value >= 0 else "right",
            va="center",
            fontsize="small",
        )
    ax.set_yticks(places, [short(bar[0]) for bar in bars])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def draw_cells(
    ax: Any, around: NDArray[np.floating], cell_of: Callable[[NDArray[np.float64]], NDArray[np.integer]]
) -> None:
    """The plane around some points, each place in the colour of its cell, with lines between cells."""
    colors = need("matplotlib.colors", "to draw explanations", install="vicinal[plot]")
    low, high = np.nanmin(around, axis=0), np.nanmax(around, axis=0)
    margin = np.where(high > low, 0.06 * (high - low), 1.0)
    (left, bottom), (right, top) = low - margin, high + margin
    across, up = np.linspace(left, right, _RESOLUTION), np.linspace(bottom, top, _RESOLUTION)
    places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    cells = cell_of(places).reshape(_RESOLUTION, _RESOLUTION)
    extent = (left, right, bottom, top)
    palette = colors.ListedColormap([_SOFT[number % len(_SOFT)] for number in range(max(cells.max() + 1, 2))])
    norm = colors.NoNorm()
    ax.imshow(cells, extent=extent, origin="lower", aspect="auto", cmap=palette, norm=norm, interpolation="nearest")
    borders = np.zeros(cells.shape)
    borders[:-1] += cells[:-1] != cells[1:]
    borders[:, :-1] += cells[:, :-1] != cells[:, 1:]
    lines = np.zeros((*cells.shape, 4))
    lines[..., :3], lines[..., 3] = 0.45, np.minimum(borders, 1)
    ax.imshow(lines, extent=extent, origin="lower", aspect="auto", interpolation="antialiased")


def draw_points(ax: Any, points: NDArray[np.floating], labels: NDArray[Any] | None) -> None:
    """Rows, in colours by their labels; labels of many different numbers as a scale."""
    size = 18 if len(points) <= 500 else 8
    style = {"s": size, "linewidths": 0.4, "edgecolors": "white", "zorder": 2}
    if labels is None:
        ax.scatter(*points.T, color=_STRONG[0], label="row", **style)
        return
    kinds = np.unique(labels)
    if len(kinds) > len(_STRONG) and labels.dtype.kind in "fiu":
        ax.figure.colorbar(ax.scatter(*points.T, c=labels, cmap="viridis", **style), ax=ax)
        return
    for number, kind in enumerate(kinds):
        own = labels == kind
        ax.scatter(*points[own].T, color=_STRONG[number % len(_STRONG)], label=short(kind), **style)


def full(rows: Matrix, columns: Any = slice(None)) -> NDArray[np.floating]:
    """Some columns of rows that may be sparse, in full."""
    chosen = rows[:, columns]
    return chosen.toarray() if sp.issparse(chosen) else np.asarray(chosen)


def draw_heat_map(
    ax: Any, clusters: ClusterExplanation, chosen: Sequence[NDArray[np.intp]], table: NDArray[np.floating], most: int
) -> Any:
    """Prototypes by columns: values less the mean of all anchors, in standard deviations."""
    center, spread = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    order = np.argsort(-abs(clusters.column_deviations).max(axis=0), kind="stable")[:most]
    columns = np.sort(order)
    places = np.concatenate(chosen)
    values = np.divide(table[places] - center, spread, out=np.zeros((len(places), len(center))), where=spread > 0)
    ax = new_axes(ax, width=3.2 + 0.42 * len(columns), height=1.9 + 0.28 * len(places))
    image = ax.imshow(values[:, columns], cmap="RdBu_r", vmin=-2.5, vmax=2.5, aspect="auto")
    ax.set_xticks(range(len(columns)), map(short, clusters.column_names[columns]), rotation=40, ha="right")
    for label in ax.get_xticklabels():
        label.set_rotation_mode("anchor")
    names = _prototype_names(clusters, chosen)
    ax.set_yticks(range(len(places)), names)
    for end in np.cumsum([len(own) for own in chosen])[:-1]:
        ax.axhline(end - 0.5, color="black", linewidth=1.2)
    ax.tick_params(length=0)
    ax.figure.colorbar(image, ax=ax, label="standard deviations\nfrom the mean of all anchors", extend="both")
    return ax


def _prototype_names(clusters: ClusterExplanation, chosen: Sequence[NDArray[np.intp]]) -> list[str]:
    return [
        f"{short(f'cluster {label}')}: row {clusters.anchor_samples[place]}"
        for label, own in zip(clusters.labels, chosen, strict=True)
        for place in own
    ]


def draw_images(
    ax: Any,
    clusters: ClusterExplanation,
    chosen: Sequence[NDArray[np.intp]],
    table: NDArray[np.floating],
    shape: tuple[int, int],
) -> Any:
    """A line of pictures for each cluster, with the places of the rows in the training data below them."""
    height, width = shape
    gap_across, gap_up = max(1, width // 8), max(1, round(height * 0.45))
    widest = max(map(len, chosen))
    sheet = np.full((len(chosen) * (height + gap_up), widest * (width + gap_across) - gap_across), np.nan)
    ax = new_axes(ax, width=1.6 + 0.85 * widest, height=0.7 + 1.0 * len(chosen))
    for line, own in enumerate(chosen):
        for number, place in enumerate(own):
            top, left = line * (height + gap_up), number * (width + gap_across)
            sheet[top : top + height, left : left + width] = table[place].reshape(shape)
            below = f"row {clusters.anchor_samples[place]}"
            ax.text(left + (width - 1) / 2, top + height, below, ha="center", va="top", fontsize="x-small")
    ax.imshow(sheet, cmap="gray_r")
    ax.set_yticks(
        np.arange(len(chosen)) * (height + gap_up) + (height - 1) / 2,
        [short(f"cluster {label}") for label in clusters.labels],
    )
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax

"""The cells that anchors cut the plane into, as polygons within a square."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.spatial import Voronoi as Diagram
from scipy.spatial import cKDTree

from .._page import Voronoi, VoronoiPanel
from ._svg import NO_VALUES, PLAIN, Look, joined, key, key_entry, marker, outline, tag

SIDE = 300.0
MOST_POINTS = 400
MOST_CLASSES = 10

Polygon = list[tuple[float, float]]


def voronoi(block: Voronoi) -> Markup:
    """The panels side by side, tinted by the class that most rows of a cell have; the key names the classes."""
    panels = [panel for panel in block.panels if len(np.asarray(panel.anchors)) and len(np.asarray(panel.points))]
    if not panels:
        return NO_VALUES
    counts: dict[str, int] = {}
    for panel in panels:
        numbers = np.bincount(np.asarray(panel.classes, np.int64), minlength=len(panel.class_names))
        for name, count in zip(panel.class_names, numbers, strict=True):
            counts[name] = counts.get(name, 0) + int(count)
    largest = set(sorted(counts, key=lambda name: -counts[name])[:MOST_CLASSES])
    named = [name for name in counts if name in largest]
    looks = {name: Look.number(i) for i, name in enumerate(named)}
    entries = [key_entry(marker(looks[name], 8, 8, 5), name) for name in named]
    if len(counts) > len(named):
        entries.append(key_entry(marker(PLAIN, 8, 8, 5), f"{len(counts) - len(named)} other classes"))
    entries.append(key_entry(tag("path", _class="anchor", d=outline("circle", 8, 8, 4)), "anchor"))
    drawn = [tag("div", tag("h4", panel.title) + _panel(panel, looks), _class="panel") for panel in panels]
    return tag("div", joined(drawn), _class="panels") + key(entries)


def clipped_cells(anchors: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> list[Polygon]:
    """The Voronoi cells of different anchors, cut to the box; a cell outside of it is empty."""
    middle = (low + high) / 2
    reach = max(np.abs(np.vstack([anchors, low, high]) - middle).max(), 1e-9)
    # Four points so far away that the bisectors between them and the anchors miss the box: every cell is bounded.
    far = middle + 20 * reach * np.array([[-1.0, -1.1], [1.1, -1.0], [1.0, 1.1], [-1.1, 1.0]])
    diagram = Diagram((np.vstack([anchors, far]) - middle) / reach)
    corners = diagram.vertices * reach + middle
    cells = []
    for number in range(len(anchors)):
        cell = [tuple(corner) for corner in corners[diagram.regions[diagram.point_region[number]]]]
        for axis in (0, 1):
            cell = _cut(_cut(cell, axis, low[axis], 1.0), axis, high[axis], -1.0)
        cells.append(cell)
    return cells


def _cut(polygon: Polygon, axis: int, bound: float, sign: float) -> Polygon:
    """What of a convex polygon lies on the inner side of a line parallel to an axis."""
    kept: Polygon = []
    for number, end in enumerate(polygon):
        start = polygon[number - 1]
        before, after = sign * (start[axis] - bound), sign * (end[axis] - bound)
        if before * after < 0:
            share = before / (before - after)
            kept.append((start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])))
        if after >= 0:
            kept.append(end)
    return kept


def _panel(panel: VoronoiPanel, looks: dict[str, Look]) -> Markup:
    points, classes = np.asarray(panel.points, float), np.asarray(panel.classes, np.int64)
    fine = np.isfinite(points).all(axis=1)
    points, classes = points[fine], classes[fine]
    anchors = np.asarray(panel.anchors, float)
    anchors = anchors[np.isfinite(anchors).all(axis=1)]
    if not len(points) or not len(anchors):
        return NO_VALUES
    low, high = np.percentile(points, [1, 99], axis=0)
    middle = (low + high) / 2
    half = max((high - low).max() / 2 * 1.08, 1e-9 * max(1.0, np.abs(middle).max()))
    anchors = np.unique(np.round((anchors - middle) / half, 6), axis=0) * half + middle  # equal ones share a cell
    low, high = middle - half, middle + half

    def spot(x: float, y: float) -> tuple[float, float]:
        return (x - low[0]) / (2 * half) * SIDE, (high[1] - y) / (2 * half) * SIDE

    nearest = cKDTree(anchors).query(points)[1]
    parts = []
    for number, cell in enumerate(clipped_cells(anchors, low, high)):
        if len(cell) < 3:
            continue
        shares = np.bincount(classes[nearest == number], minlength=len(panel.class_names))
        colour, tint = PLAIN.colour, 0.0
        if shares.sum():
            colour = looks.get(panel.class_names[shares.argmax()], PLAIN).colour
            tint = 0.06 + 0.26 * shares.max() / shares.sum()
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in (spot(*corner) for corner in cell))
        parts.append(tag("path", _class=f"cell k{colour}", fill_opacity=f"{tint:.2f}", d=f"M{corners}z"))
    shown = np.random.default_rng(0).permutation(len(points))[:MOST_POINTS]
    shown = shown[((points[shown] >= low) & (points[shown] <= high)).all(axis=1)]
    marks: dict[Look, list[str]] = {}
    for row in shown:
        look = looks.get(panel.class_names[classes[row]], PLAIN)
        marks.setdefault(look, []).append(outline(look.shape, *spot(*points[row]), 2.6))
    parts += [tag("path", _class=f"mote k{look.colour}", d="".join(paths)) for look, paths in marks.items()]
    visible = anchors[((anchors >= low) & (anchors <= high)).all(axis=1)]
    rings = "".join(outline("circle", *spot(*anchor), 3.0 if len(anchors) < 64 else 2.4) for anchor in visible)
    parts.append(tag("path", _class="anchor", d=rings))
    words = f"{panel.title}: {len(anchors)} cells, {len(shown)} rows drawn"
    box = f"0 0 {SIDE:.0f} {SIDE:.0f}"
    return tag("svg", joined((tag("title", words), *parts)), _class="plane", viewBox=box, role="img", aria_label=words)

"""The charts: quality against cost, curves, and dots; each drawn wide for a desk and narrow for a phone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from .._page import DotRow, Dots, Lines, Point, Scatter, Series
from .._words import human_seconds, short_number
from ._labels import Box, place, spread
from ._scales import Scale, cut, is_drawable, numbers, scale_of, text_width
from ._svg import (
    FONT,
    NO_VALUES,
    OURS,
    PAPER,
    PLAIN,
    Look,
    both,
    drawing,
    interval,
    joined,
    key,
    key_entry,
    line,
    marker,
    not_drawn,
    other_look,
    spot,
    tag,
    text,
)

WIDE, NARROW = 820.0, 360.0  # of the drawings; the style sheet scales them a little
TOP = 32.0  # where plots begin, below the label of their y axis
Y_TICKS = 6


def grid(x: Scale, y: Scale, x_label: str, y_label: str, x_ticks: list[tuple[float, str]]) -> Markup:
    """Both axes: lines across for y, ticks for x, and their labels at the top left and the bottom right."""
    left, right, bottom, top = x.start, x.end, y.start, y.end
    y_ticks = y.ticks(Y_TICKS)
    parts = [line("grid", left, y(value), right, y(value)) for value, _ in y_ticks]
    parts += [line("axis", left, bottom, right, bottom)]
    parts += [line("axis", x(value), bottom, x(value), bottom + 5) for value, _ in x_ticks]
    parts += [text(words, left - 8, y(value) + 4.5, anchor="end") for value, words in y_ticks]
    parts += [text(words, x(value), bottom + 20, anchor="middle") for value, words in x_ticks]
    parts += [text(y_label, 0, top - 20, "label"), text(x_label, right, bottom + 42, "label", "end")]
    return joined(parts)


def _left_margin(values: Sequence[float], height: float, *, log: bool = False) -> float:
    """Room for the labels of the y axis."""
    ticks = scale_of(values, height, 0, log=log).ticks(Y_TICKS)
    return 14 + max((text_width(words, FONT) for _, words in ticks), default=20)


def _apart(ticks: list[tuple[float, str]], scale: Scale) -> bool:
    ends = [(scale(value), text_width(words, FONT) / 2) for value, words in sorted(ticks)]
    return all(b - half_b - a - half_a > 8 for (a, half_a), (b, half_b) in pairwise(ends))


def _x_ticks(scale: Scale, *, seconds: bool = False, values: Iterable[float] = ()) -> list[tuple[float, str]]:
    """The measured values themselves where they are few and far enough apart, round ones otherwise."""
    different = sorted(set(values))
    own = list(zip(different, numbers(different), strict=True))
    if 1 <= len(own) <= 9 and _apart(own, scale):
        return own
    for most in range(max(6, int((scale.end - scale.start) / 110)), 1, -1):
        ticks = scale.ticks(most, seconds=seconds)
        if _apart(ticks, scale):
            break
    return ticks


def scatter(block: Scatter) -> Markup:
    """Quality against cost, with names beside the points and a step line through those that nothing beats."""
    drawn = [p for p in block.points if is_drawable(p.x, log=block.x_log) and is_drawable(p.y)]
    rest = [p.label for p in block.points if p not in drawn]
    if not drawn:
        return NO_VALUES + not_drawn(rest)
    groups = list(dict.fromkeys(p.group for p in drawn if p.group))
    looks = {group: other_look(number) for number, group in enumerate(groups)}
    entries = [key_entry(marker(looks[group], 8, 8, 5), group) for group in groups]
    if any(_has_interval(p) for p in drawn):
        entries.append(key_entry(line("whisker k7", 8, 1, 8, 15), "interval"))
    front = pareto_front(drawn)
    order = sorted(drawn, key=lambda p: (not p.highlight, p not in front, -(p.y or 0)))
    return key(entries) + both(lambda narrow: _scatter(block, order, front, looks, narrow)) + not_drawn(rest)


def pareto_front(points: Sequence[Point]) -> list[Point]:
    """Points that no other one beats in both cost and quality, from the cheapest on."""
    front: list[Any] = []
    for point in sorted(points, key=lambda p: (p.x, -(p.y or 0))):
        if not front or point.y > front[-1].y:
            front.append(point)
    return front


def _has_interval(shown: Any) -> bool:
    return is_drawable(shown.low) and is_drawable(shown.high)


def _scatter(
    block: Scatter, points: Sequence[Any], front: Sequence[Any], looks: dict[str, Look], narrow: bool
) -> Markup:
    width, height = (NARROW, 420.0) if narrow else (WIDE, 470.0)
    heights = [v for p in points for v in (p.y, p.low, p.high) if is_drawable(v)]
    top, bottom = TOP, height - 54
    left, right = _left_margin(heights, height), width - 12
    x = scale_of((p.x for p in points), left, right, log=block.x_log, pad=0.08)
    y = scale_of(heights, bottom, top, pad=0.08)
    x_label = cut(block.x_label + (", log scale" if block.x_log else ""), width - left, FONT)
    parts = [grid(x, y, x_label, cut(block.y_label, width, FONT), _x_ticks(x, seconds=block.x_seconds))]
    parts.append(text("↖ better", left + 6, top + 8, "better"))
    if len(front) > 1:
        steps = "".join(f"H{x(p.x):.1f}V{y(p.y):.1f}" for p in front[1:])
        parts.append(tag("path", _class="front", d=f"M{x(front[0].x):.1f} {y(front[0].y):.1f}{steps}H{right:.1f}"))

    places = [(x(p.x), y(p.y)) for p in points]
    strokes = [Box(x(p.x) - 2, y(p.high), x(p.x) + 2, y(p.low)) for p in points if _has_interval(p)]
    for p, after in zip(front, [*front[1:], None], strict=True):
        strokes.append(Box(x(p.x), y(p.y) - 2, x(after.x) if after else right, y(p.y) + 2))
    names = [cut(p.label, 130 if narrow else 190, FONT) for p in points]
    names, boxes, numbers = _name_places(points, names, places, strokes, Box(left + 2, top - 8, width, bottom - 2))
    labels = []
    for p, name, (across, down), box in zip(points, names, places, boxes, strict=True):
        look = looks.get(p.group, PLAIN)
        look = Look(OURS.colour, look.shape) if p.highlight else look
        if _has_interval(p):
            parts.append(line(f"whisker k{look.colour}", across, y(p.low), across, y(p.high)))
        parts.append(_leader(across, down, box))
        target = tag("circle", _class="target", cx=across, cy=down, r=14)
        x_words = human_seconds(p.x) if block.x_seconds else short_number(p.x)
        words = f"{p.label}: {block.y_label} {short_number(p.y)}{interval(p.low, p.high)}, {block.x_label} {x_words}"
        labels.append(spot(words, (target, marker(look, across, down, 6.5 if p.highlight else 5))))
        kind = "name strong" if p.highlight else "name"
        at_left = box.right < across  # a name that is narrower than it was taken for stays beside its point
        labels.append(
            text(
                name, box.right if at_left else box.left, box.bottom - 3.5, kind, "end" if at_left else "start", p.label
            )
        )
    chart = drawing(f"{block.title}: {block.y_label} against {block.x_label}", width, height, parts + labels)
    listed = [tag("li", joined((tag("b", number), f" {label}"))) for number, label in numbers]
    return chart + (tag("ul", joined(listed), _class="key numbers") if listed else Markup(""))


def _name_places(
    points: Sequence[Any],
    names: list[str],
    places: Sequence[tuple[float, float]],
    strokes: Sequence[Box],
    bounds: Box,
) -> tuple[list[str], list[Box], list[tuple[str, str]]]:
    """Where the names go. A number stands for a name that finds no room; it always finds a place, covered or not."""
    never = [Box(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    never.append(Box(bounds.left, bounds.top, bounds.left + 62, bounds.top + 22))  # where it says what is better
    sizes = [
        (text_width(name, FONT) * (1.1 if p.highlight else 1), 16.0) for p, name in zip(points, names, strict=True)
    ]
    boxes = place(places, sizes, bounds, never=never, rather_not=strokes)
    homeless = [i for i, box in enumerate(boxes) if box is None]
    numbers = {i: str(number) for number, i in enumerate(homeless, start=1)}
    sizes = [(text_width(number, FONT), 14.0) for number in numbers.values()]
    found = place(
        [places[i] for i in homeless],
        sizes,
        bounds,
        never=[*never, *(box for box in boxes if box)],
        rather_not=strokes,
    )
    for i, box, (width, _) in zip(homeless, found, sizes, strict=True):
        x, y = places[i]
        boxes[i] = box or Box(x + 8, y - 7, x + 8 + width, y + 7)
    shown = [numbers.get(i, name) for i, name in enumerate(names)]
    return shown, [box for box in boxes if box], [(number, points[i].label) for i, number in numbers.items()]


def _leader(x: float, y: float, box: Box) -> Markup:
    """A thin line from a point to its name where they are far apart."""
    near_x = min(max(x, box.left), box.right)
    near_y = min(max(y, box.top + 3), box.bottom - 3)
    return line("leader", x, y, near_x, near_y) if math.hypot(near_x - x, near_y - y) > 14 else Markup("")


def lines(block: Lines) -> Markup:
    """Curves with their names at the right end."""
    kept = []
    for series in block.series:
        pairs = enumerate(zip(series.x, series.y, strict=True))
        rows = [i for i, (x, y) in pairs if is_drawable(x, log=block.x_log) and is_drawable(y, log=block.y_log)]
        kept.append((series, sorted(rows, key=lambda i: series.x[i] or 0)))
    rest = [series.label for series, rows in kept if not rows]
    kept = [(series, rows) for series, rows in kept if rows]
    if not kept:
        return NO_VALUES + not_drawn(rest)
    return both(lambda narrow: _lines(block, kept, narrow)) + not_drawn(rest)


def _band(block: Lines, series: Series, rows: Sequence[int]) -> list[int]:
    if not (series.low and series.high):
        return []
    return [i for i in rows if is_drawable(series.low[i], log=block.y_log) and is_drawable(series.high[i])]


def _lines(block: Lines, kept: Sequence[tuple[Any, list[int]]], narrow: bool) -> Markup:
    width = NARROW if narrow else WIDE
    names = [cut(series.label, 92 if narrow else 220, FONT) for series, _ in kept]
    # A phone has no room for long names beside the curves: they go to a key.
    direct = not narrow or not any(name.endswith("…") for name in names)
    height = max(400.0 if narrow else 440.0, 17.0 * len(kept) * direct + 110)
    references = [(label, value) for label, value in block.reference if is_drawable(value, log=block.y_log)]
    heights = [value for _, value in references]
    for series, rows in kept:
        heights += [series.y[i] for i in rows]
        heights += [v[i] for i in _band(block, series, rows) for v in (series.low, series.high)]
    top, bottom, left = TOP, height - 54, _left_margin(heights, height, log=block.y_log)
    right = width - 36 - max(text_width(name, FONT) * 1.1 for name in names) if direct else width - 12
    values = [series.x[i] for series, rows in kept for i in rows]
    x = scale_of(values, left, right, log=block.x_log, pad=0.03)
    y = scale_of(heights, bottom, top, log=block.y_log)
    x_label = cut(block.x_label + (", log scale" if block.x_log else ""), right - 4, FONT)
    y_label = cut(block.y_label + (", log scale" if block.y_log else ""), width, FONT)
    x_ticks = _x_ticks(x, seconds=True) if block.x_seconds else _x_ticks(x, values=values)
    parts = [grid(x, y, x_label, y_label, x_ticks)]

    looks = map(other_look, range(len(kept)))
    styles = [OURS if series.highlight else PLAIN if series.guide else next(looks) for series, _ in kept]
    ends = spread([y(series.y[rows[-1]]) for series, rows in kept], 17, top, bottom)
    curves = []
    for (series, rows), look, name, end in zip(kept, styles, names, ends, strict=True):
        parts.append(_band_path(block, series, rows, look, x, y))
        curve = _guide(series, rows, x, y) if series.guide else _curve(block, series, rows, look, x, y)
        if direct:
            last_x, last_y = x(series.x[rows[-1]]), y(series.y[rows[-1]])
            if abs(end - last_y) > 3 or right - last_x > 14:
                curve += line("leader", last_x + 7, last_y, right + 8, end)
            kind = "name strong" if series.highlight else "name quiet" if series.guide else "name"
            sign = line("reference", right + 9, end, right + 21, end)
            curve += sign if series.guide else marker(look, right + 15, end, 4.2)
            curve += text(name, right + 25, end + 4.5, kind, full=series.label)
        curves.append((series.highlight, curve))
    parts += [line("reference", left, y(value), right, y(value)) for _, value in references]
    parts += [curve for _, curve in sorted(curves, key=lambda pair: pair[0])]
    parts += _reference_names(references, kept, x, y)
    signs = [
        line("reference", 0, 8, 16, 8) if series.guide else marker(look, 8, 8, 5)
        for (series, _), look in zip(kept, styles, strict=True)
    ]
    entries = [key_entry(sign, series.label) for (series, _), sign in zip(kept, signs, strict=True)]
    chart = drawing(f"{block.title}: {block.y_label} over {block.x_label}", width, height, parts)
    return chart if direct else key(entries) + chart


def _guide(series: Any, rows: Sequence[int], x: Scale, y: Scale) -> Markup:
    course = "L".join(f"{x(series.x[i]):.1f} {y(series.y[i]):.1f}" for i in rows)
    return tag("path", _class="reference guide", d=f"M{course}")


def _band_path(block: Lines, series: Any, rows: Sequence[int], look: Look, x: Scale, y: Scale) -> Markup:
    band = _band(block, series, rows)
    if len(band) < 2:
        return Markup("")
    upper = [f"{x(series.x[i]):.1f} {y(series.high[i]):.1f}" for i in band]
    lower = [f"{x(series.x[i]):.1f} {y(series.low[i]):.1f}" for i in reversed(band)]
    return tag("path", _class=f"band k{look.colour}", d=f"M{'L'.join(upper + lower)}z")


def _curve(block: Lines, series: Any, rows: Sequence[int], look: Look, x: Scale, y: Scale) -> Markup:
    course = "L".join(f"{x(series.x[i]):.1f} {y(series.y[i]):.1f}" for i in rows)
    parts = [tag("path", _class=f"course k{look.colour}{' strong' if series.highlight else ''}", d=f"M{course}")]
    band = _band(block, series, rows)
    for i in rows:
        limits = interval(series.low[i], series.high[i]) if i in band else ""
        name = f"{series.label}, {series.names[i]}" if series.names and series.names[i] else series.label
        x_words = human_seconds(series.x[i]) if block.x_seconds else short_number(series.x[i])
        words = f"{name}: {block.y_label} {short_number(series.y[i])}{limits}, {block.x_label} {x_words}"
        across, down = x(series.x[i]), y(series.y[i])
        target = tag("circle", _class="target", cx=across, cy=down, r=12)
        parts.append(spot(words, (target, marker(look, across, down, 5 if series.highlight else 4.2))))
    return joined(parts)


def _reference_names(
    references: Sequence[tuple[str, float]], kept: Sequence[tuple[Any, list[int]]], x: Scale, y: Scale
) -> list[Markup]:
    """Names of the reference lines, each where the fewest curves pass through it."""
    inked: list[tuple[float, float]] = []
    for series, rows in kept:
        for i, after in pairwise(rows):
            (x0, y0), (x1, y1) = ((x(series.x[j]), y(series.y[j])) for j in (i, after))
            inked += [(x0 + (x1 - x0) * step / 30, y0 + (y1 - y0) * step / 30) for step in range(31)]
    inked += [(place, y(value)) for _, value in references for place in range(0, int(x.end), 6)]
    names: list[Markup] = []
    taken: list[Box] = []
    for label, value in references:
        name = cut(label, x.end - x.start - 8, FONT)
        width = text_width(name, FONT)
        starts = (x.start + 4, x.end - 4 - width, (x.start + x.end - width) / 2)
        boxes = [
            Box(start, y(value) + rise, start + width, y(value) + rise + 15) for rise in (-18, 3) for start in starts
        ]

        def crowd(box: Box) -> int:
            covered = sum(box.left < across < box.right and box.top < down < box.bottom for across, down in inked)
            return covered + 1000 * sum(box.meets(other) for other in taken)

        best = min((box for box in boxes if box.bottom < y.start and box.top > y.end - 8), key=crowd, default=boxes[0])
        taken.append(best)
        names.append(text(name, best.left, best.bottom - 3, "name quiet", full=label))
    return names


def dots(block: Dots) -> Markup:
    """One row per value; on a phone the names stand above the rows."""
    drawn = [row for row in block.rows if is_drawable(row.value) or is_drawable(row.paper)]
    rest = [row.label for row in block.rows if row not in drawn]
    if not drawn:
        return NO_VALUES + not_drawn(rest)
    entries = [key_entry(marker(OURS if any(row.highlight for row in drawn) else PLAIN, 8, 8, 5), "measured here")]
    if any(_has_interval(row) for row in drawn):
        entries.append(key_entry(line("whisker k7", 0, 8, 16, 8), "interval"))
    if any(is_drawable(row.paper) for row in drawn):
        entries.append(key_entry(marker(PAPER, 8, 8, 5, "open"), "the paper's own value"))
    return key(entries) + both(lambda narrow: _dots(block, drawn, narrow)) + not_drawn(rest)


def _dots(block: Dots, rows: Sequence[DotRow], narrow: bool) -> Markup:
    width, step = (NARROW, 46.0) if narrow else (WIDE, 28.0)
    room = width - 70 if narrow else 240.0
    names = [cut(row.label, room, FONT) for row in rows]
    left = 8.0 if narrow else 20 + max(text_width(name, FONT) * 1.06 for name in names)
    right = width - (66 if narrow else 76)
    values = [v for row in rows for v in (row.value, row.low, row.high, row.paper) if is_drawable(v)]
    x = scale_of(values, left, right, pad=0.05)
    bottom = 16 + step * len(rows)
    ticks = _x_ticks(x)
    measured = [short_number(row.value) if is_drawable(row.value) else "" for row in rows]
    digits = max(len(words.partition(".")[2]) for words in measured)
    parts = [line("grid", x(value), 10, x(value), bottom) for value, _ in ticks]
    parts += [line("axis", left, bottom, right, bottom)]
    parts += [text(words, x(value), bottom + 20, anchor="middle") for value, words in ticks]
    parts += [text(cut(block.x_label, right, FONT), right, bottom + 42, "label", "end")]
    for number, (row, name, words) in enumerate(zip(rows, names, measured, strict=True)):
        y = 10 + step * (number + 0.5) + (9 if narrow else 0)
        strong = " strong" if row.highlight else ""
        look = OURS if row.highlight else PLAIN
        parts.append(line("grid faint", left, y, right, y))
        parts.append(text(name, left if narrow else 0, y - 13 if narrow else y + 4.5, f"name{strong}", full=row.label))
        content, words_of_row = [], row.label
        middle = row.value if is_drawable(row.value) else row.paper
        assert middle is not None
        content.append(tag("circle", _class="target", cx=x(middle), cy=y, r=13))
        if is_drawable(row.low) and is_drawable(row.high):
            content.append(line(f"whisker k{look.colour}", x(row.low), y, x(row.high), y))
        if is_drawable(row.value):
            words_of_row += f": {block.x_label} {words}{interval(row.low, row.high)}"
            content.append(marker(look, x(row.value), y, 6.5 if row.highlight else 5))
            even = f"{row.value:.{digits}f}" if abs(row.value) < 1000 else words
            parts.append(text(even, width, y + 4.5, f"name digits{strong}", "end"))
        if is_drawable(row.paper):
            words_of_row += f"; the paper: {short_number(row.paper)}"
            content.append(marker(PAPER, x(row.paper), y, 5.5, "open"))
        parts.append(spot(words_of_row, content))
    return drawing(f"{block.title}: {block.x_label}", width, bottom + 50, parts)

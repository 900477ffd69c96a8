"""The picture of a schema: types of nodes in layers by their distance from the first one, on a phone in one column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from markupsafe import Markup

from .._page import Schema, SchemaRelation, SchemaType
from .._words import counted
from ._charts import NARROW, WIDE
from ._labels import Box
from ._scales import cut, text_width
from ._svg import FONT, NO_VALUES, both, drawing, joined, spot, tag, text

HEIGHT, STEP = 46.0, 92.0  # of a box, and from one to the next below
MARGIN = 30.0
LOOP = 22.0  # the height of the loop of a relation within a type
MOST_ORDERS = 6  # types of a layer of which all orders are tried
PLACES = (0.5, 0.6, 0.4, 0.68, 0.32, 0.76, 0.24)  # of a name on its line

Point = tuple[float, float]


@dataclass(frozen=True)
class Course:
    """The line of a relation, a cubic curve by its four points, and what is written on it."""

    points: tuple[Point, Point, Point, Point]
    name: str
    full: str
    room: float

    def at(self, share: float) -> Point:
        a, b, c, d = ((1 - share) ** 3, 3 * share * (1 - share) ** 2, 3 * share**2 * (1 - share), share**3)
        (ax, ay), (bx, by), (cx, cy), (dx, dy) = self.points
        return a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy

    @property
    def path(self) -> str:
        start, first, second, end = (f"{x:.1f} {y:.1f}" for x, y in self.points)
        return f"M{start}C{first} {second} {end}"


def schema(block: Schema) -> Markup:
    """Boxes of types and lines of relations, with a name on each line."""
    if not block.types:
        return NO_VALUES
    return both(lambda narrow: _narrow(block) if narrow else _wide(block))


def layers(types: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Types by how many relations they are away from the first one, or from the first of those not joined to it.

    Those of a layer are in an order in which related ones are near each other.
    """
    near: dict[str, list[str]] = {name: [] for name in types}
    for one, other in pairs:
        near[one].append(other)
        near[other].append(one)
    found: list[list[str]] = []
    seen: set[str] = set()
    for start in types:  # the first type, and then those that no relation joins to it
        layer = [start] if start not in seen else []
        depth = 0
        while layer:
            found += [[]] * (depth == len(found))
            found[depth] = [*found[depth], *layer]
            seen |= {*layer}
            reached = {other for name in layer for other in near[name]} - seen
            layer, depth = [name for name in types if name in reached], depth + 1
    place: dict[str, float] = {}
    for number, layer in enumerate(found):
        found[number] = _ordered(layer, near, place)
        place |= _heights(found[number])
    return found


def _heights(layer: Sequence[str]) -> dict[str, float]:
    """Places in a layer, whose middle is 0."""
    return {name: number - (len(layer) - 1) / 2 for number, name in enumerate(layer)}


def _ordered(layer: list[str], near: dict[str, list[str]], place: dict[str, float]) -> list[str]:
    if len(layer) > MOST_ORDERS:
        known = {name: [place[other] for other in near[name] if other in place] or [0.0] for name in layer}
        return sorted(layer, key=lambda name: sum(known[name]) / len(known[name]))

    def length(order: Iterable[str]) -> float:
        order = list(order)
        heights = {**place, **_heights(order)}
        return sum(abs(heights[name] - heights[other]) for name in order for other in near[name] if other in heights)

    return list(min(permutations(layer), key=length))


def _wide(block: Schema) -> Markup:
    found = layers([kind.name for kind in block.types], _pairs(block))
    width = min(max(_box_width(kind) for kind in block.types), WIDE / len(found) - 30)
    rows = max(map(len, found))
    gap = (WIDE - width * len(found)) / max(len(found) - 1, 1) if len(found) > 1 else 0.0
    gap = min(gap, 330.0)
    left = (WIDE - width * len(found) - gap * (len(found) - 1)) / 2
    boxes = {}
    for column, layer in enumerate(found):
        for name, height in _heights(layer).items():
            x, y = left + column * (width + gap), MARGIN + STEP * (height + (rows - 1) / 2)
            boxes[name] = Box(x, y, x + width, y + HEIGHT)
    bottom = MARGIN + STEP * (rows - 1) + HEIGHT + 8
    return _drawn(block, boxes, _courses(block, found, boxes, gap), WIDE, bottom)


def _narrow(block: Schema) -> Markup:
    """All types in one column, with lines that leave and enter it at the right."""
    order = [name for layer in layers([kind.name for kind in block.types], _pairs(block)) for name in layer]
    width = min(max(_box_width(kind) for kind in block.types), 150.0)
    step = 74.0
    boxes = {
        name: Box(0, MARGIN + step * number, width, MARGIN + step * number + HEIGHT)
        for number, name in enumerate(order)
    }
    place = {name: number for number, name in enumerate(order)}
    spans = {relation: abs(place[relation.source] - place[relation.target]) for relation in _between(block)}
    courses: list[Course] = []
    exits = dict.fromkeys(order, 0)
    for number, relation in enumerate(sorted(spans, key=lambda relation: spans[relation])):
        ends = []
        for name in (relation.source, relation.target):
            ends.append((width, boxes[name].top + 10 + 6.5 * (exits[name] % 5)))
            exits[name] += 1
        reach = width + (NARROW - width) * (0.3 + 0.7 * (number + 1) / len(spans)) * 0.95
        points = (ends[0], (reach, ends[0][1]), (reach, ends[1][1]), ends[1])
        courses.append(_course(relation, points, NARROW - width - 20))
    return _drawn(block, boxes, courses, NARROW, MARGIN + step * (len(order) - 1) + HEIGHT + 8)


def _pairs(block: Schema) -> list[tuple[str, str]]:
    return [(relation.source, relation.target) for relation in _between(block)]


def _between(block: Schema) -> list[SchemaRelation]:
    return [relation for relation in block.relations if relation.source != relation.target]


def _box_width(kind: SchemaType) -> float:
    return max(24 + max(text_width(kind.name, FONT) * 1.08, text_width(f"{kind.count:,}", FONT)), 84.0)


def _course(relation: SchemaRelation, points: tuple[Point, Point, Point, Point], room: float) -> Course:
    full = f"{relation.source}-{relation.name}-{relation.target}: {counted(relation.count, 'link')}"
    return Course(points, f"{relation.name} {relation.count:,}", full, room)


def _courses(block: Schema, found: list[list[str]], boxes: dict[str, Box], gap: float) -> list[Course]:
    """Lines between layers from side to side, and within one from box to box below, or around those between."""
    column = {name: number for number, layer in enumerate(found) for name in layer}
    row = {name: number for layer in found for number, name in enumerate(layer)}
    groups: dict[frozenset[str], list[SchemaRelation]] = {}
    for relation in _between(block):
        groups.setdefault(frozenset((relation.source, relation.target)), []).append(relation)
    courses = []
    for pair, relations in groups.items():
        one, other = sorted(pair, key=lambda name: (column[name], row[name]))
        a, b = boxes[one], boxes[other]
        for number, relation in enumerate(relations):
            shift = (number - (len(relations) - 1) / 2) * min(18.0, (HEIGHT - 8) / len(relations))
            from_a, from_b = (a.top + HEIGHT / 2 + shift, b.top + HEIGHT / 2 + shift)
            points: tuple[Point, Point, Point, Point]
            if column[one] != column[other]:
                bend = gap * 0.4
                points = (a.right, from_a), (a.right + bend, from_a), (b.left - bend, from_b), (b.left, from_b)
                room = gap * 0.8
            elif row[other] - row[one] == 1:
                x = (a.left + a.right) / 2 + 3 * shift
                points = (x, a.bottom), (x, a.bottom + 8), (x, b.top - 8), (x, b.top)
                room = a.right - a.left + 40
            else:
                inward = 0 < column[one] == len(found) - 1
                side = a.left if inward else a.right
                reach = side + (20 + 14 * (row[other] - row[one]) + shift) * (-1 if inward else 1)
                points = (side, from_a), (reach, from_a), (reach, from_b), (side, from_b)
                room = gap * 0.6 or 120.0
            courses.append(_course(relation, points, room))
    return courses


def _drawn(block: Schema, boxes: dict[str, Box], courses: list[Course], width: float, height: float) -> Markup:
    """Lines, then boxes, then names, each where it covers neither a box nor another name if there is such a place."""
    taken = list(boxes.values())
    lines, names = [], []
    for kind in block.types:
        loops = [one for one in block.relations if one.source == one.target == kind.name]
        if loops:
            loop, words, place = _loop(loops, boxes[kind.name], width)
            lines.append(loop)
            names.append(words)
            taken.append(place)
    for course in sorted(courses, key=lambda course: -len(course.name)):
        name = cut(course.name, course.room, FONT)
        half = text_width(name, FONT) / 2
        tries = []
        for share in PLACES:
            x, y = course.at(share)
            x = min(max(x, half), width - half)
            tries.append(Box(x - half, y - 8, x + half, y + 8))
        box = next((box for box in tries if not any(box.meets(other) for other in taken)), tries[0])
        taken.append(box)
        lines.append(spot(course.full, (_line(course.path),)))
        names.append(text(name, (box.left + box.right) / 2, box.bottom - 3.5, "name quiet", "middle", course.full))
    shapes = [_box(kind, boxes[kind.name]) for kind in block.types]
    about = f"{block.title}: {counted(len(block.types), 'type')}, {counted(len(block.relations), 'relation')}"
    return drawing(about, width, height, [*lines, *shapes, *names])


def _line(path: str) -> Markup:
    return joined((tag("path", _class="target reach", d=path), tag("path", _class="tie", d=path)))


def _loop(relations: Sequence[SchemaRelation], box: Box, width: float) -> tuple[Markup, Markup, Box]:
    """A loop on top of a box for all relations within its type, and their names beside it."""
    start, end, top = box.left + 14, box.left + 38, box.top - LOOP
    points = (start, box.top), (start, top), (end, top), (end, box.top)
    courses = [_course(relation, points, width) for relation in relations]
    full = "; ".join(course.full for course in courses)
    name = cut(", ".join(course.name for course in courses), width - end - 4, FONT)
    place = Box(end + 3, box.top - 20, end + 3 + text_width(name, FONT), box.top - 3)
    words = text(name, place.left, place.bottom - 4, "name quiet", full=full)
    return spot(full, (_line(courses[0].path),)), words, place


def _box(kind: SchemaType, box: Box) -> Markup:
    strong = " strong" if kind.highlight else ""
    middle, room = (box.left + box.right) / 2, box.right - box.left - 8
    shape = tag(
        "rect", _class=f"target kind{strong}", x=box.left, y=box.top, width=box.right - box.left, height=HEIGHT, rx=7.0
    )
    rows = ", the rows of the table" if kind.highlight else ""
    return spot(
        f"{kind.name}: {counted(kind.count, 'node')}{rows}",
        (
            shape,
            text(cut(kind.name, room, FONT * 1.05), middle, box.top + 19, f"title{strong}", "middle", kind.name),
            text(f"{kind.count:,}", middle, box.top + 36, "tick", "middle"),
        ),
    )

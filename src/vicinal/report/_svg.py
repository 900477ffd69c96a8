"""Elements of inline SVG. Colours are left to the style sheet, which knows light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from .._words import short_number
from ._scales import Scale, is_drawable

FONT = 13.0
NO_VALUES = Markup('<p class="nothing">There are no values to draw.</p>')

N_COLOURS = 7  # of the style sheet; the first one is for what is highlighted
_STAR = [(math.sin(math.pi * i / 5), -math.cos(math.pi * i / 5)) for i in range(10)]
_PLUS = [(1, 3), (1, 1), (3, 1), (3, -1), (1, -1), (1, -3), (-1, -3), (-1, -1), (-3, -1), (-3, 1), (-1, 1), (-1, 3)]
SHAPES: dict[str, list[tuple[float, float]]] = {
    "circle": [],
    "square": [(-0.87, -0.87), (0.87, -0.87), (0.87, 0.87), (-0.87, 0.87)],
    "triangle": [(0, -1.15), (1.1, 0.8), (-1.1, 0.8)],
    "diamond": [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
    "wedge": [(0, 1.15), (1.1, -0.8), (-1.1, -0.8)],
    "plus": [(x * 0.4, y * 0.4) for x, y in _PLUS],
    "cross": [((x - y) * 0.29, (x + y) * 0.29) for x, y in _PLUS],
    "star": [(x * (1.35 if i % 2 == 0 else 0.6), y * (1.35 if i % 2 == 0 else 0.6)) for i, (x, y) in enumerate(_STAR)],
}


@dataclass(frozen=True)
class Look:
    """A colour of the style sheet and a shape; the pair repeats after 56 looks only."""

    colour: int
    shape: str

    @classmethod
    def number(cls, index: int) -> Look:
        return cls(index % N_COLOURS, list(SHAPES)[index % len(SHAPES)])


PLAIN = Look(N_COLOURS, "circle")  # the colour after the last one is grey
OURS = Look(0, "circle")
PAPER = Look(N_COLOURS, "diamond")


def other_look(index: int) -> Look:
    """A look for what is not highlighted."""
    return Look(1 + index % (N_COLOURS - 1), list(SHAPES)[(1 + index) % len(SHAPES)])


def outline(shape: str, x: float, y: float, radius: float) -> str:
    """The path of a marker."""
    if shape == "circle":
        return (
            f"M{x - radius:.1f} {y:.1f}a{radius} {radius} 0 1 0 {2 * radius} 0a{radius} {radius} 0 1 0 {-2 * radius} 0z"
        )
    corners = [f"{x + radius * across:.1f} {y + radius * down:.1f}" for across, down in SHAPES[shape]]
    return f"M{'L'.join(corners)}z"


def tag(name: str, content: Any = "", /, **attributes: Any) -> Markup:
    """An element; numbers are rounded to tenths of a pixel, `_` in names stands for `-`, and a leading `_` is cut."""
    parts = [name]
    for key, value in attributes.items():
        if isinstance(value, float):
            value = f"{value:.1f}"
        parts.append(f'{key.lstrip("_").replace("_", "-")}="{escape(str(value))}"')
    return Markup(f"<{' '.join(parts)}>{escape(content)}</{name}>")


def joined(parts: Iterable[Any]) -> Markup:
    return Markup("").join(parts)


def marker(look: Look, x: float, y: float, radius: float, kind: str = "marker") -> Markup:
    return tag("path", _class=f"{kind} k{look.colour}", d=outline(look.shape, x, y, radius))


def text(content: str, x: float, y: float, kind: str = "tick", anchor: str = "start", full: str = "") -> Markup:
    """A text; where it was cut short, `full` is the whole of it, shown as a tip."""
    whole = tag("title", full) if content.endswith("…") and full else Markup("")
    return tag("text", whole + content, _class=kind, x=x, y=y, text_anchor=anchor)


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return tag("path", _class=kind, d=f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")


def spot(words: str, content: Iterable[Any]) -> Markup:
    """A part of a chart that can be focused and says what it shows."""
    inside = joined((tag("title", words), *content))
    return tag("g", inside, _class="spot", tabindex="0", role="img", aria_label=words)


def key_entry(sign: Markup, words: str) -> Markup:
    """A sign, drawn within 16 x 16, and what it stands for."""
    picture = tag("svg", sign, _class="swatch", viewBox="0 0 16 16", aria_hidden="true")
    return tag("li", joined((picture, words)))


def key(entries: Sequence[Markup]) -> Markup:
    return tag("ul", joined(entries), _class="key") if entries else Markup("")


def both(draw: Callable[[bool], Markup]) -> Markup:
    """The wide and the narrow drawing; the style sheet shows the one that fits."""
    return tag("div", draw(False), _class="wide") + tag("div", draw(True), _class="narrow")


def drawing(name: str, width: float, height: float, parts: Iterable[Any]) -> Markup:
    box = f"0 0 {width:.0f} {height:.0f}"
    return tag("svg", joined(parts), _class="chart", viewBox=box, role="group", aria_label=name)


def not_drawn(labels: Sequence[str]) -> Markup:
    names = ", ".join(labels[:12]) + (f" and {len(labels) - 12} more" if len(labels) > 12 else "")
    return tag("p", f"Without a value, and so not drawn: {names}.", _class="aside") if labels else Markup("")


def interval(low: float | None, high: float | None, write: Callable[[float], str] = short_number) -> str:
    return f" ({write(low)} to {write(high)})" if is_drawable(low) and is_drawable(high) else ""


def interval_bar(value: float | None, low: float | None, high: float | None, scale: Scale) -> Markup:
    """A dot and whisker for a cell of a table, on the scale of its column."""
    parts = [line("track", scale.start, 8, scale.end, 8)]
    if is_drawable(low) and is_drawable(high):
        parts.append(line("whisker", scale(low), 8, scale(high), 8))
    if is_drawable(value):
        parts.append(tag("circle", _class="dot", cx=scale(value), cy=8, r=3.2))
    return tag("svg", joined(parts), _class="bar", viewBox="0 0 90 16", aria_hidden="true")

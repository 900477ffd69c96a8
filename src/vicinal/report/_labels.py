"""Where labels go so that they cover neither each other nor what they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

SIDES: tuple[tuple[float, float], ...] = ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))
DIRECTIONS = (*SIDES, (0.8, -1), (-0.8, -1), (0.8, 1), (-0.8, 1))
DISTANCES = (10, 16, 26, 38, 52)


@dataclass(frozen=True)
class Box:
    """A rectangle by its edges."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


def beside(x: float, y: float, width: float, height: float, direction: tuple[float, float], distance: float) -> Box:
    """The box of a label of that size, in a direction and at a distance from a point."""
    across, down = direction
    step = distance * (0.7 if across and down else 1)
    left = x + across * step - width * (1 - across) / 2
    top = y + down * step - height * (1 - down) / 2
    if abs(across) == abs(down):  # diagonal labels hang by the middle of their side, nearer to the point
        top -= down * height * 0.25
    return Box(left, top, left + width, top + height)


def place(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    bounds: Box,
    *,
    never: Sequence[Box],
    rather_not: Sequence[Box] = (),
) -> list[Box | None]:
    """A place for each label, first come, first served; None where all would cover a label or a box of `never`."""
    taken = list(never)
    placed: list[Box | None] = []
    for (x, y), (width, height) in zip(points, sizes, strict=True):
        tries = [beside(x, y, width, height, way, far) for far in DISTANCES for way in DIRECTIONS]
        free = [box for box in tries if box.within(bounds) and not any(box.meets(other) for other in taken)]
        clear = (box for box in free if not any(box.meets(other) for other in rather_not))
        box = next(clear, free[0] if free else None)
        placed.append(box)
        if box is not None:
            taken.append(box)
    return placed


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as possible so that they are `gap` apart and, if there is room, within the bounds."""
    order = np.argsort(places, kind="stable")
    offsets = gap * np.arange(len(places))
    eased = isotonic_regression(np.asarray(places, float)[order] - offsets)
    eased = np.clip(eased, low, max(low, high - gap * (len(places) - 1))) + offsets
    moved = np.empty(len(places))
    moved[order] = eased
    return moved.tolist()

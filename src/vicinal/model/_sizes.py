"""Parts of a local model on many rows: which rows weigh them, which are worth their price, and how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._family import Settings
from ._trials import Fold, Problem, folds_of

if TYPE_CHECKING:
    from ._choosing import Choice

MOST_ROWS = 20_000  # that choosing looks at; where there are more, some are held back to weigh the parts by
ENOUGH_HELD_BACK, MOST_HELD_BACK = 4000, 0.1  # rows; a share of them
LEAST_SHARE = 0.1  # of the blend, that a part is worth on many rows
LARGER, SMALLER = 4.0, 0.15  # times as many groups as usual, or trees, rounds and groups
GROWTH = 1.2  # how much longer a row takes among many than among some
MOST_BYTES = 4e8  # of the codes of one part's rows, and of all trees
NODES_PER_ROW, BYTES_PER_NODE = 0.25, 64  # of extremely randomised trees; beside a number for each class
SIZES = ("n_groups", "n_trees", "max_iter")


def held_back(problem: Problem, rng: np.random.RandomState) -> Fold | None:
    """Where there are many rows, most of them, and some to weigh the parts by."""
    n_rows = len(problem.targets)
    if n_rows <= MOST_ROWS:
        return None
    return folds_of(problem, max(round(1 / MOST_HELD_BACK), n_rows // ENOUGH_HELD_BACK), rng)[0]


def sized(choice: Choice, problem: Problem, seconds: float, n_threads: int) -> list[Settings]:
    """The parts that count on all these rows, as large as time and memory allow."""
    n_rows = len(problem.targets)
    worth = choice.shares >= min(LEAST_SHARE, choice.shares.max())
    parts = [part for part, kept in zip(choice.parts, worth, strict=True) if kept]
    needed = GROWTH * n_rows / n_threads * float(np.sum(np.asarray(choice.seconds)[worth]))
    factor = min(LARGER, max(SMALLER, seconds / max(needed, 1e-9)))
    return [{**part, **_size(part, problem, factor, parts)} for part in parts]


def _size(settings: Settings, problem: Problem, factor: float, parts: list[Settings]) -> dict[str, Any]:
    n_rows, found = len(problem.targets), {}
    for name in (name for name in SIZES if name in settings):
        most: float = settings[name] * (factor if name == "n_groups" else min(1.0, factor))
        if name == "n_groups":
            most = min(most, MOST_BYTES / (3 * n_rows * settings["n_neighbors"]))
        if name == "n_trees":
            grown = sum("n_trees" in part for part in parts)
            per_tree = NODES_PER_ROW * n_rows * (BYTES_PER_NODE + 8 * max(1, problem.n_classes))
            most = min(most, MOST_BYTES / (grown * per_tree))
        found[name] = max(20, int(most))
    return found

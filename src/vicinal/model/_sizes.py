"""Parts of a local model on many rows: which rows weigh them, which are worth their price, and how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._family import Settings
from ._trials import Fold, Problem, folds_of

if TYPE_CHECKING:
    from ._choosing import Choice

MOST_ROWS = 20_000  # that choosing looks at; where there are more, some are held back to weigh the parts by
ENOUGH_HELD_BACK, MOST_HELD_BACK = 4000, 0.1  # rows; a share of them
LEAST_SHARE = 0.1  # of the blend, that a part is worth on many rows
MORE_GROUPS = 2.5  # times as many as usual, on many rows
SMALLEST = 0.15  # share of the sizes that is left where time is short
GROWTH = 1.2  # how much longer a row takes among many than among some
MOST_BYTES = 4e8  # of the codes of one part's rows, and of all trees
NODES_PER_ROW, BYTES_PER_NODE = 0.25, 64  # of extremely randomised trees; beside a number for each class
SIZES = ("n_groups", "n_trees", "max_iter")
LEAST = 20  # of each


def held_back(problem: Problem, rng: np.random.RandomState) -> Fold | None:
    """Where there are many rows, most of them, and some to weigh the parts by."""
    n_rows = len(problem.targets)
    if n_rows <= MOST_ROWS:
        return None
    return folds_of(problem, max(round(1 / MOST_HELD_BACK), n_rows // ENOUGH_HELD_BACK), rng)[0]


def sized(choice: Choice, problem: Problem, seconds: float, n_threads: int) -> list[Settings]:
    """The parts that count on all these rows, as large as memory allows, and smaller where time is short."""
    worth = np.flatnonzero(choice.shares >= min(LEAST_SHARE, choice.shares.max()))
    usual = [choice.parts[place] for place in worth]
    parts = [{**part, **_largest(part, problem, usual)} for part in usual]
    per_row = sum(
        choice.seconds[place]
        * max((part[name] / choice.parts[place][name] for name in SIZES if name in part), default=1)
        for place, part in zip(worth, parts, strict=True)
    )
    needed = GROWTH * len(problem.targets) / n_threads * per_row
    if needed <= seconds:
        return parts
    share = max(SMALLEST, seconds / needed)
    return [{**part, **{name: max(LEAST, int(share * part[name])) for name in SIZES if name in part}} for part in parts]


def _largest(settings: Settings, problem: Problem, parts: list[Settings]) -> dict[str, int]:
    """Groups and trees that fit into memory; groups are more than usual, since many rows can tell them apart."""
    n_rows = len(problem.targets)
    if "n_groups" in settings:
        most = MOST_BYTES / (3 * n_rows * settings["n_neighbors"])
        return {"n_groups": max(LEAST, int(min(MORE_GROUPS * settings["n_groups"], most)))}
    if "n_trees" in settings:
        per_tree = NODES_PER_ROW * n_rows * (BYTES_PER_NODE + 8 * max(1, problem.n_classes))
        most = MOST_BYTES / (per_tree * sum("n_trees" in part for part in parts))
        return {"n_trees": max(LEAST, int(min(settings["n_trees"], most)))}
    return {}

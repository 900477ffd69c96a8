"""Parts on many rows: those that are worth it, as large as time and memory allow."""

import numpy as np
import pytest

from vicinal.model._blend import Blend
from vicinal.model._choosing import Choice
from vicinal.model._family import completed
from vicinal.model._sizes import MOST_BYTES, held_back, sized
from vicinal.model._trials import Problem


def problem(n_rows, n_classes=3):
    rng = np.random.default_rng(0)
    return Problem(np.zeros((n_rows, 1), np.float32), rng.integers(n_classes, size=n_rows), np.ones(n_rows), n_classes)


def choice(kinds, seconds, shares):
    parts = [completed({"part": kind}) for kind in kinds]
    return Choice(parts, Blend(np.ones(len(kinds)), np.zeros(1)), 0.5, 0.9, seconds, np.array(shares))


@pytest.mark.parametrize(("n_rows", "share"), [(20_000, 0), (21_000, 0.1), (60_000, 1 / 15), (400_000, 0.01)])
def test_few_of_many_rows_are_held_back(n_rows, share):
    found = held_back(problem(n_rows), np.random.RandomState(0))
    if not share:
        assert found is None
        return
    learned, unseen = found
    assert len(learned) + len(unseen) == n_rows
    assert not np.intersect1d(learned, unseen).size
    assert len(unseen) == pytest.approx(share * n_rows, abs=3)


def test_parts_that_count_little_are_left_out():
    found = sized(choice(["local", "forest", "columns"], [1e-5] * 3, [0.85, 0.1, 0.05]), problem(30_000), 100, 2)
    assert [part["part"] for part in found] == ["local", "forest"]
    alone = sized(choice(["local", "forest"], [1e-5] * 2, [0.05, 0.05]), problem(30_000), 100, 2)
    assert len(alone) == 2


def test_parts_are_as_large_as_time_allows():
    given = choice(["local", "forest"], [1e-4, 1e-4], [0.5, 0.5])
    local, forest = sized(given, problem(21_000), 1e6, 2)
    assert (local["n_groups"], forest["n_trees"]) == (375, 150)
    needed = 1.2 * 21_000 / 2 * (2.5e-4 + 1e-4)
    assert sized(given, problem(21_000), 1.01 * needed, 2) == [local, forest]  # whatever the clock says
    local, forest = sized(given, problem(21_000), needed / 3, 2)
    assert (local["n_groups"], forest["n_trees"]) == (125, 50)
    local, forest = sized(given, problem(21_000), 0.0, 2)
    assert (local["n_groups"], forest["n_trees"]) == (56, 22)


def test_memory_is_kept_to():
    n_rows = 3_000_000
    local, forest, leaves = sized(
        choice(["local", "forest", "leaves"], [1e-9] * 3, [0.4, 0.3, 0.3]), problem(n_rows), 1e9, 2
    )
    assert 3 * n_rows * local["n_groups"] * local["n_neighbors"] <= max(MOST_BYTES, 3 * n_rows * 20 * 10)
    assert forest["n_trees"] == leaves["n_trees"] == 20

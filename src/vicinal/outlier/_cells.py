"""Cells of fitted groups of anchors: how many training rows are in each, how far they are from its anchor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._anchors import cell_sums, fitted_groups, nearest_blocks
from .._validation import Matrix
from ..local import RandLocal

LEAST_USUAL = 1e-3  # of the group's mean distance: copies of a row make no other row infinitely far
REPEAT = 1e-6  # of the group's mean distance: less is none
FLOOR = 1e-4  # of a group's mean distance, where distances are compared by their logarithms


@dataclass(frozen=True)
class Surroundings:
    """Of each row, the mean logarithm of its distances from nearest anchors, as shares of the groups' mean; and the
    share of nearest anchors that rows are equal to."""

    widths: NDArray[np.float64]
    repeated: float


@dataclass(frozen=True)
class Cells:
    """A fitted RandLocal, and of each of its anchors what it says of a row that is nearest to it.

    ``emptiness`` is minus the logarithm of the share of training rows in the cell, ``nearness`` one over their usual
    distance from the anchor; what is None is not asked for.
    """

    anchors: RandLocal
    emptiness: NDArray[np.float64] | None
    nearness: NDArray[np.float64] | None

    @classmethod
    def count(cls, anchors: RandLocal, X: Matrix) -> tuple[Cells, Surroundings]:
        """Counts the rows of each cell, and says what surrounds rows."""
        groups = fitted_groups(anchors)
        n_cells = int(groups.anchor_ptr[-1])
        group_means = np.where(anchors.mean_distances_ > 0, anchors.mean_distances_, 1.0)  # constant columns: any other
        rows, distances, widths, repeated = np.zeros(n_cells), np.zeros(n_cells), [], 0
        for nearest, far in nearest_blocks(groups, X, exclude_self=True, n_jobs=None):
            present = nearest >= 0
            rows += np.bincount(nearest[present], minlength=n_cells)
            distances += np.bincount(nearest[present], far[present], minlength=n_cells)
            repeated += int((present & (far <= REPEAT * group_means)).sum())
            logs = np.where(present, np.log(far / group_means + FLOOR), 0).sum(axis=1)
            widths.append(logs / np.maximum(present.sum(axis=1), 1))
        sizes = np.diff(groups.anchor_ptr)
        of_group = np.add.reduceat(rows, groups.anchor_ptr[:-1])
        # One row more in each group than there are, spread over its cells: a new row may be the first of its cell.
        share = (rows + np.repeat(1 / sizes, sizes)) / np.repeat(of_group + 1, sizes)
        means = np.repeat(group_means, sizes)
        usual = np.where(rows > 0, distances / np.maximum(rows, 1), means)
        return cls(anchors, -np.log(share), 1 / (usual + LEAST_USUAL * means)), Surroundings(
            np.concatenate(widths), repeated / max(rows.sum(), 1)
        )

    def scores(self, X: Matrix) -> NDArray[np.float64]:
        """Values, mass and relative distance of rows: means over groups, the higher the stranger.

        NaN for rows that have no anchor in any group, and 0 for what is not asked for.
        """
        sums = cell_sums(
            fitted_groups(self.anchors),
            X,
            self.anchors.mean_distances_,
            emptiness=self.emptiness,
            nearness=self.nearness,
            exclude_self=True,
            n_jobs=None,
        )
        n_groups = np.where(sums[:, 0] > 0, sums[:, 0], np.nan)
        return sums[:, 1:].T / n_groups

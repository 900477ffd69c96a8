"""Cells of fitted groups of anchors: how many training rows are in each, how far they are from its anchor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._anchors import cell_sums, fitted_groups, nearest_blocks
from .._validation import Matrix
from ..local import RandLocal

LEAST_USUAL = 1e-3  # of the group's mean distance: copies of a row make no other row infinitely far
REPEAT = 1e-6  # of the group's mean distance: less is none
FLOOR = 1e-4  # of a group's mean distance, where distances are compared by their logarithms
LEAST_RATIO = 0.05  # as in cell_scores.hpp: a row on its anchor is near, not infinitely near
USUAL_ROWS = 1024  # anchors that say what is usual in each group
MOST_LOCAL_WEIGHT = 0.85
SPREAD_ROWS = 4096  # by which differences within cells are measured
# Ramps between no weight of the relative score and all of it: over how different the widths of surroundings are (in
# logarithms, between quartiles), over how many times that exceeds the differences within cells, and down over the share
# of rows that lie on their anchors: where rows repeat, small distances say nothing.
SPREAD, COHERENCE, REPEATED = (1.15, 1.3), (3.9, 4.5), (0.02, 0.05)


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

    @property
    def names(self) -> tuple[str, ...]:
        """The scores that are asked for."""
        return ("relative",) if self.emptiness is None else ("values", "mass")

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

    def terms(self, X: Matrix) -> tuple[NDArray[np.integer], dict[str, NDArray[np.float64]]]:
        """What `scores` are the means of: each row's anchor in each group, counted over all groups, and its terms.

        Where the row has no anchor (-1), terms are NaN.
        """
        found = nearest_blocks(fitted_groups(self.anchors), X, exclude_self=True, n_jobs=None)
        nearest, far = map(np.concatenate, zip(*found, strict=True))
        missing = nearest < 0
        distances = np.where(missing, np.nan, far.astype(np.float64))
        means = self.anchors.mean_distances_
        shares = np.divide(distances, means, out=np.ones_like(distances), where=(means > 0) | missing)
        shares = np.where(shares > 1, 1 + np.log(np.maximum(shares, 1)), shares)
        terms = {}
        if self.emptiness is not None:
            terms["mass"] = np.where(missing, np.nan, self.emptiness[nearest])
            terms["values"] = np.where(distances == 0, 0.0, shares)
        if self.nearness is not None:
            terms["relative"] = np.log(distances * self.nearness[nearest] + LEAST_RATIO)
        return nearest, terms

    def usual_terms(self) -> dict[str, NDArray[np.float64]]:
        """The groups' mean terms over anchors, which are drawn from the training rows."""
        table = self.anchors.anchors_
        some = np.unique(np.linspace(0, table.shape[0] - 1, USUAL_ROWS).astype(int))
        _, terms = self.terms(table[some])
        counts = {name: (~np.isnan(term)).sum(axis=0) for name, term in terms.items()}
        return {name: np.nansum(term, axis=0) / np.maximum(counts[name], 1) for name, term in terms.items()}

    def divided(
        self, X: Matrix, amounts: Mapping[str, NDArray[np.float64]], usual: Mapping[str, NDArray[np.float64]]
    ) -> sp.csr_array:
        """Rows by cells: amounts of each row's scores, divided in proportion to how far terms exceed the usual ones.

        Where none does, each group has an equal part. A row without any anchor gets nothing.
        """
        nearest, terms = self.terms(X)
        present = nearest >= 0
        by_group = np.zeros(nearest.shape)
        for name in (name for name in self.names if name in amounts):
            excess = np.where(present, np.maximum(terms[name] - usual[name], 0), 0.0)
            excess = np.where(excess.sum(axis=1, keepdims=True) > 0, excess, present)
            by_group += amounts[name][:, None] * excess / np.maximum(excess.sum(axis=1, keepdims=True), 1e-300)
        indptr = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        shape = X.shape[0], int(fitted_groups(self.anchors).anchor_ptr[-1])
        return sp.csr_array((by_group[present], nearest[present], indptr), shape=shape)


def weight_of_relative(cells: Cells, surroundings: Surroundings, rows: Matrix) -> float:
    """What the relative score should count, by its cells and by what surrounds rows."""
    spread = float(np.subtract(*np.quantile(surroundings.widths, (0.75, 0.25))))
    if spread <= SPREAD[0] or surroundings.repeated >= REPEATED[1]:
        return 0.0
    some = rows[:: max(1, rows.shape[0] // SPREAD_ROWS)]
    within = float(np.nanstd(cells.scores(some)[2]))
    coherence = spread / within if within > 0 else 0.0
    ramps = np.interp(spread, SPREAD, (0, 1)) * np.interp(coherence, COHERENCE, (0, 1))
    return MOST_LOCAL_WEIGHT * float(ramps * np.interp(surroundings.repeated, REPEATED, (1, 0)))

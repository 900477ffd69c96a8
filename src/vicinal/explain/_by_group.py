"""Reasons of scores that groups of columns add up to, whatever made them: for detectors, which have no linear model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._groups import LocalGroups
from ._inputs import Inputs
from ._reasons import ColumnReason, GroupReason, Reasons

ROUNDING = 1e-12  # of a score: less is no part of it


def scores_by_column(group_scores: NDArray[np.floating] | sp.csr_array, groups: LocalGroups) -> NDArray[np.float64]:
    """Rows by groups to rows by columns: each score is divided equally among the columns of its group.

    Parameters
    ----------
    group_scores : ndarray or CSR array of shape (n_rows, n_groups)
        What each group adds to each row's score.
    groups : LocalGroups

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        They add up to what the groups' scores add up to.
    """
    by_column = group_scores @ groups.membership
    return by_column.toarray() if sp.issparse(by_column) else np.asarray(by_column)


def reasons_by_group(
    heading: str,
    group_scores: NDArray[np.floating],
    groups: LocalGroups,
    inputs: Inputs,
    *,
    column_scores: NDArray[np.floating] | None = None,
    normal: Callable[[int], str] | None = None,
    place: int = 0,
    n_groups: int = 5,
    n_columns: int = 8,
    note: str = "",
) -> Reasons:
    """Of one row: the groups that add most to its score, and the columns.

    Parameters
    ----------
    heading : str
        The sentence that comes first.
    group_scores : ndarray of shape (n_groups,)
    groups : LocalGroups
    inputs : Inputs
        Names of the columns, and the rows whose values are shown.
    column_scores : ndarray of shape (n_named_columns,), default=None
        The score by named columns, where it is known better than by equal parts: of scores that grow with distances,
        their sum times `column_shares`.
    normal : callable, default=None
        What a normal row has in a named column, as text.
    place : int
        The row's place in the inputs.
    n_groups, n_columns : int
        How many are shown.
    note : str
        What is said after the heading.
    """
    by_column = column_scores
    if by_column is None:
        by_column = inputs.summed(scores_by_column(group_scores[None], groups))[0]
    order = np.argsort(-abs(group_scores), kind="stable")[:n_groups]
    strongest = [
        GroupReason(f"group {group}", float(group_scores[group]), inputs.names_in(groups.columns(group)))
        for group in order
    ]
    n_counting = int((abs(by_column) > ROUNDING * abs(by_column).sum()).sum())
    top = np.argsort(-abs(by_column), kind="stable")[: min(n_columns, n_counting)]
    columns = [
        ColumnReason(
            inputs.names[j], inputs.text(place, j), float(by_column[j]), None, "" if normal is None else normal(j)
        )
        for j in top
    ]
    some = f" (the first {len(top)} of {n_counting:,})" if len(top) < n_counting else ""
    return Reasons(heading, columns, f"Columns{some}: their part of the score", groups=strongest, note=note)

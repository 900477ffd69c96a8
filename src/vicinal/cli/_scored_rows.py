"""Rows of a file with columns that a command adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._files import Table

MOST_COLUMNS = 1000  # of a matrix that are written


def rows_with(table: Table, more: Mapping[str, Any], *, first_row: int = 0) -> tuple[dict[str, Any], int]:
    """The table as its file has it, then `more`; and how many columns are left out, all of a very wide matrix.

    Names that are taken get an underscore. Where columns are left out and rows have no names, they have numbers.
    """
    if table.frame is not None:
        return _appended({name: table.frame[name] for name in table.frame.columns}, more), 0
    X: Any = table.X
    rows: dict[str, Any] = {"name": table.row_names} if table.row_names else {}
    is_wide = X.shape[1] > MOST_COLUMNS
    if not is_wide:
        dense = X.toarray() if sp.issparse(X) else np.asarray(X)
        rows = _appended(rows, dict(zip(table.names, dense.T, strict=True)))
    elif not rows:
        rows = {"row": np.arange(X.shape[0]) + first_row}
    if table.y is not None:
        rows = _appended(rows, {table.target: table.y})
    return _appended(rows, more), X.shape[1] if is_wide else 0


def _appended(columns: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Both, one after the other.

    >>> list(_appended({"size": 1, "score": 2}, {"score": 3, "outlier": 4}))
    ['size', 'score', 'score_', 'outlier']
    """
    joined = dict(columns)
    for name, values in more.items():
        while name in joined:
            name += "_"
        joined[name] = values
    return joined

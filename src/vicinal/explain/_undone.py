"""Rows as they were before a preparation, as far as that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from .._preparation import Unscaled
from .._validation import Matrix
from ._inputs import column_numbers


def undone(steps: Sequence[Any], rows: Matrix) -> Any | None:
    """Rows before the fitted steps: a matrix, of objects where there is text; None where a step cannot be undone.

    >>> from sklearn.preprocessing import StandardScaler
    >>> undone([StandardScaler().fit([[1.0], [3.0]])], np.array([[0.0], [2.0]])).ravel().tolist()
    [2.0, 4.0]
    """
    for step in reversed(steps):
        rows = _before(step, rows)
        if rows is None:
            return None
    return rows


def _before(step: Any, rows: Any) -> Any | None:
    if isinstance(step, str | Unscaled) or (isinstance(step, FunctionTransformer) and step.func is None):
        return rows
    if isinstance(step, SimpleImputer):
        return rows if rows.shape[1] == step.n_features_in_ else None
    if isinstance(step, Pipeline):
        return undone([inner for _, inner in step.steps], rows)
    if isinstance(step, ColumnTransformer):
        return _before_columns(step, rows)
    if isinstance(step, SelectorMixin) or not hasattr(step, "inverse_transform"):
        return None
    return step.inverse_transform(rows)


def _before_columns(step: ColumnTransformer, rows: Any) -> Any | None:
    dense = rows.toarray() if sp.issparse(rows) else rows
    names = list(getattr(step, "feature_names_in_", range(step.n_features_in_)))
    out = np.full((dense.shape[0], len(names)), None, dtype=object)
    for name, transformer, columns in step.transformers_:
        place = step.output_indices_[name]
        if place.start == place.stop:
            continue
        part = _before(transformer, dense[:, place])
        if part is None:
            return None
        out[:, column_numbers(columns, names)] = part
    return out

"""From a table as users have it to numbers: categories one-hot, numbers scaled, missing values kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from .._validation import Matrix

MAX_CATEGORIES = 50


def make_preparation(X: pl.DataFrame | Matrix) -> Any:
    """The transformer that turns tables like X into matrices of scaled numbers."""
    if sp.issparse(X):
        return MaxAbsScaler()
    if not isinstance(X, pl.DataFrame):
        return StandardScaler()
    numbers, categories = _kinds(X)
    one_hot = OneHotEncoder(
        max_categories=MAX_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float64
    )
    return ColumnTransformer([("numbers", StandardScaler(), numbers), ("categories", one_hot, categories)])


def check_table(X: pl.DataFrame | Matrix) -> Any:
    """X as the preparation takes it; infinite values are refused with their place."""
    if isinstance(X, pl.DataFrame):
        numbers, categories = _kinds(X)
        for name in numbers:
            infinite = np.isinf(X[name].cast(pl.Float64).to_numpy())
            if infinite.any():
                raise ValueError(
                    f"Column {name!r} has infinite values, the first in row {np.flatnonzero(infinite)[0] + 1}."
                )
        return X.select(
            *(pl.col(name).cast(pl.Float64) for name in numbers), *(pl.col(name).cast(pl.String) for name in categories)
        )
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("The matrix has infinite values.")
    if values.dtype.kind == "f":
        return X
    return X.astype(np.float32 if np.can_cast(values.dtype, np.float32) else np.float64)


def describe_columns(X: pl.DataFrame | Matrix) -> str:
    """What the preparation does, in words."""
    if sp.issparse(X):
        return f"{X.shape[1]} sparse columns scaled by their largest value"
    if not isinstance(X, pl.DataFrame):
        return f"{X.shape[1]} numeric columns standardised"
    numbers, categories = _kinds(X)
    parts = []
    if numbers:
        parts.append(f"{len(numbers)} numeric column{'s' * (len(numbers) != 1)} standardised")
    if categories:
        parts.append(f"{len(categories)} categorical column{'s' * (len(categories) != 1)} one-hot encoded")
    return ", ".join(parts)


def _kinds(X: pl.DataFrame) -> tuple[list[str], list[str]]:
    numbers, categories = [], []
    for name, dtype in X.schema.items():
        if dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null:
            numbers.append(name)
        elif dtype in (pl.String, pl.Categorical, pl.Enum):
            categories.append(name)
        else:
            raise ValueError(
                f"Column {name!r} is of type {dtype}; turn it into numbers or text, or leave it out with --drop."
            )
    return numbers, categories

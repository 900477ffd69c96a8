"""From tables as users have them to matrices of numbers: scales, categories, missing values.

A scale is one of `SCALES`:

- "none": numbers as they are;
- "standard": every column with mean 0 and deviation 1; sparse ones as "minmax", since centring would fill their zeros;
- "minmax": every column to [0, 1]; sparse ones divided by their largest value;
- "matrix": all values divided by one number, their range;
- "tfidf": counts of words weighted by how rare the words are, rows of unit length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from ._validation import Matrix, check_choice

Frame = Any  # a polars or pandas DataFrame; neither package is needed here

SCALES = ("none", "standard", "minmax", "matrix", "tfidf")
MAX_CATEGORIES = 50
_DONE = {
    "none": "as they are",
    "standard": "standardised",
    "minmax": "scaled to [0, 1]",
    "matrix": "all divided by their range",
    "tfidf": "weighted by TF-IDF",
}
_OF_FRAMES = {"standard": StandardScaler(), "minmax": MinMaxScaler(), "none": "passthrough"}  # cloned when fitted


def scaler(scale: str, X: Matrix) -> Any:
    """The transformer of that scale for matrices like X. Missing values stay, and CSR stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 30.0], [3.0, 10.0]])
    >>> scaler("minmax", X).fit_transform(X)
    array([[0., 1.],
           [1., 0.]])
    """
    check_choice("scale", scale, SCALES)
    if scale == "none":
        return Unscaled()
    if scale == "matrix":
        return RangeScaler()
    if scale == "tfidf":
        if (least := extremes(X)[0]) < 0:
            raise ValueError(f"TF-IDF is for counts, but the least value is {least:g}; take another scale.")
        return TfidfTransformer()
    if sp.issparse(X):
        return MaxAbsScaler()
    return StandardScaler() if scale == "standard" else MinMaxScaler()


def usual_scale(X: Matrix) -> str:
    """What "auto" stands for: TF-IDF for sparse counts, "none" for other sparse numbers, "standard" for tables."""
    if not sp.issparse(X):
        return "standard"
    return "tfidf" if X.data.min(initial=0) >= 0 and (X.data == np.floor(X.data)).all() else "none"


def describe_scale(scale: str, *, sparse: bool) -> str:
    """What has been done to columns of that scale."""
    return "divided by their largest value" if sparse and scale in ("standard", "minmax") else _DONE[scale]


class Unscaled(TransformerMixin, BaseEstimator):
    """Numbers as they are; whole numbers and truth values become single precision."""

    def fit(self, X: Matrix, y: Any = None) -> Unscaled:
        return self

    def transform(self, X: Matrix) -> Matrix:
        return X.astype(np.float32) if X.dtype.kind in "biu" else X

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RangeScaler(TransformerMixin, BaseEstimator):
    """Divides all values by their range in the fitted rows, 0 included."""

    def fit(self, X: Matrix, y: Any = None) -> RangeScaler:
        low, high = extremes(X)
        self.range_ = max(max(high, 0.0) - min(low, 0.0), 1e-12)
        return self

    def transform(self, X: Matrix) -> Matrix:
        X = Unscaled().transform(X)
        return (X / X.dtype.type(self.range_)).astype(X.dtype, copy=False)  # CSR would become double


def extremes(X: Matrix) -> tuple[float, float]:
    """Least and largest value; missing ones are left out."""
    low, high = (X.nanmin(), X.nanmax()) if sp.issparse(X) else (np.nanmin(X), np.nanmax(X))
    return float(low), float(high)


def has_missing(X: Matrix) -> bool:
    return bool(np.isnan(X.data if sp.issparse(X) else X).any())


def make_imputer() -> SimpleImputer:
    """Fills missing values with the medians of their columns, and columns without any value with 0."""
    return SimpleImputer(strategy="median", keep_empty_features=True)


def make_preparation(X: Frame | Matrix, scale: str = "standard") -> Any:
    """The transformer from tables like X to matrices: numbers scaled, categories one-hot.

    Parameters
    ----------
    X : DataFrame, ndarray or CSR matrix
        As `check_table` returns it.
    scale : {"standard", "minmax", "none"}, default="standard"
        What becomes of the numbers; matrices take all of `SCALES`.

    Returns
    -------
    transformer

    Examples
    --------
    >>> import pandas as pd
    >>> X = check_table(pd.DataFrame({"size": [1, 3], "colour": ["red", "blue"]}))
    >>> make_preparation(X).fit_transform(X)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """
    if not is_frame(X):
        return scaler(scale, X)
    check_choice("scale", scale, tuple(_OF_FRAMES))
    numbers, categories = _kinds(X)
    one_hot = OneHotEncoder(
        max_categories=MAX_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False, dtype=np.float64
    )
    return ColumnTransformer([("numbers", _OF_FRAMES[scale], numbers), ("categories", one_hot, categories)])


def check_table(X: Frame | Matrix) -> Any:
    """X with columns of floats and of text; infinite values and columns of other kinds are refused with their place."""
    if is_frame(X):
        X = _checked_polars(X) if _is_polars(X) else _checked_pandas(X)
        for name in _kinds(X)[0]:
            infinite = np.isinf(X[name].to_numpy())
            if infinite.any():
                row = np.flatnonzero(infinite)[0] + 1
                raise ValueError(f"Column {name!r} has infinite values, the first in row {row}.")
        return X
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError("The matrix has infinite values.")
    if values.dtype.kind == "f":
        return X
    return X.astype(np.float32 if np.can_cast(values.dtype, np.float32) else np.float64)


def describe_columns(X: Frame | Matrix, scale: str = "standard") -> str:
    """What the preparation does, in words."""
    if not is_frame(X):
        sparse = sp.issparse(X)
        return f"{X.shape[1]:,} {'sparse' if sparse else 'numeric'} columns {describe_scale(scale, sparse=sparse)}"
    numbers, categories = _kinds(X)
    parts = []
    if numbers:
        parts.append(f"{len(numbers)} numeric column{'s' * (len(numbers) != 1)} {_DONE[scale]}")
    if categories:
        parts.append(f"{len(categories)} categorical column{'s' * (len(categories) != 1)} one-hot encoded")
    return ", ".join(parts)


def categorical_columns(X: Frame) -> list[str]:
    """Names of a frame's columns that hold no numbers."""
    return [name for name in X.columns if not (_is_number_polars if _is_polars(X) else _is_number_pandas)(X[name])]


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def take_rows(X: Frame | Matrix, rows: Any) -> Any:
    """Some rows of a matrix or a frame, by their numbers."""
    return X.iloc[rows] if is_frame(X) and not _is_polars(X) else X[rows]


def _is_polars(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "polars"


def _kinds(X: Frame) -> tuple[list[str], list[str]]:
    """Names of the columns of numbers and of those of text; others are refused."""
    is_number, is_text = (_is_number_polars, _is_text_polars) if _is_polars(X) else (_is_number_pandas, _is_text_pandas)
    numbers, categories = [], []
    for name in X.columns:
        if is_number(X[name]):
            numbers.append(name)
        elif is_text(X[name]):
            categories.append(name)
        else:
            raise ValueError(
                f"Column {name!r} is of type {X[name].dtype}; turn it into numbers or text, or leave it out."
            )
    return numbers, categories


def _is_number_polars(column: Any) -> bool:
    return column.dtype.is_numeric() or str(column.dtype) in ("Boolean", "Null")


def _is_text_polars(column: Any) -> bool:
    return str(column.dtype).partition("(")[0] in ("String", "Categorical", "Enum")


def _checked_polars(X: Frame) -> Frame:
    import polars as pl

    numbers, categories = _kinds(X)
    return X.select(
        *(pl.col(name).cast(pl.Float64) for name in numbers), *(pl.col(name).cast(pl.String) for name in categories)
    )


def _is_number_pandas(column: Any) -> bool:
    """Of columns of objects the values say: without any, they are numbers that are all missing."""
    from pandas.api.types import infer_dtype, is_numeric_dtype, is_object_dtype

    if is_object_dtype(column.dtype):
        return infer_dtype(column, skipna=True) in ("boolean", "empty", "floating", "integer", "mixed-integer-float")
    return is_numeric_dtype(column.dtype) and getattr(column.dtype, "kind", "f") != "c"


def _is_text_pandas(column: Any) -> bool:
    from pandas.api.types import infer_dtype

    return str(column.dtype) == "category" or infer_dtype(column, skipna=True) == "string"


def _checked_pandas(X: Frame) -> Frame:
    X = X.set_axis([str(name) for name in X.columns], axis=1)
    if not X.columns.is_unique:
        raise ValueError(f"Two columns are named {X.columns[X.columns.duplicated()][0]!r}; rename one of them.")
    numbers, categories = _kinds(X)
    columns = {name: X[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in numbers}
    for name in categories:
        values = X[name].astype(object)
        columns[name] = values.map(str).where(X[name].notna(), None).to_numpy()
    return type(X)(columns, index=X.index)

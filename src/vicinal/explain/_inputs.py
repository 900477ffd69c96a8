"""Which column of the user's table each column that the map sees comes from, and what it is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from .._preparation import RangeScaler, Unscaled, is_frame
from .._validation import Matrix

_ONE_TO_ONE = (OneToOneFeatureMixin, RangeScaler, Unscaled)


@dataclass(frozen=True)
class Inputs:
    """Names of the columns that an explanation speaks of, and for each column of the map the number of its own.

    Where a step mixes columns, such as PCA, no column of the user's has a share of its own: then the names are those of
    the columns that the map sees, and `rows` has no values to show.
    """

    names: NDArray[np.object_]
    origins: NDArray[np.intp]
    rows: Any | None

    def summed(self, by_map_column: NDArray[np.float64]) -> NDArray[np.float64]:
        """The last axis over the map's columns becomes one over the named ones."""
        if np.array_equal(self.origins, np.arange(len(self.names))):
            return by_map_column
        n_columns = len(self.origins)
        join = sp.csr_array(
            (np.ones(n_columns), self.origins, np.arange(n_columns + 1)), shape=(n_columns, len(self.names))
        )
        return by_map_column @ join

    def taken(self, part: slice) -> Inputs:
        """The same of some rows."""
        if self.rows is None:
            return self
        return replace(self, rows=self.rows.iloc[part] if hasattr(self.rows, "iloc") else self.rows[part])

    def names_in(self, by_map_columns: NDArray[np.integer]) -> list[str]:
        """Names of the columns that some of the map's columns come from."""
        return self.names[np.unique(self.origins[by_map_columns])].tolist()

    def value(self, row: int, column: int) -> Any:
        """What the user's table holds there; None where it is missing or columns are mixed."""
        if self.rows is None:
            return None
        return _known(self.rows.iloc[row, column] if hasattr(self.rows, "iloc") else self.rows[row, int(column)])

    def text(self, row: int, column: int) -> str:
        """That value in few letters; "" where there is none."""
        return in_few_letters(self.value(row, column))

    def texts(self, row: int) -> list[str]:
        """The same of all columns."""
        if sp.issparse(self.rows):
            return texts_of(self.rows, row)
        return [self.text(row, column) for column in range(len(self.names))]


def _known(value: Any) -> Any:
    try:
        return None if value is None or value != value else value
    except TypeError:  # the NA of pandas, which is neither equal to itself nor not
        return None


def in_few_letters(value: Any) -> str:
    """A value as text; "" where it is missing.

    >>> in_few_letters(0.123456), in_few_letters(123456.7), in_few_letters("red"), in_few_letters(float("nan"))
    ('0.1235', '123457', 'red', '')
    """
    value = _known(value)
    if isinstance(value, float | np.floating):
        return f"{value:.0f}" if 1e4 <= abs(float(value)) < 1e9 else f"{value:.4g}"
    return "" if value is None else str(value)


def texts_of(matrix: Matrix, row: int) -> list[str]:
    """A row of a matrix as text."""
    values = matrix[[row]].toarray()[0] if sp.issparse(matrix) else matrix[row]
    return [in_few_letters(value) for value in values]


def inputs_of(before: Sequence[Any], first: Any, X: Any, n_columns: int, names: Sequence[Any] | None) -> Inputs:
    """Traces the columns through the steps before the map."""
    origins = np.arange(X.shape[1])
    for step in before:
        found = _origins(step, len(origins))
        if found is None:
            return Inputs(_mixed_names(step, n_columns, names), np.arange(n_columns), None)
        origins = origins[found]
    if n_columns > len(origins):  # ranks stand beside the values
        origins = np.tile(origins, n_columns // len(origins))
    return Inputs(_own_names(X, first, names), origins, X)


def names_of_map(
    before: Sequence[Any], local: Any, X: Any, n_columns: int, names: Sequence[Any] | None
) -> NDArray[np.object_]:
    """Names of the columns that the map sees, whatever is known of them."""
    if names is None:
        names = getattr(local, "feature_names_in_", None)
    if names is None and is_frame(X) and all(isinstance(step, _ONE_TO_ONE) for step in before):
        names = list(X.columns)
    if names is None and before and hasattr(before[-1], "get_feature_names_out"):
        names = [str(name).rpartition("__")[2] for name in before[-1].get_feature_names_out()]
    n_own = local.n_features_in_
    own = _checked_names([f"column {j}" for j in range(n_own)] if names is None else names, n_own)
    return own if n_own == n_columns else np.concatenate([own, own + " by rank"])


def _own_names(X: Any, first: Any, names: Sequence[Any] | None) -> NDArray[np.object_]:
    if names is not None:
        return _checked_names(names, X.shape[1])
    known = X.columns if is_frame(X) else getattr(first, "feature_names_in_", None)
    return np.array([f"column {j}" for j in range(X.shape[1])] if known is None else list(map(str, known)), object)


def _mixed_names(step: Any, n_columns: int, names: Sequence[Any] | None) -> NDArray[np.object_]:
    if names is not None:
        return _checked_names(names, n_columns)
    return np.array([f"{type(step).__name__} {j}" for j in range(n_columns)], object)


def _checked_names(names: Sequence[Any], n_columns: int) -> NDArray[np.object_]:
    if len(names) != n_columns:
        raise ValueError(f"column_names must name {n_columns} columns; {len(names)} names were given.")
    return np.array(list(map(str, names)), object)


def _origins(step: Any, n_columns: int) -> NDArray[np.intp] | None:
    """For each column that a fitted step puts out, the one that it takes it from; None where columns are mixed."""
    column_by_column = isinstance(step, FunctionTransformer) and (
        step.func is None or step.feature_names_out == "one-to-one"
    )
    if column_by_column or isinstance(step, (str, *_ONE_TO_ONE)):  # the text is "passthrough"
        return np.arange(n_columns)
    if isinstance(step, SelectorMixin):
        return step.get_support(indices=True)
    if isinstance(step, SimpleImputer) and not step.add_indicator:
        kept = ~np.isnan(step.statistics_) if step.statistics_.dtype.kind == "f" else np.ones(n_columns, bool)
        return np.flatnonzero(kept)
    if isinstance(step, OneHotEncoder):
        return np.repeat(np.arange(n_columns), _widths(step))
    if isinstance(step, Pipeline):
        origins: NDArray[np.intp] | None = np.arange(n_columns)
        for _, inner in step.steps:
            found = _origins(inner, len(origins)) if origins is not None else None
            origins = None if found is None or origins is None else origins[found]
        return origins
    return _origins_by_columns(step, n_columns) if isinstance(step, ColumnTransformer) else None


def _widths(encoder: OneHotEncoder) -> list[int]:
    """Columns that each column becomes: one per category, rare ones together in one, without those that are dropped."""
    sizes = [len(categories) for categories in encoder.categories_]
    for j, rare in enumerate(getattr(encoder, "infrequent_categories_", [])):
        sizes[j] -= len(rare) - 1 if rare is not None and len(rare) else 0
    if encoder.drop_idx_ is not None:
        sizes = [size - (dropped is not None) for size, dropped in zip(sizes, encoder.drop_idx_, strict=True)]
    return sizes


def _origins_by_columns(step: ColumnTransformer, n_columns: int) -> NDArray[np.intp] | None:
    names = list(getattr(step, "feature_names_in_", range(n_columns)))
    width = max((part.stop for part in step.output_indices_.values()), default=0)
    origins = np.full(width, -1)
    for name, transformer, columns in step.transformers_:
        place = step.output_indices_[name]
        if place.start == place.stop:
            continue
        taken = column_numbers(columns, names)
        found = _origins(transformer, len(taken))
        if found is None or len(found) != place.stop - place.start:
            return None
        origins[place] = taken[found]
    return origins


def column_numbers(columns: Any, names: list[Any]) -> NDArray[np.intp]:
    """The columns of a part of a ColumnTransformer: names, numbers, a slice or a mask."""
    everything = np.arange(len(names))
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice) and isinstance(columns.start or columns.stop, str):
        start = 0 if columns.start is None else names.index(columns.start)
        stop = len(names) if columns.stop is None else names.index(columns.stop) + 1
        return everything[start:stop]
    if not isinstance(columns, slice):
        columns = [names.index(column) if isinstance(column, str) else column for column in np.atleast_1d(columns)]
    return everything[columns]

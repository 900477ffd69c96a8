"""Views: groups of columns that describe the same rows, and how they can be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._preparation import is_frame

Columns = NDArray[np.intp]

_ONE_VIEW = "; give each column to one view, once, and leave others out of X."


def resolve_views(views: Any, n_columns: int, names: Sequence[str] | None = None) -> dict[str, Columns]:
    """The columns of each view by its name, in the order of the views.

    Parameters
    ----------
    views : None, sequence or mapping
        None for one view of all columns. One entry per view, in order or by name: how many columns it has, where views
        stand side by side, or which, as a slice, a list of their numbers or a list of their names.
    n_columns : int
    names : sequence of str, default=None
        Of the columns; None where they have none.
    """
    if views is None:
        return {"view1": np.arange(n_columns)}
    given = _by_name(views)
    if all(_is_number(entry) for entry in given.values()):
        return _side_by_side({view: int(entry) for view, entry in given.items()}, n_columns)
    found = {view: _columns(view, entry, n_columns, names) for view, entry in given.items()}
    _refuse_empty(found)
    owners: dict[int, str] = {}
    for view, columns in found.items():
        for column in columns.tolist():
            if column in owners:
                other = owners[column]
                both = f"view {view!r} has" if other == view else f"views {other!r} and {view!r} both have"
                raise ValueError(f"The {both} column {column} {'twice' * (other == view)}".rstrip() + _ONE_VIEW)
            owners[column] = view
    missing = [column for column in range(n_columns) if column not in owners]
    if missing:
        belong = "belongs" if len(missing) == 1 else "belong"
        raise ValueError(f"{_listed_columns(missing, names)} of X {belong} to no view{_ONE_VIEW}")
    return found


def named(views: Iterable[Any], names: Iterable[str] | None) -> dict[str, Any]:
    """Views by their names, which are view1, view2, ... unless they are given."""
    entries = list(views)
    labels = [f"view{place}" for place in range(1, len(entries) + 1)] if names is None else list(names)
    if len(labels) != len(entries):
        raise ValueError(f"There are {len(labels)} names for {len(entries)} views; give one for each.")
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise ValueError(f"Two views have the name {twice[0]!r}; give each its own.")
    if not entries:
        raise ValueError("There are no views; give at least one.")
    return dict(zip(labels, entries, strict=True))


def take_columns(X: Any, columns: Columns) -> Any:
    """Some columns of a matrix or a frame, by their numbers; all of them are X itself."""
    place = as_slice(columns)
    if isinstance(place, slice) and place == slice(0, X.shape[1]):
        return X
    return X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]


def as_slice(columns: Columns) -> slice | Columns:
    """The same columns, as a slice where they stand side by side."""
    if len(columns) and (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


def column_names(X: Any) -> list[str] | None:
    """Of a frame; None for what has none."""
    return list(X.columns) if is_frame(X) else None


def _by_name(views: Any) -> dict[str, Any]:
    if isinstance(views, str) or not isinstance(views, Mapping | Sequence | np.ndarray):
        raise ValueError(
            "views must be None, a list of the views' numbers of columns, or a list or mapping of each view's columns "
            f"(a slice, numbers or names); got {views!r}."
        )
    return named(views.values(), views) if isinstance(views, Mapping) else named(views, None)


def _side_by_side(sizes: dict[str, int], n_columns: int) -> dict[str, Columns]:
    total = sum(sizes.values())
    if min(sizes.values()) < 0 or (total != n_columns and min(sizes.values()) > 0):
        shown = " + ".join(map(str, sizes.values()))
        raise ValueError(
            f"views={list(sizes.values())} have {shown} = {total} columns, but X has {n_columns}; the views' numbers "
            "of columns must add up to all of them."
        )
    ends = np.cumsum([0, *sizes.values()])
    found = {view: np.arange(ends[k], ends[k + 1]) for k, view in enumerate(sizes)}
    _refuse_empty(found)
    return found


def _columns(view: str, entry: Any, n_columns: int, names: Sequence[str] | None) -> Columns:
    if isinstance(entry, slice) and all(
        part is None or _is_number(part) for part in (entry.start, entry.stop, entry.step)
    ):
        end = n_columns if entry.stop is None else entry.stop
        if end > n_columns:
            raise ValueError(f"View {view!r} goes to column {end - 1}, but X has columns 0 to {n_columns - 1} only.")
        return np.arange(*entry.indices(n_columns))
    values: list[Any] = list(entry) if hasattr(entry, "__len__") and not isinstance(entry, str | Mapping) else [None]
    if values and all(isinstance(value, str) for value in values):
        return _places_of_names(view, values, names)
    if not all(map(_is_number, values)):
        raise ValueError(
            f"View {view!r} must be a slice, a list of column numbers or a list of column names; got {entry!r}."
        )
    columns = np.array(values, dtype=np.intp)
    absent = columns[(columns < 0) | (columns >= n_columns)]
    if len(absent):
        raise ValueError(
            f"View {view!r} has column {absent[0]}, but X has {n_columns}; columns are 0 to {n_columns - 1}."
        )
    return columns


def _places_of_names(view: str, wanted: list[str], names: Sequence[str] | None) -> Columns:
    if names is None:
        raise ValueError(
            f"View {view!r} has columns by name, such as {wanted[0]!r}, but the columns of X have no names; give "
            "their numbers, or X as a data frame."
        )
    place = {str(name): number for number, name in enumerate(names)}
    absent = [name for name in wanted if name not in place]
    if absent:
        raise ValueError(f"View {view!r} has the column {absent[0]!r}, but X has no column of that name.")
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _refuse_empty(found: dict[str, Columns]) -> None:
    empty = [view for view, columns in found.items() if not len(columns)]
    if empty:
        raise ValueError(f"View {empty[0]!r} has no columns; leave it out, or give it one.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _listed_columns(missing: list[int], names: Sequence[str] | None) -> str:
    shown = [repr(names[column]) if names is not None else str(column) for column in missing[:3]]
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return f"Column{'s' * (len(missing) > 1)} {', '.join(shown)}{more}"

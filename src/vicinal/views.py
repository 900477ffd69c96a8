"""Several views of the same rows: one matrix with the columns of all of them, and which columns each view has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._preparation import is_frame
from ._views import as_slice, column_names, named, resolve_views, take_columns

__all__ = ["split_views", "stack_views", "views_by_prefix"]


def stack_views(
    views: Sequence[Any] | Mapping[str, Any], names: Sequence[str] | None = None
) -> tuple[Any, dict[str, slice]]:
    """Puts views side by side.

    Parameters
    ----------
    views : sequence of matrices, or mapping of str to matrix
        Arrays, sparse matrices, or pandas or polars frames, with a row for each thing that is described and any number
        of columns; rows of the same number, or name, describe the same thing.
    names : sequence of str, default=None
        Of the views; None for the names of a mapping, or view1, view2, ...

    Returns
    -------
    X : matrix of shape (n_rows, all columns)
        A frame if all views are of one kind of frame, CSR if one of them is sparse, an array otherwise. Where two
        views have a column of the same name, or names and numbers as names, all columns are named ``view_column``.
    views : dict of str to slice
        The columns of each view in X, for the parameter `views` of selectors.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.views import stack_views
    >>> X, views = stack_views({"text": np.zeros((4, 3)), "tags": np.ones((4, 2))})
    >>> X.shape, views
    ((4, 5), {'text': slice(0, 3, None), 'tags': slice(3, 5, None)})
    """
    if isinstance(views, Mapping):
        matrices = named(views.values(), list(views) if names is None else names)
    else:
        matrices = named(views, names)
    matrices = {name: _as_matrix(name, matrix) for name, matrix in matrices.items()}
    _refuse_other_rows(matrices)
    ends = np.cumsum([0, *(matrix.shape[1] for matrix in matrices.values())]).tolist()
    return _side_by_side(matrices), {name: slice(*ends[k : k + 2]) for k, name in enumerate(matrices)}


def split_views(X: Any, views: Any) -> dict[str, Any]:
    """Takes views apart that stand side by side.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_columns)
    views : None, sequence or mapping
        One entry per view, in order or by name: how many columns it has, if views stand side by side, or which, as a
        slice, a list of their numbers or a list of their names. None for one view.

    Returns
    -------
    dict of str to matrix

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.views import split_views
    >>> parts = split_views(np.arange(10).reshape(2, 5), {"text": [0, 2, 4], "tags": [1, 3]})
    >>> parts["tags"]
    array([[1, 3],
           [6, 8]])
    """
    X = _as_matrix("X", X)
    found = resolve_views(views, X.shape[1], column_names(X))
    return {name: take_columns(X, columns) for name, columns in found.items()}


def views_by_prefix(
    X: Any, prefixes: Sequence[str] | Mapping[str, str] | None = None, separator: str = "_"
) -> dict[str, slice | list[int]]:
    """Which columns of a frame belong to which view, by how their names begin.

    Parameters
    ----------
    X : pandas or polars frame
    prefixes : sequence of str, or mapping of view to str, default=None
        What the names of each view's columns begin with; of two that fit, the longer one counts. None for what stands
        before the first `separator`.
    separator : str, default="_"
        It ends a prefix, where no prefixes are given, and is left out of the names of views.

    Returns
    -------
    dict of str to slice or list of int
        The columns of each view, for the parameter `views` of selectors.

    Examples
    --------
    >>> import pandas as pd
    >>> from vicinal.views import views_by_prefix
    >>> X = pd.DataFrame([[1, 0, 2, 3]], columns=["w_ball", "t_sport", "w_goal", "w_team"])
    >>> views_by_prefix(X)
    {'w': [0, 2, 3], 't': slice(1, 2, None)}
    >>> views_by_prefix(X[["w_ball", "w_goal", "t_sport"]], {"words": "w_", "tags": "t_"})
    {'words': slice(0, 2, None), 'tags': slice(2, 3, None)}
    """
    names = column_names(X)
    if names is None:
        raise ValueError("Views by prefix need a pandas or polars frame, whose columns have names; got another X.")
    if prefixes is None:
        if not separator:
            raise ValueError("Without prefixes, a separator must say where they end; got an empty one.")
        starts = [str(name).partition(separator)[0] + separator for name in names]
        by_view = {start.removesuffix(separator): start for start in dict.fromkeys(starts)}
    elif isinstance(prefixes, Mapping):
        by_view = dict(prefixes)
    else:
        by_view = named(prefixes, [prefix.removesuffix(separator) or prefix for prefix in prefixes])
    found: dict[str, list[int]] = {view: [] for view in by_view}
    for place, name in enumerate(names):
        fitting = [view for view, prefix in by_view.items() if str(name).startswith(prefix)]
        if fitting:
            found[max(fitting, key=lambda view: len(by_view[view]))].append(place)
    for view, columns in found.items():
        if not columns:
            raise ValueError(f"No column of X has a name that begins with {by_view[view]!r}, for the view {view!r}.")
    resolved = resolve_views(found, len(names), [str(name) for name in names])
    places = {view: as_slice(columns) for view, columns in resolved.items()}
    return {view: place if isinstance(place, slice) else place.tolist() for view, place in places.items()}


def _as_matrix(name: str, matrix: Any) -> Any:
    found = matrix if sp.issparse(matrix) or is_frame(matrix) else np.asarray(matrix)
    if len(found.shape) != 2:
        raise ValueError(
            f"View {name!r} must be a matrix, with a row for each thing that is described; its shape is {found.shape}."
        )
    return found


def _refuse_other_rows(matrices: Mapping[str, Any]) -> None:
    (first, rows), *others = ((name, matrix.shape[0]) for name, matrix in matrices.items())
    for name, n_rows in others:
        if n_rows != rows:
            raise ValueError(
                f"View {first!r} has {rows} rows and view {name!r} has {n_rows}; all views must describe the same rows."
            )
    for name, matrix in matrices.items():
        if not matrix.shape[1]:
            raise ValueError(f"View {name!r} has no columns; leave it out, or give it one.")
    indexed = [
        (name, matrix.index) for name, matrix in matrices.items() if is_frame(matrix) and hasattr(matrix, "iloc")
    ]
    for name, index in indexed[1:]:
        if not index.equals(indexed[0][1]):
            raise ValueError(
                f"The rows of views {indexed[0][0]!r} and {name!r} have other names, or the same in another order; "
                "bring them into one order first, for example by reindex."
            )


def _side_by_side(matrices: dict[str, Any]) -> Any:
    parts = list(matrices.values())
    kinds = {type(part) for part in parts}
    if len(kinds) == 1 and is_frame(parts[0]):
        return _frames_side_by_side(matrices)
    if any(sp.issparse(part) for part in parts):
        return sp.hstack([part if sp.issparse(part) else np.asarray(part) for part in parts], format="csr")
    arrays: list[NDArray[Any]] = [np.asarray(part) for part in parts]
    return np.hstack(arrays)


def _frames_side_by_side(frames: dict[str, Any]) -> Any:
    every = [name for frame in frames.values() for name in frame.columns]
    library = type(next(iter(frames.values()))).__module__.partition(".")[0]
    if len(set(map(str, every))) < len(every) or len({type(name) for name in every}) > 1:
        frames = {view: frame.copy() if library == "pandas" else frame.clone() for view, frame in frames.items()}
        for view, frame in frames.items():
            frame.columns = [f"{view}_{name}" for name in frame.columns]
    how = {"axis": 1} if library == "pandas" else {"how": "horizontal"}
    return import_module(library).concat(list(frames.values()), **how)

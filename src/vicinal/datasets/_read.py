"""Reads the files of data sets: dense and CSR tables, networks, views, heterogeneous networks, and tables of words."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._files import read_table
from .._sample import Sample
from .._side_arrays import Unfit, binary, listed, ones, take_side
from .._validation import Matrix
from ..network import HeteroNetwork

_PARTS = ("data", "indices", "indptr", "shape")


def read(path: Path, words: Mapping[str, str] | None = None) -> tuple[Sample, dict[str, Any]]:
    """The sample that a file holds, and what else is in it; `words` are names of relations, see `take_side`."""
    if path.suffix == ".csv":
        return _frame(path), {"unread": [], "extras": {}}
    arrays, unread = _arrays(path)
    try:
        return _sample(arrays, unread, words or {})
    except Unfit as error:
        raise ValueError(f"{path} is not a data set: {error}.") from error


def _frame(path: Path) -> Sample:
    """A frame, and its last column as the target: numbers as they are, words as 0, 1, ... in their order."""
    with path.open(encoding="utf-8", newline="") as file:
        *names, target = next(csv.reader(file))
    table = read_table(path, target=target)
    assert table.y is not None
    if table.y.dtype.kind in "iuf":
        return Sample(table.X, table.y, names=tuple(names))
    classes, labels = np.unique(table.y.astype(str), return_inverse=True)
    return Sample(table.X, labels, names=tuple(names), classes=tuple(classes.tolist()))


def _arrays(path: Path) -> tuple[dict[str, NDArray], list[str]]:
    """The arrays of a file, and the names of those that only pickle could read: it could run code, so none is read."""
    arrays: dict[str, NDArray] = {}
    unread = []
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            for name in file.files:
                try:
                    arrays[name] = file[name]
                except ValueError as error:
                    if "allow_pickle" not in str(error):
                        raise
                    unread.append(name)
    except FileNotFoundError:
        raise
    except Exception as error:  # NumPy, zip and zlib raise almost anything on damaged files
        raise ValueError(
            f"{path} is damaged: it is not a whole file of NumPy arrays; put a sound copy there."
        ) from error
    return arrays, unread


def _sample(arrays: dict[str, NDArray], unread: list[str], words: Mapping[str, str]) -> tuple[Sample, dict[str, Any]]:
    given = [*arrays, *unread]
    matrices = _take_matrices(arrays)
    views = [matrices.pop(f"view{k}") for k in _view_numbers(matrices)]
    if "X" in arrays:
        X = _dense(arrays.pop("X"))
    elif {"", "X"} & matrices.keys():
        X = matrices.pop("X" if "X" in matrices else "")
    elif views:
        X = _side_by_side(views)
    else:
        raise Unfit(f"it has neither X nor the parts of a CSR matrix nor views that can be read, but {listed(given)}")
    n_rows = X.shape[0]
    y = _per_row(arrays, "y", n_rows)
    view_names = _view_names(arrays.pop("view_names", None), len(views))
    names = _feature_names(arrays, X.shape[1], view_names)
    classes = _classes(arrays, y)
    sample = Sample(
        X,
        y,
        adjacency=_adjacency(arrays.pop("edges"), n_rows) if "edges" in arrays else None,
        views=_view_columns(views, view_names, X.shape[1]),
        side=_side(arrays, n_rows, words) if "target" in arrays else None,
        names=None if names is None else tuple(names),
        classes=None if classes is None else tuple(classes),
        split=_per_row(arrays, "split", n_rows),
    )
    return sample, {"unread": unread, "extras": {**arrays, **matrices}}


def _view_columns(views: list[Matrix], names: list[str] | None, n_columns: int) -> dict[str, slice] | None:
    """Where each view stands in X, if X is made of them."""
    ends = np.cumsum([0, *(view.shape[1] for view in views)]).tolist()
    if names is None or ends[-1] != n_columns:
        return None
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(names)}


def _take_matrices(arrays: dict[str, NDArray]) -> dict[str, Matrix]:
    """CSR matrices by the prefix of their four parts; the parts are taken out of `arrays`."""
    prefixes = [key.removesuffix("indptr") for key in arrays if re.fullmatch(r"(\w+_)?indptr", key)]
    found = {}
    for prefix in prefixes:
        if not all(prefix + part in arrays for part in _PARTS):
            continue
        data, indices, indptr, shape = (arrays.pop(prefix + part) for part in _PARTS)
        name = prefix.removesuffix("_")
        try:
            matrix = sp.csr_matrix((data, indices, indptr), shape=tuple(shape))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise Unfit(f"the parts of the CSR matrix {name or 'X'!r} do not belong together ({error})") from error
        found[name] = matrix
    return found


def _view_numbers(matrices: dict[str, Matrix]) -> list[int]:
    return sorted(int(match[1]) for name in matrices if (match := re.fullmatch(r"view([1-9]\d*)", name)))


def _dense(X: NDArray) -> NDArray:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise Unfit(f"X must be a matrix of numbers, but is an array of type {X.dtype} and shape {X.shape}")
    return X


def _side_by_side(views: list[Matrix]) -> Matrix:
    if len({view.shape[0] for view in views}) > 1:
        raise Unfit(f"its views have {listed([view.shape[0] for view in views])} rows and not the same number")
    return sp.csr_matrix(sp.hstack(views, format="csr"))


def _per_row(arrays: dict[str, NDArray], name: str, n_rows: int) -> NDArray | None:
    values = arrays.pop(name, None)
    if values is not None and values.shape != (n_rows,):
        raise Unfit(f"{name!r} has the shape {values.shape}, but X has {n_rows} rows")
    return values


def _feature_names(arrays: dict[str, NDArray], n_columns: int, view_names: list[str] | None) -> list[str] | None:
    for key in ("feature_names", "terms"):
        if key in arrays and arrays[key].shape == (n_columns,):
            return arrays.pop(key).astype(str).tolist()
    if view_names:
        terms = [arrays.get(f"view{k}_terms", np.empty(0, str)) for k in range(1, len(view_names) + 1)]
        names = [f"{view}:{term}" for view, of_view in zip(view_names, terms, strict=True) for term in of_view]
        return names if len(names) == n_columns else None
    return None


def _view_names(names: NDArray | None, n_views: int) -> list[str] | None:
    if not n_views:
        return None
    if names is None:
        return [f"view{k}" for k in range(1, n_views + 1)]
    if names.shape != (n_views,):
        raise Unfit(f"it has {n_views} views but the names of {names.size}")
    if len(set(names.tolist())) < n_views:
        raise Unfit(f"two of its views have the same name: {listed(names.tolist())}")
    return names.astype(str).tolist()


def _classes(arrays: dict[str, NDArray], y: NDArray | None) -> list[str] | None:
    """Names of the labels 0, 1, ...; names that are more or fewer belong to another array and stay among the extras."""
    names = arrays.get("classes")
    if names is None or y is None or y.dtype.kind not in "iu" or names.shape != (y.max(initial=-1) + 1,):
        return None
    return arrays.pop("classes").astype(str).tolist()


def _adjacency(edges: NDArray, n_rows: int) -> Matrix:
    links = ones(edges, (n_rows, n_rows), "edges")
    return binary(links + links.T)


def _side(arrays: dict[str, NDArray], n_rows: int, words: Mapping[str, str]) -> HeteroNetwork:
    side = take_side(arrays, words)
    if len(side) != n_rows:
        raise Unfit(f"it has {len(side)} nodes of its target type {side.target!r}, but X has {n_rows} rows")
    return side

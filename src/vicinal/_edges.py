"""Lists of edges: arrays, data frames and files as one record, and their nodes as numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._optional import need
from ._validation import check_count, suggest

MOST_LISTED = 10
DIGITS = "[0-9]+"  # by which names like g1 and g27 differ


@dataclass(frozen=True)
class Edges:
    """The two ends of every edge, its weight where there are weights, and where an edge stands: `place(number)`."""

    source: NDArray
    target: NDArray
    weight: NDArray[np.float64] | None
    place: Callable[[int], str]


def read_edges(edges: Any, source: str | None, target: str | None, weight: str | None, known: Any) -> Edges:
    """Edges of whatever holds them; `known` are the names of nodes, by which a file's first line is told from a header.

    Parameters
    ----------
    edges : path, data frame, tuple of two or three arrays, or array of shape (n_edges, 2)
    source, target, weight : str or None
        Columns of frames and files. Without names the first two columns are the ends of edges.
    known : set or None
    """
    if isinstance(edges, str | Path):
        return _of_file(Path(edges), source, target, weight, known)
    if hasattr(edges, "columns"):
        return _of_frame(edges, source, target, weight, "The table of edges", lambda edge: f"row {edge}")
    if source is not None or target is not None or weight is not None:
        raise ValueError("source, target and weight name columns of data frames and files; arrays have none.")
    columns = edges if isinstance(edges, tuple) else np.asarray(edges)
    if isinstance(columns, np.ndarray):
        if columns.size == 0:
            columns = columns.reshape(0, 2)
        if columns.ndim != 2 or columns.shape[1] != 2:
            raise ValueError(
                f"An array of edges has two columns, the two ends of each edge; its shape is {columns.shape}. Weights "
                "come as a tuple of three arrays."
            )
        columns = (columns[:, 0], columns[:, 1])
    if len(columns) not in (2, 3) or len({np.shape(column) for column in columns}) > 1 or np.ndim(columns[0]) != 1:
        raise ValueError(
            "A tuple of edges holds two flat arrays of one length, or three, of which the last are weights; the shapes "
            f"are {', '.join(str(np.shape(column)) for column in columns)}."
        )
    return _checked(columns[0], columns[1], columns[2] if len(columns) == 3 else None, lambda edge: f"edge {edge}")


def numbered(edges: Edges, nodes: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray]:
    """The ends of all edges as numbers of nodes, and the names of the nodes."""
    if nodes is None:
        ends = np.concatenate([edges.source, edges.target])
        names, numbers = np.unique(ends, return_inverse=True)
        return numbers[: len(edges.source)], numbers[len(edges.source) :], names
    names = node_names(nodes)
    first, second = found_among(names, (edges.source, edges.target), edges.place)
    return first, second, names


def node_names(nodes: Any) -> NDArray:
    """Names as they are given, or numbers from 0 for a number of nodes."""
    return np.arange(check_count("nodes", nodes)) if isinstance(nodes, int | np.integer) else check_names(nodes)


def found_among(
    names: NDArray, columns: Sequence[NDArray], place: Callable[[int], str], of: str = ""
) -> list[NDArray[np.int64]]:
    """Where the ends of edges stand among the names of nodes; `of` says in a message which nodes these are."""
    text = names.dtype.kind == "U" or any(column.dtype.kind == "U" for column in columns)
    known, ends = (names.astype(str), [column.astype(str) for column in columns]) if text else (names, list(columns))
    order = np.argsort(known, kind="stable")
    ranks = [np.searchsorted(known, column, sorter=order) for column in ends]
    found = [order[np.minimum(rank, len(known) - 1)] for rank in ranks]
    strange = [known[number] != column for number, column in zip(found, ends, strict=True)]
    if any(part.any() for part in strange):
        raise ValueError(_unknown(place, ends, strange, names, of))
    return found


def once(first: NDArray, second: NDArray, weights: NDArray[np.float64], names: tuple[NDArray, NDArray]) -> sp.csr_array:
    """A matrix of edges, given by numbers of nodes: one that is listed again counts once, if its weights agree."""
    order = np.lexsort((second, first))
    first, second, weights = first[order], second[order], weights[order]
    again = np.flatnonzero((first[1:] == first[:-1]) & (second[1:] == second[:-1]))
    if not np.array_equal(weights[again], weights[again + 1], equal_nan=True):
        place = again[weights[again] != weights[again + 1]][0]
        ends = f"{names[0][first[place]]} and {names[1][second[place]]}"
        raise ValueError(
            f"The link between {ends} is listed with the weights {weights[place]:g} and {weights[place + 1]:g}; list "
            "it once, or give one weight to both."
        )
    left = np.delete(np.arange(len(first)), again + 1)
    shape = len(names[0]), len(names[1])
    return sp.csr_array(sp.coo_array((weights[left], (first[left], second[left])), shape=shape))


def check_names(names: ArrayLike | Iterable[Any], count: int | None = None) -> NDArray:
    """Names of nodes: one for each, all different."""
    given: Sequence[Any] | NDArray = names if isinstance(names, np.ndarray) else list(names)  # type: ignore[arg-type]
    checked = np.asarray(given)
    if checked.ndim != 1 or not len(checked):
        raise ValueError(f"Nodes have a flat list of names, at least one; the shape is {checked.shape}.")
    if checked.dtype.kind == "f" and (checked == np.floor(checked)).all():
        checked = checked.astype(np.int64)
    elif checked.dtype.kind not in "iuU":
        checked = np.array([str(name) for name in given])
    if count is not None and len(checked) != count:
        raise ValueError(f"There are {len(checked)} names for {count} nodes; give one for each, in their order.")
    found, counts = np.unique(checked, return_counts=True)
    if len(found) < len(checked):
        raise ValueError(f"Names of nodes must differ, but these stand more than once: {_listed(found[counts > 1])}.")
    return checked


def first_words(path: Path, marks: Sequence[str] = ("\t", ",", ";", " ")) -> tuple[list[str], str]:
    """What stands in the first line of a file, names of columns or values, and which of the marks separates it."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        first = file.readline().rstrip("\r\n")
    separator = next((mark for mark in marks if mark in first), ",")
    return [word.strip().strip('"') for word in first.split(separator)], separator


def is_symmetric(adjacency: sp.csr_array) -> bool:
    """Of a matrix in canonical format without stored zeros."""
    other = sp.csr_array(adjacency.T)
    parts = ((adjacency.indptr, other.indptr), (adjacency.indices, other.indices), (adjacency.data, other.data))
    return all(np.array_equal(ours, theirs) for ours, theirs in parts)


def _of_file(path: Path, source: str | None, target: str | None, weight: str | None, known: set | None) -> Edges:
    pl = need("polars", "to read files of edges")
    _, separator = first_words(path)
    try:
        frame = pl.read_csv(path, separator=separator, has_header=False, infer_schema_length=0, glob=False)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} cannot be read as a list of edges: {str(error).splitlines()[0]}") from error
    frame = frame.with_columns(pl.all().str.strip_chars())
    if separator == " ":  # several spaces are one
        frame = frame.select(column for column in frame if not (column.is_null() | (column == "")).all())
    named = source is not None or target is not None or weight is not None
    first_line = 1
    if named or _begins_with_header(frame, known):
        names = [name or f"column {place}" for place, name in enumerate(frame.row(0), 1)]
        if len(set(names)) < len(names):
            raise ValueError(f"{path.name} has columns of the same name: {_listed(names)}.")
        frame, first_line = frame[1:].rename(dict(zip(frame.columns, names, strict=True))), 2
    return _of_frame(frame, source, target, weight, path.name, lambda edge: f"line {edge + first_line}")


def _begins_with_header(frame: Any, known: set | None) -> bool:
    """Whether the first line of a file names columns. A node is known by its name, by standing again, or by
    looking like others but for digits.
    """
    first = frame.row(0)
    if {"source", "target"} <= {*first}:
        return True
    ends = [end for end in first[:2] if end]
    if ends and all(end.isdecimal() for end in ends):
        return False  # numbers are nodes, even if they are unknown
    if known is not None and any(end in known for end in ends):
        return False
    others = [frame[1:, place] for place in range(min(2, frame.width))]
    if any((column == end).any() for column in others for end in ends):
        return False
    forms = [column.str.replace_all(DIGITS, "0") for column in others]
    own = [re.sub(DIGITS, "0", end or "") for end in first[:2]]
    return not any("0" in form and (column == form).any() for form, column in zip(own, forms, strict=True))


def _of_frame(
    frame: Any, source: str | None, target: str | None, weight: str | None, what: str, place: Callable[[int], str]
) -> Edges:
    columns = [str(column) for column in frame.columns]
    if len(columns) < 2:
        raise ValueError(f"{what} has one column; edges need two, for their ends.")
    if source is None and target is None:
        source, target = ("source", "target") if {"source", "target"} <= {*columns} else (columns[0], columns[1])
    for role, column in (("source", source), ("target", target), ("weight", weight)):
        if column is None and role != "weight":
            raise ValueError("Name both ends of edges, source and target, or neither.")
        if column is not None and str(column) not in columns:
            raise ValueError(f"{what} has no column {column!r}; its columns are {_listed(columns)}.")

    def values(name: str | None) -> Any:
        return None if name is None else frame[frame.columns[columns.index(str(name))]].to_numpy()

    return _checked(values(source), values(target), values(weight), place)


def _checked(source: Any, target: Any, weight: Any, place: Callable[[int], str]) -> Edges:
    ends = []
    for role, column in (("source", source), ("target", target)):
        column = np.asarray(column)
        if column.dtype.kind not in "iuU":
            column = _as_names(role, column, place)
        elif column.dtype.kind == "U":
            _refuse_missing(role, np.char.strip(column) == "", place)
        ends.append(column)
    if len({column.dtype.kind == "U" for column in ends}) > 1:
        ends = [column.astype(str) for column in ends]
    if weight is not None:
        try:
            weight = np.asarray(weight).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"Weights of edges are numbers: {error}.") from None
        strange = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
        if len(strange):
            where = _listed([f"{weight[edge]:g} ({place(int(edge))})" for edge in strange], quoted=False)
            raise ValueError(f"Weights of edges are numbers of at least 0; these are not: {where}.")
    ends = as_numbers(ends)
    return Edges(ends[0], ends[1], weight, place)


def as_numbers(columns: list[NDArray]) -> list[NDArray]:
    """Columns of names as whole numbers where all of them are; "07" stays a name."""
    whole = all(column.dtype.kind == "U" and np.char.isdecimal(column).all() for column in columns)
    if not whole or not any(map(len, columns)):
        return columns
    if max(int(np.char.str_len(column).max(initial=0)) for column in columns) > 18:
        return columns
    numbers = [column.astype(np.int64) for column in columns]
    same = all((number.astype(str) == column).all() for number, column in zip(numbers, columns, strict=True))
    return numbers if same else columns


def _as_names(role: str, column: NDArray, place: Callable[[int], str]) -> NDArray:
    """Names as text; whole numbers that a frame holds as floats as whole numbers."""
    if column.dtype.kind == "f":
        _refuse_missing(role, ~np.isfinite(column), place)
        if (column == np.floor(column)).all():
            return column.astype(np.int64)
    values = column.tolist()
    missing = [_is_missing(value) for value in values]
    _refuse_missing(role, np.array(missing, dtype=bool), place)
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([str(value) for value in values], dtype=str)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # of pandas, and not to be compared
        return True
    return bool(value == "" or value != value)


def _refuse_missing(role: str, missing: NDArray[np.bool_], place: Callable[[int], str]) -> None:
    where = np.flatnonzero(missing)
    if len(where):
        raise ValueError(f"Edges without a {role}: {_listed([place(int(edge)) for edge in where], quoted=False)}.")


def _unknown(
    place: Callable[[int], str], ends: Sequence[NDArray], strange: list[NDArray[np.bool_]], known: NDArray, of: str
) -> str:
    seen: dict[str, str] = {}
    for edge in np.flatnonzero(np.any(strange, axis=0)):
        for column, part in zip(ends, strange, strict=True):
            if part[edge]:
                seen.setdefault(str(column[edge]), place(int(edge)))
    many = f"{len(seen)} nodes{of} that are" if len(seen) > 1 else f"a node{of} that is"
    named = [f"{name!r} ({where})" for name, where in seen.items()]
    if known.dtype.kind == "U":
        hint = suggest(next(iter(seen)), known.tolist())
    else:
        hint = f"known are {known.min()} to {known.max()}"
    hint = hint[0].upper() + hint[1:].rstrip("?")
    end = "?" if hint.startswith("Did") else "."
    return f"Edges name {many} not among the {len(known):,} known ones: {_listed(named, quoted=False)}. {hint}{end}"


def _listed(names: Iterable[Any], *, quoted: bool = True) -> str:
    texts = [repr(str(name)) if quoted else str(name) for name in names]
    more = f" and {len(texts) - MOST_LISTED} more" if len(texts) > MOST_LISTED else ""
    return ", ".join(texts[:MOST_LISTED]) + more

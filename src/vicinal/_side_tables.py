"""Side information from tables of edges: one table for each relation, given by hand or named in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._edges import Edges, as_numbers, check_names, first_words, found_among, node_names, once, read_edges
from ._hetero import HeteroNetwork, check_relation
from ._metapaths import Relation
from ._optional import need
from ._validation import suggest

Nodes = Mapping[str, Any]


@dataclass(frozen=True)
class EdgeTable:
    """The edges of a relation, and which columns of their table hold what.

    Parameters
    ----------
    edges : array of shape (n_edges, 2), tuple of arrays, data frame or path
        The two ends of each edge, as numbers or names of nodes: an array, a tuple ``(source, target)`` or ``(source,
        target, weight)`` of flat arrays, a frame of pandas or polars, or a file of lines, separated by commas, tabs,
        semicolons or spaces, with or without a header.
    columns : pair of str, default=None
        The columns of frames and files that hold the ends. None: those that are called like the two types, or "source"
        and "target", if these are there, otherwise the first two.
    weight : str, default=None
        The column that holds weights; None gives every link the weight 1.
    mutual : bool, default=False
        Whether each edge, of a relation within one type, leads both ways.

    Examples
    --------
    >>> import pandas as pd
    >>> from vicinal.network import EdgeTable, from_tables
    >>> like = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "alike": [0.5, 0.9]})
    >>> network = from_tables({("drug", "like", "drug"): EdgeTable(like, weight="alike", mutual=True)}, target="drug")
    >>> network.relations["drug", "like", "drug"].toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0.9],
           [0. , 0.9, 0. ]])
    """

    edges: Any
    columns: tuple[str, str] | None = None
    weight: str | None = None
    mutual: bool = False


def from_tables(relations: Any, *, target: str | None = None, nodes: Nodes | None = None) -> HeteroNetwork:
    """Side information from tables of edges, one for each relation.

    An edge that is listed more than once is one link; its weights must agree.

    Parameters
    ----------
    relations : mapping of (source, relation, target) to table, or path
        For each relation an `EdgeTable`, or its edges alone: an array of shape (n_edges, 2), a tuple of arrays, a frame
        of pandas or polars, or the path of a file. Or the path of a TOML file that names such files, see below.
    target : str, default=None
        The type whose nodes are the rows of the table. A TOML file may say it itself.
    nodes : mapping of str to sequence or int, default=None
        For any type the names of its nodes in their order, or how many there are, if they are numbered from 0; it goes
        before what a TOML file says. Types that are not named have the nodes that edges name, sorted; nodes without
        edges are not known then. **Name those of the target**, in the order of the rows of the table: sorted names are
        in that order only if the rows are sorted, too, and have edges each.

    Returns
    -------
    HeteroNetwork

    Notes
    -----
    A TOML file has a table for each relation; paths are relative to it::

        target = "compound"

        [[relation]]
        source = "compound"
        name = "binds"
        target = "gene"
        file = "binds.csv"
        columns = ["compound_id", "gene_id"]    # optional, as in EdgeTable
        weight = "affinity"                     # optional

        [[relation]]
        source = "gene"
        name = "interacts"
        target = "gene"
        file = "interacts.tsv"
        mutual = true                           # optional: within one type, each edge leads both ways

        [nodes]                                 # optional
        compound = "compounds.csv:compound_id"  # a file, whose first line names its columns: this one, or the first
        gene = 20945                            # a number of nodes, numbered from 0

    Examples
    --------
    >>> import pandas as pd
    >>> from vicinal.network import from_tables
    >>> writes = pd.DataFrame({"author": ["bob", "ann", "bob"], "paper": ["p1", "p1", "p2"]})
    >>> authors = ["bob", "ann"]  # in the order of the rows of a table
    >>> network = from_tables({("author", "writes", "paper"): writes}, target="author", nodes={"author": authors})
    >>> network
    HeteroNetwork(author 2; paper 2; 3 links by 1 relation)
    >>> network.names["author"]
    array(['bob', 'ann'], dtype='<U3')
    """
    given: dict[str, Any] = {}
    if isinstance(relations, str | Path):
        relations, declared, given = _read_toml(Path(relations), skip=set(nodes or ()))
        target = declared if target is None else target
    if not isinstance(relations, Mapping) or not relations:
        raise ValueError(
            "Relations are a mapping of (source, relation, target) to tables of edges, with at least one, or the path "
            "of a TOML file that names such tables."
        )
    if target is None:
        raise ValueError("Say with target=... which type of nodes are the rows of the table.")
    tables = {
        check_relation(key): table if isinstance(table, EdgeTable) else EdgeTable(table)
        for key, table in relations.items()
    }
    kinds = list(dict.fromkeys(kind for key in tables for kind in (key[0], key[2])))
    given |= nodes or {}
    for kind in (target, *given):
        if kind not in kinds:
            raise ValueError(f"No relation has nodes of type {kind!r}; {suggest(str(kind), kinds)}")
    names = {kind: _with_type(kind, node_names, wanted) for kind, wanted in given.items()}
    read = {key: _read(key, table, names) for key, table in tables.items()}
    for kind in kinds:
        if kind not in names:
            names[kind] = _named_by_edges(kind, read)
    links = {key: _links(key, edges, tables[key], names) for key, edges in read.items()}
    return HeteroNetwork(links, target=target, names=names)


def _with_type(kind: str, function: Any, *arguments: Any) -> Any:
    """What a function makes of its arguments; what it refuses is said to be of that type."""
    try:
        return function(*arguments)
    except (ValueError, TypeError) as error:
        raise ValueError(f"Nodes of type {kind}: {error}") from None


def _read(key: Relation, table: EdgeTable, names: Mapping[str, NDArray]) -> Edges:
    if table.mutual and key[0] != key[2]:
        raise ValueError(f"{'-'.join(key)} is not within one type, so that it cannot be mutual; leave that out.")
    kinds = [kind for kind in (key[0], key[2]) if kind in names and isinstance(table.edges, str | Path)]
    known = {name for kind in kinds for name in names[kind].astype(str).tolist()} if kinds else None
    try:
        source, end = table.columns or _columns_of_types(table.edges, key)
        return read_edges(table.edges, source, end, table.weight, known)
    except ValueError as error:
        raise ValueError(f"{_where(key, table)}: {error}") from None


def _where(key: Relation, table: EdgeTable) -> str:
    file = f" ({Path(table.edges).name})" if isinstance(table.edges, str | Path) else ""
    return f"{'-'.join(key)}{file}"


def _columns_of_types(edges: Any, key: Relation) -> tuple[str, str] | tuple[None, None]:
    """The columns that are called like the types, in whatever order they stand."""
    if isinstance(edges, str | Path):
        names = first_words(Path(edges))[0]
    else:
        names = [str(name) for name in getattr(edges, "columns", ())]
    return (key[0], key[2]) if key[0] != key[2] and {key[0], key[2]} <= {*names} else (None, None)


def _ends(kind: str, read: Mapping[Relation, Edges]) -> list[NDArray]:
    """All columns of edges that name nodes of a type."""
    columns = []
    for key, edges in read.items():
        columns += [edges.source] * (key[0] == kind) + [edges.target] * (key[2] == kind)
    return columns


def _named_by_edges(kind: str, read: Mapping[Relation, Edges]) -> NDArray:
    columns = _ends(kind, read)
    if any(column.dtype.kind == "U" for column in columns):
        columns = as_numbers([column.astype(str) for column in columns])
    names = np.unique(np.concatenate(columns))
    if not len(names):
        raise ValueError(f"No edge names a node of type {kind}, so that there are none; say with nodes=... which are.")
    return names


def _links(key: Relation, edges: Edges, table: EdgeTable, names: Mapping[str, NDArray]) -> sp.csr_array:
    own = names[key[0]], names[key[2]]
    try:
        first, second = (
            found_among(known, [column], edges.place, f" of type {kind}")[0]
            for known, column, kind in zip(own, (edges.source, edges.target), (key[0], key[2]), strict=True)
        )
        weights = np.ones(len(first)) if edges.weight is None else edges.weight
        if table.mutual:
            first, second = np.concatenate([first, second]), np.concatenate([second, first])
            weights = np.tile(weights, 2)
        return once(first, second, weights, own)
    except ValueError as error:
        raise ValueError(f"{_where(key, table)}: {error}") from None


TOML_KEYS = {
    "target": (str, "a text"),
    "relation": (list, "a list of tables, [[relation]]"),
    "nodes": (dict, "a table"),
}
RELATION_KEYS: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("source", "name", "target", "file"), (str, "a text")),
    "columns": (list, "a list of two names"),
    "weight": (str, "a text"),
    "mutual": (bool, "true or false"),
}


def declared_target(path: Path) -> tuple[str | None, bool]:
    """The target that a TOML file names, and whether it names its nodes; all is checked but for what is in files."""
    _, target, nodes = _read_toml(path, skip=None)
    return target, target in nodes


def _read_toml(path: Path, skip: set[str] | None) -> tuple[dict[Relation, EdgeTable], str | None, dict[str, Any]]:
    """Relations, target and nodes as a TOML file says; for types to `skip` nodes are left out.

    Nodes are only looked for, and not read, where `skip` is None.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is not valid TOML: {error}.") from None
    _check_keys(path.name, declared, TOML_KEYS, ("relation",))
    relations: dict[Relation, EdgeTable] = {}
    for number, entry in enumerate(declared["relation"], start=1):
        key, table = _toml_relation(path, f"{path.name}, relation {number}", entry)
        if key in relations:
            raise ValueError(f"{path.name} has the relation {'-'.join(key)} twice; put all its edges into one file.")
        relations[key] = table
    given = declared.get("nodes", {})
    kinds = dict.fromkeys(kind for key in relations for kind in (key[0], key[2]))
    for kind in given:
        if kind not in kinds:
            raise ValueError(f"{path.name} has nodes of type {kind!r}, which no relation has; {suggest(kind, kinds)}")
    read = {
        kind: _toml_nodes(path, kind, entry, read=skip is not None)
        for kind, entry in given.items()
        if skip is None or kind not in skip
    }
    return relations, declared.get("target"), read


def _check_keys(name: str, declared: Any, known: Mapping[str, tuple[type, str]], needed: Sequence[str]) -> None:
    if not isinstance(declared, dict):
        raise ValueError(f"{name} must be a table; got {declared!r}.")
    for key, value in declared.items():
        if key not in known:
            raise ValueError(f"{name} has an unknown key {key!r}; {suggest(key, known)}")
        kind, words = known[key]
        if not isinstance(value, kind) or value == "":
            raise ValueError(f"{name}: {key} must be {words}; got {value!r}.")
    for key in needed:
        if not declared.get(key):
            raise ValueError(f"{name} lacks {key!r}; it needs {' and '.join(map(repr, needed))}.")


def _toml_relation(path: Path, name: str, entry: Any) -> tuple[Relation, EdgeTable]:
    _check_keys(name, entry, RELATION_KEYS, ("source", "name", "target", "file"))
    key = check_relation((entry["source"], entry["name"], entry["target"]))
    columns = entry.get("columns")
    if columns is not None and (len(columns) != 2 or not all(isinstance(column, str) for column in columns)):
        raise ValueError(f"{name}: columns must be a list of two names, those of the ends of edges; got {columns!r}.")
    file = path.parent / entry["file"]
    if not file.is_file():
        raise FileNotFoundError(f"{name} names the file {entry['file']!r}, and there is no file {file}.")
    chosen = None if columns is None else (columns[0], columns[1])
    return key, EdgeTable(file, chosen, entry.get("weight"), entry.get("mutual", False))


def _toml_nodes(path: Path, kind: str, entry: Any, *, read: bool) -> Any:
    """A number of nodes, or their names from a column of a file, if it shall be read."""
    if isinstance(entry, int) and not isinstance(entry, bool):
        return entry
    if not isinstance(entry, str):
        raise ValueError(f"{path.name}, nodes: {kind} must be a number of nodes or a file of names; got {entry!r}.")
    file, column = path.parent / entry, None
    if not file.is_file() and ":" in entry:
        before, _, column = entry.rpartition(":")
        file = path.parent / before
    if not file.is_file():
        raise FileNotFoundError(f"{path.name} names the file {entry!r} for nodes of type {kind}; there is no {file}.")
    return _read_names(file, column) if read else None


def _read_names(path: Path, column: str | None) -> NDArray:
    pl = need("polars", "to read names of nodes")
    separator = first_words(path, ("\t", ",", ";"))[1]
    try:
        frame = pl.read_csv(path, separator=separator, infer_schema_length=0, glob=False)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path} cannot be read as a table of nodes: {str(error).splitlines()[0]}") from error
    if column is not None and column not in frame.columns:
        raise ValueError(f"{path.name} has no column {column!r}; {suggest(column, frame.columns)}")
    values = frame[column or frame.columns[0]].str.strip_chars()
    missing = np.flatnonzero((values.is_null() | (values == "")).to_numpy())
    if len(missing):
        raise ValueError(f"{path.name}: {values.name!r}, which names nodes, is empty in row {missing[0] + 1}.")
    if not len(values):
        raise ValueError(f"{path.name} has no rows below its first line, which names its columns: there are no nodes.")
    try:
        return check_names(as_numbers([values.to_numpy().astype(str)])[0])
    except ValueError as error:
        raise ValueError(f"{path.name}, column {values.name!r}: {error}") from None

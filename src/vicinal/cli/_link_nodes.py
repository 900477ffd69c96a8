"""What `vicinal links` reads: the network of all nodes that links or attributes name, and numbers for attributes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._edges import Edges, check_names, read_edges
from .._files import Table, read_table
from .._preparation import (
    categorical_columns,
    check_table,
    describe_scale,
    extremes,
    has_missing,
    is_frame,
    make_imputer,
    scaler,
)
from .._validation import Matrix
from .._words import counted, listed
from ..network import Network, from_edges
from ._terminal import note, warn

USUAL_NAMES = ("node", "id", "name")
DENSE = 0.3  # share of numbers other than 0, from which on a matrix is not sparse


@dataclass(frozen=True)
class Shown:
    """The names of nodes, and which of them show links and attributes."""

    names: NDArray
    linked: NDArray[np.bool_]
    attributed: NDArray[np.bool_]

    @property
    def link_only(self) -> NDArray[np.bool_]:
        return self.linked & ~self.attributed

    @property
    def attribute_only(self) -> NDArray[np.bool_]:
        return self.attributed & ~self.linked

    @property
    def both(self) -> NDArray[np.bool_]:
        return self.linked & self.attributed


@dataclass(frozen=True)
class Nodes:
    """All nodes, their links and attributes: rows of zeros for nodes that show none, None where there is no table."""

    network: Network
    X: Matrix | None
    attributes: list[str]

    @property
    def shown(self) -> Shown:
        linked = self.network.degrees > 0
        if self.X is None:
            return Shown(self.network.names, linked, np.zeros(len(linked), dtype=bool))
        return Shown(self.network.names, linked, np.asarray(abs(self.X).sum(axis=1)).ravel() > 0)


def read_nodes(
    edges: Path, attributes: Path | None, *, nodes: str | None, drop: tuple[str, ...], scale: str, method: str
) -> Nodes:
    """The union of the nodes of both files, those of the table first."""
    if attributes is None:
        network = _network(edges, None)
        note(f"{edges.name}: {in_words(network, None)}.")
        return Nodes(network, None, [])
    table = read_table(attributes, drop=drop, whole_target=False)
    names, X = _named(table, nodes, attributes)
    X = check_table(X)
    given = _have_values(X)
    rows, labels, done = _as_attributes(X, given, table.names, scale)
    network = _network(edges, names)
    rows = sp.vstack([rows, sp.csr_array((network.n_nodes - rows.shape[0], rows.shape[1]))], format="csr")
    found = Nodes(network, rows.toarray() if rows.nnz > DENSE * np.prod(rows.shape) else sp.csr_array(rows), labels)
    found = _without_zeros(found, given, attributes)
    network, shown = found.network, found.shown
    note(f"{edges.name}, {attributes.name}: {in_words(network, shown)}; {counted(len(labels), 'attribute')}{done}.")
    _check_nodes(shown, edges, attributes, method)
    return found


def in_words(network: Network, shown: Shown | None) -> str:
    words = f"{counted(network.n_nodes, 'node')}, {counted(network.n_links, 'link')}"
    if shown is None:
        return words
    both, links, attributes = (int(part.sum()) for part in (shown.both, shown.link_only, shown.attribute_only))
    who = f"{counted(both, 'node')} show{'s' * (both == 1)}"
    return f"{words}; {who} both links and attributes, {links:,} only links, {attributes:,} only attributes"


def _network(path: Path, known: NDArray | None) -> Network:
    edges = _read(path, known)
    loops = edges.source.astype(str) == edges.target.astype(str)
    if loops.any():
        warn(f"{path.name}: {counted(int(loops.sum()), 'link')} of a node to itself left out.")
    source, target = edges.source[~loops], edges.target[~loops]
    if not len(source):
        raise ValueError(f"{path} has no links between two nodes, so that there is nothing to learn from.")
    ends = np.unique(np.concatenate([source, target]))
    if known is None:
        return from_edges((source, target), nodes=ends)
    if (known.dtype.kind == "U") != (ends.dtype.kind == "U"):
        known, ends = known.astype(str), ends.astype(str)
    return from_edges((source, target), nodes=np.concatenate([known, np.setdiff1d(ends, known)]))


def _read(path: Path, known: NDArray | None) -> Edges:
    """A first line is a header only if its words are neither nodes of the table nor stand again in the file."""
    read = [read_edges(path, None, None, None, None)]
    if known is not None:
        read.append(read_edges(path, None, None, None, set(known.astype(str))))
    return max(read, key=lambda edges: len(edges.source))


def _named(table: Table, column: str | None, path: Path) -> tuple[NDArray, Any]:
    """Names of the rows, and the columns besides that of names."""
    frame: Any = table.X
    if not is_frame(frame):
        if column is not None:
            raise ValueError(
                f"{path.name} has no named columns, so that --nodes {column} cannot name its rows; they are numbered "
                "from 0, or named by an array 'names'."
            )
        return check_names(table.row_names or np.arange(frame.shape[0])), frame
    if column is None:
        folded = {name.casefold(): name for name in reversed(frame.columns)}
        column = next((folded[name] for name in USUAL_NAMES if name in folded), frame.columns[0])
    elif column not in frame.columns:
        columns = listed([repr(name) for name in frame.columns], most=8)
        raise ValueError(f"{path.name} has no column {column!r} that could name the nodes; its columns are {columns}.")
    missing = np.flatnonzero(frame[column].is_null().to_numpy())
    if len(missing):
        raise ValueError(
            f"{path.name}: the column {column!r}, which names the nodes, is empty in "
            f"{counted(len(missing), 'row')}, the first of them row {missing[0] + 1}; name every node."
        )
    if frame.width < 2:
        raise ValueError(
            f"{path.name} has no columns besides {column!r}, which names the nodes: there are no attributes."
        )
    values = frame[column].to_list()
    try:
        names = check_names([value.strip() if isinstance(value, str) else value for value in values])
    except ValueError as error:
        raise ValueError(f"{path.name}, column {column!r}: {error} Name another one with --nodes.") from None
    table.names = [name for name in table.names if name != column]
    return names, frame.drop(column)


def _have_values(X: Any) -> NDArray[np.bool_]:
    """Which rows have any value that is not missing."""
    if is_frame(X):
        return ~np.all([X[name].is_null().to_numpy() | _is_nan(X[name]) for name in X.columns], axis=0)
    return np.ones(X.shape[0], dtype=bool) if sp.issparse(X) else ~np.isnan(X).all(axis=1)


def _is_nan(column: Any) -> NDArray[np.bool_]:
    return np.isnan(column.to_numpy()) if column.dtype.is_numeric() else np.zeros(len(column), dtype=bool)


def _as_attributes(
    X: Any, given: NDArray[np.bool_], names: list[str], scale: str
) -> tuple[sp.csr_array, list[str], str]:
    """Numbers to one scale, categories one-hot; rows without any value are zeros. And what was done, in words."""
    if not is_frame(X):
        if sp.issparse(X) and has_missing(X):
            raise ValueError("The sparse matrix has missing values; fill them in, or remove those rows.")
        rows, done = _scaled(X, given, scale)
        return rows, names, done
    categories = categorical_columns(X)
    numbers = [name for name in X.columns if name not in categories]
    blocks, labels, done = [], list(numbers), ""
    if numbers:
        rows, done = _scaled(X.select(numbers).to_numpy(), given, scale)
        blocks.append(rows)
    for name in categories:
        rows, found = _one_hot(np.array(X[name].to_list(), dtype=object))
        blocks.append(rows)
        labels += [f"{name}={value}" for value in found]
    if not labels:
        raise ValueError(
            f"No value of {listed(categories)} stands in more than one row, so that nodes have no attribute in common."
        )
    return sp.csr_array(sp.hstack(blocks, format="csr")), labels, done


def _scaled(X: Matrix, given: NDArray[np.bool_], scale: str) -> tuple[sp.csr_array, str]:
    """Columns of numbers, fitted on rows that have values, and zeros in the others."""
    rows, words = X[given], ""
    if has_missing(rows):
        rows, words = make_imputer().fit_transform(rows), ", missing values filled with medians"
    if scale == "auto":
        scale = "none" if _are_counts(rows) else "minmax"
    if scale == "standard" and sp.issparse(X):
        raise ValueError("To standardise sparse attributes would fill their zeros; take --scale minmax, tfidf or none.")
    done = describe_scale(scale, sparse=sp.issparse(X)) + words
    scaled = sp.csr_array(scaler(scale, rows).fit_transform(rows)).astype(np.float64)
    scaled.eliminate_zeros()
    places = np.flatnonzero(given)
    back = sp.csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(X.shape[0], len(places)))
    return sp.csr_array(back @ scaled), f", numbers {done}"


def _are_counts(X: Matrix) -> bool:
    """Whole numbers of at least 0, of which most are 0, or none above 1."""
    values = X.data if sp.issparse(X) else X
    low, high = extremes(X)
    if low < 0 or (values != np.floor(values)).any():
        return False
    return high <= 1 or np.count_nonzero(values) < DENSE * np.prod(X.shape)


def _one_hot(column: NDArray) -> tuple[sp.csr_array, list[str]]:
    """A column for every value that at least two rows have: one that a single node has says nothing about others."""
    given = np.flatnonzero(column != None)  # noqa: E711
    values, numbers = np.unique(column[given].astype(str), return_inverse=True)
    rows = sp.csr_array((np.ones(len(given)), (given, numbers)), shape=(len(column), len(values)))
    shared = np.flatnonzero(np.bincount(numbers, minlength=len(values)) > 1)
    return sp.csr_array(rows[:, shared]), values[shared].tolist()


def _without_zeros(nodes: Nodes, given: NDArray[np.bool_], path: Path) -> Nodes:
    """Leaves out nodes without links all of whose attributes are zero, since nothing follows from zeros."""
    shown = nodes.shown
    gone = ~(shown.linked | shown.attributed)
    gone[: len(given)] &= given
    if not gone.any():
        return nodes
    named = listed([str(name) for name in shown.names[gone]])
    subject = f"{counted(int(gone.sum()), 'node')} without links, all of whose attributes are 0,"
    warn(f"{path.name}: {subject} {'are' if gone.sum() > 1 else 'is'} left out: {named}.")
    return Nodes(nodes.network[~gone], nodes.X[~gone], nodes.attributes)  # type: ignore[index]


def _check_nodes(shown: Shown, edges: Path, attributes: Path, method: str) -> None:
    alone = np.flatnonzero(~(shown.linked | shown.attributed))
    if len(alone):
        named = listed([str(name) for name in shown.names[alone]], most=10)
        verb, them = ("show", "them") if len(alone) > 1 else ("shows", "it")
        raise ValueError(
            f"{counted(len(alone), 'node')} of {attributes.name} {verb} neither links nor attributes, so that nothing "
            f"is known of {them}: {named}; leave {them} out."
        )
    if method == "nrcl" and not shown.attributed.any():
        raise ValueError(
            f"All attributes of {attributes.name} are 0 once they are scaled, so that they say nothing; leave out "
            "columns that are the same for all nodes, or take another --scale or --method."
        )
    if method == "nrcl" and not shown.both.any():
        first, second = (shown.names[np.flatnonzero(part)[:3]].tolist() for part in (shown.linked, shown.attributed))
        raise ValueError(
            "No node shows both links and attributes, so that nothing ties the two together: nodes are called "
            f"{listed([repr(name) for name in first])} in {edges.name} and {listed([repr(name) for name in second])} "
            f"in {attributes.name}; say with --nodes which column names them, or take another --method."
        )

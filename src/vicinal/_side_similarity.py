"""How similar rows are by the paths between them, of many kinds, in a network of side information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ._hetero import HeteroNetwork, check_side
from ._metapaths import MetaPath
from ._path_products import PathProducts
from ._validation import check_choice, check_count, check_non_negative, suggest

Array = NDArray[np.float64]
Weights = Mapping[str, float] | Sequence[float] | None

_BLOCK = 2**22  # entries of pairs of rows held at a time
_DIGITS = 2.0**40  # of similarities; what differs by less is equal, and differs by rounding only


@dataclass(frozen=True)
class SimilarRow:
    """A row that is similar to another one, and why.

    Parameters
    ----------
    row : int
        Its number.
    name : object
        Its name in the network.
    similarity : float
        Their similarity by SideSim.
    paths : mapping of str to float
        The meta-paths between them, and what each adds to the similarity, the most first.

    Examples
    --------
    >>> from vicinal.graphs import SimilarRow
    >>> SimilarRow(3, "aspirin", 0.4, {"drug-binds-gene-binds-drug": 0.4}).name
    'aspirin'
    """

    row: int
    name: Any
    similarity: float
    paths: Mapping[str, float]


class SideSim:
    """Similarities of rows by the paths that lead from one to the other in a network of side information.

    For a meta-path m, ``s_ij = 2 C_ij / (C_i + C_j)``, where C_ij is the number of paths between rows i and j, and C_i
    the number of those that begin at i. All meta-paths together make the similarity, either by their numbers of paths
    ("micro") or by their similarities ("macro")::

        micro:  s_ij = 2 sum_m w_m C_ij^m / (sum_m w_m C_i^m + sum_m w_m C_j^m)
        macro:  s_ij = sum_m w_m s_ij^m

    Parameters
    ----------
    side : HeteroNetwork
        The rows are its target nodes.
    metapaths : sequence of str or MetaPath, default=None
        The meta-paths that count, such as "author-writes-paper-writes-author". None: all of at most `max_length`
        relations that `HeteroNetwork.metapaths` lists and that join any rows.
    max_length : int, default=4
        The most relations of a meta-path, where none are given.
    aggregation : {"macro", "micro"}, default="macro"
        By similarities, which counts all meta-paths alike, or by numbers of paths, so that those with many paths have
        the say: the long ones, mostly.
    weights : mapping of str to float, or sequence of float, default=None
        Of the meta-paths: by their names, 1 for those that are not named, or one for each in their order. None weighs
        all alike. Those of weight 0 are left out.

    Attributes
    ----------
    metapaths : list of MetaPath
        Those that count.
    weights : ndarray of shape (n_metapaths,)
        What they weigh; their sum is 1.
    n_pairs : ndarray of int of shape (n_metapaths,)
        How many pairs of different rows each one joins. It is counted when it is first asked for.

    Notes
    -----
    A meta-path that is another one when it is walked back, such as compound-treats-disease-associates-gene-binds-
    compound, counts in both directions: C is the number of paths from i to j and from j to i, so that similarities are
    symmetric. Weighted links count as so many links. The paths that lead from a row back to itself count among those
    that begin there.

    Similarities are made for some rows at a time, so that no matrix of rows by rows is held; products of relations are
    made in the cheapest order, each part once.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, PhD thesis, University of Illinois at Chicago 2017,
    section 7.3.1.

    Examples
    --------
    Ann and Bob have a paper together, Bob and Cleo publish at the same venue:

    >>> import numpy as np
    >>> from vicinal.graphs import SideSim
    >>> from vicinal.network import HeteroNetwork
    >>> writes = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> at = np.array([[1, 0], [0, 1], [0, 1]])
    >>> relations = {("author", "writes", "paper"): writes, ("paper", "at", "venue"): at}
    >>> side = HeteroNetwork(relations, target="author", names={"author": ["ann", "bob", "cleo"]})
    >>> sim = SideSim(side)
    >>> sim.similarities().toarray().round(2)
    array([[0.5 , 0.37, 0.  ],
           [0.37, 0.58, 0.17],
           [0.  , 0.17, 0.75]])
    >>> [(similar.name, *similar.paths) for similar in sim.top("cleo")]
    [('bob', 'author-writes-paper-at-venue-at-paper-writes-author')]
    """

    def __init__(
        self,
        side: HeteroNetwork,
        *,
        metapaths: Sequence[str | MetaPath] | None = None,
        max_length: int = 4,
        aggregation: Literal["macro", "micro"] = "macro",
        weights: Weights = None,
    ):
        check_ways(metapaths, max_length, aggregation)
        self.side, self.aggregation = check_side(side), aggregation
        products = PathProducts(side)
        given = side.metapaths(max_length) if metapaths is None else [side.metapath(path) for path in metapaths]
        if metapaths is not None:
            _refuse_repeated(given)
        weighed = dict(zip(given, _checked_weights(weights, [str(path) for path in given]), strict=True))
        asked = [path for path in given if weighed[path]]
        products.check_memory(asked)
        halves = {path: products.halves(path) for path in asked}
        counts = {path: np.sum([part.row_sums() for part in parts], axis=0) for path, parts in halves.items()}
        empty = [str(path) for path, paths in counts.items() if not paths.any()]
        if empty and metapaths is not None:
            raise ValueError(f"There is no path {empty[0]} in the network; leave it out.")
        self.metapaths = [path for path in asked if counts[path].any()]
        if not self.metapaths:
            listed = f"of at most {max_length} relations " if metapaths is None else ""
            raise ValueError(f"No meta-path {listed}leads from {side.target} to {side.target}, so nothing is similar.")
        kept = np.array([weighed[path] for path in self.metapaths])
        self.weights = kept / kept.sum()
        self._halves = [halves[path] for path in self.metapaths]
        begin = np.array([counts[path] for path in self.metapaths])  # C_i of each meta-path
        # Micro: all paths that begin at a row, whatever meta-path they belong to.
        self._begin = np.broadcast_to(self.weights @ begin, begin.shape) if aggregation == "micro" else begin
        entries = sum(products.entries_of_rows(path) for path in self.metapaths)
        self._entries = np.minimum(entries, len(side))

    def similarities(self, rows: Any = None) -> sp.csr_array:
        """Similarities of some rows to all rows.

        Parameters
        ----------
        rows : array-like of int or slice, default=None
            None for all rows, all similarities of which are held at once then.

        Returns
        -------
        csr_array of shape (n_chosen, n_rows)
            0 where no path leads. That of a row to itself is the share of its paths that lead back to it.
        """
        index = self._index(rows)
        return _sum(self._parts(index))

    def transitions(self, rows: Any = None) -> sp.csr_array:
        """Similarities as shares of all similarities of a row, the mean of both rows' views of a pair.

        ``(s_ij / S_i + s_ij / S_j) / 2``, where S_i is the sum of the similarities of row i.

        Parameters
        ----------
        rows : array-like of int or slice, default=None
            None for all rows, all transitions of which are held at once then.

        Returns
        -------
        csr_array of shape (n_chosen, n_rows)
        """
        return self._shared(self.similarities(rows), self._index(rows))

    def neighbor_graph(self, n_neighbors: int = 10, *, random_state: Any = None) -> sp.csr_array:
        """Joins each row to those with the largest transitions.

        Two rows are joined if either is among the other's `n_neighbors` first. Of rows with equal transitions, as all
        papers of a subject have where nothing else is known of them, some are drawn: a random number of each pair
        decides, so that no row is preferred by all others.

        Parameters
        ----------
        n_neighbors : int, default=10
            What exceeds the rows that are similar at all is cut, so that rows without side information have none.
        random_state : int, RandomState instance or None, default=None
            Draws among equals.

        Returns
        -------
        csr_array of shape (n_rows, n_rows)
            Symmetric, with transitions as weights.
        """
        check_count("n_neighbors", n_neighbors)
        seed = check_random_state(random_state).randint(2**63, dtype=np.uint64)
        firsts, seconds, values = [], [], []
        for block in self._blocks():
            near = self._shared(self.similarities(block), block)
            for place, row in enumerate(block):
                entries = slice(near.indptr[place], near.indptr[place + 1])
                kept = _largest(int(row), near.indices[entries], near.data[entries], n_neighbors, seed)
                firsts.append(np.full(len(kept), row))
                seconds.append(near.indices[entries][kept])
                values.append(near.data[entries][kept])
        shape = self.side.shape
        ends = np.concatenate(firsts), np.concatenate(seconds)
        directed = sp.csr_array((np.concatenate(values), ends), shape=shape)
        return sp.csr_array(directed.maximum(directed.T))

    def top(self, node: Any, n_similar: int = 5) -> list[SimilarRow]:
        """The rows that are most similar to one, and the meta-paths that make them so.

        Parameters
        ----------
        node : int or str
            Its name in the network, or its number where nodes have none.
        n_similar : int, default=5

        Returns
        -------
        list of SimilarRow
            The most similar first, equals in the order of rows; rows that no path leads to are left out.
        """
        check_count("n_similar", n_similar)
        names = self.side.names[self.side.target]
        found = np.flatnonzero(names.astype(str) == str(node))
        if not len(found):
            raise ValueError(
                f"There is no {self.side.target} {node!r}; {suggest(str(node), names.astype(str).tolist())}"
            )
        index = found[:1]
        parts = [part.toarray()[0] for part in self._parts(index)]
        whole = np.sum(parts, axis=0)
        whole[index] = 0
        first = np.argsort(-_rounded(whole), kind="stable")[:n_similar]
        return [
            SimilarRow(int(row), names[row].item(), float(whole[row]), self._reasons([part[row] for part in parts]))
            for row in first
            if whole[row] > 0
        ]

    @cached_property
    def n_pairs(self) -> NDArray[np.int64]:
        return self._first_pass[1]

    def _reasons(self, amounts: list[Any]) -> dict[str, float]:
        order = np.argsort(-np.array(amounts), kind="stable")
        return {str(self.metapaths[k]): float(amounts[k]) for k in order if amounts[k] > 0}

    @cached_property
    def _first_pass(self) -> tuple[Array, NDArray[np.int64]]:
        """The sum of the similarities of each row, and how many pairs each meta-path joins."""
        sums, joined = np.zeros(len(self.side)), np.zeros(len(self.metapaths), dtype=np.int64)
        for block in self._blocks():
            own = np.arange(len(block)), block
            for number, part in enumerate(self._parts(block)):
                sums[block] += part.sum(axis=1)
                joined[number] += part.nnz - np.count_nonzero(part[own])
        return sums, joined // 2

    def _parts(self, index: NDArray[np.intp]) -> Iterator[sp.csr_array]:
        """What each meta-path adds to the similarities of some rows, one after the other."""
        for halves, begin, weight in zip(self._halves, self._begin, self.weights, strict=True):
            counts = _sum(half.rows(index) for half in halves)
            rows = np.repeat(index, np.diff(counts.indptr))
            data = 2 * weight * counts.data / (begin[rows] + begin[counts.indices])
            yield sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)

    def _shared(self, near: sp.csr_array, index: NDArray[np.intp]) -> sp.csr_array:
        """Transitions from similarities."""
        sums = self._first_pass[0]
        over = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        rows = np.repeat(index, np.diff(near.indptr))
        data = near.data * (over[rows] + over[near.indices]) / 2
        return sp.csr_array((data, near.indices, near.indptr), shape=near.shape)

    def _index(self, rows: Any) -> NDArray[np.intp]:
        every = np.arange(len(self.side))
        return every if rows is None else np.atleast_1d(every[rows])

    def _blocks(self) -> Iterator[NDArray[np.intp]]:
        """Rows in blocks of about as many entries as may be held."""
        numbers = np.cumsum(self._entries) // _BLOCK
        yield from np.split(np.arange(len(numbers)), np.flatnonzero(np.diff(numbers)) + 1)


def _sum(parts: Iterable[sp.csr_array]) -> sp.csr_array:
    return sp.csr_array(reduce(add, parts))


def _largest(row: int, others: NDArray, values: Array, count: int, seed: np.uint64) -> NDArray[np.intp]:
    """Places of the `count` largest values above 0 but for the row's own; of equals a number of the pair decides."""
    places = np.flatnonzero((others != row) & (values > 0))
    if len(places) <= count:
        return places
    keys = _rounded(values[places])
    least = np.partition(keys, len(keys) - count)[len(keys) - count]
    above = places[keys > least]
    equal = places[keys == least]
    if len(above) + len(equal) > count:
        drawn = _pair_numbers(row, others[equal], seed)
        equal = equal[np.argpartition(drawn, count - len(above) - 1)[: count - len(above)]]
    return np.sort(np.concatenate([above, equal]))


def _rounded(values: Array) -> Array:
    """Without the last digits, in which sums in another order differ."""
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.round(mantissas * _DIGITS) / _DIGITS, exponents)


def _pair_numbers(row: int, others: NDArray, seed: np.uint64) -> NDArray[np.uint64]:
    """A number of each pair, the same for both of its rows, that looks random (the last steps of splitmix64)."""
    low, high = np.minimum(row, others).astype(np.uint64), np.maximum(row, others).astype(np.uint64)
    mixed = (low << np.uint64(32) | high) ^ seed
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _refuse_repeated(paths: list[MetaPath]) -> None:
    for place, path in enumerate(paths):
        if any(path.steps in (other.steps, other.reversed().steps) for other in paths[:place]):
            raise ValueError(f"The meta-path {path} is given twice; a path and its reverse are one.")


def check_ways(metapaths: Any, max_length: Any, aggregation: Any) -> None:
    """What can be said of these parameters without a network."""
    check_choice("aggregation", aggregation, ("macro", "micro"))
    check_count("max_length", max_length)
    if isinstance(metapaths, str):
        raise ValueError(f"metapaths is a list of meta-paths; give [{metapaths!r}] for one.")
    if metapaths is not None and not isinstance(metapaths, Sequence):
        raise ValueError(f"metapaths is a list of meta-paths, or None for all; got {metapaths!r}.")


def _checked_weights(weights: Weights, names: list[str]) -> list[float]:
    if weights is None:
        return [1.0] * len(names)
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                hint = suggest(str(name), names)
                raise ValueError(f"There is a weight for {name!r}, which is no meta-path here; {hint}")
        given = [weights.get(name, 1.0) for name in names]
    elif not np.iterable(weights):
        raise ValueError(f"weights are a mapping of meta-paths to numbers, or one for each; got {weights!r}.")
    else:
        given = list(weights)
        if len(given) != len(names):
            raise ValueError(f"There are {len(given)} weights for {len(names)} meta-paths; give one for each.")
    checked = [check_non_negative("weights", weight) for weight in given]
    if checked and not any(checked):
        raise ValueError("All meta-paths have the weight 0, so nothing is similar; give one a weight above 0.")
    return checked

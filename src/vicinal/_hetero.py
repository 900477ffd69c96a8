"""Side information: nodes of several types and relations between them; those of one type are the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from ._edges import check_names
from ._metapaths import MetaPath, Relation, Step, all_metapaths, read_metapath
from ._validation import check_count, suggest


class HeteroNetwork:
    """Nodes of several types, and relations between them: what is known of the rows of a table beside its columns.

    One type, the target, are the rows of a table. Indexed with rows it is the network of these rows and of all nodes of
    other types: so a grid search or a pipeline can hand on the right part of it.

    Parameters
    ----------
    relations : mapping of (source, relation, target) to matrix
        Names of two types and of what relates them, such as ``("author", "writes", "paper")``, to a matrix with a row
        for each node of the first type and a column for each of the second: the weight of each link, 0 where there is
        none. Names have no hyphens, which meta-paths are written with. Every relation can be walked both ways, so that
        its opposite is not given.
    target : str
        The type whose nodes are the rows of the table.
    names : mapping of str to sequence, default=None
        For any type the names of its nodes; others are numbered.

    Attributes
    ----------
    relations : mapping of (source, relation, target) to csr_array
    target : str
    names : mapping of str to ndarray
        The names of the nodes of every type.

    See Also
    --------
    from_tables : From tables of edges, or a TOML file that names such tables.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import HeteroNetwork
    >>> writes = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])  # three authors, three papers
    >>> appears = np.array([[1, 0], [1, 0], [0, 1]])  # at two venues
    >>> network = HeteroNetwork(
    ...     {("author", "writes", "paper"): writes, ("paper", "at", "venue"): appears}, target="author"
    ... )
    >>> network
    HeteroNetwork(author 3; paper 3, venue 2; 7 links by 2 relations)
    >>> [str(path) for path in network.metapaths()]
    ['author-writes-paper-writes-author', 'author-writes-paper-at-venue-at-paper-writes-author']
    >>> network[[0, 1]]
    HeteroNetwork(author 2; paper 3, venue 2; 6 links by 2 relations)
    """

    relations: Mapping[Relation, sp.csr_array]
    target: str
    names: Mapping[str, NDArray]

    def __init__(self, relations: Mapping[Any, Any], *, target: str, names: Mapping[str, Any] | None = None):
        if not isinstance(relations, Mapping) or not relations:
            raise ValueError("Relations are a mapping of (source, relation, target) to matrices, with at least one.")
        checked = {check_relation(key): _check_links(key, links) for key, links in relations.items()}
        for source, relation, end in checked:
            if source != end and (end, relation, source) in checked:
                raise ValueError(
                    f"{source}-{relation}-{end} is given twice, once in each direction; every relation can be walked "
                    "both ways, so give it once."
                )
        sizes = _sizes(checked)
        if target not in sizes:
            raise ValueError(f"There are no nodes of the target type {target!r}; {suggest(str(target), sizes)}")
        strange = [kind for kind in names or {} if kind not in sizes]
        if strange:
            raise ValueError(
                f"There are names for nodes of an unknown type {strange[0]!r}; {suggest(strange[0], sizes)}"
            )
        self.names = MappingProxyType(
            {
                kind: check_names(names[kind], size) if names and kind in names else np.arange(size)
                for kind, size in sizes.items()
            }
        )
        self.relations, self.target = MappingProxyType(checked), target

    @property
    def types(self) -> tuple[str, ...]:
        """The types of nodes, the target first."""
        return (self.target, *(kind for kind in self.names if kind != self.target))

    @property
    def n_nodes(self) -> dict[str, int]:
        """The number of nodes of each type."""
        return {kind: len(self.names[kind]) for kind in self.types}

    @property
    def n_links(self) -> dict[Relation, int]:
        """The number of links of each relation; one that goes both ways within a type counts once."""
        mutual = self.mutual
        return {
            key: int(links.nnz + np.count_nonzero(links.diagonal())) // 2 if key in mutual else int(links.nnz)
            for key, links in self.relations.items()
        }

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, twice."""
        return (len(self), len(self))

    @property
    def mutual(self) -> frozenset[Relation]:
        """Relations within one type that lead both ways: those with a symmetric matrix."""
        within = ((key, links) for key, links in self.relations.items() if key[0] == key[2])
        return frozenset(key for key, links in within if not (links - links.T).count_nonzero())

    def links(self, step: Step) -> sp.csr_array:
        """The links of a relation as it is walked.

        Parameters
        ----------
        step : Step
            Of a meta-path.

        Returns
        -------
        csr_array
            A row for each node where the step starts, a column for each where it ends.
        """
        links = self.relations[step.relation]
        return sp.csr_array(links.T) if step.back else links

    def metapaths(self, max_length: int = 4, *, through_target: bool = False) -> list[MetaPath]:
        """The meta-paths from the target back to it, without redundant ones.

        A path and its reverse are one. A path that meets the target on its way consists of shorter ones, and is left
        out: what it says is what these say of the rows in between, while the number of its paths grows with the
        product of theirs, so that it would drown them.

        Parameters
        ----------
        max_length : int, default=4
            The most relations of a path.
        through_target : bool, default=False
            Whether paths that meet the target on their way are listed, too. They matter where rows are related to each
            other: papers that cite the same papers, for example.

        Returns
        -------
        list of MetaPath
            The short ones first, then in the order of relations.
        """
        check_count("max_length", max_length)
        return all_metapaths(self.relations, self.mutual, self.target, max_length, through_target=through_target)

    def metapath(self, text: str | MetaPath) -> MetaPath:
        """The meta-path that a text like "compound-binds-gene-binds-compound" names.

        Parameters
        ----------
        text : str
            Types and relations by turns. ``^-1`` behind a relation within one type walks it back:
            "paper-cites^-1-paper".

        Returns
        -------
        MetaPath
        """
        return read_metapath(str(text), self.relations, self.mutual, self.target)

    def without(self, *relations: Relation) -> HeteroNetwork:
        """The same without some relations, and without types that are left with none.

        Parameters
        ----------
        *relations : tuple of (source, relation, target)
            What is to be predicted, for example, and so must not be known.

        Returns
        -------
        HeteroNetwork
        """
        for relation in relations:
            if relation not in self.relations:
                known = ["-".join(key) for key in self.relations]
                raise ValueError(f"There is no relation {'-'.join(relation)!r}; {suggest('-'.join(relation), known)}")
        left = {key: links for key, links in self.relations.items() if key not in relations}
        kinds = {end for key in left for end in (key[0], key[2])}
        names = {kind: names for kind, names in self.names.items() if kind in kinds}
        return HeteroNetwork(left, target=self.target, names=names)

    def __getitem__(self, rows: Any) -> HeteroNetwork:
        if isinstance(rows, tuple):  # scikit-learn asks for [rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise IndexError(f"A network is indexed by rows alone: network[rows], of its {self.target} nodes.")
            rows = rows[0]
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if isinstance(chosen, np.ndarray) and not chosen.size:
            raise ValueError("A network needs a row at least; those that were asked for are none.")
        index = np.atleast_1d(np.arange(len(self))[chosen])
        part = object.__new__(HeteroNetwork)  # a row may be taken twice, though names differ
        part.target = self.target
        part.relations = MappingProxyType(
            {key: _taken(links, key, self.target, index) for key, links in self.relations.items()}
        )
        part.names = MappingProxyType({**self.names, self.target: self.names[self.target][index]})
        return part

    def __len__(self) -> int:
        return len(self.names[self.target])

    def __getstate__(self) -> dict[str, Any]:
        return {"relations": dict(self.relations), "target": self.target, "names": dict(self.names)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.target = state["target"]
        self.relations, self.names = MappingProxyType(state["relations"]), MappingProxyType(state["names"])

    def __repr__(self) -> str:
        counts = [f"{kind} {size:,}" for kind, size in self.n_nodes.items()]
        n_links, n_relations = sum(self.n_links.values()), len(self.relations)
        links = f"{n_links:,} link{'s' * (n_links != 1)} by {n_relations} relation{'s' * (n_relations != 1)}"
        others = f"{', '.join(counts[1:])}; " if len(counts) > 1 else ""
        return f"HeteroNetwork({counts[0]}; {others}{links})"


def check_side(side: Any, n_rows: int) -> HeteroNetwork:
    """Side information about the rows of X: one node of the target type for each."""
    if not isinstance(side, HeteroNetwork):
        raise ValueError(
            f"side is a {type(side).__name__}; give a vicinal.network.HeteroNetwork, which from_tables makes of tables."
        )
    if len(side) != n_rows:
        raise ValueError(
            f"side has {len(side)} nodes of its target type {side.target}, but X has {n_rows} rows; it needs one for "
            "each, in the order of X."
        )
    return side


def check_relation(key: Any) -> Relation:
    """Three names without hyphens."""
    words = key if isinstance(key, tuple | list) else ()
    if len(words) != 3 or not all(isinstance(word, str) and word.strip() for word in words):
        raise ValueError(f"A relation is named by three words, (source, relation, target); got {key!r}.")
    for word in words:
        if "-" in word or "^" in word:
            raise ValueError(
                f"The name {word!r} of {'-'.join(words)} has a mark that meta-paths are written with; take an "
                "underscore, for example."
            )
    return words[0], words[1], words[2]


def _check_links(key: Any, links: Any) -> sp.csr_array:
    name = "-".join(key)
    checked = sp.csr_array(check_array(links, accept_sparse="csr", dtype=np.float64, input_name=name), copy=True)
    checked.check_format(full_check=True)
    checked.sum_duplicates()
    if checked.nnz and checked.data.min() < 0:
        raise ValueError(f"Links of {name} have weights below 0, down to {checked.data.min():.3g}; give none below 0.")
    checked.eliminate_zeros()
    return checked


def _sizes(relations: Mapping[Relation, sp.csr_array]) -> dict[str, int]:
    """The number of nodes of each type, on which all relations must agree."""
    sizes: dict[str, int] = {}
    first: dict[str, str] = {}
    for key, links in relations.items():
        for kind, size in zip((key[0], key[2]), links.shape, strict=True):
            if sizes.setdefault(kind, size) != size:
                raise ValueError(
                    f"There are {sizes[kind]} nodes of type {kind} by {first[kind]}, but {size} by {'-'.join(key)}; a "
                    "matrix needs a row or a column for each of them."
                )
            first.setdefault(kind, "-".join(key))
    return sizes


def _taken(links: sp.csr_array, key: Relation, target: str, index: NDArray) -> sp.csr_array:
    if key[0] == target:
        links = links[index]
    if key[2] == target:
        links = links[:, index]
    return sp.csr_array(links)

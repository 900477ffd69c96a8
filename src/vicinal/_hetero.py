"""Side information: nodes of several types and relations between them; those of one type are the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from ._edges import check_names, is_symmetric
from ._metapaths import MetaPath, Relation, Step, all_metapaths, read_metapath
from ._validation import check_count, suggest

LARGEST_WEIGHT = 1e50  # paths of four relations weigh products of as many


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
    mutual : frozenset of (source, relation, target)
        Relations within one type that lead both ways: those with a symmetric matrix. Parts of the network have those of
        the whole.

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

    target: str

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
        if not isinstance(target, str) or target not in sizes:
            raise ValueError(f"There are no nodes of the target type {target!r}; {suggest(str(target), sizes)}")
        strange = [kind for kind in names or {} if kind not in sizes]
        if strange:
            kind = str(strange[0])
            raise ValueError(f"There are names for nodes of an unknown type {kind!r}; {suggest(kind, sizes)}")
        self.target, self._relations = target, checked
        self._names = {
            kind: check_names(names[kind], size) if names and kind in names else np.arange(size)
            for kind, size in sizes.items()
        }
        within = ((key, links) for key, links in checked.items() if key[0] == key[2])
        self.mutual = frozenset(key for key, links in within if is_symmetric(links))

    @property
    def relations(self) -> Mapping[Relation, sp.csr_array]:
        return MappingProxyType(self._relations)

    @property
    def names(self) -> Mapping[str, NDArray]:
        return MappingProxyType(self._names)

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
        return {
            key: int(links.nnz + np.count_nonzero(links.diagonal())) // 2 if key in self.mutual else int(links.nnz)
            for key, links in self.relations.items()
        }

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows, twice."""
        return (len(self), len(self))

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
        for relation in map(check_relation, relations):
            if relation not in self.relations:
                known = ["-".join(key) for key in self.relations]
                raise ValueError(f"There is no relation {'-'.join(relation)!r}; {suggest('-'.join(relation), known)}")
        left = {key: links for key, links in self.relations.items() if key not in relations}
        kinds = {end for key in left for end in (key[0], key[2])}
        if self.target not in kinds:
            raise ValueError(f"No relation of {self.target} would be left; keep one at least.")
        return self._with(left, {kind: names for kind, names in self.names.items() if kind in kinds})

    def __getitem__(self, rows: Any) -> HeteroNetwork:
        if isinstance(rows, tuple):  # scikit-learn asks for [rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise IndexError(f"A network is indexed by rows alone: network[rows], of its {self.target} nodes.")
            rows = rows[0]
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if isinstance(chosen, np.ndarray) and not chosen.size:
            raise ValueError("A network needs a row at least; those that were asked for are none.")
        index = np.atleast_1d(np.arange(len(self))[chosen])
        relations = {key: _taken(links, key, self.target, index) for key, links in self.relations.items()}
        return self._with(relations, {**self.names, self.target: self.names[self.target][index]})

    def _with(self, relations: dict[Relation, sp.csr_array], names: dict[str, NDArray]) -> HeteroNetwork:
        """Parts of what was checked before; names stand twice where rows are taken twice."""
        part = object.__new__(HeteroNetwork)
        part.target, part._relations, part._names = self.target, relations, names
        part.mutual = frozenset(self.mutual.intersection(relations))
        return part

    def __len__(self) -> int:
        return len(self.names[self.target])

    def __repr__(self) -> str:
        counts = [f"{kind} {size:,}" for kind, size in self.n_nodes.items()]
        n_links, n_relations = sum(self.n_links.values()), len(self.relations)
        links = f"{n_links:,} link{'s' * (n_links != 1)} by {n_relations} relation{'s' * (n_relations != 1)}"
        others = f"{', '.join(counts[1:])}; " if len(counts) > 1 else ""
        return f"HeteroNetwork({counts[0]}; {others}{links})"


def check_side(side: Any, n_rows: int | None = None) -> HeteroNetwork:
    """Side information about the rows of X, if there is an X: one node of the target type for each."""
    if not isinstance(side, HeteroNetwork):
        raise ValueError(
            f"side is a {type(side).__name__}; give a vicinal.network.HeteroNetwork, which from_tables makes of tables."
        )
    if n_rows is not None and len(side) != n_rows:
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
    low, high = checked.data.min(initial=1.0), checked.data.max(initial=1.0)
    if low < 1 / LARGEST_WEIGHT or high > LARGEST_WEIGHT:
        raise ValueError(
            f"Links of {name} have weights from {low:.3g} to {high:.3g}, products of which cannot be held; divide them "
            "by a number, to bring them near 1."
        )
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

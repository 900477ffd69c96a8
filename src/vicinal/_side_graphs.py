"""Side information from and to graphs of PyTorch Geometric and networkx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._edges import check_names
from ._hetero import HeteroNetwork
from ._metapaths import Relation
from ._optional import need
from ._side_tables import EdgeTable, from_tables

REVERSED = "rev_"  # how PyTorch Geometric's ToUndirected calls the copies that it makes


def hetero_from_pyg(data: Any, target: str) -> HeteroNetwork:
    """Side information from a HeteroData of PyTorch Geometric.

    An edge type that is a transposed copy of another one, as the transform ToUndirected makes them, is left out: every
    relation can be walked both ways. Hyphens in names of types become underscores, since meta-paths are written with
    hyphens.

    Parameters
    ----------
    data : torch_geometric.data.HeteroData
        Its ``edge_weight``, where it has one, weighs links; edges that are listed twice count once. Its ``names``, as
        `hetero_to_pyg` writes them, name the nodes of a type.
    target : str
        The type whose nodes are the rows of the table.

    Returns
    -------
    HeteroNetwork

    See Also
    --------
    hetero_to_pyg : The way back.

    Examples
    --------
    >>> from torch_geometric.datasets import DBLP  # doctest: +SKIP
    >>> from vicinal.network import hetero_from_pyg
    >>> hetero_from_pyg(DBLP("dblp")[0], target="author")  # doctest: +SKIP
    HeteroNetwork(author 4,057; paper 14,328, term 7,723, conference 20; 119,783 links by 3 relations)
    """
    counts, names = {}, {}
    tables = {tuple(map(_word, key)): _pyg_edges(key, data[key]) for key in data.edge_types}
    if len(tables) < len(data.edge_types):
        raise ValueError("Two edge types have the same names but for hyphens; rename one of them.")
    for kind in dict.fromkeys(end for key in data.edge_types for end in (key[0], key[2])):
        store = data[kind]
        if store.num_nodes is None:
            raise ValueError(f"The data do not say how many nodes of type {kind!r} there are; set its num_nodes.")
        counts[_word(kind)] = int(store.num_nodes)
        if getattr(store, "names", None) is not None:
            names[_word(kind)] = check_names(_array(store.names), counts[_word(kind)])
    return _made(tables, _word(target), counts, names)


def hetero_to_pyg(network: HeteroNetwork) -> Any:
    """Side information as a HeteroData of PyTorch Geometric.

    Parameters
    ----------
    network : HeteroNetwork

    Returns
    -------
    torch_geometric.data.HeteroData
        Each type has ``num_nodes`` and ``names``, each relation an ``edge_index`` in its own direction, and an
        ``edge_weight`` where not all links weigh 1.

    See Also
    --------
    hetero_from_pyg : The way back.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import HeteroNetwork, hetero_to_pyg
    >>> network = HeteroNetwork({("drug", "binds", "gene"): np.eye(3)}, target="drug")
    >>> hetero_to_pyg(network)["drug", "binds", "gene"].edge_index.shape  # doctest: +SKIP
    torch.Size([2, 3])
    """
    torch = need("torch", "for tensors of PyTorch Geometric", install="torch")
    module = need("torch_geometric.data", "for its HeteroData", install="torch_geometric")
    data = module.HeteroData()
    for kind, names in network.names.items():
        data[kind].num_nodes = len(names)
        data[kind].names = names.tolist()
    for key, links in network.relations.items():
        ends, weights = _entries(links)
        data[key].edge_index = torch.from_numpy(ends)
        if (weights != 1).any():
            data[key].edge_weight = torch.from_numpy(weights)
    return data


def hetero_from_networkx(
    graph: Any,
    target: str,
    *,
    kind: str = "type",
    relation: str = "relation",
    weight: str | None = None,
    nodelist: Sequence[Any] | None = None,
) -> HeteroNetwork:
    """Side information from a graph of networkx whose nodes and edges say what they are.

    A relation of a graph that is not directed leads both ways if it is within one type, and otherwise starts at the
    type whose nodes come first. Of a directed graph, relations that are transposed copies of others are left out.
    Hyphens in names of types become underscores, since meta-paths are written with hyphens.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Edges that stand twice count once. A node ``(type, name)``, as `hetero_to_networkx` makes them, is called by its
        name; others that are no strings or whole numbers are named by their text.
    target : str
        The type whose nodes are the rows of the table.
    kind : str, default="type"
        The attribute of nodes that says their type.
    relation : str, default="relation"
        The attribute of edges that says their relation.
    weight : str, default=None
        The attribute of edges that holds weights; None gives every link the weight 1.
    nodelist : sequence, default=None
        The nodes of the target type in the order of the rows that they stand for, all of them. None takes them in the
        order in which they were added to the graph, which is rarely that of a table.

    Returns
    -------
    HeteroNetwork

    See Also
    --------
    hetero_to_networkx : The way back.

    Examples
    --------
    >>> import networkx as nx  # doctest: +SKIP
    >>> from vicinal.network import hetero_from_networkx
    >>> graph = nx.Graph()  # doctest: +SKIP
    >>> graph.add_nodes_from(["ann", "bob"], type="author")  # doctest: +SKIP
    >>> graph.add_nodes_from(["p1"], type="paper")  # doctest: +SKIP
    >>> graph.add_edges_from([("ann", "p1"), ("bob", "p1")], relation="writes")  # doctest: +SKIP
    >>> hetero_from_networkx(graph, target="author", nodelist=["bob", "ann"])  # doctest: +SKIP
    HeteroNetwork(author 2; paper 1; 2 links by 1 relation)
    """
    kinds = {node: _word(_said(data, kind, "nodes", node)) for node, data in graph.nodes(data=True)}
    members: dict[str, list[Any]] = {}
    for node, own in kinds.items():
        members.setdefault(own, []).append(node)
    target = _word(target)
    if nodelist is not None:
        members[target] = _ordered(list(nodelist), members.get(target, []), target)
    number = {node: place for nodes in members.values() for place, node in enumerate(nodes)}
    first = {own: place for place, own in enumerate(members)}
    edges: dict[Relation, list[tuple[int, int, Any]]] = {}
    for source, end, data in graph.edges(data=True):
        name = _word(_said(data, relation, "edges", (source, end)))
        amount = 1.0 if weight is None else _said(data, weight, "edges", (source, end))
        if not graph.is_directed() and first[kinds[source]] > first[kinds[end]]:
            source, end = end, source
        edges.setdefault((kinds[source], name, kinds[end]), []).append((number[source], number[end], amount))
    tables = {
        key: EdgeTable(_columns(listed), mutual=key[0] == key[2] and not graph.is_directed())
        for key, listed in edges.items()
    }
    linked = {end for key in tables for end in (key[0], key[2])}
    names = {own: check_names([_name(node, own) for node in nodes]) for own, nodes in members.items() if own in linked}
    return _made(tables, target, {own: len(given) for own, given in names.items()}, names)


def hetero_to_networkx(network: HeteroNetwork) -> Any:
    """Side information as a graph of networkx, whose nodes are pairs of a type and a name.

    Parameters
    ----------
    network : HeteroNetwork

    Returns
    -------
    networkx.MultiDiGraph
        Nodes have the attribute ``type``, edges have ``relation`` and ``weight``. Relations that lead both ways within
        a type have an edge for each direction.

    See Also
    --------
    hetero_from_networkx : The way back.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import HeteroNetwork, hetero_to_networkx
    >>> network = HeteroNetwork({("drug", "binds", "gene"): np.eye(3)}, target="drug")
    >>> hetero_to_networkx(network).edges[("drug", 0), ("gene", 0), "binds"]  # doctest: +SKIP
    {'relation': 'binds', 'weight': 1.0}
    """
    graph = need("networkx", "for its graphs", install="networkx").MultiDiGraph()
    for kind in network.types:
        graph.add_nodes_from(((kind, name) for name in network.names[kind].tolist()), type=kind)
    for (source, relation, end), links in network.relations.items():
        ends, weights = _entries(links)
        sources, targets = network.names[source][ends[0]].tolist(), network.names[end][ends[1]].tolist()
        for a, b, weight in zip(sources, targets, weights.tolist(), strict=True):
            graph.add_edge((source, a), (end, b), key=relation, relation=relation, weight=weight)
    return graph


def _made(
    tables: Mapping[Any, Any], target: str, counts: Mapping[str, int], names: Mapping[str, NDArray]
) -> HeteroNetwork:
    """The network of tables whose nodes are numbers, without relations that are others walked back."""
    if not tables:
        raise ValueError("The graph has no edges, so that there are no relations.")
    links: dict[Relation, sp.csr_array] = {}
    for key in sorted(tables, key=lambda key: key[1].startswith(REVERSED)):
        one = from_tables({key: tables[key]}, target=key[0], nodes={end: counts[end] for end in (key[0], key[2])})
        if not any(_is_copy(key, one.relations[key], other, there) for other, there in links.items()):
            links[key] = one.relations[key]
    kinds = {end for key in links for end in (key[0], key[2])}
    return HeteroNetwork(links, target=target, names={kind: own for kind, own in names.items() if kind in kinds})


def _is_copy(key: Relation, links: sp.csr_array, other: Relation, there: sp.csr_array) -> bool:
    """Whether a relation is another one walked back. Within a type the name must say so: like links may be chance."""
    if (key[0], key[2]) != (other[2], other[0]) or (key[0] == key[2] and key[1] != REVERSED + other[1]):
        return False
    return links.nnz == there.nnz and not (links - there.T).count_nonzero()


def _pyg_edges(key: Relation, store: Any) -> tuple[NDArray, ...]:
    if getattr(store, "edge_index", None) is None:
        raise ValueError(f"The edge type {key} has no edge_index; take the data before they become sparse tensors.")
    ends = _array(store.edge_index)
    weights = getattr(store, "edge_weight", None)
    return (ends[0], ends[1]) if weights is None else (ends[0], ends[1], _array(weights).ravel())


def _array(tensor: Any) -> NDArray:
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _word(name: Any) -> str:
    return str(name).replace("-", "_")


def _entries(links: sp.csr_array) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    entries = sp.coo_array(links)
    return np.stack([entries.row, entries.col]).astype(np.int64), entries.data


def _said(attributes: Mapping[str, Any], name: str, what: str, example: Any) -> Any:
    """An attribute of a node or an edge, which all must have."""
    if attributes.get(name) is None:
        raise ValueError(f"Some {what} have no attribute {name!r}, such as {example!r}; give it to all.")
    return attributes[name]


def _columns(listed: list[tuple[int, int, Any]]) -> tuple[NDArray, ...]:
    sources, ends, weights = zip(*listed, strict=True)
    return np.array(sources), np.array(ends), np.array(weights, dtype=np.float64)


def _name(node: Any, kind: str) -> Any:
    paired = isinstance(node, tuple) and len(node) == 2 and _word(node[0]) == kind
    return node[1] if paired else node


def _ordered(nodelist: list[Any], nodes: list[Any], target: str) -> list[Any]:
    named = set(nodelist)
    missing = [node for node in nodes if node not in named]
    if missing or len(nodelist) != len(nodes):
        such = f", such as {missing[0]!r}" if missing else ""
        raise ValueError(
            f"nodelist must name each of the graph's {len(nodes)} nodes of type {target} once; it has "
            f"{len(nodelist)} entries and lacks {len(missing)}{such}."
        )
    return nodelist

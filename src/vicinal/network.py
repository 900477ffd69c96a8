"""Links between rows: networks that cross-validation can slice, made from edges, matrices and networkx graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ._edges import Edges, check_names, is_symmetric, numbered, once, read_edges
from ._hetero import HeteroNetwork
from ._metapaths import MetaPath
from ._optional import need
from ._side_graphs import hetero_from_networkx, hetero_from_pyg, hetero_to_networkx, hetero_to_pyg
from ._side_tables import EdgeTable, from_tables
from ._validation import check_adjacency, check_choice, check_share

__all__ = [
    "EdgeTable",
    "HeteroNetwork",
    "MetaPath",
    "Network",
    "from_edges",
    "from_networkx",
    "from_tables",
    "hetero_from_networkx",
    "hetero_from_pyg",
    "hetero_to_networkx",
    "hetero_to_pyg",
    "hold_out_links",
]

SelfLoops = Literal["refuse", "drop"]


class Network:
    """Links between nodes, which are rows of a table.

    It can be indexed with rows, and then is the network between these rows: so a grid search or a pipeline can hand on
    the right part of it, where of a matrix it would take rows alone.

    Parameters
    ----------
    adjacency : array-like, sparse matrix or Network of shape (n_nodes, n_nodes)
        The weight of the link from each node to each other one, 0 where there is none. Weights are not negative, and no
        node is linked to itself. Of a Network, names and direction are taken over.
    names : sequence of shape (n_nodes,), default=None
        A name for each node; None numbers them.
    directed : bool, default=None
        Whether a link from a node to another says nothing about the way back. None: if the matrix is not symmetric. A
        network that is not directed needs a symmetric matrix.

    Attributes
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
    names : ndarray of shape (n_nodes,)
    directed : bool

    See Also
    --------
    from_edges : From a list of edges, a data frame or a file.
    from_networkx : From a graph of networkx.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import Network
    >>> network = Network([[0, 1, 0], [1, 0, 1], [0, 1, 0]], names=["ann", "bob", "cleo"])
    >>> network
    Network(3 nodes, 2 links)
    >>> network[[0, 1]].links()
    array([[0, 1]])

    Selectors that look at links take it as it is, also in a grid search:

    >>> from sklearn import set_config
    >>> from sklearn.model_selection import cross_validate
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import SPOP
    >>> from vicinal.network import from_edges
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = (rng.random((60, 20)) < np.where(np.arange(20) < 4, 0.2 + 0.6 * y[:, None], 0.5)).astype(float)
    >>> ends = rng.integers(0, 60, size=(400, 2))
    >>> network = from_edges(ends[(y[ends[:, 0]] == y[ends[:, 1]]) & (ends[:, 0] != ends[:, 1])], nodes=60)
    >>> set_config(enable_metadata_routing=True)
    >>> model = make_pipeline(SPOP(4).set_fit_request(adjacency=True), BernoulliNB())
    >>> scores = cross_validate(model, X, y, params={"adjacency": network})["test_score"]
    >>> set_config(enable_metadata_routing=False)
    >>> bool(scores.mean() > 0.8)
    True
    """

    adjacency: sp.csr_array
    names: NDArray
    directed: bool

    def __init__(self, adjacency: Any, *, names: Any = None, directed: bool | None = None):
        if isinstance(adjacency, Network):
            names = adjacency.names if names is None else names
            directed, adjacency = adjacency.directed if directed is None else directed, adjacency.adjacency
        shape = np.shape(adjacency) if not hasattr(adjacency, "shape") else adjacency.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(
                f"A network's adjacency has a row and a column for each node; its shape is {tuple(shape)}. If it was "
                "taken of a larger matrix A by rows, take A[rows][:, rows]; for a list of edges there is from_edges."
            )
        weights = check_adjacency(adjacency, shape[0])
        symmetric = is_symmetric(weights)
        if directed is False and not symmetric:
            raise ValueError(
                "The adjacency is not symmetric, so that the network is directed; give (A + A.T) for an adjacency A, "
                "or leave out directed=False."
            )
        self.adjacency = weights
        self.names = np.arange(shape[0]) if names is None else check_names(names, shape[0])
        self.directed = not symmetric if directed is None else bool(directed)

    @property
    def shape(self) -> tuple[int, int]:
        """(n_nodes, n_nodes)."""
        return self.adjacency.shape

    @property
    def n_nodes(self) -> int:
        return self.adjacency.shape[0]

    @property
    def n_links(self) -> int:
        """The number of links; one that goes both ways counts once, unless the network is directed."""
        return self.adjacency.nnz if self.directed else self.adjacency.nnz // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """How many nodes each node is linked to."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    def links(self) -> NDArray[np.int64]:
        """The numbers of the two nodes of each link.

        Returns
        -------
        ndarray of shape (n_links, 2)
            In the order of rows; where the network is not directed, each link once and the smaller number first.
        """
        return links_of(self.adjacency, directed=self.directed)

    def tocsr(self) -> sp.csr_array:
        """The adjacency."""
        return self.adjacency

    def undirected(self) -> Network:
        """The same network with all links in both directions; of two different weights the larger counts.

        Returns
        -------
        Network
        """
        if not self.directed:
            return self
        return _made(sp.csr_array(self.adjacency.maximum(self.adjacency.T)), self.names, directed=False)

    def to_networkx(self) -> Any:
        """The same as a graph of networkx, whose nodes are the names.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            Links have their weights.
        """
        networkx = need("networkx", "for its graphs", install="networkx")
        graph = (networkx.DiGraph if self.directed else networkx.Graph)()
        graph.add_nodes_from(self.names.tolist())
        ends = self.links()
        weights = self.adjacency[ends[:, 0], ends[:, 1]]
        names = self.names[ends].tolist()
        graph.add_weighted_edges_from((a, b, weight) for (a, b), weight in zip(names, weights.tolist(), strict=True))
        return graph

    def __getitem__(self, rows: Any) -> Network:
        if isinstance(rows, tuple):  # scikit-learn asks for [rows, ...]
            if len(rows) != 2 or rows[1] is not Ellipsis:
                raise IndexError("A network is indexed by rows alone: network[rows] is the network between them.")
            rows = rows[0]
        chosen = rows if isinstance(rows, slice) else np.asarray(rows)
        if isinstance(chosen, np.ndarray) and not chosen.size:
            raise ValueError("A network needs a node at least; the rows that were asked for are none.")
        index = np.atleast_1d(np.arange(self.n_nodes)[chosen])
        return _made(self.adjacency[index][:, index], self.names[index], self.directed)

    def __len__(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        kind = ", directed" if self.directed else ""
        nodes, links = (f"{n:,} {what}{'s' * (n != 1)}" for n, what in ((self.n_nodes, "node"), (self.n_links, "link")))
        return f"Network({nodes}, {links}{kind})"


def from_edges(
    edges: Any,
    *,
    nodes: Any = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool = False,
    self_loops: SelfLoops = "refuse",
) -> Network:
    """A network from a list of edges.

    An edge that is listed more than once, or in both directions where the network is not directed, is one link; its
    weights must agree.

    Parameters
    ----------
    edges : array of shape (n_edges, 2), tuple of arrays, data frame or path
        The two ends of each edge, as numbers or names of nodes: an array, a tuple ``(source, target)`` or ``(source,
        target, weight)`` of flat arrays, a frame of pandas or polars, or a file of lines, separated by commas, tabs,
        semicolons or spaces, with or without a header.
    nodes : int or sequence, default=None
        The names of the nodes in the order of the rows that they stand for, or how many there are, if they are numbered
        from 0. None: those that edges name, sorted; nodes without edges are not known then.
    source, target : str, default=None
        The columns of frames and files that hold the ends. None: "source" and "target" if these are there, otherwise
        the first two.
    weight : str, default=None
        The column that holds weights; None gives every link the weight 1.
    directed : bool, default=False
        Whether edges lead from source to target only.
    self_loops : {"refuse", "drop"}, default="refuse"
        What is done with edges from a node to itself.

    Returns
    -------
    Network

    Examples
    --------
    >>> import pandas as pd
    >>> from vicinal.network import from_edges
    >>> cited = pd.DataFrame({"paper": ["a", "b", "b"], "by": ["b", "a", "c"]})
    >>> from_edges(cited, nodes=["a", "b", "c", "d"])
    Network(4 nodes, 2 links)
    >>> from_edges(cited, nodes=["a", "b"])
    Traceback (most recent call last):
        ...
    ValueError: Edges name a node that is not among the 2 known ones: 'c' (row 2). Known are a, b.
    """
    check_choice("self_loops", self_loops, ("refuse", "drop"))
    nodes = nodes if nodes is None or isinstance(nodes, int | np.integer | np.ndarray) else list(nodes)
    known = {str(name) for name in nodes} if isinstance(edges, str | Path) and np.iterable(nodes) else None
    listed = read_edges(edges, source, target, weight, known)
    first, second, names = numbered(listed, nodes)
    if not len(names):
        raise ValueError("There are no edges, and nodes are not given: say with nodes=... which there are.")
    loops = first == second
    if loops.any() and self_loops == "refuse":
        raise ValueError(f"{_loops_in_words(listed, loops)}; leave them out, or say self_loops='drop'.")
    first, second = first[~loops], second[~loops]
    weights = np.ones(len(first)) if listed.weight is None else listed.weight[~loops]
    if not directed:
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
        weights = np.tile(weights, 2)
    adjacency = once(first, second, weights, (names, names))
    return Network(adjacency, names=names, directed=directed)


def from_networkx(
    graph: Any, nodelist: Any = None, *, weight: str | None = None, self_loops: SelfLoops = "refuse"
) -> Network:
    """A network from a graph of networkx.

    Parameters
    ----------
    graph : networkx.Graph or networkx.DiGraph
    nodelist : sequence, default=None
        The nodes in the order of the rows that they stand for, all of them. None takes them as the graph has them, in
        the order in which they were added, which is rarely that of a table.
    weight : str, default=None
        The attribute of edges that holds weights; None gives every link the weight 1.
    self_loops : {"refuse", "drop"}, default="refuse"
        What is done with edges from a node to itself.

    Returns
    -------
    Network
        Directed if the graph is. Nodes that are no strings or whole numbers are named by their text.

    Examples
    --------
    >>> import networkx as nx  # doctest: +SKIP
    >>> from vicinal.network import from_networkx
    >>> from_networkx(nx.karate_club_graph())  # doctest: +SKIP
    Network(34 nodes, 78 links)
    """
    check_choice("self_loops", self_loops, ("refuse", "drop"))
    nodes = list(graph.nodes) if nodelist is None else list(nodelist)
    number = {node: place for place, node in enumerate(nodes)}
    unknown = [node for node in graph.nodes if node not in number]
    if unknown or len(number) < graph.number_of_nodes() or len(nodes) > len(number):
        missing = f", such as {unknown[0]!r}" if unknown else ""
        raise ValueError(
            f"nodelist must name each of the graph's {graph.number_of_nodes()} nodes once; it has {len(nodes)} "
            f"entries, {len(number)} of them different, and lacks {len(unknown)}{missing}. Take graph.subgraph(nodes) "
            "of fewer."
        )
    ends = [(number[a], number[b]) for a, b in graph.edges()]
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    columns: tuple[NDArray, ...] = (pairs[:, 0], pairs[:, 1])
    if weight is not None:
        given = [data.get(weight) for _, _, data in graph.edges(data=True)]
        if any(value is None for value in given):
            raise ValueError(f"Some edges have no attribute {weight!r}; give it to all, or leave out weight.")
        columns = (*columns, np.array(given, dtype=np.float64))
    made = from_edges(columns, nodes=len(nodes), directed=graph.is_directed(), self_loops=self_loops)
    return _made(made.adjacency, check_names(nodes), made.directed)


def hold_out_links(
    adjacency: Any, share: float = 0.1, *, random_state: Any = None
) -> tuple[Network, NDArray[np.int64]]:
    """A network without some of its links, and these links: to see what is worth without them what is found.

    Parameters
    ----------
    adjacency : array-like, sparse matrix or Network of shape (n_nodes, n_nodes)
    share : float, default=0.1
        The share of links that are taken out, at least one.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    network : Network
        All nodes, and the links that are left.
    held : ndarray of shape (n_held, 2)
        The numbers of the two nodes of every link that was taken out, once.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import hold_out_links
    >>> network, held = hold_out_links(1 - np.eye(5), 0.2, random_state=0)
    >>> network, held.shape
    (Network(5 nodes, 8 links), (2, 2))
    """
    network = adjacency if isinstance(adjacency, Network) else Network(adjacency)
    check_share("share", share)
    if not network.n_links:
        raise ValueError("The network has no links, so that none can be held out.")
    links = network.links()
    n_held = max(1, round(share * len(links)))
    drawn = np.sort(check_random_state(random_state).permutation(len(links))[:n_held])
    held = links[drawn]
    ends = held if network.directed else np.concatenate([held, held[:, ::-1]])
    taken = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=network.shape)
    left = network.adjacency - network.adjacency.multiply(taken)
    left.eliminate_zeros()
    return _made(sp.csr_array(left), network.names, network.directed), held


def links_of(adjacency: sp.csr_array, *, directed: bool) -> NDArray[np.int64]:
    """The two ends of every entry of a CSR matrix; where it is symmetric, of those above the diagonal."""
    first = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    ends = np.column_stack([first, adjacency.indices]).astype(np.int64)
    return ends if directed else ends[ends[:, 0] < ends[:, 1]]


def _made(adjacency: sp.csr_array, names: NDArray, directed: bool) -> Network:
    """Parts of what was checked before; names stand twice where rows are drawn twice."""
    network = Network.__new__(Network)
    adjacency.sort_indices()
    network.adjacency, network.names, network.directed = adjacency, names, directed
    return network


def _loops_in_words(edges: Edges, loops: NDArray[np.bool_]) -> str:
    where = np.flatnonzero(loops)
    named = ", ".join(f"{edges.source[edge]} ({edges.place(int(edge))})" for edge in where[:10])
    more = f" and {len(where) - 10} more" if len(where) > 10 else ""
    subject = "Edges lead" if len(where) > 1 else "An edge leads"
    return f"{subject} from a node to itself: {named}{more}"

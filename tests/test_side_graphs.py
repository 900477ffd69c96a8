"""Side information from and to PyTorch Geometric and networkx; the former by a stand-in that has its attributes."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.network import (
    HeteroNetwork,
    hetero_from_networkx,
    hetero_from_pyg,
    hetero_to_networkx,
    hetero_to_pyg,
)

WRITES, CITES, AT = ("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "at", "venue")


class Tensor:
    """As much of a torch.Tensor as is read."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class Store(SimpleNamespace):
    num_nodes = None


class HeteroData:
    """As much of torch_geometric.data.HeteroData as is read and written."""

    def __init__(self):
        self.stores = {}

    def __getitem__(self, key):
        return self.stores.setdefault(key, Store())

    @property
    def edge_types(self):
        return [key for key in self.stores if isinstance(key, tuple)]

    @property
    def node_types(self):
        return [key for key in self.stores if isinstance(key, str)]

    def metadata(self):
        return self.node_types, self.edge_types


def pyg(edges, **counts):
    data = HeteroData()
    for kind, count in counts.items():
        data[kind].num_nodes = count
    for key, ends in edges.items():
        data[key].edge_index = Tensor(ends)
    return data


def same(one, other):
    assert one.target == other.target
    assert one.n_nodes == other.n_nodes
    for kind in one.types:
        np.testing.assert_array_equal(one.names[kind], other.names[kind])
    assert one.relations.keys() == other.relations.keys()
    for key, links in one.relations.items():
        np.testing.assert_array_equal(links.toarray(), other.relations[key].toarray())


@pytest.fixture
def network():
    rng = np.random.default_rng(0)
    relations = {
        WRITES: rng.integers(0, 2, (4, 6)),
        CITES: np.triu(rng.integers(0, 2, (6, 6)), 1),
        AT: sp.csr_array(rng.integers(0, 3, (6, 2)) * 0.5),
    }
    return HeteroNetwork(relations, target="author", names={"author": ["ann", "bob", "cleo", "dan"]})


def test_from_pyg():
    data = pyg({WRITES: [[0, 2, 2, 2], [1, 0, 1, 1]]}, author=3, paper=2)
    network = hetero_from_pyg(data, target="author")
    assert network.relations[WRITES].toarray().tolist() == [[0, 1], [0, 0], [1, 1]]
    data[WRITES].edge_weight = Tensor([[0.5], [2.0], [3.0], [3.0]])
    assert hetero_from_pyg(data, target="paper").relations[WRITES].toarray().tolist() == [[0, 0.5], [0, 0], [2, 3]]


def test_transposed_copies_are_left_out():
    ends = np.array([[0, 2, 2], [1, 0, 1]])
    edges = {("paper", "rev_writes", "author"): ends[::-1], WRITES: ends, CITES: [[0, 1], [2, 2]]}
    edges["paper", "rev_cites", "paper"] = np.array(edges[CITES])[::-1]
    network = hetero_from_pyg(pyg(edges, author=3, paper=3), target="author")
    assert list(network.relations) == [WRITES, CITES]
    to = {("author", "to", "paper"): ends, ("paper", "to", "author"): ends[::-1]}
    assert list(hetero_from_pyg(pyg(to, author=3, paper=3), "author").relations) == [("author", "to", "paper")]


def test_relations_with_other_links_stay():
    edges = {WRITES: [[0, 1], [0, 1]], ("paper", "rev_writes", "author"): [[0, 1], [0, 2]]}
    assert len(hetero_from_pyg(pyg(edges, author=3, paper=3), "author").relations) == 2
    like = {("paper", "like", "paper"): [[0, 1], [1, 0]], ("paper", "near", "paper"): [[0, 1], [1, 0]]}
    assert len(hetero_from_pyg(pyg(like, paper=2), "paper").relations) == 2


def test_hyphens_become_underscores():
    data = pyg({("drug", "binds-to", "side-effect"): [[0], [1]]}, drug=1, **{"side-effect": 2})
    assert list(hetero_from_pyg(data, "drug").relations) == [("drug", "binds_to", "side_effect")]
    data["drug", "binds_to", "side-effect"].edge_index = Tensor([[0], [0]])
    with pytest.raises(ValueError, match="the same names but for hyphens"):
        hetero_from_pyg(data, "drug")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (pyg({WRITES: [[0], [1]]}, author=1), "do not say how many nodes of type 'paper' there are; set its num_nodes"),
        (pyg({WRITES: [[0], [2]]}, author=1, paper=2), "author-writes-paper: Edges name a node of type paper that is"),
        (pyg({}, author=1), "The graph has no edges, so that there are no relations"),
        (pyg({WRITES: [[0], [0]]}, author=1, paper=1), "no nodes of the target type 'writer'"),
    ],
    ids=["no number", "unknown node", "no edges", "unknown target"],
)
def test_what_pyg_must_say(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        hetero_from_pyg(data, target="writer")


def test_pyg_needs_lists_of_edges():
    data = pyg({}, author=1, paper=1)
    data[WRITES].adj_t = object()
    with pytest.raises(ValueError, match=r"edge type \('author', 'writes', 'paper'\) has no edge_index"):
        hetero_from_pyg(data, "author")


def test_pyg_there_and_back(network, monkeypatch):
    modules = {name: ModuleType(name) for name in ("torch", "torch_geometric", "torch_geometric.data")}
    modules["torch"].from_numpy = Tensor
    modules["torch_geometric.data"].HeteroData = HeteroData
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    data = hetero_to_pyg(network)
    assert data.metadata() == (["author", "paper", "venue"], [WRITES, CITES, AT])
    assert not hasattr(data[WRITES], "edge_weight")
    assert np.asarray(data[AT].edge_index).dtype == np.int64
    same(hetero_from_pyg(data, "author"), network)


def test_pyg_is_needed(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(ModuleNotFoundError):
        hetero_to_pyg(network)


def test_networkx_there_and_back(network):
    graph = hetero_to_networkx(network)
    assert graph.number_of_nodes() == 12
    assert graph.nodes["author", "bob"] == {"type": "author"}
    same(hetero_from_networkx(graph, "author", weight="weight"), network)
    shuffled = [("author", name) for name in ("dan", "ann", "cleo", "bob")]
    other = hetero_from_networkx(graph, "author", weight="weight", nodelist=shuffled)
    same(other[[1, 3, 2, 0]], network)


def test_graphs_without_direction():
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiGraph()
    graph.add_nodes_from(["p1", "p2"], sort="paper")
    graph.add_nodes_from(["bob", 7], sort="author")
    graph.add_edges_from([("bob", "p2"), ("p1", "bob"), (7, "p1"), (7, "p1")], what="writes")
    graph.add_edge("p1", "p2", what="like-minded")
    network = hetero_from_networkx(graph, "paper", kind="sort", relation="what")
    assert network.relations["paper", "writes", "author"].toarray().tolist() == [[1, 1], [1, 0]]
    assert network.mutual == {("paper", "like_minded", "paper")}
    assert network.names["author"].tolist() == ["bob", "7"]


def test_what_networkx_must_say():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(["a", "b"], type="drug")
    graph.add_node("g", type="gene")
    graph.add_edge("a", "g", relation="binds")
    with pytest.raises(
        ValueError, match="must name each of the graph's 2 nodes of type drug once; it has 1 entries and"
    ):
        hetero_from_networkx(graph, "drug", nodelist=["a"])
    with pytest.raises(ValueError, match=r"Some edges have no attribute 'kd', such as \('a', 'g'\)"):
        hetero_from_networkx(graph, "drug", weight="kd")
    graph.add_edge("b", "g")
    with pytest.raises(ValueError, match=r"Some edges have no attribute 'relation', such as \('b', 'g'\)"):
        hetero_from_networkx(graph, "drug")
    graph.add_node("c")
    with pytest.raises(ValueError, match="Some nodes have no attribute 'type', such as 'c'; give it to all"):
        hetero_from_networkx(graph, "drug")
    with pytest.raises(ValueError, match="The graph has no edges"):
        hetero_from_networkx(networkx.Graph(), "drug")

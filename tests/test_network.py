"""Networks: what they are made of, what they refuse, and that cross-validation slices them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline

from vicinal import SPOP
from vicinal.datasets import Sample
from vicinal.network import Network, from_edges, from_networkx, hold_out_links, is_symmetric

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def ring(n):
    return sp.csr_array(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csr_matrix, sp.coo_array, np.ndarray.tolist])
def test_takes_every_kind_of_matrix(convert):
    network = Network(convert(ring(5).toarray()))
    assert (network.n_nodes, network.n_links, network.directed, len(network)) == (5, 5, False, 5)
    np.testing.assert_array_equal(network.tocsr().toarray(), ring(5).toarray())
    np.testing.assert_array_equal(network.links(), [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)])
    np.testing.assert_array_equal(network.degrees, np.full(5, 2))


@pytest.mark.parametrize(
    "rows", [[3, 1, 2], np.array([3, 1, 2]), np.array([False, True, True, True, False]), slice(1, 4)]
)
def test_rows_give_the_induced_subgraph(rows):
    network = Network(ring(5), names=list("abcde"))
    part = network[rows]
    index = np.arange(5)[rows]
    np.testing.assert_array_equal(part.tocsr().toarray(), ring(5).toarray()[np.ix_(index, index)])
    np.testing.assert_array_equal(part.names, np.array(list("abcde"))[index])
    np.testing.assert_array_equal(network[rows, ...].tocsr().toarray(), part.tocsr().toarray())


def test_rows_alone_index_a_network():
    with pytest.raises(IndexError, match="indexed by rows alone"):
        Network(ring(5))[[0, 1], [0, 1]]


def test_a_row_drawn_twice_stands_twice():
    assert Network(ring(4))[[0, 0, 1]].tocsr().toarray().tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]


def test_directed_links():
    network = from_edges([(0, 1), (1, 2), (1, 0)], directed=True)
    assert network.directed
    assert network.n_links == 3
    assert repr(network) == "Network(3 nodes, 3 links, directed)"
    assert network.undirected().tocsr().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    with pytest.raises(ValueError, match="not symmetric, so that the network is directed"):
        Network(network.tocsr(), directed=False)


@pytest.mark.parametrize(
    ("adjacency", "sentence"),
    [
        (np.ones((2, 3)), r"row and a column for each node; its shape is \(2, 3\)"),
        (np.ones(3), r"its shape is \(3,\)"),
        (np.eye(3), "links 3 rows to themselves, such as row 0; set its diagonal to 0"),
        ([[0, -1], [-1, 0]], "negative weights, down to -1"),
        ([[0, np.nan], [np.nan, 0]], "contains NaN"),
        ([[0, np.inf], [np.inf, 0]], "contains infinity"),
    ],
)
def test_bad_matrices(adjacency, sentence):
    with pytest.raises(ValueError, match=sentence):
        Network(adjacency)


def test_names_are_one_for_each_and_differ():
    with pytest.raises(ValueError, match="2 names for 3 nodes"):
        Network(ring(3), names=["a", "b"])
    with pytest.raises(ValueError, match="must differ, but these stand more than once: 'a'"):
        Network(ring(3), names=["a", "b", "a"])


@pytest.mark.parametrize(
    "edges",
    [
        TRIANGLE,
        np.array(TRIANGLE),
        ([0, 1, 2], [1, 2, 0]),
        pd.DataFrame(TRIANGLE, columns=["a", "b"]),
        pl.DataFrame(TRIANGLE, schema=["a", "b"], orient="row"),
        pd.DataFrame({"target": [1, 2, 0], "weight": [3, 3, 3], "source": [0, 1, 2]}),
        pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 2.0, 0.0]}),
        pd.DataFrame({"a": ["0", "1", "2"], "b": ["1", "2", "0"]}),
    ],
    ids=lambda edges: type(edges).__name__,
)
def test_edges_of_all_kinds(edges):
    network = from_edges(edges, nodes=4)
    assert network.n_links == 3
    assert network.degrees.tolist() == [2, 2, 2, 0]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("links.csv", "source,target\nb,a\na,c\n"),
        ("links.csv", "paper,cites\nb,a\na,c\n"),
        ("links.csv", "b,a\na,c\n"),
        ("links.tsv", "source\ttarget\nb\ta\na\tc\n"),
        ("links.txt", "b a\na c\n"),
        ("links.csv", '"source";"target";"year"\n"b";"a";1\n"a";"c";2\n'),
    ],
)
def test_files_of_edges(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    network = from_edges(path, nodes=["a", "b", "c"])
    assert network.links().tolist() == [[0, 1], [0, 2]]
    np.testing.assert_array_equal(from_edges(str(path), nodes="abc").tocsr().toarray(), network.tocsr().toarray())


def test_unknown_nodes_are_listed_with_their_lines(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(20)))
    with pytest.raises(ValueError, match=r"18 nodes .* among the 3 known ones: '3' \(line 4\), .* and 8 more"):
        from_edges(path, nodes=3)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,b\nx,y\n", {"source": "from", "target": "to"}, "links.csv has no column 'from'; its columns are 'a', 'b'"),
        ("a,b\nx,y\n", {"source": "a"}, "Name both ends of edges"),
        ("a\nx\n", {}, "links.csv has one column; edges need two"),
        ("source,target\nx,\ny,z\n", {}, "Edges without a target: line 2"),
        ("source,target,w\nx,y,much\n", {"weight": "w"}, "Weights of edges are numbers"),
        ("source,target,w\nx,y,1\ny,x,2\n", {"weight": "w"}, "listed with the weights 1 and 2"),
        ("source,target\nx,x\nx,y\n", {}, r"An edge leads from a node to itself: x \(line 2\)"),
        ("source,target,w\nx,y,-1\n", {"weight": "w"}, r"at least 0; these are not: -1 \(line 2\)"),
        ("source,target,w\nx,y,1\ny,z,\n", {"weight": "w"}, r"these are not: nan \(line 3\)"),
        ("a,a\nx,y\n", {"source": "a", "target": "b"}, "columns of the same name"),
        ("", {}, "is empty"),
    ],
)
def test_bad_files(tmp_path, text, options, sentence):
    path = tmp_path / "links.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        from_edges(path, **options)


def test_bad_lists():
    with pytest.raises(ValueError, match="has two columns"):
        from_edges(np.ones((3, 3)))
    with pytest.raises(ValueError, match="two flat arrays of one length"):
        from_edges(([0, 1], [1]))
    with pytest.raises(ValueError, match="arrays have none"):
        from_edges([(0, 1)], source="a")
    with pytest.raises(ValueError, match="There are no edges"):
        from_edges(np.empty((0, 2)))
    with pytest.raises(FileNotFoundError, match="There is no file"):
        from_edges("nowhere.csv")


def test_duplicates_are_one_link_and_self_loops_can_be_dropped():
    network = from_edges([(0, 1), (1, 0), (0, 1), (2, 2)], nodes=3, self_loops="drop")
    assert network.n_links == 1
    assert network.tocsr().max() == 1
    assert from_edges(([0, 1], [1, 0], [2.5, 2.5])).tocsr()[0, 1] == 2.5


def test_networkx_there_and_back():
    networkx = pytest.importorskip("networkx")
    graph = networkx.karate_club_graph()
    network = from_networkx(graph, nodelist=sorted(graph, reverse=True), weight="weight")
    assert network.names.tolist() == sorted(graph, reverse=True)
    back = network.to_networkx()
    assert {frozenset(edge) for edge in back.edges} == {frozenset(edge) for edge in graph.edges}
    assert all(back[a][b]["weight"] == graph[a][b]["weight"] for a, b in graph.edges)
    assert from_networkx(networkx.DiGraph([("x", "y")])).to_networkx().is_directed()
    with pytest.raises(ValueError, match="must name each of the graph's 34 nodes once"):
        from_networkx(graph, nodelist=[0, 1])
    with pytest.raises(ValueError, match="no attribute 'length'"):
        from_networkx(graph, weight="length")


def test_held_out_links_are_gone_and_the_others_stay():
    network = Network(ring(50))
    left, held = hold_out_links(network, 0.2, random_state=0)
    assert (left.n_links, len(held)) == (40, 10)
    assert (left.tocsr()[held[:, 0], held[:, 1]] == 0).all()
    together = {tuple(link) for link in left.links()} | {tuple(link) for link in held}
    assert together == {tuple(link) for link in network.links()}
    assert (left.tocsr() != left.tocsr().T).nnz == 0
    with pytest.raises(ValueError, match="no links"):
        hold_out_links(sp.csr_array((3, 3)))


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = (rng.random((120, 30)) < 0.3).astype(float)
    for group in range(3):
        X[y == group, group] = rng.random(40) < 0.9
    ends = rng.integers(0, 120, size=(2000, 2))
    ends = ends[(y[ends[:, 0]] == y[ends[:, 1]]) & (ends[:, 0] != ends[:, 1])]
    return X, y, from_edges(ends, nodes=120)


def test_pipelines_and_searches_slice_a_network(groups):
    X, y, network = groups
    with config_context(enable_metadata_routing=True):
        selector = SPOP(3).set_fit_request(adjacency=True)
        search = GridSearchCV(
            make_pipeline(selector, BernoulliNB()), {"spop__n_features_to_select": [1, 3]}, error_score="raise"
        )
        search.fit(X, y, adjacency=network)
        assert search.best_params_ == {"spop__n_features_to_select": 3}
        assert set(search.best_estimator_[0].get_support(indices=True)) == {0, 1, 2}
        scores = cross_validate(
            make_pipeline(selector, BernoulliNB()), X, y, params={"adjacency": network}, error_score="raise"
        )["test_score"]
        assert scores.mean() > 0.6  # a third by chance
        with pytest.raises(ValueError, match=r"pass vicinal.network.Network\(A\)"):
            cross_validate(
                make_pipeline(selector, BernoulliNB()),
                X,
                y,
                params={"adjacency": network.tocsr()},
                error_score="raise",
            )


def test_a_sample_slices_a_network(groups):
    X, y, network = groups
    part = Sample(X, y, adjacency=network)[np.arange(0, 120, 2)]
    assert part.adjacency.shape == (60, 60)
    np.testing.assert_array_equal(part.adjacency.tocsr().toarray(), network.tocsr().toarray()[::2, ::2])


@pytest.mark.parametrize(
    ("text", "nodes", "n_links"),
    [
        ("ann,bob\nbob,cleo\n", None, 2),  # bob stands again: no header
        ("paper,cites\nann,bob\nbob,cleo\n", None, 2),
        ("paper,cites\nann,bob\nbob,cleo\n", ["ann", "bob", "cleo"], 2),
        ("\ufeff0,1\n1,2\n", 3, 2),
        ("\ufeffsource,target\n0,1\n", 3, 1),
        ("ann, bob\nbob, cleo\n", ["ann", "bob", "cleo"], 2),
        ("0   1\n1   2\n", 3, 2),
        ("1,2\n2,3\n", None, 2),
    ],
)
def test_the_first_line_of_a_file_is_a_header_or_an_edge(tmp_path, text, nodes, n_links):
    path = tmp_path / "links.csv"
    path.write_text(text, encoding="utf-8")
    network = from_edges(path, nodes=nodes)
    assert (network.n_nodes, network.n_links) == (3, n_links)


def test_an_unknown_node_in_the_first_line_is_named(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("ann,zed\nbob,cleo\n")
    with pytest.raises(ValueError, match=r"known ones: 'zed' \(line 1\)"):
        from_edges(path, nodes=["ann", "bob", "cleo"])


def test_nodes_of_any_kind(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("0,1\n1,2\n")
    for nodes in (range(3), (node for node in range(3)), np.arange(3.0), pd.Index([0, 1, 2])):
        assert from_edges(path, nodes=nodes).names.tolist() == [0, 1, 2]


def test_missing_ends_of_frames():
    frame = pd.DataFrame({"a": pd.array(["x", None], dtype="string"), "b": ["y", "z"]})
    with pytest.raises(ValueError, match="Edges without a source: row 1"):
        from_edges(frame, nodes=list("xyz"))


def test_a_network_of_a_network_is_the_same():
    network = Network(np.eye(3, k=1), names=["a", "b", "c"])
    again = Network(network)
    assert again.directed
    assert again.names.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="needs a node at least"):
        network[[]]


def test_symmetric_is_symmetric_in_weights_too():
    assert is_symmetric(sp.csr_array([[0.0, 2.0], [2.0, 0.0]]))
    assert not is_symmetric(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    assert not is_symmetric(sp.csr_array([[0.0, 2.0], [0.0, 0.0]]))


def test_unknown_nodes_come_with_known_ones_that_are_near():
    with pytest.raises(ValueError, match=r"'p0004' .* Did you mean 'p004'"):
        from_edges([("p001", "p0004")], nodes=["p001", "p004"])
    with pytest.raises(ValueError, match=r"'500' .* Known are 0 to 119"):
        from_edges([(3, 500)], nodes=120)

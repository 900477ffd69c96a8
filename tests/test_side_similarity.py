"""SideSim against paths counted one by one, its graph, its reasons and what it refuses."""

import re

import numpy as np
import pytest
from hetero_networks import brute_similarities, count_paths, networks
from hypothesis import assume, given
from hypothesis import strategies as st

from vicinal import _path_products, _side_similarity
from vicinal._path_products import PathProducts
from vicinal.graphs import SideSim
from vicinal.network import HeteroNetwork

BOTH = pytest.mark.parametrize("aggregation", ["micro", "macro"])


def similarity_of(network, **parameters):
    assume(any(count_paths(network, path).any() for path in network.metapaths(4)))
    return SideSim(network, **parameters)


@BOTH
@given(network=networks(), seed=st.integers(0, 1000))
def test_similarities_are_the_equations(aggregation, network, seed):
    sim = similarity_of(network, aggregation=aggregation)
    weights = np.random.default_rng(seed).random(len(sim.metapaths)) + 0.1
    by_name = {str(path): weight for path, weight in zip(sim.metapaths, weights, strict=True)}
    sim = SideSim(network, aggregation=aggregation, weights=by_name)
    expected = brute_similarities(network, sim.metapaths, weights / weights.sum(), aggregation)
    np.testing.assert_allclose(sim.similarities().toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(sim.similarities([0]).toarray(), expected[:1], atol=1e-12)
    joined = [np.count_nonzero(np.triu(count_paths(network, path), 1)) for path in sim.metapaths]
    assert sim.n_pairs.tolist() == joined


@given(network=networks())
def test_halves_make_the_numbers_of_paths(network):
    products = PathProducts(network)
    for path in network.metapaths(4, through_target=True):
        halves = products.halves(path)
        made = sum(part.rows(slice(None)).toarray() for part in halves)
        np.testing.assert_allclose(made, count_paths(network, path))
        np.testing.assert_allclose(sum(part.row_sums() for part in halves), made.sum(axis=1))


@BOTH
@given(network=networks())
def test_transitions_are_shares_seen_from_both_sides(aggregation, network):
    sim = similarity_of(network, aggregation=aggregation)
    near = sim.similarities().toarray()
    sums = near.sum(axis=1, keepdims=True)
    P = np.divide(near, sums, out=np.zeros_like(near), where=sums > 0)
    np.testing.assert_allclose(sim.transitions().toarray(), (P + P.T) / 2, atol=1e-12)


@pytest.fixture
def papers(rng):
    """200 papers by 80 authors on 6 subjects: all papers of a subject without a common author are alike."""
    by = rng.random((200, 80)) < 0.02
    on = np.eye(6)[rng.integers(6, size=200)]
    return HeteroNetwork({("paper", "by", "author"): by, ("paper", "on", "subject"): on}, target="paper")


@BOTH
def test_the_graph_joins_rows_with_the_largest_transitions(papers, aggregation):
    sim = SideSim(papers, aggregation=aggregation)
    near = sim.transitions().toarray()
    np.fill_diagonal(near, 0)
    graph = sim.neighbor_graph(7, random_state=0).toarray()
    np.testing.assert_array_equal(graph, graph.T)
    np.testing.assert_allclose(graph[graph > 0], near[graph > 0])
    assert (np.count_nonzero(graph, axis=1) >= np.minimum(7, np.count_nonzero(near, axis=1))).all()
    for row in range(len(near)):
        seventh = np.sort(near[row])[-7]
        assert (graph[row][near[row] > seventh * (1 + 1e-9)] > 0).all()
        asked = [other for other in np.flatnonzero(graph[row]) if near[row, other] < seventh * (1 - 1e-9)]
        assert all(near[row, other] >= np.sort(near[other])[-7] * (1 - 1e-9) for other in asked)


def test_no_row_is_preferred_among_equals():
    """Of 300 papers on one subject everyone would link to the first ones, if the order of rows decided."""
    side = HeteroNetwork({("paper", "on", "subject"): np.ones((300, 1))}, target="paper")
    graph = SideSim(side).neighbor_graph(10, random_state=0)
    degrees = np.diff(graph.indptr)
    assert degrees.min() >= 10
    assert degrees.max() <= 40
    other = SideSim(side).neighbor_graph(10, random_state=1)
    assert (graph != other).nnz


def test_blocks_do_not_matter(papers, monkeypatch):
    whole = SideSim(papers)
    expected = whole.neighbor_graph(5, random_state=0)
    monkeypatch.setattr(_side_similarity, "_BLOCK", 50)
    blocked = SideSim(papers)
    assert len(list(blocked._blocks())) > 20
    found = blocked.neighbor_graph(5, random_state=0)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data)
    np.testing.assert_array_equal(blocked.n_pairs, whole.n_pairs)


def test_rows_without_side_information_have_no_neighbours():
    side = HeteroNetwork({("a", "to", "b"): [[1, 0], [1, 0], [0, 0]]}, target="a")
    sim = SideSim(side)
    assert sim.similarities([2]).nnz == 0
    assert sim.neighbor_graph(3).toarray()[2].sum() == 0
    assert sim.top(2) == []


def test_top_says_why():
    side = HeteroNetwork(
        {("drug", "binds", "gene"): [[1, 1], [1, 0], [0, 0]], ("drug", "treats", "ill"): [[1], [1], [1]]},
        target="drug",
        names={"drug": ["a", "b", "c"]},
    )
    sim = SideSim(side, aggregation="macro")
    first, second = sim.top("a")
    assert (first.name, second.name) == ("b", "c")
    assert first.similarity == pytest.approx(sum(first.paths.values()))
    assert first.similarity == pytest.approx(sim.similarities([0]).toarray()[0, 1])
    assert list(second.paths) == ["drug-treats-ill-treats-drug"]
    assert len(sim.top("a", 1)) == 1
    with pytest.raises(ValueError, match="There is no drug 'x'; known are a, b, c"):
        sim.top("x")


@BOTH
def test_weights_by_name(papers, aggregation):
    by, on = "paper-by-author-by-paper", "paper-on-subject-on-paper"
    only = SideSim(papers, metapaths=[by], aggregation=aggregation)
    weighted = SideSim(papers, weights={on: 0.0}, aggregation=aggregation)
    np.testing.assert_allclose(weighted.similarities().toarray(), only.similarities().toarray())
    assert [str(path) for path in weighted.metapaths] == [by]
    np.testing.assert_allclose(SideSim(papers, weights={on: 3.0}).weights, [0.25, 0.75])


def test_weights_of_paths_that_a_part_of_the_rows_lacks():
    relations = {("a", "r", "b"): [[1], [1], [0], [0]], ("a", "s", "b"): [[0], [0], [1], [1]]}
    side = HeteroNetwork(relations, target="a")
    for weights in ({"a-r-b-r-a": 3.0}, [3.0, 1.0, 1.0]):
        assert SideSim(side, weights=weights).weights.tolist() == [0.6, 0.2, 0.2]
        assert SideSim(side[[0, 1]], weights=weights).weights.tolist() == [1.0]


def test_equals_are_equal_whatever_the_order_of_rows(rng):
    """Weights of a third: the same sums in another order differ by rounding, which must not decide."""
    on = np.repeat(np.eye(3), 20, axis=0) / 3
    by = rng.integers(1, 4, size=(60, 1)) @ np.ones((1, 4)) / 7
    side = HeteroNetwork({("paper", "on", "subject"): on, ("paper", "by", "author"): by}, target="paper")
    for order in (np.arange(60), rng.permutation(60)):
        near = SideSim(side[order]).transitions()
        rounded = _side_similarity._rounded(near.data)
        assert len(np.unique(rounded)) == len(np.unique(near.data.round(12)))


def test_parts_of_paths_are_made_once(monkeypatch, rng):
    """Drug-gene-pathway is both halves of one path, one of them walked back, and a part of another."""
    relations = {
        ("drug", "binds", "gene"): rng.random((6, 9)) < 0.5,
        ("gene", "in", "pathway"): rng.random((9, 5)) < 0.5,
        ("drug", "hits", "pathway"): rng.random((6, 5)) < 0.5,
    }
    made, halves_of = [], PathProducts._halves

    def counted(products, steps):
        made.append(steps)
        return halves_of(products, steps)

    monkeypatch.setattr(PathProducts, "_halves", counted)
    products = PathProducts(HeteroNetwork(relations, target="drug"))
    paths = products.side.metapaths()
    for path in paths:
        products.halves(path)
    whole = [path.steps for path in paths]
    assert any(len(steps) == 4 for steps in whole)
    parts = [steps for steps in made if steps not in whole]
    assert len(parts) == len({frozenset((steps, products._back(steps))) for steps in parts}) > 0


def test_the_cheapest_order_is_taken():
    """1,000 rows at 2 nodes of b with 1,000 nodes of c: from both ends to b, not through c."""
    relations = {("a", "at", "b"): np.ones((1000, 2)), ("b", "to", "c"): np.ones((2, 1000))}
    side = HeteroNetwork(relations, target="a")
    products = PathProducts(side)
    long = side.metapath("a-at-b-to-c-to-b-at-a")
    products.halves(long)
    assert max(product.nnz for product in products._made.values()) <= 2000


def test_products_beyond_memory_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("vicinal._memory.available_memory", lambda: 10_000)
    monkeypatch.setattr(_path_products.PathProducts, "_product", lambda *args: pytest.fail("begun"))
    rng = np.random.default_rng(0)
    relations = {("a", "to", "b"): rng.random((100, 50)) < 0.5, ("b", "to", "c"): rng.random((50, 100)) < 0.5}
    message = (
        r"Parts of the meta-paths up to .*, the largest of them [-abcto]*, .* need .* GB .*; leave this meta-path out"
    )
    with pytest.raises(MemoryError, match=message):
        SideSim(HeteroNetwork(relations, target="a"), metapaths=["a-to-b-to-c-to-b-to-a"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"aggregation": "mean"}, "aggregation"),
        ({"metapaths": "paper-by-author-by-paper"}, "give ['paper-by-author-by-paper'] for one"),
        ({"metapaths": ["paper-by-author-by-paper"] * 2}, "given twice; a path and its reverse are one"),
        ({"metapaths": 3}, "metapaths is a list of meta-paths, or None for all; got 3"),
        ({"weights": 2.0}, "weights are a mapping of meta-paths to numbers, or one for each; got 2.0"),
        ({"weights": [1.0]}, "There are 1 weights for 2 meta-paths"),
        ({"weights": {"paper-by-author": 1.0}}, "no meta-path here; did you mean 'paper-by-author-by-paper'"),
        ({"weights": [0.0, 0.0]}, "All meta-paths have the weight 0"),
        ({"weights": [-1.0, 1.0]}, "weights"),
        ({"max_length": 1}, "No meta-path of at most 1 relations leads from paper to paper"),
    ],
)
def test_what_is_refused(papers, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SideSim(papers, **parameters)


def test_only_side_information_will_do():
    with pytest.raises(ValueError, match="side is a ndarray; give a"):
        SideSim(np.eye(3))


def test_a_path_that_is_asked_for_must_exist():
    relations = {("a", "r", "b"): np.zeros((2, 2)), ("a", "s", "b"): np.eye(2)}
    side = HeteroNetwork(relations, target="a")
    with pytest.raises(ValueError, match="There is no path a-r-b-r-a in the network; leave it out"):
        SideSim(side, metapaths=["a-r-b-r-a"])
    assert [str(path) for path in SideSim(side).metapaths] == ["a-s-b-s-a"]
    with pytest.raises(ValueError, match="so nothing is similar"):
        SideSim(side.without(("a", "s", "b")))

"""Recommended links and scores of pairs, for every method."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import LINE, NRCL, AdamicAdar, AttributeCosine, DeepWalk, Katz, LinkRanking
from vicinal.network import Network, from_edges

QUICK = {
    "NRCL": NRCL(4, weight_decay=0.5, max_iter=3, tol=0.1, random_state=0),
    "LinkRanking": LinkRanking(4, weight_decay=0.5, max_iter=20, tol=0.1, random_state=0),
    "DeepWalk": DeepWalk(4, n_walks=2, walk_length=5, random_state=0),
    "LINE": LINE(4, n_samples=2, random_state=0),
    "AttributeCosine": AttributeCosine(),
    "AdamicAdar": AdamicAdar(),
    "Katz": Katz(),
}
MODELS = pytest.mark.parametrize("model", QUICK.values(), ids=QUICK.keys())
NAMES = [f"node {place:02d}" for place in range(30)]


@pytest.fixture
def nodes():
    rng = np.random.default_rng(0)
    X = (rng.random((30, 8)) < 0.4).astype(float)
    X[:, 0] = 1
    links = np.triu(rng.random((30, 30)) < 0.2, 1).astype(float)
    return X, links + links.T


@MODELS
def test_recommended_are_the_best_that_are_not_known(model, nodes):
    X, links = nodes
    model.fit(X, adjacency=links)
    indices, scores = model.recommend(top=5)
    pairs = np.array([(i, j) for i in range(30) for j in range(30)])
    every = model.score_pairs(pairs).reshape(30, 30)
    every[links > 0] = -np.inf
    np.fill_diagonal(every, -np.inf)
    np.testing.assert_allclose(scores, -np.sort(-every, axis=1)[:, :5], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.take_along_axis(every, indices, axis=1), scores, rtol=1e-5, atol=1e-6)


@MODELS
def test_only_some_nodes_may_be_recommended(model, nodes):
    X, links = nodes
    indices, scores = model.fit(X, adjacency=links).recommend([3, 7], top=4, among=[1, 3, 7])
    assert np.isin(indices, [-1, 1, 3, 7]).all()
    assert not (indices == [[3], [7]]).any()
    assert (np.isneginf(scores) == (indices == -1)).all()
    assert (indices[:, -1] == -1).all()


@MODELS
def test_nodes_are_known_by_name(model, nodes):
    X, links = nodes
    model.fit(X, adjacency=Network(links, names=NAMES))
    by_name, by_number = model.recommend(["node 03"], top=3), model.recommend([3], top=3)
    np.testing.assert_array_equal(by_name.indices, by_number.indices)
    assert model.score_pairs([["node 01", "node 02"]]) == model.score_pairs([[1, 2]])
    with pytest.raises(ValueError, match=r"1 node is not known: node 3; did you mean .*'node 03'"):
        model.recommend(["node 3"])


@MODELS
def test_a_frozen_seed_and_any_number_of_threads_give_one_answer(model, nodes):
    X, links = nodes
    one, two = (
        model.set_params(n_jobs=n_jobs).fit(sp.csr_array(X), adjacency=links).recommend(top=3).scores
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)
    model.set_params(n_jobs=None)


def test_names_that_are_numbers_are_names():
    network = from_edges([(10, 20), (20, 30), (30, 40)], nodes=[40, 30, 20, 10])
    model = AdamicAdar().fit(None, adjacency=network)
    assert network.names[model.recommend([10], top=1).indices[0, 0]] == 30
    with pytest.raises(ValueError, match="2 nodes are not known: 2, 50"):
        model.recommend([50, 2])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda model: model.recommend([0], among=[]), "nobody to recommend"),
        (lambda model: model.recommend([0], top=0), "top must be a whole number"),
        (lambda model: model.recommend([[0, 1]]), "a flat list of names or numbers"),
        (lambda model: model.recommend(np.ones(3, bool)), "True or False for each of the 30"),
        (lambda model: model.score_pairs([0, 1]), r"pairs must have the shape \(n_pairs, 2\)"),
    ],
)
def test_bad_questions_get_a_sentence(nodes, call, sentence):
    model = AttributeCosine().fit(nodes[0], adjacency=nodes[1])
    with pytest.raises(ValueError, match=sentence):
        call(model)


def test_a_mask_names_nodes(nodes):
    model = AttributeCosine().fit(nodes[0], adjacency=nodes[1])
    mask = np.arange(30) % 7 == 3
    np.testing.assert_array_equal(model.recommend(mask).indices, model.recommend(np.flatnonzero(mask)).indices)


def neither(X, links):
    X[4] = 0
    links[4] = links[:, 4] = 0
    return {}


def partly_missing(X, links):
    X[2, 3] = np.nan
    return {}


def no_links(X, links):
    links[:] = 0
    return {}


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (neither, "1 node shows neither links nor attributes, .*: 4; leave"),
        (partly_missing, "NaN in 1 row that also has numbers, such as row 2"),
        (no_links, "no links"),
        (lambda X, links: {"attributed": np.ones(3, bool)}, "True or False for each of the 30 rows"),
        (lambda X, links: {"attributed": np.arange(30)}, "True or False for each of the 30 rows"),
        (lambda X, links: {"adjacency": links[:5]}, r"adjacency has the shape \(5, 30\)"),
    ],
)
@MODELS
def test_bad_nodes_get_a_sentence(model, nodes, spoil, sentence):
    X, links = nodes
    given = {"adjacency": links} | spoil(X, links)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, **given)


@MODELS
def test_rows_of_nan_rows_of_zeros_and_a_mask_say_the_same(model, nodes):
    X, links = nodes
    hidden = np.zeros(30, dtype=bool)
    hidden[[2, 9]] = True
    missing, zeros = X.copy(), X.copy()
    missing[hidden], zeros[hidden] = np.nan, 0
    ways = [(missing, None), (zeros, None), (sp.csr_array(zeros), None), (X, ~hidden), (sp.csr_array(X), ~hidden)]
    scores = [model.fit(X, adjacency=links, attributed=mask).recommend(top=3).scores for X, mask in ways]
    np.testing.assert_array_equal(model.attributed_, ~hidden)
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], rtol=1e-5, atol=1e-6)


def test_links_count_in_both_directions(nodes):
    X, links = nodes
    one_way, both_ways = (AdamicAdar().fit(X, adjacency=given) for given in (np.triu(links), links))
    np.testing.assert_array_equal(one_way.vectors_.toarray(), both_ways.vectors_.toarray())

"""NRCL: objectives that fall, planted networks, new nodes, and what attributes say."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from vicinal import NRCL, LinkRanking
from vicinal.link._consensus import Consensus
from vicinal.link._latent import LinkTriplets

N, D = 240, 20


@pytest.fixture(scope="module")
def planted():
    """Links between nodes that are alike in a hidden map of five of twenty attributes; 40 show one kind each."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    hidden = X[:, :5] @ rng.normal(size=(5, 4))
    similar = hidden @ hidden.T
    np.fill_diagonal(similar, -np.inf)
    nearest = similar >= np.sort(similar, axis=1)[:, -15][:, None]
    links = (nearest | nearest.T).astype(float)
    shown, seen = links.copy(), X.copy()
    shown[:40] = shown[:, :40] = 0
    seen[40:80] = np.nan
    return links, shown, X, seen


def cross_auc(model, links):
    pairs = np.array([(i, j) for i in range(40) for j in range(40, 80)])
    return roc_auc_score(links[pairs[:, 0], pairs[:, 1]], model.score_pairs(pairs))


@pytest.mark.parametrize("loss", ["huber", "logistic"])
@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_a_hidden_map_of_attributes_is_found(planted, loss, solver):
    links, shown, _, seen = planted
    model = NRCL(10, loss=loss, solver=solver, weight_decay=1, random_state=0, n_epochs=30).fit(seen, adjacency=shown)
    assert cross_auc(model, links) >= 0.95
    assert (np.diff(model.objective_) <= 0).all()
    assert np.sort(np.argsort(-model.feature_scores_)[:5]).tolist() == [0, 1, 2, 3, 4]


def test_both_solvers_end_near_each_other(planted):
    _, shown, _, seen = planted
    one, other = (
        NRCL(10, solver=solver, weight_decay=1, random_state=0, n_epochs=40).fit(seen, adjacency=shown)
        for solver in ("lbfgs", "sgd")
    )
    # Scores, since vectors may be turned; the stochastic solver draws other triplets in every pass.
    products = [model.embedding_ @ model.embedding_.T for model in (one, other)]
    assert np.corrcoef(products[0].ravel(), products[1].ravel())[0, 1] > 0.9


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_threads_do_not_change_the_answer(planted, solver):
    _, shown, _, seen = planted
    one, two = (
        NRCL(6, solver=solver, max_iter=2, n_epochs=2, tol=0.5, random_state=0, n_jobs=n).fit(seen, adjacency=shown)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.coefficients_, two.coefficients_)


@pytest.fixture(scope="module")
def fitted(planted):
    _, shown, _, seen = planted
    return NRCL(10, weight_decay=1, random_state=0).fit(seen, adjacency=shown)


def test_new_nodes_are_placed_by_attributes_as_old_ones(planted, fitted):
    X = planted[2]
    np.testing.assert_allclose(fitted.transform(X[:40]), fitted.embedding_[:40])
    np.testing.assert_allclose(fitted.transform(sp.csr_array(X[:40])), fitted.embedding_[:40])


def test_new_nodes_are_placed_by_links_near_old_ones(planted, fitted):
    shown = planted[1]
    placed, old = fitted.transform(None, links=shown[40:80]), fitted.embedding_[40:80]
    cosines = (placed * old).sum(axis=1) / np.linalg.norm(placed, axis=1) / np.linalg.norm(old, axis=1)
    assert np.median(cosines) > 0.9


def test_new_nodes_are_placed_alike_whoever_comes_with_them(planted, fitted):
    shown = planted[1]
    together = fitted.transform(None, links=np.tile(shown[40:80], (20, 1)))
    for place in (0, 17, 39):
        alone = fitted.transform(None, links=shown[40 + place : 41 + place])
        np.testing.assert_allclose(together[place], alone[0], atol=1e-3)
        np.testing.assert_allclose(together[760 + place], alone[0], atol=1e-3)


def test_links_to_nodes_that_show_none_place_a_node(planted, fitted):
    links = np.zeros((1, N))
    links[0, 7] = 1
    (placed,) = fitted.transform(None, links=links)
    assert placed @ fitted.embedding_[7] > 0


def test_new_nodes_without_links_are_placed_by_attributes(planted, fitted):
    X, shown = planted[2], planted[1]
    links = shown[100:102].copy()
    links[1] = 0
    both = fitted.transform(X[100:102], links=links)
    alone = fitted.transform(X[100:102])
    np.testing.assert_allclose(both[1], alone[1])
    assert not np.allclose(both[0], alone[0])


@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0])
def test_lengths_of_nodes_without_links_are_damped(planted, damping):
    _, shown, X, seen = planted
    model = NRCL(5, length_damping=damping, n_epochs=2, random_state=0).fit(seen, adjacency=shown)
    plain = X @ model.coefficients_
    lengths = np.linalg.norm(plain, axis=1)
    attributed = np.r_[0:40, 80:N]
    assert model.mean_length_ == pytest.approx(lengths[attributed].mean())
    expected = plain[:40] * (model.mean_length_ / lengths[:40, None]) ** damping
    np.testing.assert_allclose(model.embedding_[:40], expected)
    np.testing.assert_allclose(model.transform(X[:40]), expected)


def test_a_node_whose_attributes_do_not_count_is_placed_nowhere(planted, fitted):
    assert not fitted.transform(np.zeros((1, D))).any()


def test_like_nodes_are_linked_where_links_are_few(planted):
    _, shown, _, seen = planted
    ring = np.eye(N, k=1) + np.eye(N, k=-1)
    ring[:40] = ring[:, :40] = 0

    def vectors(content_links, links):
        return NRCL(5, content_links=content_links, n_epochs=2, random_state=0).fit(seen, adjacency=links).embedding_

    np.testing.assert_array_equal(vectors("auto", ring), vectors(3, ring))
    np.testing.assert_array_equal(vectors("auto", shown), vectors(0, shown))
    assert not np.allclose(vectors(0, ring), vectors(3, ring))


def test_attributes_explain_a_score(planted, fitted):
    (reasons,) = fitted.attributes_for([[0, 50]], n_attributes=D)
    damped = (fitted.mean_length_ / np.linalg.norm(planted[2][0] @ fitted.coefficients_)) ** 0.5
    added = damped * planted[2][0] * (fitted.coefficients_ @ fitted.embedding_[50])
    assert added.sum() == pytest.approx(fitted.score_pairs([[0, 50]])[0])
    assert [amount for _, amount in reasons] == pytest.approx(sorted(added[added > 0], reverse=True))


def test_attributes_have_their_names(planted):
    _, shown, _, seen = planted
    frame = pd.DataFrame(seen, columns=[f"word {place}" for place in range(D)])
    model = NRCL(3, max_iter=2, tol=0.5, random_state=0).fit(frame, adjacency=shown)
    strongest = model.strongest_attributes(2)
    assert [len(found) for found in strongest] == [2, 2, 2]
    name, coefficient = strongest[0][0]
    assert model.coefficients_[int(name.removeprefix("word ")), 0] == coefficient
    assert abs(coefficient) == np.abs(model.coefficients_[:, 0]).max()


def test_pairs_have_two_ends(fitted):
    with pytest.raises(ValueError, match="two nodes each"):
        fitted.attributes_for([0, 1, 2, 3])


def test_the_consensus_is_that_of_the_equation():
    rng = np.random.default_rng(3)
    X, U, W = rng.normal(size=(4, 3)), rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    places = np.array([0, 2, 3, 5])
    lengths = np.linalg.norm(W, axis=1).sum()
    expected = 2 * (((U[places] - X @ W) ** 2).sum() + 3 * lengths + 0.5 * (W**2).sum())
    assert Consensus(X, places, 2.0, 3.0, 0.5).value(U, W) == pytest.approx(expected)


def test_triplets_are_links_in_both_directions_with_nodes_that_are_not_linked(planted):
    shown = sp.csr_array(planted[1][40:, 40:])
    triplets = LinkTriplets(shown, 3, np.random.RandomState(0)).draw_all()
    dense = shown.toarray()
    assert len(triplets) == 3 * shown.nnz
    assert dense[triplets[:, 0], triplets[:, 1]].all()
    assert not dense[triplets[:, 0], triplets[:, 2]].any()
    assert (triplets[:, 0] != triplets[:, 2]).all()


def test_all_vectors_vanish_with_a_warning_where_their_length_costs_too_much(planted):
    _, shown, _, seen = planted
    with pytest.warns(UserWarning, match="All vectors of NRCL are zero, as weight_decay=10000"):
        NRCL(3, weight_decay=1e4, random_state=0).fit(seen, adjacency=shown)


def nobody_shows_both(X, links):
    X[:20], links[20:], links[:, 20:] = 0, 0, 0


def everybody_is_linked(X, links):
    links[:] = 1
    np.fill_diagonal(links, 0)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (nobody_shows_both, "No node shows both links and attributes"),
        (everybody_is_linked, "linked to all others"),
        (lambda X, links: X.__imul__(1e160), "cannot hold"),
    ],
)
def test_bad_nodes_get_a_sentence(spoil, sentence):
    rng = np.random.default_rng(0)
    X, links = rng.random((40, 3)), np.triu(rng.random((40, 40)) < 0.3, 1).astype(float)
    links += links.T
    spoil(X, links)
    with pytest.raises(ValueError, match=sentence):
        NRCL(3).fit(X, adjacency=links)


@pytest.mark.parametrize("name", ["consensus", "sparsity", "weight_decay", "n_negatives", "tol", "loss", "solver"])
def test_bad_parameters_get_a_sentence(planted, name):
    _, shown, _, seen = planted
    with pytest.raises(ValueError, match=f"^{name} must be"):
        NRCL(**{name: "none" if name in ("loss", "solver") else -1}).fit(seen, adjacency=shown)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"X": None}, "Give the attributes of new nodes"),
        ({"X": None, "links": np.zeros((2, 5))}, r"links has the shape \(2, 5\)"),
        ({"X": np.ones((3, D)), "links": np.zeros((2, N))}, r"links has the shape \(2, 240\)"),
        ({"X": np.array([[np.nan] + [1.0] * (D - 1)])}, "NaN"),
    ],
)
def test_bad_new_nodes_get_a_sentence(fitted, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted.transform(**given)


def test_nothing_is_said_of_nodes_without_links_in_a_ranking():
    ring = np.roll(np.eye(8), 1, axis=1) + np.roll(np.eye(8), -1, axis=1)
    X, links = np.ones((9, 1)), np.zeros((9, 9))
    links[:8, :8] = ring
    model = LinkRanking(3, content_links=0, weight_decay=0.1, random_state=0).fit(X, adjacency=links)
    assert not model.embedding_[8].any()
    assert model.embedding_[:8].any(axis=1).all()


@pytest.mark.parametrize("loss", ["huber", "logistic"])
@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_ranking_puts_groups_together(loss, solver):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    links = np.triu((group[:, None] == group) & (rng.random((60, 60)) < 0.6), 1).astype(float)
    model = LinkRanking(6, loss=loss, solver=solver, weight_decay=5, random_state=0, n_epochs=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(None, adjacency=links + links.T)
    assert (np.diff(model.objective_) <= 0).all()
    near = model.recommend(top=3).indices
    assert (group[near] == group[:, None]).mean() > 0.95

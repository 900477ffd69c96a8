"""LUFS: its communities and its objective against plain ones, its descent, what it ranks high and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal import LUFS
from vicinal._optim._trace import SMOOTHING
from vicinal.graphs import laplacian, neighbor_graph
from vicinal.metrics import clustering_accuracy
from vicinal.network import Network
from vicinal.select._lufs import communities, scatter

KINDS = [np.asarray, sp.csr_array]


def planted(rng, n, n_columns, n_informative, n_groups=4, share=0.4):
    """Groups with links within each; the first columns have one level for each group; then to unit variance."""
    group = np.arange(n) % n_groups
    X = rng.normal(size=(n, n_columns))
    levels = 4 * np.array([rng.permutation(n_groups) for _ in range(n_informative)]).T
    X[:, :n_informative] += levels[group]
    links = np.triu((group[:, None] == group) & (rng.random((n, n)) < share), 1)
    return (X - X.mean(axis=0)) / X.std(axis=0), (links | links.T).astype(float), group


def plain_objective(X, adjacency, found, selector):
    """The formula of the docstring, with explicit matrices."""
    L = laplacian(neighbor_graph(X, selector.n_neighbors, weights="heat")).toarray()
    members = found >= 0
    H = np.eye(found.max() + 1)[found[members]]
    F = np.zeros((len(X), H.shape[1]))
    F[members] = H @ np.diag(1 / np.sqrt(H.sum(axis=0)))
    W = selector.coef_
    inner = L + selector.community_weight * (np.diag(members.astype(float)) - F @ F.T)
    lengths = np.sqrt(np.sum(W**2, axis=1) + SMOOTHING**2)
    return np.trace(W.T @ X.T @ inner @ X @ W) + selector.sparsity * lengths.sum()


def test_communities_are_the_groups_that_links_make(rng):
    _, adjacency, group = planted(rng, 60, 3, 1)
    adjacency[7] = adjacency[:, 7] = 0
    found = communities(sp.csr_array(adjacency), 4, 0)
    assert found[7] == -1
    others = np.arange(60) != 7
    assert clustering_accuracy(group[others], found[others]) == 1


def test_scatter_is_the_definition(rng):
    X, adjacency, _ = planted(rng, 30, 6, 2)
    adjacency[[3, 8]] = adjacency[:, [3, 8]] = 0
    found = communities(sp.csr_array(adjacency), 3, 0)
    graph = neighbor_graph(X, 4, weights="heat")
    form = scatter(graph, found, 0.7)
    expected = laplacian(graph).toarray()
    for community in range(found.max() + 1):
        members = (found == community).astype(float)
        expected += 0.7 * (np.diag(members) - np.outer(members, members) / members.sum())
    np.testing.assert_allclose(form @ np.eye(30), expected, atol=1e-12)


@pytest.mark.parametrize("community_weight", [0.0, 0.3, 10.0])
@pytest.mark.parametrize("shape", [(60, 25), (30, 50)])
def test_the_objective_is_the_formula_and_never_rises(rng, shape, community_weight):
    X, adjacency, _ = planted(rng, *shape, 4)
    adjacency[0] = adjacency[:, 0] = 0
    selector = LUFS(n_clusters=4, community_weight=community_weight, ridge=0.5, tol=1e-9, max_iter=2000, random_state=0)
    selector.fit(X, adjacency=adjacency)
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert np.all(np.diff(selector.objective_) <= 0)
    W = selector.coef_
    np.testing.assert_allclose(W.T @ (X.T @ X + 0.5 * np.eye(shape[1])) @ W, np.eye(4), atol=1e-8)
    value = plain_objective(X, adjacency, selector.communities_, selector)
    assert selector.objective_[-1] == pytest.approx(value, rel=1e-8)


def test_columns_that_follow_communities_come_first(rng):
    X, adjacency, _ = planted(rng, 120, 40, 5)
    selector = LUFS(5, n_clusters=4, community_weight=10.0, random_state=0).fit(X, adjacency=adjacency)
    assert set(np.flatnonzero(selector.support_)) == set(range(5))


def test_links_matter(rng):
    """Two ways to group the rows, of which the links know one."""
    X, adjacency, _ = planted(rng, 120, 10, 2)
    other = rng.permutation(120)
    X[:, 2:4] = X[other, :2]
    by_first = LUFS(2, n_clusters=4, community_weight=100.0, random_state=0).fit(X, adjacency=adjacency)
    by_other = by_first.__class__(**by_first.get_params()).fit(X, adjacency=adjacency[np.ix_(other, other)])
    assert set(np.flatnonzero(by_first.support_)) == {0, 1}
    assert set(np.flatnonzero(by_other.support_)) == {2, 3}


@pytest.mark.parametrize("shape", [(60, 20), (30, 50)])
def test_sparse_equals_dense_and_permuting_columns_permutes(rng, shape):
    X, adjacency, _ = planted(rng, *shape, 5)
    X[np.abs(X) < 0.3] = 0
    selector, columns = LUFS(n_clusters=4, random_state=0), rng.permutation(shape[1])
    scores = selector.fit(X, adjacency=adjacency).scores_
    np.testing.assert_allclose(
        selector.fit(sp.csr_array(X), adjacency=Network(adjacency)).scores_, scores, rtol=1e-4, atol=1e-7
    )
    np.testing.assert_allclose(
        selector.fit(X[:, columns], adjacency=adjacency).scores_, scores[columns], rtol=1e-4, atol=1e-7
    )


@pytest.mark.parametrize("kind", KINDS)
def test_constant_columns_score_nothing(rng, kind):
    X, adjacency, _ = planted(rng, 40, 8, 3)
    X[:, 2], X[:, 5] = 0, 3
    scores = LUFS(n_clusters=3, random_state=0).fit(kind(X), adjacency=adjacency).scores_
    np.testing.assert_array_equal(scores[[2, 5]], 0)
    assert np.all(np.delete(scores, [2, 5]) > 0)
    constant = LUFS(n_clusters=3, random_state=0).fit(kind(np.ones((40, 4))), adjacency=adjacency)
    np.testing.assert_array_equal(constant.scores_, 0)


def test_one_link_and_more_clusters_than_linked_rows(rng):
    X = rng.normal(size=(10, 4))
    adjacency = np.zeros((10, 10))
    adjacency[2, 5] = adjacency[5, 2] = 1
    selector = LUFS(n_clusters=5, random_state=0).fit(X, adjacency=adjacency)
    assert np.all(np.isfinite(selector.scores_))
    assert np.count_nonzero(selector.communities_ >= 0) == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"community_weight": -1}, "community_weight must be a number of at least 0"),
        ({"sparsity": 0}, "sparsity must be a number above 0; got 0"),
        ({"ridge": 0}, "ridge must be a number above 0"),
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        LUFS(**parameters).fit(rng.normal(size=(30, 10)))


def test_links_that_go_one_way_are_refused(rng):
    with pytest.raises(ValueError, match="adjacency is not symmetric"):
        LUFS().fit(rng.normal(size=(6, 3)), adjacency=np.eye(6, k=1))


def test_too_few_steps_are_told(rng):
    X, adjacency, _ = planted(rng, 50, 12, 4)
    with pytest.warns(ConvergenceWarning, match="LUFS did not converge in 1 reweightings"):
        LUFS(max_iter=1, tol=1e-12, random_state=0).fit(X, adjacency=adjacency)

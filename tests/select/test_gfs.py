"""GFS: its likelihoods against plain ones, its descent, what it ranks high and what it refuses."""

import tracemalloc

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal.network import Network
from vicinal.select import _content_models, _link_likelihood
from vicinal.select._content_models import BernoulliContent, GaussianContent, conjugate_gradients
from vicinal.select._gfs import GFS
from vicinal.select._link_likelihood import LinkLikelihood, sample_non_links

KINDS = [np.asarray, sp.csr_array]


def planted(rng, n, n_columns, n_shared, *, density=0.3, offset=6.0):
    """Rows that have the first columns in common are linked."""
    X = (rng.random((n, n_columns)) < density).astype(float)
    shared = X[:, :n_shared] @ X[:, :n_shared].T
    links = np.triu(rng.random((n, n)) < 1 / (1 + np.exp(offset - 2 * shared)), 1)
    return X, (links | links.T).astype(float)


def best_coefficients(X, s, ridge):
    """Eq. 4.18, as it stands."""
    S = np.diag(s)
    return np.linalg.solve(S @ X.T @ X @ S + ridge * np.eye(len(s)), S @ X.T @ X)


def content_value(X, s, W, ridge):
    return np.sum((X @ np.diag(s) @ W - X) ** 2) + ridge * np.sum(W**2)


def link_value(X, pairs, is_link, s, b):
    affinities = np.array([X[i] @ np.diag(s) @ X[j] for i, j in pairs]) + b
    chance = 1 / (1 + np.exp(-affinities))
    return -np.log(np.where(is_link, chance, 1 - chance)).sum()


def numeric_slopes(function, x, step=1e-6):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


class TestNonLinks:
    @pytest.mark.parametrize(("n", "n_links"), [(30, 40), (30, 200), (5, 4), (2, 0)])
    def test_are_other_pairs_each_once(self, rng, n, n_links):
        above = np.column_stack(np.triu_indices(n, 1))
        links = above[np.sort(rng.permutation(len(above))[:n_links])]
        drawn = sample_non_links(links, n, 0)
        assert drawn.shape == (n_links, 2)
        assert np.all((drawn[:, 0] >= 0) & (drawn[:, 0] < drawn[:, 1]) & (drawn[:, 1] < n))
        assert len({*map(tuple, drawn)} | {*map(tuple, links)}) == 2 * n_links
        np.testing.assert_array_equal(drawn, sample_non_links(links, n, 0))

    def test_all_of_them_where_there_are_no_more(self):
        links = np.column_stack(np.triu_indices(5, 1))
        assert sample_non_links(links, 5, 0).shape == (0, 2)
        np.testing.assert_array_equal(sample_non_links(np.delete(links, [2, 9], axis=0), 5, 0), [[0, 3], [3, 4]])

    def test_all_are_equally_likely(self):
        links = np.array([[0, 1], [0, 3], [2, 3]])
        counts = {}
        for seed in range(2000):
            for pair in sample_non_links(links, 5, seed):
                counts[tuple(pair)] = counts.get(tuple(pair), 0) + 1
        assert len(counts) == 7
        np.testing.assert_allclose(list(counts.values()), 2000 * 3 / 7, rtol=0.12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block", [2**22, 7])
def test_likelihood_is_the_definition_and_its_slopes_are_numeric_ones(rng, kind, block, monkeypatch):
    monkeypatch.setattr(_link_likelihood, "_BLOCK", block)
    X = rng.normal(size=(12, 5)) * (rng.random((12, 5)) < 0.7)
    pairs = np.column_stack(np.triu_indices(12, 1))[rng.permutation(66)[:20]]
    is_link = np.arange(20) < 11
    s, b = rng.random(5), -0.4
    likelihood = LinkLikelihood(kind(X), pairs[:11], pairs[11:])
    value, slopes, in_b = likelihood(s, b)
    assert value == pytest.approx(link_value(X, pairs, is_link, s, b))
    numeric = numeric_slopes(lambda x: link_value(X, pairs, is_link, x[:-1], x[-1]), np.append(s, b))
    np.testing.assert_allclose(np.append(slopes, in_b), numeric, atol=1e-7)


def test_likelihood_of_very_large_affinities(rng):
    likelihood = LinkLikelihood(1e4 * np.ones((3, 1)), np.array([[0, 1]]), np.array([[1, 2]]))
    value, slopes, in_b = likelihood(np.ones(1), 0.0)
    np.testing.assert_allclose([value, slopes[0], in_b], [1e8, 1e8, 1.0])


@pytest.mark.parametrize("form", ["rows", "columns"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(9, 14), (14, 9)])
def test_gaussian_content_is_that_of_the_best_coefficients(rng, form, kind, shape, monkeypatch):
    monkeypatch.setattr(_content_models, "_BLOCK", 30)
    X = rng.normal(size=shape) * (rng.random(shape) < 0.6)
    columns = np.array([0, 2, 3, 5, 6, 8])
    s = np.zeros(shape[1])
    s[columns] = [0.3, 1.0, 0.0, 0.01, 0.6, 0.9]
    content = GaussianContent(kind(X), 0.7, 0, form=form)
    reduced = content.around(columns)
    value, slopes = reduced(s[columns])
    W = best_coefficients(X, s, 0.7)
    assert value == pytest.approx(content_value(X, s, W, 0.7))
    assert content.unexplained == pytest.approx(np.sum(X**2))
    np.testing.assert_allclose(slopes, numeric_slopes(lambda x: reduced(np.abs(x))[0], s[columns]), atol=1e-6)
    by_4_14 = 2 * np.diag(X.T @ (X @ np.diag(s) @ W - X) @ W.T)  # with the factor 2 that the thesis lacks
    np.testing.assert_allclose(slopes, by_4_14[columns], atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wide_sketch_comes_near_to_all_columns(rng, kind, monkeypatch):
    monkeypatch.setattr(_content_models, "N_SKETCHED", 40000)
    X = rng.normal(size=(12, 20))
    exact, sketched = GaussianContent(kind(X), 0.7, 0), GaussianContent(kind(X), 0.7, 0, largest=3)
    sketched.expect(4)
    s = np.array([0.3, 1.0, 0.0, 0.6])
    (value, slopes), (about, near) = (one.around(np.arange(4))(s) for one in (exact, sketched))
    assert about == pytest.approx(value, rel=0.02)
    np.testing.assert_allclose(near, slopes, rtol=0.05, atol=1e-9)
    assert sketched.unexplained == pytest.approx(exact.unexplained, rel=0.02)


def test_a_sketch_has_the_right_slopes_and_expectation(rng):
    X = rng.normal(size=(15, 20))
    columns, s = np.arange(6), rng.random(6)
    exact = GaussianContent(X, 0.7, 0).around(columns)(s)[0]
    values = []
    for seed in range(40):
        content = GaussianContent(X, 0.7, seed, largest=3)
        content.expect(6)
        reduced = content.around(columns)
        values.append(reduced(s)[0])
    np.testing.assert_allclose(reduced(s)[1], numeric_slopes(lambda x: reduced(x)[0], s), rtol=1e-5)
    assert abs(np.mean(values) - exact) < 4 * np.std(values) / np.sqrt(40)


def test_conjugate_gradients_solve_every_column(rng):
    A = rng.normal(size=(30, 30))
    A = A @ A.T + np.diag(rng.uniform(0.1, 100, 30))
    right = rng.normal(size=(30, 4)) * [1, 0, 1e-3, 10]
    found = conjugate_gradients(lambda W: A @ W, right, np.diag(A)[:, None])
    np.testing.assert_allclose(found, np.linalg.solve(A, right), atol=1e-6)


def bernoulli_value(X, s, W, ridge):
    eta = X @ np.diag(s) @ W
    return np.sum(np.logaddexp(0, eta) - X * eta) + ridge * np.sum(W**2)


@pytest.mark.parametrize("kind", KINDS)
def test_parabolas_touch_the_bernoulli_loss_and_lie_above_it(rng, kind, monkeypatch):
    monkeypatch.setattr(_content_models, "_BLOCK", 30)
    X = (rng.random((12, 7)) < 0.4).astype(float)
    columns = np.array([0, 2, 3, 6])
    content = BernoulliContent(kind(X), 0.3)
    for _ in range(4):
        parabolas = content.around(columns)
        W = np.zeros((7, 7))
        W[content.columns] = content.coefficients
        weights = np.zeros(7)
        weights[content.columns] = content.weights
        assert content.value == pytest.approx(bernoulli_value(X, weights, W, 0.3))
        assert parabolas(weights[columns])[0] <= content.value * (1 + 1e-12)  # W is better than the last one below them
        s = rng.uniform(0.1, 1, 4)
        value, slopes = parabolas(s)
        np.testing.assert_allclose(slopes, numeric_slopes(lambda x, f=parabolas: f(x)[0], s), atol=1e-5)
        content.settle(columns, s)
        content.around(columns)
        assert content.value <= value * (1 + 1e-12)


def test_bernoulli_coefficients_reach_the_minimum(rng):
    X = (rng.random((15, 5)) < 0.4).astype(float)
    s = np.array([1.0, 0.4, 0.0, 1.0, 0.7])
    content, values = BernoulliContent(X, 0.3), []
    for _ in range(300):
        content.around(np.arange(5))
        if values and content.value > values[-1] and content.retreat():
            content.around(np.arange(5))
        values.append(content.value)
        content.settle(np.arange(5), s)

    def value(flat):
        return bernoulli_value(X, s, flat.reshape(5, 5), 0.3)

    lowest = scipy.optimize.minimize(value, np.zeros(25), tol=1e-10).fun
    assert values[-1] == pytest.approx(lowest, rel=1e-8)
    assert np.all(np.diff(values) <= 1e-12 * values[0])


def plain_objective(X, adjacency, selector, s, b, W):
    links = Network(adjacency).links()
    others = sample_non_links(links, len(X), selector.random_state)
    pairs, is_link = np.concatenate([links, others]), np.arange(len(links) + len(others)) < len(links)
    content = content_value if selector.content == "gaussian" else bernoulli_value
    return link_value(X, pairs, is_link, s, b) + content(X, s, W, selector.ridge) + selector.sparsity * np.sum(s)


@pytest.mark.parametrize("shape", [(60, 25), (40, 70)])
def test_ends_where_no_weight_can_move(rng, shape):
    X, adjacency = planted(rng, *shape, 5)
    selector = GFS(sparsity=0.5, ridge=2.0, tol=1e-9, random_state=3).fit(X, adjacency=adjacency)
    s, b = selector.weights_, selector.intercept_
    assert 0 <= s.min() < s.max() <= 1

    def value(x):
        return plain_objective(X, adjacency, selector, x[:-1], x[-1], best_coefficients(X, x[:-1], 2.0))

    x = np.append(s, b)
    assert selector.objective_[-1] == pytest.approx(value(x), rel=1e-9)
    slopes = numeric_slopes(value, x)
    assert np.all(slopes[:-1][s < 1] > -1e-3)
    assert np.all(slopes[:-1][(s > 0) & (s < 1)] < 1e-3)
    assert np.all(slopes[:-1][s == 1] < 1e-3)
    assert abs(slopes[-1]) < 1e-3
    inner = (s > 0) & (s < 1)
    np.testing.assert_array_equal(selector.scores_[inner], s[inner])
    np.testing.assert_allclose(selector.scores_[s == 0], -slopes[:-1][s == 0], atol=1e-3)


def alternating(X, adjacency, seed, n_rounds):
    """Algorithm 3 of the thesis as it stands: projected gradients, then Eq. 4.18; the objective after each round."""
    links = Network(adjacency).links()
    likelihood = LinkLikelihood(X, links, sample_non_links(links, len(X), seed))
    s, b, W, values = np.zeros(X.shape[1]), 0.0, np.zeros((X.shape[1],) * 2), []

    def objective(s, b):
        return likelihood(s, b)[0] + content_value(X, s, W, 1.0) + s.sum()

    for _ in range(n_rounds):
        step = 1.0
        for _ in range(100):
            _, slopes, in_b = likelihood(s, b)
            slopes = slopes + 2 * np.diag(X.T @ (X @ np.diag(s) @ W - X) @ W.T) + 1
            while step > 1e-14:
                new = np.clip(s - step * slopes, 0, 1), b - step * in_b
                if objective(*new) <= objective(s, b):
                    s, b = new
                    break
                step /= 2
            step *= 2
        W = best_coefficients(X, s, 1.0)
        values.append(objective(s, b))
    return values


@pytest.mark.parametrize("seed", range(2))
def test_not_above_what_alternating_ends_at(seed):
    X, adjacency = planted(np.random.default_rng(seed), 30, 12, 4)
    selector = GFS(random_state=0, tol=1e-6).fit(X, adjacency=adjacency)
    assert selector.objective_[-1] <= alternating(X, adjacency, 0, 5)[-1] * (1 + 1e-3)


@pytest.mark.parametrize("content", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("sparsity", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("shape", [(80, 30), (40, 90)])
def test_the_objective_never_rises(rng, content, sparsity, shape):
    X, adjacency = planted(rng, *shape, 5)
    selector = GFS(content=content, sparsity=sparsity, random_state=0).fit(X, adjacency=adjacency)
    assert len(selector.objective_) == selector.n_iter_ > (0 if sparsity == 10 else 5)
    assert np.all(np.diff(selector.objective_) <= 0)
    assert selector.weights_.min() >= 0
    assert selector.weights_.max() <= 1


def test_bernoulli_objective_is_the_definition(rng):
    """At the end the best coefficients cannot be much better."""
    X, adjacency = planted(rng, 40, 6, 3)
    selector = GFS(content="bernoulli", tol=1e-8, random_state=0).fit(X, adjacency=adjacency)

    def value(flat):
        return plain_objective(X, adjacency, selector, selector.weights_, selector.intercept_, flat.reshape(6, 6))

    assert selector.objective_[-1] == pytest.approx(scipy.optimize.minimize(value, np.zeros(36)).fun, rel=1e-5)


@pytest.mark.parametrize("content", ["gaussian", "bernoulli"])
def test_columns_that_cause_the_links_come_first(content):
    X, adjacency = planted(np.random.default_rng(0), 500, 500, 10, density=0.2, offset=7.0)
    selector = GFS(10, content=content, random_state=0).fit(sp.csr_array(X), adjacency=sp.csr_array(adjacency))
    assert set(np.flatnonzero(selector.support_)) == set(range(10))


@pytest.mark.parametrize("content", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("shape", [(60, 20), (30, 50)])
def test_sparse_equals_dense(rng, content, shape):
    X, adjacency = planted(rng, *shape, 5)
    selector = GFS(content=content, tol=1e-8, random_state=0)
    dense = selector.fit(X, adjacency=adjacency).scores_
    sparse = selector.fit(sp.csr_array(X), adjacency=Network(adjacency)).scores_
    np.testing.assert_allclose(sparse, dense, atol=1e-3)


@pytest.mark.parametrize("content", ["gaussian", "bernoulli"])
def test_permuting_columns_permutes_the_answer(rng, content):
    X, adjacency = planted(rng, 60, 20, 5)
    columns = rng.permutation(20)
    selector = GFS(content=content, tol=1e-8, random_state=0)
    scores = selector.fit(X, adjacency=adjacency).scores_
    np.testing.assert_allclose(selector.fit(X[:, columns], adjacency=adjacency).scores_, scores[columns], atol=1e-3)


def test_threads_change_nothing(rng):
    X, adjacency = planted(rng, 120, 100, 5)
    one, two = (GFS(random_state=0, n_jobs=jobs).fit(X, adjacency=adjacency).scores_ for jobs in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)


def test_weights_of_links_and_labels_are_not_read(rng):
    X, adjacency = planted(rng, 50, 12, 4)
    scores = GFS(random_state=0).fit(X, adjacency=adjacency).scores_
    np.testing.assert_array_equal(GFS(random_state=0).fit(X, np.arange(50) % 5, adjacency=adjacency).scores_, scores)
    heavy = adjacency * (1 + np.add.outer(np.arange(50), np.arange(50)))
    np.testing.assert_array_equal(GFS(random_state=0).fit(X, adjacency=heavy).scores_, scores)


def test_single_precision_scores_as_double(rng):
    X, adjacency = planted(rng, 50, 12, 4)
    selector = GFS(random_state=0)
    scores = selector.fit(X, adjacency=adjacency).scores_
    np.testing.assert_array_equal(selector.fit(X.astype(np.float32), adjacency=adjacency).scores_, scores)


def test_without_a_network_nearest_rows_are_linked(rng):
    X = rng.normal(size=(60, 8))
    X[:, :2] += np.repeat(6 * np.eye(2), 30, axis=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert set(np.flatnonzero(GFS(2, random_state=0).fit(X).support_)) == {0, 1}


@pytest.mark.parametrize("content", ["gaussian", "bernoulli"])
class TestDegenerate:
    def scores(self, content, X, adjacency):
        selector = GFS(content=content, random_state=0).fit(X, adjacency=adjacency)
        assert np.all(np.isfinite(selector.scores_))
        assert np.all(np.diff(selector.objective_) <= 0)
        assert len(selector.objective_) == selector.n_iter_ > 0
        return selector.scores_

    def test_constant_columns(self, rng, content):
        X, adjacency = planted(rng, 60, 12, 4)
        X[:, 3], X[:, 7] = 0, 1
        scores = self.scores(content, X, adjacency)
        assert scores[3] == -1  # what a weight costs: no pair of rows has it
        assert scores[7] == pytest.approx(-1, abs=1e-2)  # all pairs have it: it is a part of the intercept

    def test_rows_of_zeros_only(self, content):
        adjacency = np.eye(5, k=1) + np.eye(5, k=-1)
        np.testing.assert_array_equal(self.scores(content, np.zeros((5, 4)), adjacency), -1)
        np.testing.assert_array_equal(self.scores(content, sp.csr_array((5, 4)), adjacency), -1)

    def test_isolated_nodes_and_a_node_linked_to_all(self, rng, content):
        X, adjacency = planted(rng, 40, 10, 3)
        adjacency[:, :10] = adjacency[:10] = 0
        self.scores(content, X, adjacency)
        adjacency[0], adjacency[:, 0] = 1, 1
        adjacency[0, 0] = 0
        self.scores(content, X, adjacency)

    @pytest.mark.parametrize("n_missing", [0, 1, 5])
    def test_all_or_nearly_all_pairs_are_linked(self, rng, content, n_missing):
        X, _ = planted(rng, 12, 10, 3)
        adjacency = 1 - np.eye(12)
        for i in range(n_missing):
            adjacency[i, i + 1] = adjacency[i + 1, i] = 0
        self.scores(content, X, adjacency)

    def test_one_link_and_two_rows(self, content):
        adjacency = np.array([[0.0, 1.0], [1.0, 0.0]])
        self.scores(content, np.array([[1.0, 0.0], [1.0, 1.0]]), adjacency)
        self.scores(content, np.ones((2, 1)), adjacency)

    def test_copies_of_columns_score_alike(self, rng, content):
        X, adjacency = planted(rng, 60, 8, 3)
        scores = self.scores(content, np.hstack([X, X]), adjacency)
        np.testing.assert_allclose(scores[:8], scores[8:], atol=1e-2)


def test_negative_values_and_large_units(rng):
    X, adjacency = planted(rng, 50, 10, 4)
    for rows in (X - 0.5, 100 * X, 1e-3 * X):
        selector = GFS(random_state=0).fit(rows, adjacency=adjacency)
        assert np.all(np.diff(selector.objective_) <= 0)


def test_nothing_as_wide_as_all_columns_is_squared(rng):
    """100,000 columns: their products alone would take 80 GB."""
    X = sp.random_array((150, 100000), density=5e-4, random_state=rng, format="csr")
    X.data[:] = 1
    X = sp.hstack([sp.csr_array((rng.random((150, 20)) < 0.3).astype(float)), X], format="csr")
    shared = X[:, :5] @ X[:, :5].T
    adjacency = (shared.toarray() >= 3).astype(float)
    np.fill_diagonal(adjacency, 0)
    tracemalloc.start()
    try:
        selector = GFS(5, random_state=0).fit(X, adjacency=adjacency)
        assert tracemalloc.get_traced_memory()[1] < 3e8
    finally:
        tracemalloc.stop()
    assert set(np.flatnonzero(selector.support_)) == set(range(5))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"content": "poisson"}, "content must be"),
        ({"sparsity": 0}, "sparsity must be a number above 0; got 0"),
        ({"ridge": -1.0}, "ridge must be a number above 0"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1e-3}, "tol must be a number of at least 0"),
        ({"n_features_to_select": 11}, "n_features_to_select=11, but X has 10 features"),
        ({"content": "bernoulli"}, "content='bernoulli' needs values between 0 and 1, but those of X go from"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        GFS(**parameters).fit(rng.normal(size=(30, 10)))


def test_networks_that_say_nothing_or_go_one_way_are_refused(rng):
    X = rng.normal(size=(6, 3))
    with pytest.raises(ValueError, match="adjacency has no links"):
        GFS().fit(X, adjacency=np.zeros((6, 6)))
    with pytest.raises(ValueError, match="adjacency is not symmetric"):
        GFS().fit(X, adjacency=np.eye(6, k=1))


@pytest.mark.parametrize(("content", "steps"), [("gaussian", "iterations"), ("bernoulli", "rounds")])
def test_too_few_steps_are_told(rng, content, steps):
    X, adjacency = planted(rng, 50, 12, 4)
    with pytest.warns(ConvergenceWarning, match=f"GFS did not converge in 2 {steps}; raise max_iter or tol"):
        GFS(content=content, max_iter=2, tol=1e-12, random_state=0).fit(X, adjacency=adjacency)


def test_columns_are_ranked_by_weight_and_equal_ones_by_links(rng):
    X, adjacency = planted(rng, 80, 30, 5)
    selector = GFS(random_state=0).fit(X, adjacency=adjacency)
    s, scores = selector.weights_, selector.scores_
    order = np.argsort(-scores, kind="stable")
    assert np.all(np.diff(s[order]) <= 0)
    assert scores[s == 1].min() >= 1
    assert scores[s == 0].max() <= 0
    assert len(np.unique(scores[s == 1])) > 1


def test_links_of_any_weight_are_links(rng):
    X, adjacency = planted(rng, 50, 12, 4)
    weights = adjacency * rng.uniform(1, 2, adjacency.shape)
    scores = GFS(random_state=0).fit(X, adjacency=adjacency).scores_
    np.testing.assert_array_equal(GFS(random_state=0).fit(X, adjacency=weights).scores_, scores)


def test_values_whose_products_no_number_holds_are_refused(rng):
    X, adjacency = planted(rng, 20, 5, 2)
    with pytest.raises(ValueError, match="GFS cannot compute with the columns of X, whose values go up to 1e"):
        GFS().fit(1e150 * X, adjacency=adjacency)

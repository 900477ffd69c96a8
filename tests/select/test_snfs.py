"""SNFS: its probabilities, objective and gradient, and what it keeps."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad, minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

from vicinal import SNFS
from vicinal.datasets import load
from vicinal.select._stochastic_neighbors import NeighborLoss, StochasticNeighbors

AFFINITIES = ("inner", "cosine", "euclidean")
each_affinity = pytest.mark.parametrize("affinity", AFFINITIES)


def probabilities(X, weights, affinity, scale):
    """(2.1) to (2.3), entry by entry."""
    n = len(X)
    S = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            S[i, j] = weights @ parts(X[i], X[j], affinity)
    E = np.exp(scale * (S - S.max()))
    np.fill_diagonal(E, 0)
    return E / E.sum(axis=1, keepdims=True)


def parts(a, b, affinity):
    """What each column adds to the affinity of two rows."""
    if affinity == "euclidean":
        return -((a - b) ** 2)
    return a * b / (np.linalg.norm(a) * np.linalg.norm(b)) if affinity == "cosine" else a * b


def divergence(P, Q):
    off = ~np.eye(len(P), dtype=bool)
    return float((P[off] * np.log(P[off] / Q[off])).sum())


def text_like(rng, n=60, d=25):
    return sp.csr_array(normalize(rng.poisson(0.4, size=(n, d)).astype(float)))


def topics(rng, n=120, d=90):
    """Words of three topics, frequent ones and rare ones."""
    rates = np.full((3, d), 0.02)
    for topic in range(3):
        rates[topic, topic::3] = np.linspace(1.5, 0.05, d // 3)
    return sp.csr_array(normalize(rng.poisson(rates[rng.integers(3, size=n)]).astype(float)))


@each_affinity
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_the_objective_is_that_of_the_thesis(affinity, kind, rng):
    X = rng.normal(size=(14, 5))
    weights = rng.random(5)
    loss = NeighborLoss(StochasticNeighbors(kind(X), affinity), 0.7, 0.3)
    P, Q = (probabilities(X, w, affinity, 0.7) for w in (np.ones(5), weights))
    assert loss(weights)[0] == pytest.approx(divergence(P, Q) + 0.3 * weights.sum(), rel=1e-10)
    assert loss(np.ones(5))[0] == pytest.approx(1.5, rel=1e-10)


@each_affinity
def test_the_gradient_is_that_of_the_thesis(affinity, rng):
    """(2.8), and (2.9) with its sign."""
    X = rng.normal(size=(12, 4))
    weights = rng.random(4)
    P, Q = (probabilities(X, w, affinity, 0.7) for w in (np.ones(4), weights))
    expected = np.full(4, 0.3)
    for i in range(12):
        for j in range(12):
            expected -= (P[i, j] - Q[i, j]) * parts(X[i], X[j], affinity) * 0.7
    loss = NeighborLoss(StochasticNeighbors(X, affinity), 0.7, 0.3)
    np.testing.assert_allclose(loss(weights)[1], expected, rtol=1e-9)


@each_affinity
@pytest.mark.parametrize("kind", [sp.csr_array.toarray, sp.csr_array])
@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_the_gradient_is_the_numeric_one(affinity, kind, n_neighbors, rng):
    X = kind(sp.diags_array(rng.uniform(0.5, 2, 60)) @ text_like(rng))
    neighbors = StochasticNeighbors(X, affinity, n_neighbors, random_state=np.random.RandomState(0))
    loss = NeighborLoss(neighbors, 3.0, 0.05)
    for _ in range(3):
        weights = rng.random(25)
        error = check_grad(lambda w: loss(w)[0], lambda w: loss(w)[1], weights, epsilon=1e-7)
        assert error < 1e-4 * max(1.0, np.linalg.norm(loss(weights)[1]))


@each_affinity
@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_sparse_rows_give_what_dense_ones_give(affinity, n_neighbors, rng):
    X = sp.random_array((60, 25), density=0.3, format="csr", rng=rng)
    options = {"affinity": affinity, "n_neighbors": n_neighbors, "random_state": 0, "penalty": 0.003, "tol": 1e-6}
    one, other = SNFS(**options).fit(X), SNFS(**options).fit(X.toarray())
    assert one.scale_ == pytest.approx(other.scale_, rel=1e-6)
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-2)
    assert one.objective_[-1] == pytest.approx(other.objective_[-1], rel=1e-6)


@pytest.mark.parametrize("perplexity", [2.0, 5.0, 15.0])
@each_affinity
def test_the_perplexity_is_met(affinity, perplexity, rng):
    X = rng.normal(size=(60, 6))
    selector = SNFS(affinity=affinity, perplexity=perplexity).fit(X)
    P = probabilities(X, np.ones(6), affinity, selector.scale_)
    entropies = -np.sum(P * np.log2(P, where=P > 0, out=np.zeros_like(P)), axis=1)
    assert 2 ** entropies.mean() == pytest.approx(perplexity, rel=1e-4)


def test_the_minimum_is_scipys(rng):
    X = text_like(rng)
    selector = SNFS(penalty=0.003, tol=1e-6).fit(X)
    loss = NeighborLoss(StochasticNeighbors(X, "inner"), selector.scale_, 0.003 * 60)
    bounds = [(0, 1)] * 25
    reference = minimize(loss, np.ones(25), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14})
    assert selector.objective_[-1] == pytest.approx(reference.fun, rel=1e-6)
    np.testing.assert_allclose(selector.weights_, reference.x, atol=1e-2)


def test_the_objective_never_rises_and_ends_within_its_gap(rng):
    X = text_like(rng)
    selector = SNFS(penalty=0.003).fit(X)
    assert (np.diff(selector.objective_) <= 0).all()
    assert len(selector.objective_) == selector.n_iter_ + 1
    best = SNFS(penalty=0.003, tol=1e-6).fit(X).objective_[-1]
    assert best <= selector.objective_[-1] <= best + selector.gap_ <= best * (1 + 2e-4)


def test_scores_go_beyond_the_weights_at_the_bounds(rng):
    selector = SNFS(penalty=1e-4).fit(topics(rng))
    w, s = selector.weights_, selector.scores_
    inside = (w > 0) & (w < 1)
    assert inside.any()
    assert (w == 0).any()
    assert (w == 1).any()
    np.testing.assert_array_equal(s[inside], w[inside])
    assert (s[w == 1] >= 1).all()
    assert ((s[w == 0] <= 0) & (s[w == 0] >= -1)).all()
    assert selector.n_auto_ == (w > 0.9).sum() == selector.support_.sum() == (s > 0.9).sum()
    assert selector.with_n_features("auto").support_.sum() == selector.n_auto_


def test_more_penalty_keeps_less_and_one_is_found_for_a_wanted_number(rng):
    X = topics(rng)
    kept = [SNFS(penalty=penalty).fit(X).n_auto_ for penalty in (1e-4, 1e-3, 2e-3, 3e-3)]
    assert kept == sorted(set(kept), reverse=True)
    found = SNFS(20, penalty="auto").fit(X)
    assert found.n_auto_ == 20
    assert SNFS(penalty=found.penalty_).fit(X).n_auto_ == pytest.approx(20, abs=1)
    assert SNFS(0.5, penalty="auto").fit(X).n_auto_ == 45


def planted(rng, n, informative, noise, copies=0):
    """Four clusters in the first columns, noise in the others, and copies of the first at the end."""
    centers = rng.normal(scale=3, size=(4, informative))
    X = np.hstack([centers[rng.integers(4, size=n)], np.zeros((n, noise))]) + rng.normal(size=(n, informative + noise))
    return np.hstack([X, X[:, :copies] + 0.01 * rng.normal(size=(n, copies))])


@pytest.mark.parametrize(("informative", "noise", "n"), [(5, 20, 200), (20, 980, 300)])
def test_planted_columns_come_first(informative, noise, n):
    """A weaker penalty keeps noise as well, by construction: within a cluster it decides who is whose neighbour."""
    X = planted(np.random.default_rng(0), n, informative, noise)
    assert SNFS(informative, penalty=0.1).fit(X).support_[:informative].all()


def test_of_planted_columns_and_their_copies_some_come_first():
    X = planted(np.random.default_rng(0), 200, 5, 20, copies=5)
    top = SNFS(5, penalty=0.1, tol=1e-3).fit(X).get_support(indices=True)
    assert set(top) <= {*range(5), *range(25, 30)}


@each_affinity
def test_permuted_rows_and_columns(affinity, rng):
    X = text_like(rng)
    rows, columns = rng.permutation(60), rng.permutation(25)
    options = {"affinity": affinity, "penalty": 0.003, "tol": 1e-6}
    one, other = SNFS(**options).fit(X), SNFS(**options).fit(X[rows][:, columns])
    np.testing.assert_allclose(one.weights_[columns], other.weights_, atol=1e-2)
    assert one.objective_[-1] == pytest.approx(other.objective_[-1], rel=1e-6)


def test_labels_are_never_read(rng):
    X = text_like(rng)
    one, other = SNFS().fit(X), SNFS().fit(X, ["not a label"])
    np.testing.assert_array_equal(one.scores_, other.scores_)


def test_threads_change_nothing(rng):
    X = text_like(rng)
    one, other = SNFS(n_jobs=1).fit(X), SNFS(n_jobs=3).fit(X)
    np.testing.assert_array_equal(one.scores_, other.scores_)


def test_constant_and_empty_columns_come_last(rng):
    X = np.hstack([text_like(rng).toarray(), np.zeros((60, 1))])
    selector = SNFS(penalty=0.003).fit(X)
    assert selector.scores_[25] == selector.scores_.min()
    assert selector.scores_[25] == pytest.approx(-1)
    constant = np.hstack([rng.normal(size=(60, 6)), np.full((60, 1), 2.0)])
    for affinity in ("inner", "euclidean"):
        assert SNFS(affinity=affinity, penalty=0.01).fit(constant).ranking_[6] == 7


def test_cosines_with_all_columns_are_cosines_and_lengths_of_rows_do_not_matter(rng):
    X = rng.normal(size=(40, 7))
    neighbors = StochasticNeighbors(X, "cosine")
    np.testing.assert_allclose(neighbors.X @ neighbors.X.T, cosine_similarity(X), atol=1e-12)
    X[3] = 0
    selector = SNFS(affinity="cosine", penalty=0.01).fit(X)
    np.testing.assert_allclose(selector.weights_, SNFS(penalty=0.01).fit(normalize(X)).weights_, atol=1e-9)
    for factors in (rng.uniform(0.1, 10, (40, 1)), 1e-170, 1e160):
        for rows in (X * factors, sp.csr_array(X * factors)):
            other = SNFS(affinity="cosine", penalty=0.01).fit(rows)
            np.testing.assert_allclose(other.weights_, selector.weights_, atol=1e-2)
            assert other.objective_[-1] == pytest.approx(selector.objective_[-1], rel=1e-4)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("affinity", ["inner", "euclidean"])
def test_more_columns_than_vary_are_not_searched_for(affinity, kind, rng):
    X = np.hstack([rng.normal(size=(80, 3)), np.full((80, 5), [[0.0, 1.0, -2.0, 0.1, 3.0]])])
    with pytest.warns(UserWarning, match="No penalty keeps 6 columns, since 3 of 8 columns vary; .*, 3 have a weight"):
        selector = SNFS(6, penalty="auto", affinity=affinity).fit(kind(X))
    assert selector.get_support(indices=True).tolist() == [0, 1, 2]
    assert selector.weights_[:3].min() > 0.9 > selector.weights_[3:].max()
    assert selector.with_n_features(6).support_.sum() == 6


def test_columns_that_hardly_vary_are_not_searched_for_without_end(rng):
    X = np.hstack([rng.normal(size=(80, 3)), 1 + 1e-9 * rng.normal(size=(80, 5))])
    with pytest.warns(UserWarning, match="No penalty keeps 6 columns, since the others hardly matter; .*, 3 have"):
        selector = SNFS(6, penalty="auto", affinity="euclidean").fit(X)
    assert selector.support_.sum() == 6
    assert selector.support_[:3].all()


def test_only_constant_columns_and_a_number(rng):
    with pytest.warns(UserWarning, match="No penalty keeps 2 columns, since 0 of 3 columns vary"):
        assert SNFS(2, penalty="auto").fit(np.ones((12, 3))).support_.sum() == 1


def test_equal_rows(rng):
    X = np.repeat(rng.normal(size=(10, 4)), 4, axis=0)
    assert np.isfinite(SNFS(penalty=0.001).fit(X).scores_).all()
    with pytest.warns(UserWarning, match="leaves no column"):
        everywhere = SNFS().fit(np.ones((12, 3)))
    assert everywhere.support_.sum() == 1


def normal(rng, n=30, d=6):
    return rng.normal(size=(n, d))


@pytest.mark.parametrize(
    ("rows", "perplexity"),
    [
        (lambda rng: np.repeat(normal(rng, 4), 10, axis=0), 5.0),
        (lambda rng: np.vstack([normal(rng), np.zeros((30, 6))]), 5.0),
        (normal, 1.0),
        (lambda rng: normal(rng, 2), 15.0),
        (lambda rng: np.zeros((10, 3)), 15.0),
    ],
)
def test_rows_that_cannot_have_so_few_neighbors(rows, perplexity, rng):
    """More equals than the perplexity, or a perplexity of 1: dense and CSR agree, and nothing is lost to rounding."""
    X = rows(rng)
    dense, sparse = (SNFS(2, perplexity=perplexity).fit(kind(X)) for kind in (np.asarray, sp.csr_array))
    assert dense.scale_ == pytest.approx(sparse.scale_, rel=1e-3)
    assert dense.objective_[-1] == pytest.approx(sparse.objective_[-1], rel=1e-3, abs=1e-9)
    assert dense.objective_[-1] >= 0


def test_the_penalty_found_is_the_one_that_is_reported(rng):
    X = np.repeat(normal(rng, 60, 4), 3, axis=1)
    found = SNFS(2, penalty="auto", perplexity=10).fit(X)
    again = SNFS(2, penalty=found.penalty_, perplexity=10, tol=1e-5).fit(X)
    assert found.objective_[-1] == pytest.approx(again.objective_[-1], rel=1e-3)


@pytest.mark.parametrize("factor", [1e160, 1e-120])
def test_numbers_whose_products_do_not_exist(factor, rng):
    with pytest.raises(ValueError, match="scale X first"):
        SNFS().fit(factor * normal(rng))


def test_a_penalty_that_keeps_nothing_warns_and_keeps_the_best(rng):
    X = text_like(rng)
    with pytest.warns(UserWarning, match=r"penalty=100.0 leaves no column .* Lower the penalty"):
        selector = SNFS(penalty=100.0).fit(X)
    assert selector.n_auto_ == selector.support_.sum() == 1
    assert not selector.weights_.any()
    assert SNFS(3, penalty=100.0).fit(X).support_.sum() == 3


def test_too_few_iterations_warn(rng):
    with pytest.warns(
        ConvergenceWarning, match=r"SNFS did not converge in 2 iterations: its objective of .*; raise max_iter or tol"
    ):
        SNFS(max_iter=2, penalty=0.01).fit(text_like(rng))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"perplexity": 0.5}, "perplexity must be at least 1"),
        ({"perplexity": "many"}, "perplexity must be a number above 0"),
        ({"penalty": 0}, "penalty must be a number above 0"),
        ({"penalty": "auto"}, "as a number or a share"),
        ({"affinity": "hamming"}, "affinity must be one of 'inner', 'cosine', 'euclidean'"),
        ({"threshold": 1.5}, "threshold must be a share"),
        ({"threshold": 1.0}, "threshold must be below 1"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"tol": 0}, "tol must be a number above 0"),
    ],
)
def test_parameters_that_make_no_sense(parameters, sentence, rng):
    with pytest.raises(ValueError, match=sentence):
        SNFS(**parameters).fit(rng.normal(size=(20, 4)))


def test_sampled_rows_come_near_the_exact_objective(rng):
    """The weights found with few rows per row, put into the exact objective; more rows come nearer."""
    X = text_like(rng, 400, 80)
    exact = SNFS(penalty=0.002).fit(X)
    loss = NeighborLoss(StochasticNeighbors(X, "inner"), exact.scale_, 0.002 * 400)
    excess = []
    for n_neighbors in (5, 40, 150):
        weights = SNFS(penalty=0.002, n_neighbors=n_neighbors, random_state=0).fit(X).weights_
        excess.append(loss(weights)[0] / exact.objective_[-1] - 1)
    assert excess[0] > excess[2]
    assert excess[1] < 0.03
    assert excess[2] < 0.005


def test_as_many_neighbors_as_rows_is_exact(rng):
    X = text_like(rng)
    np.testing.assert_array_equal(SNFS(n_neighbors=30, random_state=0).fit(X).scores_, SNFS().fit(X).scores_)


def test_guardian(real_data):
    """Real text: as many columns as the thesis would keep, and the objective at its minimum."""
    real_data("iris")  # skips where there is no folder of data
    X = TfidfTransformer().fit_transform(load("text_guardian").X)
    selector = SNFS().fit(X)
    assert selector.gap_ <= 1e-4 * selector.objective_[-1]
    assert 200 < selector.n_auto_ < 320

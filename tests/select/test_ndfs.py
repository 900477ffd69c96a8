"""NDFS: its two steps against plain formulas, its descent, what it ranks high and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal._optim import RowWeightedRidge, row_sparse_least_squares
from vicinal.graphs import laplacian, neighbor_graph
from vicinal.select._ndfs import NDFS, _Problem, spectral_indicators


def planted(rng, n, n_columns, n_informative, copies=False):
    """Five groups; the first columns have one level for each, in an order of their own; then to unit variance."""
    X = rng.normal(size=(n, n_columns))
    levels = 4 * np.array([rng.permutation(5) for _ in range(n_informative)]).T
    X[:, :n_informative] += levels[np.arange(n) % 5]
    if copies:
        X = np.hstack([X, X[:, :n_informative] + 0.1 * rng.normal(size=(n, n_informative))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def apart(rng, n, n_columns):
    """Groups far from each other in five columns: k-means finds them whatever the order of rows."""
    X = rng.normal(size=(n, n_columns))
    X[:, :5] += 30 * np.eye(5)[np.arange(n) % 5]
    return X / 10


def value(X, F, W, alpha, beta, orthogonality):
    """The objective by the definition."""
    L = laplacian(neighbor_graph(X, 5), normalized=True).toarray()
    regression = np.sum((X @ W - F) ** 2) + beta * np.linalg.norm(W, axis=1).sum()
    return np.trace(F.T @ L @ F) + alpha * regression + orthogonality / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)


def problem_of(X, *, alpha=1.0, beta=1.0, orthogonality=100.0, form="auto"):
    return _Problem([X], laplacian(neighbor_graph(X, 5), normalized=True), alpha, beta, orthogonality, form)


@pytest.mark.parametrize("shape", [(40, 12), (20, 50)])
@pytest.mark.parametrize(("alpha", "beta", "orthogonality"), [(1.0, 1.0, 100.0), (0.1, 5.0, 10.0), (10.0, 0.1, 1e8)])
def test_the_objective_never_rises_and_is_that_of_the_solution(rng, shape, alpha, beta, orthogonality):
    X = planted(rng, *shape, 5)
    selector = NDFS(
        regression_weight=alpha, sparsity=beta, orthogonality=orthogonality, max_iter=1000, tol=1e-6, random_state=0
    ).fit(X)
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert np.all(np.diff(selector.objective_) <= 0)
    expected = value(X, selector.pseudo_labels_, selector.coef_, alpha, beta, orthogonality)
    assert selector.objective_[-1] == pytest.approx(expected, rel=1e-8)
    assert selector.pseudo_labels_.min() >= 0
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=1))


def test_labels_go_down_on_the_explicit_form_and_coefficients_are_its_regression(rng):
    X = planted(rng, 30, 12, 5)
    problem = problem_of(X, alpha=0.7, beta=2.0, orthogonality=20.0)
    lengths = rng.uniform(0.01, 1, 12)
    ridge = RowWeightedRidge(X, 2 * lengths, 2.0)
    Lambda = np.diag(1 / (2 * lengths))
    inverse = np.linalg.inv(X.T @ X + 2.0 * Lambda)
    P = problem.L.toarray() + 0.7 * (np.eye(30) - X @ inverse @ X.T)

    def explicit(F):
        return np.trace(F.T @ P @ F) + 10.0 * np.sum((F.T @ F - np.eye(5)) ** 2)

    F = spectral_indicators(neighbor_graph(X, 5), 5, 0)
    lower = problem._lower_labels(F, [ridge])
    assert explicit(lower) < explicit(F)
    # The parabolas lie above the lengths, so that the objective itself is not above what F went down on.
    W = inverse @ X.T @ lower
    np.testing.assert_allclose(ridge.coefficients(lower), W, atol=1e-10)
    reached = problem.value(lower, W)
    assert reached <= explicit(lower) + 0.7 * 2.0 * lengths.sum() / 2


def test_at_rest_both_parts_meet_their_conditions(rng):
    X = planted(rng, 40, 12, 5)
    selector = NDFS(n_clusters=3, sparsity=4.0, orthogonality=20.0, tol=1e-9, max_iter=5000, random_state=0).fit(X)
    F, W = selector.pseudo_labels_, selector.coef_
    # F: nothing is gained by moving entries that are positive, nor by raising those at 0.
    L = laplacian(neighbor_graph(X, 5), normalized=True)
    gradient = 2 * (L @ F) + 2 * (F - X @ W) + 40.0 * F @ (F.T @ F - np.eye(3))
    assert np.abs(F * gradient).max() < 1e-3
    assert gradient.min() > -1e-2
    # W: the minimum of the l2,1 problem for this F.
    best = row_sparse_least_squares(X, F, 4.0, max_iter=5000, tol=1e-13)
    reached = np.sum((X @ W - F) ** 2) + 4.0 * selector.scores_.sum()
    assert reached == pytest.approx(best.objective[-1], rel=1e-6)


def test_the_constraint_is_kept_as_well_as_promised(rng):
    X = planted(rng, 60, 20, 5)
    for orthogonality in (30.0, 100.0):
        F = NDFS(orthogonality=orthogonality, random_state=0).fit(X).pseudo_labels_
        assert np.abs(F.T @ F - np.eye(5)).max() < 3 / orthogonality


def test_a_constraint_of_1e8_freezes_the_labels_and_ends_higher(rng):
    X = planted(rng, 60, 20, 5)
    start = spectral_indicators(neighbor_graph(X, 5), 5, 0)
    frozen, moved = (NDFS(orthogonality=weight, random_state=0).fit(X) for weight in (1e8, 100.0))
    assert np.array_equal(frozen.pseudo_labels_.argmax(axis=1), start.argmax(axis=1))

    def feasible_value(F):
        """The original objective where F is made feasible: one label per row, columns of unit length."""
        only = np.where(F.max(axis=1, keepdims=True) == F, F, 0)
        only /= np.linalg.norm(only, axis=0)
        return value(X, only, row_sparse_least_squares(X, only, 1.0, max_iter=300).solution, 1.0, 1.0, 0.0)

    assert feasible_value(moved.pseudo_labels_) < feasible_value(frozen.pseudo_labels_)


@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
def test_both_forms_agree(rng, shape):
    X = planted(rng, *shape, 5)
    start = spectral_indicators(neighbor_graph(X, 5), 5, 0)
    rows, columns = (problem_of(X, form=form).minimise(start, 30, 0) for form in ("rows", "columns"))
    np.testing.assert_allclose(rows.objective, columns.objective, rtol=1e-6)
    np.testing.assert_allclose(rows.solution[1], columns.solution[1], atol=1e-5)


@pytest.mark.parametrize("shape", [(40, 20), (25, 60)])
def test_sparse_equals_dense(rng, shape):
    X = planted(rng, *shape, 5)
    X[np.abs(X) < 0.3] = 0
    dense, sparse = (NDFS(random_state=0).fit(kind(X)) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(dense.scores_, sparse.scores_, atol=1e-5)
    np.testing.assert_allclose(dense.objective_, sparse.objective_, rtol=1e-6)


@pytest.mark.parametrize("shape", [(60, 20), (50, 80)])
def test_permuting_rows_or_columns_permutes_the_answer(rng, shape):
    X = apart(rng, *shape)
    scores = NDFS(random_state=0).fit(X).scores_
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    np.testing.assert_allclose(NDFS(random_state=0).fit(X[rows]).scores_, scores, atol=1e-5)
    np.testing.assert_allclose(NDFS(random_state=0).fit(X[:, columns]).scores_, scores[columns], atol=1e-5)


def test_labels_are_not_read_and_seeds_settle_everything(rng):
    X = planted(rng, 50, 12, 4)
    first = NDFS(random_state=3).fit(X)
    np.testing.assert_array_equal(NDFS(random_state=3).fit(X, np.arange(50) % 5).scores_, first.scores_)


def test_pseudo_labels_find_groups_that_lie_apart(rng):
    X = apart(rng, 60, 10)
    labels = NDFS(random_state=0).fit(X).pseudo_labels_.argmax(axis=1)
    assert len({(label, row % 5) for row, label in enumerate(labels)}) == 5


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("copies", [False, True])
def test_planted_columns_and_their_copies_come_first(seed, copies):
    X = planted(np.random.default_rng(seed), 150, 25, 5, copies)
    wanted = set(range(5)) | set(range(25, X.shape[1]))
    assert set(np.flatnonzero(NDFS(len(wanted), sparsity=10.0, tol=0.003, random_state=0).fit(X).support_)) == wanted


@pytest.mark.parametrize("copies", [False, True])
def test_planted_columns_of_many_come_first(copies):
    # A light penalty predicts five labels from a few of the planted columns alone: the regression leaves out the rest.
    X = planted(np.random.default_rng(0), 300, 1000, 20, copies)
    wanted = set(range(20)) | set(range(1000, X.shape[1]))
    assert set(np.flatnonzero(NDFS(len(wanted), sparsity=10.0, tol=0.003, random_state=0).fit(X).support_)) == wanted


def test_constant_columns_score_lowest(rng):
    X = planted(rng, 50, 12, 4)
    X[:, 3], X[:, 7] = 0, 5.5
    selector = NDFS(random_state=0).fit(X)
    assert np.all(selector.scores_[[3, 7]] == 0)
    assert set(np.argsort(selector.ranking_)[-2:]) == {3, 7}
    without = NDFS(random_state=0).fit(np.delete(X, [3, 7], axis=1))
    np.testing.assert_allclose(np.delete(selector.scores_, [3, 7]), without.scores_, atol=1e-7)
    assert not NDFS(random_state=0).fit(np.ones((6, 3))).scores_.any()


def test_duplicated_rows_separate_groups_and_few_rows(rng):
    X = planted(rng, 30, 10, 4)
    islands = np.vstack([X, X + 1000, X + 1000])  # parts of the graph that no edge joins, and rows that occur twice
    for rows in (np.repeat(X, 8, axis=0), islands, X[:2], X[:4]):
        selector = NDFS(n_clusters=2, random_state=0).fit(rows)
        assert np.all(np.isfinite(selector.scores_))
        assert np.all(np.diff(selector.objective_) <= 0)
    assert np.all(np.isfinite(NDFS(n_clusters=1, random_state=0).fit(X + 3).scores_))
    assert np.all(np.isfinite(NDFS(n_clusters=30, random_state=0).fit(X).scores_))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1; got 0"),
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows; ask for at most as many clusters as rows"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"regression_weight": 0}, "regression_weight must be a number above 0; got 0"),
        ({"sparsity": np.inf}, "sparsity must be a number above 0; got inf"),
        ({"orthogonality": "high"}, "orthogonality must be a number above 0; got 'high'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1e-3}, "tol must be a number of at least 0"),
        ({"n_features_to_select": 11}, "n_features_to_select=11, but X has 10 features"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        NDFS(**parameters).fit(rng.normal(size=(30, 10)))


def test_too_few_reweightings_are_told(rng):
    with pytest.warns(ConvergenceWarning, match="NDFS did not converge in 2 reweightings; raise max_iter or tol"):
        NDFS(max_iter=2, tol=1e-12, random_state=0).fit(planted(rng, 50, 12, 4))


def test_a_sparsity_that_keeps_nothing_is_reported_and_columns_are_ranked_all_the_same(rng):
    X = planted(rng, 100, 25, 5)
    with pytest.warns(UserWarning, match=r"sparsity=1000.0 keeps no column: .* lower sparsity, or scale X up"):
        selector = NDFS(5, sparsity=1000.0, random_state=0).fit(X)
    assert selector.scores_.max() < 1e-3
    assert set(np.flatnonzero(selector.support_)) == set(range(5))

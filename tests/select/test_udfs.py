"""UDFS: its matrices against plain ones, its descent, what it ranks high and what it refuses."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal._optim._trace import SMOOTHING
from vicinal.graphs import nearest_rows
from vicinal.select import _udfs
from vicinal.select._columns import varying
from vicinal.select._udfs import UDFS, neighborhood_scatter


def planted(rng, n, n_columns, n_informative, copies=False):
    """Five groups; the first columns have one level for each, in an order of their own; then to unit variance."""
    X = rng.normal(size=(n, n_columns))
    levels = 4 * np.array([rng.permutation(5) for _ in range(n_informative)]).T
    X[:, :n_informative] += levels[np.arange(n) % 5]
    if copies:
        X = np.hstack([X, X[:, :n_informative] + 0.1 * rng.normal(size=(n, n_informative))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def slow_scatter(X, n_neighbors, ridge):
    """B by the definition, one neighbourhood at a time."""
    n = len(X)
    B = np.zeros((n, n))
    for i, nearest in enumerate(nearest_rows(X, n_neighbors=n_neighbors)[1]):
        members = [i, *nearest]
        S = np.eye(n)[:, members]
        H = np.eye(len(members)) - 1 / len(members)
        local = H @ X[members]
        B += S @ H @ np.linalg.inv(local @ local.T + ridge * np.eye(len(members))) @ H @ S.T
    return B


def value(M, W, gamma):
    return np.trace(W.T @ M @ W) + gamma * np.sqrt(np.sum(W**2, axis=1) + SMOOTHING**2).sum()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("n", "n_neighbors"), [(15, 4), (4, 9), (2, 1)])
def test_scatter_is_the_definition(rng, kind, n, n_neighbors):
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7) + np.arange(n)[:, None]
    B = neighborhood_scatter(kind(X), n_neighbors, 0.3)
    np.testing.assert_allclose(B.toarray(), slow_scatter(X, n_neighbors, 0.3), atol=1e-12)
    np.testing.assert_allclose(B.sum(axis=1), 0, atol=1e-12)
    assert abs(B - B.T).max() < 1e-14
    assert np.linalg.eigvalsh(B.toarray()).min() > -1e-12


def test_scatter_of_more_values_than_are_held_at_a_time(rng, monkeypatch):
    """Copies of columns multiply squared distances, which the ridge makes up for."""
    monkeypatch.setattr(_udfs, "_BLOCK", 4000)  # 13 of the rows
    X, n_copies = rng.normal(size=(30, 6)), 50
    B = neighborhood_scatter(np.tile(X, n_copies), 4, 1.0 * n_copies)
    np.testing.assert_allclose(n_copies * B.toarray(), slow_scatter(X, 4, 1.0), atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 15), (20, 30)])
@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_at_rest_the_coefficients_are_the_smallest_eigenvectors(rng, shape, gamma):
    X = planted(rng, *shape, 4)
    selector = UDFS(n_clusters=3, sparsity=gamma, tol=1e-13, max_iter=5000).fit(X)
    W = selector.coef_
    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-9)
    M = X.T @ slow_scatter(X, 5, 1.0) @ X
    assert selector.objective_[-1] == pytest.approx(value(M, W, gamma), rel=1e-9)
    explicit = M + gamma * np.diag(1 / (2 * np.hypot(selector.scores_, SMOOTHING)))
    values, vectors = scipy.linalg.eigh(explicit, subset_by_index=(0, 2))
    assert np.trace(W.T @ explicit @ W) == pytest.approx(values.sum(), rel=1e-5)
    np.testing.assert_allclose(W @ W.T, vectors @ vectors.T, atol=1e-2)


@pytest.mark.parametrize("gamma", [0.03, 1.0, 30.0])
@pytest.mark.parametrize("shape", [(60, 25), (30, 80)])
def test_the_objective_never_rises(rng, shape, gamma):
    selector = UDFS(sparsity=gamma, tol=1e-9, max_iter=2000).fit(planted(rng, *shape, 5))
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert np.all(np.diff(selector.objective_) <= 0)
    np.testing.assert_allclose(np.sum(selector.scores_**2), 5, rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 20), (25, 60)])
def test_sparse_equals_dense(rng, shape):
    X = planted(rng, *shape, 5)
    X[np.abs(X) < 0.3] = 0
    dense, sparse = UDFS().fit(X), UDFS().fit(sp.csr_array(X))
    np.testing.assert_allclose(dense.scores_, sparse.scores_, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(dense.objective_, sparse.objective_, rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 20), (40, 60)])
def test_permuting_rows_or_columns_permutes_the_answer(rng, shape):
    X = planted(rng, *shape, 5)
    scores = UDFS().fit(X).scores_
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    np.testing.assert_allclose(UDFS().fit(X[rows]).scores_, scores, rtol=1e-4, atol=1e-9)
    np.testing.assert_allclose(UDFS().fit(X[:, columns]).scores_, scores[columns], rtol=1e-4, atol=1e-9)


def test_labels_are_not_read(rng):
    X = planted(rng, 50, 12, 4)
    np.testing.assert_array_equal(UDFS().fit(X, np.arange(50) % 5).scores_, UDFS().fit(X).scores_)


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_come_first(seed):
    X = planted(np.random.default_rng(seed), 150, 25, 5)
    assert set(np.flatnonzero(UDFS(5).fit(X).support_)) == set(range(5))


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_and_their_copies_come_first(seed):
    X = planted(np.random.default_rng(seed), 150, 25, 5, copies=True)
    assert set(np.flatnonzero(UDFS(10).fit(X).support_)) == {*range(5), *range(25, 30)}


@pytest.mark.parametrize("copies", [False, True])
def test_planted_columns_of_many_come_first(copies):
    # Five combinations of five columns would do: the others are told by the hints in their tiny coefficients.
    X = planted(np.random.default_rng(0), 400, 1000, 20, copies)
    chosen = np.flatnonzero(UDFS(20, sparsity=10.0).fit(X).support_)
    assert set(chosen) <= {*range(20), *range(1000, 1020)}


def test_a_heavy_sparsity_leaves_as_many_columns_as_combinations(rng):
    selector = UDFS(n_clusters=3, sparsity=1e4).fit(planted(rng, 60, 20, 5))
    assert np.sum(selector.scores_ > 0.01) == 3
    assert np.all(selector.scores_ > 0)  # the others are ranked all the same
    assert selector.objective_[-1] >= 3e4


def test_constant_columns_score_lowest(rng):
    X = planted(rng, 50, 12, 4)
    X[:, 3], X[:, 7] = 0, 5.5
    selector = UDFS(n_clusters=3).fit(X)
    assert np.all(selector.scores_[[3, 7]] == 0)
    assert set(np.argsort(selector.ranking_)[-2:]) == {3, 7}
    without = UDFS(n_clusters=3).fit(np.delete(X, [3, 7], axis=1))
    np.testing.assert_allclose(np.delete(selector.scores_, [3, 7]), without.scores_, rtol=1e-5)
    assert not UDFS().fit(np.ones((6, 3))).scores_.any()
    sparse = sp.csr_array(X)
    assert np.array_equal(varying(sparse), varying(X))


def test_as_many_combinations_as_columns_score_all_alike(rng):
    selector = UDFS(n_clusters=5).fit(rng.normal(size=(30, 3)))
    np.testing.assert_allclose(selector.scores_, 1, rtol=1e-9)
    assert selector.coef_.shape == (3, 3)


def test_duplicated_rows_separate_groups_and_few_rows(rng):
    X = planted(rng, 30, 10, 4)
    apart = np.vstack([X, X + 1000, X + 1000])  # parts of the graph that no edge joins, and rows that occur twice
    for rows in (np.repeat(X, 8, axis=0), apart, X[:2], X[:4]):
        selector = UDFS(n_clusters=2, n_neighbors=5).fit(rows)
        assert np.all(np.isfinite(selector.scores_))
        assert np.all(np.diff(selector.objective_) <= 0)


@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_units_far_from_one(rng, scale):
    X = planted(rng, 40, 10, 4) * scale
    selector = UDFS(n_clusters=3, ridge=scale**2).fit(X)
    np.testing.assert_allclose(selector.coef_.T @ selector.coef_, np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1; got 0"),
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows; ask for at most as many clusters as rows"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"sparsity": 0}, "sparsity must be a number above 0; got 0"),
        ({"sparsity": np.nan}, "sparsity must be a number above 0; got nan"),
        ({"ridge": -1.0}, "ridge must be a number above 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1e-3}, "tol must be a number of at least 0"),
        ({"n_features_to_select": 11}, "n_features_to_select=11, but X has 10 features"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        UDFS(**parameters).fit(rng.normal(size=(30, 10)))


def test_too_few_reweightings_are_told(rng):
    with pytest.warns(ConvergenceWarning, match="UDFS did not converge in 2 reweightings; raise max_iter or tol"):
        UDFS(max_iter=2, tol=1e-12).fit(planted(rng, 50, 12, 4))

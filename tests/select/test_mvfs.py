"""MVFS: the objective by its definition, one view as in NDFS, and what it keeps of each view."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal.graphs import laplacian, neighbor_graph
from vicinal.select import MVFS, NDFS


def planted(rng, n=120, sizes=(20, 30), n_informative=4):
    """Five groups; the first columns of each view have one level for each, then all have unit variance."""
    views = []
    for size in sizes:
        X = rng.normal(size=(n, size))
        levels = 4 * np.array([rng.permutation(5) for _ in range(n_informative)]).T
        X[:, :n_informative] += levels[np.arange(n) % 5]
        views.append((X - X.mean(axis=0)) / X.std(axis=0))
    return np.hstack(views)


def value(views, F, coefficients, alpha, beta, orthogonality):
    """The objective by the definition."""
    total = orthogonality / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)
    for X, W in zip(views, coefficients, strict=True):
        L = laplacian(neighbor_graph(X, 5), normalized=True).toarray()
        regression = np.sum((X @ W - F) ** 2) + beta * np.linalg.norm(W, axis=1).sum()
        total += (np.trace(F.T @ L @ F) + alpha * regression) / len(views)
    return total


@pytest.mark.parametrize("sizes", [(12, 9), (80, 20, 5)])  # the first is wider than there are rows
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.1, 5.0), (10.0, 0.1)])
def test_the_objective_never_rises_and_is_that_of_the_solution(rng, sizes, alpha, beta):
    X = planted(rng, 40, sizes)
    selector = MVFS(views=sizes, regression_weight=alpha, sparsity=beta, max_iter=1000, tol=1e-6, random_state=0).fit(X)
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert np.all(np.diff(selector.objective_) <= 0)
    views, coefficients = (
        np.split(part, np.cumsum(sizes)[:-1], axis=axis) for part, axis in ((X, 1), (selector.coef_, 0))
    )
    expected = value(views, selector.pseudo_labels_, coefficients, alpha, beta, 100.0)
    assert selector.objective_[-1] == pytest.approx(expected, rel=1e-8)
    assert selector.pseudo_labels_.min() >= 0
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=1))


def test_one_view_is_ndfs(rng):
    X = planted(rng)
    of_one, plain = MVFS(random_state=0).fit(X), NDFS(random_state=0).fit(X)
    np.testing.assert_array_equal(of_one.scores_, plain.scores_)
    np.testing.assert_array_equal(of_one.pseudo_labels_, plain.pseudo_labels_)
    np.testing.assert_array_equal(of_one.support_, plain.support_)


def test_the_same_view_twice_gives_it_the_same_scores_twice(rng):
    X = planted(rng, sizes=(20,))
    twice = MVFS(views=[20, 20], random_state=0).fit(np.hstack([X, X]))
    once = NDFS(random_state=0).fit(X)
    np.testing.assert_allclose(twice.scores_, np.tile(once.scores_, 2), atol=1e-8)
    np.testing.assert_allclose(twice.objective_, once.objective_, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_of_each_view_come_first(seed):
    X = planted(np.random.default_rng(seed))
    selector = MVFS(4, views={"narrow": 20, "wide": 30}, sparsity=10.0, tol=0.003, random_state=0).fit(X)
    assert set(np.flatnonzero(selector.support_)) == {0, 1, 2, 3, 20, 21, 22, 23}
    assert list(selector.view_scores_) == ["narrow", "wide"]


def test_labels_of_a_clear_view_choose_columns_of_a_noisy_one():
    rng = np.random.default_rng(0)
    n = 120
    clear = planted(rng, n, (20,), 8)
    noisy = rng.normal(size=(n, 30))
    noisy[:, :2] += 3 * np.array([rng.permutation(5) for _ in range(2)]).T[np.arange(n) % 5]
    noisy = (noisy - noisy.mean(axis=0)) / noisy.std(axis=0)
    selector = MVFS([8, 2], views=[20, 30], sparsity=3.0, random_state=0).fit(np.hstack([clear, noisy]))
    assert set(np.flatnonzero(selector.support_)) == set(range(8)) | {20, 21}


def test_views_in_any_place_and_order(rng):
    X = planted(rng, sizes=(10, 12))
    expected = MVFS(3, views=[10, 12], random_state=0).fit(X)
    order = rng.permutation(22)
    place = np.argsort(order)
    moved = MVFS(3, views=[place[:10].tolist(), place[10:].tolist()], random_state=0).fit(X[:, order])
    np.testing.assert_allclose(moved.scores_, expected.scores_[order], atol=1e-6)
    swapped = MVFS(3, views=[slice(10, 22), slice(0, 10)], random_state=0).fit(X)
    np.testing.assert_allclose(swapped.scores_, expected.scores_, atol=1e-6)


@pytest.mark.parametrize("sizes", [(20, 12), (60, 70)])
def test_sparse_equals_dense(rng, sizes):
    X = planted(rng, 50, sizes)
    X[np.abs(X) < 0.3] = 0
    dense, sparse = (MVFS(views=sizes, random_state=0).fit(kind(X)) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(dense.scores_, sparse.scores_, atol=1e-5)


def test_constant_columns_empty_rows_and_views_of_one_value(rng):
    X = planted(rng, 50, (12, 8))
    X[4, :12] = 0
    X[:, 3] = 5.5
    plain = NDFS(2, random_state=0).fit(X[:, :12])
    for nothing in (0.0, 3.0):
        X[:, 12:] = nothing
        selector = MVFS(2, views=[12, 8], random_state=0).fit(X)
        np.testing.assert_array_equal(selector.scores_[:12], plain.scores_)
        assert not selector.scores_[[3, *range(12, 20)]].any()
        assert selector.support_.sum() == 4
    assert not MVFS(2, views=[12, 8], random_state=0).fit(np.ones((9, 20))).scores_.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows"),
        ({"regression_weight": 0}, "regression_weight must be a number above 0; got 0"),
        ({"sparsity": -1}, "sparsity must be a number above 0; got -1"),
        ({"n_features_to_select": 5}, "n_features_to_select=5, but the view 'view2' has 4 features"),
        ({"views": [6, 5]}, "6 [+] 5 = 11 columns, but X has 10"),
        ({"views": [slice(0, 7), slice(6, 10)]}, "both have column 6"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        MVFS(**({"views": [6, 4]} | parameters)).fit(rng.normal(size=(30, 10)))


def test_what_did_not_converge_and_what_keeps_nothing_is_told(rng):
    X = planted(rng, 50)
    with pytest.warns(ConvergenceWarning, match="MVFS did not converge in 2 reweightings; raise max_iter or tol"):
        MVFS(views=[20, 30], max_iter=2, tol=1e-12, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"sparsity=1000.0 keeps no column: .* lower sparsity"):
        MVFS(views=[20, 30], sparsity=1000.0, random_state=0).fit(X)

"""CDMA-FS: descent, planted columns, penalties, and what it refuses."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import CDMAFS, datasets
from vicinal.graphs import fuse_graphs, neighbor_graph
from vicinal.select._alignment import KernelAlignment
from vicinal.select._cdma import half_mean_square
from vicinal.views import stack_views


def planted(rng, n=120, informative=(3, 4), noise=(7, 9)):
    """Views whose first columns tell three groups apart."""
    labels = rng.integers(3, size=n)
    views = []
    for n_informative, n_noise in zip(informative, noise, strict=True):
        rows = rng.normal(size=(n, n_informative + n_noise))
        rows[:, :n_informative] += 4 * rng.normal(size=(3, n_informative))[labels]
        views.append(rows)
    return *stack_views(views), labels


def planted_words(rng, n=150, n_words=40):
    """Sparse rows of two views: each group has eight words of its own in each view, the other words say nothing."""
    labels = rng.integers(3, size=n)
    views = []
    for _ in range(2):
        rows = (rng.random((n, n_words)) < 0.08) * rng.random((n, n_words))
        own = rng.random((n, 24)) < 0.5
        rows[:, :24] += own * (np.arange(24) // 8 == labels[:, None])
        views.append(sp.csr_array(rows))
    return *stack_views(views), labels


@pytest.mark.parametrize("given", [{}, {"unit_rows": False}, {"weights": "cosine"}, {"regularization": 0.01}])
def test_planted_columns_are_found_in_each_view(rng, given):
    X, views, _ = planted(rng)
    selector = CDMAFS([3, 4], views=views, **given).fit(X)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 10, 11, 12, 13])


@pytest.mark.parametrize("as_given", [sp.csr_array, lambda X: X.toarray()])
def test_planted_words_are_found_in_each_view(rng, as_given):
    X, views, _ = planted_words(rng)
    selector = CDMAFS(12, views=views).fit(as_given(X))
    for columns in selector.views_.values():
        np.testing.assert_array_less(np.flatnonzero(selector.support_[columns]), 24)
    others = selector.with_n_features(24)
    assert all(others.support_[columns][:24].sum() > 16 for columns in others.views_.values())


def test_other_views_help_a_view_that_is_noisy(rng):
    labels = rng.integers(3, size=150)
    clear = 5 * rng.normal(size=(3, 4))[labels] + rng.normal(size=(150, 4))
    noisy = rng.normal(size=(150, 30))
    noisy[:, :3] += 1.5 * np.eye(3)[labels]
    alone = CDMAFS(3).fit(noisy).support_[:3].sum()
    X, views = stack_views([clear, noisy])
    assert CDMAFS([4, 3], views=views).fit(X).support_[4:7].sum() == 3 > alone


def test_weights_minimise_the_objective(rng):
    X, views, _ = planted(rng)
    selector = CDMAFS("auto", views=views, penalty=5.0, unit_rows=False, bandwidth=20.0, tol=1e-7).fit(X)
    assert (np.diff(selector.objective_) <= 1e-9 * np.abs(selector.objective_[:-1])).all()
    assert selector.objective_.shape == (selector.n_iter_ + 1,)
    parts = [X[:, columns] for columns in views.values()]
    graph = fuse_graphs([neighbor_graph(part) for part in parts])
    total = 0.0
    for part, columns in zip(parts, views.values(), strict=True):
        loss = KernelAlignment(part, graph, 20.0)
        loss.penalty = 5.0
        s = selector.weights_[columns]
        value, gradient = loss(s)
        total += value
        inner = (s > 0) & (s < 1)
        assert np.abs(gradient[inner]).max(initial=0) < 0.05
        assert (gradient[s >= 1] <= 0).all()
        assert (gradient[s <= 0] >= 0).all()
    np.testing.assert_allclose(selector.objective_[-1], total)
    whole = [int((selector.weights_[columns] >= 1).sum()) for columns in views.values()]
    assert selector.n_auto_ == [max(1, count) for count in whole]
    assert selector.support_.sum() == sum(selector.n_auto_)


def test_scores_follow_weights_and_tell_their_ends_apart(rng):
    X, views, _ = planted_words(rng)
    selector = CDMAFS(10, views=views).fit(X)
    for columns in selector.views_.values():
        s, scores = selector.weights_[columns], selector.scores_[columns]
        assert (scores[s >= 1] >= 1).all()
        assert (scores[s <= 0] <= 0).all()
        assert (scores >= -1).all()
        inner = (s > 0) & (s < 1)
        np.testing.assert_array_equal(scores[inner], s[inner])
        assert len(np.unique(scores)) == len(scores)


@pytest.mark.parametrize("wanted", [2, 6, 15])
def test_the_penalty_is_found_for_a_number_of_columns(rng, wanted):
    X, views, _ = planted_words(rng)
    selector = CDMAFS(wanted, views=views).fit(X)
    assert selector.support_.sum() == 2 * wanted
    least = CDMAFS("auto", views=views).fit(X)
    for name, columns in selector.views_.items():
        whole = (selector.weights_[columns] >= 1).sum()
        most = (least.weights_[columns] >= 1).sum()
        assert abs(whole - min(wanted, most)) <= 1
        assert selector.penalty_[name] >= least.penalty_[name]


def test_dense_and_sparse_rows_and_threads_agree(rng):
    X, views, _ = planted_words(rng)
    dense = CDMAFS(10, views=views, tol=1e-7).fit(X.toarray())
    sparse = CDMAFS(10, views=views, tol=1e-7, n_jobs=1).fit(X)
    np.testing.assert_allclose(sparse.weights_, dense.weights_, atol=1e-3)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    np.testing.assert_array_equal(sparse.scores_, CDMAFS(10, views=views, tol=1e-7, n_jobs=3).fit(X).scores_)


def test_columns_in_another_order_have_the_same_scores(rng):
    X, views, _ = planted_words(rng)
    order = rng.permutation(80)
    places = np.argsort(order)
    other = {name: places[columns].tolist() for name, columns in views.items()}
    first, second = CDMAFS(10, views=views).fit(X), CDMAFS(10, views=other).fit(X[:, order])
    np.testing.assert_allclose(second.scores_, first.scores_[order], atol=1e-3)


def test_labels_are_not_read(rng):
    X, views, labels = planted(rng)
    np.testing.assert_array_equal(
        CDMAFS(views=views).fit(X, labels).scores_, CDMAFS(views=views).fit(X, labels[::-1]).scores_
    )


def test_a_view_of_zeros_and_rows_of_zeros(rng):
    X, views, _ = planted(rng)
    nothing, described = stack_views([X[:, :10], X[:, 10:], np.zeros((120, 4))])
    with pytest.warns(UserWarning, match="No column of the view 'view3' varies"):
        selector = CDMAFS([3, 4, 2], views=described).fit(nothing)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 10, 11, 12, 13, 23, 24])
    assert len(set(selector.view_scores_["view3"])) == 1
    part = X.copy()
    part[:15, :10] = 0
    selector = CDMAFS([3, 4], views=views).fit(part)
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 10, 11, 12, 13])
    with pytest.warns(UserWarning, match="No column of the view 'view[12]' varies"):
        alike = CDMAFS(1, views=[2, 2]).fit(np.zeros((9, 4)))
    assert alike.support_.tolist() == [True, False, True, False]


@pytest.mark.parametrize("penalty", ["auto", 0.0])
@pytest.mark.parametrize("as_given", [sp.csr_array, lambda X: X.toarray()])
def test_columns_that_do_not_vary_come_last(rng, penalty, as_given):
    words, views, _ = planted_words(rng)
    X = sp.hstack([words[:, :40], sp.csr_array((150, 30)), words[:, 40:]], format="csr")
    selector = CDMAFS(views=[70, 40], penalty=penalty).fit(as_given(X))
    assert not selector.support_[40:70].any()
    assert selector.weights_[40:70].max() == 0
    assert selector.scores_[40:70].max() < np.delete(selector.scores_, np.s_[40:70]).min()
    assert selector.n_auto_ == CDMAFS([35, 20], views=views, penalty=penalty).fit(as_given(words)).n_auto_


def test_a_graph_that_joins_all_rows_is_told(rng):
    X, views, _ = planted(rng, n=20)
    with pytest.warns(UserWarning, match="n_neighbors=19 joins all 20 rows to each other"):
        CDMAFS(2, views=views, n_neighbors=19).fit(X)


def test_rows_are_left_as_they_are(rng):
    X = sp.csr_array(rng.random((40, 8)))
    X.data[::5] = 0
    before = X.copy()
    CDMAFS(3, unit_rows=False).fit(X)
    np.testing.assert_array_equal(X.data, before.data)


@pytest.mark.parametrize("as_given", [sp.csr_array, np.asarray])
def test_values_of_any_size_and_far_from_zero(rng, as_given):
    X, views, _ = planted(rng)
    plain = CDMAFS([3, 4], views=views, unit_rows=False, bandwidth=30.0).fit(as_given(X))
    for scale in (1e-200, 1e150):
        other = CDMAFS([3, 4], views=views, unit_rows=False, bandwidth=30.0 * scale**2 or 1e-320)
        if scale > 1:
            np.testing.assert_array_equal(other.fit(as_given(X * scale)).support_, plain.support_)
        auto = CDMAFS([3, 4], views=views, unit_rows=False).fit(as_given(X * scale))
        np.testing.assert_array_equal(auto.support_, plain.support_)


def test_shares_of_edges(rng):
    X, views, _ = planted(rng)
    alone = CDMAFS(3).fit(X)
    assert list(alone.shared_edges_) == ["view1"]
    shares = CDMAFS(3, views=views).fit(X).shared_edges_
    assert all(0.1 < share < 1 for share in shares.values())


def test_half_the_mean_squared_distance(rng):
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.5)
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    np.testing.assert_allclose(half_mean_square(X), squares.mean() / 2)
    np.testing.assert_allclose(half_mean_square(sp.csr_array(X)), squares.mean() / 2)
    np.testing.assert_allclose(half_mean_square(X + 1e8), squares.mean() / 2, rtol=1e-6)
    np.testing.assert_allclose(half_mean_square(sp.csr_array(X + 1e8)), squares.mean() / 2, rtol=1e-6)


def test_cross_validation_with_views(rng):
    X, views, labels = planted_words(rng)
    pipeline = make_pipeline(CDMAFS(views=views), LinearSVC())
    search = GridSearchCV(pipeline, {"cdmafs__n_features_to_select": [2, [24, 24]]}, cv=3, error_score="raise")
    assert search.fit(X, labels).best_params_ == {"cdmafs__n_features_to_select": [24, 24]}


def test_too_few_iterations_are_told(rng):
    X, views, _ = planted_words(rng)
    with pytest.warns(ConvergenceWarning, match="CDMAFS did not converge in 1 iterations"):
        CDMAFS("auto", views=views, max_iter=1, tol=1e-12).fit(X)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"penalty": -1}, "penalty must be a number of at least 0; got -1"),
        ({"penalty": "none"}, "penalty must be one of 'auto'"),
        ({"regularization": -0.01}, "regularization must be a number of at least 0"),
        ({"bandwidth": 0}, "bandwidth must be a number above 0"),
        ({"bandwidth": "median"}, "bandwidth must be one of 'auto'"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_diffusions": 0}, "n_diffusions"),
        ({"weights": "ones"}, "weights must be one of"),
        ({"unit_rows": "yes"}, "unit_rows must be one of"),
        ({"tol": 0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_features_to_select": 11}, "but the view 'view1' has 10 features"),
        ({"views": [slice(0, 12), slice(10, 23)]}, "both have column 10"),
    ],
)
def test_bad_input(rng, given, sentence):
    X, views, _ = planted(rng)
    with pytest.raises(ValueError, match=sentence):
        CDMAFS(**{"views": views} | given).fit(X)


@pytest.mark.skipif(not os.environ.get("VICINAL_DATA"), reason="VICINAL_DATA is not set: this test needs real data")
def test_bbc_sport():
    sample = datasets.load("mv_bbcsport2")
    selector = CDMAFS(400, views=sample.views).fit(sample.X)
    assert selector.support_.sum() == 800
    assert all(350 < count <= 410 for count in selector.n_auto_)

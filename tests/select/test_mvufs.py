"""MVUFS: the objective by its definition, one view as in RUFS, and what it keeps of each view."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from vicinal.select import MVUFS, RUFS
from vicinal.select._label_learning import SharedLabels
from vicinal.select._local_regression import local_learning_laplacian
from vicinal.select._rufs import RUFSObjective

WEIGHTS = {"alpha": 1.3, "beta": 0.7, "nu": 5.0, "orthogonality": 20.0}


def planted(rng, n=120, sizes=(20, 30), n_informative=5):
    """Counts; each of the first columns of each view is high in one of five clusters."""
    high_in = np.eye(5)[np.arange(n) % 5][:, np.arange(n_informative) % 5]
    views = [
        np.hstack([rng.poisson(0.2 + 4 * high_in), rng.poisson(0.8, size=(n, size - n_informative))]) for size in sizes
    ]
    return np.hstack(views).astype(float)


@pytest.fixture
def problem(rng):
    X = rng.exponential(size=(20, 9))
    columns = [np.array([0, 2, 4, 5]), np.array([1, 3, 6, 7, 8])]
    F, W = np.abs(rng.normal(size=(20, 3))), rng.normal(size=(9, 3))
    views = [RUFSObjective(X[:, own], local_learning_laplacian(X[:, own], 4), F, **WEIGHTS) for own in columns]
    return F, W, columns, views, SharedLabels(views, columns, 9)


def test_the_objective_is_the_mean_of_the_views(problem):
    F, W, columns, views, objective = problem
    expected = np.mean([view(F, W[own])[0] for view, own in zip(views, columns, strict=True)])
    np.testing.assert_allclose(objective(F, W)[0], expected, rtol=1e-12)


def test_gradient_equals_finite_differences(problem):
    F, W, _, _, objective = problem

    def parts(x):
        return objective(x[:60].reshape(20, 3), x[60:].reshape(9, 3))

    x = np.concatenate([F.ravel(), W.ravel()])
    gradient = np.concatenate([part.ravel() for part in parts(x)[1:]])
    error = check_grad(lambda x: parts(x)[0], lambda x: np.concatenate([p.ravel() for p in parts(x)[1:]]), x)
    assert error < 1e-5 * np.linalg.norm(gradient)


def test_centres_never_go_uphill_and_curvatures_are_those_of_the_views(problem):
    F, W, columns, views, objective = problem
    values = [objective(F, W)[0]]
    for _ in range(5):
        objective.update(F)
        values.append(objective(F, W)[0])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    by_labels, by_coefficients = objective.curvature(F, W)
    each = [view.curvature(F, W[own]) for view, own in zip(views, columns, strict=True)]
    np.testing.assert_allclose(by_labels, (each[0][0] + each[1][0]) / 2)
    for own, (_, part) in zip(columns, each, strict=True):
        np.testing.assert_allclose(by_coefficients[own], part / 2)


def test_history_never_rises(rng):
    selector = MVUFS(5, views=[20, 30], sparsity=0.5, random_state=0).fit(planted(rng))
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert (np.diff(selector.objective_) <= 0).all()
    assert selector.pseudo_labels_.min() >= 0
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=1))
    products = selector.pseudo_labels_.T @ selector.pseudo_labels_
    np.testing.assert_allclose(products, np.eye(5), atol=0.05)


def test_one_view_is_rufs(rng):
    X = planted(rng)
    of_one, plain = MVUFS(random_state=0).fit(X), RUFS(random_state=0).fit(X)
    np.testing.assert_array_equal(of_one.scores_, plain.scores_)
    np.testing.assert_array_equal(of_one.pseudo_labels_, plain.pseudo_labels_)
    np.testing.assert_array_equal(of_one.support_, plain.support_)


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_of_each_view_come_first(seed):
    X = planted(np.random.default_rng(seed))
    selector = MVUFS(5, views={"narrow": 20, "wide": 30}, random_state=0).fit(X)
    assert set(np.flatnonzero(selector.support_)) == {*range(5), *range(20, 25)}


def test_sparse_equals_dense(rng):
    X = planted(rng, 60)
    dense, sparse = (
        MVUFS(5, views=[20, 30], tol=1e-4, random_state=0).fit(kind(X)) for kind in (np.asarray, sp.csr_array)
    )
    np.testing.assert_array_equal(dense.support_, sparse.support_)
    np.testing.assert_allclose(dense.objective_[-1], sparse.objective_[-1], rtol=1e-3)


def test_columns_of_views_may_stand_anywhere(rng):
    X = planted(rng)
    order = rng.permutation(50)
    place = np.argsort(order)
    views = [place[:20].tolist(), place[20:].tolist()]
    moved = MVUFS(5, views=views, random_state=0).fit(X[:, order])
    assert set(order[moved.support_]) == {*range(5), *range(20, 25)}


def test_empty_rows_constant_columns_and_views_of_one_value(rng):
    X = planted(rng, 50)
    X[4, :20] = 0
    X[:, 3] = 5.5
    plain = RUFS(2, tol=1e-3, random_state=0).fit(X[:, :20])
    for nothing in (0.0, 3.0):
        X[:, 20:] = nothing
        selector = MVUFS(2, views=[20, 30], tol=1e-3, random_state=0).fit(X)
        np.testing.assert_allclose(selector.scores_[:20], plain.scores_, rtol=0.01)
        assert not selector.scores_[[3, *range(20, 50)]].any()
        assert selector.support_.sum() == 4
    assert not MVUFS(2, views=[20, 30], random_state=0).fit(np.ones((9, 50))).scores_.any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows"),
        ({"smoothness": -1}, "smoothness must be a number of at least 0; got -1"),
        ({"ridge": 0}, "ridge must be a number above 0; got 0"),
        ({"n_features_to_select": [3, 5]}, "n_features_to_select=5, but the view 'view2' has 4 features"),
        ({"views": [6, 5]}, "6 [+] 5 = 11 columns, but X has 10"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        MVUFS(**({"views": [6, 4]} | parameters)).fit(rng.random((30, 10)))


def test_negative_values_and_too_few_rounds_are_told(rng):
    with pytest.raises(ValueError, match="Negative values in data passed to MVUFS: it takes rows apart"):
        MVUFS(views=[6, 4]).fit(rng.normal(size=(30, 10)))
    with pytest.warns(ConvergenceWarning, match="MVUFS did not converge in 1 rounds"):
        MVUFS(views=[20, 30], max_iter=1, tol=1e-12, random_state=0).fit(planted(rng))

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad, minimize
from sklearn.exceptions import ConvergenceWarning

from vicinal.select._label_learning import learn, start_coefficients, start_labels
from vicinal.select._local_regression import kernel_regression_laplacian, kernel_regression_weights
from vicinal.select._rsfs import RSFS, RSFSObjective

WEIGHTS = {"alpha": 1.3, "beta": 0.7, "gamma": 0.4, "orthogonality": 20.0}


def planted(rng, n=120, n_informative=5, n_noise=20, high=6.0):
    """Each of the first columns is high in one of five clusters; noise of the same variance in the others."""
    high_in = np.eye(5)[np.arange(n) % 5][:, np.arange(n_informative) % 5]
    X = np.hstack([high * high_in + rng.normal(size=(n, n_informative)), rng.normal(size=(n, n_noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def planted_counts(rng, n=200, n_informative=20, n_noise=980):
    high_in = np.eye(5)[np.arange(n) % 5][:, np.arange(n_informative) % 5]
    return np.hstack([rng.poisson(0.2 + 6 * high_in), rng.poisson(0.8, size=(n, n_noise))]).astype(float)


def slow_value(X, F, W, n_neighbors, alpha, beta, gamma, orthogonality):
    """The objective as its docstring writes it, with the best Z, for labels with F'F = I."""
    n, c = F.shape
    s = np.sqrt(c / n)
    away = np.eye(n) - kernel_regression_weights(X, n_neighbors).toarray()
    residual = X @ W - F
    Z = np.sign(residual) * np.maximum(np.abs(residual) - s * gamma / 2, 0)
    smoothing = 1e-4 * s / np.sqrt((X**2).sum(axis=1).mean())
    lengths = np.sqrt((W**2).sum(axis=1) + smoothing**2)
    return (
        ((away @ F) ** 2).sum()
        + alpha * (((residual - Z) ** 2).sum() + s * gamma * np.abs(Z).sum() + s * beta * lengths.sum())
        + orthogonality / 2 * ((F.T @ F - np.eye(c)) ** 2).sum()
    )


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(20, 7))
    F, W = np.abs(rng.normal(size=(20, 3))), rng.normal(size=(7, 3))
    return X, F, W, RSFSObjective(X, kernel_regression_laplacian(X, 4), 3, **WEIGHTS)


def test_value_is_what_is_promised(problem):
    X, F, W, objective = problem
    size = np.sqrt(3 / 20)
    np.testing.assert_allclose(objective(F, W)[0], slow_value(X, size * F, size * W, 4, **WEIGHTS), rtol=1e-12)


def test_soft_threshold_is_the_best_z(problem):
    X, F, W, _ = problem
    size = np.sqrt(3 / 20)
    residual = size * (X @ W - F)
    weight = size * WEIGHTS["gamma"]
    grid = np.linspace(-5, 5, 20001)
    least = ((residual[:, :, None] - grid) ** 2 + weight * np.abs(grid)).min(axis=2)
    huber = np.where(np.abs(residual) <= weight / 2, residual**2, weight * np.abs(residual) - weight**2 / 4)
    np.testing.assert_allclose(least, huber, atol=1e-6)


def test_gradient_equals_finite_differences(problem):
    _, F, W, objective = problem

    def value(x):
        return objective(x[:60].reshape(20, 3), x[60:].reshape(7, 3))[0]

    def gradient(x):
        return np.concatenate([part.ravel() for part in objective(x[:60].reshape(20, 3), x[60:].reshape(7, 3))[1:]])

    x = np.concatenate([F.ravel(), W.ravel()])
    assert check_grad(value, gradient, x) < 1e-5 * np.linalg.norm(gradient(x))


def test_history_is_the_objective_and_never_rises(rng):
    X = planted(rng)
    selector = RSFS(5, n_neighbors=4, sparsity=0.5, random_state=0).fit(X)
    history = selector.objective_
    assert len(history) == selector.n_iter_ > 1
    assert (np.diff(history) <= 0).all()
    expected = slow_value(X, selector.pseudo_labels_, selector.coef_, 4, 1.0, 0.5, 1.0, 100.0)
    np.testing.assert_allclose(history[-1], expected, rtol=1e-9)
    F = selector.pseudo_labels_
    assert F.min() >= 0
    assert np.abs(F.T @ F - np.eye(5)).max() < 1e-2
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=1))


def test_ends_at_a_stationary_point(rng):
    X = planted(rng, n=60)
    F, kept = start_labels(X, 5, 0), np.ones(25, dtype=bool)
    objective = RSFSObjective(X, kernel_regression_laplacian(X, 5), 5, **WEIGHTS)
    learned = learn(objective, F, start_coefficients(X, F, kept), kept, max_iter=500, tol=0.0)
    value, by_labels, by_coefficients = objective(*learned.solution)
    assert np.abs(by_coefficients).max() < 1e-5
    assert by_labels.min() > -1e-5
    assert np.abs(by_labels * learned.solution[0]).max() < 1e-5
    assert value == learned.objective[-1]


@pytest.mark.parametrize("copies", [False, True])
def test_finds_what_is_planted(rng, copies):
    X = planted(rng)
    good = np.arange(25) < 5
    if copies:
        X, good = np.hstack([X, X[:, :5]]), np.append(good, [True] * 5)
    assert good[RSFS(5, random_state=0).fit(X).support_].all()


@pytest.mark.parametrize("copies", [False, True])
def test_finds_what_is_planted_among_a_thousand(rng, copies):
    X = planted_counts(rng)
    good = np.arange(1000) < 20
    if copies:
        X, good = np.hstack([X, X[:, :20]]), np.append(good, [True] * 20)
    assert good[RSFS(20, random_state=0).fit(sp.csr_array(X)).support_].all()


def test_sparse_equals_dense_and_y_is_not_read(rng):
    X = planted(rng, n=60)
    X[np.abs(X) < 0.4] = 0
    expected = RSFS(5, random_state=0).fit(X)
    for other in [RSFS(5, random_state=0).fit(sp.csr_array(X)), RSFS(5, random_state=0).fit(sp.csr_matrix(X))]:
        np.testing.assert_allclose(other.scores_, expected.scores_, rtol=1e-3, atol=1e-6)
    labelled = RSFS(5, random_state=0).fit(X, rng.integers(0, 2, 60))
    np.testing.assert_array_equal(labelled.scores_, expected.scores_)


def test_order_of_rows_and_columns_does_not_matter(rng):
    X = planted(rng, n_noise=8)
    rows, columns = rng.permutation(120), rng.permutation(13)
    expected = RSFS(5, random_state=0, tol=1e-9).fit(X)
    other = RSFS(5, random_state=0, tol=1e-9).fit(X[rows][:, columns])
    np.testing.assert_allclose(other.scores_, expected.scores_[columns], rtol=1e-3, atol=1e-6)


def test_wrong_labels_do_less_harm_than_to_least_squares(rng):
    """A column that is there only in rows with wrong labels: with a squared loss it is used to explain them."""
    X = planted(rng, n=100)
    labels = np.arange(100) % 5
    labels[:8] = (labels[:8] + 1) % 5
    X = np.column_stack([X, np.where(np.arange(100) < 8, 3.0, 0.0)])
    F = np.eye(5)[labels]
    decoy = {}
    for gamma in [0.2, 1e6]:
        objective = RSFSObjective(
            X, kernel_regression_laplacian(X, 5), 5, alpha=1.0, beta=1.0, gamma=gamma, orthogonality=1.0
        )

        def by_coefficients(w, objective=objective):
            value, _, gradient = objective(F, w.reshape(26, 5))
            return value, gradient.ravel()

        found = minimize(by_coefficients, np.zeros(26 * 5), jac=True, method="L-BFGS-B")
        lengths = np.linalg.norm(found.x.reshape(26, 5), axis=1)
        decoy[gamma] = lengths[-1] / lengths[:5].mean()
    assert decoy[0.2] < 0.8 * decoy[1e6]


def test_constant_columns_come_last(rng):
    X = planted(rng)
    X[:, 3], X[:, 9] = 7.0, 0.0
    for rows in [X, sp.csr_array(X)]:
        selector = RSFS(5, n_clusters=4, random_state=0).fit(rows)
        assert np.isfinite(selector.scores_).all()
        assert set(np.argsort(selector.scores_)[:2]) == {3, 9}
        assert selector.scores_[[3, 9]].tolist() == [0, 0]
    assert RSFS(1, random_state=0).fit(np.ones((9, 3))).scores_.tolist() == [0, 0, 0]


def test_degenerate_rows(rng):
    twins = np.repeat(rng.normal(size=(4, 3)), 6, axis=0)
    apart = np.vstack([rng.normal(size=(10, 3)), rng.normal(size=(10, 3)) + 1e4])
    for X in [twins, apart, rng.normal(size=(5, 3)), rng.normal(size=(6, 1))]:
        selector = RSFS(1, n_neighbors=50, n_clusters=5, random_state=0).fit(X)
        assert np.isfinite(selector.scores_).all()
        assert (np.diff(selector.objective_) <= 0).all()


def test_too_large_a_sparsity_says_so_and_still_ranks(rng):
    X = planted(rng)
    with pytest.warns(UserWarning, match=r"With sparsity=1000.0 no column keeps a coefficient.*lower sparsity"):
        selector = RSFS(5, sparsity=1000.0, random_state=0).fit(X)
    assert selector.support_[:5].all()


def test_warns_where_it_has_not_converged(rng):
    with pytest.warns(ConvergenceWarning, match="RSFS did not converge in 1 rounds; raise max_iter or tol"):
        RSFS(max_iter=1).fit(planted(rng))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1; got 0"),
        ({"n_clusters": 31}, "n_clusters=31, but X has 30 rows; ask for at most as many clusters as rows"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"regression_weight": 0}, "regression_weight must be a number above 0; got 0"),
        ({"sparsity": -1.0}, "sparsity must be a number of at least 0; got -1.0"),
        ({"outlier_cost": 0.0}, "outlier_cost must be a number above 0"),
        ({"orthogonality": "much"}, "orthogonality must be a number above 0; got 'much'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1}, "tol must be a number of at least 0"),
    ],
)
def test_bad_parameters_get_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        RSFS(**parameters).fit(rng.normal(size=(30, 4)))

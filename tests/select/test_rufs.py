import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from vicinal.select._label_learning import learn, start_coefficients, start_labels
from vicinal.select._local_regression import local_learning_laplacian, local_learning_weights
from vicinal.select._rufs import RUFS, RUFSObjective

WEIGHTS = {"alpha": 1.3, "beta": 0.7, "nu": 5.0, "orthogonality": 20.0}


def planted(rng, n=120, n_informative=5, n_noise=20):
    """Counts; each of the first columns is high in one of five clusters."""
    high_in = np.eye(5)[np.arange(n) % 5][:, np.arange(n_informative) % 5]
    return np.hstack([rng.poisson(0.2 + 4 * high_in), rng.poisson(0.8, size=(n, n_noise))]).astype(float)


def slow_value(X, F, W, C, n_neighbors, alpha, beta, nu, orthogonality, ridge=1.0):
    """The objective as its docstring writes it, for labels with F'F = I."""
    n, c = F.shape
    s, usual = np.sqrt(c / n), np.sqrt((X**2).sum(axis=1).mean())
    away = np.eye(n) - local_learning_weights(X, n_neighbors, ridge=ridge).toarray()

    def lengths(rows, smoothing):
        return np.sqrt((rows**2).sum(axis=1) + smoothing**2).sum()

    return (
        lengths(X - F @ C, 1e-2 * usual)
        + nu * ((away @ F) ** 2).sum()
        + alpha * lengths(X @ W - F, 1e-2 * s)
        + beta * lengths(W, 1e-4 * s / usual)
        + orthogonality * np.sqrt(n) * np.linalg.norm(X) / c / 2 * ((F.T @ F - np.eye(c)) ** 2).sum()
    )


@pytest.fixture
def problem(rng):
    X = rng.exponential(size=(20, 7))
    F, W = np.abs(rng.normal(size=(20, 3))), rng.normal(size=(7, 3))
    objective = RUFSObjective(X, local_learning_laplacian(X, 4), F, **WEIGHTS)
    objective.set_centers(rng.exponential(size=(3, 7)))
    return X, F, W, objective


def test_value_is_what_is_promised(problem):
    X, F, W, objective = problem
    size = np.sqrt(3 / 20)
    expected = slow_value(X, size * F, size * W, objective.C / size, 4, **WEIGHTS)
    np.testing.assert_allclose(objective(F, W)[0], expected, rtol=1e-12)


def test_gradient_equals_finite_differences(problem):
    _, F, W, objective = problem

    def value(x):
        return objective(x[:60].reshape(20, 3), x[60:].reshape(7, 3))[0]

    def gradient(x):
        return np.concatenate([part.ravel() for part in objective(x[:60].reshape(20, 3), x[60:].reshape(7, 3))[1:]])

    x = np.concatenate([F.ravel(), W.ravel()])
    assert check_grad(value, gradient, x) < 1e-5 * np.linalg.norm(gradient(x))


def test_parts_of_the_centres_gradient_equal_finite_differences(problem):
    _, F, W, objective = problem

    def value(c):
        objective.set_centers(c.reshape(3, 7))
        return objective(F, W)[0]

    def gradient(c):
        objective.set_centers(c.reshape(3, 7))
        rising, falling = objective.center_parts(F, objective.row_lengths(F))
        assert rising.min() >= 0
        assert falling.min() >= 0
        return (rising - falling).ravel()

    centers = objective.C.ravel()
    assert check_grad(value, gradient, centers) < 1e-5 * np.linalg.norm(gradient(centers))


def test_centres_never_go_uphill(problem):
    _, F, W, objective = problem
    values = [objective(F, W)[0]]
    for _ in range(10):
        objective.update(F)
        assert objective.C.min() >= 0
        values.append(objective(F, W)[0])
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[1] < 0.99 * values[0]


def test_what_cancels_is_far_below_the_smoothing(rng):
    F = rng.exponential(size=(30, 3))
    C = rng.exponential(size=(3, 200))
    X = 1e4 * F @ C
    objective = RUFSObjective(X, local_learning_laplacian(X, 4), F, **WEIGHTS)
    objective.set_centers(1e4 * C)
    np.testing.assert_allclose(objective.row_lengths(F), 1e-2 * objective.usual_length, rtol=1e-6)


def test_history_is_the_objective_and_never_rises(rng):
    X = planted(rng)
    selector = RUFS(5, n_neighbors=4, sparsity=0.5, ridge=0.5, random_state=0).fit(X)
    assert len(selector.objective_) == selector.n_iter_ > 1
    assert (np.diff(selector.objective_) <= 0).all()
    F = selector.pseudo_labels_
    assert F.min() >= 0
    assert np.abs(F.T @ F - np.eye(5)).max() < 2e-2
    np.testing.assert_allclose(selector.scores_, np.linalg.norm(selector.coef_, axis=1))

    start, kept = start_labels(X, 5, 0), np.ones(25, dtype=bool)
    laplacian = local_learning_laplacian(X, 4, ridge=0.5)
    objective = RUFSObjective(X, laplacian, start, alpha=1.0, beta=0.5, nu=1.0, orthogonality=30.0)
    learned = learn(objective, start, start_coefficients(X, start, kept), kept, max_iter=200, tol=1e-5)
    np.testing.assert_allclose(learned.objective, selector.objective_)
    centers = objective.C / np.sqrt(5 / 120)
    expected = slow_value(X, F, selector.coef_, centers, 4, 1.0, 0.5, 1.0, 30.0, ridge=0.5)
    np.testing.assert_allclose(selector.objective_[-1], expected, rtol=1e-8)


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("shape", [(120, 5, 20), (200, 20, 980)])
def test_finds_what_is_planted(rng, shape, copies):
    n, n_informative, n_noise = shape
    X = planted(rng, n, n_informative, n_noise)
    good = np.arange(X.shape[1]) < n_informative
    if copies:
        X, good = np.hstack([X, X[:, :n_informative]]), np.append(good, [True] * n_informative)
    assert good[RUFS(n_informative, random_state=0).fit(sp.csr_array(X)).support_].all()


def test_sparse_equals_dense_and_y_is_not_read(rng):
    X = planted(rng, n=60)
    expected = RUFS(5, random_state=0).fit(X)
    for other in [RUFS(5, random_state=0).fit(sp.csr_array(X)), RUFS(5, random_state=0).fit(sp.csr_matrix(X))]:
        np.testing.assert_allclose(other.scores_, expected.scores_, rtol=1e-2, atol=1e-5)
    labelled = RUFS(5, random_state=0).fit(X, rng.integers(0, 2, 60))
    np.testing.assert_array_equal(labelled.scores_, expected.scores_)


def test_order_of_rows_and_columns_does_not_matter(rng):
    X = planted(rng, n_noise=5)
    rows, columns = rng.permutation(120), rng.permutation(10)
    expected = RUFS(5, random_state=0, tol=1e-9).fit(X)
    other = RUFS(5, random_state=0, tol=1e-9).fit(X[rows][:, columns])
    np.testing.assert_allclose(other.scores_, expected.scores_[columns], rtol=1e-2, atol=1e-4)


def test_outlying_rows_do_less_harm_than_to_squared_losses(rng):
    """With much smoothing lengths are squares: sqrt(d^2 + e^2) is about e + d^2 / (2 e)."""
    robust, squared = 0.0, 0.0
    kept = np.ones(30, dtype=bool)
    weights = {"alpha": 1.0, "beta": 0.01, "nu": 0.01, "orthogonality": 0.3}
    for _ in range(4):
        X = planted(rng, n=150, n_noise=25)
        X[:8] = 5 * rng.poisson(0.8, size=(8, 30))
        robust += RUFS(5, random_state=0).fit(X).support_[:5].mean() / 4
        F = start_labels(X, 5, 0)
        objective = RUFSObjective(X, local_learning_laplacian(X), F, **weights, smoothing=100.0)
        learned = learn(objective, F, start_coefficients(X, F, kept), kept, max_iter=200, tol=1e-5)
        assert learned.converged
        best = np.argsort(-np.linalg.norm(learned.solution[1], axis=1))[:5]
        squared += np.mean(best < 5) / 4
    assert robust > squared + 0.2


def test_constant_columns_come_last(rng):
    X = planted(rng)
    X[:, 3], X[:, 9] = 7.0, 0.0
    for rows in [X, sp.csr_array(X)]:
        selector = RUFS(4, n_clusters=4, random_state=0).fit(rows)
        assert selector.scores_[[3, 9]].tolist() == [0, 0]
        assert np.delete(selector.scores_, [3, 9]).min() > 0
    assert RUFS(1, random_state=0).fit(np.ones((9, 3))).scores_.tolist() == [0, 0, 0]
    assert RUFS(1, random_state=0).fit(np.zeros((9, 3))).scores_.tolist() == [0, 0, 0]


def test_degenerate_rows(rng):
    twins = np.repeat(rng.exponential(size=(4, 3)), 6, axis=0)
    apart = np.vstack([rng.exponential(size=(10, 3)), rng.exponential(size=(10, 3)) + 1e4])
    empty = np.vstack([rng.exponential(size=(10, 3)), np.zeros((4, 3))])
    for X in [twins, apart, empty, rng.exponential(size=(5, 3)), rng.exponential(size=(6, 1))]:
        selector = RUFS(1, n_neighbors=50, n_clusters=5, tol=1e-4, random_state=0).fit(X)
        assert np.isfinite(selector.scores_).all()
        assert (np.diff(selector.objective_) <= 0).all()


def test_negative_values_are_refused(rng):
    X = planted(rng)
    X[3, 4] = -0.1
    for rows in [X, sp.csr_array(X)]:
        with pytest.raises(ValueError, match=r"Negative values in data passed to RUFS: .*at least 0, or take RSFS"):
            RUFS().fit(rows)


def test_too_large_a_sparsity_says_so_and_still_ranks(rng):
    with pytest.warns(UserWarning, match="no column keeps a coefficient"):
        selector = RUFS(5, sparsity=1e4, random_state=0).fit(planted(rng))
    assert (selector.scores_ > 0).all()


def test_warns_where_it_has_not_converged(rng):
    with pytest.warns(ConvergenceWarning, match="RUFS did not converge in 1 rounds; raise max_iter or tol"):
        RUFS(max_iter=1).fit(planted(rng))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 2.0}, "n_clusters must be a whole number of at least 1; got 2.0"),
        ({"n_clusters": 121}, "n_clusters=121, but X has 120 rows"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1; got 0"),
        ({"regression_weight": -1}, "regression_weight must be a number above 0; got -1"),
        ({"sparsity": None}, "sparsity must be a number of at least 0; got None"),
        ({"smoothness": -0.5}, "smoothness must be a number of at least 0; got -0.5"),
        ({"ridge": 0}, "ridge must be a number above 0; got 0"),
        ({"orthogonality": 0}, "orthogonality must be a number above 0; got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"tol": "small"}, "tol must be a number of at least 0"),
    ],
)
def test_bad_parameters_get_one_sentence(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        RUFS(**parameters).fit(planted(rng))

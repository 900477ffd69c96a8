"""LocalLinearRegressor against Ridge, scipy and plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_problems import rows_of_kind
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from vicinal import LocalLinearRegressor, RandLocal
from vicinal.model._solver import Outputs, solve


@pytest.fixture(params=["dual", "newton"])
def solver(request, monkeypatch):
    monkeypatch.setattr("vicinal.model._solver.NARROW", 100 if request.param == "newton" else 0)


def exact(**options):
    return LocalLinearRegressor(**{"tol": 1e-9, "max_iter": 20_000, "random_state": 0} | options)


def targets_of(X, n_targets=1, seed=0):
    rng = np.random.default_rng(seed)
    noise = rng.standard_t(2, size=(X.shape[0], n_targets))
    return X @ rng.normal(size=(X.shape[1], n_targets)) + noise + 5


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("solver")
def test_squares_are_ridge(kind, n_targets, weighted):
    X = rows_of_kind(kind)
    y = targets_of(X, n_targets) if n_targets > 1 else targets_of(X).ravel()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) * 1.0 if weighted else None
    ours = exact(C=2.0, fit_intercept=False).fit(X, y, sample_weight=weights)
    dense = X if kind == "dense" else X.toarray()
    theirs = Ridge(alpha=0.25, fit_intercept=False, solver="cholesky").fit(dense, y, sample_weight=weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(dense), atol=1e-2)


def test_an_intercept_that_costs_nothing_is_ridges():
    X = rows_of_kind("dense", 200, 4)
    y = targets_of(X).ravel()
    ours = exact(C=2.0, intercept_scaling=30.0).fit(X, y)
    theirs = Ridge(alpha=0.25).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=5e-3)
    assert ours.coef_.shape == (4,)


@pytest.mark.parametrize("knee", [0.2, 1.0, np.inf])
@pytest.mark.usefixtures("solver")
def test_hubers_loss_has_the_optimum_that_scipy_finds(knee):
    X = rows_of_kind("dense", 80, 5)
    y = targets_of(X).ravel()
    weights = np.random.default_rng(0).uniform(0.5, 2, 80)

    def value(w):
        apart = np.abs(X @ w - y)
        bent = knee * (2 * apart - knee) if np.isfinite(knee) else 0.0
        slope = 2 * np.sign(X @ w - y) * np.minimum(apart, knee)
        losses = np.where(apart <= knee, apart**2, bent)
        return w @ w / 2 + weights @ losses, w + X.T @ (weights * slope)

    best = minimize(value, np.zeros(5), jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    outputs = Outputs(np.ones((2, 1)), np.ones(1), targets=y[:, None])
    options = {"loss": "huber", "knee": knee, "constant": 0.0, "tol": 1e-9, "max_iter": 20_000, "seed": 0}
    found = solve(X, outputs, weights, **options)
    assert found.primal == pytest.approx(best.fun, rel=1e-7)
    assert found.dual == pytest.approx(best.fun, rel=1e-7)
    np.testing.assert_allclose(found.coefficients[0, :-1], best.x, atol=1e-3)


def test_outliers_move_hubers_line_less():
    X = np.linspace(-1, 1, 200)[:, None]
    y = 3 * X.ravel()
    y[-10:] -= 60
    squares = LocalLinearRegressor(C=100).fit(X, y)
    robust = LocalLinearRegressor(C=100, loss="huber", knee=0.05).fit(X, y)
    assert abs(robust.coef_[0] - 3) < abs(squares.coef_[0] - 3) / 3


def test_local_features_follow_a_curve_on_any_number_of_threads():
    X = np.random.default_rng(0).uniform(-1, 1, size=(800, 3)).astype(np.float32)
    y = np.stack([np.sin(4 * X[:, 0]) * X[:, 1], X[:, 2] ** 2], axis=1)
    models = [
        LocalLinearRegressor(RandLocal(100, random_state=0), C=10, random_state=0, n_jobs=n).fit(X[:600], y[:600])
        for n in (1, 2, 3)
    ]
    assert models[0].score(X[600:], y[600:]) > 0.85
    assert LocalLinearRegressor().fit(X[:600], y[:600]).score(X[600:], y[600:]) < 0.6
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


def test_a_constant_target():
    X = rows_of_kind("csr")
    model = LocalLinearRegressor().fit(X, np.full(60, 7.0))
    np.testing.assert_allclose(model.predict(X), 7.0)
    assert model.duality_gap_ == 0


@pytest.mark.parametrize(
    ("options", "y", "sentence"),
    [
        ({}, np.r_[np.ones(59), np.nan], "NaN"),
        ({}, np.r_[np.ones(59), np.inf], "infinity"),
        ({"loss": "hinge"}, None, "loss must be one of 'squared', 'huber'"),
        ({"knee": 0}, None, "knee must be a number above 0"),
        ({"C": 0}, None, "C must be a number above 0"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options, y, sentence):
    X = sp.csr_array(rows_of_kind("csr"))
    with pytest.raises(ValueError, match=sentence):
        LocalLinearRegressor(**options).fit(X, np.arange(60.0) if y is None else y)

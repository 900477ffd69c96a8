"""Projected L-BFGS: it agrees with scipy's, never goes uphill, and its gap is a bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, rosen, rosen_der

from vicinal._optim import box_gap, minimize_in_box


def quadratic(rng, n, condition=1e3):
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (Q * np.geomspace(1, condition, n)) @ Q.T
    b = rng.normal(size=n) * np.sqrt(condition)
    return (lambda x: (0.5 * x @ A @ x - b @ x + 1e4, A @ x - b)), A, b


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10**6))
def test_quadratics_end_where_scipy_ends(n, seed):
    rng = np.random.default_rng(seed)
    function, _, _ = quadratic(rng, n)
    found = minimize_in_box(function, np.ones(n), tol=1e-8, max_iter=5000)
    reference = minimize(
        function, np.ones(n), jac=True, method="L-BFGS-B", bounds=[(0, 1)] * n, options={"ftol": 1e-15}
    )
    assert found.converged
    assert found.objective[-1] <= reference.fun + found.gap + 1e-9 * abs(reference.fun)
    assert reference.fun >= found.objective[-1] - found.gap - 1e-9 * abs(reference.fun)


def test_the_objective_never_rises_and_the_gap_bounds_what_is_left(rng):
    function, _, _ = quadratic(rng, 40)
    best = minimize_in_box(function, np.ones(40), tol=1e-12, max_iter=5000).objective[-1]
    for steps in (0, 1, 3, 10, 30):
        found = minimize_in_box(function, np.ones(40), tol=1e-12, max_iter=steps)
        assert (np.diff(found.objective) <= 0).all()
        assert len(found.objective) == found.n_iter + 1
        assert found.objective[-1] - best <= found.gap + 1e-9
        assert found.gap == pytest.approx(box_gap(found.solution, found.gradient, 0, 1))


def test_the_solution_meets_the_optimality_conditions(rng):
    function, A, b = quadratic(rng, 30)
    found = minimize_in_box(function, np.full(30, 0.2), -0.5, 0.5, tol=1e-12, max_iter=5000)
    gradient = A @ found.solution - b
    assert (np.abs(gradient[(found.solution > -0.5) & (found.solution < 0.5)]) < 1e-3).all()
    assert (gradient[found.solution == -0.5] > -1e-3).all()
    assert (gradient[found.solution == 0.5] < 1e-3).all()
    assert {-0.5, 0.5} <= set(found.solution)


def test_a_function_that_is_not_convex():
    """Rosenbrock's valley within [0, 0.8]: the minimum lies at the bound."""
    found = minimize_in_box(lambda x: (1 + rosen(x), rosen_der(x)), np.full(2, 0.1), 0.0, 0.8, tol=1e-10, max_iter=2000)
    np.testing.assert_allclose(found.solution, [0.8, 0.64], atol=1e-5)


def test_it_says_when_it_did_not_converge(rng):
    function, _, _ = quadratic(rng, 50)
    assert not minimize_in_box(function, np.ones(50), tol=1e-12, max_iter=2).converged


def test_a_start_outside_is_brought_inside_and_a_minimum_is_left_alone():
    found = minimize_in_box(lambda x: (float(1 + x @ x), 2 * x), np.array([-3.0, 0.0]))
    assert found.converged
    assert found.n_iter == 0
    np.testing.assert_array_equal(found.solution, 0)


def test_the_callback_hears_of_every_iteration(rng):
    function, _, _ = quadratic(rng, 10)
    heard = []
    found = minimize_in_box(function, np.ones(10), tol=1e-8, callback=heard.append)
    assert len(heard) == found.n_iter
    assert heard[-1] == pytest.approx(found.gap / found.objective[-1])


def test_bounds_of_single_variables_and_none(rng):
    """Half of the variables must not be negative, the others have no bound."""
    n = 20
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A, b = (Q * np.geomspace(0.5, 2, n)) @ Q.T, rng.normal(size=n)
    lower = np.where(np.arange(n) < n // 2, 0.0, -np.inf)
    found = minimize_in_box(
        lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b), np.ones(n), lower, np.inf, tol=0, max_iter=200
    )
    gradient = A @ found.solution - b
    assert (found.solution[: n // 2] >= 0).all()
    np.testing.assert_allclose(gradient[found.solution > lower], 0, atol=1e-6)
    assert (gradient[found.solution == 0] > -1e-6).all()
    assert (found.solution == 0).any()
    assert found.solution.min() < 0


def test_never_uphill_even_where_the_gradient_lies(rng):
    start = rng.random(5)
    found = minimize_in_box(lambda x: (float(x @ x), -2 * x), start, 0.0, np.inf, tol=0, max_iter=10)
    np.testing.assert_array_equal(found.solution, start)
    assert set(found.objective) == {start @ start}

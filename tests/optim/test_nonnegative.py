"""Multiplicative steps: never uphill, never negative, and at rest only where nothing can be gained."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from vicinal._optim._nonnegative import multiplicative_step, orthogonal_parts


def penalised(P, orthogonality):
    def value(F):
        away = F.T @ F - np.eye(F.shape[1])
        return float(np.vdot(F, P @ F) + orthogonality / 2 * np.vdot(away, away))

    return value


def quadratic(rng, n):
    factor = rng.normal(size=(n, n))
    return factor @ factor.T / n


@pytest.mark.parametrize("orthogonality", [0.5, 100.0])
def test_parts_are_non_negative_and_differ_by_the_gradient(rng, orthogonality):
    P, F = quadratic(rng, 6), rng.random((6, 2))
    rising, falling = orthogonal_parts(F, P @ F, orthogonality)
    assert rising.min() >= 0
    assert falling.min() >= 0
    value = penalised(P, orthogonality)
    numeric = approx_fprime(F.ravel(), lambda x: value(x.reshape(6, 2)), 1e-7).reshape(6, 2)
    np.testing.assert_allclose(rising - falling, numeric, rtol=1e-3, atol=1e-3)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 8),
    st.integers(1, 4),
    st.sampled_from([1e-6, 0.1, 1.0, 30.0, 1e8]),
    st.sampled_from([1e-8, 1.0, 1e4]),
)
def test_steps_never_rise_and_stay_non_negative(seed, n, n_columns, orthogonality, scale):
    rng = np.random.default_rng(seed)
    P = quadratic(rng, n)
    F = scale * rng.random((n, n_columns)) * (rng.random((n, n_columns)) < 0.8)
    zeros = F == 0
    value = penalised(P, orthogonality)
    reached = value(F)
    for _ in range(10):
        before = reached
        F, reached = multiplicative_step(F, *orthogonal_parts(F, P @ F, orthogonality), value, reached)
        assert reached <= before
        assert reached == value(F)
        assert F.min() >= 0
        assert np.all(np.isfinite(F))
        assert not F[zeros].any()


def test_the_last_candidate_looked_at_is_the_one_taken(rng):
    P, F = quadratic(rng, 6), rng.random((6, 2))
    value, seen = penalised(P, 5.0), []

    def watched(candidate):
        seen.append(candidate)
        return value(candidate)

    step, _ = multiplicative_step(F, *orthogonal_parts(F, P @ F, 5.0), watched, value(F))
    assert step is seen[-1]


def test_steps_end_where_a_box_constrained_solver_ends(rng):
    P, F = quadratic(rng, 10), rng.random((10, 1)) + 0.1
    value = penalised(P, 10.0)
    reached = value(F)
    for _ in range(3000):
        F, reached = multiplicative_step(F, *orthogonal_parts(F, P @ F, 10.0), value, reached)
    best = minimize(lambda x: value(x[:, None]), F.ravel(), method="L-BFGS-B", bounds=[(0, None)] * 10)
    assert reached == pytest.approx(best.fun, rel=1e-6)
    gradient = np.subtract(*orthogonal_parts(F, P @ F, 10.0))
    assert gradient.min() > -1e-5
    assert np.abs(F * gradient).max() < 1e-5


def test_a_step_that_cannot_fall_changes_nothing(rng):
    F = rng.random((4, 2))
    step, reached = multiplicative_step(F, np.ones_like(F), np.full_like(F, 2.0), lambda _: 1.0, 0.5)
    assert step is F
    assert reached == 0.5

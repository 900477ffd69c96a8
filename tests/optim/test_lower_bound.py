import numpy as np
import pytest
from scipy.optimize import Bounds, minimize

from vicinal._optim._lower_bound import descend_above_zero


@pytest.fixture
def quadratic(rng):
    root = rng.normal(size=(30, 12))
    center = 2 * rng.normal(size=12)

    def function(x):
        residual = root @ (x - center)
        return float(residual @ residual), 2 * root.T @ residual

    return function


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_finds_what_scipy_finds(quadratic, rng, share):
    bounded = np.arange(12) < share * 12
    start = np.abs(rng.normal(size=12))
    x = start
    for _ in range(20):
        x, value = descend_above_zero(quadratic, x, bounded, n_steps=30, memory=10)
    found = minimize(
        quadratic, start, jac=True, method="L-BFGS-B", bounds=Bounds(np.where(bounded, 0, -np.inf), np.inf), tol=1e-14
    )
    np.testing.assert_allclose(x, found.x, atol=1e-4)
    assert value <= found.fun + 1e-8 * (1 + abs(found.fun))
    assert (x[bounded] >= 0).all()


def test_never_goes_uphill_even_where_the_gradient_lies(rng):
    bounded = np.ones(5, dtype=bool)
    start = np.abs(rng.normal(size=5))

    def wrong(x):
        return float(x @ x), -2 * x

    x, value = descend_above_zero(wrong, start, bounded, n_steps=10, memory=5)
    np.testing.assert_array_equal(x, start)
    assert value == start @ start


def test_each_further_step_is_lower_and_a_minimum_stays(quadratic, rng):
    start = np.abs(rng.normal(size=12))
    bounded = np.arange(12) % 2 == 0
    values = [descend_above_zero(quadratic, start, bounded, n_steps=k, memory=3)[1] for k in range(12)]
    assert values[0] == quadratic(start)[0]
    assert (np.diff(values) < 0).all()
    x, _ = descend_above_zero(lambda x: (float(x @ x), 2 * x), np.zeros(4), np.ones(4, dtype=bool), n_steps=3, memory=3)
    assert (x == 0).all()

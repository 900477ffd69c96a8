"""Steps downhill and reweighting, with steps and objectives of the tests' own."""

import ast
from pathlib import Path

import numpy as np
import pytest

import vicinal._optim
from vicinal._optim import descend, descend_by_reweighting, row_lengths


def halve(x):
    return x / 2


def test_steps_go_on_until_one_gains_little():
    found = descend(halve, lambda x: 1 + x, 1.0, max_iter=100, tol=1e-3)
    assert found.converged
    assert found.n_iter == len(found.objective)
    assert found.objective == [1 + 0.5**k for k in range(1, found.n_iter + 1)]
    assert found.solution == 0.5**found.n_iter
    assert 0.5**found.n_iter <= 1e-3 * found.objective[-1] < 0.5 ** (found.n_iter - 1)


def test_too_few_steps_are_reported():
    found = descend(halve, lambda x: 1 + x, 1.0, max_iter=3, tol=1e-3)
    assert not found.converged
    assert found.n_iter == len(found.objective) == 3


def test_a_step_uphill_is_taken_back():
    found = descend(lambda x: x + 1, lambda x: (x - 2) ** 2, 0, max_iter=100, tol=0)
    assert (found.solution, found.objective, found.converged) == (2, [1, 0, 0], True)
    found = descend(lambda x: x + 1, lambda x: x + 5, 0, max_iter=100, tol=0)
    assert (found.solution, found.objective) == (0, [5])


def test_a_start_that_does_not_count_is_not_compared():
    found = descend(lambda x: 7, lambda x: float(x), 0, max_iter=100, tol=0, start_counts=False)
    assert (found.solution, found.objective) == (7, [7, 7])


def test_values_that_are_not_finite_end_it_at_once():
    found = descend(halve, lambda x: np.nan if x < 0.2 else x, 1.0, max_iter=100, tol=0)
    assert not found.converged
    assert (found.solution, found.n_iter) == (0.25, 3)
    assert np.isnan(descend(lambda x: np.nan, float, 0, max_iter=9, tol=0, start_counts=False).solution)


@pytest.mark.parametrize("smoothing", [0.0, 1e-3])
def test_reweighting_of_a_problem_whose_minimum_is_known(rng, smoothing):
    """||W - A||^2 + penalty ||W||_{2,1}: rows of A shortened by penalty / 2, or 0."""
    A, penalty = rng.normal(size=(30, 3)) * rng.uniform(0, 2, (30, 1)), 1.5

    def step(state, spread):
        weights = np.divide(penalty, spread, out=np.full(30, np.inf), where=spread > 0)
        return state[0] + 1, A / (1 + weights)[:, None]

    def value(state):
        return np.sum((state[1] - A) ** 2) + penalty * np.hypot(row_lengths(state[1]), smoothing).sum()

    found = descend_by_reweighting(
        step,
        value,
        (0, np.zeros_like(A)),
        np.ones(30),
        coefficients=lambda state: state[1],
        smoothing=smoothing,
        max_iter=100_000,
        tol=0,
    )
    assert found.converged
    assert np.all(np.diff(found.objective) <= 0)
    assert found.objective[-1] == pytest.approx(value(found.solution))
    lengths = row_lengths(A)
    expected = A * np.maximum(1 - penalty / 2 / lengths, 0)[:, None]
    assert 0 < np.count_nonzero(expected.any(axis=1)) < 30
    np.testing.assert_allclose(found.solution[1], expected, atol=1e-3 + 2 * smoothing)
    assert found.solution[0] in (found.n_iter, found.n_iter - 1)


def test_reweighting_of_coefficients_alone_starts_from_the_spread():
    seen = []

    def step(W, spread):
        seen.append(spread)
        return W * 0.5

    descend_by_reweighting(step, lambda W: row_lengths(W).sum(), np.array([[3.0, 4.0]]), np.ones(1), max_iter=3, tol=0)
    np.testing.assert_array_equal(seen, [[1.0], [5.0], [2.5]])


def test_solvers_neither_warn_nor_print_nor_draw():
    forbidden = {"warnings", "random", "print", "default_rng", "RandomState", "check_random_state", "logging"}
    for path in Path(vicinal._optim.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not names & forbidden, path.name

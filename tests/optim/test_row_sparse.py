"""Least squares with few non-zero rows: the ridge in both forms, and the minimum of the l2,1 problem."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal._optim import (
    RowWeightedRidge,
    products_of_rows,
    row_sparse_by_shrinking,
    row_sparse_least_squares,
)


def problem(seed, n=12, n_columns=20, n_targets=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)) * (rng.random((n, n_columns)) < 0.6)
    return X, rng.normal(size=(n, n_targets))


def slow_proximal_gradient(X, F, penalty, n_steps=20000):
    """The same minimum by another way: gradient steps, then rows are shortened."""
    step = 1 / (2 * np.linalg.norm(X, 2) ** 2)
    W = np.zeros((X.shape[1], F.shape[1]))
    for _ in range(n_steps):
        W = W - step * 2 * X.T @ (X @ W - F)
        lengths = np.linalg.norm(W, axis=1, keepdims=True)
        W *= np.maximum(1 - step * penalty / np.maximum(lengths, 1e-300), 0)
    return W


def value(X, F, W, penalty):
    return np.sum((X @ W - F) ** 2) + penalty * np.linalg.norm(W, axis=1).sum()


@pytest.mark.parametrize("form", ["auto", "rows", "columns"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(12, 20), (20, 12)])
def test_ridge_is_the_formula(rng, form, kind, shape):
    X, F = problem(1, *shape)
    spread = rng.uniform(0.01, 3, shape[1])
    spread[[2, 5]] = 0
    ridge = RowWeightedRidge(kind(X), spread, 0.7, form=form)
    live = spread > 0
    expected = np.zeros((shape[1], 3))
    expected[live] = np.linalg.solve(X[:, live].T @ X[:, live] + 0.7 * np.diag(1 / spread[live]), X[:, live].T @ F)
    np.testing.assert_allclose(ridge.coefficients(F), expected, atol=1e-12)
    np.testing.assert_allclose(ridge.residual(F), F - X @ expected, atol=1e-12)
    minimum = np.sum((X @ expected - F) ** 2) + 0.7 * np.sum(expected[live] ** 2 / spread[live, None])
    assert np.vdot(F, ridge.residual(F)) == pytest.approx(minimum)


@pytest.mark.parametrize("form", ["auto", "rows", "columns"])
def test_ridge_without_columns_explains_nothing(rng, form):
    F = rng.normal(size=(4, 2))
    ridge = RowWeightedRidge(rng.normal(size=(4, 3)), np.zeros(3), 1.0, form=form)
    assert not ridge.coefficients(F).any()
    np.testing.assert_array_equal(ridge.residual(F), F)


def test_spreads_of_very_different_size_do_no_harm():
    X, F = problem(2)
    spread = np.logspace(-200, 2, 20)
    rows, columns = (RowWeightedRidge(X, spread, 1.0, form=form) for form in ("rows", "columns"))
    np.testing.assert_allclose(rows.coefficients(F), columns.coefficients(F), rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_products_of_rows(rng, kind):
    X, _ = problem(3)
    gram = products_of_rows(kind(X))
    assert isinstance(gram, np.ndarray)
    np.testing.assert_allclose(gram, X @ X.T, atol=1e-12)


@pytest.mark.parametrize("form", ["rows", "columns"])
@pytest.mark.parametrize("shape", [(12, 20), (20, 12)])
def test_the_minimum_meets_its_conditions_and_equals_that_of_another_solver(form, shape):
    X, F = problem(4, *shape)
    penalty = 6.0
    found = row_sparse_least_squares(X, F, penalty, form=form, max_iter=20000, tol=1e-15)
    W = found.solution
    assert found.converged
    lengths = np.linalg.norm(W, axis=1)
    live = lengths > 1e-6
    assert 0 < live.sum() < shape[1]
    gradient = 2 * X.T @ (X @ W - F)
    np.testing.assert_allclose(gradient[live], -penalty * W[live] / lengths[live, None], atol=1e-3)
    assert np.linalg.norm(gradient[~live], axis=1).max() <= penalty + 1e-3
    slow = slow_proximal_gradient(X, F, penalty)
    assert found.objective[-1] == pytest.approx(value(X, F, slow, penalty), rel=1e-6)
    np.testing.assert_allclose(W, slow, atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 15), st.integers(1, 15), st.sampled_from([1e-3, 0.3, 5.0, 1e3]))
def test_the_objective_never_rises_and_is_that_of_the_coefficients(seed, n, n_columns, penalty):
    X, F = problem(seed, n, n_columns)
    for form in ("rows", "columns"):
        found = row_sparse_least_squares(X, F, penalty, form=form, max_iter=40, tol=0)
        assert np.all(np.diff(found.objective) <= 0)
        assert found.objective[-1] == pytest.approx(value(X, F, found.solution, penalty), rel=1e-8)


def test_warm_starts_keep_dead_rows_dead_and_save_steps():
    X, F = problem(5)
    cold = row_sparse_least_squares(X, F, 2.0, max_iter=2000, tol=1e-10)
    warm = row_sparse_least_squares(X, F, 2.0, start=cold.solution, max_iter=2000, tol=1e-10)
    assert len(warm.objective) < len(cold.objective) / 5
    start = cold.solution.copy()
    start[:4] = 0
    assert not row_sparse_least_squares(X, F, 2.0, start=start).solution[:4].any()


def test_too_few_steps_are_reported():
    X, F = problem(6)
    found = row_sparse_least_squares(X, F, 2.0, max_iter=2, tol=1e-12)
    assert not found.converged
    assert len(found.objective) == 2


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_shrinking_and_reweighting_end_at_one_minimum(kind, ridge):
    X, F = problem(4)
    start = np.zeros((X.shape[1], F.shape[1]))
    shrunk = row_sparse_by_shrinking(kind(X), F, 2.0, start, ridge=ridge, max_iter=5000, tol=1e-14)
    reweighted = row_sparse_least_squares(kind(X), F, 2.0, ridge=ridge, max_iter=2000, tol=1e-12)
    assert (np.diff(shrunk.objective) <= 0).all()
    assert shrunk.objective[-1] == pytest.approx(reweighted.objective[-1], rel=1e-5)
    np.testing.assert_allclose(shrunk.solution, reweighted.solution, atol=2e-3)
    assert (np.linalg.norm(shrunk.solution, axis=1) == 0).any()
    # The slope of what is smooth is as long as the penalty where a row is not zero, and no longer elsewhere.
    W = shrunk.solution
    slopes = np.linalg.norm(2 * X.T @ (X @ W - F) + 2 * ridge * W, axis=1)
    lengths = np.linalg.norm(W, axis=1)
    np.testing.assert_allclose(slopes[lengths > 1e-3], 2.0, rtol=1e-3)
    assert (slopes <= 2.0 + 1e-3).all()


def test_rows_of_zeros_can_come_back_by_shrinking():
    X, F = problem(5)
    found = row_sparse_by_shrinking(X, F, 0.1, np.zeros((X.shape[1], F.shape[1])))
    assert np.linalg.norm(found.solution) > 0


def test_shrinking_of_columns_that_cancel_out():
    X = np.zeros((3, 9))
    X[:, 0], X[:, 7] = 1, -1
    found = row_sparse_by_shrinking(X, np.ones((3, 2)), 0.1, np.zeros((9, 2)))
    assert np.isfinite(found.solution).all()
    assert found.objective[-1] < 6

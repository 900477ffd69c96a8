"""Traces with the l2,1 norm: forms and solves against explicit matrices, descent, both ways of factorising."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from vicinal._optim import Reweighted, RowForm, minimize_trace
from vicinal._optim._trace import SMOOTHING

KINDS = [np.asarray, sp.csr_array]
MEASURES = [(0.0, 1.0), (1.0, 0.3)]


def row_form(rng, n, low_rank=True):
    """Differences along a ring of rows and, on all but the last three, what groups of rows leave unexplained."""
    ring = np.eye(n) - np.roll(np.eye(n), 1, axis=1)
    S = ring.T @ ring
    if not low_rank:
        return RowForm(sp.csr_array(S)), S
    grouped = np.diag((np.arange(n) < n - 3).astype(float))
    F = grouped @ np.eye(3)[np.arange(n) % 3]
    F /= np.sqrt(F.sum(axis=0))
    return RowForm(sp.csr_array(S + grouped), sp.csr_array(F)), S + grouped - F @ F.T


@pytest.mark.parametrize("low_rank", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_form_is_the_explicit_matrix(rng, kind, low_rank):
    B, explicit = row_form(rng, 14, low_rank)
    X, V = rng.normal(size=(14, 5)), rng.normal(size=(14, 2))
    assert np.linalg.eigvalsh(explicit).min() > -1e-12
    np.testing.assert_allclose(B @ V, explicit @ V, atol=1e-12)
    np.testing.assert_allclose(B.of_columns(kind(X)), X.T @ explicit @ X, atol=1e-12)
    np.testing.assert_allclose(B.diagonal(kind(X)), np.diag(X.T @ explicit @ X), atol=1e-12)


@pytest.mark.parametrize(("gram", "ridge"), MEASURES)
@pytest.mark.parametrize("form", ["rows", "columns"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(10, 16), (16, 10)])
def test_steps_lead_to_the_smallest_eigenvectors(rng, shape, kind, form, gram, ridge):
    X, spread = rng.normal(size=shape), rng.uniform(1e-3, 2, shape[1])
    B, rows = row_form(rng, shape[0])
    reweighted = Reweighted(kind(X), B, spread, 0.4, gram, ridge, form)
    explicit = X.T @ rows @ X + 0.4 * np.diag(1 / spread)
    measure = gram * X.T @ X + ridge * np.eye(shape[1])
    V = rng.normal(size=(shape[1], 2))
    root = np.sqrt(spread)[:, None]
    np.testing.assert_allclose(root * reweighted.solve(root * V), np.linalg.solve(explicit, V), atol=1e-10)
    W = np.eye(shape[1])[:, :2]
    lower = reweighted.lower(W)
    np.testing.assert_allclose(lower.T @ measure @ lower, np.eye(2), atol=1e-10)
    before = scipy.linalg.eigvalsh(W.T @ explicit @ W, W.T @ measure @ W).sum()
    assert np.trace(lower.T @ explicit @ lower) <= before
    for _ in range(30):
        lower = reweighted.lower(lower)
    smallest = scipy.linalg.eigvalsh(explicit, measure)[:2]
    np.testing.assert_allclose(np.diag(lower.T @ explicit @ lower), smallest, rtol=1e-8)


@pytest.mark.parametrize(("gram", "ridge"), MEASURES)
@pytest.mark.parametrize("penalty", [0.03, 1.0, 30.0])
@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
def test_the_objective_falls_to_where_the_vectors_stay(rng, shape, penalty, gram, ridge):
    X = rng.normal(size=shape)
    B, rows = row_form(rng, shape[0])
    found = minimize_trace(X, B, 3, penalty, gram=gram, ridge=ridge, max_iter=5000, tol=1e-12)
    assert found.converged
    assert np.all(np.diff(found.objective) <= 0)
    W = found.solution
    measure = gram * X.T @ X + ridge * np.eye(shape[1])
    np.testing.assert_allclose(W.T @ measure @ W, np.eye(3), atol=1e-8)
    lengths = np.hypot(np.linalg.norm(W, axis=1), SMOOTHING)
    form = X.T @ rows @ X
    assert found.objective[-1] == pytest.approx(np.trace(W.T @ form @ W) + penalty * lengths.sum(), rel=1e-8)
    explicit = form + penalty * np.diag(1 / (2 * lengths))
    assert np.trace(W.T @ explicit @ W) == pytest.approx(scipy.linalg.eigvalsh(explicit, measure)[:3].sum(), rel=1e-4)


@pytest.mark.parametrize(("gram", "ridge"), MEASURES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(40, 30), (30, 40)])
def test_both_forms_agree(rng, shape, kind, gram, ridge):
    X = rng.normal(size=shape)
    B, _ = row_form(rng, shape[0])
    given = {"gram": gram, "ridge": ridge, "max_iter": 50, "tol": 1e-6}
    found = [minimize_trace(kind(X), B, 4, 1.0, form=form, **given) for form in ("rows", "columns")]
    np.testing.assert_allclose(found[0].objective, found[1].objective, rtol=1e-7)
    np.testing.assert_allclose(*(np.linalg.norm(one.solution, axis=1) for one in found), rtol=1e-3, atol=1e-7)

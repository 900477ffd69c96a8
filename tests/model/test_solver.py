"""The solver against plain NumPy: the certificate, bit-identity over threads, instruction sets, batches."""

import numpy as np
import pytest
from linear_problems import conjugate_of, labels_of, loss_of, rows_of_kind, signs_and_caps

from vicinal import _native
from vicinal.model._solver import LOSSES, Outputs, batches, solve

LOSS_NAMES = LOSSES[:3]


@pytest.fixture(autouse=True)
def by_dual_variables(monkeypatch):
    """Rows of tests are narrow; Newton's steps have a test of their own."""
    monkeypatch.setattr("vicinal.model._solver.NARROW", 0)


def outputs_of(y):
    counts = np.bincount(y).astype(float)
    if len(counts) == 2:
        return Outputs(np.ones((2, 1)), counts[1:], labels=(y - 1).astype(np.int32))
    return Outputs(np.ones((2, len(counts))), counts, labels=y.astype(np.int32))


def solved(X, y, loss, **options):
    given = {"loss": loss, "constant": 0.5, "tol": 1e-5, "max_iter": 5000, "seed": 3} | options
    return solve(X, outputs_of(y), np.full(X.shape[0], 2.0), **given)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("n_classes", [2, 3, 6, 11])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_both_objectives_are_what_numpy_says(kind, n_classes, loss, dtype):
    X = rows_of_kind(kind, 80, 9, dtype=dtype)
    y = labels_of(X, n_classes)
    y[:n_classes] = np.arange(n_classes)
    found = solved(X, y, loss, tol=1e-3)
    signs, caps = signs_and_caps(y, 2.0)
    dense = np.hstack([(X if kind == "dense" else X.toarray()).astype(float), np.full((80, 1), 0.5)])
    duals = found.duals.astype(float)
    shares = np.clip(duals * signs / caps, 0, None if loss == "squared_hinge" else 1)
    coefficients = (shares * caps * signs).T @ dense
    np.testing.assert_allclose(found.coefficients, coefficients, rtol=1e-9, atol=1e-9)
    squares = (coefficients**2).sum()
    primal = squares / 2 + (caps * loss_of(loss, signs * (dense @ coefficients.T))).sum()
    dual = -squares / 2 - conjugate_of(loss, shares, caps).sum()
    np.testing.assert_allclose([found.primal, found.dual], [primal, dual], rtol=1e-10)
    assert 0 <= found.gap <= 1e-3


@pytest.mark.parametrize("loss", LOSS_NAMES)
def test_the_gap_bounds_what_is_left_to_gain(loss):
    X = rows_of_kind("dense", 100, 8)
    y = labels_of(X, 3)
    best = solved(X, y, loss, tol=1e-9)
    for tol in (0.3, 0.03, 0.003):
        rough = solved(X, y, loss, tol=tol)
        assert rough.dual <= best.primal * (1 + 1e-12)
        assert best.dual <= rough.primal
        assert 0 <= rough.primal - best.primal <= rough.gap * rough.primal + 1e-9 * best.primal
        assert rough.gap <= tol


@pytest.mark.parametrize("loss", LOSS_NAMES)
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_threads_do_not_change_a_bit(kind, loss):
    X = rows_of_kind(kind, 70, 20, dtype=np.float32)
    y = np.arange(70) % 12
    one, two, three = (solved(X, y, loss, n_jobs=n, tol=1e-2) for n in (1, 2, 3))
    for other in (two, three):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        np.testing.assert_array_equal(one.duals, other.duals)
        assert (one.primal, one.dual, one.n_iter) == (other.primal, other.dual, other.n_iter)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_newtons_steps_end_where_the_dual_ones_do(kind, loss, monkeypatch):
    X = rows_of_kind(kind, 90, 7, dtype=np.float32)
    y = labels_of(X, 3)
    by_rows = solved(X.astype(float), y, loss, tol=1e-9)
    monkeypatch.setattr("vicinal.model._solver.NARROW", 100)
    by_newton = solved(X, y, loss, tol=1e-12)
    assert by_newton.n_iter < 30
    assert by_newton.gap <= 1e-12
    np.testing.assert_allclose(by_newton.coefficients, by_rows.coefficients, atol=1e-3)
    np.testing.assert_allclose(by_newton.duals, by_rows.duals, atol=2e-3)
    signs, caps = signs_and_caps(y, 2.0)
    squares = (by_newton.coefficients**2).sum()
    shares = np.clip(by_newton.duals * signs / caps, 0, None)
    dual = -squares / 2 - conjugate_of(loss, shares, caps).sum()
    assert by_newton.primal == pytest.approx(dual, rel=1e-5)
    assert solved(X, y, loss, tol=1e-6, duals=by_newton.duals).n_iter == 0


@pytest.mark.parametrize("isa", _native.available_instruction_sets)
def test_every_instruction_set_finds_the_optimum(isa, monkeypatch):
    X = rows_of_kind("csr", 70, 20, dtype=np.float32)
    y = np.arange(70) % 9
    best = solved(X, y, "squared_hinge", tol=1e-5)
    call = _native.fit_linear
    monkeypatch.setattr(_native, "fit_linear", lambda *args: call(*args, isa))
    assert solved(X, y, "squared_hinge", tol=1e-5).primal == pytest.approx(best.primal, rel=2e-5)


def test_more_passes_raise_the_dual_objective():
    X, previous = rows_of_kind("dense", 100, 8), -np.inf
    y = labels_of(X, 2)
    for n_passes in (1, 2, 4, 8, 16):
        found = solved(X, y, "squared_hinge", tol=1e-12, max_iter=n_passes)
        assert found.n_iter == n_passes
        assert found.dual > previous
        previous = found.dual


def test_a_start_at_the_optimum_takes_no_pass():
    X = rows_of_kind("csr")
    y = labels_of(X, 3)
    first = solved(X, y, "squared_hinge")
    again = solved(X, y, "squared_hinge", duals=first.duals)
    assert again.n_iter == 0
    np.testing.assert_allclose(first.coefficients, again.coefficients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4, 7, 8, 9, 20, 100])
def test_batches_hold_every_output_once(n_outputs):
    order, starts = batches(np.linspace(1, 2, n_outputs))
    assert sorted(order) == list(range(n_outputs))
    assert (starts[0], starts[-1]) == (0, n_outputs)
    assert np.diff(starts).min() >= 1
    assert np.diff(starts).max() <= 8


def test_values_beyond_single_precision_are_learned_in_double():
    X, scale = rows_of_kind("dense", dtype=np.float32), np.float32(2.0**60)
    y = labels_of(X, 2)
    options = {"loss": "squared_hinge", "constant": 0, "tol": 1e-6, "max_iter": 5000, "seed": 0}
    plain = solve(X, outputs_of(y), np.ones(60), **options)
    large = solve(X * scale, outputs_of(y), np.full(60, float(scale) ** -2), **options)
    assert (plain.duals.dtype, large.duals.dtype) == (np.float32, np.float64)
    assert large.gap <= 1e-6
    np.testing.assert_allclose(large.coefficients * scale, plain.coefficients, rtol=0.01, atol=0.01)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"labels": np.zeros(3, np.int32)}, "label per row"),
        ({"labels": None}, "either labels or targets"),
        ({"outputs": np.array([0, 0], np.int32)}, "one batch"),
        ({"rows": (np.ones(2), np.array([0, 9], np.int32), np.array([0, 1, 2]), 3)}, "column is out of range"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, sentence):
    given = {
        "rows": np.eye(2),
        "loss": 0,
        "knee": 1.0,
        "constant": 0.0,
        "labels": np.array([0, 1], np.int32),
        "targets": None,
        "weights": np.ones(2),
        "factors": np.ones((2, 2)),
        "outputs": np.array([0, 1], np.int32),
        "batch_starts": np.array([0, 2], np.int32),
        "tol": 0.1,
        "max_epochs": 5,
        "seed": 0,
        "duals": np.zeros((2, 2)),
        "sums": np.zeros((2, 3)),
        "reports": np.zeros((1, 3)),
    }
    _native.fit_linear(**given)
    with pytest.raises(ValueError, match=sentence):
        _native.fit_linear(**given | change)

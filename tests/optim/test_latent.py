"""Latent vectors by triplets: losses, gradients and steps against plain versions."""

import numpy as np
import pytest

from vicinal import _native
from vicinal._optim import LOSSES, LatentTriplets, minimize_smooth

N, WIDTH = 12, 19


def plain_loss(name, s):
    if name == "identity":
        return -s
    if name == "hinge":
        return np.maximum(0, 1 - s)
    if name == "huber":  # Eq. 5.9
        return np.where(s >= 2, 0, np.where(s > 0, (s - 2) ** 2 / 4, 1 - s))
    return np.log(1 + np.exp(-s))


def triplets_of(rng, count=60):
    return np.array([rng.permutation(N)[:3] for _ in range(count)], dtype=np.int32)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, WIDTH)) / 2, triplets_of(rng)


@pytest.mark.parametrize("loss", LOSSES)
def test_values_are_those_of_the_equations(problem, loss):
    U, triplets = problem
    i, j, k = triplets.T
    margins = (U[i] * (U[j] - U[k])).sum(axis=1)
    assert LatentTriplets(triplets, N, loss).value(U) == pytest.approx(plain_loss(loss, margins).sum(), rel=1e-12)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "hinge"])
def test_gradients_are_numeric_ones(problem, loss):
    U, triplets = problem
    function = LatentTriplets(triplets, N, loss)
    gradient = function.value_and_gradient(U)[1]
    for v, d in [(0, 0), (3, 18), (11, 7), (5, 16)]:
        up, down = U.copy(), U.copy()
        up[v, d] += 1e-6
        down[v, d] -= 1e-6
        numeric = (function.value(up) - function.value(down)) / 2e-6
        assert gradient[v, d] == pytest.approx(numeric, abs=1e-6)


def test_large_margins_of_either_sign_do_not_overflow(problem):
    _, triplets = problem
    U = np.full((N, 2), 1e3) * np.arange(N)[:, None]
    value, gradient = LatentTriplets(triplets, N, "logistic").value_and_gradient(U)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_threads_do_not_change_the_answer():
    rng = np.random.default_rng(1)
    U, triplets = rng.normal(size=(300, WIDTH)), rng.integers(0, 300, size=(20_000, 3)).astype(np.int32)
    one, three = (LatentTriplets(triplets, 300, "huber", n_threads=n).value_and_gradient(U) for n in (1, 3))
    assert one[0] == three[0]
    np.testing.assert_array_equal(one[1], three[1])


def plain_step(U, triplet, decay, pull, targets, step, squares):
    """One stochastic step with the huber loss: all three gradients from where the vectors were."""
    i, j, k = triplet
    s = U[i] @ (U[j] - U[k])
    down = 1.0 if s <= 0 else max(0.0, 1 - s / 2)
    gradients = {i: down * (U[k] - U[j]), j: -down * U[i], k: down * U[i]}
    before = U.copy()
    for v, gradient in gradients.items():
        whole = gradient + decay[v] * before[v] + pull[v] * (before[v] - targets[v])
        squares[v] += (whole**2).mean()
        U[v] = before[v] - step / np.sqrt(squares[v]) * whole


@pytest.mark.parametrize("with_targets", [False, True])
def test_steps_are_those_of_a_plain_version(problem, with_targets):
    U, triplets = problem
    rng = np.random.default_rng(2)
    decay, pull = rng.random((2, N))
    pull = pull if with_targets else np.zeros(N)
    targets = rng.normal(size=U.shape)
    ours, squares = U.astype(np.float32), np.zeros(N, np.float32)
    arrays = (decay.astype(np.float32), pull.astype(np.float32), targets.astype(np.float32) if with_targets else None)
    _native.latent_steps(ours, triplets, LOSSES.index("huber"), *arrays, 0.1, squares)
    plain, plain_squares = U.copy(), np.zeros(N)
    for triplet in triplets:
        plain_step(plain, triplet, decay, pull, targets, 0.1, plain_squares)
    np.testing.assert_allclose(ours, plain, atol=2e-4)
    np.testing.assert_allclose(squares, plain_squares, rtol=1e-3)


def test_nodes_that_do_not_exist_are_refused(problem):
    U, triplets = problem
    function = LatentTriplets(triplets, N, "huber")
    function.triplets = np.where(triplets == 5, N, triplets).astype(np.int32)
    with pytest.raises(ValueError, match="out of range"):
        function.value(U)


def test_a_smooth_function_is_minimised_and_never_rises():
    scales = np.array([[1.0, 10.0], [100.0, 3.0]])

    def bowl(U):
        return float((scales * (U - 1) ** 2).sum()), 2 * scales * (U - 1)

    found = minimize_smooth(bowl, np.zeros((2, 2)), max_iter=100, tol=1e-14)
    np.testing.assert_allclose(found.solution, 1, atol=1e-5)
    assert found.converged
    assert (np.diff(found.objective) <= 0).all()

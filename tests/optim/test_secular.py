"""Few non-zero rows in closed form: where the slope vanishes, and which rows are zero."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal._optim import shortest_rows


@given(
    seed=st.integers(0, 2**32 - 1),
    c=st.integers(1, 6),
    spread=st.floats(0, 4),
    penalty=st.floats(1e-3, 1e3),
    scale=st.floats(1e-6, 1e6),
)
def test_rows_are_where_the_slope_vanishes(seed, c, spread, penalty, scale):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(20, c)) * np.logspace(0, -spread, c)
    X = scale * rng.normal(size=(20, 7))
    G, B = U.T @ U, X.T @ U
    V = shortest_rows(G, B, penalty)
    lengths = np.linalg.norm(2 * B, axis=1)
    np.testing.assert_array_equal(V.any(axis=1), lengths > penalty)
    for v, b, length in zip(V, B, lengths, strict=True):
        if v.any():
            slope = 2 * G @ v - 2 * b + penalty * v / np.linalg.norm(v)
            assert np.abs(slope).max() <= 1e-8 * length


def test_no_other_rows_are_better(rng):
    U, X = rng.normal(size=(40, 3)), rng.normal(size=(40, 9))
    V = shortest_rows(U.T @ U, X.T @ U, 12.0)
    assert 0 < V.any(axis=1).sum() < 9

    def value(V):
        return np.square(U @ V.T - X).sum() + 12 * np.linalg.norm(V, axis=1).sum()

    best = value(V)
    for _ in range(200):
        assert value(V + 1e-3 * rng.normal(size=V.shape)) > best


def test_directions_without_extent():
    """One of two directions of U is missing, and B has no part in it."""
    V = shortest_rows(np.diag([4.0, 0.0]), np.array([[3.0, 0.0], [0.1, 0.0]]), 1.0)
    np.testing.assert_allclose(V, [[5 / 8, 0], [0, 0]])
    assert not shortest_rows(np.zeros((2, 2)), np.zeros((3, 2)), 1.0).any()


def test_directions_of_rounding_are_not_followed(rng):
    U = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 5))
    X = rng.normal(size=(20, 4))
    V = shortest_rows(U.T @ U, X.T @ U, 1e-14)
    best = np.linalg.lstsq(U, X, rcond=1e-10)[0].T
    np.testing.assert_allclose(U @ V.T, U @ best.T, atol=1e-6)
    assert np.linalg.norm(V) < 1e3 * np.linalg.norm(best)


@pytest.mark.parametrize("penalty", [0.1, 1.0, 5.9])
def test_one_direction_is_soft_thresholding(penalty):
    V = shortest_rows(np.array([[2.0]]), np.array([[3.0], [-3.0], [0.04]]), penalty)
    np.testing.assert_allclose(V[:2, 0], [(6 - penalty) / 4, (penalty - 6) / 4])
    assert V[2, 0] == 0

"""Distances to the k-th neighbour are those of brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from vicinal.experiments._neighbors import neighbor_distances


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("n_columns", [3, 40])
def test_equal_to_brute_force(rng, as_input, n_columns):
    F = rng.normal(size=(90, n_columns)) * (rng.uniform(size=(90, n_columns)) < 0.5)
    F[10] = F[20] = F[30]  # the others among equal rows are at distance 0
    F[40] = 0
    ks = (1, 2, 5, 20)
    distances = cdist(F, F)
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(distances, axis=1)[:, [k - 1 for k in ks]]
    np.testing.assert_allclose(neighbor_distances(as_input(F), ks), expected, atol=1e-6)
    assert expected[10, 1] == 0 < expected[10, 2]


def test_many_rows_equal_to_brute_force(rng):
    """More rows than are worked on at a time."""
    F = rng.normal(size=(3100, 4)).astype(np.float32)
    distances = cdist(F, F)
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(np.partition(distances, 2, axis=1)[:, :3], axis=1)[:, [0, 2]]
    np.testing.assert_allclose(neighbor_distances(sp.csr_matrix(F), (1, 3)), expected, atol=1e-5)


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_more_neighbours_than_rows_is_the_farthest_row(rng, as_input):
    F = rng.normal(size=(6, 3))
    farthest = cdist(F, F).max(axis=1)
    np.testing.assert_allclose(neighbor_distances(as_input(F), (2, 50))[:, 1], farthest)

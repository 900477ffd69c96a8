"""LINE: groups in either order, halves of unit length, seeds and threads, bad parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from negative_sampling import cliques, separation

from vicinal import LINE


@pytest.mark.parametrize("order", ["both", 1, 2])
def test_two_groups(order):
    model = LINE(16, order=order, n_samples=1000, random_state=0).fit(None, adjacency=cliques())
    assert model.embedding_.shape == (12, 16)
    within, between = separation(model.embedding_)
    assert within > between


def test_halves_have_unit_length():
    vectors = LINE(12, n_samples=10, random_state=0).fit_transform(None, adjacency=cliques())
    for half in np.split(vectors, 2, axis=1):
        np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1, rtol=1e-5)


def test_second_order_finds_nodes_with_the_same_neighbours():
    """Nodes of one side of a bipartite network are not linked, but alike in the second order."""
    adjacency = np.zeros((12, 12))
    for group in (0, 6):
        adjacency[group : group + 3, group + 3 : group + 6] = 1
    adjacency = adjacency + adjacency.T
    model = LINE(16, order=2, n_samples=1000, random_state=0).fit(None, adjacency=adjacency)
    alike, other = model.score_pairs([[0, 1], [0, 7]])
    assert alike > 0.9
    assert alike > other + 0.3


def test_the_same_seed_gives_the_same_vectors():
    network = cliques(20)
    vectors = LINE(16, n_samples=20, random_state=0).fit_transform(None, adjacency=network)
    for n_jobs in (1, 2, 3):
        again = LINE(16, n_samples=20, random_state=0, n_jobs=n_jobs).fit_transform(None, adjacency=network)
        assert np.array_equal(again, vectors)
    assert not np.array_equal(LINE(16, n_samples=20, random_state=1).fit_transform(None, adjacency=network), vectors)


def test_isolated_nodes_and_one_link():
    adjacency = sp.block_diag([np.array([[0, 1], [1, 0]]), np.zeros((2, 2))], format="csr")
    vectors = LINE(4, content_links=0, random_state=0).fit_transform(np.ones((4, 1)), adjacency=adjacency)
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=1) > 0).all()


def test_parameters_are_checked():
    for given, message in (
        ({"order": 3}, "order must be one of 'both', 1, 2; got 3"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_samples": 0}, "n_samples must be a whole number of at least 1; got 0"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0; got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            LINE(**given).fit(None, adjacency=cliques())


def test_an_odd_number_of_components_is_shared_out():
    assert LINE(5, random_state=0).fit_transform(None, adjacency=cliques()).shape[1] == 5
    assert LINE(1, random_state=0).fit_transform(None, adjacency=cliques()).shape[1] == 1

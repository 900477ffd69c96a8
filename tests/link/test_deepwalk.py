"""DeepWalk: groups, isolated nodes, seeds and threads, bad parameters."""

import numpy as np
import pytest
import scipy.sparse as sp
from negative_sampling import cliques, separation

from vicinal import DeepWalk


def quick(n_components=16, **options):
    return DeepWalk(n_components, **{"n_walks": 40, "walk_length": 20, "window": 3, "random_state": 0} | options)


def test_two_groups():
    model = quick(learning_rate=0.1).fit(None, adjacency=cliques())
    within, between = separation(model.embedding_)
    assert within > between
    assert model.embedding_.dtype == np.float32
    assert set(model.recommend([5], top=1, among=[0, 8, 9]).indices.ravel()) <= {8, 9}


def test_the_same_seed_gives_the_same_vectors():
    network = cliques(20)
    vectors = quick().fit_transform(None, adjacency=network)
    for n_jobs in (1, 2, 3):
        assert np.array_equal(quick(n_jobs=n_jobs).fit_transform(None, adjacency=network), vectors)
    assert not np.array_equal(quick(random_state=1).fit_transform(None, adjacency=network), vectors)


def test_walks_that_are_not_held_at_once(monkeypatch):
    """Then negatives are drawn by the visits of the first ones."""
    monkeypatch.setattr("vicinal.link._deepwalk._HELD", 12 * 20 * 3)
    within, between = separation(quick(learning_rate=0.1, n_epochs=2).fit_transform(None, adjacency=cliques()))
    assert within > between


def test_isolated_nodes_keep_a_vector():
    adjacency = sp.block_diag([cliques(3), np.zeros((2, 2))], format="csr")
    vectors = quick(content_links=0).fit_transform(np.ones((8, 1)), adjacency=adjacency)
    assert np.isfinite(vectors).all()
    assert (np.abs(vectors[6:]) <= 1 / 4).all()
    assert (np.linalg.norm(vectors[6:], axis=1) > 0).all()


def test_one_link():
    vectors = quick(3).fit_transform(None, adjacency=np.array([[0, 1], [1, 0]]))
    assert vectors.shape == (2, 3)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("name", ["n_components", "n_walks", "walk_length", "window", "n_negatives", "n_epochs"])
def test_counts_are_checked(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1; got 0"):
        quick().set_params(**{name: 0}).fit(None, adjacency=cliques())


def test_the_rate_is_checked():
    with pytest.raises(ValueError, match="learning_rate must be a number above 0; got -1"):
        quick(learning_rate=-1).fit(None, adjacency=cliques())

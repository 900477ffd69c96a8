"""Partially observable networks: who loses what, what is left to find, and one sentence for what cannot be."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import AdamicAdar, AttributeCosine, Katz
from vicinal.link import make_partially_observable
from vicinal.network import Network

N = 120


def made(seed=0, share_linked=0.05):
    """Some nodes without attributes, some without links, one without both."""
    rng = np.random.default_rng(seed)
    X = (rng.random((N, 9)) < 0.4) * rng.integers(1, 5, (N, 9)).astype(float)
    X[:6] = 0
    upper = np.triu(rng.random((N, N)) < share_linked, 1)
    upper[[5, 6, 7]], upper[:, [5, 6, 7]] = False, False
    return (upper | upper.T).astype(float), X


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.1, 0.2, 0.3])
def test_every_node_shows_what_it_should(seed, share):
    adjacency, X = made(seed)
    task = make_partially_observable(adjacency, X, share, random_state=seed)
    left, links = task.network.adjacency.toarray(), adjacency[np.ix_(task.nodes, task.nodes)]
    linked, attributed = left.any(axis=1), ~np.isnan(task.X).all(axis=1)
    assert np.array_equal(attributed, task.attributed)
    assert (linked | attributed).all()
    assert np.array_equal(task.link_only, np.flatnonzero(linked & ~attributed))
    assert np.array_equal(task.attribute_only, np.flatnonzero(attributed & ~linked))
    assert task.n_complete == (linked & attributed).sum() > 0
    # Links are gone where one end lost all of its own, and nowhere else.
    gone = links != left
    assert (~linked[:, None] | ~linked)[gone].all()
    assert np.array_equal(left[np.ix_(linked, linked)], links[np.ix_(linked, linked)])
    assert np.array_equal(task.X[attributed], X[task.nodes][attributed])
    assert np.array_equal(task.hidden.toarray(), links[np.ix_(task.link_only, task.attribute_only)])


@pytest.mark.parametrize("share", [0.1, 0.25])
def test_as_many_lose_their_attributes_as_are_without_links(share):
    adjacency, X = made()
    task = make_partially_observable(adjacency, X, share, random_state=1)
    had_attributes = X[task.nodes].any(axis=1)
    assert had_attributes[task.link_only].sum() == len(task.attribute_only) >= round(share * N)
    assert task.n_left_out == N - len(task.nodes) >= 1
    assert 5 not in task.nodes


def test_nodes_that_lose_their_links_have_attributes():
    """Otherwise they would show nothing: as many as are drawn must be found again without links."""
    adjacency, X = made(share_linked=0.5)
    X[:60] = 0
    task = make_partially_observable(adjacency, X, 0.2, random_state=0)
    assert len(task.attribute_only) == round(0.2 * N)
    assert task.n_left_out == 3


def test_sparse_rows_and_dense_ones_are_the_same_task():
    adjacency, X = made()
    dense = make_partially_observable(adjacency, X, random_state=3)
    sparse = make_partially_observable(Network(sp.csr_array(adjacency)), sp.csr_matrix(X), random_state=3)
    assert sp.issparse(sparse.X)
    assert np.array_equal(np.diff(sparse.X.indptr) > 0, dense.attributed)
    assert np.array_equal(sparse.X.toarray(), np.nan_to_num(dense.X))
    assert np.array_equal(sparse.hidden.toarray(), dense.hidden.toarray())
    assert make_partially_observable(adjacency, X.astype(np.float32), random_state=3).X.dtype == np.float32


def test_a_seed_draws_the_same_and_another_draws_others():
    adjacency, X = made()
    first, again, other = (make_partially_observable(adjacency, X, random_state=seed) for seed in (0, 0, 1))
    assert np.array_equal(first.link_only, again.link_only)
    assert (first.network.adjacency != again.network.adjacency).nnz == 0
    assert not np.array_equal(first.network.degrees, other.network.degrees)


def test_what_is_given_stays_as_it_is():
    adjacency, X = made()
    before = X.copy(), adjacency.copy()
    make_partially_observable(adjacency, X, random_state=0)
    assert np.array_equal(X, before[0])
    assert np.array_equal(adjacency, before[1])


def test_links_of_one_direction_count_both_ways():
    adjacency, X = made()
    one_way = make_partially_observable(np.triu(adjacency), X, random_state=0)
    both = make_partially_observable(adjacency, X, random_state=0)
    assert np.array_equal(one_way.hidden.toarray(), both.hidden.toarray())
    assert not one_way.network.directed


def test_names_are_kept_and_numbers_are_those_of_the_nodes_left():
    adjacency, X = made()
    named = make_partially_observable(Network(adjacency, names=[f"n{i}" for i in range(N)]), X, random_state=0)
    assert named.network.names.tolist() == [f"n{i}" for i in named.nodes]
    assert make_partially_observable(adjacency, X, random_state=0).network.names.tolist() == list(
        range(len(named.nodes))
    )


@pytest.mark.parametrize("model", [AttributeCosine(), AdamicAdar(), Katz()], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("sparse", [False, True])
def test_methods_take_the_task_and_score_its_pairs(model, sparse):
    adjacency, X = made()
    task = make_partially_observable(adjacency, sp.csr_array(X) if sparse else X, random_state=0)
    model.fit(task.X, adjacency=task.network, attributed=task.attributed)
    scores = model.scores_between(task.link_only, task.attribute_only)
    assert scores.shape == task.hidden.shape
    pairs = np.array([(first, second) for first in task.link_only for second in task.attribute_only])
    np.testing.assert_allclose(scores.ravel(), model.score_pairs(pairs), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"share": 0.0}, "share must be a share above 0"),
        ({"share": 1}, "share must be below 1, as some nodes keep their links; got 1"),
        ({"share": "much"}, "share must be a share above 0"),
        ({"share": 0.99}, "119, and 11. have attributes that they could still show; take a smaller share"),
        ({"share": 0.6}, "nodes are without links once 72 have lost theirs"),
        ({"X": np.ones((5, 2))}, "X has 5 rows, but the network has 120 nodes"),
        ({"X": np.zeros((N, 2))}, "are 24, and 0 have attributes"),
    ],
)
def test_bad_input_gets_one_sentence(change, sentence):
    adjacency, X = made()
    with pytest.raises(ValueError, match=sentence):
        make_partially_observable(**{"network": adjacency, "X": X, "share": 0.2, **change})

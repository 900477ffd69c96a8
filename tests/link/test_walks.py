"""Walks, draws and steps of negative sampling against plain versions, on every instruction set of this machine."""

import numpy as np
import pytest
import scipy.sparse as sp
from negative_sampling import cliques, loss, plain_step, separation
from scipy.stats import chi2

from vicinal import _native
from vicinal.link._walks import SkipGram, line, random_walks, skip_gram, visits

each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)


def random_network(rng, n=60, density=0.1, weights=None):
    upper = sp.triu(sp.random_array((n, n), density=density, rng=rng, data_sampler=weights), 1)
    network = sp.csr_array(upper + upper.T)
    if weights is None:
        network.data[:] = 1
    network.sort_indices()
    return network


def wide(network):
    parts = network.data, network.indices.astype(np.int64), network.indptr.astype(np.int64)
    made = sp.csr_array(network.shape)
    made.data, made.indices, made.indptr = parts
    return made


@pytest.mark.parametrize("weights", [[1.0], [0.0, 1.0], [3.0, 0.0, 1.0, 0.5, 5.5], np.ones(7), np.arange(1000) ** 2.0])
def test_alias_tables_hold_the_weights(weights):
    weights = np.array(weights, dtype=np.float64)
    table = np.empty((len(weights), 2), np.uint32)
    _native.alias_table(weights, table)
    kept = table[:, 0] / 2.0**32
    chances = kept.copy()
    np.add.at(chances, table[:, 1], 1 - kept)
    np.testing.assert_allclose(chances / len(weights), weights / weights.sum(), atol=1e-8 / len(weights) ** 0.5)
    assert (chances[weights == 0] == 0).all()


def test_walks_follow_links(rng):
    network = random_network(rng)
    first = np.arange(60)
    walks = random_walks(network, first, 20, seed=3)
    alone = np.diff(network.indptr) == 0
    assert walks.shape == (60, 20)
    assert np.array_equal(walks[:, 0], first)
    assert (walks[alone, 1:] == -1).all()
    going = walks[~alone]
    assert (going >= 0).all()
    assert (network.toarray()[going[:, :-1], going[:, 1:]] > 0).all()


@pytest.mark.parametrize("weights", [None, "some"])
def test_neighbours_are_drawn_in_proportion_to_weights(weights, rng):
    network = random_network(rng, 30, 0.3, None if weights is None else (lambda size: rng.integers(1, 5, size) * 1.0))
    walks = random_walks(network, np.tile(np.arange(30), 500), 8, seed=0)
    steps = np.zeros((30, 30))
    linked = walks[:, 1] >= 0
    np.add.at(steps, (walks[linked, :-1].ravel(), walks[linked, 1:].ravel()), 1)
    chances = network.toarray()
    expected = chances / np.maximum(chances.sum(axis=1, keepdims=True), 1) * steps.sum(axis=1, keepdims=True)
    known = expected > 0
    statistic = ((steps[known] - expected[known]) ** 2 / expected[known]).sum()
    freedom = known.sum() - (chances.sum(axis=1) > 0).sum()
    assert chi2.ppf(0.001, freedom) < statistic < chi2.ppf(0.999, freedom)
    assert (steps[~known] == 0).all()


def test_a_walk_is_a_function_of_its_number(rng):
    network, first = random_network(rng), np.tile(np.arange(60), 30)
    walks = random_walks(network, first, 12, seed=7)
    for n_threads in (2, 3):
        assert np.array_equal(random_walks(network, first, 12, seed=7, n_threads=n_threads), walks)
    assert np.array_equal(random_walks(network, first[700:], 12, seed=7, offset=700), walks[700:])
    assert np.array_equal(random_walks(wide(network), first, 12, seed=7), walks)
    assert not np.array_equal(random_walks(network, first, 12, seed=8), walks)


def batch(rng, n_inputs, n_outputs, width):
    x = rng.normal(size=(n_inputs, width)).astype(np.float32)
    y = (rng.normal(size=(n_outputs, width)) / 3).astype(np.float32)
    input_counts = rng.integers(1, 4, n_inputs).astype(np.float32)
    output_counts = rng.integers(1, 4, n_outputs).astype(np.float32)
    output_counts[0] = 1
    return x, y, input_counts, output_counts


@each_instruction_set
@pytest.mark.parametrize("width", [32, 128])
def test_a_step_is_that_of_plain_numpy(isa, width, rng):
    for n_inputs in (1, 2, 7, 32):
        for n_outputs in (1, 2, 3, 4, 5, 6, 7, 12, 20):
            given = batch(rng, n_inputs, n_outputs, width)
            expected = plain_step(*given, 0.1)
            _native.sampled_step(*given, 0.1, isa=isa)
            for found, wanted in zip(given, expected, strict=False):
                np.testing.assert_allclose(found, wanted, atol=2e-5)


@each_instruction_set
def test_products_far_from_zero(isa):
    x = np.full((3, 32), [[10.0], [-10.0], [1e4]], dtype=np.float32)
    y = np.full((2, 32), 10.0, dtype=np.float32)
    ones = np.ones(3, np.float32)
    expected = plain_step(np.minimum(x, 100), y, ones, ones[:2], 0.5)[0] - np.minimum(x, 100)
    before = x.copy()
    _native.sampled_step(x, y, ones, ones[:2], 0.5, isa=isa)
    np.testing.assert_allclose(x - before, expected, atol=1e-3)


@each_instruction_set
def test_a_step_goes_down_the_gradient(isa, rng):
    x, y, *counts = batch(rng, 4, 9, 32)
    double = x.astype(np.float64), y.astype(np.float64)
    moved = x.copy(), y.copy()
    _native.sampled_step(*moved, *counts, 1.0, isa=isa)
    for side in (0, 1):
        for row, column in ((0, 0), (3, 5), (1, 31)):
            ends = []
            for sign in (1, -1):
                rows = [part.copy() for part in double]
                rows[side][row, column] += sign * 1e-5
                ends.append(loss(*rows, *counts))
            slope = (ends[0] - ends[1]) / 2e-5
            assert moved[side][row, column] - (x, y)[side][row, column] == pytest.approx(-slope, abs=2e-5)


def test_refused_are_rows_of_odd_width():
    rows, ones = np.zeros((2, 33), np.float32), np.ones(2, np.float32)
    with pytest.raises(ValueError, match="wrong width"):
        _native.sampled_step(rows, rows.copy(), ones, ones, 0.1)


def plain_skip_gram(walks, x, y):
    """With a window of 1 and without negatives."""
    for walk in walks:
        for place, centre in enumerate(walk):
            contexts = [walk[beside] for beside in (place - 1, place + 1) if 0 <= beside < len(walk)]
            inputs, counts = np.unique(contexts, return_counts=True)
            x[inputs], y[[centre]] = plain_step(x[inputs], y[[centre]], counts, np.ones(1), 0.1)


@each_instruction_set
def test_steps_over_walks_are_those_of_a_plain_loop(isa, rng):
    """Without negatives, all is known: a window of 1 is always 1."""
    walks = rng.integers(0, 5, (9, 6)).astype(np.int32)
    x, y = (rng.normal(size=(5, 32)).astype(np.float32) for _ in range(2))
    expected = x.astype(np.float64), y.astype(np.float64)
    plain_skip_gram(walks, *expected)
    _native.skip_gram(walks, x, y, np.ones(5), 1, 0, 0.1, 0.1, 0, isa=isa)
    np.testing.assert_allclose(x, expected[0], atol=1e-5)
    np.testing.assert_allclose(y, expected[1], atol=1e-5)


def test_negatives_are_drawn_by_their_weights(rng):
    """Where no centre is likely, one step moves the outputs of negatives by equal parts."""
    walks = np.tile(np.array([[0, 1]], np.int32), (4000, 1))
    x, y = np.zeros((12, 32), np.float32), np.zeros((12, 32), np.float32)
    x[:2, 0] = 1
    noise = np.r_[0, 0, np.arange(10)].astype(np.float64)
    _native.skip_gram(walks, x, y, noise, 1, 5, 1e-6, 1e-6, 0)
    drawn = -y[2:, 0] / 0.5e-6
    assert drawn.sum() == pytest.approx(8000 * 5, rel=1e-3)
    expected = 40000 * np.arange(10) / 45
    assert drawn[0] == 0
    assert ((drawn[1:] - expected[1:]) ** 2 / expected[1:]).sum() < chi2.ppf(0.999, 8)


def test_the_same_on_any_number_of_threads(rng):
    options = {"n_components": 20, "window": 4, "n_epochs": 1, "seed": 5}
    for n_nodes in (200, 1200):  # in one part, and in several
        walks = rng.integers(0, n_nodes, (7000, 20)).astype(np.int32)  # more than a chunk
        vectors = skip_gram(walks, n_nodes, **options)
        assert vectors.shape == (n_nodes, 20)
        for n_threads in (2, 3):
            assert np.array_equal(skip_gram(walks, n_nodes, **options, n_threads=n_threads), vectors)
        assert not np.array_equal(skip_gram(walks, n_nodes, **options | {"seed": 6}), vectors)
    network = random_network(rng)
    links = line(network, (1, 2), n_components=20, n_samples=5000)
    for n_threads in (2, 3):
        again = line(network, (1, 2), n_components=20, n_samples=5000, n_threads=n_threads)
        assert all(map(np.array_equal, again, links))


def test_wide_windows_and_many_negatives(rng):
    walks = random_walks(cliques(30), np.tile(np.arange(60), 5), 90, seed=0)
    vectors = skip_gram(walks, 60, n_components=8, window=70, n_negatives=30, seed=0)
    assert np.isfinite(vectors).all()


def test_groups_are_separated():
    network = cliques()
    walks = random_walks(network, np.tile(np.arange(12), 100), 20, seed=0)
    within, between = separation(skip_gram(walks, 12, n_components=16, window=3, learning_rate=0.05, seed=0))
    assert within > between
    for vectors in line(network, (1, 2), n_components=16, n_samples=40_000, learning_rate=0.05):
        within, between = separation(vectors)
        assert within > between


def test_walks_in_parts_are_learned_from_as_all_at_once(rng):
    walks = rng.integers(0, 50, (100, 10)).astype(np.int32)
    options = {"n_components": 8, "window": 3, "n_negatives": 2, "learning_rate": 0.05, "seed": 1}
    model = SkipGram(visits(walks, 50), **options)
    model.learn(walks[:40], 0, 100)
    model.learn(walks[40:], 40, 100)
    np.testing.assert_allclose(model.vectors, skip_gram(walks, 50, **options), atol=1e-6)


@pytest.mark.parametrize("n", [1, 2])
def test_networks_of_next_to_nothing(n):
    network = sp.csr_array(1 - np.eye(n))
    walks = random_walks(network, np.arange(n), 5, seed=0)
    assert np.isfinite(skip_gram(walks, n, n_components=4)).all()
    for vectors in line(network, (1, 2), n_components=4, n_samples=100):
        assert vectors.shape == (n, 4)
        assert np.isfinite(vectors).all()


def test_weighted_links_are_drawn_more_often(rng):
    """Links of one node with weights 1 and 9: the vector of the second goes nine times as far."""
    network = sp.csr_array(np.array([[0, 1, 9], [1, 0, 0], [9, 0, 0]], dtype=np.float64))
    rows = np.zeros((3, 32), np.float32), np.zeros((3, 32), np.float32)
    rows[0][:, 0] = 1
    _native.link_steps((network.indices, network.indptr, network.data), [rows], 20_000, 0, 1e-6, 1e-6, 0)
    far = rows[1][:, 0] / 0.5e-6
    np.testing.assert_allclose(far, [10_000, 1_000, 9_000], rtol=0.1)


def test_a_callback_may_interrupt(rng):
    def stop(share):
        raise KeyboardInterrupt

    rows = np.zeros((50, 128), np.float32), np.zeros((50, 128), np.float32)
    network, walks = random_network(rng, 50), rng.integers(0, 50, (200_000, 40)).astype(np.int32)
    with pytest.raises(KeyboardInterrupt):
        _native.link_steps((network.indices, network.indptr, None), [rows], 10**9, 5, 0.1, 0.1, 0, callback=stop)
    with pytest.raises(KeyboardInterrupt):
        _native.skip_gram(walks, *rows, np.ones(50), 10, 5, 0.1, 0.1, 0, callback=stop)

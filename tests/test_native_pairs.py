"""The network of pairs against plain NumPy, on every instruction set of this machine."""

from itertools import pairwise

import numpy as np
import pytest

from vicinal import _native

each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)


def drawn(n_rows, n_others, sizes, *, scale=1.0, seed=0):
    """What rows say to the first layer, from both sides, and the layers after it."""
    rng = np.random.default_rng(seed)
    said = [
        (scale * rng.standard_normal((n, sizes[0]))).astype(np.float32) for n in (n_rows, n_rows, n_others, n_others)
    ]
    weights = [rng.standard_normal((n_in, n_out)) / np.sqrt(n_in) for n_in, n_out in pairwise([*sizes, 1])]
    return said, weights, [0.1 * rng.standard_normal(w.shape[1]) for w in weights]


def plain(said, weights, biases):
    left, right, other_left, other_right = (part.astype(np.float64) for part in said)

    def network(sums):
        units = np.tanh(sums)
        for w, b in zip(weights, biases, strict=True):
            units = np.tanh(units @ w + b)
        return units[..., 0]

    one = network(left[:, np.newaxis] + other_right[np.newaxis])
    return (one + network(right[:, np.newaxis] + other_left[np.newaxis])) / 2


def native(said, weights, biases, **options):
    out = np.full((len(said[0]), len(said[2])), np.nan, dtype=np.float32)
    _native.pair_kernel(*said, weights, biases, out, **options)
    return out


@each_instruction_set
@pytest.mark.parametrize("sizes", [[5], [20, 20], [100, 10], [1], [3, 1], [7, 11, 13, 2]], ids=str)
@pytest.mark.parametrize(("n_rows", "n_others"), [(1, 1), (65, 33), (3, 70)])
def test_equals_the_plain_network(isa, sizes, n_rows, n_others):
    given = drawn(n_rows, n_others, sizes)
    assert np.abs(native(*given, isa=isa) - plain(*given)).max() < 1e-5


@each_instruction_set
@pytest.mark.parametrize("scale", [1e-6, 30.0, 1e4, 1e18])
def test_large_and_small_sums(isa, scale):
    given = drawn(9, 40, [6, 4], scale=scale)
    assert np.abs(native(*given, isa=isa) - plain(*given)).max() < 1e-5


@each_instruction_set
@pytest.mark.parametrize("size", [1.0, 39.0, 41.0, 60.0, 1000.0])
def test_large_values_of_opposite_signs_add_up(isa, size):
    left, right = np.array([[size]], dtype=np.float32), np.array([[0.5 - size], [-size], [3 - size]], dtype=np.float32)
    said = [left, left, right, right]
    out = native(said, [np.ones((1, 1))], [np.zeros(1)], isa=isa)
    assert np.abs(out - np.tanh(np.tanh([[0.5, 0.0, 3.0]]))).max() < 1e-5


@each_instruction_set
def test_rows_with_large_sums_do_not_change_others(isa):
    said, weights, biases = drawn(70, 40, [20, 20])
    before = native(said, weights, biases, isa=isa)
    said[0][3] *= 1000
    after = native(said, weights, biases, isa=isa)
    others = np.arange(70) != 3
    assert (before[others] == after[others]).all()
    assert np.abs(after - plain(said, weights, biases)).max() < 1e-5


@each_instruction_set
def test_any_number_of_threads_and_any_rows_say_the_same(isa):
    said, weights, biases = drawn(150, 37, [20, 20])
    whole = native(said, weights, biases, isa=isa)
    assert (whole == native(said, weights, biases, isa=isa, n_threads=3)).all()
    part = [said[0][7:90].copy(), said[1][7:90].copy(), *said[2:]]
    assert (whole[7:90] == native(part, weights, biases, isa=isa)).all()


@each_instruction_set
def test_symmetric(isa):
    said, weights, biases = drawn(40, 40, [20, 20])
    kernel = native([*said[:2], *said[:2]], weights, biases, isa=isa)
    assert np.abs(kernel - kernel.T).max() < 1e-6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda said, w, b: ([*said[:3], said[3][:1]], w, b), "a row per row"),
        (lambda said, w, b: (said, w[:1], b[:1]), "does not fit the next one"),
        (lambda said, w, b: (said, w, b[:1]), "weights and biases per layer"),
        (lambda said, w, b: (said, w, b[::-1]), "of a layer differ"),
    ],
)
def test_arrays_that_do_not_fit(change, message):
    with pytest.raises(ValueError, match=message):
        native(*change(*drawn(4, 5, [3, 2])))

"""The alignment of a weighted kernel with a graph, against plain dense sums and numeric slopes."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import _native
from vicinal.graphs import neighbor_graph
from vicinal.select._alignment import KernelAlignment


def plain(X, graph, s, bandwidth):
    """Tr(H G H K), and (6.15) without the penalty, over s."""
    n = len(X)
    H = np.eye(n) - 1 / n
    C = H @ graph.toarray() @ H
    K = np.exp(-np.square((X * s)[:, None] - (X * s)[None]).sum(axis=2) / bandwidth)
    squares = np.square(X[:, None] - X[None])
    return np.trace(C @ K), 2 / bandwidth * np.einsum("ij,ijp->p", C * K, squares)


@pytest.fixture
def case(rng):
    X = rng.random((40, 9)) * (rng.random((40, 9)) < 0.6)
    X[3] = 0
    X[5] = X[6]
    X[:, 7] = 0
    s = rng.random(9)
    s[[2, 7]], s[3] = 0, 1
    return X, neighbor_graph(X, 4, weights="heat"), s


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bandwidth", [0.1, 1.0, 30.0])
def test_value_and_coefficients(case, as_given, bandwidth):
    X, graph, s = case
    value, coefficients = plain(X, graph, s, bandwidth)
    loss = KernelAlignment(as_given(X), graph, bandwidth)
    found, everywhere = loss.aligned(s, everywhere=True)
    np.testing.assert_allclose(found, value)
    np.testing.assert_allclose(everywhere, coefficients, atol=1e-12)
    found, where_positive = loss.aligned(s)
    np.testing.assert_allclose(found, value)
    np.testing.assert_allclose(where_positive, np.where(s > 0, coefficients, 0), atol=1e-12)


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_the_gradient_is_the_slope(case, as_given):
    X, graph, s = case
    loss = KernelAlignment(as_given(X), graph, 0.7)
    loss.penalty = 0.3
    _, gradient = loss(s)
    for p in range(9):
        ahead, behind = s.copy(), s.copy()
        ahead[p] += 1e-5
        behind[p] -= 1e-5
        np.testing.assert_allclose(gradient[p], (loss(ahead)[0] - loss(behind)[0]) / 2e-5, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(gradient[s == 0], 0.3)


@pytest.mark.parametrize("isa", _native.available_instruction_sets)
def test_every_instruction_set_and_wide_indices(rng, isa):
    X = sp.random_array((70, 12), density=0.3, rng=rng, format="csr")
    graph = neighbor_graph(X, 4)
    s = rng.random(12)
    loss = KernelAlignment(X, graph, 1.0)
    weights, lengths = s * s, loss.squares @ (s * s)
    for index in (np.int32, np.int64):
        received, products = np.zeros(70), np.zeros(12)
        total = _native.align_rows(
            loss.rows,
            2 * weights,
            -lengths,
            1.0,
            graph.data,
            graph.indices.astype(index),
            graph.indptr.astype(index),
            loss.means,
            loss.mean,
            True,
            received,
            products,
            isa=isa,
        )
        expected = KernelAlignment(X.toarray(), graph, 1.0)
        np.testing.assert_allclose(2 * total + 70 * loss.mean - 2 * loss.means.sum(), expected.aligned(s)[0])
        np.testing.assert_allclose(
            4 * (loss.squares.T @ received - 2 * products), expected.aligned(s, everywhere=True)[1], atol=1e-10
        )


def test_threads_do_not_change_a_digit(rng):
    X = sp.random_array((150, 30), density=0.1, rng=rng, format="csr")
    graph, s = neighbor_graph(X, 4), rng.random(30)
    one, three = (KernelAlignment(X, graph, 1.0, threads).aligned(s) for threads in (1, 3))
    assert one[0] == three[0]
    np.testing.assert_array_equal(one[1], three[1])


def test_blocks_of_dense_rows(rng, monkeypatch):
    X, s = rng.random((50, 6)), rng.random(6)
    graph = neighbor_graph(X, 4)
    whole = KernelAlignment(X, graph, 1.0).aligned(s)
    monkeypatch.setattr("vicinal.select._alignment.BLOCK_ENTRIES", 350)
    parts = KernelAlignment(X, graph, 1.0).aligned(s)
    np.testing.assert_allclose(parts[0], whole[0])
    np.testing.assert_allclose(parts[1], whole[1])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"starts": np.zeros(4, np.int32)}, "node per row"),
        ({"targets": np.array([9], np.int32), "weights": np.ones(1), "starts": np.array([0, 0, 1], np.int32)}, "range"),
        ({"products": np.zeros(5)}, "number per column"),
    ],
)
def test_the_compiled_part_refuses_what_does_not_fit(changed, sentence):
    rows = _native.sparse_rows(sp.csr_array(np.eye(2)))
    given = {"weights": np.zeros(0), "targets": np.zeros(0, np.int32), "starts": np.zeros(3, np.int32)}
    given |= {"products": np.zeros(2)} | changed
    with pytest.raises(ValueError, match=sentence):
        _native.align_rows(
            rows,
            np.ones(2),
            np.zeros(2),
            1.0,
            given["weights"],
            given["targets"],
            given["starts"],
            np.zeros(2),
            0.0,
            True,
            np.zeros(2),
            given["products"],
        )

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from vicinal.graphs import laplacian, leading_eigenvectors, neighbor_graph, smooth_eigenvectors


def slow_nearest(X, k):
    squared = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    indices = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(squared, indices, axis=1)


def random_graph(rng, n, density=0.2):
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return W + W.T


def blocks_of(rng, sizes):
    """A graph of separate complete parts with random weights."""
    return sp.block_diag([random_graph(rng, size, 1.0) for size in sizes], format="csr").toarray()


@pytest.fixture(params=["dense", "csr_matrix", "csr_array", "float32"])
def convert(request):
    return {
        "dense": np.asarray,
        "csr_matrix": sp.csr_matrix,
        "csr_array": sp.csr_array,
        "float32": lambda X: np.asarray(X, dtype=np.float32),
    }[request.param]


@pytest.mark.parametrize("weights", ["binary", "heat", "cosine"])
def test_neighbor_graph_by_its_definition(rng, convert, weights):
    X = rng.normal(size=(40, 6)).astype(np.float32).astype(np.float64)
    indices, squared = slow_nearest(X, 5)
    edges = np.zeros((40, 40), dtype=bool)
    np.put_along_axis(edges, indices, True, axis=1)
    edges |= edges.T
    squared = cdist(X, X, "sqeuclidean")
    if weights == "binary":
        expected = edges * 1.0
    elif weights == "heat":
        expected = edges * np.exp(-squared / squared[edges].mean())
    else:
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        expected = edges * np.maximum(unit @ unit.T, 0)
    W = neighbor_graph(convert(X), 5, weights=weights)
    assert W.format == "csr"
    assert W.dtype == np.float64
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-6 if convert is not np.asarray else 1e-12)
    assert (W != W.T).nnz == 0
    assert (W.data > 0).all()
    assert not W.diagonal().any()


@pytest.mark.parametrize("factor", [2.0**-700, 2.0**700])
@pytest.mark.parametrize("weights", ["binary", "heat", "cosine"])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_graph_does_not_depend_on_the_scale_of_the_values(rng, convert, weights, factor):
    X = rng.normal(size=(30, 5))
    expected = neighbor_graph(X, 4, weights=weights).toarray()
    np.testing.assert_allclose(neighbor_graph(convert(X * factor), 4, weights=weights).toarray(), expected, rtol=1e-12)


def test_bandwidth_is_used():
    W = neighbor_graph(np.array([[0.0], [2.0]]), 1, weights="heat", bandwidth=8.0)
    assert W.toarray()[0, 1] == np.exp(-0.5)


def test_equal_rows_have_edges_of_weight_one():
    assert (neighbor_graph(np.ones((6, 2)), 2, weights="heat").data == 1).all()


def test_more_neighbors_than_rows(rng):
    X = rng.normal(size=(4, 2))
    assert np.array_equal(neighbor_graph(X, 100).toarray(), 1 - np.eye(4))


def test_rows_of_zeros_have_no_cosine():
    W = neighbor_graph(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 2, weights="cosine")
    assert np.array_equal(W.toarray(), [[0, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_permuted_rows_permute_the_graph(rng, convert):
    X = rng.normal(size=(30, 4))
    order = rng.permutation(30)
    W = neighbor_graph(convert(X), 3, weights="heat").toarray()
    permuted = neighbor_graph(convert(X[order]), 3, weights="heat").toarray()
    np.testing.assert_allclose(permuted, W[np.ix_(order, order)], rtol=1e-10)


def test_laplacian_rows_sum_to_zero(rng):
    W = neighbor_graph(rng.normal(size=(50, 3)), 5, weights="heat")
    L = laplacian(W)
    assert np.abs(L.sum(axis=1)).max() < 1e-14
    np.testing.assert_allclose(L.toarray(), np.diag(W.toarray().sum(axis=1)) - W.toarray())
    f = rng.normal(size=50)
    differences = (f[:, None] - f[None, :]) ** 2
    assert f @ (L @ f) == pytest.approx(0.5 * (W.toarray() * differences).sum())


def test_normalized_laplacian(rng):
    W = random_graph(rng, 20)
    W[3] = W[:, 3] = 0  # no edges
    degrees = W.sum(axis=1)
    scale = np.array([1 / np.sqrt(d) if d > 0 else 0 for d in degrees])
    N = laplacian(W, normalized=True).toarray()
    np.testing.assert_allclose(N, scale[:, None] * (np.diag(degrees) - W) * scale, atol=1e-15)
    assert not N[3].any()
    values = np.linalg.eigvalsh(N)
    assert values.min() > -1e-12
    assert values.max() < 2 + 1e-12


few_and_many_rows = pytest.mark.parametrize("n", [60, 1100])  # for a dense solver, and for an iterative one


def check_solutions(W, values, vectors):
    degrees = W.sum(axis=1)
    L = np.diag(degrees) - W
    np.testing.assert_allclose(L @ vectors, degrees[:, None] * vectors * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ (degrees[:, None] * vectors), np.eye(len(values)), atol=1e-10)
    np.testing.assert_allclose(degrees @ vectors, 0, atol=1e-8)
    assert (np.diff(values) >= -1e-12).all()


@few_and_many_rows
def test_smooth_eigenvectors_solve_the_problem(rng, n):
    W = neighbor_graph(rng.normal(size=(n, 3)), 5, weights="heat").toarray()
    assert connected_components(W)[0] == 1
    values, vectors = smooth_eigenvectors(W, 6)
    check_solutions(W, values, vectors)
    expected = eigh(np.diag(W.sum(axis=1)) - W, np.diag(W.sum(axis=1)), eigvals_only=True)
    np.testing.assert_allclose(values, expected[1:7], atol=1e-9)


@few_and_many_rows
def test_separate_parts(rng, n):
    W = blocks_of(rng, [4, n // 3 * 2, 12, n // 3 + 3])
    order = rng.permutation(len(W))
    values, vectors = smooth_eigenvectors(W, 5)
    check_solutions(W, values, vectors)
    assert np.array_equal(values[:3], np.zeros(3))
    assert values[3] > 0.1
    middle = 4 + n // 3 * 2
    heaviest_first = [range(4, middle), range(middle + 12, len(W)), range(middle, middle + 12), range(4)]
    for j in range(3):
        part, lighter = vectors[heaviest_first[j], j], vectors[np.concatenate(heaviest_first[j + 1 :]), j]
        assert np.ptp(part) < 1e-12
        assert np.ptp(lighter) < 1e-12
        assert part[0] * lighter[0] < 0
        assert not vectors[np.concatenate([[], *heaviest_first[:j]]).astype(int), j].any()
    permuted_values, permuted = smooth_eigenvectors(W[np.ix_(order, order)], 5)
    np.testing.assert_allclose(permuted_values, values, atol=1e-10)
    np.testing.assert_allclose(permuted, vectors[order], atol=1e-7)


def test_more_parts_than_vectors(rng):
    W = blocks_of(rng, [5] * 8)
    values, vectors = smooth_eigenvectors(W, 3)
    check_solutions(W, values, vectors)
    assert not values.any()


@few_and_many_rows
def test_rows_without_edges_are_zero(rng, n):
    W = np.zeros((n + 4, n + 4))
    W[2:-2, 2:-2] = random_graph(rng, n, 0.5)
    values, vectors = smooth_eigenvectors(W, 4)
    check_solutions(W, values, vectors)
    assert (values > 0.01).all()
    assert not vectors[[0, 1, -2, -1]].any()


def test_all_vectors_of_a_bipartite_graph():
    """Its largest eigenvalue is 2: the constant vector must not be mixed up with it."""
    W = np.zeros((6, 6))
    W[:3, 3:] = W[3:, :3] = 1
    values, vectors = smooth_eigenvectors(W, 5)
    check_solutions(W, values, vectors)
    np.testing.assert_allclose(values, [1, 1, 1, 1, 2], atol=1e-12)


@few_and_many_rows
def test_signs_do_not_depend_on_the_order_of_rows(rng, n):
    W = neighbor_graph(rng.normal(size=(n, 2)), 4, weights="heat").toarray()
    order = rng.permutation(n)
    _, vectors = smooth_eigenvectors(W, 4)
    _, permuted = smooth_eigenvectors(W[np.ix_(order, order)], 4)
    np.testing.assert_allclose(permuted, vectors[order], atol=1e-6)
    scaled = np.sqrt(W.sum(axis=1))[:, None] * vectors
    assert (scaled.max(axis=0) == np.abs(scaled).max(axis=0)).all()
    assert np.array_equal(smooth_eigenvectors(W, 4)[1], vectors)


def test_bad_input(rng):
    X = rng.normal(size=(5, 2))
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1; got 0"):
        neighbor_graph(X, 0)
    with pytest.raises(ValueError, match="weights must be one of 'binary', 'heat', 'cosine'; got 'rbf'"):
        neighbor_graph(X, 2, weights="rbf")
    with pytest.raises(ValueError, match="bandwidth must be a number above 0; got 0"):
        neighbor_graph(X, 2, weights="heat", bandwidth=0)
    with pytest.raises(ValueError, match=r"as many columns as rows, one of each per node; its shape is \(5, 2\)"):
        laplacian(X)
    with pytest.raises(ValueError, match="negative weights"):
        laplacian(-np.ones((2, 2)))
    with pytest.raises(ValueError, match="must be symmetric"):
        smooth_eigenvectors(np.triu(np.ones((4, 4))), 1)
    with pytest.raises(
        ValueError, match="3 eigenvectors are wanted, but 3 rows of the graph have an edge, which gives 2"
    ):
        smooth_eigenvectors(neighbor_graph(X[:3], 1), 3)
    with pytest.raises(ValueError, match="but 0 rows of the graph have an edge, which gives 0 at most"):
        smooth_eigenvectors(np.zeros((3, 3)), 1)


@pytest.mark.parametrize("n", [40, 1500])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_leading_eigenvectors_are_those_of_the_dense_matrix(n, rank):
    """Also where the matrix is too large to be made dense."""
    random = np.random.RandomState(0)
    S = sp.random(n, n, 8 / n, format="csr", random_state=random)
    S = sp.csr_array(S + S.T)
    less = random.normal(size=(n, rank)) / np.sqrt(n) if rank else None
    values, vectors = leading_eigenvectors(S, 3, less=less)
    dense = S.toarray() - (less @ less.T if rank else 0)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[::-1][:3], atol=1e-8)
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)
    assert np.all(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(3)] > 0)


def test_leading_eigenvectors_need_a_square_matrix_and_enough_rows():
    for S, n_vectors in ((np.ones((3, 2)), 1), (np.eye(3), 4)):
        with pytest.raises(ValueError, match="S must be square with at least"):
            leading_eigenvectors(S, n_vectors)

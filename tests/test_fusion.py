"""Several graphs made one: equations, one view, rows without edges, and the numbers of similarity network fusion."""

import os

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import _fusion, datasets
from vicinal._fusion import cut_to_neighbors, diffuse, fill_empty_rows, transitions
from vicinal._magnitudes import unit_rows
from vicinal.graphs import fuse_graphs, neighbor_graph, scaled_similarities


def planted(rng, n=90, n_views=2, spread=1.0):
    labels = np.arange(n) % 3
    return [rng.normal(size=(3, 4))[labels] + spread * rng.normal(size=(n, 4)) for _ in range(n_views)], labels


def share_within(graph, labels):
    first, second = graph.nonzero()
    return (labels[first] == labels[second]).mean()


def walks_of(rng, n_views, n=25):
    return [transitions(neighbor_graph(rng.normal(size=(n, 3)), 4)) for _ in range(n_views)]


def symmetric_starts(walks):
    return [((walk + walk.T) / 2).toarray().astype(np.float32) for walk in walks]


def test_transitions_sum_to_one_and_leave_their_row():
    graph = np.array([[5.0, 1, 3, 0], [1, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0]])
    walk = transitions(graph).toarray()
    np.testing.assert_allclose(walk, [[0, 0.25, 0.75, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    assert graph[0, 0] == 5


@pytest.mark.parametrize("t", [1, 2, 4])
def test_closed_form_of_two_views(rng, t):
    """(6.4), with its middle factors in the right order: (P1 P2)^t P1 (P2' P1')^t after 2t iterations."""
    P1, P2 = (walk.toarray() for walk in walks_of(rng, 2))
    found = []
    sparse = [sp.csr_array(P1), sp.csr_array(P2)]
    diffuse(sparse, symmetric_starts(sparse), 0.0, 2 * t, 0.0, 1, lambda now: found.append([m.copy() for m in now]))
    left = np.linalg.matrix_power(P1 @ P2, t)
    expected = left @ P1 @ np.linalg.matrix_power(P2.T @ P1.T, t)
    np.testing.assert_allclose(found[-1][0], (expected + expected.T) / 2, rtol=1e-4)
    left = np.linalg.matrix_power(P2 @ P1, t)
    expected = left @ P2 @ np.linalg.matrix_power(P1.T @ P2.T, t)
    np.testing.assert_allclose(found[-1][1], (expected + expected.T) / 2, rtol=1e-4)


@pytest.mark.parametrize("n_views", [1, 2, 3, 4])
def test_iterations_of_any_number_of_views(rng, n_views):
    """(6.8) with + alpha I; for two views it is (6.6) and (6.7), and one view takes the others' part itself."""
    walks = walks_of(rng, n_views)
    matrices = [walk.toarray() for walk in walks]
    for _ in range(5):
        others = [[m for w, m in enumerate(matrices) if w != v] or matrices for v in range(n_views)]
        matrices = [
            walk @ (sum(rest) / len(rest)) @ walk.T.toarray() + 0.3 * np.eye(25)
            for walk, rest in zip(walks, others, strict=True)
        ]
    expected = sum(matrices) / n_views
    found = diffuse(walks, symmetric_starts(walks), 0.3, 5, 0.0, 1)
    np.testing.assert_allclose(found, (expected + expected.T) / 2, rtol=1e-4)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("regularization", [0.01, 1.0])
def test_it_ends_when_the_centred_matrix_stays(rng, regularization):
    """Uncentred it grows by each iteration; centred it has a limit where the walks can go everywhere."""
    views, _ = planted(rng, n=40)
    walks = [transitions(neighbor_graph(view, 8)) for view in views]
    seen = []
    diffuse(walks, symmetric_starts(walks), regularization, 500, 1e-3, 1, lambda now: seen.append(sum(now) / 2))
    assert 3 < len(seen) < 500
    H = np.eye(40) - 1 / 40
    changed, length = (np.linalg.norm(H @ matrix @ H) for matrix in (seen[-1] - seen[-2], seen[-1]))
    assert changed <= 1.1e-3 * length
    assert seen[-1].sum() > seen[-2].sum()
    before, length = (np.linalg.norm(H @ matrix @ H) for matrix in (seen[-2] - seen[-3], seen[-2]))
    assert before > 0.9e-3 * length


@pytest.mark.parametrize("n_views", [2, 3])
def test_fused_edges_lie_within_classes_more_than_those_of_any_view(rng, n_views):
    views, labels = planted(rng, n_views=n_views)
    graphs = [neighbor_graph(view) for view in views]
    fused = fuse_graphs(graphs)
    assert share_within(fused, labels) > max(share_within(graph, labels) for graph in graphs) + 0.03
    assert (fused != fused.T).nnz == 0
    assert not fused.diagonal().any()
    assert (np.diff(fused.indptr) >= 5).all()
    assert set(fused.data) == {1.0}


@pytest.mark.skipif(not os.environ.get("VICINAL_DATA"), reason="VICINAL_DATA is not set: this test needs real data")
def test_fused_edges_of_bbc_sport():
    sample = datasets.load("mv_bbcsport2")
    views = [unit_rows(sp.csr_array(sample.X[:, columns], dtype=np.float64)) for columns in sample.views.values()]
    graphs = [neighbor_graph(view) for view in views]
    shares = [share_within(graph, sample.y) for graph in graphs]
    np.testing.assert_allclose(shares, [0.912, 0.881], atol=0.001)
    for regularization in (0.01, 1.0):
        assert share_within(fuse_graphs(graphs, regularization=regularization), sample.y) > max(shares) + 0.015


def test_weights_and_kinds_of_graphs(rng):
    views, _ = planted(rng, n=40)
    for weights in ("binary", "heat", "cosine"):
        graphs = [neighbor_graph(view, weights=weights) for view in views]
        fused = fuse_graphs(graphs, weights="fused")
        assert (fused != fuse_graphs([graph.toarray() for graph in graphs], weights="fused")).nnz == 0
        whole = fuse_graphs(graphs, None)
        assert whole.dtype == np.float32
        np.testing.assert_allclose(fused.data, whole[fused.nonzero()])
        assert fused.data.min() > 0


def test_rows_without_edges_in_one_view_follow_the_others(rng):
    views, labels = planted(rng, spread=0.3)
    graphs = [neighbor_graph(view) for view in views]
    broken = graphs[0].toarray()
    broken[:10], broken[:, :10] = 0, 0
    fused = fuse_graphs([broken, graphs[1]])
    assert (np.diff(fused.indptr)[:10] >= 5).all()
    assert share_within(fused[:10], labels) > 0.9
    walks = [transitions(broken), transitions(graphs[1])]
    filled = fill_empty_rows(walks)
    np.testing.assert_allclose(filled[0].toarray()[:10], walks[1].toarray()[:10])
    np.testing.assert_allclose(filled[0].toarray()[10:], walks[0].toarray()[10:])
    alone = graphs[0].toarray() * 0
    np.testing.assert_array_equal(fuse_graphs([alone, graphs[1]]).toarray(), fuse_graphs([graphs[1]] * 2).toarray())
    assert fuse_graphs([alone, alone]).nnz == 0


def test_the_same_on_any_number_of_threads_and_in_any_order_of_rows(rng):
    views, _ = planted(rng, n=70, n_views=3)
    graphs = [neighbor_graph(view) for view in views]
    once = fuse_graphs(graphs, None, n_jobs=1)
    np.testing.assert_array_equal(once, fuse_graphs(graphs, None, n_jobs=3))
    order = rng.permutation(70)
    np.testing.assert_allclose(
        fuse_graphs([graph[order][:, order] for graph in graphs], None), once[order][:, order], rtol=1e-4
    )


def test_the_cut_takes_the_first_of_equal_entries():
    fused = np.ones((4, 4), np.float32)
    fused[3, 2] = fused[2, 3] = 2
    fused[0, 3] = fused[3, 0] = 0
    found = cut_to_neighbors(fused, 1).toarray()
    np.testing.assert_array_equal(found, [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    assert cut_to_neighbors(fused, 9).nnz == 10


def plain_snf(similarities, K, t, alpha):
    """Wang et al. 2014 in dense steps, with the normalisations of snfpy."""
    symmetric = lambda matrix: (matrix + matrix.T) / 2  # noqa: E731
    now = [symmetric(matrix / matrix.sum(axis=1, keepdims=True)) for matrix in similarities]
    local = []
    for matrix in now:
        least = np.percentile(matrix, 100 - 100 * K / len(matrix), axis=1, keepdims=True)
        kept = np.where(matrix < least, 0, matrix)
        local.append(kept / kept.sum(axis=1, keepdims=True))
    for _ in range(t):
        total = sum(now)
        now = [
            symmetric(P @ (total - matrix) @ P.T / (len(now) - 1) + alpha * np.eye(len(P)))
            for P, matrix in zip(local, now, strict=True)
        ]
    mean = sum(now) / len(now)
    return symmetric(mean / mean.sum(axis=1, keepdims=True)) + np.eye(len(mean)) / 2


@pytest.mark.parametrize("n_views", [2, 3])
def test_similarity_network_fusion(rng, n_views):
    views, labels = planted(rng, n=60, n_views=n_views)
    similarities = [scaled_similarities(view, 10) for view in views]
    found = fuse_graphs(similarities, None, method="snf", n_local=10, tol=1e-9)
    np.testing.assert_allclose(found, plain_snf(similarities, 10, 20, 1.0), rtol=1e-4)
    cut = fuse_graphs(similarities, 5, method="snf", n_local=10)
    assert share_within(cut, labels) > 0.7
    with_zeros = [np.where(matrix < 1e-4, 0, matrix) for matrix in similarities]
    np.testing.assert_array_equal(
        fuse_graphs(with_zeros, None, method="snf"),
        fuse_graphs(list(map(sp.csr_array, with_zeros)), None, method="snf"),
    )


def test_the_numbers_of_snfpy():
    """What its version 0.2.2 gives: make_affinity(..., K=3, mu=0.5, normalize=False) and snf(..., K=3)."""
    views = [
        [[3, 6, -9], [-6, -6, -2], [0, 9, -5], [-3, 3, -8], [-3, -2, 5], [8, -4, 4], [-1, 0, 7], [-4, 6, 6]],
        [[-9, 9, -6], [8, 5, -2], [-9, -8, 0], [-9, 1, -6], [2, 9, -7], [-9, -9, -5], [-4, -3, -1], [8, 6, -5]],
    ]
    similarities = [scaled_similarities(np.array(view, float), 3) for view in views]
    first_row = [1.01426003e-02, 2.41372381e-05, 7.02272255e-03, 5.14373752e-03]
    np.testing.assert_allclose(similarities[0][0, :4], first_row, rtol=1e-7)
    fused = fuse_graphs(similarities, None, method="snf", n_local=3, tol=1e-9)
    first_row = [0.72320812, 0.07552908, 0.14511605, 0.1657912, 0.08384989, 0.12535647, 0.09319578, 0.07740889]
    np.testing.assert_allclose(fused[0], first_row, rtol=1e-5)
    np.testing.assert_allclose(fused[3, 3:6], [0.73029918, 0.08464273, 0.11951784], rtol=1e-5)


@pytest.mark.parametrize(
    ("graphs", "given", "sentence"),
    [
        ([], {}, "There are no graphs"),
        ([np.zeros((3, 3)), np.zeros((4, 4))], {}, "have 3, 4 rows; all must be between the same rows"),
        (np.zeros((3, 3)), {}, "must be a list of matrices"),
        (sp.csr_array((3, 3)), {}, "must be a list of matrices"),
        ([np.zeros((3, 4))], {}, r"graphs\[0\] must have as many columns as rows"),
        ([np.triu(np.ones((3, 3)))], {}, r"graphs\[0\] must be symmetric"),
        ([np.zeros((3, 3)), -np.ones((3, 3))], {}, r"graphs\[1\] has negative weights"),
        ([np.zeros((1, 1))], {}, "one row"),
        ([np.ones((3, 3))], {"n_neighbors": 0}, "n_neighbors must be"),
        ([np.ones((3, 3))], {"regularization": -0.1}, "regularization must be a number of at least 0"),
        ([np.ones((3, 3))], {"max_iter": 0}, "max_iter"),
        ([np.ones((3, 3))], {"tol": 0}, "tol"),
        ([np.ones((3, 3))], {"method": "mean"}, "method must be one of"),
        ([np.ones((3, 3))], {"weights": "heat"}, "weights must be one of"),
        ([np.ones((3, 3))], {"method": "snf", "n_local": 0}, "n_local"),
    ],
)
def test_bad_input(graphs, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        fuse_graphs(graphs, **given)


def test_what_does_not_fit_into_memory(monkeypatch):
    graph = sp.csr_array((10**6, 10**6))
    with pytest.raises(MemoryError, match=r"^4 matrices of 1000000 x 1000000 numbers need 1.6e[+]04 GB"):
        fuse_graphs([graph, graph])
    monkeypatch.setattr(_fusion, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"3 matrices of 300 x 300 numbers need 0\.00216 GB .* take fewer rows"):
        scaled_similarities(np.zeros((300, 2)))


def test_a_row_without_any_neighbour_stays_alone():
    graph = np.zeros((6, 6))
    graph[:5, :5] = 1
    fused = fuse_graphs([graph, graph], None, method="snf", regularization=0, n_local=2)
    assert np.isfinite(fused).all()
    assert not fused[5, :5].any()
    with pytest.raises(ValueError, match="regularization must be at most 1e"):
        fuse_graphs([graph], regularization=1e39)

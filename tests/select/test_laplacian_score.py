import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import LaplacianScore
from vicinal.graphs import neighbor_graph
from vicinal.select._laplacian_score import degree_spread, edge_differences


def planted(rng, n=120, n_informative=5, n_noise=20):
    """Three clusters in the first columns, noise of the same variance in the others."""
    centers = 4 * rng.normal(size=(3, n_informative))
    informative = centers[np.arange(n) % 3] + rng.normal(size=(n, n_informative))
    X = np.hstack([informative, rng.normal(size=(n, n_noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def slow_scores(X, W):
    """He, Cai, Niyogi (2005), column by column, with everything dense."""
    W = W.toarray()
    degrees = W.sum(axis=1)
    scores = []
    for f in np.asarray(X, dtype=np.float64).T:
        f = f - f @ degrees / degrees.sum()
        scores.append(-(f @ (np.diag(degrees) - W) @ f) / (f @ np.diag(degrees) @ f))
    return np.array(scores)


@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_scores_by_the_formula(rng, weights, convert):
    X = rng.random((50, 8)) * (rng.random((50, 8)) < 0.4)
    scores = LaplacianScore(n_neighbors=4, weights=weights).fit(convert(X)).scores_
    np.testing.assert_allclose(scores, slow_scores(X, neighbor_graph(X, 4, weights=weights)), rtol=1e-10)


def test_sparse_equals_dense_in_single_precision(rng):
    X = (rng.random((40, 6)) * (rng.random((40, 6)) < 0.5)).astype(np.float32)
    dense, sparse = LaplacianScore().fit(X), LaplacianScore().fit(sp.csr_array(X))
    np.testing.assert_allclose(dense.scores_, sparse.scores_, rtol=1e-10)
    assert dense.scores_.dtype == np.float64


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_nothing_cancels_far_from_the_origin(rng, convert):
    X = rng.integers(0, 50, size=(60, 4)).astype(float)
    scores = LaplacianScore().fit(X).scores_
    np.testing.assert_allclose(LaplacianScore().fit(convert(X + 2.0**40)).scores_, scores, rtol=1e-9)


def test_planted_columns_win(rng):
    selector = LaplacianScore(5).fit(planted(rng))
    assert selector.support_[:5].all()
    assert selector.support_.sum() == 5


def test_copies_score_alike(rng):
    """Columns are looked at one by one: a copy of the best column displaces a planted one, by construction."""
    X = planted(rng)
    best = np.argmax(LaplacianScore().fit(X).scores_)
    selector = LaplacianScore(5).fit(np.hstack([X, X[:, [best]]]))
    assert selector.scores_[-1] == selector.scores_[best]
    assert selector.support_[-1]
    assert not selector.support_[:5].all()


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
def test_constant_columns_are_the_worst(rng, convert, weights):
    X = np.column_stack([rng.random(30), np.full(30, 0.1), np.zeros(30), rng.random(30), np.full(30, -1e9 / 3)])
    scores = LaplacianScore(weights=weights).fit(convert(X)).scores_
    assert np.array_equal(scores[[1, 2, 4]], [-2, -2, -2])
    assert (scores[[0, 3]] > -2).all()


def test_only_constant_columns():
    assert np.array_equal(LaplacianScore().fit(np.ones((5, 3))).scores_, [-2, -2, -2])


def test_the_worst_possible_column():
    """Two rows that are joined, and differ."""
    assert LaplacianScore("all").fit([[0.0], [1.0]]).scores_ == pytest.approx([-2])


def test_rows_without_edges_do_not_count(rng):
    """Cosines with a row of zeros are 0; a column constant on all other rows is constant."""
    X = np.vstack([np.zeros((1, 4)), rng.random((20, 4)) + 0.1])
    X[1:, 2] = 0.7
    scores = LaplacianScore(weights="cosine").fit(X).scores_
    assert scores[2] == -2
    W = neighbor_graph(X, 5, weights="cosine")
    assert W.sum(axis=1)[0] == 0
    np.testing.assert_allclose(scores[[0, 1, 3]], slow_scores(X[:, [0, 1, 3]], W), rtol=1e-10)


def test_a_graph_without_edges():
    assert np.array_equal(LaplacianScore(weights="cosine").fit(np.eye(4)).scores_, np.full(4, -2.0))


def test_duplicated_rows_and_separate_parts(rng):
    """Four heaps of copies: what is constant in each heap has no differences along edges."""
    heap = np.repeat(np.arange(4), 10)
    X = np.column_stack([10.0 * heap, rng.normal(size=40) * 1e-3, (heap % 2) * 10.0])
    scores = LaplacianScore(n_neighbors=5).fit(X).scores_
    assert scores[0] == scores[2] == 0
    assert scores[1] < -0.2
    X = rng.normal(size=(8, 3))[heap]
    assert np.array_equal(LaplacianScore(n_neighbors=5).fit(X).scores_, np.zeros(3))


def test_permutations(rng):
    X = planted(rng, n=40)
    rows, columns = rng.permutation(40), rng.permutation(25)
    scores = LaplacianScore().fit(X).scores_
    np.testing.assert_allclose(LaplacianScore().fit(X[rows]).scores_, scores, rtol=1e-10)
    np.testing.assert_allclose(LaplacianScore().fit(X[:, columns]).scores_, scores[columns], rtol=1e-10)


def test_labels_are_not_read(rng):
    X = planted(rng, n=40)
    unlabelled, labelled = LaplacianScore().fit(X), LaplacianScore().fit(X, rng.integers(0, 2, 40))
    assert np.array_equal(unlabelled.scores_, labelled.scores_)


def test_more_neighbors_than_rows(rng):
    X = rng.normal(size=(6, 3))
    assert np.array_equal(LaplacianScore(n_neighbors=50).fit(X).scores_, LaplacianScore(n_neighbors=5).fit(X).scores_)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_many_edges_and_columns_are_no_different_from_few(rng, convert):
    """More than the eight million differences that are held at a time."""
    X = rng.integers(0, 3, size=(1500, 1500)).astype(float)
    W = neighbor_graph(X[:, :4], 5)
    assert W.nnz * X.shape[1] / 2 > 2**23
    assert np.array_equal(edge_differences(convert(X), W)[:5], edge_differences(convert(X[:, :5]), W))


def test_entries_given_twice_are_added(rng):
    X = sp.csr_array(rng.random((30, 5)) * (rng.random((30, 5)) < 0.5))
    twice = sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    np.testing.assert_allclose(LaplacianScore().fit(twice).scores_, LaplacianScore().fit(X.toarray()).scores_)
    assert twice.nnz == 2 * X.nnz


def test_spread_of_explicit_zeros():
    X = sp.csr_array(np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 2.0]]))
    X.data[0] = 0
    W = neighbor_graph(X, 2)
    np.testing.assert_allclose(degree_spread(X, W), degree_spread(X.toarray(), W))


def test_bad_parameters(rng):
    X = rng.normal(size=(10, 3))
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1; got 0"):
        LaplacianScore(n_neighbors=0).fit(X)
    with pytest.raises(ValueError, match="weights must be one of 'binary', 'heat', 'cosine'; got 'flat'"):
        LaplacianScore(weights="flat").fit(X)
    with pytest.raises(ValueError, match="n_features_to_select=4, but X has 3 features"):
        LaplacianScore(4).fit(X)

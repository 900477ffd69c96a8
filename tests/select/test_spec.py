import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import SPEC, LaplacianScore
from vicinal.graphs import neighbor_graph
from vicinal.select._spec import _roughness

CRITERIA = ["centered", "total", "leading"]


def planted(rng, n=120, n_informative=5, n_noise=20):
    """Three clusters in the first columns, noise of the same variance in the others."""
    centers = 4 * rng.normal(size=(3, n_informative))
    informative = centers[np.arange(n) % 3] + rng.normal(size=(n, n_informative))
    X = np.hstack([informative, rng.normal(size=(n, n_noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def slow_scores(X, W, criterion, power, n_vectors):
    """Zhao, Liu (2007), from all eigenvectors of the dense normalised Laplacian."""
    W = W.toarray()
    degrees = W.sum(axis=1)
    N = np.eye(len(W)) - W / np.sqrt(np.outer(degrees, degrees))
    values, vectors = np.linalg.eigh(N)
    trivial = np.sqrt(degrees / degrees.sum())
    np.testing.assert_allclose(np.abs(vectors[:, 0]), trivial, atol=1e-8)  # one part: the first is the trivial one
    scores = []
    for f in np.asarray(X, dtype=np.float64).T:
        h = np.sqrt(degrees) * f
        h /= np.linalg.norm(h)
        shares = (h @ vectors) ** 2
        total = shares @ np.maximum(values, 0) ** power
        if criterion == "total":
            scores.append(-total)
        elif criterion == "centered":
            scores.append(-total / (1 - (h @ trivial) ** 2))
        else:
            scores.append(shares[1 : n_vectors + 1] @ (2**power - values[1 : n_vectors + 1] ** power))
    return np.array(scores)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_scores_by_the_formula(rng, criterion, power, convert):
    X = rng.random((60, 9)) * (rng.random((60, 9)) < 0.5)
    selector = SPEC(criterion=criterion, power=power, n_vectors=3, n_neighbors=6).fit(convert(X))
    expected = slow_scores(X, neighbor_graph(X, 6, weights="heat"), criterion, power, 3)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-8)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("power", [1, 2, 3])
def test_smooth_columns_rank_above_noise(rng, criterion, power):
    """On a ring of rows, waves of rising frequency are rougher and rougher, and noise is the roughest."""
    angles = 2 * np.pi * np.arange(80) / 80
    waves = np.column_stack([np.cos(frequency * angles) for frequency in (1, 2, 3, 4)])
    ring = 100 * np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.hstack([ring, waves, rng.normal(size=(80, 3))])
    scores = SPEC(criterion=criterion, power=power, n_vectors=8, n_neighbors=2).fit(X).scores_
    assert (np.diff(scores[2:6]) < 0).all()
    assert scores[2:6].min() > scores[6:].max()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_planted_columns_win(rng, criterion):
    selector = SPEC(5, criterion=criterion, n_vectors=2).fit(planted(rng))
    assert selector.support_[:5].all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_copies_score_alike(rng, criterion):
    """Columns are looked at one by one: a copy of the best column displaces a planted one, by construction."""
    X = planted(rng)
    best = np.argmax(SPEC(criterion=criterion, n_vectors=2).fit(X).scores_)
    selector = SPEC(5, criterion=criterion, n_vectors=2).fit(np.hstack([X, X[:, [best]]]))
    assert selector.scores_[-1] == pytest.approx(selector.scores_[best], rel=1e-12)
    assert not selector.support_[:5].all()


def test_centered_is_the_laplacian_score(rng):
    X = planted(rng, n=50)
    assert np.array_equal(SPEC().fit(X).scores_, LaplacianScore().fit(X).scores_)


def test_total_takes_a_large_mean_for_smoothness(rng):
    """The flaw that "centered" mends: shifted, the same noise ranks first."""
    X = planted(rng)
    shifted = X + np.where(np.arange(25) == 24, 100, 0)
    assert np.argmax(SPEC(criterion="total").fit(shifted).scores_) == 24
    centered = SPEC(criterion="centered")
    np.testing.assert_allclose(centered.fit(shifted).scores_, centered.fit(X).scores_, rtol=1e-9)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_nothing_cancels_far_from_the_origin(rng, power):
    X = rng.integers(0, 50, size=(60, 4)).astype(float)
    scores = SPEC(power=power).fit(X).scores_
    np.testing.assert_allclose(SPEC(power=power).fit(X + 2.0**40).scores_, scores, rtol=1e-7)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_are_the_worst(rng, criterion, power, convert):
    X = np.column_stack([rng.random(30), np.full(30, 0.1), np.zeros(30), rng.random(30), np.full(30, -1e9 / 3)])
    scores = SPEC(criterion=criterion, power=power).fit(convert(X)).scores_
    assert np.array_equal(scores[[1, 2, 4]], np.full(3, 0.0 if criterion == "leading" else -(2.0**power)))
    assert (scores[[0, 3]] > scores[1]).all()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_only_constant_columns(criterion):
    assert np.ptp(SPEC(criterion=criterion).fit(np.ones((9, 3))).scores_) == 0
    assert np.ptp(SPEC(criterion=criterion, weights="cosine").fit(np.zeros((9, 3))).scores_) == 0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("power", [1, 2])
def test_separate_parts(rng, criterion, power):
    """What is constant in each of four far heaps is as smooth as can be, though not trivial."""
    heap = np.repeat(np.arange(4), 10)
    places = np.array([-9.0, 5.0, -5.0, 9.0])[heap]
    X = np.column_stack([rng.normal(size=(40, 2)) * 1e-3, places, np.sign(places)])
    scores = SPEC(criterion=criterion, power=power, n_vectors=3).fit(X).scores_
    assert scores[2:].min() > scores[:2].max() + 0.2
    # Both are combinations of the parts' indicators; with the constant, three more of them are all there are.
    assert scores[3] == pytest.approx(2**power if criterion == "leading" else 0, abs=1e-2)


def test_duplicated_rows(rng):
    X = np.repeat(rng.normal(size=(8, 3)), 6, axis=0)
    for criterion in CRITERIA:
        assert np.isfinite(SPEC(criterion=criterion).fit(X).scores_).all()
    assert np.array_equal(SPEC().fit(X).scores_, np.zeros(3))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_permutations(rng, criterion):
    X = planted(rng, n=50)
    rows, columns = rng.permutation(50), rng.permutation(25)
    selector = SPEC(criterion=criterion, power=2, n_vectors=3)
    scores = selector.fit(X).scores_
    np.testing.assert_allclose(selector.fit(X[rows]).scores_, scores, rtol=1e-7)
    np.testing.assert_allclose(selector.fit(X[:, columns]).scores_, scores[columns], rtol=1e-7)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_labels_are_not_read(rng, criterion):
    X = planted(rng, n=40)
    selector = SPEC(criterion=criterion)
    assert np.array_equal(selector.fit(X).scores_, selector.fit(X, rng.integers(0, 2, 40)).scores_)


def test_more_neighbors_than_rows(rng):
    X = rng.normal(size=(6, 3))
    assert np.array_equal(SPEC(n_neighbors=50).fit(X).scores_, SPEC(n_neighbors=5).fit(X).scores_)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("power", [2, 3])
@pytest.mark.parametrize("block_values", [1, 61, 30 * 7])  # one column, two columns, all columns at a time
def test_roughness_is_the_same_in_any_blocks(rng, convert, power, block_values):
    X = rng.random((30, 7)) * (rng.random((30, 7)) < 0.5)
    W = neighbor_graph(X, 5, weights="heat")
    degrees = W.toarray().sum(axis=1)
    N = np.eye(30) - W.toarray() / np.sqrt(np.outer(degrees, degrees))
    g = np.sqrt(degrees)[:, None] * X
    expected = np.diag(g.T @ np.linalg.matrix_power(N, power) @ g)
    np.testing.assert_allclose(_roughness(convert(X), W, power, block_values), expected, rtol=1e-12)


def test_bad_parameters(rng):
    X = rng.normal(size=(10, 3))
    with pytest.raises(ValueError, match="criterion must be one of 'centered', 'total', 'leading'; got 'phi_1'"):
        SPEC(criterion="phi_1").fit(X)
    with pytest.raises(ValueError, match=r"power must be a whole number of at least 1; got 0\.5"):
        SPEC(power=0.5).fit(X)
    with pytest.raises(ValueError, match="n_vectors must be a whole number of at least 1; got 0"):
        SPEC(n_vectors=0).fit(X)
    with pytest.raises(ValueError, match="n_vectors=10, but X has 10 samples; criterion='leading' needs fewer vectors"):
        SPEC(criterion="leading", n_vectors=10).fit(X)
    with pytest.raises(ValueError, match="weights must be one of 'binary', 'heat', 'cosine'; got None"):
        SPEC(weights=None).fit(X)

"""Co-regularised spectral clustering: against dense eigenvectors, its ascent, and clusters that no view sees alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from vicinal import _memory
from vicinal.cluster import cluster_views, repeated_kmeans
from vicinal.cluster._agreeing_views import agree, normalized_similarities
from vicinal.metrics import clustering_accuracy
from vicinal.views import stack_views


def two_views(rng, n=60):
    """Four groups; each view tells two pairs of them apart."""
    group = np.arange(n) % 4
    return [
        3.0 * (group // 2)[:, None] + rng.normal(size=(n, 5)),
        3.0 * (group % 2)[:, None] + rng.normal(size=(n, 8)),
    ], group


def similarity_by_hand(X, sigma=None):
    d = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    sigma = np.median(d[np.triu_indices(len(X), 1)]) if sigma is None else sigma
    S = np.exp(-(d**2) / (2 * sigma**2))
    return S / np.sqrt(np.outer(S.sum(axis=1), S.sum(axis=1)))


def leading(A, c):
    return np.linalg.eigh(A)[1][:, -c:]


def plain(N, c, weight, form, n_passes):
    """The alternation as it is written down."""
    U = [leading(sum(N), c)] * len(N)
    centroid, values = U[0], []
    for _ in range(n_passes):
        for v, matrix in enumerate(N):
            others = [centroid] if form == "centroid" else [U[w] for w in range(len(N)) if w != v]
            U[v] = leading(matrix + weight * sum((other @ other.T for other in others), np.zeros_like(matrix)), c)
        value = sum(np.trace(u.T @ matrix @ u) for u, matrix in zip(U, N, strict=True))
        if form == "centroid":
            centroid = leading(sum(u @ u.T for u in U), c)
            value += weight * sum(np.trace(u @ u.T @ centroid @ centroid.T) for u in U)
        else:
            value += weight * sum(np.trace(U[v] @ U[v].T @ U[w] @ U[w].T) for v in range(len(N)) for w in range(v))
        values.append(value)
    return U, centroid, values


def assert_same_space(U, V, atol=1e-6):
    np.testing.assert_allclose(U @ U.T, V @ V.T, atol=atol)


@pytest.mark.parametrize("n", [25, 24, 320])
@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array])
def test_similarities_are_those_of_the_formula(rng, n, as_input):
    X = rng.normal(size=(n, 4)) * (rng.random((n, 4)) < 0.7)
    X[:2] = 0  # empty, and alike
    found = normalized_similarities([as_input(X), as_input(1e160 * X)], None)
    np.testing.assert_allclose(found[0], similarity_by_hand(X), atol=1e-12)
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)
    wide = normalized_similarities([as_input(X)], 2.5)[0]
    np.testing.assert_allclose(wide, similarity_by_hand(X, 2.5), atol=1e-12)


def test_where_most_rows_are_equal_the_others_tell_the_bandwidth(rng):
    X = np.zeros((30, 3))
    X[:6] = rng.normal(size=(6, 3))
    d = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    expected = similarity_by_hand(X, np.median(d[d > 0]))
    np.testing.assert_allclose(normalized_similarities([X + 7], None)[0], expected, atol=1e-12)
    assert normalized_similarities([np.full((5, 2), 0.1), X[:5]], None)[0].shape == (5, 5)
    assert not normalized_similarities([np.full((5, 2), 0.1)], None)


@pytest.mark.parametrize("form", ["pairwise", "centroid"])
@pytest.mark.parametrize("weight", [0.1, 2.0])
@pytest.mark.parametrize("n", [60, 300])  # dense, and by iterations
def test_equal_to_the_plain_alternation(rng, form, weight, n):
    views, _ = two_views(rng, n)
    N = [similarity_by_hand(X) for X in [*views, rng.normal(size=(n, 3))]]
    U, centroid, values = plain(N, 4, weight, form, 6)
    found = agree(N, 4, agreement=weight, form=form, max_iter=6, tol=0)
    np.testing.assert_allclose(found.objective, values, rtol=1e-9)
    for ours, theirs in zip(found.places, U, strict=True):
        assert_same_space(ours, theirs, 1e-4)
    if form == "centroid":
        assert_same_space(found.common, centroid, 1e-4)
    else:
        np.testing.assert_array_equal(found.common, np.hstack(found.places))


@pytest.mark.parametrize("form", ["pairwise", "centroid"])
@pytest.mark.parametrize("weight", [0.01, 0.1, 10.0])
def test_what_is_maximised_never_falls(rng, form, weight):
    N = [similarity_by_hand(rng.normal(size=(230, 6))) for _ in range(3)]
    objective = agree(N, 5, agreement=weight, form=form, max_iter=30, tol=0).objective
    assert np.all(np.diff(objective) >= -1e-12 * objective[-1])
    assert objective[-1] > objective[0]


@pytest.mark.parametrize("n", [60, 260])
def test_without_agreement_each_view_has_its_own_eigenvectors(rng, n):
    views, _ = two_views(rng, n)
    N = [similarity_by_hand(X) for X in views]
    found = agree(N, 2, agreement=0.0, form="pairwise", max_iter=3, tol=0)
    assert found.converged
    assert len(found.objective) == 1
    for U, matrix in zip(found.places, N, strict=True):
        assert_same_space(U, leading(matrix, 2))


def test_one_view_is_spectral_clustering(rng):
    (X, _), _ = two_views(rng)
    expected = repeated_kmeans(leading(similarity_by_hand(X), 2), 2, n_runs=1, n_starts=3)[0]
    assert clustering_accuracy(expected, cluster_views(X, 2, n_runs=1, n_starts=3)[0]) == 1


@pytest.mark.parametrize("form", ["pairwise", "centroid"])
@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array, pd.DataFrame])
def test_clusters_that_the_views_see_only_together_are_found(rng, form, as_input):
    views, group = two_views(rng, 240)
    clusters = cluster_views([as_input(X) for X in views], 4, form=form, n_runs=3, n_starts=5)
    assert clusters.shape == (3, 240)
    assert min(clustering_accuracy(group, labels) for labels in clusters) > 0.95
    for X in views:
        alone = cluster_views(as_input(X), 4, n_runs=1, n_starts=5)[0]
        assert clustering_accuracy(group, alone) < 0.8


def test_views_side_by_side_or_one_by_one(rng):
    views, _ = two_views(rng)
    X, places = stack_views(views)
    expected = cluster_views(views, 4, n_runs=2)
    for described in (places, [5, 8], [list(range(5)), slice(5, 13)]):
        np.testing.assert_array_equal(cluster_views(X, 4, views=described, n_runs=2), expected)
    np.testing.assert_array_equal(cluster_views(X.tolist(), 4, views=places, n_runs=2), expected)


def test_the_order_of_rows_does_not_matter(rng):
    views, _ = two_views(rng, 240)
    order = rng.permutation(240)
    clusters = cluster_views(views, 4, n_runs=1, n_starts=10)[0]
    moved = cluster_views([X[order] for X in views], 4, n_runs=1, n_starts=10)[0]
    assert clustering_accuracy(clusters[order], moved) == 1


def test_a_view_without_differences_and_rows_without_entries(rng):
    views, _ = two_views(rng)
    with_nothing = [*views, np.full((60, 2), 3.0)]
    np.testing.assert_array_equal(cluster_views(with_nothing, 4, n_runs=2), cluster_views(views, 4, n_runs=2))
    views[1][:5] = 0
    assert cluster_views(views, 4, n_runs=1).shape == (1, 60)


@pytest.mark.parametrize("n", [40, 240])
def test_groups_that_do_not_touch_are_found_though_eigenvalues_are_equal(rng, n):
    group = np.arange(n) % 4
    views = [1000.0 * group[:, None] + rng.normal(size=(n, 2)), 1000.0 * group[:, None] + rng.normal(size=(n, 2))]
    clusters = cluster_views(views, 4, bandwidth=10.0, n_runs=1, n_starts=5)[0]
    assert clustering_accuracy(group, clusters) == 1
    assert cluster_views(views, n, n_runs=1).shape == (1, n)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1; got 0"),
        ({"n_clusters": 61}, "n_clusters is 61, but there are only 60 rows"),
        ({"agreement": -0.1}, "agreement must be a number of at least 0; got -0.1"),
        ({"form": "both"}, "form must be one of 'pairwise', 'centroid'; got 'both'"),
        ({"bandwidth": 0}, "bandwidth must be a number above 0; got 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"tol": -1}, "tol must be a number of at least 0"),
        ({"n_runs": 0}, "n_runs must be a whole number of at least 1"),
        ({"X": [np.eye(60), np.eye(59)]}, "View 'view1' has 60 rows and view 'view2' has 59"),
        ({"X": np.eye(60), "views": [50, 9]}, "50 [+] 9 = 59 columns, but X has 60"),
        ({"X": np.full((60, 3), np.nan)}, "NaN"),
        ({"X": np.ones((60, 3))}, "All rows are alike in every view"),
    ],
)
def test_bad_input_is_told_in_one_sentence(rng, more, message):
    with pytest.raises(ValueError, match=message):
        cluster_views(**({"X": two_views(rng)[0], "n_clusters": 4} | more))


def test_what_does_not_fit_and_what_does_not_converge_is_told(rng, monkeypatch):
    views, _ = two_views(rng)
    with pytest.warns(ConvergenceWarning, match=r"cluster_views did not converge in 2 passes over the views; raise"):
        cluster_views(views, 4, max_iter=2, tol=0, n_runs=1)
    monkeypatch.setattr(_memory, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r"all pairs of 60 rows in 2 views need .* GB are available; cluster fewer"):
        cluster_views(views, 4)


def test_matrices_by_name(rng):
    views, _ = two_views(rng)
    by_name = dict(zip(["text", "tags"], views, strict=True))
    np.testing.assert_array_equal(cluster_views(by_name, 4, n_runs=2), cluster_views(views, 4, n_runs=2))
    with pytest.raises(ValueError, match="one per view, so that views="):
        cluster_views(by_name, 4, views=[2, 2])


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        cluster_views([np.ones((1, 2)), np.ones((1, 3))], 1)

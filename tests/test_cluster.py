"""Repeated k-means; SpectralFeatures: the singular vectors that it should find, and the clusters that they show."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from vicinal import SpectralFeatures
from vicinal.cluster import cluster_links, repeated_kmeans
from vicinal.metrics import clustering_accuracy
from vicinal.network import Network


def scaled_by_hand(F):
    rows, columns = F.sum(axis=1), F.sum(axis=0)
    with np.errstate(divide="ignore"):
        by_rows, by_columns = 1 / np.sqrt(rows), 1 / np.sqrt(columns)
    return np.where(np.isinf(by_rows), 0, by_rows)[:, None] * F * np.where(np.isinf(by_columns), 0, by_columns)


def blocks(rng, sizes=((30, 12), (40, 10), (20, 15)), inside=0.6, outside=0.03):
    """Rows and columns of several groups, joined mostly within their group; the rows' groups."""
    row_groups = np.repeat(np.arange(len(sizes)), [rows for rows, _ in sizes])
    column_groups = np.repeat(np.arange(len(sizes)), [columns for _, columns in sizes])
    chance = np.where(row_groups[:, None] == column_groups, inside, outside)
    F = rng.uniform(0.5, 1.5, chance.shape) * (rng.uniform(size=chance.shape) < chance)
    order = rng.permutation(len(F))
    return F[order], row_groups[order]


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_equal_to_the_singular_vectors_of_the_scaled_matrix(rng, as_input):
    F, _ = blocks(rng)
    U, S, Vt = np.linalg.svd(scaled_by_hand(F), full_matrices=False)
    model = SpectralFeatures(3, random_state=0)
    places = model.fit_transform(as_input(F))
    np.testing.assert_allclose(model.singular_values_, S[:3], rtol=1e-6)
    assert S[0] == pytest.approx(1)  # as of any matrix that is scaled so
    np.testing.assert_allclose(np.abs(np.diag(model.components_ @ Vt[:3].T)), 1, rtol=1e-6)
    expected = U[:, :3] * S[:3]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    signs = np.sign(np.diag(model.components_ @ Vt[:3].T))
    np.testing.assert_allclose(places, expected * signs, atol=1e-5)


def test_same_seed_same_signs_dense_or_csr(rng):
    F, _ = blocks(rng)
    dense = SpectralFeatures(4, random_state=3).fit_transform(F)
    np.testing.assert_allclose(SpectralFeatures(4, random_state=3).fit_transform(sp.csr_matrix(F)), dense, atol=1e-9)
    np.testing.assert_array_equal(SpectralFeatures(4, random_state=3).fit_transform(F), dense)


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_training_rows_and_new_rows_are_placed_alike(rng, as_input):
    F, _ = blocks(rng)
    model = SpectralFeatures(3, random_state=0)
    places = model.fit_transform(as_input(F))
    np.testing.assert_allclose(model.transform(as_input(F)), places, atol=1e-12)
    # A row is placed by itself: its company does not matter, nor does a factor.
    np.testing.assert_allclose(model.transform(as_input(7 * F[5:6])), places[5:6], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1)


def test_single_precision_stays_single(rng):
    F, _ = blocks(rng)
    double = SpectralFeatures(3, random_state=0).fit_transform(F)
    single = SpectralFeatures(3, random_state=0).fit_transform(sp.csr_matrix(F.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, atol=1e-4)


@pytest.mark.parametrize("heavy", [(), np.s_[:, 3], np.s_[3]], ids=["equal weights", "a heavy column", "a heavy row"])
def test_planted_blocks_are_separated(rng, heavy):
    F, groups = blocks(rng)
    if heavy != ():
        F[heavy] *= 10

    def found(features):
        return clustering_accuracy(groups, KMeans(3, n_init=5, random_state=0).fit_predict(features))

    assert found(SpectralFeatures(3, random_state=0).fit_transform(F)) > 0.98
    if heavy != ():
        assert found(F) < 0.9


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_empty_rows_and_columns(rng, as_input):
    F, _ = blocks(rng)
    empty = F.copy()
    empty[[0, 7]] = 0
    empty[:, [1, 20]] = 0
    model = SpectralFeatures(3, random_state=0)
    places = model.fit_transform(as_input(empty))
    assert np.isfinite(places).all()
    np.testing.assert_array_equal(places[[0, 7]], 0)
    np.testing.assert_array_equal(model.column_weights_[[1, 20]], 0)
    np.testing.assert_allclose(model.components_[:, [1, 20]], 0, atol=1e-12)
    # Without them the others are where they are with them.
    kept_rows, kept_columns = np.delete(np.arange(90), [0, 7]), np.delete(np.arange(37), [1, 20])
    without = SpectralFeatures(3, random_state=0).fit_transform(as_input(empty[np.ix_(kept_rows, kept_columns)]))
    np.testing.assert_allclose(np.abs(places[kept_rows]), np.abs(without), atol=1e-4)
    # A new row that has nothing but columns that were empty has no place.
    new = np.zeros((1, 37))
    new[0, 1] = 5
    np.testing.assert_array_equal(model.transform(as_input(new)), 0)


def test_nothing_at_all_gives_zeros():
    places = SpectralFeatures(2, random_state=0).fit_transform(np.zeros((6, 4)))
    np.testing.assert_array_equal(places, np.zeros((6, 2)))


def test_more_components_than_there_are(rng):
    model = SpectralFeatures(50, random_state=0)
    assert model.fit_transform(rng.uniform(size=(9, 6))).shape == (9, 5)
    assert list(model.get_feature_names_out()) == [f"spectralfeatures{i}" for i in range(5)]


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_negative_values_are_refused_when_fitted_and_after(rng, as_input):
    F, _ = blocks(rng)
    model = SpectralFeatures(3, random_state=0).fit(as_input(F))
    F[4, 5] = -0.1
    for use in (model.fit, model.fit_transform, model.transform):
        with pytest.raises(ValueError, match="Negative values in data passed to SpectralFeatures"):
            use(as_input(F))


@pytest.mark.parametrize("n_components", [0, -3, 2.5, True, None])
def test_n_components_is_a_count(rng, n_components):
    with pytest.raises(ValueError, match="n_components must be a whole number of at least 1"):
        SpectralFeatures(n_components).fit(rng.uniform(size=(9, 6)))


class TestRepeatedKMeans:
    @pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix, sp.csr_array])
    def test_is_k_means_with_one_start_by_run(self, rng, as_input):
        X = rng.uniform(size=(40, 5)) * rng.uniform(0.1, 10, size=(40, 1))
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        for rows, unit_rows in ((X, False), (unit, True)):
            clusters = repeated_kmeans(as_input(X), 3, n_runs=4, unit_rows=unit_rows)
            assert clusters.shape == (4, 40)
            for run, labels in enumerate(clusters):
                expected = KMeans(3, n_init=1, random_state=run).fit_predict(rows)
                assert clustering_accuracy(expected, labels) == 1

    def test_lengths_of_rows_count_only_without_unit_rows(self, rng):
        X = np.repeat([[1.0, 0.1], [0.1, 1.0]], 10, axis=0) * rng.uniform(1, 100, (20, 1))
        truth = np.repeat([0, 1], 10)
        assert all(clustering_accuracy(truth, labels) == 1 for labels in repeated_kmeans(X, 2))
        assert np.mean([clustering_accuracy(truth, labels) for labels in repeated_kmeans(X, 2, unit_rows=False)]) < 0.9

    def test_rows_of_zeros_stay(self):
        X = np.array([[0.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
        assert all(a != b == c for a, b, c in repeated_kmeans(X, 2, n_runs=3))

    @pytest.mark.parametrize(
        ("more", "sentence"),
        [
            ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1; got 0"),
            ({"n_clusters": 2, "n_runs": 0}, "n_runs must be a whole number of at least 1; got 0"),
            ({"n_clusters": 4}, "n_clusters is 4, but there are only 3 rows"),
        ],
    )
    def test_refused(self, more, sentence):
        with pytest.raises(ValueError, match=sentence):
            repeated_kmeans(np.eye(3), **more)


def test_of_several_starts_the_tightest_clusters_count(rng):
    """Labels have no say: the sum of squares of every run is at most that of its first start."""
    X = rng.normal(size=(80, 3))

    def spread(clusters):
        return sum(((X[clusters == c] - X[clusters == c].mean(axis=0)) ** 2).sum() for c in np.unique(clusters))

    once = [spread(clusters) for clusters in repeated_kmeans(X, 6, n_runs=5, unit_rows=False)]
    often = [spread(clusters) for clusters in repeated_kmeans(X, 6, n_runs=5, n_starts=8, unit_rows=False)]
    assert max(often) < np.mean(once)


class TestLinks:
    def groups(self, rng, n=60, n_groups=3, within=0.4, between=0.02):
        group = np.arange(n) % n_groups
        chance = np.where(group[:, None] == group, within, between)
        links = np.triu(rng.random((n, n)) < chance, 1)
        return (links | links.T).astype(float), group

    @pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, Network])
    def test_groups_are_found(self, rng, kind):
        adjacency, group = self.groups(rng)
        clusters = cluster_links(kind(adjacency), 3, n_runs=4, n_starts=3)
        assert clusters.shape == (4, 60)
        assert min(clustering_accuracy(group, labels) for labels in clusters) > 0.95

    def test_small_parts_are_no_clusters(self, rng):
        """Plain spectral clustering would take pairs of nodes that are linked to nobody else for two of the three."""
        adjacency, group = self.groups(rng)
        pairs = np.kron(np.eye(6), np.array([[0.0, 1.0], [1.0, 0.0]]))
        whole = sp.block_diag([adjacency, pairs, sp.csr_array((3, 3))], format="csr")
        clusters = cluster_links(whole, 3, n_runs=3, n_starts=5)
        assert min(clustering_accuracy(group, labels[:60]) for labels in clusters) > 0.9

    def test_is_k_means_on_the_eigenvectors_of_the_formula(self, rng):
        adjacency, _ = self.groups(rng)
        degrees = adjacency.sum(axis=1)
        scale = np.diag(1 / np.sqrt(degrees + degrees.mean()))
        vectors = np.linalg.eigh(scale @ adjacency @ scale)[1][:, -3:]
        expected = repeated_kmeans(vectors, 3, n_runs=2, n_starts=2)
        for ours, theirs in zip(cluster_links(adjacency, 3, n_runs=2, n_starts=2), expected, strict=True):
            assert clustering_accuracy(theirs, ours) == 1

    def test_directed_links_count_both_ways(self, rng):
        adjacency, _ = self.groups(rng)
        one_way = np.triu(adjacency)
        np.testing.assert_array_equal(cluster_links(one_way, 3, n_runs=1), cluster_links(adjacency, 3, n_runs=1))

    @pytest.mark.parametrize(
        ("adjacency", "n_clusters", "message"),
        [
            (np.zeros((4, 4)), 2, "has no links"),
            (1 - np.eye(4), 5, "n_clusters is 5, but there are only 4 nodes"),
            (np.ones((4, 3)), 2, "its shape is"),
            (1 - np.eye(4), 0, "n_clusters must be a whole number"),
        ],
    )
    def test_bad_input_is_told_in_one_sentence(self, adjacency, n_clusters, message):
        with pytest.raises(ValueError, match=message):
            cluster_links(adjacency, n_clusters)

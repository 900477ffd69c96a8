"""LocalSpectralClustering: shapes that k-means cannot tell apart, new rows, the number of clusters, bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import RULLS, LocalSpectralClustering, RandLocal
from vicinal.cluster import _starts
from vicinal.cluster._bipartite import balanced, inverse_roots, leading_right_vectors
from vicinal.cluster._distinct import count_distinct
from vicinal.cluster._local_spectral import suggested_clusters
from vicinal.cluster._starts import best_of_starts
from vicinal.metrics import clustering_accuracy


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=3, n_features=4, random_state=1)


@pytest.mark.parametrize(
    "shape",
    [make_moons(600, noise=0.05, random_state=0), make_circles(600, noise=0.05, factor=0.4, random_state=0)],
    ids=["moons", "rings"],
)
def test_shapes_that_k_means_cuts_in_two(shape):
    X, truth = shape
    assert clustering_accuracy(truth, LocalSpectralClustering(2, random_state=0).fit_predict(X)) == 1
    assert clustering_accuracy(truth, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.9


def test_digits_and_their_number():
    X, y = load_digits(return_X_y=True)
    model = LocalSpectralClustering(n_groups=100, random_state=0).fit(X)
    assert model.n_clusters_ == 10
    assert clustering_accuracy(y, model.labels_) > 0.88
    assert clustering_accuracy(y, KMeans(10, n_init=10, random_state=0).fit_predict(X)) < 0.82


class TestNumberOfClusters:
    @pytest.mark.parametrize("centers", [2, 3, 5])
    def test_separated_blobs_are_counted(self, centers):
        X, truth = make_blobs(300, centers=centers, n_features=6, random_state=2)
        model = LocalSpectralClustering(n_groups=50, random_state=0).fit(X)
        assert model.n_clusters_ == centers
        assert clustering_accuracy(truth, model.labels_) == 1
        np.testing.assert_allclose(model.singular_values_[:centers], 1, atol=1e-3)
        assert model.singular_values_[centers] < 0.9

    def test_no_more_than_allowed(self, blobs):
        model = LocalSpectralClustering(max_clusters=2, n_groups=50, random_state=0).fit(blobs[0])
        assert model.n_clusters_ == 2

    def test_no_more_than_distinct_rows(self):
        X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
        model = LocalSpectralClustering(n_groups=20, random_state=0).fit(X)
        assert model.n_clusters_ == 2
        assert clustering_accuracy(np.repeat([0, 1], 20), model.labels_) == 1

    @pytest.mark.parametrize(
        ("values", "most", "wanted"),
        [
            ([1, 1, 1, 0.5, 0.4], 4, 3),
            ([1, 0.9, 0.85, 0.8, 0.1], 4, 4),
            ([1, 0.9, 0.85, 0.8, 0.1], 3, 2),
            ([1, 0.2, 0.19, 0.18], 3, 2),  # the first gap would say one cluster
            ([1, 0.9999, 0.99, 0.98, 0.96], 4, 2),  # the angles 0.01, 0.14, 0.20 and 0.28
            ([1], 2, 2),
        ],
    )
    def test_the_largest_gap_of_angles(self, values, most, wanted):
        assert suggested_clusters(np.array(values, dtype=float), most) == wanted


class TestModel:
    def test_training_rows_keep_their_clusters(self, blobs):
        X, _ = blobs
        model = LocalSpectralClustering(3, n_groups=50, random_state=0)
        labels = model.fit_predict(X)
        np.testing.assert_array_equal(model.labels_, labels)
        np.testing.assert_array_equal(model.predict(X), labels)

    def test_new_rows_join_their_neighbours(self):
        X, truth = make_circles(1200, noise=0.05, factor=0.4, random_state=0)
        model = LocalSpectralClustering(2, random_state=0).fit(X[:600])
        assert clustering_accuracy(truth[600:], model.predict(X[600:])) > 0.99

    def test_largest_cluster_first(self):
        X, truth = make_blobs([20, 120, 60], n_features=5, random_state=0)
        labels = LocalSpectralClustering(3, n_groups=50, random_state=0).fit_predict(X)
        assert np.bincount(labels).tolist() == [120, 60, 20]
        assert set(labels[truth == 1]) == {0}

    def test_centers_are_means_of_places(self, blobs):
        X, _ = blobs
        model = LocalSpectralClustering(3, n_groups=50, random_state=0).fit(X)
        places = model.features_.transform(model.map_.transform(X))
        assert places.shape == (300, 5)  # one and a half times the clusters
        for cluster, center in enumerate(model.cluster_centers_):
            np.testing.assert_allclose(places[model.labels_ == cluster].mean(axis=0), center, atol=1e-6)
        apart = ((places - model.cluster_centers_[model.labels_]) ** 2).sum()
        assert model.inertia_ == pytest.approx(apart)

    @pytest.mark.parametrize("as_input", [sp.csr_matrix, sp.csr_array])
    def test_dense_or_sparse(self, blobs, as_input):
        X, _ = blobs
        X = np.abs(X) * (np.abs(X) > 1)
        dense = LocalSpectralClustering(3, n_groups=50, random_state=0).fit(X)
        sparse = LocalSpectralClustering(3, n_groups=50, random_state=0).fit(as_input(X))
        np.testing.assert_array_equal(sparse.labels_, dense.labels_)
        np.testing.assert_array_equal(sparse.predict(as_input(X)), dense.labels_)

    def test_missing_values_are_left_out(self, blobs, rng):
        X, truth = blobs
        X = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
        labels = LocalSpectralClustering(3, n_groups=50, random_state=0).fit_predict(X)
        assert clustering_accuracy(truth, labels) > 0.95

    def test_same_answer_on_any_number_of_threads(self):
        X, _ = load_digits(return_X_y=True)
        one, two = (LocalSpectralClustering(10, n_groups=50, random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 2))
        np.testing.assert_array_equal(one.labels_, two.labels_)
        np.testing.assert_array_equal(one.cluster_centers_, two.cluster_centers_)

    def test_another_map(self, blobs):
        X, truth = blobs
        given = RULLS(10, normalize=True)
        model = LocalSpectralClustering(3, map=given, random_state=0).fit(X)
        assert clustering_accuracy(truth, model.labels_) > 0.95
        assert isinstance(model.map_, RULLS)
        assert not hasattr(given, "n_features_in_")
        again = clone(model).fit(X)
        np.testing.assert_array_equal(again.labels_, model.labels_)  # the map's seed comes from random_state

    def test_a_map_within_a_pipeline_gets_a_seed(self, blobs):
        X, _ = blobs
        chain = make_pipeline(StandardScaler(), RandLocal(50, norm="l2"))
        first, second = (LocalSpectralClustering(3, map=chain, random_state=0).fit_predict(X) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_the_default_map_looks_at_all_of_few_columns(self, blobs):
        model = LocalSpectralClustering(3, n_groups=50, random_state=0).fit(blobs[0])
        assert set(np.diff(model.map_.feature_ptr_)) == {4}
        wide = LocalSpectralClustering(2, n_groups=50, random_state=0).fit(
            np.random.default_rng(0).normal(size=(90, 30))
        )
        sizes = np.diff(wide.map_.feature_ptr_)
        assert sizes.min() >= 15
        assert sizes.max() <= 30


class TestStarts:
    def test_all_rows_of_few(self, rng):
        X = rng.normal(size=(80, 3))
        found = best_of_starts(X, 6, n_starts=8, rng=np.random.RandomState(0))
        once = [KMeans(6, n_init=1, random_state=seed).fit(X).inertia_ for seed in range(8)]
        assert found.inertia_ <= min(once) * 1.02 < np.mean(once)
        assert found.labels_.shape == (80,)

    def test_many_rows_from_the_centers_of_some(self, rng, monkeypatch):
        monkeypatch.setattr(_starts, "SAMPLE", 100)
        X, truth = make_blobs(1000, centers=8, n_features=4, random_state=3)
        found = best_of_starts(X, 8, n_starts=20, rng=np.random.RandomState(0))
        assert clustering_accuracy(truth, found.labels_) == 1
        means = [X[found.labels_ == cluster].mean(axis=0) for cluster in range(8)]
        np.testing.assert_allclose(found.cluster_centers_, means)


@pytest.mark.parametrize(
    ("parameters", "rows", "sentence"),
    [
        ({"n_clusters": 3}, [[0.0], [1.0], [1.0]], "n_clusters is 3, but only 2 of the 3 rows are different"),
        ({"n_clusters": 2}, np.ones((5, 2)), "All 5 rows are equal"),
        ({}, sp.csr_matrix((5, 2)), "All 5 rows are equal"),
        ({}, [[1.0, 2.0]], "1 sample"),
        ({"n_clusters": 0}, np.eye(3), "n_clusters must be a whole number of at least 1, or 'auto'; got 0"),
        ({"n_clusters": "many"}, np.eye(3), "or 'auto'; got 'many'"),
        ({"n_clusters": None}, np.eye(3), "or 'auto'; got None"),
        ({"max_clusters": 1}, np.eye(3), "max_clusters must be a whole number of at least 2"),
        ({"n_components": 1.5}, np.eye(3), "n_components must be a whole number of at least 1, or 'auto'"),
        ({"n_starts": 0}, np.eye(3), "n_starts must be"),
        ({"n_groups": 0}, np.eye(3), "n_groups must be"),
        ({"map": StandardScaler()}, np.eye(3), "Negative values in data passed to SpectralFeatures"),
    ],
)
def test_bad_input_is_told_in_one_sentence(parameters, rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        LocalSpectralClustering(**parameters).fit(rows)


class TestSingularVectors:
    """Of matrices on both sides of the size from which iterations find them."""

    def matrix(self, rng, shape):
        """Five parts of rows and columns that are joined to each other less and less."""
        rows, columns = (np.arange(length) % 5 for length in shape)
        chance = np.where(rows[:, None] == columns, 0.1 + 0.08 * columns, 0.02)
        F = sp.csr_array((rng.uniform(size=shape) < chance).astype(float))
        return balanced(F, inverse_roots(F.sum(axis=0), F.dtype))

    @pytest.mark.parametrize("shape", [(60, 200), (200, 60), (700, 900), (900, 700)])
    @pytest.mark.parametrize("as_input", [sp.csr_array.toarray, sp.csr_array])
    def test_equal_to_those_of_numpy(self, rng, shape, as_input):
        W = self.matrix(rng, shape)
        _, S, Vt = np.linalg.svd(W.toarray(), full_matrices=False)
        values, vectors = leading_right_vectors(as_input(W), 4, np.random.RandomState(0))
        np.testing.assert_allclose(values, S[:4], rtol=1e-5)
        np.testing.assert_allclose(np.abs(np.sum(vectors * Vt[:4], axis=1)), 1, atol=1e-4)

    def test_none_where_there_is_nothing(self):
        values, vectors = leading_right_vectors(sp.csr_array((6, 4)), 2, np.random.RandomState(0))
        np.testing.assert_array_equal(values, 0)
        np.testing.assert_array_equal(vectors, np.zeros((2, 4)))

    def test_equal_weights(self, rng):
        F = sp.random_array((30, 20), density=0.2, rng=rng, format="csr")
        W = balanced(F, inverse_roots(F.sum(axis=0), F.dtype))
        rows, columns = np.asarray(F.sum(axis=1)).ravel(), np.asarray(F.sum(axis=0)).ravel()
        expected = F.toarray() / np.sqrt(np.where(rows, rows, 1))[:, None] / np.sqrt(np.where(columns, columns, 1))
        np.testing.assert_allclose(W.toarray(), expected)
        np.testing.assert_allclose(balanced(F.toarray(), inverse_roots(columns, F.dtype)), expected)


def test_distinct_rows_are_counted():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nan, 1.0], [np.nan, 1.0], [2.0, 0.0]])
    assert count_distinct(X, enough=10) == 3
    assert count_distinct(X, enough=2) == 2
    assert count_distinct(sp.csr_matrix(X), enough=10) == 3
    twice = sp.csr_matrix((np.array([1.0, 1.0, 2.0, 0.0]), [1, 1, 1, 0], [0, 2, 4]), shape=(2, 2))
    assert count_distinct(twice, enough=10) == 1


def test_saved_and_loaded_by_skops(blobs, tmp_path):
    skops = pytest.importorskip("skops.io")
    X, _ = blobs
    model = LocalSpectralClustering(3, n_groups=30, random_state=0).fit(X)
    skops.dump(model, tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("vicinal.", "scipy.")) for name in trusted)
    np.testing.assert_array_equal(skops.load(tmp_path / "model.skops", trusted=trusted).predict(X), model.labels_)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_by_the_names_of_their_columns(blobs, frame):
    X, _ = blobs
    table = frame({name: X[:, place] for place, name in enumerate("abcd")})
    model = LocalSpectralClustering(3, n_groups=30, random_state=0).fit(table)
    assert model.feature_names_in_.tolist() == list("abcd")
    np.testing.assert_array_equal(model.predict(table), model.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table[["b", "a", "c", "d"]])

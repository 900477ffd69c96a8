"""KMeansFeatures: the kernel with centroids, on few columns and on a million."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from vicinal.expand import gamma_from_scale
from vicinal.learned import KMeansFeatures, _kmeans_features

X, GROUPS = make_blobs(300, n_features=6, centers=5, cluster_std=0.3, random_state=0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_features_by_definition(container):
    model = KMeansFeatures(20, gamma=0.3, random_state=0).fit(container(X))
    centroids = model.cluster_centers_
    assert sp.issparse(centroids) == sp.issparse(container(X))
    centroids = centroids.toarray() if sp.issparse(centroids) else centroids
    np.testing.assert_allclose(model.transform(container(X)), rbf_kernel(X, centroids, gamma=0.3), atol=1e-12)


def test_centroids_are_means_of_groups_that_lie_apart():
    found = KMeansFeatures(5, random_state=0).fit(X).cluster_centers_
    means = np.stack([X[group == GROUPS].mean(axis=0) for group in range(5)])
    order = np.lexsort(found.T)
    np.testing.assert_allclose(found[order], means[np.lexsort(means.T)])


def test_gamma_follows_the_scale_of_rows():
    small, large = (KMeansFeatures(10, random_state=0).fit(X * scale) for scale in (1, 1024))
    assert small.gamma_ == gamma_from_scale(X)
    np.testing.assert_allclose(small.transform(X), large.transform(X * 1024))


def test_labels_are_not_looked_at():
    labels = np.where(np.arange(len(X)) % 2, -1, GROUPS)
    with_labels, without = (KMeansFeatures(7, random_state=3).fit(X, y).transform(X) for y in (labels, None))
    np.testing.assert_array_equal(with_labels, without)


def test_no_more_centroids_than_rows_and_none_without_rows():
    assert KMeansFeatures(random_state=0).fit(X[:7]).transform(X).shape[1] <= 7
    twice = np.repeat(X[:3], 5, axis=0)
    centroids = KMeansFeatures(10, random_state=0).fit(twice).cluster_centers_
    assert len(np.unique(centroids.round(9), axis=0)) <= 3


@pytest.mark.parametrize(("max_iter", "steps"), [(1, 3), (3, 3), (4, 6)])
def test_mini_batches_are_those_of_whole_passes(max_iter, steps):
    far_apart = np.random.default_rng(0).normal(size=(300, 6))
    assert KMeansFeatures(40, batch_size=100, max_iter=max_iter, random_state=0).fit(far_apart).n_iter_ == steps


def test_blocks_of_rows_do_not_matter(monkeypatch):
    model = KMeansFeatures(10, random_state=0).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr(_kmeans_features, "BLOCK_ENTRIES", 30)
    np.testing.assert_allclose(model.transform(X), whole, rtol=1e-12)


def test_clusters_by_the_columns_of_most_variance(monkeypatch):
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(len(X), 50))
    wide = sp.csr_array(np.hstack([noise, X]))
    monkeypatch.setattr(_kmeans_features, "CENTROID_ENTRIES", 5 * X.shape[1])
    found = KMeansFeatures(5, random_state=0).fit(wide)
    alone = KMeansFeatures(5, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_allclose(found.cluster_centers_[:, 50:].toarray(), alone.cluster_centers_.toarray())
    assert found.cluster_centers_.shape == (5, 56)  # means over all columns


def test_a_million_columns():
    rows = sp.random_array((200, 10**6), density=2e-5, format="csr", rng=np.random.default_rng(0), dtype=np.float32)
    model = KMeansFeatures(50, random_state=0).fit(rows)
    assert model.cluster_centers_.nnz <= rows.nnz
    features = model.transform(rows)
    assert features.dtype == np.float32
    assert features.shape[0] == 200
    assert ((features > 0) & (features <= 1)).all()


def test_indices_of_64_bits():
    rows = sp.csr_array(X)
    wide = sp.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    np.testing.assert_array_equal(
        *(KMeansFeatures(5, random_state=0).fit(given).transform(given) for given in (rows, wide))
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1"),
        ({"gamma": "median"}, "gamma must be a number above 0 or 'scale'"),
        ({"gamma": 0.0}, "gamma must be a number above 0"),
        ({"batch_size": 0}, "batch_size"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        KMeansFeatures(**options).fit(X)


def test_values_whose_squares_cannot_be_held():
    with pytest.raises(ValueError, match="scale X first"):
        KMeansFeatures(3).fit(X * 1e200)

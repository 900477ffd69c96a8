"""What sets clusters apart: contrasts of centres, prototypes, deviations of columns."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN, KMeans, MiniBatchKMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from vicinal import RandLocal, SampledLandmarks
from vicinal._preparation import check_table, make_preparation
from vicinal.explain import explain_clusters

NAMES = ["noise", "level", "more noise"]


@pytest.fixture(scope="module")
def rows():
    rows = np.random.default_rng(0).standard_normal((180, 3))
    rows[:, 1] += np.repeat([0, 10, 20], 60)
    return rows


@pytest.fixture(scope="module")
def labels():
    return np.repeat([0, 1, 2], 60)


@pytest.fixture(scope="module")
def local(rows):
    return make_pipeline(StandardScaler(), RandLocal(60, task="unsupervised", norm="l2", random_state=0)).fit(rows)


def test_contrasts_prototypes_and_deviations_by_hand(rows, labels, local):
    found = explain_clusters(labels, local, rows, column_names=NAMES)
    features, inner = local.transform(rows).toarray(), local[-1]
    centers = np.array([features[labels == k].mean(0) for k in range(3)])
    np.testing.assert_allclose(found.centers, centers)
    np.testing.assert_allclose(found.contrasts[1], centers[1] - (centers[0] + centers[2]) / 2)
    scores = np.zeros((3, len(inner.anchor_samples_)))
    for cell, anchor in enumerate(inner.anchor_rows_):
        scores[:, anchor] += np.maximum(found.contrasts[:, cell], 0)
    np.testing.assert_allclose(found.prototype_scores, scores)
    z = (inner.anchors_ - inner.anchors_.mean(0)) / inner.anchors_.std(0)
    np.testing.assert_allclose(found.column_deviations, scores @ z / scores.sum(1, keepdims=True), atol=1e-12)
    assert found.sizes.tolist() == [60, 60, 60]


def test_planted_clusters_are_found_in_rows_and_columns(rows, labels, local):
    found = explain_clusters(labels, local, rows, column_names=NAMES)
    prototypes = found.prototypes
    assert (labels[prototypes["anchor"]] == prototypes["cluster"]).all()
    assert len(prototypes) == 15
    assert abs(found.column_deviations[[0, 2]]).argmax(axis=1).tolist() == [1, 1]
    cells = found.cells
    assert (labels[cells["anchor"]] == cells["cluster"]).all()
    assert (cells["value"] > cells["others"]).all()
    said = str(found)
    assert "Cluster 0 (60 rows): low level (-1." in said
    assert "Cluster 2 (60 rows): high level (+1." in said
    assert max(map(len, said.splitlines())) <= 80
    assert repr(found) == "<ClusterExplanation of 3 clusters>"


@pytest.mark.parametrize("kind", [KMeans, MiniBatchKMeans])
def test_k_means(rows, labels, local, kind):
    features = local.transform(rows)
    kmeans = kind(3, n_init=5, random_state=0).fit(features)
    found = explain_clusters(kmeans, local, rows)
    np.testing.assert_array_equal(found.centers, kmeans.cluster_centers_)
    assert found.sizes.tolist() == np.bincount(kmeans.labels_).tolist()
    alone = explain_clusters(kmeans, local)
    assert alone.sizes is None
    np.testing.assert_array_equal(alone.prototype_scores, found.prototype_scores)
    assert alone.column_names.tolist() == ["x0", "x1", "x2"]
    assert "Cluster 0: " in str(alone)


class OwnMap:
    """A clustering that keeps its map."""

    def __init__(self, local, labels):
        self.map_, self.labels, self.cluster_centers_ = local, labels, np.zeros((3, 2))

    def predict(self, X):
        return self.labels[: len(X)]


def test_a_clustering_with_a_map_of_its_own(rows, labels, local):
    found = explain_clusters(OwnMap(local, labels), X=rows)
    np.testing.assert_array_equal(found.contrasts, explain_clusters(labels, local, rows).contrasts)
    with pytest.raises(ValueError, match=r"Give the rows, too: explain_clusters\(model, X=X\) asks OwnMap of each"):
        explain_clusters(OwnMap(local, labels))


def test_rows_of_no_cluster_are_left_out(rows, labels, local):
    some = np.where(np.arange(180) % 3 == 0, -1, labels)
    found = explain_clusters(some, local, rows)
    assert found.labels.tolist() == [0, 1, 2]
    assert found.sizes.tolist() == [40, 40, 40]
    np.testing.assert_allclose(found.centers, explain_clusters(some[some >= 0], local, rows[some >= 0]).centers)


def test_missing_values_sparse_rows_and_landmarks(rows, labels):
    holes = np.where(np.random.default_rng(1).uniform(size=rows.shape) < 0.2, np.nan, rows)
    found = explain_clusters(labels, RandLocal(30, random_state=0).fit(holes), holes)
    assert np.isfinite(found.column_deviations).all()
    assert found.column_deviations[:, 1].argsort().tolist() == [0, 1, 2]
    counts = sp.csr_matrix(np.maximum(rows, 0).round())
    found = explain_clusters(labels, SampledLandmarks(30, n_nearest=2, random_state=0).fit(counts), counts)
    assert found.column_deviations[:, 1].argsort().tolist() == [0, 1, 2]
    full = explain_clusters(labels, SampledLandmarks(30, n_nearest=2, random_state=0).fit(counts.toarray()), counts)
    np.testing.assert_allclose(found.column_deviations, full.column_deviations)


def test_categories_and_polars(rows, labels):
    table = check_table(
        pl.DataFrame(rows, schema=NAMES).with_columns(colour=pl.Series(np.array(["red", "blue", "red"])[labels]))
    )
    local = make_pipeline(make_preparation(table), RandLocal(40, task="unsupervised", random_state=0)).fit(table)
    found = explain_clusters(np.array(["a", "b", "c"])[labels], local, table, frame="polars", n_prototypes=2)
    assert found.column_names.tolist() == [*NAMES, "colour_blue", "colour_red"]
    assert isinstance(found.prototypes, pl.DataFrame)
    assert found.prototypes["cluster"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert "high colour_blue" in str(found)


def test_html_is_escaped(rows, labels, local):
    page = explain_clusters(labels, local, rows, column_names=["<i>", "a&b", "c"])._repr_html_()
    assert "<i>" not in page
    assert "a&amp;b" in page


def test_bad_input_gets_one_sentence(rows, labels, local):
    for arguments, options, message in [
        ((labels, local), {}, "Labels say nothing of features without the rows that they belong to; give X, too"),
        ((labels,), {}, "Give the map that the clusters were found with, as the second argument"),
        ((labels[:9], local, rows), {}, r"One cluster is needed for each of 180 rows; the labels are \(9,\)"),
        ((labels * 0, local, rows), {}, "At least two clusters are needed"),
        ((KMeans(2, n_init=1).fit(rows), local, rows), {}, "The centres of KMeans have 3 columns, the map has"),
        ((KMeans(2), local, rows), {}, "KMeans has no cluster_centers_; fit it first, or give its labels"),
        ((DBSCAN().fit(rows), local, rows), {}, "DBSCAN has no cluster_centers_"),
        ((labels, local, rows[:, :2]), {}, "X has 2 columns; the pipeline was fitted on 3"),
        ((labels, local, rows), {"n_prototypes": 0}, "n_prototypes must be a whole number of at least 1"),
        ((labels, local, rows), {"frame": "arrow"}, "frame must be one of"),
        ((labels, local, rows), {"column_names": ["a"]}, "column_names must name 3 columns; 1 names were given"),
        ((labels, StandardScaler().fit(rows), rows), {}, "There is no local map to explain by"),
    ]:
        with pytest.raises(ValueError, match=message):
            explain_clusters(*arguments, **options)
    whole = make_pipeline(RandLocal(9, random_state=0), LinearSVC()).fit(rows, labels)
    with pytest.raises(ValueError, match="The map must be the last step; LinearSVC follows it"):
        explain_clusters(labels, whole, rows)

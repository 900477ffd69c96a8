"""Pictures of explanations: what they show, that labels have room, and what cannot be drawn."""

from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp
from oracle import distances, nearest
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import RandLocal, SampledLandmarks
from vicinal.explain import explain, explain_clusters, plot_explanation, plot_prototypes, plot_voronoi

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target_names[IRIS.target]


@pytest.fixture(autouse=True)
def no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), RandLocal(40, random_state=0), RidgeClassifier()).fit(X, Y)


def labels_of(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def nothing_overlaps(ax):
    """Labels of the two axes, each beside the next, and all of them within the figure."""
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        shown = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        boxes = [label.get_window_extent() for place, label in shown if low <= place <= high and label.get_text()]
        assert boxes or not len(axis.get_ticklocs())
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 for box in boxes)
        if axis is ax.yaxis:
            assert not any(a.overlaps(b) for a, b in pairwise(boxes))


@pytest.mark.parametrize("what", ["anchors", "columns"])
def test_bars_add_up_to_the_score(model, what):
    explanation = explain(model, X[60:61], y_train=Y)
    ax = plot_explanation(explanation, what=what, n_bars=3)
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 5
    assert sum(widths) == pytest.approx(explanation.scores[0])
    names = labels_of(ax.yaxis)
    assert names[-1] == "intercept"
    assert f"other {what}"[:-1] in names[-2]
    if what == "anchors":
        strongest = explanation.anchors.iloc[0]
        assert f"training row {strongest.anchor} (class {strongest.label})" in names
    else:
        assert any(name.endswith("(cm) = 5") or "(cm) = " in name for name in names)
    assert ax.get_title(loc="left").startswith("Row 0 is predicted to be versicolor")
    nothing_overlaps(ax)


def test_bars_of_what_is_near_are_shares(model):
    ax = plot_explanation(explain(model[:-1], X[60:61]))
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(100)
    assert "intercept" not in labels_of(ax.yaxis)


def test_axes_that_are_given_are_used(model):
    _, axes = plt.subplots(2)
    assert plot_explanation(explain(model, X[:1]), ax=axes[1]) is axes[1]
    assert len(axes[1].patches) == 12
    assert not axes[0].patches
    flat = RandLocal(3, feature_range=(2, 2), random_state=0).fit(X)
    assert plot_voronoi(flat, ax=axes[0]) is axes[0]
    clusters = explain_clusters(Y, flat, X)
    assert plot_prototypes(clusters, ax=axes[0]) is axes[0]
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("kind", ["frame", "sparse", "missing"])
def test_cells_are_those_of_the_nearest_anchors(metric, kind):
    rows = X.to_numpy().copy()
    if kind == "missing":
        rows[::7, 1] = np.nan
    rows = sp.csr_matrix(rows) if kind == "sparse" else X if kind == "frame" else rows
    local = RandLocal(4, n_anchors=9, feature_range=(2, 2), metric=metric, random_state=0).fit(rows)
    ax = plot_voronoi(local, rows, group=2, y=Y)
    cells = ax.images[0].get_array()
    left, right, bottom, top = ax.images[0].get_extent()
    columns = local.feature_indices_[4:6]
    anchors = X.to_numpy()[local.anchor_samples_[local.anchor_rows_[local.anchor_ptr_[2] : local.anchor_ptr_[3]]]]
    if kind == "missing":
        full = rows[local.anchor_samples_[local.anchor_rows_[local.anchor_ptr_[2] : local.anchor_ptr_[3]]]]
        anchors = anchors[~np.isnan(full[:, columns]).any(1)]
    places = np.stack(np.meshgrid(np.linspace(left, right, 400), np.linspace(bottom, top, 400)), axis=-1).reshape(-1, 2)
    some = slice(None, None, 997)
    D = distances(places[some], anchors[:, columns], metric)
    chosen = D[np.arange(len(D)), np.asarray(cells).ravel()[some]]
    np.testing.assert_allclose(chosen, D.min(axis=1), atol=1e-12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica", "anchor"]
    if kind == "frame":
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(X.columns[columns])
    nothing_overlaps(ax)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("kind", [RandLocal, SampledLandmarks])
@pytest.mark.parametrize("gaps", [False, True])
def test_cells_of_two_levels_are_those_of_the_map(kind, metric, gaps):
    rows = np.random.default_rng(0).standard_normal((800, 2))
    if gaps:
        rows[::5, 0] = rows[1::7, 1] = np.nan
    settings = {"n_levels": 2, "metric": metric, "random_state": 0}
    if kind is RandLocal:
        local = RandLocal(3, n_anchors=60, feature_range=(2, 2), exclude_self=False, **settings).fit(rows)
    else:
        local = SampledLandmarks(3, n_landmarks=60, n_columns=2, n_nearest=1, **settings).fit(rows)
    ax = plot_voronoi(local, rows, group=1)
    left, right, bottom, top = ax.images[0].get_extent()
    places = np.stack(np.meshgrid(np.linspace(left, right, 400), np.linspace(bottom, top, 400)), axis=-1).reshape(-1, 2)
    drawn = np.asarray(ax.images[0].get_array()).ravel()
    ptr = local.anchor_ptr_ if kind is RandLocal else local.landmark_ptr_
    expected = local.transform(places).indices.reshape(-1, 3)[:, 1] - ptr[1]
    assert np.array_equal(drawn, expected)
    if kind is RandLocal:
        assert np.array_equal(drawn, local.apply(places)[:, 1])
    if metric == "euclidean" and not gaps:
        rows_of = local.anchors_[local.anchor_rows_] if kind is RandLocal else local.landmarks_[local.landmark_rows_]
        of_one_level, _ = nearest(distances(places, rows_of[ptr[1] : ptr[2]]))
        assert 0.5 < (drawn == of_one_level.ravel()).mean() < 1
    assert ax.get_title().startswith("Group 1: the cells of ")


def test_cells_without_rows_and_with_numbers_as_labels():
    local = RandLocal(30, n_anchors=5, random_state=0).fit(X)
    ax = plot_voronoi(local)
    assert ax.get_title().endswith("the cells of 5 anchors")
    plot_voronoi(local, X, y=X.iloc[:, 0])
    assert len(plt.gcf().axes) == 2  # with a scale of colours


def test_prototypes_as_colours_and_as_images():
    local = make_pipeline(StandardScaler(), RandLocal(40, task="unsupervised", random_state=0)).fit(X)
    clusters = explain_clusters(Y, local, X, n_prototypes=4)
    ax = plot_prototypes(clusters, n_columns=3)
    assert labels_of(ax.yaxis)[:2] == [f"cluster setosa: row {row}" for row in clusters.prototypes["anchor"][:2]]
    assert len(labels_of(ax.xaxis)) == 3
    shown = np.asarray(ax.images[0].get_array())
    table = local[-1].anchors_
    z = (table - table.mean(0)) / table.std(0)
    kept = [list(X.columns).index(name) for name in labels_of(ax.xaxis)]
    np.testing.assert_allclose(shown[0], z[clusters.strongest(0)[0], kept])
    nothing_overlaps(ax)
    digits = load_digits()
    local = RandLocal(20, task="unsupervised", random_state=0).fit(digits.data)
    clusters = explain_clusters(digits.target, local, digits.data, n_prototypes=3)
    ax = plot_prototypes(clusters, image_shape=(8, 8))
    sheet = np.asarray(ax.images[0].get_array())
    np.testing.assert_array_equal(sheet[:8, :8], digits.images[clusters.prototypes["anchor"][0]])
    assert labels_of(ax.yaxis) == [f"cluster {digit}" for digit in range(10)]
    assert sum(text.get_text().startswith("row ") for text in ax.texts) == 30
    nothing_overlaps(ax)


def test_what_cannot_be_drawn_is_said(model):
    explanation = explain(model, X[:2])
    wide = RandLocal(3, feature_range=(3, 4), random_state=0).fit(X)
    flat = RandLocal(3, feature_range=(2, 2), random_state=0).fit(X)
    clusters = explain_clusters(Y, flat, X)
    for call, message in [
        (lambda: plot_explanation(explanation), r"One row can be drawn, and there are 2; give explanation\[0\]"),
        (lambda: plot_explanation(explanation[0], what="cells"), "what must be one of 'anchors', 'columns'"),
        (lambda: plot_explanation(explanation[0], n_bars=0), "n_bars must be a whole number of at least 1"),
        (lambda: plot_explanation(clusters), "plot_explanation draws what explain returns; got a ClusterExplanation"),
        (lambda: plot_voronoi(wide), r"No group of this map has two columns to draw; fit one with feature_range"),
        (lambda: plot_voronoi(wide, group=1), r"Group 1 has \d columns, and a plane shows two: no group does"),
        (lambda: plot_voronoi(flat, group=3), "group must be a number from 0 to 2; got 3"),
        (lambda: plot_voronoi(flat, X, y=Y[:5]), r"y needs one label for each row of X; it is \(5,\), and X has 150"),
        (lambda: plot_voronoi(flat, y=Y), "and X has no rows"),
        (lambda: plot_prototypes(explanation), "plot_prototypes draws what explain_clusters returns"),
        (lambda: plot_prototypes(clusters, image_shape=(3, 3)), r"image_shape must be \(height, width\) of 4 pixels"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match="This row has no anchor to draw: it lacks the columns of every group"):
        plot_explanation(explain(model[:-1], X[:1] * np.nan))
    assert not plt.get_fignums()

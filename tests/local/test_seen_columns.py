"""Columns by rank, and columns weighted by how useful they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_regression
from sklearn.svm import LinearSVC

from vicinal import RandLocal
from vicinal.explain import explain


@pytest.fixture
def skewed(rng):
    return np.exp(2 * rng.standard_normal((300, 6)))


@pytest.fixture
def noisy():
    """Two useful columns among forty of noise."""
    X, y = make_classification(
        600, 42, n_informative=2, n_redundant=0, n_clusters_per_class=2, class_sep=2.0, shuffle=False, random_state=0
    )
    return X, y


@pytest.mark.parametrize("ranks", [0.5, 1.0])
def test_ranks_know_order_alone(skewed, ranks):
    given = {"n_groups": 20, "ranks": ranks, "random_state": 0}
    plain, stretched = RandLocal(**given).fit(skewed), RandLocal(**given).fit(skewed**3)
    first = 20 - round(20 * ranks)
    by_rank = slice(plain.anchor_ptr_[first], None)
    ours, theirs = plain.transform(skewed)[:, by_rank], stretched.transform(skewed**3)[:, by_rank]
    other_anchors = np.abs(ours - theirs) > 1e-9  # of two that are as near, rounding chooses
    assert other_anchors.nnz <= 0.01 * ours.nnz
    assert ours.nnz == 300 * round(20 * ranks)


def test_the_other_groups_see_values(skewed):
    half = RandLocal(20, ranks=0.5, random_state=0).fit(skewed)
    in_first_groups = half.feature_indices_[: half.feature_ptr_[10]]
    in_last_groups = half.feature_indices_[half.feature_ptr_[10] :]
    assert in_first_groups.max() < 6 <= in_last_groups.min()
    assert half.anchors_.shape[1] == 12
    assert RandLocal(20, ranks=1.0, random_state=0).fit(skewed).anchors_.shape[1] == 6


def test_missing_values_have_no_rank(skewed):
    skewed[::3, 0] = np.nan
    local = RandLocal(15, ranks=1.0, feature_range=(1, 1), random_state=0).fit(skewed)
    by_first_column = local.feature_indices_ == 0
    entries = np.diff(local.transform(skewed).indptr)
    assert (entries[::3] == 15 - by_first_column.sum()).all()
    assert (np.delete(entries, np.arange(0, 300, 3)) == 15).all()


def test_columns_without_use_are_not_seen(skewed, rng):
    guide = np.array([1.0, 0.5, 0, 0, 0, 0])
    local = RandLocal(20, guide=guide, random_state=0).fit(skewed)
    changed = skewed.copy()
    changed[:, 2:] = rng.standard_normal((300, 4))
    new = rng.permutation(300)[:50]
    np.testing.assert_allclose(
        RandLocal(20, guide=guide, exclude_self=False, random_state=0).fit(skewed).transform(changed[new]).toarray(),
        RandLocal(20, guide=guide, exclude_self=False, random_state=0).fit(skewed).transform(skewed[new]).toarray(),
    )
    assert local.column_weights_.tolist() == guide.tolist()


def test_guided_groups_are_those_of_weighted_columns(skewed):
    guide = np.array([4.0, 1, 1, 1, 1, 0.25])
    guided = RandLocal(20, guide=guide, feature_range=(6, 6), random_state=0).fit(skewed)
    plain = RandLocal(20, feature_range=(6, 6), n_anchors=40, random_state=0)
    assert guided.transform(skewed).nnz == plain.fit_transform(skewed).nnz
    np.testing.assert_allclose(guided.anchors_, skewed[guided.anchor_samples_] * np.sqrt(guide / 4))


def test_a_forest_finds_useful_columns(noisy):
    X, y = noisy
    local = RandLocal(60, guide="forest", random_state=0).fit(X[:400], y[:400])
    assert set(np.argsort(local.column_weights_)[-2:]) == {0, 1}
    assert local.column_weights_.max() == 1
    scores = []
    for guide in (None, "forest"):
        made = RandLocal(60, guide=guide, random_state=0).fit(X[:400], y[:400])
        model = LinearSVC().fit(made.transform(X[:400]), y[:400])
        scores.append(model.score(made.transform(X[400:]), y[400:]))
    assert scores[1] > scores[0] + 0.05


def test_a_forest_reads_numbers(rng):
    X, y = make_regression(300, 10, n_informative=1, shuffle=False, random_state=0)
    assert RandLocal(10, guide="forest", random_state=0).fit(X, y).column_weights_.argmax() == 0


def test_sparse_rows_are_guided_as_dense_ones(noisy):
    X, y = noisy
    X[np.abs(X) < 1] = 0
    guide = np.linspace(0, 1, 42)
    dense = RandLocal(20, guide=guide, random_state=0).fit_transform(X, y)
    sparse = RandLocal(20, guide=guide, random_state=0).fit_transform(sp.csr_matrix(X), y)
    np.testing.assert_allclose(dense.toarray(), sparse.toarray(), atol=1e-9)


def test_the_result_does_not_depend_on_threads(noisy):
    X, y = noisy
    one, two = (RandLocal(20, ranks=0.5, guide="forest", random_state=0, n_jobs=n).fit_transform(X, y) for n in (1, 2))
    assert (one != two).nnz == 0


@pytest.mark.parametrize("ranks", [0.5, 1.0])
def test_explanations_speak_of_the_columns_given(noisy, ranks):
    X, y = noisy
    local = RandLocal(60, guide="forest", ranks=ranks, random_state=0).fit(X, y)
    explanation = explain(local, X[:3])
    assert explanation.column_shares.shape == (3, 42)
    np.testing.assert_allclose(explanation.column_shares.sum(axis=1), 1)
    plain = explain(RandLocal(60, ranks=ranks, random_state=0).fit(X), X[:3])
    useful, before = (shares.column_shares[:, :2].sum() for shares in (explanation, plain))
    assert useful > 2 * before


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ranks": 1.5}, "ranks must be a share of at least 0"),
        ({"guide": "trees"}, 'guide must be None, "forest" or a number for each column'),
        ({"guide": [1.0, 2.0]}, "it needs a number for each of 6 columns"),
        ({"guide": np.zeros(6)}, "not all of them 0"),
        ({"guide": -np.ones(6)}, "numbers of at least 0"),
        ({"guide": "forest"}, "fit needs y"),
    ],
)
def test_bad_parameters_are_refused(skewed, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        RandLocal(5, **given).fit(skewed)


def test_ranks_of_sparse_rows_are_refused(skewed):
    with pytest.raises((ValueError, TypeError), match=r"dense"):
        RandLocal(5, ranks=0.5).fit(sp.csr_matrix(skewed))

"""Anchors that are spread out, or near the boundary of classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_classification

from vicinal import LocalLinearClassifier, RandLocal
from vicinal._forests import doubts
from vicinal.local._anchor_draws import weighted_sample


def test_weighted_samples_have_different_places_by_weight():
    rng = np.random.RandomState(0)
    weights = np.r_[np.zeros(50), np.ones(50), np.full(50, 9.0)]
    drawn = np.concatenate([weighted_sample(weights, 10, rng) for _ in range(500)])
    assert all(len(set(part)) == 10 for part in drawn.reshape(500, 10))
    counts = np.bincount(drawn // 50, minlength=3)
    assert counts[0] == 0
    assert 5 < counts[2] / counts[1] < 10
    assert set(weighted_sample(np.r_[1.0, 0, 0], 3, rng)) == {0, 1, 2}


def test_spread_anchors_reach_small_clusters():
    X, y = make_blobs([2000, 40, 40, 40], centers=[[0, 0], [40, 0], [0, 40], [40, 40]], random_state=0)
    drawn = {
        kind: RandLocal(30, n_anchors=16, anchors=kind, feature_range=(2, 2), random_state=0).fit(X)
        for kind in ("random", "spread")
    }
    found = {kind: len(set(y[map_.anchor_samples_])) for kind, map_ in drawn.items()}
    assert found["spread"] == 4
    per_group = [
        len(set(y[drawn["spread"].anchor_samples_[drawn["spread"].anchor_rows_[start:end]]]))
        for start, end in zip(drawn["spread"].anchor_ptr_, drawn["spread"].anchor_ptr_[1:], strict=False)
    ]
    assert np.mean(per_group) > 3.5


def test_rows_in_doubt_are_near_the_boundary():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, 2))
    y = (X[:, 0] > 0).astype(int)
    found = doubts(X, y, np.random.RandomState(0), None)
    near = np.abs(X[:, 0]) < 0.05
    assert found.min() >= 0
    assert found.max() == 1
    assert found[near].mean() > 5 * found[np.abs(X[:, 0]) > 0.3].mean()
    map_ = RandLocal(40, n_anchors=64, anchors="boundary", random_state=0).fit(X, y)
    drawn = map_.anchor_samples_[map_.anchor_rows_]
    assert np.abs(X[drawn, 0]).mean() < 0.7 * np.abs(X[:, 0]).mean()
    assert doubts(X, X[:, 0] ** 3, np.random.RandomState(0), None).shape == (1500,)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kind", ["spread", "boundary"])
def test_threads_and_formats_change_nothing(kind, make):
    X, y = make_classification(300, 6, random_state=0)
    X = np.where(X > 0, X, 0).astype(np.float32)
    made = [
        RandLocal(8, anchors=kind, random_state=0, n_jobs=n).fit(rows, y).transform(rows)
        for n, rows in ((1, make(X)), (2, make(X)))
    ]
    assert (made[0] != made[1]).nnz == 0


def test_missing_and_equal_values_do_no_harm():
    X, y = make_classification(200, 5, random_state=0)
    X[::3, 0] = np.nan
    assert RandLocal(5, anchors="spread", random_state=0).fit_transform(X).shape[0] == 200
    constant = np.ones((60, 3))
    assert RandLocal(5, anchors="spread", random_state=0).fit_transform(constant).nnz == 300
    model = LocalLinearClassifier(RandLocal(20, anchors="boundary", random_state=0), random_state=0)
    assert model.fit(np.nan_to_num(X), y).score(np.nan_to_num(X), y) > 0.8


def test_what_is_refused():
    X, _ = make_classification(50, random_state=0)
    with pytest.raises(ValueError, match="anchors must be one of"):
        RandLocal(anchors="far").fit(X)
    with pytest.raises(ValueError, match="fit needs y"):
        RandLocal(anchors="boundary").fit(X)

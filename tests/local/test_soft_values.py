"""RandLocal's soft values against plain NumPy, and where distances or widths are strange."""

from itertools import pairwise

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import LinearSVC

from vicinal import RandLocal
from vicinal._anchors import fitted_groups, nearest_blocks

DIGITS = load_digits().data[:500] + np.random.default_rng(0).random((500, 64))
SETTINGS = [
    {},
    {"n_neighbors": 1},
    {"norm": "l2", "epsilon": 0.2},
    {"metric": "manhattan", "exclude_self": False},
    {"metric": "cosine"},
    {"n_levels": 2, "n_anchors": (50, 200)},
]


def soft(n_groups=15, **settings):
    return RandLocal(n_groups, random_state=0, values="soft", **{"n_neighbors": 4, **settings})


@pytest.mark.parametrize("settings", SETTINGS)
def test_features_are_those_of_plain_numpy(settings):
    training, new = DIGITS[:400], DIGITS[400:]
    model = soft(**settings)
    found = model.fit_transform(training)
    np.testing.assert_allclose(found.toarray(), oracle.randlocal(model, training, training), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        model.transform(new).toarray(), oracle.randlocal(model, new, training), rtol=1e-6, atol=1e-8
    )


def test_missing_values_leave_the_others_of_unit_length():
    X = np.where(np.random.default_rng(0).random(DIGITS.shape) < 0.3, np.nan, DIGITS)
    model = soft(feature_range=(1, 4))
    found = model.fit_transform(X)
    np.testing.assert_allclose(found.toarray(), oracle.randlocal(model, X, X), rtol=1e-6, atol=1e-8)
    lengths = [np.linalg.norm(found[:, a:b].toarray(), axis=1) for a, b in pairwise(model.anchor_ptr_)]
    there = np.stack(lengths) > 0
    assert not there.all()
    np.testing.assert_allclose(np.stack(lengths)[there], 1)


def test_widths_are_medians_of_the_least_distances():
    model = soft().fit(DIGITS)
    found = np.concatenate([d for _, d in nearest_blocks(fitted_groups(model), DIGITS, exclude_self=True, n_jobs=1)])
    np.testing.assert_allclose(model.widths_, np.median(found, axis=0))
    assert RandLocal(3, random_state=0).fit(DIGITS).widths_ is None


def test_one_pass_is_as_two_on_any_number_of_threads():
    model = soft(n_jobs=2)
    together = model.fit_transform(DIGITS)
    apart = soft(n_jobs=1).fit(DIGITS).transform(DIGITS)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(together, part), getattr(apart, part))
    sparse = soft().fit_transform(sp.csr_array(DIGITS))
    np.testing.assert_allclose(sparse.toarray(), together.toarray(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_columns_and_extreme_values(dtype):
    X = np.ones((60, 3), dtype)
    found = soft(4).fit_transform(X)
    np.testing.assert_allclose(found.data, 0.5)  # four anchors at the same distance
    far = np.array(DIGITS[:60], dtype)
    far[:5] *= 1e30 if dtype == np.float32 else 1e150
    found = soft().fit_transform(far)
    assert np.isfinite(found.data).all()
    assert (found.data > 0).all()


def test_a_row_far_from_all_anchors_counts_as_much_as_others():
    model = soft().fit(DIGITS)
    found = model.transform(np.vstack([DIGITS[:1], DIGITS[:1] * 1000]))
    np.testing.assert_allclose(np.sqrt(found.multiply(found).sum(axis=1)).ravel(), np.sqrt(15))


def test_linear_models_lose_nothing_by_them():
    X, y = make_moons(1200, noise=0.25, random_state=0)
    scores = {
        values: LinearSVC().fit(part.fit_transform(X[:600]), y[:600]).score(part.transform(X[600:]), y[600:])
        for values in ("nearness", "soft")
        for part in [RandLocal(100, n_neighbors=8, values=values, random_state=0)]
    }
    assert scores["soft"] >= scores["nearness"] - 0.005
    assert scores["soft"] > 0.9


def test_values_must_be_known():
    with pytest.raises(ValueError, match="values must be"):
        RandLocal(values="hard").fit(DIGITS)

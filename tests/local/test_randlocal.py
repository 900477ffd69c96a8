"""RandLocal: the paper's algorithms, what scikit-learn users rely on, and every degenerate case that is documented."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import RandLocal
from vicinal._calls import n_threads

DIGITS = load_digits().data
SETTINGS = [
    {},
    {"n_neighbors": 3, "norm": "l2"},
    {"metric": "manhattan", "task": "unsupervised"},
    {"metric": "cosine", "exclude_self": False},
    {"subspace": "correlated", "epsilon": 0.5},
    {"subspace": "image", "image_shape": (8, 8), "n_anchors": (4, 16)},
]


def same(a, b):
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_features_are_those_of_the_algorithms(settings):
    X = DIGITS[:260].copy()
    if settings.get("metric") == "cosine":  # proportional rows tie up to rounding
        X += np.random.default_rng(0).random(X.shape)
    training, new = X[:200], X[200:]
    model = RandLocal(20, random_state=0, **settings)
    np.testing.assert_allclose(
        model.fit_transform(training).toarray(), oracle.randlocal(model, training, training), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        model.transform(new).toarray(), oracle.randlocal(model, new, training), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_blocks_change_no_bit(settings, dtype):
    X = DIGITS.astype(dtype)
    one = RandLocal(30, random_state=0, n_jobs=1, **settings)
    two = RandLocal(30, random_state=0, n_jobs=2, **settings)
    whole = one.fit_transform(X)
    assert same(whole, two.fit_transform(X))
    assert same(whole, two.fit(X).transform(X))
    assert np.array_equal(one.mean_distances_, two.mean_distances_)
    for block, n in ((1, 40), (7, 140), (500, 1000)):
        parts = [two.transform(X[start : start + block]) for start in range(0, n, block)]
        assert same(whole[:n], sp.vstack(parts, format="csr"))


@pytest.mark.parametrize("settings", SETTINGS)
def test_dense_and_csr_agree(settings):
    digits = DIGITS[:700]
    dense, sparse = RandLocal(20, random_state=0, **settings), RandLocal(20, random_state=0, **settings)
    from_dense, from_sparse = dense.fit_transform(digits), sparse.fit_transform(sp.csr_matrix(digits))
    if settings.get("subspace") != "correlated":  # whose sampling sees correlations through another rounding
        np.testing.assert_allclose(from_dense.toarray(), from_sparse.toarray(), rtol=1e-9, atol=1e-9)
    assert same(from_sparse, sparse.transform(sp.csr_array(digits)))
    np.testing.assert_allclose(sparse.transform(digits).toarray(), from_sparse.toarray(), rtol=1e-9, atol=1e-9)
    for X in (digits, digits + 1000):  # whose columns are moved near zero before they are compared
        model = RandLocal(20, random_state=0, **settings).fit(X)
        np.testing.assert_allclose(
            model.transform(sp.csr_matrix(X)).toarray(), model.transform(X).toarray(), rtol=1e-6, atol=1e-6
        )


def test_csr_with_duplicates_and_explicit_zeros():
    X = sp.csr_matrix(DIGITS[:100])
    twice = sp.csr_matrix((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape)
    zeros = X.copy()
    zeros.data = np.append(zeros.data, 0.0)
    zeros.indices = np.append(zeros.indices, 0)
    zeros.indptr[-1] += 1
    model = RandLocal(10, random_state=0).fit(X)
    before = twice.data.copy()
    assert same(model.transform(twice), model.transform(X))
    assert np.array_equal(twice.data, before)
    assert same(model.transform(zeros), model.transform(X))


def test_strided_and_malformed_csr():
    X = sp.csr_matrix(DIGITS[:200])
    model = RandLocal(10, random_state=0).fit(X)
    strided = sp.csr_matrix((np.repeat(X.data, 2)[::2], X.indices, X.indptr), shape=X.shape, copy=False)
    assert same(model.transform(strided), model.transform(X))
    wide = sp.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    assert same(model.transform(wide), model.transform(X))
    broken = X.copy()
    broken.indices[7] = 5_000_000
    with pytest.raises(ValueError, match="ind"):
        model.transform(broken)


def test_packed_records_are_read():
    records = np.zeros(200, dtype=[("flag", "i1"), ("x", "f8", (64,))])
    records["x"] = DIGITS[:200]
    model = RandLocal(10, random_state=0)
    assert same(model.fit_transform(records["x"]), model.fit_transform(DIGITS[:200]))


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = RandLocal(10, random_state=0).fit(DIGITS)
    expected = model.transform(DIGITS)
    bad = DIGITS[:, ::-1].copy()
    bad[-1, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        model.fit(bad)
    assert same(model.transform(DIGITS), expected)


def test_every_complete_row_has_one_entry_per_group_and_neighbour():
    for k in (1, 4):
        out = RandLocal(25, n_neighbors=k, random_state=0).fit_transform(DIGITS)
        assert (np.diff(out.indptr) == 25 * k).all()
        assert (out.data > 0).all()
        assert out.has_sorted_indices
        assert (np.diff(out.indices.reshape(len(DIGITS), -1), axis=1) > 0).all()


def test_apply_names_the_column_of_transform():
    model = RandLocal(15, random_state=0).fit(DIGITS)
    codes = model.apply(DIGITS)
    assert codes.shape == (len(DIGITS), 15)
    assert codes.dtype == np.int32
    assert np.array_equal(codes + model.anchor_ptr_[:-1], model.transform(DIGITS).indices.reshape(-1, 15))
    names = model.get_feature_names_out()
    assert len(names) == len(set(names)) == model.transform(DIGITS[:1]).shape[1]
    assert names[model.anchor_ptr_[3] + 7] == "group3_anchor7"


@pytest.mark.portable
def test_draws_follow_the_paper():
    X = np.random.default_rng(0).standard_normal((2500, 21))
    model = RandLocal(2000, random_state=0).fit(X)
    sizes, widths = np.diff(model.anchor_ptr_), np.diff(model.feature_ptr_)
    assert sizes.min() >= 32
    assert sizes.max() <= 1024
    assert np.log2(sizes).mean() == pytest.approx(7.5, abs=0.1)  # p uniform on [5, 10]
    assert (widths.min(), widths.max()) == (1, 21)
    assert widths.mean() == pytest.approx(11, abs=0.4)
    for t in range(50):
        rows = model.anchor_rows_[model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]]
        features = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
        assert len(set(rows)) == len(rows)
        assert len(set(features)) == len(features)
    assert np.array_equal(model.anchors_, X[model.anchor_samples_])
    widths = np.diff(RandLocal(500, task="unsupervised", random_state=0).fit(X).feature_ptr_)
    assert (widths.min(), widths.max()) == (11, 21)
    small = RandLocal(200, random_state=0).fit(X[:400])
    assert np.diff(small.anchor_ptr_).max() <= 200


def test_feature_range_and_n_anchors_are_kept():
    X = np.random.default_rng(0).standard_normal((300, 20))
    widths = np.diff(RandLocal(200, feature_range=(2, 5), random_state=0).fit(X).feature_ptr_)
    assert (widths.min(), widths.max()) == (2, 5)
    widths = np.diff(RandLocal(200, feature_range=(0.5, 0.6), random_state=0).fit(X).feature_ptr_)
    assert (widths.min(), widths.max()) == (10, 12)
    assert (np.diff(RandLocal(9, n_anchors=50, random_state=0).fit(X).anchor_ptr_) == 50).all()


def test_correlated_subspaces_prefer_columns_that_belong_together():
    rng = np.random.default_rng(0)
    source = rng.standard_normal((1000, 4))
    X = np.repeat(source, 10, axis=1) + 0.3 * rng.standard_normal((1000, 40))
    for data in (X, sp.csr_matrix(X)):
        model = RandLocal(300, subspace="correlated", feature_range=(5, 5), random_state=0).fit(data)
        families = model.feature_indices_.reshape(300, 5) // 10
        assert (families == families[:, :1]).all(1).mean() > 0.9


def test_image_subspaces_are_rectangles():
    model = RandLocal(300, subspace="image", image_shape=(8, 8), feature_range=(4, 30), random_state=0).fit(DIGITS)
    for t in range(300):
        pixels = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
        rows, columns = np.unique(pixels // 8), np.unique(pixels % 8)
        assert 4 <= len(pixels) == len(rows) * len(columns) <= 30
        assert np.ptp(rows) == len(rows) - 1
        assert np.ptp(columns) == len(columns) - 1
    colour = RandLocal(20, subspace="image", image_shape=(4, 4, 4), random_state=0).fit(DIGITS)
    assert (np.diff(colour.feature_ptr_) % 4 == 0).all()


def test_a_training_anchor_goes_to_its_nearest_other_anchor():
    model = RandLocal(50, random_state=0)
    fitted = model.fit_transform(DIGITS)
    codes = fitted.indices.reshape(len(DIGITS), -1)
    own = model.anchor_samples_[model.anchor_rows_[codes]] == np.arange(len(DIGITS))[:, None]
    assert not own.any()
    assert same(fitted, model.transform(DIGITS))
    kept = RandLocal(50, random_state=0, exclude_self=False).fit_transform(DIGITS)
    codes = kept.indices.reshape(len(DIGITS), -1)
    assert (model.anchor_samples_[model.anchor_rows_[codes]] == np.arange(len(DIGITS))[:, None]).any()


def test_zero_distance_in_a_subspace_is_not_self():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 400), rng.standard_normal((400, 3))])
    model = RandLocal(40, feature_range=(1, 1), random_state=0)
    out = model.fit_transform(X)
    for t in np.flatnonzero(model.feature_indices_ == 0):
        values = out[:, model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]].data
        np.testing.assert_allclose(values, model.mean_distances_[t])  # every row finds an anchor with its own bit


class TestMissingValues:
    def test_distances_use_what_both_have(self):
        rng = np.random.default_rng(0)
        X = DIGITS[:300] + rng.random((300, 64))  # few ties
        X[rng.random(X.shape) < 0.2] = np.nan
        for metric in ("euclidean", "manhattan", "cosine"):
            model = RandLocal(15, metric=metric, random_state=0, n_neighbors=2)
            np.testing.assert_allclose(
                model.fit_transform(X).toarray(), oracle.randlocal(model, X, X), rtol=1e-6, atol=1e-7
            )
            assert same(model.fit_transform(X), model.transform(X))

    def test_a_row_without_any_of_a_groups_columns_has_no_entry(self):
        X = DIGITS[:300].copy()
        X[5] = np.nan
        X[6, :63] = np.nan
        model = RandLocal(30, random_state=0)
        out = model.fit_transform(X)
        with_last = sum(63 in f for f in np.split(model.feature_indices_, model.feature_ptr_[1:-1]))
        counts = np.diff(out.indptr)
        assert counts[5] == 0
        assert counts[6] == with_last
        assert (np.delete(counts, [5, 6]) == 30).all()
        codes = model.apply(X)
        assert (codes[5] == -1).all()
        assert (codes[6] >= 0).sum() == with_last
        assert same(out[10:20], model.transform(X[10:20]))

    def test_sparse_stored_nan(self):
        X = DIGITS[:200].copy()
        X[3, 10] = np.nan
        dense, sparse = (RandLocal(20, random_state=0).fit_transform(form(X)) for form in (np.asarray, sp.csr_matrix))
        np.testing.assert_allclose(dense.toarray(), sparse.toarray(), rtol=1e-9)


class TestDegenerateCases:
    def test_constant_subspace(self):
        X = np.column_stack([np.ones(100), np.zeros(100), np.arange(100.0)])
        model = RandLocal(60, feature_range=(1, 2), random_state=0)
        out = model.fit_transform(X)
        assert np.isfinite(out.data).all()
        constant = np.flatnonzero(model.mean_distances_ == 0)
        assert len(constant)
        for t in constant:
            assert (out[:, model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]].data == 1e-4).all()

    def test_all_rows_equal(self):
        out = RandLocal(10, random_state=0).fit_transform(np.ones((100, 5)))
        assert (np.diff(out.indptr) == 10).all()
        assert np.isfinite(out.data).all()

    def test_duplicated_rows_count_as_one(self):
        X = np.repeat(DIGITS[:150], 2, axis=0)
        model = RandLocal(30, random_state=0)
        out = model.fit_transform(X)
        assert same(out[::2], out[1::2])
        anchors = model.anchor_samples_[model.anchor_rows_[out.indices]].reshape(len(X), -1)
        assert (anchors // 2 != np.arange(len(X))[:, None] // 2).all()

    def test_many_duplicates_cost_little(self):
        """A list of all pairs of equal rows and anchors would take minutes and gigabytes here."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, (20_000, 3)).astype(np.float32)
        model = RandLocal(30, random_state=0)
        out = model.fit_transform(X)
        assert (np.diff(out.indptr) == 30).all()
        anchors = model.anchors_[model.anchor_rows_[out.indices]].reshape(len(X), 30, 3)
        assert not (anchors == X[:, None]).all(2).any()

    def test_an_incomplete_row_without_other_anchors_keeps_itself(self):
        X = np.tile([[1.0, np.nan, 3.0]], (80, 1))
        out = RandLocal(10, feature_range=(2, 3), random_state=0).fit_transform(X)
        assert (np.diff(out.indptr) == 10).all()

    @pytest.mark.parametrize("n_samples", [2, 3, 10, 63])
    def test_few_rows(self, n_samples):
        model = RandLocal(20, random_state=0)
        out = model.fit_transform(DIGITS[:n_samples])
        assert (np.diff(model.anchor_ptr_) == max(2, n_samples // 2)).all()
        assert (np.diff(out.indptr) == 20).all()

    def test_one_feature(self):
        X = np.random.default_rng(0).standard_normal((500, 1))
        for task in ("supervised", "unsupervised"):
            model = RandLocal(20, task=task, random_state=0)
            np.testing.assert_allclose(model.fit_transform(X).toarray(), oracle.randlocal(model, X, X), rtol=1e-9)

    def test_one_row_at_transform(self):
        model = RandLocal(20, random_state=0).fit(DIGITS)
        assert same(model.transform(DIGITS[7:8]), model.transform(DIGITS)[7:8])

    def test_far_from_the_origin_no_digits_are_lost(self):
        rng = np.random.default_rng(0)
        X = (2000 + rng.standard_normal((300, 30))).astype(np.float32)
        model = RandLocal(20, random_state=0, feature_range=(10, 30))
        out = model.fit_transform(X).toarray()
        np.testing.assert_allclose(out, oracle.randlocal(model, X, X), rtol=1e-3, atol=1e-4)

    @pytest.mark.parametrize("size", [1e-40, 1e-30, 1e-10, 1e10, 1e30, 1e37])
    @pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
    def test_tiny_and_huge_values(self, size, metric):
        X = np.random.default_rng(0).standard_normal((300, 12)).astype(np.float32)
        moved = X * np.float32(size)
        model = RandLocal(20, metric=metric, random_state=0, norm="l2")
        found = model.fit_transform(moved).toarray()
        expected = oracle.randlocal(model, moved, moved)
        assert np.mean((found > 0) == (expected > 0)) > 0.9999  # of numbers near 1e-40 few digits are left
        np.testing.assert_allclose(
            found[(found > 0) & (expected > 0)], expected[(found > 0) & (expected > 0)], rtol=1e-3
        )

    @pytest.mark.parametrize("feature_range", [(1, 6), (8, 12)])
    def test_tiny_columns_and_far_outliers_do_not_hide_the_rest(self, feature_range):
        rng = np.random.default_rng(0)
        plain = rng.standard_normal((600, 12)).astype(np.float32)
        tiny, outlier, near_zero = plain.copy(), plain.copy(), plain.copy()
        tiny[:, :11] *= np.float32(1e-25)
        outlier[[5, 77]] = 1e25
        near_zero[:300] = 4
        near_zero[300:] *= np.float32(1e-8)
        for X in (tiny, outlier, near_zero):
            model = RandLocal(20, feature_range=feature_range, random_state=0)
            found, expected = model.fit_transform(X).toarray(), oracle.randlocal(model, X, X)
            assert np.isfinite(found).all()
            np.testing.assert_allclose(np.sort(found, axis=1), np.sort(expected, axis=1), rtol=1e-4)
            # From 4 or from 1e25 no arithmetic at hand tells the numbers near 0 apart: those rows have ties.
            told_apart = np.abs(X).max(1) < 4
            assert ((found > 0) == (expected > 0))[told_apart].all()

    def test_subspaces_by_correlation_do_not_depend_on_the_unit(self):
        X = DIGITS[:300]
        small, large = (RandLocal(20, subspace="correlated", random_state=0).fit(X * unit) for unit in (1e-9, 1e9))
        assert np.array_equal(small.feature_indices_, large.feature_indices_)


def test_single_precision_stays_single_and_small_integers_are_single():
    assert RandLocal(5, random_state=0).fit_transform(DIGITS.astype(np.float32)).dtype == np.float32
    assert RandLocal(5, random_state=0).fit_transform(DIGITS).dtype == np.float64
    small = RandLocal(5, random_state=0)
    assert small.fit_transform(DIGITS.astype(np.uint8)).dtype == np.float32
    assert same(small.fit_transform(DIGITS.astype(np.uint8)), small.fit_transform(DIGITS.astype(np.float32)))
    assert small.fit_transform(DIGITS.astype(np.int64)).dtype == np.float64
    assert small.fit_transform(DIGITS > 3).dtype == np.float32


@pytest.mark.skipif("sparse_interface" not in get_config(), reason="this scikit-learn knows one container only")
def test_output_container_follows_scikit_learns_configuration():
    model = RandLocal(5, random_state=0).fit(DIGITS)
    assert isinstance(model.transform(DIGITS), sp.csr_matrix)
    with config_context(sparse_interface="sparray"):
        assert isinstance(model.transform(DIGITS), sp.csr_array)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_pickle_and_skops_round_trip(container):
    model = RandLocal(10, random_state=0).fit(container(DIGITS))
    expected = model.transform(DIGITS)
    assert same(pickle.loads(pickle.dumps(model)).transform(DIGITS), expected)
    data = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=data)
    assert set(types) <= {"vicinal.local._randlocal.RandLocal", "scipy.sparse._csr.csr_matrix"}
    loaded = skops.io.loads(data, trusted=types)
    assert same(loaded.transform(DIGITS), expected)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_by_column_name(frame):
    iris = load_iris(as_frame=True).data
    columns = {name: iris[name].to_numpy() for name in iris.columns}
    model = RandLocal(10, random_state=0)
    assert same(model.fit_transform(frame(columns)), RandLocal(10, random_state=0).fit_transform(iris.to_numpy()))
    assert list(model.feature_names_in_) == list(columns)
    swapped = frame({name: columns[name] for name in reversed(columns)})
    with pytest.raises(ValueError, match="in the same order"):
        model.transform(swapped)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame({name: columns[name] for name in list(columns)[:3]}))


@pytest.mark.portable
def test_works_in_a_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(RandLocal(50, norm="l2", random_state=0), LinearSVC())
    search = GridSearchCV(pipeline, {"randlocal__task": ["supervised", "unsupervised"]}, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.93
    assert clone(pipeline).get_params()["randlocal__norm"] == "l2"


@pytest.mark.portable
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_groups": 0}, "n_groups must be a whole number of at least 1; got 0"),
        ({"n_groups": 2.5}, "n_groups must be a whole number"),
        ({"epsilon": -1}, "epsilon must be a number of at least 0; got -1"),
        ({"n_anchors": (64, 32)}, "n_anchors must be a whole number of at least 1 or a pair"),
        ({"task": "both"}, "task must be one of 'supervised', 'unsupervised'; got 'both'"),
        ({"metric": "hamming"}, "metric must be one of 'euclidean', 'manhattan', 'cosine'; got 'hamming'"),
        ({"norm": "l1"}, "norm must be one of None, 'l2'; got 'l1'"),
        ({"feature_range": (0, 3)}, "feature_range must be a pair"),
        ({"feature_range": (3, 2)}, "feature_range must be a pair"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"n_neighbors": 500}, "n_neighbors=500 needs at least 501 rows"),
        ({"subspace": "image"}, "image_shape must be"),
        ({"subspace": "image", "image_shape": (8, 9)}, "has 72 pixels but X has 64 features"),
        ({"subspace": "image", "image_shape": (8, 8), "feature_range": (61, 62)}, "widen feature_range"),
        ({"image_shape": (8, 8)}, "only used where subspace='image'"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(settings, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        RandLocal(**settings).fit(DIGITS[:100])


def test_bad_data_gets_one_clear_sentence():
    model = RandLocal(5, random_state=0).fit(DIGITS)
    for form in (np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)):
        X = form(DIGITS).copy()
        X[3, 12] = np.inf
        with pytest.raises(ValueError, match="X contains infinity"):
            model.transform(X)
        with pytest.raises(ValueError, match="X contains infinity"):
            RandLocal(5).fit(X)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        RandLocal(5).fit(DIGITS[:1])
    with pytest.raises(ValueError, match="X has 10 features, but RandLocal is expecting 64"):
        model.transform(DIGITS[:, :10])
    with pytest.raises(ValueError, match="RandLocal needs numbers, but X has something else in column 0"):
        RandLocal(5).fit(np.array([["a", "b"], ["c", "d"]], dtype=object))


@pytest.mark.portable
def test_interruption_by_the_keyboard():
    code = """
        import numpy as np, signal, threading, os, time
        from vicinal import RandLocal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        X = np.random.default_rng(0).standard_normal((200_000, 100)).astype(np.float32)
        model = RandLocal(400, random_state=0).fit(X[:2000])
        print("ready", flush=True)
        try:
            model.transform(X)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "ready"
    try:
        process.wait(0.4)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0].strip() == "interrupted"


@pytest.mark.portable
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_a_memory_mapped_array_is_read_in_blocks(tmp_path):
    """Beyond output and anchors, `transform` of 200 MB on disk needs less than 100 MB."""
    code = """
        import sys, numpy as np
        from vicinal import RandLocal
        path = sys.argv[1]
        X = np.lib.format.open_memmap(path, "w+", dtype=np.{dtype}, shape=(200_000, {width}))
        rows = np.random.default_rng(0).integers(0, 200, (20_000, {width}), dtype=np.uint8)
        for start in range(0, len(X), len(rows)):
            X[start : start + len(rows)] = rows
        X.flush()
        model = RandLocal(3, feature_range=(2, 9), n_anchors=32, random_state=0).fit(X[:1000])
        del X
        X = np.load(path, mmap_mode="r")

        def anonymous():
            fields = dict(line.split(":") for line in open("/proc/self/status"))
            return int(fields["RssAnon"].split()[0]) * 1024

        model.transform(X[:2000])
        import threading
        peak, stop = [0], threading.Event()
        def watch():
            while not stop.wait(0.005):
                peak[0] = max(peak[0], anonymous())
        before = anonymous()
        watcher = threading.Thread(target=watch); watcher.start()
        out = model.transform(X)
        stop.set(); watcher.join()
        output = out.data.nbytes + out.indices.nbytes + out.indptr.nbytes
        print(peak[0] - before - output)
    """
    for dtype, width in (("float32", 250), ("uint8", 1000)):
        source = textwrap.dedent(code).format(dtype=dtype, width=width)
        command = [sys.executable, "-c", source, tmp_path / "x.npy"]
        assert int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) < 100e6


@pytest.mark.portable
def test_threads_by_number():
    cores = os.cpu_count()
    assert [n_threads(1), n_threads(3), n_threads(-1), n_threads(-cores - 5)] == [1, 3, joblib.cpu_count(), 1]
    with pytest.raises(ValueError, match="n_jobs must be a number of threads"):
        n_threads(0)

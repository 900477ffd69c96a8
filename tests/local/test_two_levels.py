"""RandLocal with two levels of anchors: the cells that fit makes, the search in them, and what may go wrong there."""

import pickle

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import RandLocal, _native
from vicinal._anchors import cell_sums, fitted_groups
from vicinal._coarse_cells import growing_bounds, n_coarse_anchors
from vicinal.explain import explain
from vicinal.outlier import NeighborOutlierDetector

METRICS = ("euclidean", "manhattan", "cosine")
DIGITS = load_digits().data
SETTINGS = [
    {},
    {"n_neighbors": 3, "norm": "l2"},
    {"metric": "manhattan", "task": "unsupervised"},
    {"metric": "cosine", "exclude_self": False},
    {"n_neighbors": 2, "exclude_self": False, "n_anchors": (2, 200)},
]
each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)


def two_levels(n_groups=20, **settings):
    return RandLocal(n_groups, random_state=0, n_levels=2, **{"n_anchors": (100, 400), **settings})


def without_ties(n_rows):
    return DIGITS[:n_rows] + np.random.default_rng(0).random((n_rows, 64))


def same(a, b):
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_features_are_those_of_plain_numpy(settings):
    X = without_ties(600)
    training, new = X[:500], X[500:]
    model = two_levels(**settings)
    np.testing.assert_allclose(
        model.fit_transform(training).toarray(), oracle.randlocal(model, training, training), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(
        model.transform(new).toarray(), oracle.randlocal(model, new, training), rtol=1e-7, atol=1e-8
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_every_anchor_lies_in_the_cell_of_its_nearest_coarse_anchor(settings):
    X = without_ties(800)
    model = two_levels(**settings).fit(X)
    least = model.n_neighbors + model.exclude_self
    assert np.diff(model.cell_ptr_).min() >= least
    assert model.cell_ptr_[model.coarse_ptr_].tolist() == model.anchor_ptr_.tolist()
    for t in range(model.n_groups):
        columns = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
        rows = model.anchor_rows_[model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]]
        coarse = oracle.coarse_rows(model, t)
        assert np.isin(coarse, rows).all()
        assert len(coarse) <= n_coarse_anchors(len(rows), least)
        D = oracle.distances(
            model.anchors_[np.ix_(rows, columns)], model.anchors_[np.ix_(coarse, columns)], model.metric
        )
        assert (oracle.nearest(D)[0].ravel() == oracle.cells_of(model, t)).all()
    assert np.array_equal(model.anchors_, X[model.anchor_samples_])


@each_instruction_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("form", ["dense", "csr", "missing"])
def test_any_cells_on_every_instruction_set(isa, dtype, metric, k, form):
    """Cells of 12 to 50 anchors in any order, groups of 1, 6, 7 and 30 columns, 1 to 300 rows."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((400, 30)).astype(dtype)
    x = rng.standard_normal((300, 30)).astype(dtype)
    x[:40] = table[:40]  # these are anchors themselves
    if form == "missing":
        for part in (x, table):
            part[rng.random(part.shape) < 0.1] = np.nan
        x[:40] = table[:40]
    widths, sizes = [1, 6, 7, 30], np.array([13, 50, 37, 12] * 4)
    features = [np.sort(rng.permutation(30)[:width]).astype(np.int32) for width in widths]
    rows = [rng.permutation(400)[:112].astype(np.int32) for _ in widths]
    coarse = rng.permutation(400)[:16].astype(np.int32)
    fingerprints = np.empty(400, np.uint64)
    _native.fingerprints(table, fingerprints)
    groups = _native.AnchorGroups(
        table,
        np.arange(5) * 112,
        np.concatenate(rows),
        np.cumsum([0, *widths]),
        np.concatenate(features),
        metric=METRICS.index(metric),
        fingerprints=fingerprints,
        coarse_ptr=np.arange(5) * 4,
        cell_ptr=np.cumsum([0, *sizes]),
        coarse_rows=coarse,
    )
    for n_rows in (1, 300):
        part = x[:n_rows]
        columns, values = np.empty((n_rows, 4 * k), np.int32), np.empty((n_rows, 4 * k), dtype)
        csr = sp.csr_matrix(part)
        rows_in = (csr.data, csr.indices, csr.indptr, 30) if form == "csr" else part
        sums, counts, _ = _native.nearest(rows_in, groups, columns, values, n_neighbors=k, n_threads=2, isa=isa)
        for t in range(4):
            at = np.ix_(coarse[4 * t : 4 * t + 4], features[t])
            D_coarse = oracle.distances(part[:, features[t]], table[at], metric)
            D = oracle.distances(part[:, features[t]], table[np.ix_(rows[t], features[t])], metric)
            D = oracle.within_cells(D, D_coarse, np.repeat(np.arange(4), sizes[:4]))
            own = (np.where(np.isnan(part), 9, part)[:, None] == np.where(np.isnan(table), 9, table)[rows[t]]).all(2)
            kept = np.where(own, np.inf, D)
            index, far = oracle.nearest(kept, k)
            found, near = columns[:, t * k : (t + 1) * k] - 112 * t, values[:, t * k : (t + 1) * k]
            enough = np.isfinite(far).all(1)  # a row with too few others takes itself, too
            assert enough.mean() > 0.5 or n_rows == 1
            if dtype == np.float64:
                assert (np.sort(found[enough]) == np.sort(index[enough])).all()
            tolerance = {"rtol": 1e-3, "atol": 2e-3} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-7}
            np.testing.assert_allclose(np.sort(near[enough]), far[enough], **tolerance)
            finite = np.isfinite(D_coarse)
            assert counts[t] == finite.sum()
            assert sums[t] == pytest.approx(D_coarse[finite].sum(), rel=1e-4)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_blocks_change_no_bit(settings, dtype):
    X = DIGITS.astype(dtype)
    one, two = two_levels(30, n_jobs=1, **settings), two_levels(30, n_jobs=2, **settings)
    whole = one.fit_transform(X)
    assert same(whole, two.fit_transform(X))
    assert same(whole, two.fit(X).transform(X))
    assert np.array_equal(one.mean_distances_, two.mean_distances_)
    assert np.array_equal(one.cell_ptr_, two.cell_ptr_)
    for block, n in ((1, 40), (7, 140), (500, 1000)):
        parts = [two.transform(X[start : start + block]) for start in range(0, n, block)]
        assert same(whole[:n], sp.vstack(parts, format="csr"))


def test_chunks_of_many_rows_change_no_bit():
    """More rows than are searched at a time, over an odd number of groups, the last of which are written alone."""
    X = np.random.default_rng(0).random((70_000, 5), dtype=np.float32)
    model = two_levels(11, n_jobs=1)
    whole = model.fit_transform(X)
    assert same(whole, two_levels(11, n_jobs=2).fit_transform(X))
    assert same(whole[60_000:], model.transform(X[60_000:]))


@pytest.mark.parametrize("settings", SETTINGS)
def test_dense_and_csr_agree(settings):
    X = DIGITS[:700]
    dense, sparse = two_levels(**settings), two_levels(**settings)
    from_dense, from_sparse = dense.fit_transform(X), sparse.fit_transform(sp.csr_matrix(X))
    np.testing.assert_allclose(from_dense.toarray(), from_sparse.toarray(), rtol=1e-9, atol=1e-9)
    assert same(from_sparse, sparse.transform(sp.csr_array(X)))
    np.testing.assert_allclose(dense.transform(sp.csr_matrix(X)).toarray(), from_dense.toarray(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_missing_values(metric):
    X = without_ties(500)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    X[7] = np.nan
    model = two_levels(metric=metric, n_neighbors=2, feature_range=(5, 64))
    out = model.fit_transform(X)
    np.testing.assert_allclose(out.toarray(), oracle.randlocal(model, X, X), rtol=1e-6, atol=1e-7)
    assert out[7].nnz == 0
    assert (model.apply(X)[7] == -1).all()
    assert same(out, model.transform(X))


def test_apply_names_the_column_of_transform():
    model = two_levels(15).fit(DIGITS)
    out = model.transform(DIGITS)
    assert (np.diff(out.indptr) == 15).all()
    assert np.array_equal(model.apply(DIGITS) + model.anchor_ptr_[:-1], out.indices.reshape(-1, 15))
    assert len(model.get_feature_names_out()) == out.shape[1] == len(model.anchor_rows_)


def test_a_training_anchor_goes_to_another_anchor_of_its_cell():
    X = without_ties(1500)
    model = two_levels(30)
    out = model.fit_transform(X)
    chosen = model.anchor_samples_[model.anchor_rows_[out.indices]].reshape(len(X), -1)
    assert not (chosen == np.arange(len(X))[:, None]).any()
    kept = two_levels(30, exclude_self=False).fit(X)
    for t in range(30):
        own = kept.anchor_samples_[kept.anchor_rows_[kept.anchor_ptr_[t] : kept.anchor_ptr_[t + 1]]]
        assert np.array_equal(kept.apply(X[own])[:, t], np.arange(len(own)))


def test_with_few_anchors_one_cell_is_one_level():
    X = without_ties(400)
    one = RandLocal(12, n_anchors=3, random_state=0)
    two = two_levels(12, n_anchors=3)
    one.fit(X)
    two.fit(X)
    assert (np.diff(two.coarse_ptr_) == 1).all()
    assert np.array_equal(one.apply(X), two.apply(X))


class TestAuto:
    def test_up_to_many_rows_it_is_the_default(self):
        fixed, auto = RandLocal(9, random_state=0), RandLocal(9, n_anchors="auto", random_state=0)
        assert same(fixed.fit_transform(DIGITS), auto.fit_transform(DIGITS))
        assert fixed.n_levels_ == auto.n_levels_ == 1
        assert auto.coarse_ptr_ is None

    def test_beyond_them_anchors_grow_with_the_rows(self):
        X = np.random.default_rng(0).random((80_000, 6), dtype=np.float32)
        for n_rows in (40_000, 80_000):
            model = RandLocal(30, n_anchors="auto", feature_range=(3, 6), random_state=0).fit(X[:n_rows])
            sizes = np.diff(model.anchor_ptr_)
            assert model.n_levels_ == 2
            assert sizes.min() >= 511
            assert sizes.max() <= n_rows / 16
            assert np.log2(sizes).mean() == pytest.approx((np.log2(512) + np.log2(n_rows / 16)) / 2, abs=0.4)

    def test_the_lowest_number_grows_later_and_faster(self):
        low, high = zip(
            *(growing_bounds(n_rows)[0] for n_rows in (40_000, 92_000, 131_072, 262_144, 640_000)), strict=True
        )
        assert low == (512, 512, 1024, 4096, 10_000)
        assert high == (2500, 5750, 8192, 16_384, 40_000)

    @pytest.mark.parametrize("n_anchors", ["many", 0, (5, 2), 2.5, None])
    def test_other_numbers_are_refused(self, n_anchors):
        with pytest.raises(ValueError, match=r"n_anchors must be a whole number .* or 'auto'"):
            RandLocal(n_anchors=n_anchors).fit(DIGITS)


class TestDegenerateCases:
    def test_equal_anchors_count_once(self):
        X = np.random.default_rng(0).integers(0, 3, (3000, 4)).astype(np.float32)
        model = two_levels(25, n_anchors=1000)
        out = model.fit_transform(X)
        assert (np.diff(out.indptr) == 25).all()
        for t in range(25):
            columns = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
            rows = model.anchor_rows_[model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]]
            assert len(np.unique(model.anchors_[rows][:, columns], axis=0)) == len(rows) <= 81

    def test_constant_columns_are_one_cell(self):
        X = np.column_stack([np.ones(600), np.zeros(600), np.arange(600.0)])
        model = two_levels(40, feature_range=(1, 2))
        out = model.fit_transform(X)
        assert (np.diff(out.indptr) == 40).all()
        constant = np.flatnonzero(model.mean_distances_ == 0)
        assert len(constant)
        for t in constant:
            assert model.coarse_ptr_[t + 1] - model.coarse_ptr_[t] == 1
            assert (out[:, model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]].data == 1e-4).all()

    def test_all_rows_equal(self):
        for k in (1, 3):
            out = two_levels(10, n_neighbors=k).fit_transform(np.ones((100, 5)))
            assert (np.diff(out.indptr) == 10 * k).all()
            assert np.isfinite(out.data).all()

    @pytest.mark.parametrize("n_rows", [2, 3, 10, 63])
    def test_more_anchors_than_rows(self, n_rows):
        model = two_levels(20, n_anchors=50_000)
        out = model.fit_transform(DIGITS[:n_rows])
        assert np.diff(model.anchor_ptr_).max() <= max(2, n_rows // 2)
        assert (np.diff(out.indptr) == 20).all()
        assert same(out, model.transform(DIGITS[:n_rows]))

    def test_cells_without_training_rows(self):
        """A cell may be empty for some rows and is then skipped, whichever rows they are."""
        X = without_ties(1500)
        model = two_levels(10, n_anchors=700).fit(X)
        lonely = model.transform(X[:3])
        assert same(lonely, model.transform(X)[:3])
        assert lonely.nnz == 30

    def test_one_column(self):
        X = np.random.default_rng(0).standard_normal((900, 1))
        model = two_levels()
        np.testing.assert_allclose(model.fit_transform(X).toarray(), oracle.randlocal(model, X, X), rtol=1e-9)

    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("size", [1e-40, 1e-30, 1e30, 1e37])
    def test_tiny_and_huge_values(self, metric, size):
        X = np.random.default_rng(0).standard_normal((600, 12)).astype(np.float32)
        model = two_levels(metric=metric)
        out = model.fit_transform(X * np.float32(size))
        assert (np.diff(out.indptr) == 20).all()
        assert np.isfinite(out.data).all()
        expected = two_levels(metric=metric).fit_transform(X)
        assert (out.indices == expected.indices).mean() > (0.99 if size > 1e-38 else 0.9)

    def test_far_from_the_origin_and_far_from_all_anchors(self):
        X = (2000 + np.random.default_rng(0).standard_normal((600, 30))).astype(np.float32)
        model = two_levels(feature_range=(10, 30))
        out = model.fit_transform(X).toarray()
        np.testing.assert_allclose(out, oracle.randlocal(model, X, X), rtol=1e-3, atol=1e-4)
        far = model.transform(np.full((3, 30), np.finfo(np.float32).max, np.float32))
        assert (np.diff(far.indptr) == 20).all()
        assert np.isfinite(far.data).all()

    def test_infinite_values_are_refused(self):
        X = DIGITS[:300].copy()
        model = two_levels().fit(X)
        X[250, 3] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            model.transform(X)

    @pytest.mark.parametrize("n_levels", [0, 3, "two", None])
    def test_levels_are_one_or_two(self, n_levels):
        with pytest.raises(ValueError, match="n_levels"):
            RandLocal(n_levels=n_levels).fit(DIGITS)

    def test_the_kernel_refuses_cells_that_do_not_fit(self):
        cells = {"coarse_ptr": [0, 2], "cell_ptr": [0, 3, 6], "coarse_rows": [0, 1]}
        wrong = [
            {"coarse_ptr": [0, 1]},
            {"cell_ptr": [0, 3, 5]},
            {"cell_ptr": [0, 6, 6]},
            {"coarse_rows": [0, 6]},
            {"coarse_rows": [0]},
        ]
        for changed in ({}, *wrong):
            told = {
                name: np.array(value, np.int32 if name == "coarse_rows" else np.int64)
                for name, value in {**cells, **changed}.items()
            }
            table, rows = np.zeros((6, 2)), np.arange(6, dtype=np.int32)
            given = table, np.array([0, 6]), rows, np.array([0, 2]), rows[:2]
            if not changed:
                _native.AnchorGroups(*given, **told)
                continue
            with pytest.raises(ValueError, match=r"cell|coarse"):
                _native.AnchorGroups(*given, **told)


def test_files(tmp_path):
    model = two_levels().fit(DIGITS)
    expected = model.transform(DIGITS)
    assert same(pickle.loads(pickle.dumps(model)).transform(DIGITS), expected)
    skops.io.dump(model, tmp_path / "m.skops")
    assert same(
        skops.io.load(tmp_path / "m.skops", trusted=["vicinal.local._randlocal.RandLocal"]).transform(DIGITS), expected
    )


def test_what_builds_on_cells_takes_two_levels():
    y = load_digits().target
    pipeline = make_pipeline(two_levels(60), LinearSVC()).fit(DIGITS[:1200], y[:1200])
    assert pipeline.score(DIGITS[1200:], y[1200:]) > 0.9
    explanation = explain(pipeline, DIGITS[1200:1203])
    assert len(explanation) == 3
    detector = NeighborOutlierDetector(two_levels(task="unsupervised")).fit(DIGITS[:500])
    assert np.isfinite(detector.score_samples(DIGITS[500:600])).all()


def test_sums_over_cells_do_not_depend_on_threads():
    model = two_levels().fit(DIGITS)
    sums = [
        cell_sums(fitted_groups(model), DIGITS, model.mean_distances_, exclude_self=True, n_jobs=threads)
        for threads in (1, 2)
    ]
    assert np.array_equal(*sums)
    assert (sums[0][:, 0] == 20).all()

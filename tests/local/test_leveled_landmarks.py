"""Both variants of RULLS with two levels of landmarks, and with as many as the rows call for."""

import pickle

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from vicinal import RULLS, ProjectedLandmarks, SampledLandmarks, _native
from vicinal._coarse_cells import n_coarse_anchors

METRICS = ("euclidean", "manhattan", "cosine")
DIGITS = load_digits().data
NOISY = DIGITS[:1500] + np.random.default_rng(0).random((1500, 64))
BOTH = pytest.mark.parametrize("kind", [SampledLandmarks, ProjectedLandmarks])
each_metric = pytest.mark.parametrize("metric", METRICS)


def two_levels(kind, n_iterations=12, **settings):
    return kind(n_iterations, n_levels=2, random_state=0, **{"n_landmarks": (100, 300), "n_nearest": 5, **settings})


def expected(model, X, training):
    algorithm = oracle.sampled_landmarks if isinstance(model, SampledLandmarks) else oracle.projected_landmarks
    return algorithm(model, X, training)


def same(a, b):
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
    )


def in_subspace(model, t, rows):
    """Rows of X as an iteration sees them."""
    if isinstance(model, ProjectedLandmarks):
        return rows @ np.split(model.directions_, model.n_iterations)[t].T
    return rows[:, np.split(model.feature_indices_, model.n_iterations)[t]]


@BOTH
@each_metric
@pytest.mark.parametrize("n_nearest", [1, 5])
def test_features_are_those_of_plain_numpy(kind, metric, n_nearest):
    training, new = NOISY[:600], NOISY[600:800]
    model = two_levels(kind, metric=metric, n_nearest=n_nearest).fit(training)
    assert np.diff(model.cell_ptr_).min() >= n_nearest
    assert np.diff(model.coarse_ptr_).max() > 5
    for rows in (training, new):
        np.testing.assert_allclose(
            model.transform(rows).toarray(), expected(model, rows, training), rtol=1e-7, atol=1e-8
        )


@pytest.mark.parametrize("n_components", [1, 2, 6, 7, 1.0, "auto"])
@each_metric
def test_subspaces_of_any_size(n_components, metric):
    """By differences, by products, and with more dimensions than one tile holds."""
    model = two_levels(ProjectedLandmarks, 6, n_components=n_components, metric=metric).fit(NOISY[:500])
    found = model.transform(NOISY[500:600]).toarray()
    if n_components == 1 and metric == "cosine":  # distances are 0 or 2, and which of the equal ones counts is rounding
        assert ((found > 0).sum(axis=1) == 6 * 5).all()
        return
    np.testing.assert_allclose(found, expected(model, NOISY[500:600], NOISY[:500]), rtol=1e-6, atol=1e-7)


@BOTH
@each_metric
def test_every_landmark_lies_in_the_cell_of_its_nearest_coarse_one(kind, metric):
    model = two_levels(kind, metric=metric).fit(NOISY)
    assert model.n_levels_ == 2
    assert model.cell_ptr_[model.coarse_ptr_].tolist() == model.landmark_ptr_.tolist()
    columns = model.landmark_rows_ if kind is SampledLandmarks else np.arange(len(model.landmarks_))
    for t in range(model.n_iterations):
        rows, coarse = columns[model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]], oracle.coarse_rows(model, t)
        assert np.isin(coarse, rows).all()
        assert len(coarse) <= n_coarse_anchors(len(rows), model.n_nearest_)
        places = in_subspace(model, t, NOISY[model.landmark_samples_])
        D = oracle.distances(places[rows], places[coarse], metric)
        assert (oracle.nearest(D)[0].ravel() == oracle.cells_of(model, t)).all()


def test_attributes_of_projections_are_in_the_order_of_the_columns():
    model = two_levels(ProjectedLandmarks).fit(NOISY)
    assert model.landmarks_.shape[0] == len(model.landmark_samples_) == len(model.get_feature_names_out())
    for t in range(model.n_iterations):
        own = slice(*model.landmark_ptr_[t : t + 2])
        seen = in_subspace(model, t, NOISY[model.landmark_samples_[own]])
        np.testing.assert_allclose(model.landmarks_[own], seen, rtol=1e-9, atol=1e-9)


@BOTH
@each_metric
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_and_blocks_change_no_bit(kind, metric, dtype):
    X = DIGITS.astype(dtype)
    one, two = (two_levels(kind, 13, metric=metric, n_jobs=threads).fit(X) for threads in (1, 2))
    for name in ("landmarks_", "landmark_samples_", "landmark_ptr_", "coarse_ptr_", "coarse_rows_", "cell_ptr_"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    whole = one.transform(X)
    assert whole.dtype == dtype
    assert same(whole, two.transform(X))
    for block, n in ((1, 40), (7, 140), (500, 1000)):
        parts = [two.transform(X[start : start + block]) for start in range(0, n, block)]
        assert same(whole[:n], sp.vstack(parts, format="csr"))
    assert same(whole, pickle.loads(pickle.dumps(two)).transform(X))


@BOTH
def test_chunks_of_many_rows_change_no_bit(kind):
    X = np.random.default_rng(0).random((70_000, 10), dtype=np.float32)
    model = two_levels(kind, 11, n_nearest=2, n_jobs=1).fit(X)
    whole = model.transform(X)
    assert same(whole, model.set_params(n_jobs=2).transform(X))
    assert same(whole[60_000:], model.transform(X[60_000:]))


@BOTH
@each_metric
@pytest.mark.parametrize("far", [0, 1000])
def test_dense_and_csr_agree(kind, metric, far):
    """Far from zero, dense rows are moved near it."""
    X = NOISY[:600] + far
    dense, sparse = (two_levels(kind, metric=metric).fit(rows) for rows in (X, sp.csr_matrix(X)))
    features = dense.transform(X).toarray()
    for model, rows in ((dense, sp.csr_matrix(X)), (sparse, X), (sparse, sp.csr_array(X))):
        np.testing.assert_allclose(model.transform(rows).toarray(), features, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("isa", _native.available_instruction_sets)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@each_metric
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_cells_of_projected_rows_on_every_instruction_set(isa, dtype, metric, form):
    """Cells of any anchors, of which a group looks at some coordinates; sums of distances; 1 to 300 rows."""
    rng = np.random.default_rng(0)
    d, k, sizes = 20, 3, np.array([13, 50, 37, 12])
    directions = [np.linalg.qr(rng.standard_normal((30, d)))[0].T.astype(dtype) for _ in range(3)]
    features = [np.sort(rng.permutation(d)[:width]).astype(np.int32) for width in (2, 9, d)]
    table = rng.standard_normal((400, d)).astype(dtype)
    rows = [rng.permutation(400)[:112].astype(np.int32) for _ in range(3)]
    coarse = rng.permutation(400)[:12].astype(np.int32)
    groups = _native.AnchorGroups(
        table,
        np.arange(4) * 112,
        np.concatenate(rows),
        np.cumsum([0, 2, 9, d]),
        np.concatenate(features),
        metric=METRICS.index(metric),
        directions=np.concatenate(directions),
        coarse_ptr=np.arange(4) * 4,
        cell_ptr=np.cumsum([0, *sizes, *sizes, *sizes]),
        coarse_rows=coarse,
    )
    x = rng.standard_normal((300, 30)).astype(dtype) * (rng.random((300, 30)) < 0.7)
    for n_rows in (1, 300):
        part = x[:n_rows]
        csr = sp.csr_matrix(part)
        given = (csr.data, csr.indices, csr.indptr, 30) if form == "csr" else part
        columns, values = np.empty((n_rows, 3 * k), np.int32), np.empty((n_rows, 3 * k), dtype)
        sums, counts, _ = _native.nearest(given, groups, columns, values, n_neighbors=k, n_threads=2, isa=isa)
        for t in range(3):
            seen = (part.astype(np.float64) @ directions[t].T)[:, features[t]]
            D_coarse = oracle.distances(seen, table[np.ix_(coarse[4 * t : 4 * t + 4], features[t])], metric)
            D = oracle.distances(seen, table[np.ix_(rows[t], features[t])], metric)
            index, far = oracle.nearest(oracle.within_cells(D, D_coarse, np.repeat(np.arange(4), sizes)), k)
            own = slice(t * k, (t + 1) * k)
            tolerance = {"rtol": 1e-3, "atol": 2e-3} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-7}
            np.testing.assert_allclose(np.sort(values[:, own]), far, **tolerance)
            if dtype == np.float64:
                assert (np.sort(columns[:, own] - 112 * t) == np.sort(index)).all()
            assert counts[t] == D_coarse.size
            assert sums[t] == pytest.approx(D_coarse.sum(), rel=1e-4)


@BOTH
class TestAuto:
    def test_up_to_many_rows_it_is_the_default(self, kind):
        fixed, auto = (kind(5, random_state=0, **given).fit(DIGITS) for given in ({}, {"n_landmarks": "auto"}))
        assert same(fixed.transform(DIGITS), auto.transform(DIGITS))
        assert fixed.n_levels_ == auto.n_levels_ == 1
        assert kind(2, n_landmarks="auto", n_levels=2).fit(DIGITS).coarse_ptr_ is None

    def test_beyond_them_landmarks_grow_with_the_rows(self, kind):
        X = np.random.default_rng(0).random((80_000, 15), dtype=np.float32)
        for n_rows in (40_000, 80_000):
            model = kind(20, n_landmarks="auto", n_nearest=3, random_state=0).fit(X[:n_rows])
            sizes = np.diff(model.landmark_ptr_)
            assert model.n_levels_ == 2
            assert sizes.min() >= 511
            assert sizes.max() <= n_rows / 16
            assert np.log2(sizes).mean() == pytest.approx((np.log2(512) + np.log2(n_rows / 16)) / 2, abs=0.4)

    def test_what_is_refused(self, kind):
        for wrong in ("many", 1, (5, 2), 2.5, None):
            with pytest.raises(ValueError, match=r"n_landmarks must be a whole number .* or 'auto'"):
                kind(n_landmarks=wrong).fit(DIGITS)
        with pytest.raises(
            ValueError, match="n_nearest=1024 must be less than n_landmarks=auto, which is at most 1024"
        ):
            kind(n_landmarks="auto", n_nearest=1024).fit(DIGITS)
        for wrong in (0, 3, "two", None):
            with pytest.raises(ValueError, match="n_levels"):
                kind(n_levels=wrong).fit(DIGITS)


def test_landmarks_with_bases_of_their_own_do_not_grow():
    with pytest.raises(ValueError, match=r"n_landmarks must be a whole number .* of them; got 'auto'"):
        RULLS(n_landmarks="auto").fit(DIGITS)


@BOTH
class TestDegenerateCases:
    @pytest.mark.parametrize("n_rows", [6, 7, 13, 63])
    def test_more_landmarks_than_rows(self, kind, n_rows):
        model = two_levels(kind, n_landmarks=50_000).fit(NOISY[:n_rows])
        assert np.diff(model.landmark_ptr_).max() <= max(6, n_rows // 2)
        assert (np.diff(model.transform(NOISY).indptr) == 12 * 5).all()

    def test_few_rows_take_fewer_nearest_ones(self, kind):
        with pytest.warns(UserWarning, match="X has 4, so n_nearest=3 is used"):
            model = two_levels(kind).fit(NOISY[:4])
        # Of the training rows one is the only coarse landmark: its mean distance is 0, up to rounding.
        new = NOISY[4:]
        np.testing.assert_allclose(
            model.transform(new).toarray(), expected(model, new, NOISY[:4]), rtol=1e-7, atol=1e-8
        )

    @each_metric
    def test_all_rows_equal(self, kind, metric):
        model = two_levels(kind, metric=metric).fit(np.ones((300, 6)))
        assert (np.diff(model.coarse_ptr_) == 1).all()
        assert (np.diff(model.landmark_ptr_) == 5).all()
        for rows in (np.ones((20, 6)), np.zeros((20, 6)), np.eye(6)):
            out = model.transform(rows)
            assert (np.diff(out.indptr) == 12 * 5).all()
            assert np.isfinite(out.data).all()

    def test_equal_landmarks_count_once(self, kind):
        X = np.random.default_rng(0).integers(0, 3, (3000, 4)).astype(np.float32)
        model = two_levels(kind, n_landmarks=1000, n_nearest=2).fit(X)
        assert np.diff(model.landmark_ptr_).max() <= 81
        assert (np.diff(model.transform(X).indptr) == 12 * 2).all()

    def test_one_far_coarse_cell_for_all_new_rows(self, kind):
        """All new rows in one cell, and cells that none of them is in."""
        model = two_levels(kind).fit(NOISY)
        far = np.full((50, 64), 1e6)
        np.testing.assert_allclose(model.transform(far).toarray(), expected(model, far, NOISY), rtol=1e-6)
        assert same(model.transform(NOISY[:3]), model.transform(NOISY)[:3])

    def test_constant_columns_change_nothing(self, kind):
        X = np.column_stack([np.full(800, 7.0), NOISY[:800, 10:14], np.zeros(800)])
        model = two_levels(kind, **{"n_columns" if kind is SampledLandmarks else "n_components": 2}).fit(X)
        np.testing.assert_allclose(model.transform(X).toarray(), expected(model, X, X), rtol=1e-6, atol=1e-7)

    @each_metric
    @pytest.mark.parametrize("size", [1e-30, 1e30])
    def test_tiny_and_huge_values(self, kind, metric, size):
        X = np.random.default_rng(0).standard_normal((600, 30)).astype(np.float32)
        usual, odd = (two_levels(kind, metric=metric).fit(rows) for rows in (X, X * np.float32(size)))
        assert np.isfinite(odd.transform(X * np.float32(size)).data).all()
        found, told = odd.transform(X * np.float32(size)).indices, usual.transform(X).indices
        assert found.shape == told.shape
        assert (found == told).mean() > 0.98

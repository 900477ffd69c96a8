"""RULLS: the paper's algorithms, both ways of computing them, and every degenerate case that is documented."""

import warnings

import joblib
import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from vicinal import RULLS, ProjectedLandmarks, SampledLandmarks
from vicinal.local._local_bases import centred, directions, principal_coefficients
from vicinal.local._robust_basis import robust_basis

DIGITS = load_digits().data
RNG = np.random.default_rng(0)
WIDE = RNG.standard_normal((420, 40)) @ RNG.standard_normal((40, 40))  # 40 columns, neighbourhoods of 30
SETTINGS = [
    {},
    {"normalize": True},
    {"metric": "manhattan", "n_nearest": 3},
    {"metric": "cosine", "n_neighborhood": 12},
    {"variance": 0.6, "regularization": 0.5, "n_landmarks": (4, 16), "n_nearest": 1},
    {"radius": 60.0},
]


def by_products(model):
    return model.directions_ is None


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("n_columns", "n_iterations"), [(40, 12), (12, 12), (40, 2)])
def test_features_are_those_of_the_algorithms(settings, n_columns, n_iterations):
    training, new = WIDE[:300, :n_columns], WIDE[300:, :n_columns]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="radius")
        model = RULLS(n_iterations, random_state=0, **settings).fit(training)
    for rows in (training, new):
        np.testing.assert_allclose(
            model.transform(rows).toarray(), oracle.rulls(model, rows, training), rtol=1e-7, atol=1e-7
        )


def test_both_ways_are_used_by_the_test_above():
    assert by_products(RULLS(12, random_state=0).fit(WIDE[:300]))
    assert not by_products(RULLS(12, random_state=0).fit(WIDE[:300, :12]))


def test_the_cheaper_way_is_kept():
    for columns, n_iterations in [(40, 30), (40, 1), (31, 1), (12, 5)]:
        X = WIDE[:, :columns]
        model = RULLS(n_iterations, random_state=0).fit(X)
        near = RULLS(n_iterations, random_state=0)._neighborhoods(X, model.landmark_samples_)
        n_directions = model.direction_ptr_[-1]
        combined = len(np.unique(near)) * columns + n_directions * 30
        assert by_products(model) == (combined < n_directions * columns)


@pytest.mark.parametrize("settings", [{}, {"normalize": True}, {"pca": "robust", "n_iterations": 2}])
def test_threads_and_blocks_do_not_matter(settings):
    X = WIDE.astype(np.float32)
    model = RULLS(**{"n_iterations": 15, "random_state": 0, "n_jobs": 1, **settings}).fit(X)
    whole = model.transform(X)
    for n_jobs in (1, 2, 3):
        model.set_params(n_jobs=n_jobs).fit(X)
        parts = sp.vstack([model.transform(X[start:stop]) for start, stop in [(0, 1), (1, 50), (50, 420)]])
        assert (whole != parts).nnz == 0


@pytest.mark.parametrize("X", [DIGITS[:200], WIDE[:200]])
def test_dense_and_sparse_agree(X):
    dense, sparse = RULLS(8, random_state=0).fit(X), RULLS(8, random_state=0).fit(sp.csr_matrix(X))
    expected = dense.transform(X).toarray()
    for model, rows in [(dense, sp.csr_matrix(X)), (sparse, X), (sparse, sp.csr_matrix(X))]:
        np.testing.assert_allclose(model.transform(rows).toarray(), expected, rtol=1e-9, atol=1e-9)


def test_sparse_rows_of_a_model_with_a_far_origin():
    X = WIDE[:150] + 1000
    model = RULLS(8, random_state=0).fit(X)
    assert model.center_ is not None
    np.testing.assert_array_equal(model.transform(sp.csr_matrix(X)).toarray(), model.transform(X).toarray())
    np.testing.assert_allclose(model.transform(X).toarray(), oracle.rulls(model, X, X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("columns", [12, 40])
def test_rotated_data_have_the_same_features(columns):
    X = WIDE[:, :columns]
    rotation = ortho_group.rvs(columns, random_state=1)
    plain = RULLS(10, random_state=0).fit_transform(X).toarray()
    rotated = RULLS(10, random_state=0).fit_transform(X @ rotation + 5).toarray()
    np.testing.assert_allclose(rotated, plain, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("columns", [12, 40])
def test_single_precision_is_close(columns):
    X = WIDE[:, :columns]
    model = RULLS(10, n_nearest=31, n_landmarks=32, random_state=0).fit(X)
    single = RULLS(10, n_nearest=31, n_landmarks=32, random_state=0).fit(X.astype(np.float32))
    found, expected = single.transform(X.astype(np.float32)), model.transform(X)
    assert found.dtype == np.float32
    close = np.isclose(found.toarray(), expected.toarray(), rtol=1e-3, atol=1e-3 * expected.data.max())
    assert close.mean() > 0.99  # which landmark comes last may change


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1e-2, 1e-4, 1e-6])
def test_tight_clusters(dtype, spread):
    """Products of whole rows would lose what tells the rows of a cluster apart."""
    rng = np.random.default_rng(0)
    centers = 10 * rng.standard_normal((8, 64))
    X = (centers[rng.integers(8, size=500)] + spread * rng.standard_normal((500, 64))).astype(dtype)
    model = RULLS(10, n_landmarks=200, n_nearest=5, random_state=0).fit(X)
    if by_products(model):
        assert model.rows_.dtype == np.float64
    found = model.transform(X[:100])
    assert found.dtype == dtype
    expected = oracle.rulls(model, X[:100], X)
    assert np.mean((found.toarray() > 0) == (expected > 0)) > (0.999 if spread > 1e-6 or dtype == np.float64 else 0.9)


@pytest.mark.parametrize("kind", [RULLS, SampledLandmarks, ProjectedLandmarks])
@pytest.mark.parametrize(("dtype", "factor"), [(np.float32, 1e25), (np.float64, 1e200)])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_a_row_so_far_off_that_its_squares_overflow(kind, dtype, factor, metric):
    X = WIDE.astype(dtype)
    far = np.vstack([X[:2], dtype(factor) * X[2:3]])
    features = kind(3, metric=metric, random_state=0).fit(X).transform(far)
    features.check_format()
    assert np.isfinite(features.data).all()
    assert (features.getnnz(axis=1) == 30).all()


@pytest.mark.parametrize("factor", [1e-10, 1e10])
def test_cosine_does_not_depend_on_the_scale(factor):
    X = WIDE[:, :12].astype(np.float32)
    plain = RULLS(5, metric="cosine", random_state=0).fit_transform(X).toarray()
    scaled = RULLS(5, metric="cosine", random_state=0).fit_transform(X * np.float32(factor)).toarray()
    assert np.isclose(plain, scaled, atol=1e-3).mean() > 0.99


def test_a_column_that_is_constant_nearby_is_not_blown_up():
    rng = np.random.default_rng(0)
    X = 0.1 * rng.standard_normal((300, 6))
    X[:, 5] = np.where(np.arange(300) % 2, 50000.7, 0)
    X[:, 0] *= 1e13
    model = RULLS(3, n_landmarks=30, normalize=True, random_state=0).fit(X[:, 1:])
    assert model.transform(X[1::2, 1:]).max() < 1e7
    deviation = centred(X[None, 1:60:2], np.ones((1, 30), bool), True)[1][0, 0]
    np.testing.assert_allclose(deviation[:5], X[1:60:2, :5].std(0))
    assert deviation[5] == 1


def test_robust_subspaces_where_most_rows_are_equal():
    X = np.vstack([np.repeat(WIDE[:1], 26, axis=0), WIDE[1:200]])
    model = RULLS(2, pca="robust", random_state=0).fit(X)
    assert (np.diff(model.direction_ptr_) > 0).all()


def test_a_share_may_be_a_whole_number():
    X = WIDE[:100, :6]
    for pca in ("classic", "robust"):
        whole = RULLS(2, variance=1, pca=pca, random_state=0).fit(X)
        np.testing.assert_array_equal(
            whole.direction_ptr_, RULLS(2, variance=np.float32(1), pca=pca, random_state=0).fit(X).direction_ptr_
        )
        assert np.diff(whole.direction_ptr_).max() > 1


def test_a_fit_that_fails_leaves_the_model_as_it_was(monkeypatch):
    model = RULLS(2, random_state=0).fit(WIDE + 1000)
    before = model.transform(WIDE + 1000)

    def fail(*args):
        raise MemoryError

    monkeypatch.setattr("vicinal.local._rulls.principal_coefficients", fail)
    with pytest.raises(MemoryError):
        model.fit(WIDE)
    assert (model.transform(WIDE + 1000) != before).nnz == 0
    new = RULLS(2)
    with pytest.raises(MemoryError):
        new.fit(WIDE)
    with pytest.raises(NotFittedError):
        new.transform(WIDE)


def test_within_processes_of_joblib():
    """So many landmarks that their neighbourhoods are shared out among threads."""
    expected = RULLS(8, n_landmarks=100, n_neighborhood=60, random_state=0, n_jobs=1).fit_transform(WIDE)
    with joblib.parallel_config(backend="multiprocessing"):
        found = RULLS(8, n_landmarks=100, n_neighborhood=60, random_state=0, n_jobs=2).fit_transform(WIDE)
    assert (expected != found).nnz == 0


def test_robust_subspaces_are_those_of_robust_pca():
    training = WIDE[:120, :8]
    model = RULLS(3, pca="robust", n_landmarks=20, n_neighborhood=20, n_nearest=4, random_state=0).fit(training)
    rng = np.random.RandomState(0)
    model._draw_landmarks(120, rng)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(model.landmark_samples_))
    by_rows = {}
    for sample, seed in zip(model.landmark_samples_, seeds, strict=True):
        near = oracle.nearest(oracle.distances(training[[sample]], training), 20)[0][0]
        rows, _ = centred(training[near][None], np.ones((1, 20), bool), False)
        by_rows[training[near].tobytes()] = robust_basis(rows[0], 0.95, np.random.RandomState(seed)).loadings
    expected = oracle.rulls(model, WIDE[:, :8], training, basis=lambda neighborhood: by_rows[neighborhood.tobytes()])
    np.testing.assert_allclose(model.transform(WIDE[:, :8]).toarray(), expected, rtol=1e-6, atol=1e-6)


def test_local_directions_are_principal_components():
    rows = RNG.standard_normal((3, 10, 25)) @ RNG.standard_normal((25, 25))
    own, deviation = centred(rows, np.ones((3, 10), bool), False)
    weights = principal_coefficients(own, np.ones((3, 10), bool), 0.9)
    found = np.split(directions(own, deviation, weights), np.cumsum([weight.shape[1] for weight in weights])[:-1])
    for neighborhood, axes in zip(rows, found, strict=True):
        pca = PCA(0.9, svd_solver="full").fit(neighborhood)
        assert len(axes) == pca.n_components_
        np.testing.assert_allclose(np.abs(np.sum(axes * pca.components_, axis=1)), 1)


def test_all_of_the_variance():
    model = RULLS(2, variance=1.0, n_neighborhood=10, random_state=0).fit(WIDE)
    assert (np.diff(model.direction_ptr_) == 9).all()


def test_few_rows():
    X = WIDE[:8]
    with pytest.warns(UserWarning, match="needs") as told:
        model = RULLS(3, random_state=0).fit(X)
    assert [str(warning.message) for warning in told] == [
        "n_nearest=10 needs more than 10 rows to draw landmarks from; X has 8, so n_nearest=7 is used.",
        "n_neighborhood=30 needs at least as many rows; X has 8, and all of them are used.",
    ]
    assert all(warning.filename == __file__ for warning in told)
    assert model.transform(X).nnz == 8 * 3 * 7


def test_a_small_radius():
    with pytest.warns(UserWarning, match=r"radius=1e-06 catches fewer than two other rows around \d+ of \d+ landmarks"):
        model = RULLS(3, radius=1e-6, random_state=0).fit(WIDE)
    assert (model.transform(WIDE) != RULLS(3, random_state=0).fit_transform(WIDE)).nnz == 0


def test_equal_rows_make_way_for_different_ones():
    """Forty copies of a row have no subspace; with copies left out, they have."""
    X = np.vstack([np.repeat(WIDE[:1], 40, axis=0), WIDE[1:80]])
    model = RULLS(5, n_landmarks=60, random_state=0).fit(X)
    assert (np.diff(model.direction_ptr_) > 0).all()
    features = model.transform(X)
    assert features.nnz == len(X) * 5 * 10
    assert len({row.tobytes() for row in features[:40].toarray()}) == 1


def test_all_rows_equal():
    features = RULLS(3, n_nearest=4, n_neighborhood=5, random_state=0).fit_transform(np.ones((20, 3)))
    np.testing.assert_allclose(features.data, 1e-4)
    assert features.nnz == 20 * 3 * 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_landmarks": 10}, "n_nearest=10 must be less than n_landmarks=10"),
        ({"n_landmarks": 1, "n_nearest": 1}, "n_landmarks must be a whole number of at least 2"),
        ({"n_iterations": 0}, "n_iterations must be a whole number of at least 1"),
        ({"n_neighborhood": 1}, "n_neighborhood must be a whole number of at least 2"),
        ({"radius": 0.0}, "radius must be a number above 0; got 0.0"),
        ({"radius": "x"}, "radius must be a number above 0; got 'x'"),
        ({"variance": 0.0}, "variance must be a share above 0 and up to 1.0; got 0.0"),
        ({"variance": 2}, "variance must be a share above 0 and up to 1.0; got 2"),
        ({"pca": "sparse"}, "pca must be one of 'classic', 'robust'; got 'sparse'"),
        ({"metric": "hamming"}, "metric must be one of"),
        ({"regularization": -1.0}, "regularization must be a number of at least 0"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        RULLS(**{"n_iterations": 2, **settings}).fit(WIDE)


def test_a_frozen_result():
    features = RULLS(2, n_landmarks=8, n_neighborhood=6, n_nearest=2, random_state=3).fit_transform(DIGITS[:40])
    np.testing.assert_array_equal(features.indices[:4], [4, 6, 13, 15])
    np.testing.assert_allclose(features.data[:4], [9.5713446723, 11.4851452736, 11.29323119, 10.3292777099], rtol=1e-9)


def test_columns_without_differences_leave_no_rounding_behind():
    """Remainders far below the smallest normal number make products many times slower."""
    rows = RNG.standard_normal((4, 9, 6)) + 100 / 3
    rows[:, :, 2] = 1 / 3
    present = np.ones((4, 9), bool)
    present[1, 5:] = False
    found, _ = centred(rows, present, normalize=False)
    assert not found[:, :, 2].any()
    np.testing.assert_allclose(found.sum(1), 0, atol=1e-12)
    assert not found[1, 5:].any()
    np.testing.assert_allclose(found[0], rows[0] - rows[0].mean(0), atol=1e-12)

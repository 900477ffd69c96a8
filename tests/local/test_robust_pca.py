"""RobustPCA: the paper's steps against plain loops, what outliers may not do, and every degenerate case."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import subspace_angles
from scipy.stats import chi2, norm, ortho_group
from sklearn.base import clone
from sklearn.covariance import MinCovDet
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal.local import _robust_basis as core
from vicinal.local._robust_basis import robust_basis, univariate_mcd, wilson_hilferty_cutoff
from vicinal.local._robust_pca import RobustPCA


@pytest.mark.portable
@parametrize_with_checks([RobustPCA(), RobustPCA(1), RobustPCA(0.9, n_directions=20, max_components=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def low_dimensional(rng, n_rows, n_columns, deviations=(6, 5, 4), noise=0.1):
    """Normal rows around a subspace, and its basis."""
    basis = np.linalg.qr(rng.normal(size=(n_columns, len(deviations))))[0]
    scores = rng.normal(size=(n_rows, len(deviations))) * deviations
    return scores @ basis.T + noise * rng.normal(size=(n_rows, n_columns)) + 10, basis


def with_outliers(rng, X, basis, far, share=0.1):
    """The first rows replaced by a far cluster, orthogonal to the subspace."""
    n_outliers = int(share * len(X))
    away = rng.normal(size=X.shape[1])
    away -= basis @ (basis.T @ away)
    X = X.copy()
    X[:n_outliers] = 10 + far * away / np.linalg.norm(away) + 0.1 * rng.normal(size=(n_outliers, X.shape[1]))
    return X, np.arange(len(X)) < n_outliers


def largest_angle(basis, model):
    return np.degrees(subspace_angles(basis, model.components_.T).max())


@pytest.mark.parametrize("far", [30, 1e8])
@pytest.mark.parametrize("shape", [(200, 10), (500, 40), (100, 300)])
@pytest.mark.parametrize("seed", range(3))
def test_a_tenth_of_outliers_does_not_tilt_the_subspace(shape, far, seed):
    rng = np.random.default_rng(seed)
    X, basis = low_dimensional(rng, *shape)
    X, planted = with_outliers(rng, X, basis, far)
    model = RobustPCA(3, random_state=seed).fit(X)
    assert largest_angle(basis, model) < 5
    assert largest_angle(basis, PCA(3).fit(X)) > 30
    assert model.outliers_[planted].all()
    assert model.outliers_[~planted].mean() < 0.2
    assert np.linalg.norm(model.mean_ - 10) < 3


def test_outliers_within_the_subspace_do_not_change_centre_and_variances(rng):
    X, basis = low_dimensional(rng, 400, 8)
    clean = RobustPCA(3, random_state=0).fit(X)
    X[:40] = 10 + 200 * basis[:, 2] + rng.normal(size=(40, 8))  # far along the axis of least variance
    model = RobustPCA(3, random_state=0).fit(X)
    assert largest_angle(basis, model) < 5
    np.testing.assert_allclose(model.explained_variance_, clean.explained_variance_, rtol=0.25)
    assert np.linalg.norm(model.mean_ - clean.mean_) < 1
    assert model.outliers_[:40].all()
    assert PCA(3).fit(X).explained_variance_[0] > 50 * model.explained_variance_[0]


def test_clean_normal_rows_give_what_pca_gives(rng):
    X, basis = low_dimensional(rng, 3000, 12, noise=0.5)
    robust, classic = RobustPCA(3, random_state=0).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(robust.explained_variance_, classic.explained_variance_, rtol=0.08)
    assert np.degrees(subspace_angles(robust.components_.T, classic.components_.T).max()) < 1
    assert np.linalg.norm(robust.mean_ - classic.mean_) < 0.5
    assert largest_angle(basis, robust) < 2


def test_variances_are_consistent_for_normal_rows(rng):
    X = rng.normal(size=(8000, 5)) * [5, 4, 3, 0.5, 0.5]
    robust, classic = RobustPCA(3, n_directions=50, random_state=0).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(robust.explained_variance_, classic.explained_variance_, rtol=0.03)


def test_the_subspace_rests_on_all_rows_near_it_not_on_h_of_them(rng):
    X, basis = low_dimensional(rng, 1000, 20, noise=0.5)
    X, planted = with_outliers(rng, X, basis, 30)
    near = robust_basis(X, 3, np.random.RandomState(0)).near
    assert not near[planted].any()
    assert 0.95 < near[~planted].mean() < 0.99


def test_each_cutoff_flags_a_fortieth_of_clean_normal_rows():
    rng = np.random.default_rng(0)
    X, basis = low_dimensional(rng, 2000, 20, noise=0.5)
    new = rng.normal(size=(20000, 3)) * (6, 5, 4) @ basis.T + 0.5 * rng.normal(size=(20000, 20)) + 10
    model = RobustPCA(3, random_state=0).fit(X)
    for rows in (X, new):
        within = model.score_distances(rows) > model.score_cutoff_
        across = model.orthogonal_distances(rows) > model.orthogonal_cutoff_
        assert 0.015 < within.mean() < 0.035
        assert 0.015 < across.mean() < 0.035
        np.testing.assert_array_equal(model.flag_outliers(rows), within | across)


def plain_univariate_mcd(values, h):
    """All windows of the sorted values, one after the other, by the definitions."""
    y, n = np.sort(values), len(values)
    if h == n:
        return y.mean(), y.std(ddof=1)
    windows = [y[s : s + h] for s in range(n - h + 1)]
    mean = min(windows, key=np.var).mean()
    raw_variance = np.sort((y - mean) ** 2)[h - 1] / chi2.ppf(h / n, 1)
    coverage = max(0.975, h / n)
    inside = y[(y - mean) ** 2 <= raw_variance * chi2.ppf(coverage, 1) * (1 + 1e-12)]
    normal_loss = coverage / chi2.cdf(chi2.ppf(coverage, 1), 3)
    return inside.mean(), np.sqrt(inside.var(ddof=1) * normal_loss)


@pytest.mark.parametrize(("n", "h"), [(2, 2), (3, 2), (5, 3), (30, 22), (31, 16), (60, 59), (100, 99), (40, 40)])
def test_univariate_mcd_equals_the_plain_loop(n, h):
    rng = np.random.default_rng(n)
    values = rng.standard_t(2, size=(50, n)) * 10.0 ** rng.integers(-3, 4, size=(50, 1)) + rng.normal(size=(50, 1))
    location, scale = univariate_mcd(values, h)
    for row in range(50):
        np.testing.assert_allclose((location[row], scale[row]), plain_univariate_mcd(values[row], h), rtol=1e-9)


@pytest.mark.portable
@given(arrays(np.float64, st.integers(3, 25), elements=st.floats(-100, 100)), st.data())
def test_univariate_mcd_has_a_window_of_least_variance_whatever_the_values(values, data):
    n = len(values)
    h = data.draw(st.integers(n // 2 + 1, n))
    location, scale = univariate_mcd(values[None], h)
    assert values.min() - 1e-9 <= location[0] <= values.max() + 1e-9
    assert np.isfinite(scale[0])
    y = np.sort(values)
    if h < n and (y[h - 1 :] == y[: n - h + 1]).any():  # h equal values: the exact fit
        assert scale[0] <= 1e-6


def test_univariate_mcd_is_not_blinded_by_far_values(rng):
    values = rng.normal(size=(1, 100))
    values[0, :20] = -1e12
    location, scale = univariate_mcd(values, 75)
    assert abs(location[0]) < 0.5
    assert 0.7 < scale[0] < 1.5


def test_univariate_mcd_is_consistent_for_normal_values():
    location, scale = univariate_mcd(np.random.default_rng(0).normal(3, 2, size=(20, 20000)), 15000)
    np.testing.assert_allclose(location.mean(), 3, atol=0.02)
    np.testing.assert_allclose(scale.mean(), 2, rtol=0.01)


def test_wilson_hilferty_cutoff(rng):
    distances = np.sqrt(rng.chisquare(5, size=300))
    location, scale = plain_univariate_mcd(distances ** (2 / 3), 225)
    expected = norm.ppf(0.975, location, scale) ** (3 / 2)
    np.testing.assert_allclose(wilson_hilferty_cutoff(distances, 225), expected)
    large = np.sqrt(np.random.default_rng(0).chisquare(5, size=50000))
    np.testing.assert_allclose(wilson_hilferty_cutoff(large, 37500), np.sqrt(chi2.ppf(0.975, 5)), rtol=0.01)


@pytest.mark.parametrize("block_entries", [1, 100, 2**20])  # one direction, 6 and all 105 at a time
def test_outlyingness_equals_the_plain_loop(rng, block_entries):
    Z = rng.normal(size=(15, 4))
    Z[:2] += 20
    plain = np.zeros(15)
    for i in range(15):
        for j in range(i):
            direction = (Z[i] - Z[j]) / np.linalg.norm(Z[i] - Z[j])
            location, scale = plain_univariate_mcd(Z @ direction, 11)
            plain = np.maximum(plain, np.abs(Z @ direction - location) / scale)
    np.testing.assert_allclose(core._outlyingness(Z, 11, 250, np.random.RandomState(0), block_entries), plain)
    assert set(np.argsort(plain)[-2:]) == {0, 1}


@pytest.mark.parametrize("block_entries", [1, 1600])  # one start and 8 starts at a time
def test_blocks_of_starts_change_nothing(rng, block_entries):
    """Without a middle there are many local minima: another set of starts would find other rows."""
    for seed in range(10):
        scores = rng.uniform(size=(40, 5))
        whole = core._fast_mcd(scores, 23, np.arange(23), np.random.RandomState(seed))
        blocks = core._fast_mcd(scores, 23, np.arange(23), np.random.RandomState(seed), block_entries)
        np.testing.assert_array_equal(np.sort(blocks), np.sort(whole))


def test_random_directions_are_distinct_pairs():
    rows = np.eye(60)
    found = core._directions(rows, 250, np.random.RandomState(0))
    assert found.shape == (250, 60)
    np.testing.assert_allclose(np.sort(found, axis=1)[:, [0, -1]], np.tile([-1, 1] / np.sqrt(2), (250, 1)))
    assert len(np.unique(found, axis=0)) == 250
    assert len(core._directions(rows[:20], 250, np.random.RandomState(0))) == 190


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "k"), [(40, 2), (100, 5), (60, 10)])
def test_determinant_is_as_small_as_that_of_scikit_learn(seed, n, k):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * np.arange(1, k + 1)
    scores[: n // 5] += 10
    h = int(0.75 * n)
    tightest = core._fast_mcd(scores, h, np.arange(h), np.random.RandomState(seed))
    assert len(np.unique(tightest)) == h
    reference = MinCovDet(support_fraction=h / n, random_state=seed).fit(scores).raw_support_
    assert reference.sum() == h
    ours, theirs = (np.linalg.slogdet(np.cov(scores[rows].T))[1] for rows in (tightest, reference))
    assert ours < theirs + 1e-6


@pytest.mark.parametrize("shape", [(80, 6), (40, 70)])
@pytest.mark.parametrize("asked", [3, 0.9, None])
def test_rotation_shift_and_scale_of_the_data_go_through(rng, shape, asked):
    X, basis = low_dimensional(rng, *shape, noise=1)
    X, _ = with_outliers(rng, X, basis, 50)
    rotation = ortho_group.rvs(shape[1], random_state=0)
    moved = 7 * X @ rotation + rng.normal(size=shape[1]) * 30
    one, two = RobustPCA(asked, random_state=0).fit(X), RobustPCA(asked, random_state=0).fit(moved)
    np.testing.assert_allclose(np.abs(two.transform(moved)), 7 * np.abs(one.transform(X)), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(two.explained_variance_, 49 * one.explained_variance_)
    np.testing.assert_array_equal(one.outliers_, two.outliers_)
    np.testing.assert_array_equal(one.support_, two.support_)


def test_order_of_the_rows_does_not_matter_where_all_directions_are_used(rng):
    X, _ = low_dimensional(rng, 20, 5, noise=1)
    order = rng.permutation(20)
    one, two = RobustPCA(2, random_state=0).fit(X), RobustPCA(2, random_state=0).fit(X[order])
    np.testing.assert_allclose(two.components_, one.components_, rtol=1e-7)
    np.testing.assert_array_equal(two.outliers_, one.outliers_[order])


@pytest.mark.parametrize("shape", [(60, 8), (30, 100)])
def test_transform_inverse_transform_and_distances(rng, shape):
    X, _ = low_dimensional(rng, *shape, noise=1)
    model = RobustPCA(3, random_state=0).fit(X)
    scores = model.transform(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(scores, (X - model.mean_) @ model.components_.T)
    np.testing.assert_allclose(model.transform(model.inverse_transform(scores)), scores)
    np.testing.assert_allclose(np.linalg.norm(X - model.inverse_transform(scores), axis=1), model.orthogonal_distances_)
    np.testing.assert_allclose(model.score_distances_**2, (scores**2 / model.explained_variance_).sum(axis=1))
    np.testing.assert_array_equal(model.score_distances(X), model.score_distances_)
    np.testing.assert_array_equal(model.orthogonal_distances(X), model.orthogonal_distances_)
    np.testing.assert_array_equal(model.flag_outliers(X), model.outliers_)
    np.testing.assert_allclose(model.score_cutoff_, np.sqrt(chi2.ppf(0.975, 3)))
    np.testing.assert_array_equal(clone(model).fit_transform(X), scores)
    assert (np.diff(model.explained_variance_) <= 0).all()
    largest = np.abs(model.components_).argmax(axis=1)
    assert (model.components_[np.arange(3), largest] > 0).all()
    assert list(model.get_feature_names_out()) == ["robustpca0", "robustpca1", "robustpca2"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), scores)


def test_float32_stays_float32_and_agrees_with_float64(rng):
    X, _ = low_dimensional(rng, 100, 6)
    single, double = (
        RobustPCA(2, random_state=0).fit(X.astype(t).astype(np.float32 if t == "f4" else t)) for t in ("f4", "f8")
    )
    assert {single.transform(X.astype("f4")).dtype, single.components_.dtype, single.mean_.dtype} == {np.dtype("f4")}
    assert single.score_distances(X.astype("f4")).dtype == np.float32
    np.testing.assert_allclose(single.components_, double.components_, atol=1e-4)
    np.testing.assert_array_equal(single.outliers_, double.outliers_)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("shape", [(30, 800), (30, 60), (30, 5), (300, 20)])
def test_a_share_of_the_variance_of_the_regular_rows_is_explained(shape, share):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape) * np.linspace(3, 0.2, shape[1])
    X[0] = 1000
    basis = robust_basis(X, share, np.random.RandomState(0))
    k = basis.loadings.shape[1]
    assert 1 <= k <= min(shape[0] - 1, shape[1])
    np.testing.assert_allclose(basis.loadings.T @ basis.loadings, np.eye(k), atol=1e-10)
    assert not basis.support[0]
    assert (basis.eigenvalues > 0).all()
    regular = X[basis.near] - X[basis.near].mean(axis=0)
    shares = np.linalg.svd(regular, compute_uv=False) ** 2 / (regular**2).sum()
    np.testing.assert_allclose(((regular @ basis.loadings) ** 2).sum() / (regular**2).sum(), shares[:k].sum())
    assert shares[: k - 1].sum() < share <= shares[:k].sum() + 1e-9
    if share == 1.0 and shape[1] < shape[0]:
        assert k == shape[1]


def test_few_rows_for_many_components_take_the_least_outlying_rows(rng):
    X = rng.normal(size=(30, 200))
    X[:3] += 40 * rng.normal(size=200)
    model = RobustPCA(15, random_state=0).fit(X)
    assert model.support_.sum() == 23  # (30 + 15 + 1) / 2
    assert not model.support_[:3].any()
    assert model.outliers_[:3].all()
    np.testing.assert_allclose(model.mean_ @ model.components_.T, X[model.support_].mean(axis=0) @ model.components_.T)
    np.testing.assert_allclose(
        np.cov(model.transform(X[model.support_]).T), np.diag(model.explained_variance_), atol=1e-8
    )


def test_number_of_components_left_open(rng):
    X, _ = low_dimensional(rng, 300, 30, deviations=(9, 8, 7, 0.1), noise=0.01)
    assert RobustPCA(random_state=0).fit(X).n_components_ == 3
    assert RobustPCA(max_components=2, random_state=0).fit(X).n_components_ == 2
    assert RobustPCA(0.99997, random_state=0).fit(X).n_components_ == 4
    assert RobustPCA(0.99997, max_components=2, random_state=0).fit(X).n_components_ == 2
    flat = rng.normal(size=(300, 30))
    assert RobustPCA(random_state=0).fit(flat).n_components_ == 10
    assert RobustPCA(0.8, random_state=0).fit(flat).n_components_ > 10


def test_rows_on_a_hyperplane_make_all_others_outliers(rng):
    X = rng.normal(size=(50, 4)) * [5, 4, 3, 1]
    X[10:, 3] = 0
    rotation = ortho_group.rvs(4, random_state=1)
    model = RobustPCA(0.999, random_state=0).fit(X @ rotation)
    np.testing.assert_allclose(model.components_ @ rotation[3], 0, atol=1e-9)
    assert model.n_components_ == 3
    assert model.outliers_[:10].all()
    assert model.outliers_[10:].mean() < 0.2
    assert (model.orthogonal_distances_[10:] <= model.orthogonal_cutoff_).all()


def test_exact_fit_found_by_a_direction(rng):
    """Rows that differ in one column only give a direction along which most rows are equal."""
    X = np.column_stack([rng.normal(size=(60, 2)) * [3, 2], np.zeros(60)])
    X[:10, 2] = rng.normal(size=10)
    X[:10, :2] = 0
    outlyingness = core._outlyingness(X, 45, 2000, np.random.RandomState(0))
    assert np.isinf(outlyingness[:10]).all()
    assert np.isfinite(outlyingness[10:]).all()
    model = RobustPCA(2, n_directions=2000, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_[:, 2], 0, atol=1e-9)
    assert model.outliers_[:10].all()


def test_mutually_orthogonal_rows_have_an_answer(rng):
    model = RobustPCA(3, random_state=0).fit(np.eye(200))
    assert np.isfinite(model.components_).all()
    assert (model.explained_variance_ > 0).all()


@given(
    arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(1, 6)), elements=st.integers(0, 3)),
    st.sampled_from([None, 0.95, 1.0, 1]),
    st.sampled_from([0.5, 0.75, 1]),
    st.sampled_from([0, 9]),
)
def test_few_values_many_ties_and_columns_of_any_size(counts, asked, fraction, decades):
    X = counts * np.logspace(0, decades, counts.shape[1])
    basis = robust_basis(X, asked, np.random.RandomState(0), support_fraction=fraction)
    k = basis.loadings.shape[1]
    np.testing.assert_allclose(basis.loadings.T @ basis.loadings, np.eye(k), atol=1e-8)
    assert (basis.eigenvalues > 0).all()
    assert (np.diff(basis.eigenvalues) <= 0).all()
    assert np.isfinite(basis.center).all()
    assert k > 0 or max(np.unique(X, axis=0, return_counts=True)[1]) > len(X) / 2


def test_an_almost_constant_column_keeps_its_variance_where_all_rows_are_trusted(rng):
    X = np.column_stack([rng.normal(size=60), np.zeros(60)])
    X[0, 1] = 1
    model = RobustPCA(2, support_fraction=1, random_state=0).fit(X)
    np.testing.assert_allclose(model.explained_variance_, PCA(2).fit(X).explained_variance_)
    assert model.outliers_[0]


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8, -3.7])
def test_equal_rows_have_no_components(value):
    X = np.full((20, 3), value)
    assert robust_basis(X, 0.95, np.random.RandomState(0)).loadings.shape == (3, 0)
    with pytest.raises(ValueError, match="At least 20 of the 20 rows of X are equal"):
        RobustPCA().fit(X)


def test_mostly_equal_rows_have_no_robust_variance(rng):
    X = np.full((40, 3), 0.1)
    X[:5] = rng.normal(size=(5, 3))
    assert robust_basis(X, 2, np.random.RandomState(0)).loadings.shape == (3, 0)
    with pytest.raises(ValueError, match="raise support_fraction"):
        RobustPCA().fit(X)
    assert RobustPCA(2, support_fraction=1).fit(X).n_components_ == 2


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("n_columns", [1, 2, 7])
@pytest.mark.parametrize("asked", [None, 1, 0.95, 1.0])
def test_very_few_rows(rng, n, n_columns, asked):
    X = rng.normal(size=(n, n_columns))
    model = RobustPCA(asked, random_state=0).fit(X)
    assert 1 <= model.n_components_ <= min(n - 1, n_columns)
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.score_distances_).all()
    assert (model.explained_variance_ > 0).all()


@pytest.mark.parametrize("shape", [(2, 5), (6, 5), (10, 30), (50, 7)])
def test_as_many_components_as_there_can_be(rng, shape):
    most = min(shape[0] - 1, shape[1])
    X = rng.normal(size=shape)
    model = RobustPCA(most, random_state=0).fit(X)
    assert model.n_components_ == most
    assert (model.orthogonal_distances_ <= model.orthogonal_cutoff_).all() == (most >= np.linalg.matrix_rank(X - X[0]))


@pytest.mark.parametrize("factor", [1e-150, 1e-20, 1e60])
def test_scale_of_the_values_does_not_matter(rng, factor):
    X, _ = low_dimensional(rng, 60, 5)
    plain, scaled = RobustPCA(2, random_state=0).fit(X), RobustPCA(2, random_state=0).fit(X * factor)
    np.testing.assert_allclose(scaled.components_, plain.components_, rtol=1e-8)
    np.testing.assert_array_equal(scaled.outliers_, plain.outliers_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 6}, "n_components=6 is more than the 5 that 20 rows and 5 columns can have"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_components": 1.5}, "above 0 and up to 1.0; got 1.5"),
        ({"n_components": "mle"}, "n_components must be a whole number"),
        ({"support_fraction": 0.4}, "support_fraction must be a number from 0.5 to 1; got 0.4"),
        ({"support_fraction": None}, "support_fraction must be a number"),
        ({"n_directions": 0}, "n_directions must be a whole number"),
        ({"max_components": 0}, "max_components must be a whole number"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(rng, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        RobustPCA(**parameters).fit(rng.normal(size=(20, 5)))


def test_bad_input_gets_one_clear_sentence(rng):
    X = rng.normal(size=(20, 5))
    model = RobustPCA(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 3 columns but there are 2 components"):
        model.inverse_transform(X[:, :3])
    with pytest.raises(TypeError, match="dense data is required"):
        RobustPCA().fit(sp.csr_array(X))
    X[:, 3:] = X[:, :2]
    with pytest.raises(ValueError, match="n_components=4, but the 15 most regular of the 20 rows of X span only 3"):
        RobustPCA(4).fit(X)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RobustPCA().fit(X)

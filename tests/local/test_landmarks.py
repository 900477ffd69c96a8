"""Both variants of RULLS: the paper's algorithms and what users rely on."""

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits

from vicinal import RULLS, ProjectedLandmarks, SampledLandmarks

DIGITS = load_digits().data
RNG = np.random.default_rng(0)
DENSE = RNG.standard_normal((400, 20)) @ RNG.standard_normal((20, 20))
BOTH = pytest.mark.parametrize("kind", [SampledLandmarks, ProjectedLandmarks])
SETTINGS = [
    {},
    {"metric": "manhattan", "n_nearest": 3},
    {"metric": "cosine", "n_landmarks": 50},
    {"regularization": 0.5, "n_landmarks": (4, 16), "n_nearest": 1},
]


def share(kind, value):
    return {"n_columns" if kind is SampledLandmarks else "n_components": value}


def expected(model, X, training):
    algorithm = oracle.sampled_landmarks if isinstance(model, SampledLandmarks) else oracle.projected_landmarks
    return algorithm(model, X, training)


@BOTH
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("part", [3, 0.5, 1.0])
def test_features_are_those_of_the_algorithms(kind, settings, part):
    training, new = DENSE[:300], DENSE[300:]
    model = kind(10, random_state=0, **share(kind, part), **settings).fit(training)
    for rows in (training, new):
        np.testing.assert_allclose(
            model.transform(rows).toarray(), expected(model, rows, training), rtol=1e-7, atol=1e-7
        )


@BOTH
def test_threads_and_blocks_do_not_matter(kind):
    X = DENSE.astype(np.float32)
    model = kind(15, random_state=0, n_jobs=1).fit(X)
    whole = model.transform(X)
    assert whole.dtype == np.float32
    for n_jobs in (1, 2, 3):
        model.set_params(n_jobs=n_jobs).fit(X)
        parts = sp.vstack([model.transform(X[start:stop]) for start, stop in [(0, 1), (1, 50), (50, 400)]])
        assert (whole != parts).nnz == 0


@BOTH
@pytest.mark.parametrize("X", [DIGITS[:200], DENSE[:200] + 1000])
def test_dense_and_sparse_agree(kind, X):
    dense, sparse = kind(8, random_state=0).fit(X), kind(8, random_state=0).fit(sp.csr_matrix(X))
    features = dense.transform(X).toarray()
    for model, rows in [(dense, sp.csr_matrix(X)), (sparse, X), (sparse, sp.csr_matrix(X))]:
        np.testing.assert_allclose(model.transform(rows).toarray(), features, rtol=1e-7, atol=1e-7)


def test_projections_are_orthonormal():
    model = ProjectedLandmarks(5, n_components=0.2, random_state=0).fit(DENSE)
    for own in np.split(model.directions_, 5):
        assert own.shape == (4, 20)
        np.testing.assert_allclose(own @ own.T, np.eye(4), atol=1e-12)


def test_a_landmark_is_its_own_nearest():
    model = ProjectedLandmarks(5, n_components=7, random_state=0).fit(DENSE)
    features = model.transform(DENSE[model.landmark_samples_]).toarray()
    own = features[np.arange(len(features)), np.arange(len(features))]
    iteration = np.searchsorted(model.landmark_ptr_, np.arange(len(features)), "right") - 1
    for row, t, value in zip(features, iteration, own, strict=True):
        assert value == row[model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]].max()


def test_sampled_landmarks_take_missing_values():
    X = DENSE.copy()
    X[RNG.random(X.shape) < 0.2] = np.nan
    model = SampledLandmarks(6, n_columns=8, random_state=0).fit(X)
    for t in range(6):
        columns = model.feature_indices_[8 * t : 8 * (t + 1)]
        drawn = model.landmark_samples_[model.landmark_rows_[model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]]]
        D = oracle.distances(X[:, columns], X[np.ix_(drawn, columns)])
        mean = np.nanmean(np.where(np.isfinite(D), D, np.nan), axis=1, keepdims=True)
        index, d = oracle.nearest(D, 10)
        values = np.sort(np.where(index < 0, 0, np.maximum(mean - d, 1e-4 * mean)), axis=1)
        found = model.transform(X)[:, model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]].toarray()
        np.testing.assert_allclose(np.sort(found, axis=1)[:, -10:], values, rtol=1e-9)


@BOTH
def test_infinite_values_are_refused(kind):
    X = DENSE.copy()
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        kind(2).fit(X)


@BOTH
def test_few_rows(kind):
    with pytest.warns(UserWarning, match="n_nearest=10 needs more than 10 rows .* X has 5, so n_nearest=4 is used"):
        model = kind(3, random_state=0).fit(DENSE[:5])
    assert model.transform(DENSE).nnz == len(DENSE) * 3 * 4


@BOTH
def test_constant_data(kind):
    features = kind(3, n_nearest=4, random_state=0).fit_transform(np.ones((20, 3)))
    np.testing.assert_allclose(features.data, 1e-4)


@BOTH
@pytest.mark.parametrize("value", [0, -1, 1.5, 0.0, "x", True])
def test_bad_shares_of_columns(kind, value):
    name = next(iter(share(kind, value)))
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, or a share"):
        kind(2, **share(kind, value)).fit(DENSE)


@BOTH
def test_names_and_state(kind):
    model = kind(3, n_landmarks=12, n_nearest=2, random_state=0).fit(DENSE)
    names = model.get_feature_names_out()
    assert len(names) == model.transform(DENSE[:2]).shape[1] == 36
    assert list(names[[0, -1]]) == ["iteration0_landmark0", "iteration2_landmark11"]
    assert (model.transform(DENSE[:50]).getnnz(axis=1) == 6).all()


def test_auto_keeps_all_distances_between_rows(rng):
    X = rng.normal(size=(100, 3000)) * np.geomspace(1, 100, 3000)
    model = ProjectedLandmarks(3, n_components="auto", n_nearest=2, random_state=0).fit(X)
    assert model.landmarks_.shape[1] == int(np.ceil(4 * np.log(100) / (0.5**2 / 2 - 0.5**3 / 3))) == 222
    original = pdist(X, "sqeuclidean")
    for directions in np.split(model.directions_, 3):
        ratios = pdist(X @ directions.T, "sqeuclidean") / original * 3000 / 222
        assert 0.5 < ratios.min() < 1 < ratios.max() < 1.5


def test_auto_asks_for_no_more_dimensions_than_columns():
    for distortion in (0.3, 0.99):
        model = ProjectedLandmarks(2, n_components="auto", distortion=distortion, random_state=0).fit(DENSE)
        assert model.landmarks_.shape[1] == 20
    whole = ProjectedLandmarks(2, n_components=1.0, random_state=0).fit(DENSE)
    np.testing.assert_array_equal(model.transform(DENSE).toarray(), whole.transform(DENSE).toarray())


@pytest.mark.parametrize("distortion", [0.0, 1.0, -0.5, "much", None, np.nan])
def test_bad_distortions(distortion):
    with pytest.raises(ValueError, match="distortion must be a number above 0 and below 1; got"):
        ProjectedLandmarks(2, n_components="auto", distortion=distortion).fit(DENSE)
    with pytest.raises(ValueError, match=r"n_components must be a whole number .*, or 'auto'; got 'all'"):
        ProjectedLandmarks(2, n_components="all").fit(DENSE)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", [ProjectedLandmarks, RULLS])
def test_missing_values_are_refused_with_a_reason(kind, container):
    gaps = DENSE.copy()
    gaps[3, 4] = np.nan
    reason = f"missing values .NaN., which {kind.__name__} cannot leave out, .*SimpleImputer, or use SampledLandmarks"
    with pytest.raises(ValueError, match=reason):
        kind(2).fit(container(gaps))
    model = kind(2).fit(container(DENSE))
    with pytest.raises(ValueError, match=reason):
        model.transform(container(gaps))
    with pytest.raises(ValueError, match="infinity"):
        model.transform(container(np.where(np.isnan(gaps), np.inf, gaps)))

"""Random Fourier features: what they stand for, how far they stray, and that all forms compute the same thing."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from scipy.stats import t
from sklearn.datasets import load_digits

from vicinal import _native
from vicinal.expand import RandomFourierFeatures, kernels
from vicinal.expand._fourier import n_frequencies_for

DIGITS = load_digits().data / 16
RNG = np.random.default_rng(0)
FORMS = [
    {"kernel": "gaussian"},
    {"kernel": "laplacian"},
    {"kernel": "cauchy"},
    {"kernel": kernels.ShiftInvariant(t(df=5))},
    {"kernel": "gaussian", "frequencies": "orthogonal"},
    {"kernel": "gaussian", "frequencies": "hadamard"},
]
FORM_IDS = ["gaussian", "laplacian", "cauchy", "density", "orthogonal", "hadamard"]


def pair_of_waves(angles):
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1).reshape(len(angles), -1)


@pytest.mark.parametrize("isa", _native.available_instruction_sets)
@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 2e-6), ("f8", 1e-13)])
@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 5, 7), (130, 70, 150), (32, 64, 64)])
def test_native_waves_are_those_of_numpy(isa, dtype, tolerance, shape):
    n, d, m = shape
    X, frequencies = (RNG.normal(size=size).astype(dtype) for size in ((n, d), (m, d)))
    frequencies /= np.sqrt(d)
    out = np.full((n, 2 * m), np.nan, dtype)
    _native.fourier_features(X, out, frequencies=frequencies, scale=0.5, n_threads=2, isa=isa)
    assert_allclose(out, 0.5 * pair_of_waves(X.astype("f8") @ frequencies.T.astype("f8")), atol=tolerance)

    size = 1 << (d - 1).bit_length()
    factors = RNG.choice([-1.0, 1.0], size=(-(-m // size), 4, size)).astype(dtype)
    factors[:, 3] *= size**-1.5
    _native.fourier_features(X, out, factors=factors, n_threads=2, isa=isa)
    H, padded = hadamard(size), np.pad(X, ((0, 0), (0, size - d))).astype("f8")
    angles = np.hstack([padded * f[0] @ H * f[1] @ H * f[2] @ H * f[3] for f in factors.astype("f8")])
    assert_allclose(out, pair_of_waves(angles[:, :m]), atol=tolerance)

    angles = (RNG.normal(size=(n, m)) * 10.0 ** RNG.integers(-8, 12, (n, m))).astype(dtype)
    _native.fourier_features(angles, out, isa=isa)
    assert_allclose(out, pair_of_waves(angles.astype("f8")), atol=tolerance)


@pytest.mark.portable
@pytest.mark.parametrize("n_components", [1, 7, 128])
@pytest.mark.parametrize("form", FORMS, ids=FORM_IDS)
def test_inner_products_are_the_kernel_on_average(form, n_components):
    """Within 4 standard errors, over many seeds."""
    X = RNG.normal(size=(6, 20)) / 4
    found = []
    for seed in range(400):
        model = RandomFourierFeatures(n_components, gamma=0.3, random_state=seed, **form).fit(X)
        waves = model.transform(X)
        if n_components % 2 == 0:
            assert_allclose((waves**2).sum(1), 1, atol=1e-12)
        found.append(waves @ waves.T)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(mean - model.kernel_(X)) <= 4 * error + 1e-12).all()


@pytest.mark.parametrize("frequencies", ["orthogonal", "hadamard"])
@pytest.mark.parametrize("n_columns", [20, 64])
def test_orthogonal_frequencies_stray_less(frequencies, n_columns):
    X = DIGITS[::18, :n_columns] if n_columns == 64 else RNG.normal(size=(100, n_columns))

    def error(kind):
        errors = []
        for seed in range(10):
            model = RandomFourierFeatures(512, gamma="median", frequencies=kind, random_state=seed).fit(X)
            waves = model.transform(X)
            errors.append(np.mean((waves @ waves.T - model.kernel_(X)) ** 2))
        return np.sqrt(np.mean(errors))

    assert error(frequencies) <= 0.8 * error("iid")


def test_orthogonal_frequencies_are_orthogonal_and_as_long_as_any():
    model = RandomFourierFeatures(2 * 45, gamma=0.5, frequencies="orthogonal", random_state=0).fit(np.zeros((1, 20)))
    for start in (0, 20, 40):
        block = model.frequencies_[start : start + 20]
        products = block @ block.T
        assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-10)
    lengths = np.linalg.norm(
        RandomFourierFeatures(8000, gamma=0.5, frequencies="orthogonal", random_state=0)
        .fit(np.zeros((1, 20)))
        .frequencies_,
        axis=1,
    )
    assert abs((lengths**2).mean() - 20) < 4 * np.sqrt(40 / 4000)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 0.1), (0.1, 0.3)])
def test_as_many_features_as_a_wanted_error_needs(epsilon, delta):
    X = RNG.normal(size=(2, 5)) * 3
    failures, model = 0, None
    for seed in range(200):
        model = RandomFourierFeatures("auto", gamma=0.1, epsilon=epsilon, delta=delta, random_state=seed).fit(X)
        waves = model.transform(X)
        failures += abs(waves[0] @ waves[1] - model.kernel_(X)[0, 1]) > epsilon
    assert failures / 200 < delta
    assert waves.shape[1] == 2 * n_frequencies_for(epsilon, delta)
    count = n_frequencies_for(epsilon, delta)
    assert 2 * np.exp(-count * epsilon**2 / 2) <= delta < 2 * np.exp(-(count - 1) * epsilon**2 / 2)


@pytest.mark.parametrize("form", FORMS, ids=FORM_IDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_is_dense(form, dtype):
    X = sp.random(70, 30, 0.2, format="csr", random_state=0, dtype=dtype)
    X.data[::5] = 0
    doubled = sp.csr_matrix(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )  # every entry in two halves
    model = RandomFourierFeatures(150 * 2, gamma=0.7, random_state=0, **form).fit(X)
    dense = model.transform(X.toarray())
    assert dense.dtype == dtype
    for rows in (X, doubled, sp.csr_array(X)):
        difference = np.abs(model.transform(rows) - dense)
        # Spectra with heavy tails have frequencies so high that float32 angles lose digits.
        assert np.quantile(difference, 0.999) < (1e-5 if dtype == np.float32 else 1e-13)
        assert difference.max() < (1e-2 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("form", FORMS, ids=FORM_IDS)
def test_threads_and_chunks_change_nothing(form):
    X = DIGITS[:333]
    model = RandomFourierFeatures(200, random_state=0, n_jobs=1, **form).fit(X)
    waves = model.transform(X)
    assert_array_equal(waves, model.set_params(n_jobs=2).transform(X))
    assert_array_equal(waves[40:41], model.transform(X[40:41]))


def test_waves_separate_what_a_line_cannot():
    from sklearn.linear_model import LogisticRegression

    X = RNG.normal(size=(600, 2))
    y = (X**2).sum(1) > 1.4
    waves = RandomFourierFeatures(200, frequencies="orthogonal", random_state=0).fit(X[:300])
    model = LogisticRegression(C=100, max_iter=1000).fit(waves.transform(X[:300]), y[:300])
    assert model.score(waves.transform(X[300:]), y[300:]) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"n_components": "many"}, "n_components must be one of 'auto'"),
        ({"kernel": "polynomial"}, "kernel must be one of 'gaussian', 'laplacian', 'cauchy'"),
        ({"kernel": kernels.Polynomial()}, "can draw frequencies"),
        ({"frequencies": "sobol"}, "frequencies must be one of"),
        ({"kernel": "laplacian", "frequencies": "hadamard"}, "the same in all directions"),
        ({"gamma": 0.0}, "gamma"),
        ({"gamma": "wide"}, "gamma"),
        ({"n_components": "auto", "epsilon": 0}, "epsilon must be a number above 0"),
        ({"n_components": "auto", "delta": 1}, "delta is a probability"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomFourierFeatures(**parameters).fit(DIGITS)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        RandomFourierFeatures().fit([[0.0, np.nan]])


@pytest.mark.parametrize("frequencies", ["iid", "orthogonal", "hadamard"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_angles_beyond_the_number_type_are_refused(frequencies, kind):
    model = RandomFourierFeatures(6, gamma=1.0, frequencies=frequencies, random_state=0).fit(DIGITS)
    with pytest.raises(ValueError, match="too large for float64; scale X"):
        model.transform(kind(np.full((3, 64), 1.7e308)))
    with pytest.raises(ValueError, match="too large for float32"):
        RandomFourierFeatures(6, gamma=1e80, frequencies=frequencies).fit_transform(DIGITS.astype(np.float32))


def test_a_scale_beyond_the_number_type_is_refused():
    with pytest.raises(ValueError, match="scale X first"):
        RandomFourierFeatures(6).fit(DIGITS * 1e160)
    with pytest.raises(ValueError, match="kernel must be one of"):
        RandomFourierFeatures(6, kernel=type(RandomFourierFeatures(6).fit(DIGITS).kernel_)).fit(DIGITS)
    with pytest.raises(ValueError, match="allow a larger error"):
        RandomFourierFeatures("auto", epsilon=1e-200).fit(DIGITS)

"""Kernels of the user's own: their densities, from a function of differences, a density or draws."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from sklearn.base import clone

from vicinal.expand import RandomFourierFeatures
from vicinal.expand.kernels import (
    Cauchy,
    FromFunction,
    FromSampler,
    Gaussian,
    Laplacian,
    ShiftInvariant,
    check_positive_definite,
)

# (function of differences, its density, the same kernel by name)
KNOWN = {
    "gaussian": (lambda t: np.exp(-(t**2) / 2), scipy.stats.norm(), Gaussian(0.5)),
    "narrow": (lambda t: np.exp(-((1e5 * t) ** 2) / 2), scipy.stats.norm(scale=1e5), Gaussian(0.5e10)),
    "laplacian": (lambda t: np.exp(-np.abs(t)), scipy.stats.cauchy(), Laplacian()),
    "cauchy": (lambda t: 1 / (1 + t**2), scipy.stats.laplace(), Cauchy()),
}


@pytest.mark.portable
@pytest.mark.parametrize("name", KNOWN)
def test_the_density_is_the_fourier_transform(name, rng):
    function, density, kernel = KNOWN[name]
    own = FromFunction(function)
    frequencies, found = own.spectral_density()
    np.testing.assert_allclose(found, density.pdf(frequencies), rtol=0, atol=1e-4 * density.pdf(0))
    X = rng.normal(size=(20, 3)) / density.std() if np.isfinite(density.std()) else rng.normal(size=(20, 3))
    np.testing.assert_allclose(own(X), kernel(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(own(sp.csr_array(X)), kernel(X), rtol=1e-6, atol=1e-9)


@pytest.mark.portable
@pytest.mark.parametrize("name", KNOWN)
def test_the_density_gives_the_function_back_at_all_distances(name):
    function, density, _ = KNOWN[name]
    frequencies, found = FromFunction(function).spectral_density()
    width = 1 / density.ppf(0.75)
    differences = width * np.array([0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0, 1000.0])
    spacing = frequencies[1]
    heights = np.concatenate([found[:1], 2 * found[1:]])
    back = [spacing * heights @ np.cos(t * frequencies) * np.sinc(t * spacing / 2 / np.pi) ** 2 for t in differences]
    np.testing.assert_allclose(back, function(differences), rtol=0, atol=1e-4)


def test_draws_follow_the_density():
    draws = FromFunction(KNOWN["laplacian"][0]).draw_frequencies(40_000, 2, np.random.RandomState(0))
    for column in draws.T:
        assert scipy.stats.kstest(column, scipy.stats.cauchy().cdf).pvalue > 0.01
    assert abs(scipy.stats.spearmanr(draws[:, 0], draws[:, 1]).statistic) < 0.02
    assert abs((np.sign(draws[:, 0]) * np.sign(draws[:, 1])).mean()) < 0.02


@pytest.mark.parametrize(
    ("function", "density"),
    [
        (lambda w: 7 * np.exp(-(w**2) / 2), scipy.stats.norm()),
        (lambda w: 1 / (1 + w**2), scipy.stats.cauchy()),
        (lambda w: (1 + (w / 1e-6) ** 2 / 5) ** -3, scipy.stats.t(5, scale=1e-6)),
    ],
)
def test_a_density_as_a_function_is_that_distribution(function, density, rng):
    own, known = ShiftInvariant(function), ShiftInvariant(density)
    X = rng.normal(size=(10, 2)) / density.ppf(0.75)
    np.testing.assert_allclose(own(X), known(X), rtol=0, atol=1e-8)
    draws = own.draw_frequencies(5000, 2, np.random.RandomState(0))
    assert draws.shape == (5000, 2)
    assert scipy.stats.kstest(draws.ravel(), density.cdf).pvalue > 0.01


def multivariate_cauchy(n_frequencies, n_features, rng):
    return rng.normal(size=(n_frequencies, n_features)) / np.abs(rng.normal(size=(n_frequencies, 1)))


@pytest.mark.parametrize(
    "kernel",
    [
        FromFunction(lambda t: (1 + np.abs(t)) * np.exp(-np.abs(t))),
        FromFunction(lambda t: np.maximum(1 - np.abs(t), 0)),
        FromFunction(lambda t: np.cos(3 * t) * np.exp(-(t**2))),  # negative in places
        ShiftInvariant(lambda w: np.exp(-np.abs(w))),
        FromSampler(lambda X, Y: np.exp(-np.linalg.norm(X[:, None] - Y, axis=2)), multivariate_cauchy),
    ],
)
def test_waves_stand_for_kernels_of_ones_own(kernel, rng):
    X = rng.normal(size=(30, 2))
    assert check_positive_definite(kernel, X)
    waves = clone(RandomFourierFeatures(40_000, kernel=kernel, random_state=0)).fit_transform(X)
    # 435 means of 20,000 cosines: six standard deviations of at most 1 / sqrt(20,000)
    assert np.abs(waves @ waves.T - kernel(X)).max() < 0.043


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: (np.abs(t) < 1) * 1.0, "no kernel: its Fourier transform is negative in places"),
        (lambda t: 1 / (1 + np.abs(t)), "falls too slowly .* ShiftInvariant, or .* FromSampler"),
        (np.cos, "falls too slowly"),
    ],
)
def test_functions_without_a_density_that_can_be_found(function, message):
    with pytest.raises(ValueError, match=message):
        RandomFourierFeatures(kernel=FromFunction(function)).fit(np.eye(3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FromFunction("gaussian"), "function must be a function of differences"),
        (lambda: FromFunction(lambda t: 2 * np.exp(-(t**2))), "must be 1 at 0, where it is 2"),
        (lambda: FromFunction(lambda t: np.exp(-np.maximum(t, 0))), "the same for t and -t"),
        (lambda: FromFunction(lambda t: np.exp(-(t**2)).sum()), r"it returned the shape \(\)"),
        (lambda: FromFunction(lambda t: np.where(t > 3, np.nan, 1)), "values that are not finite"),
        (lambda: ShiftInvariant(lambda w: np.exp(-((w - 1) ** 2))), "symmetric about 0"),
        (lambda: ShiftInvariant(lambda w: (np.abs(w) < 1) * 1.0), "above 0 everywhere; for one with ends"),
        (lambda: ShiftInvariant(lambda w: -np.exp(-(w**2))), "is no density that can be integrated"),
        (lambda: FromSampler(Gaussian(), None), "sampler must be a function"),
        (
            lambda: FromSampler(Gaussian(), lambda n, d, rng: rng.normal(size=(d, n))).draw_frequencies(
                4, 2, np.random
            ),
            r"must return the shape \(4, 2\); it returned \(2, 4\)",
        ),
    ],
)
def test_what_cannot_be_a_kernel_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

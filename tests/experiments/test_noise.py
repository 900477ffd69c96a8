"""Noise is that of the papers: how many columns or rows it touches, and its range."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.experiments._noise import add_noise


class TestNoise:
    """Section 4.5: G of ceil(0.1 d) columns, uniform between the least and the largest value of X."""

    @pytest.mark.parametrize(("d", "width"), [(5, 1), (10, 1), (11, 2), (54, 6), (784, 79)])
    def test_appended(self, rng, d, width):
        X = rng.uniform(-2, 3, (400, d)).astype(np.float32)
        noisy = add_noise(X, "append", seed=0)
        assert noisy.shape == (400, d + width)
        assert noisy.dtype == np.float32
        np.testing.assert_array_equal(noisy[:, :d], X)
        self.check_uniform(noisy[:, d:], X.min(), X.max())

    @pytest.mark.parametrize(("d", "width"), [(5, 1), (11, 2), (54, 6)])
    def test_added(self, rng, d, width):
        X = rng.uniform(-2, 3, (400, d)).astype(np.float32)
        before = X.copy()
        noisy = add_noise(X, "add", seed=0)
        np.testing.assert_array_equal(X, before)
        assert noisy.shape == X.shape
        changed = np.flatnonzero((noisy != X).any(axis=0))
        assert len(changed) == width
        self.check_uniform((noisy - X)[:, changed], X.min(), X.max())

    def check_uniform(self, noise, low, high):
        low, high, noise = float(low), float(high), noise.astype(np.float64)
        assert low - 1e-5 <= noise.min()
        assert noise.max() <= high + 1e-5
        assert noise.min() < low + 0.05 * (high - low)
        assert noise.max() > high - 0.05 * (high - low)
        assert noise.mean() == pytest.approx((low + high) / 2, abs=0.08 * (high - low))
        assert noise.std() == pytest.approx((high - low) / np.sqrt(12), rel=0.1)

    @pytest.mark.parametrize("kind", ["add", "append"])
    @pytest.mark.parametrize("as_csr", [sp.csr_matrix, sp.csr_array])
    def test_csr_as_dense(self, kind, as_csr):
        X = sp.random(50, 23, density=0.2, random_state=0).toarray()
        noisy = add_noise(as_csr(X), kind, seed=4)
        assert isinstance(noisy, as_csr)
        np.testing.assert_allclose(noisy.toarray(), add_noise(X, kind, seed=4))

    def test_draws_differ_by_seed_only(self, rng):
        X = rng.normal(size=(30, 40))
        np.testing.assert_array_equal(add_noise(X, "add", 1), add_noise(X, "add", 1))
        assert (add_noise(X, "add", 1) != add_noise(X, "add", 2)).any()
        assert add_noise(X, "none", 1) is X

    def test_missing_values_stay_missing_and_give_no_range(self, rng):
        X = rng.uniform(0, 1, (30, 10))
        X[3, :] = np.nan
        noisy = add_noise(X, "append", 0)
        assert np.isfinite(noisy[:, 10]).all()
        np.testing.assert_array_equal(np.isnan(noisy[:, :10]), np.isnan(X))


class TestCorruption:
    """A tenth of the columns or rows is replaced, the rest is left alone; noise keeps to each column's range."""

    def data(self, n=400, d=25):
        rng = np.random.default_rng(0)
        return (rng.uniform(0, 1, (n, d)) * np.arange(1, d + 1) - np.arange(d)).astype(np.float32)

    @pytest.mark.parametrize(("kind", "axis", "number"), [("columns", 1, 3), ("rows", 0, 40)])
    def test_a_tenth_is_replaced_by_noise_of_its_range(self, kind, axis, number):
        X = self.data()
        before = X.copy()
        noisy = add_noise(X, kind, seed=0)
        np.testing.assert_array_equal(X, before)
        assert (noisy.shape, noisy.dtype) == (X.shape, X.dtype)
        changed = np.flatnonzero((noisy != X).any(axis=1 - axis))
        assert len(changed) == number
        noise, clean = noisy.take(changed, axis), X.take(changed, axis)
        assert (noise != clean).mean() > 0.99
        low, high = X.min(axis=0), X.max(axis=0)
        if kind == "columns":
            low, high = low[changed], high[changed]
        shares = ((noise - low) / (high - low)).astype(float)
        assert shares.min() == pytest.approx(0, abs=0.01)
        assert shares.max() == pytest.approx(1, abs=0.01)
        assert shares.mean() == pytest.approx(0.5, abs=0.05)
        assert shares.std() == pytest.approx(np.sqrt(1 / 12), abs=0.03)
        assert abs(np.corrcoef(noise.ravel() - np.broadcast_to(low, noise.shape).ravel(), clean.ravel())[0, 1]) < 0.99

    def test_at_least_one(self):
        X = self.data(4, 3)
        assert ((add_noise(X, "columns", 1) != X).any(axis=0)).sum() == 1
        assert ((add_noise(X, "rows", 1) != X).any(axis=1)).sum() == 1

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    def test_draws_differ_by_seed_only(self, kind):
        X = self.data()
        np.testing.assert_array_equal(add_noise(X, kind, 1), add_noise(X, kind, 1))
        assert (add_noise(X, kind, 1) != add_noise(X, kind, 2)).any()

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    @pytest.mark.parametrize("as_csr", [sp.csr_matrix, sp.csr_array])
    def test_csr_as_dense(self, kind, as_csr):
        X = sp.random(50, 23, density=0.2, random_state=0).toarray()
        noisy = add_noise(as_csr(X), kind, seed=4)
        assert isinstance(noisy, as_csr)
        np.testing.assert_allclose(noisy.toarray(), add_noise(X, kind, seed=4))

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    def test_missing_values_are_replaced_with_the_rest_and_stay_elsewhere(self, kind):
        X = self.data(60, 40)
        X[:, 7] = np.nan
        X[::2, 9] = np.nan
        noisy = add_noise(X, kind, 0)
        same = (noisy == X) | (np.isnan(noisy) & np.isnan(X))
        replaced = ~same.all(axis=int(kind == "rows"))
        assert np.isfinite(noisy[:, replaced] if kind == "columns" else noisy[replaced]).all()
        assert np.isnan(noisy).any()

"""Kernels: their formulas, their spectral densities, blocks, and what is positive definite."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits

from vicinal.expand import _bandwidth
from vicinal.expand.kernels import (
    AllSubsets,
    Cauchy,
    Gaussian,
    Laplacian,
    Polynomial,
    ShiftInvariant,
    check_positive_definite,
    get_kernel,
    gram_blocks,
)

DIGITS = load_digits().data[:120] / 16
STUDENT = ShiftInvariant(scipy.stats.t(df=3))
KERNELS = [
    Polynomial(),
    Polynomial(degree=3),
    AllSubsets(),
    Gaussian(0.5),
    Laplacian(0.25),
    Cauchy(2.0),
    STUDENT,
]
SHIFT_INVARIANT = [
    Gaussian(0.5),
    Laplacian(0.25),
    Cauchy(2.0),
    STUDENT,
    ShiftInvariant(scipy.stats.uniform(-2, 4)),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:20])
tables = arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.floats(-4, 4, width=16))


def by_definition(kernel, x, y):
    delta = np.abs(x - y)
    match kernel:
        case Polynomial(degree):
            return (1 + x @ y) ** degree
        case AllSubsets():
            return np.prod(1 + x * y)
        case Gaussian(gamma):
            return np.exp(-gamma * (delta**2).sum())
        case Laplacian(gamma):
            return np.exp(-gamma * delta.sum())
        case Cauchy(gamma):
            return np.prod(1 / (1 + gamma * delta**2))
        case ShiftInvariant():  # Student's t with three degrees of freedom
            return np.prod((1 + np.sqrt(3) * delta) * np.exp(-np.sqrt(3) * delta))


@every_kernel
@settings(deadline=None, max_examples=50)
@given(tables, tables)
def test_every_entry_is_the_formula(kernel, X, Y):
    Y = np.resize(Y, (len(Y), X.shape[1]))
    expected = np.array([[by_definition(kernel, x, y) for y in Y] for x in X])
    tolerance = 1e-8 if isinstance(kernel, ShiftInvariant) else 1e-12
    for rows in (X, sp.csr_matrix(X)):
        for others in (Y, sp.csr_array(Y)):
            np.testing.assert_allclose(kernel(rows, others), expected, rtol=1e-10, atol=tolerance)
    np.testing.assert_allclose(kernel(X), kernel(X, X.copy()), rtol=1e-10, atol=1e-12)


@every_kernel
def test_explicit_zeros_and_duplicates_change_nothing_and_stay(kernel):
    clean = sp.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.5, 1.0, 0.0]]))
    data, indices = np.array([2.5, 1.0, -0.5, 0.0, 0.25, 1.0, 0.25]), np.array([2, 0, 2, 1, 0, 1, 0])
    messy = sp.csr_matrix((data.copy(), indices.copy(), np.array([0, 4, 7])), shape=(2, 3))
    np.testing.assert_allclose(kernel(messy), kernel(clean), rtol=1e-12)
    np.testing.assert_allclose(kernel(messy, clean), kernel(clean), rtol=1e-12)
    assert np.array_equal(messy.data, data)
    assert np.array_equal(messy.indices, indices)


@every_kernel
def test_blocks_equal_the_whole(kernel):
    whole, across = kernel(DIGITS), kernel(DIGITS, DIGITS[:50])
    for X, Y, expected in ((DIGITS, None, whole), (sp.csr_matrix(DIGITS), DIGITS[:50], across)):
        out, sizes = np.full(expected.shape, np.nan), []
        for rows, block in gram_blocks(kernel, X, Y, max_bytes=10_000):
            assert block.nbytes <= 10_000
            out[rows] = block
            sizes.append(len(block))
        assert len(sizes) > 1
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)


@every_kernel
def test_many_rows_are_no_different_from_few(kernel):
    """A Gram matrix of 18 MB, which is computed in several blocks."""
    X = np.random.default_rng(0).uniform(size=(1500, 3))
    few = slice(1400, 1405)
    np.testing.assert_allclose(kernel(X)[few], kernel(X[few], X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel(sp.csr_matrix(X))[few], kernel(X[few], X), rtol=1e-12, atol=1e-14)


def test_a_block_has_one_row_at_least():
    assert [rows.stop for rows, _ in gram_blocks("gaussian", DIGITS[:3], max_bytes=1)] == [1, 2, 3]


@every_kernel
def test_single_precision_stays_where_all_rows_have_it(kernel):
    single = DIGITS[:20].astype(np.float32)
    assert kernel(single).dtype == kernel(sp.csr_matrix(single), single).dtype == np.float32
    assert kernel(single, DIGITS[:20]).dtype == kernel(np.eye(3, dtype=int)).dtype == np.float64
    np.testing.assert_allclose(kernel(single), kernel(DIGITS[:20]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", SHIFT_INVARIANT, ids=lambda kernel: repr(kernel)[:20])
def test_draws_have_the_kernel_as_their_characteristic_function(kernel):
    frequencies = kernel.draw_frequencies(200_000, 3, np.random.RandomState(0))
    assert frequencies.shape == (200_000, 3)
    differences = np.array([[0.3, 0.0, 0.0], [0.0, -1.0, 0.0], [0.2, 0.4, -0.6], [1.5, 1.0, 0.5]])
    means = np.cos(frequencies @ differences.T).mean(axis=0)
    np.testing.assert_allclose(means, kernel(differences, np.zeros((1, 3))).ravel(), atol=0.01)  # 4.5 deviations
    again = kernel.draw_frequencies(200_000, 3, np.random.RandomState(0))
    assert np.array_equal(frequencies, again)


def test_the_gaussian_draws_lengths_as_well():
    kernel, rng = Gaussian(0.7), np.random.RandomState(0)
    lengths = kernel.draw_lengths(4000, 9, rng)
    others = np.linalg.norm(kernel.draw_frequencies(4000, 9, rng), axis=1)
    assert scipy.stats.kstest(lengths, others).pvalue > 1e-3
    assert [hasattr(kernel, "draw_lengths") for kernel in SHIFT_INVARIANT] == [True, False, False, False, False]


@pytest.mark.portable
@pytest.mark.parametrize(
    ("density", "phi"),
    [
        (scipy.stats.norm(scale=2), lambda t: np.exp(-2 * t**2)),
        (scipy.stats.cauchy(scale=0.3), lambda t: np.exp(-0.3 * t)),
        (scipy.stats.laplace(), lambda t: 1 / (1 + t**2)),
        (scipy.stats.uniform(-1, 2), lambda t: np.sinc(t / np.pi)),
        (scipy.stats.triang(0.5, -1, 2), lambda t: np.sinc(t / 2 / np.pi) ** 2),
        (scipy.stats.semicircular(), lambda t: 2 * scipy.special.j1(t) / t),
        (scipy.stats.logistic(), lambda t: np.pi * t / np.sinh(np.minimum(np.pi * t, 600))),
    ],
    ids=lambda value: getattr(getattr(value, "dist", None), "name", ""),
)
def test_characteristic_functions_are_found_to_eight_digits(density, phi, rng):
    t = np.concatenate([10.0 ** np.arange(-9, 2.1, 0.05), 100 * rng.random(1000), [99.99]])
    kernel = ShiftInvariant(density)
    few = kernel(np.zeros((1, 1)), t[:3, None])
    values = kernel(np.zeros((1, 1)), t[:, None]).ravel()
    np.testing.assert_allclose(values, phi(t), rtol=0, atol=1e-8)
    assert np.array_equal(few.ravel(), values[:3])  # whatever came before or after
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(np.zeros((1, 1)), t[:, None]).ravel(), values)
    assert kernel([[5.0]]) == 1


@pytest.mark.portable
def test_densities_with_narrow_peaks_are_not_missed():
    kernel = ShiftInvariant(scipy.stats.dweibull(30, scale=5))
    draws = kernel.draw_frequencies(10**6, 1, np.random.RandomState(0)).ravel()
    t = np.linspace(0, 12, 25)
    expected = [np.cos(one * draws).mean() for one in t]
    np.testing.assert_allclose(kernel([[0.0]], t[:, None]).ravel(), expected, atol=0.005)


def test_a_characteristic_function_that_has_died_out_stays_zero():
    assert ShiftInvariant(scipy.stats.norm())([[0.0]], [[1e6]]) == 0
    with pytest.raises(ValueError, match=r"Differences of up to 1e\+06 are too large for the density of scipy.stats"):
        ShiftInvariant(scipy.stats.uniform(-1, 2))([[0.0]], [[1e6]])


@pytest.mark.parametrize(
    "density", [scipy.stats.norm(0.1), scipy.stats.expon(), scipy.stats.uniform(-1, 2.1), scipy.stats.skewnorm(1)]
)
def test_densities_that_are_not_symmetric_are_refused(density):
    with pytest.raises(ValueError, match=r"density must be symmetric about 0, .* is not"):
        ShiftInvariant(density)


@pytest.mark.parametrize(
    "density", [scipy.stats.norm, "norm", scipy.stats.poisson(3), scipy.stats.multivariate_normal(np.zeros(2)), None]
)
def test_what_is_no_density_of_one_variable_is_refused(density):
    with pytest.raises(ValueError, match="density must be a frozen continuous distribution"):
        ShiftInvariant(density)


@every_kernel
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_every_kernel_is_positive_definite(kernel, container):
    result = check_positive_definite(kernel, container(DIGITS))
    assert result
    assert result.is_positive_definite
    assert result.asymmetry == pytest.approx(0, abs=1e-12 * kernel(DIGITS).max())
    assert result.reason.startswith("The Gram matrix is symmetric and its smallest eigenvalue is ")


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (lambda X, Y: np.tanh(X @ Y.T - 1), r"has the negative eigenvalue -\d"),
        (lambda X, Y: -np.abs(X[:, None] - Y[None]).sum(axis=2), r"has the negative eigenvalue -\d"),
        (lambda X, Y: X @ (Y.T + np.arange(len(Y))), r"is not symmetric: it differs from its transpose by up to \d"),
    ],
)
def test_what_is_no_kernel_fails(kernel, reason):
    result = check_positive_definite(kernel, DIGITS)
    assert not result
    assert not result.is_positive_definite
    assert re.search(reason, result.reason)


def test_kernels_that_return_nonsense_get_one_clear_sentence():
    with pytest.raises(ValueError, match=r"must be a square matrix of them; its shape is \(120, 1\)"):
        check_positive_definite(lambda X, Y: X[:, :1], DIGITS)
    with pytest.raises(ValueError, match="values that are not finite"):
        check_positive_definite(lambda X, Y: np.full((120, 120), np.nan), DIGITS)


def test_kernels_by_name():
    assert get_kernel("polynomial") == Polynomial(2)
    assert get_kernel("all_subsets") == AllSubsets()
    assert [get_kernel(name).gamma for name in ("gaussian", "laplacian", "cauchy")] == [1, 1, 1]
    assert get_kernel(np.dot) is np.dot
    with pytest.raises(ValueError, match=r"There is no kernel named 'gausian'; did you mean 'gaussian'\?"):
        get_kernel("gausian")
    for wrong in (3, None, Gaussian):
        with pytest.raises(ValueError, match=r"kernel must be a name .polynomial, .* or a function of two tables"):
            get_kernel(wrong)


@pytest.mark.parametrize("degree", [0, -1, 1.5, True, "2"])
def test_degrees_are_checked_at_once(degree):
    with pytest.raises(ValueError, match="degree must be a whole number of at least 1; got"):
        Polynomial(degree)


@pytest.mark.parametrize("kind", [Gaussian, Laplacian, Cauchy])
@pytest.mark.parametrize("gamma", [0, -1.0, np.inf, np.nan, "scale"])
def test_gammas_are_checked_at_once(kind, gamma):
    with pytest.raises(ValueError, match="gamma must be a number above 0; got"):
        kind(gamma)


@every_kernel
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(kernel, bad):
    X = DIGITS[:5].copy()
    X[2, 3] = bad
    for rows in (X, sp.csr_matrix(X)):
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            kernel(rows)
        with pytest.raises(ValueError, match=r"contains (NaN|infinity)"):
            kernel(DIGITS, rows)


@every_kernel
def test_numbers_of_columns_must_agree(kernel):
    with pytest.raises(ValueError, match=r"[Ii]ncompatible dimension"):
        kernel(DIGITS, DIGITS[:, :3])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_what_overflows_gets_one_clear_sentence(container):
    X = container(np.array([[1e200, -1e200, 1.0], [1.0, 0.0, -1.0]]))
    with pytest.raises(ValueError, match="The kernel of all subsets of these rows is too large for float64; scale"):
        AllSubsets()(X)
    with pytest.raises(ValueError, match="The polynomial kernel of degree 2 of these rows is too large for float64"):
        Polynomial()(X)
    with pytest.raises(ValueError, match=r"X has values beyond 1e\+150, whose squares are too large"):
        Gaussian()(X)
    np.testing.assert_allclose(Cauchy()(X), np.eye(2), atol=1e-12)
    with pytest.raises(ValueError, match="too large for float32"):
        AllSubsets()(np.full((2, 40), 10, dtype=np.float32))


def test_far_from_zero_the_gaussian_keeps_its_digits():
    X = np.round(16 * DIGITS)
    np.testing.assert_allclose(Gaussian(0.001)(X + 2.0**30), Gaussian(0.001)(X), atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_gamma_from_the_spread_of_the_data(container):
    X = container(DIGITS)
    resolve = _bandwidth.resolve_gamma
    random = np.random.RandomState
    for kind in ("gaussian", "cauchy"):
        assert resolve("scale", X, kind, random(0)) == pytest.approx(1 / (64 * DIGITS.var()))
        assert resolve(0.7, X, kind, random(0)) == 0.7
    assert resolve("scale", X, "laplacian", random(0)) == pytest.approx(1 / (64 * DIGITS.std()))
    few, all_pairs = container(DIGITS[:40]), np.triu_indices(40, 1)
    differences = DIGITS[all_pairs[0]] - DIGITS[all_pairs[1]]
    squared, manhattan = (differences**2).sum(axis=1), np.abs(differences).sum(axis=1)
    assert resolve("median", few, "gaussian", random(0)) == pytest.approx(1 / (2 * np.median(squared)))
    assert resolve("median", few, "laplacian", random(0)) == pytest.approx(1 / np.median(manhattan))
    sampled = resolve("median", X, "gaussian", random(0))
    assert sampled == resolve("median", X, "gaussian", random(0)) != resolve("median", X, "gaussian", random(1))
    assert sampled == pytest.approx(resolve("median", few, "gaussian", random(0)), rel=0.1)


@pytest.mark.parametrize("kind", ["gaussian", "laplacian", "cauchy"])
@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_gamma_of_constant_data_and_of_one_row_is_one(kind, gamma):
    rng = np.random.RandomState(0)
    for X in (np.full((7, 3), 0.1), np.zeros((60, 2)), np.full((1, 1), 3.0)):
        for rows in (X, sp.csr_matrix(X), X.astype(np.float32)):
            assert _bandwidth.resolve_gamma(gamma, rows, kind, rng) == 1
    mostly_equal = np.r_[np.zeros((9, 1)), [[2.0]]]
    assert _bandwidth.resolve_gamma("median", mostly_equal, "laplacian", rng) == 0.5


def test_gammas_that_are_no_numbers_get_one_clear_sentence():
    with pytest.raises(ValueError, match="gamma must be a number above 0, 'scale' or 'median'; got 'auto'"):
        _bandwidth.resolve_gamma("auto", DIGITS, "gaussian", np.random.RandomState(0))
    with pytest.raises(ValueError, match="gamma must be a number above 0; got -1"):
        _bandwidth.resolve_gamma(-1, DIGITS, "gaussian", np.random.RandomState(0))


def test_wide_indices_are_read():
    rows = sp.random(20, 9, 0.4, format="csr", random_state=0)
    wide = sp.csr_matrix((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), shape=rows.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for kernel in SHIFT_INVARIANT:
        np.testing.assert_allclose(kernel(wide), kernel(rows.toarray()), atol=1e-8)

"""Compiled products of CSR rows against plain NumPy, on every instruction set of this machine."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from vicinal import _native
from vicinal._native import sparse_rows

each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)


def random_rows(rng, n, d, density=0.3):
    return sp.random_array((n, d), density=density, format="csr", rng=rng, data_sampler=rng.standard_normal)


def plain_softmax(X, weights, bias, scale, others=None, share=None):
    """(sum of log totals, sum of entropies, gradient by the weights, received), row by row."""
    X = X.toarray()
    n = len(X)
    products = (X * weights) @ X.T + bias
    log_totals = entropies = 0.0
    gradient, received = np.zeros(X.shape[1]), np.zeros(n)
    for i in range(n):
        j = np.delete(np.arange(n), i) if others is None else others[i]
        worth = np.ones(len(j)) if share is None else share
        exponents = scale * products[i, j]
        total = logsumexp(exponents, b=worth)
        q = worth * np.exp(exponents - total)
        log_totals += total
        entropies += total - q @ exponents
        gradient += scale * X[i] * (q @ X[j])
        np.add.at(received, j, q)
    return log_totals, entropies, gradient, received


def native_softmax(X, weights, bias, scale, **options):
    gradient, received = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    sums = _native.softmax_of_products(
        sparse_rows(X), weights, bias, scale, gradient=gradient, received=received, **options
    )
    return *sums, gradient, received


@each_instruction_set
@pytest.mark.parametrize("shape", [(2, 1), (3, 4), (17, 9), (130, 40)])
@pytest.mark.parametrize("scale", [0.01, 3.0, 500.0])
def test_softmax_is_that_of_plain_numpy(isa, shape, scale, rng):
    X = random_rows(rng, *shape)
    weights, bias = rng.random(shape[1]), rng.normal(size=shape[0])
    expected = plain_softmax(X, weights, bias, scale)
    for found, wanted in zip(native_softmax(X, weights, bias, scale, isa=isa), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * max(1.0, scale))


@each_instruction_set
def test_sampled_candidates_stand_for_their_share(isa, rng):
    X = random_rows(rng, 40, 12)
    weights, bias = rng.random(12), rng.normal(size=40)
    others = np.array([rng.permutation(np.delete(np.arange(40), i))[:11] for i in range(40)], dtype=np.int32)
    share = np.r_[np.ones(7), np.full(4, 8.5)]
    expected = plain_softmax(X, weights, bias, 2.0, others, share)
    found = native_softmax(X, weights, bias, 2.0, candidates=others, n_sampled=4, share=8.5, isa=isa)
    for one, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-10, atol=1e-10)


def test_all_rows_as_candidates_are_all_rows(rng):
    X = random_rows(rng, 30, 8)
    weights = rng.random(8)
    others = np.array([np.delete(np.arange(30), i) for i in range(30)], dtype=np.int32)
    with_all = native_softmax(X, weights, None, 1.5)
    for one, other in zip(native_softmax(X, weights, None, 1.5, candidates=others), with_all, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_the_number_of_threads_changes_nothing(rng):
    X = random_rows(rng, 200, 30)
    weights = rng.random(30)
    one = native_softmax(X, weights, None, 2.0, n_threads=1)
    for threads in (2, 3, 7):
        for a, b in zip(native_softmax(X, weights, None, 2.0, n_threads=threads), one, strict=True):
            np.testing.assert_array_equal(a, b)


@each_instruction_set
@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40), st.floats(1e-6, 1e2))
def test_exponents_of_any_size(isa, values, scale):
    """Rows with one column: the products are value times value, far apart or equal."""
    X = sp.csr_array(np.array(values)[:, None])
    expected = plain_softmax(X, np.ones(1), np.zeros(len(values)), scale)
    found = native_softmax(X, np.ones(1), None, scale, isa=isa)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, atol=1e-6)
    np.testing.assert_allclose(found[3], expected[3], atol=1e-4)
    assert np.isfinite(found[1])


def test_all_products(rng):
    X = random_rows(rng, 60, 15)
    weights = rng.random(15)
    out = np.empty((60, 60))
    _native.products_of_rows(sparse_rows(X), weights, out, n_threads=2)
    np.testing.assert_allclose(out, (X.multiply(weights) @ X.T).toarray(), atol=1e-13)


def test_arrays_that_do_not_fit_are_refused(rng):
    X = random_rows(rng, 6, 4)
    C = X.tocsc()
    good = [X.data, X.indices, X.indptr, C.data, C.indices, C.indptr]
    good = [part if part.dtype == np.float64 else part.astype(np.int32) for part in good]
    for place, wrong in ((1, good[1] + 10), (2, good[2][::-1].copy()), (0, good[0][:-1].copy()), (4, good[4] - 9)):
        parts = list(good)
        parts[place] = wrong
        with pytest.raises(ValueError, match=r"index|starts"):
            _native.SparseRows(*parts)
    rows = _native.SparseRows(*good)
    with pytest.raises(ValueError, match="a number per column"):
        _native.softmax_of_products(rows, np.ones(3))
    with pytest.raises(ValueError, match="out of range"):
        _native.softmax_of_products(rows, np.ones(4), candidates=np.full((6, 2), 6, np.int32))

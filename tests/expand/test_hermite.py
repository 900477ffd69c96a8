"""HermiteMap: both expansions of the Gaussian kernel, cut where they say, and a bound that holds."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from sklearn.datasets import load_digits, load_iris

from vicinal.expand import HermiteMap, RBFMap
from vicinal.expand.kernels import Gaussian, check_positive_definite

IRIS = load_iris().data
DIGITS = load_digits().data[:60] / 16
EXPANSIONS = ("hermite", "taylor")
tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 10), st.integers(1, 4)),
    elements=st.sampled_from([0.0, 0.0]) | st.floats(-5, 5, width=16),
)


def gram(features, others):
    product = features @ others.T
    return product.toarray() if sp.issparse(product) else product


@settings(deadline=None)
@given(tables, st.integers(1, 7), st.sampled_from([0.01, 0.3, 2.0]))
def test_taylor_is_the_series_of_the_exponential_up_to_the_degree(X, degree, gamma):
    squares = (X**2).sum(axis=1)
    terms = [(2 * gamma * X @ X.T) ** k / math.factorial(k) for k in range(degree + 1)]
    envelope = np.exp(-gamma * (squares[:, None] + squares))
    expected = envelope * sum(terms)
    # Inner products may cancel; rounding goes by the size of what is added up.
    sizes = 2 * gamma * np.abs(X) @ np.abs(X).T
    scale = envelope * sum(sizes**k / math.factorial(k) for k in range(degree + 1))
    for container in (np.asarray, sp.csr_matrix):
        features = HermiteMap(degree, gamma, expansion="taylor").fit_transform(container(X))
        assert sp.issparse(features) == (container is sp.csr_matrix)
        assert np.all(np.abs(gram(features, features) - expected) <= 1e-10 * np.maximum(scale, 1e-200))


@pytest.mark.parametrize("expansion", EXPANSIONS)
@settings(deadline=None)
@given(X=tables, Y=tables, degree=st.integers(1, 6), gamma=st.sampled_from([0.01, 0.3, 2.0, "scale"]))
def test_errors_stay_below_the_bound(expansion, X, Y, degree, gamma):
    Y = np.resize(Y, (len(Y), X.shape[1]))
    model = HermiteMap(degree, gamma, expansion=expansion).fit(X)
    errors = np.abs(gram(model.transform(X), model.transform(Y)) - Gaussian(model.gamma_)(X, Y))
    bounds = model.error_bound(X), model.error_bound(Y)
    assert all(np.all((bound >= 0) & (bound <= 1)) for bound in bounds)
    assert np.all(errors <= np.sqrt(np.outer(*bounds)) + 1e-7)  # roots of rounding errors
    assert errors.max() <= max(bounds[0].max(), bounds[1].max()) + 1e-12


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_the_bound_is_met_by_each_row_with_itself(expansion):
    model = HermiteMap(3, 0.2, expansion=expansion).fit(IRIS)
    lengths = (model.transform(IRIS) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.error_bound(IRIS), 1 - lengths, atol=1e-12)
    assert model.error_bound(IRIS).min() > 1e-4


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_in_the_limit_it_is_the_kernel(expansion):
    X = (IRIS - IRIS.mean(axis=0))[:, :2]
    errors = []
    for degree in (2, 4, 8, 16, 32):
        model = HermiteMap(degree, 0.5, expansion=expansion)
        features = model.fit_transform(X)
        errors.append(np.abs(features @ features.T - Gaussian(0.5)(X)).max())
    assert np.all(np.diff(errors) < 0)
    assert errors[-1] < 1e-10


def test_hermite_features_are_eigenfunctions_of_the_kernel_under_the_normal_distribution():
    # the integral of K(x, y) phi(y) over y ~ N(mean, variance) is a multiple of phi(x), by the mean square of phi
    X = np.array([[1.0], [2.0], [6.0]])
    model = HermiteMap(3, 0.3).fit(X)
    mean, variance = X.mean(), X.var()

    def weighted(y, order, x=None):
        feature = model.transform([[y]])[0, order]
        other = feature if x is None else np.exp(-0.3 * (x - y) ** 2)
        return feature * other * np.exp(-((y - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    limits = {"a": mean - 30, "b": mean + 30, "points": [mean], "limit": 200}
    for order in (0, 1, 3):
        eigenvalue = quad(weighted, args=(order,), **limits)[0]
        for x in (0.5, 3.3):
            expected = eigenvalue * model.transform([[x]])[0, order]
            assert quad(weighted, args=(order, x), **limits)[0] == pytest.approx(expected, abs=1e-9)


def test_hermite_is_closer_than_taylor_at_the_same_number_of_columns(rng):
    X = rng.normal(size=(300, 3))
    errors = {}
    for expansion in EXPANSIONS:
        features = HermiteMap(6, 0.3, expansion=expansion).fit_transform(X)
        errors[expansion] = np.sqrt(np.mean((features @ features.T - Gaussian(0.3)(X)) ** 2))
    assert errors["hermite"] < errors["taylor"] / 5


def test_hermite_knows_where_the_columns_are_and_how_wide(rng):
    X = rng.normal(size=(50, 3))
    near, far = HermiteMap(4, 0.3).fit_transform(X), HermiteMap(4, 0.3).fit_transform(X + 2.0**20)
    np.testing.assert_allclose(near, far, atol=1e-8)
    wide = HermiteMap(4, 0.3 / 100).fit_transform(10 * X)
    np.testing.assert_allclose(near, wide, atol=1e-12)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_constant_columns_add_nothing(expansion):
    X = np.c_[IRIS[:, :2], np.zeros(150)]
    both = (HermiteMap(5, 0.1, expansion=expansion).fit_transform(rows) for rows in (X, X[:, :2]))
    first, second = (features @ features.T for features in both)
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert HermiteMap(2, expansion=expansion).fit(np.full((4, 2), 0.1)).gamma_ == 1


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_rows_far_off_are_zero_and_never_nan(expansion):
    X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, 0.5]])
    model = HermiteMap(20, 1.0, expansion=expansion).fit(X)
    far = np.array([[1e140, -1e140], [1e5, 0.0], [60.0, 0.0]])
    features = model.transform(far)
    assert np.all(np.abs(features) < 1e-100)
    np.testing.assert_allclose(model.error_bound(far), 1)
    if expansion == "taylor":
        np.testing.assert_allclose(model.transform(sp.csr_matrix(far)).toarray(), features, atol=1e-300)


@settings(deadline=None)
@given(tables)
def test_dense_and_sparse_agree(X):
    model = HermiteMap(3, 0.3, expansion="taylor")
    dense, sparse = model.fit_transform(X), model.transform(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(model.error_bound(sp.csr_matrix(X)), model.error_bound(X), rtol=1e-10)
    assert sparse.nnz == sum(math.comb(n + 3, 3) for n in (X != 0).sum(axis=1))


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_what_is_kept_and_what_is_left_out_are_kernels(expansion):
    model = HermiteMap(3, 0.5, expansion=expansion).fit(IRIS)

    def kept(X, Y):
        return model.transform(X) @ model.transform(Y).T

    assert check_positive_definite(kept, IRIS)
    assert check_positive_definite(lambda X, Y: Gaussian(0.5)(X, Y) - kept(X, Y), IRIS)


def test_scale_is_that_of_the_exact_map():
    assert HermiteMap(2).fit(IRIS).gamma_ == RBFMap().fit(IRIS).gamma_ == pytest.approx(1 / (4 * IRIS.var()))
    assert HermiteMap(2, expansion="taylor").fit(sp.csr_matrix(IRIS)).gamma_ == pytest.approx(1 / (4 * IRIS.var()))


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_single_precision_only_at_the_door(expansion):
    X = DIGITS[:, 20:24].astype(np.float32)
    model = HermiteMap(3, 0.5, expansion=expansion).fit(X)
    features = model.transform(X)
    assert features.dtype == np.float32
    assert np.array_equal(features, model.transform(X.astype(np.float64)).astype(np.float32))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(X), features)


def test_names_tell_orders_or_powers():
    hermite, taylor = (HermiteMap(2, expansion=kind).fit(IRIS[:, :2]) for kind in EXPANSIONS)
    assert list(hermite.get_feature_names_out()) == ["H0", "H1(x0)", "H1(x1)", "H2(x0)", "H1(x0) H1(x1)", "H2(x1)"]
    assert list(taylor.get_feature_names_out()) == ["1", "x0", "x1", "x0^2", "x0 x1", "x1^2"]


def test_sparse_rows_need_the_series_that_keeps_zeros():
    with pytest.raises(TypeError, match=r"Hermite polynomials of sparse rows are not sparse; set expansion='taylor'"):
        HermiteMap().fit(sp.csr_matrix(IRIS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": 0}, "degree must be a whole number of at least 1; got 0."),
        ({"degree": 101}, "degree must be at most 100; got 101."),
        ({"gamma": 0}, "gamma must be a number above 0; got 0."),
        ({"gamma": "median"}, "gamma must be a number above 0 or 'scale'; got 'median'."),
        ({"expansion": "fourier"}, "expansion must be one of 'hermite', 'taylor'; got 'fourier'."),
    ],
)
def test_bad_parameters_get_one_clear_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        HermiteMap(**settings).fit(IRIS)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_bad_values_get_one_clear_sentence(expansion):
    for bad, message in ((np.nan, "contains NaN"), (np.inf, "contains infinity"), (1e200, r"values beyond 1e\+150")):
        X = IRIS.copy()
        X[3, 2] = bad
        with pytest.raises(ValueError, match=message):
            HermiteMap(expansion=expansion).fit(X)


def test_too_many_features_are_refused():
    with pytest.raises(ValueError, match=r"degree=20 of 100000 columns .* or use vicinal.expand.kernels.Gaussian"):
        HermiteMap(20, expansion="taylor").fit(sp.csr_matrix((1, 100_000)))
    with pytest.raises(MemoryError, match=r"lower the degree, or use RandomFourierFeatures"):
        HermiteMap(6).fit(np.eye(300)).transform(np.eye(300))

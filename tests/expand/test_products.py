"""PolynomialMap and SubsetProductMap: inner products are the kernels, CSR stays sparse, columns are in their places."""

import itertools
from math import comb, perm

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import config_context
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.preprocessing import PolynomialFeatures

from vicinal.expand import PolynomialMap, SubsetProductMap
from vicinal.expand.kernels import AllSubsets, Polynomial

DIGITS = load_digits().data[:60] / 16
tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.0]) | st.floats(-3, 3, width=16),
)


def messy(X):
    """X as CSR with an explicit zero in each row, unsorted, and every entry in two parts."""
    rows, columns = np.nonzero(X)
    values = X[rows, columns]
    zeros = np.arange(len(X)), np.zeros(len(X), dtype=int)
    rows, columns = np.concatenate([rows, zeros[0], rows]), np.concatenate([columns, zeros[1], columns])
    values = np.concatenate([0.75 * values, np.zeros(len(X)), 0.25 * values])
    order = np.argsort(rows, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sp.csr_matrix((values[order], columns[order], indptr), shape=X.shape)


@settings(deadline=None)
@given(tables, tables, st.integers(1, 6))
def test_inner_products_are_the_polynomial_kernel(X, Y, degree):
    Y = np.resize(Y, (len(Y), X.shape[1]))
    model = PolynomialMap(degree).fit(X)
    expected = Polynomial(degree)(X, Y)
    scale = Polynomial(degree)(np.abs(X), np.abs(Y))  # of the terms that are summed
    for container in (np.asarray, sp.csr_matrix):
        features, others = model.transform(container(X)), model.transform(container(Y))
        assert features.shape == (len(X), model.n_output_features_)
        product = features @ others.T
        product = product.toarray() if sp.issparse(product) else product
        assert np.all(np.abs(product - expected) <= 1e-10 * scale)


@settings(deadline=None)
@given(tables, tables, st.integers(1, 6))
def test_inner_products_of_interactions_are_the_sums_over_sets_of_columns(X, Y, degree):
    Y = np.resize(Y, (len(Y), X.shape[1]))
    model = PolynomialMap(degree, interaction_only=True).fit(X)
    kernel = Polynomial(degree, interaction_only=True)

    def plain(X, Y):
        products, total = X[:, None] * Y, 0.0
        for k in range(min(degree, X.shape[1]) + 1):
            sets = itertools.combinations(range(X.shape[1]), k)
            total = total + perm(degree, k) * sum(products[:, :, list(some)].prod(axis=2) for some in sets)
        return total

    expected, scale = plain(X, Y), plain(np.abs(X), np.abs(Y))  # of the terms that are summed
    for container in (np.asarray, sp.csr_matrix):
        features, others = model.transform(container(X)), model.transform(container(Y))
        assert features.shape == (len(X), model.n_output_features_)
        product = features @ others.T
        product = product.toarray() if sp.issparse(product) else product
        assert np.all(np.abs(product - expected) <= 1e-10 * scale)
        assert np.all(np.abs(kernel(container(X), Y) - expected) <= 1e-10 * scale)
        assert np.all(np.abs(kernel(container(X), container(Y)) - expected) <= 1e-10 * scale)


def test_interactions_of_degree_two_are_the_kernel_without_squares(rng):
    X = rng.normal(size=(7, 5))
    features = PolynomialMap(interaction_only=True).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, (1 + X @ X.T) ** 2 - X**2 @ (X**2).T)
    pairs = [X[:, i] * X[:, j] for i, j in itertools.combinations(range(5), 2)]
    np.testing.assert_allclose(features[:, -10:], np.sqrt(2) * np.column_stack(pairs))


@settings(deadline=None)
@given(tables)
def test_inner_products_are_the_kernel_of_all_subsets(X):
    model = SubsetProductMap().fit(X)
    scale = AllSubsets()(np.abs(X))
    dense, sparse = model.transform(X), model.transform(sp.csr_matrix(X))
    assert dense.shape == sparse.shape == (len(X), 2 ** X.shape[1])
    assert np.all(np.abs(dense @ dense.T - AllSubsets()(X)) <= 1e-10 * scale)
    assert np.all(np.abs((sparse @ sparse.T).toarray() - AllSubsets()(X)) <= 1e-10 * scale)


@pytest.mark.portable
@pytest.mark.parametrize(
    "model",
    [PolynomialMap(2), PolynomialMap(3), PolynomialMap(5), PolynomialMap(3, interaction_only=True), SubsetProductMap()],
)
@settings(deadline=None)
@given(X=tables)
def test_dense_and_sparse_agree_and_only_products_of_entries_are_stored(model, X):
    dense = model.fit_transform(X)
    clean, dirty = model.fit_transform(sp.csr_matrix(X)), model.transform(messy(X))
    for sparse in (clean, dirty):
        np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-13)
        assert sp.csr_matrix((sparse.data, sparse.indices, sparse.indptr), sparse.shape).has_canonical_format
    assert np.array_equal(clean.indices, dirty.indices)
    assert clean.nnz == sum(model.fit(X[:1, : max(n, 1)]).n_output_features_ if n else 1 for n in (X != 0).sum(axis=1))


@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_monomials_are_those_of_scikit_learn_times_roots_of_multinomial_coefficients(degree, interaction_only, rng):
    X = rng.normal(size=(5, 4))
    model, plain = (
        kind(degree, interaction_only=interaction_only).fit(X) for kind in (PolynomialMap, PolynomialFeatures)
    )
    weights = model.transform(X) / plain.transform(X)
    np.testing.assert_allclose(weights, np.broadcast_to(weights[0], weights.shape), rtol=1e-10)
    factorial = np.cumprod([1, 1, 2, 3, 4])
    expected = factorial[degree] / factorial[plain.powers_].prod(axis=1) / factorial[degree - plain.powers_.sum(axis=1)]
    np.testing.assert_allclose(weights[0] ** 2, expected, rtol=1e-10)
    assert list(model.get_feature_names_out()) == list(plain.get_feature_names_out())


def test_the_notes_of_degree_two():
    features = PolynomialMap().fit_transform([[2.0, 3.0]])
    root = np.sqrt(2)
    np.testing.assert_allclose(features, [[1, 2 * root, 3 * root, 4, 6 * root, 9]])


def test_names_read_as_products():
    frame = pytest.importorskip("pandas").DataFrame({"age": [1.0], "of us": [2.0]})
    assert list(PolynomialMap(2).fit(frame).get_feature_names_out()) == [
        "1",
        "age",
        "of us",
        "age^2",
        "age of us",
        "of us^2",
    ]
    subsets = SubsetProductMap().fit(np.ones((1, 3))).get_feature_names_out()
    assert list(subsets) == ["1", "x0", "x1", "x0 x1", "x2", "x0 x2", "x1 x2", "x0 x1 x2"]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_subsets_are_in_their_named_places(container, rng):
    X = rng.normal(size=(4, 5))
    model = SubsetProductMap().fit(X)
    features = model.transform(container(X))
    features = features.toarray() if sp.issparse(features) else features
    for name, column in zip(model.get_feature_names_out(), features.T, strict=True):
        chosen = [int(word[1:]) for word in name.split()] if name != "1" else []
        np.testing.assert_allclose(column, X[:, chosen].prod(axis=1), rtol=1e-12)
    assert len(set(model.get_feature_names_out())) == 32


def position(chosen, n_columns):
    """Of a product among all products, by counting those of lower degree and those of earlier sequences."""
    k, place, lowest = len(chosen), 0, 0
    for degree in range(k):
        place += comb(n_columns + degree - 1, degree)
    for j, column in enumerate(chosen):
        rest = k - j - 1
        place += sum(comb(n_columns - other + rest - 1, rest) for other in range(lowest, column))
        lowest = column
    return place


def test_columns_beyond_32_bits_are_in_their_places():
    n_columns, entries = 40_000, {3: 2.0, 17_000: -1.0, 39_999: 3.0}
    X = sp.csr_matrix((list(entries.values()), ([0] * 3, list(entries))), shape=(1, n_columns))
    features = PolynomialMap(3).fit_transform(X)
    assert features.shape[1] == 40_003 * 40_002 * 40_001 // 6
    assert features.indices.dtype == np.int64
    products = [c for k in range(4) for c in itertools.combinations_with_replacement(sorted(entries), k)]
    assert list(features.indices) == [position(chosen, n_columns) for chosen in products]
    assert features.indices[-1] == features.shape[1] - 1
    values = [np.prod([entries[column] for column in chosen]) for chosen in products]
    assert np.array_equal(np.sign(features.data), np.sign(values))
    np.testing.assert_allclose((features.data**2).sum(), (1 + 14) ** 3)


def test_subsets_beyond_32_bits_are_in_their_places():
    X = sp.csr_matrix(([2.0, 3.0], ([0, 0], [1, 40])), shape=(1, 41))
    features = SubsetProductMap(max_features=41).fit_transform(X)
    assert features.shape == (1, 2**41)
    assert list(features.indices) == [0, 2, 2**40, 2**40 + 2]
    assert list(features.data) == [1, 2, 3, 6]


def test_wide_and_sparse_rows_stay_small(rng):
    columns = rng.integers(0, 1000, size=(200, 10)) * 100
    X = sp.csr_matrix((rng.random(2000), columns.ravel(), np.arange(0, 2001, 10)), shape=(200, 100_000))
    X.sum_duplicates()
    features = PolynomialMap(4).fit_transform(X)
    assert features.nnz == sum(comb(int(n) + 4, 4) for n in np.diff(X.indptr))
    used, places = np.unique(features.indices, return_inverse=True)
    narrow = sp.csr_matrix((features.data, places, features.indptr), shape=(200, len(used)))
    np.testing.assert_allclose((narrow @ narrow.T).toarray(), Polynomial(4)(X), rtol=1e-10)


def test_ridge_on_it_is_kernel_ridge():
    target = np.arange(60.0)
    model = PolynomialMap(2)
    ridge = Ridge(alpha=1.0, fit_intercept=False, solver="cholesky").fit(model.fit_transform(DIGITS), target)
    kernel = KernelRidge(alpha=1.0, kernel="poly", degree=2, gamma=1, coef0=1).fit(DIGITS, target)
    np.testing.assert_allclose(ridge.predict(model.transform(DIGITS)), kernel.predict(DIGITS), rtol=1e-6)


@pytest.mark.parametrize("model", [PolynomialMap(3), SubsetProductMap()])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_many_rows_are_no_different_from_few(model, container):
    """More than a million features of 5,000 rows, which are computed in several blocks."""
    X = np.tile(DIGITS[:50, 20:30], (100, 1))
    few = model.fit(X).transform(container(X[:50]))
    many = model.transform(container(X))
    for start in range(0, 5000, 50):
        assert (many[start : start + 50] != few).sum() == 0


@pytest.mark.parametrize("model", [PolynomialMap(3), SubsetProductMap()])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_single_precision_only_at_the_door(model, container):
    X = DIGITS[:, 20:30].astype(np.float32)
    single, double = model.fit_transform(container(X)), model.fit_transform(container(X.astype(np.float64)))
    assert single.dtype == np.float32
    assert (single != double.astype(np.float32)).sum() == 0


@pytest.mark.parametrize("model", [PolynomialMap(3), SubsetProductMap()])
def test_sparse_kind_is_as_configured_and_input_stays(model):
    given = messy(DIGITS[:, 20:25])
    before = given.copy()
    assert isinstance(model.fit_transform(given), sp.csr_matrix)
    assert isinstance(model.fit_transform(sp.csc_array(given)), sp.csr_matrix | sp.csr_array)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(given, part), getattr(before, part))
    try:
        with config_context(sparse_interface="sparray"):
            assert isinstance(model.fit_transform(given), sp.csr_array)
    except TypeError:
        pytest.skip("this scikit-learn has no sparse_interface")


@pytest.mark.parametrize("model", [PolynomialMap(3), SubsetProductMap()])
def test_rows_without_entries(model):
    features = model.fit_transform(sp.csr_matrix((3, 4)))
    assert np.array_equal(features.toarray(), np.eye(1, features.shape[1]).repeat(3, axis=0))
    assert features.nnz == 3


def test_what_no_index_can_hold_is_refused():
    message = (
        r"degree=5 of 100000 columns makes 8.33e\+22 columns, more than an index can hold; lower the degree, "
        r"take fewer columns, or use vicinal.expand.kernels.Polynomial\(5\)"
    )
    with pytest.raises(ValueError, match=message):
        PolynomialMap(5).fit(sp.csr_matrix((1, 100_000)))
    with pytest.raises(ValueError, match="max_features must be at most 62, as an index cannot hold more"):
        SubsetProductMap(63).fit(DIGITS)


def test_what_does_not_fit_is_refused_before_anything_is_allocated():
    X = np.ones((10, 2000))
    with pytest.raises(MemoryError, match=r"10 rows of \d+ columns need .* GB .* pass X as CSR, or use vicinal.expand"):
        PolynomialMap(4).fit(X).transform(X)
    with pytest.raises(MemoryError, match=r"fewer rows at a time, or use vicinal.expand.kernels.Polynomial\(4\)"):
        PolynomialMap(4).fit(X).transform(sp.csr_matrix(X))
    with pytest.raises(MemoryError, match=r"pass X as CSR if it is sparse, or use vicinal.expand.kernels.AllSubsets"):
        SubsetProductMap(50).fit(X[:, :50]).transform(X[:, :50])
    with pytest.raises(MemoryError, match=r"fewer rows at a time, or use vicinal.expand.kernels.AllSubsets"):
        SubsetProductMap(50).fit(X[:, :50]).transform(sp.csr_matrix(X[:, :50]))


def test_too_many_columns_for_subsets_name_the_way_out():
    message = (
        r"X has 64 columns, whose subsets are 2\^64, but max_features is 16; use vicinal.expand.kernels.AllSubsets"
    )
    with pytest.raises(ValueError, match=message):
        SubsetProductMap().fit(DIGITS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (PolynomialMap(0), "degree must be a whole number of at least 1; got 0."),
        (PolynomialMap(-2), "degree must be a whole number of at least 1; got -2."),
        (PolynomialMap(1.5), "degree must be a whole number of at least 1; got 1.5."),
        (PolynomialMap(101), "degree must be at most 100; got 101."),
        (SubsetProductMap(0), "max_features must be a whole number of at least 1; got 0."),
    ],
)
def test_bad_parameters_get_one_clear_sentence(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.ones((2, 1)))


@pytest.mark.parametrize("model", [PolynomialMap(3), SubsetProductMap()])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_bad_values_get_one_clear_sentence(model, container):
    X = np.ones((3, 4))
    model.fit(X)
    for bad, message in ((np.nan, "contains NaN"), (np.inf, "contains infinity"), (1e150, "too large for float64")):
        X[1, 1:] = bad
        with pytest.raises(ValueError, match=message):
            model.transform(container(X))


def test_products_of_a_few_among_very_many_columns():
    n_columns = 2_000_000_000
    rows = sp.csr_array(([1.0, 2.0], [3, n_columns - 1], [0, 2]), shape=(1, n_columns))
    out = PolynomialMap(2).fit(rows).transform(rows)
    assert out.nnz == 6
    assert out.indices.max() == (n_columns + 2) * (n_columns + 1) // 2 - 1
    assert (out.data**2).sum() == pytest.approx(36)
    out = PolynomialMap(2, interaction_only=True).fit(rows).transform(rows)
    beyond = comb(n_columns - 4, 2)  # pairs of later columns
    assert out.indices.tolist() == [0, 4, n_columns, comb(n_columns, 2) + n_columns - beyond]


def test_subsets_too_many_for_memory_are_refused_however_many_rows():
    for n_rows in (1, 2, 4):
        with pytest.raises(MemoryError):
            SubsetProductMap(62).fit_transform(sp.csr_matrix(np.ones((n_rows, 62))))

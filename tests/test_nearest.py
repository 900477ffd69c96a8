"""Nearest rows against plain NumPy, on every instruction set of this machine."""

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from vicinal import _native
from vicinal._calls import as_native
from vicinal.graphs import nearest_rows

METRICS = ("euclidean", "manhattan", "cosine", "inner")
each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)
each_metric = pytest.mark.parametrize("metric", METRICS)
each_form = pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])


def rounded(values):
    """To 44 binary digits."""
    fractions, exponents = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(fractions, 44)), exponents - 44)


def keys_of(X, Y, metric):
    """The smaller, the nearer; one pair of rows at a time, from differences, in double precision."""
    X, Y = (np.asarray(part.toarray() if sp.issparse(part) else part, np.float64) for part in (X, Y))
    if metric == "inner":
        return rounded(-np.array([[np.sum(x * y) for y in Y] for x in X]))
    if metric == "cosine":
        lengths = [np.linalg.norm(part, axis=1, keepdims=True) for part in (X, Y)]
        X, Y = (part / np.where(length > 0, length, 1) for part, length in zip((X, Y), lengths, strict=True))
        chords = np.round(np.array([[np.linalg.norm(x - y) for y in Y] for x in X]) * 2.0**48) / 2.0**48
        halves = chords**2 / 2
        halves[(lengths[0] == 0) | (lengths[1].T == 0)] = 1
        return rounded(halves)
    return rounded(cdist(X, Y, {"euclidean": "euclidean", "manhattan": "cityblock"}[metric]))


def slow_nearest(X, Y, k, metric, own=None):
    keys = keys_of(X, Y, metric)
    if own is not None:
        keys[np.arange(len(keys)), own] = np.inf
    indices = np.argsort(keys, axis=1, kind="stable")[:, :k]
    nearest = np.take_along_axis(keys, indices, axis=1)
    return -nearest if metric == "inner" else nearest, indices


def native_nearest(X, Y, k, metric, *, own=None, isa="", **options):
    distances, indices = np.empty((X.shape[0], k)), np.empty((X.shape[0], k), np.int64)
    _native.nearest_rows(as_native(X), as_native(Y), distances, indices, METRICS.index(metric), own, isa=isa, **options)
    return distances, indices


def some_rows(rng, n, m, dtype, density=1.0):
    X = rng.standard_normal((n, m)) * (rng.random((n, m)) < density)
    return X.astype(dtype)


@each_instruction_set
@each_metric
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "m", "density"), [(2, 1, 1), (40, 1, 1), (70, 5, 0.5), (300, 40, 1), (150, 400, 0.03)])
def test_every_way_finds_what_numpy_finds(rng, isa, metric, dtype, n, m, density):
    X = some_rows(rng, n, m, dtype, density)
    X[n // 2 :: 7] = X[0]
    k, own = min(6, n - 1), np.arange(n)
    expected_distances, expected = slow_nearest(X, X, k, metric, own)
    for form in (np.asarray, sp.csr_array):
        distances, indices = native_nearest(form(X), form(X), k, metric, own=own, isa=isa)
        assert np.array_equal(indices, expected)
        np.testing.assert_allclose(distances, expected_distances, rtol=1e-12, atol=1e-15)


@each_metric
@each_form
def test_among_other_rows(rng, metric, form):
    X, Y = some_rows(rng, 90, 12, np.float64, 0.6), some_rows(rng, 130, 12, np.float64, 0.6)
    X[3] = Y[77]
    distances, indices = nearest_rows(form(X), form(Y), n_neighbors=4, metric=metric)
    expected_distances, expected = slow_nearest(X, Y, 4, metric)
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-12, atol=1e-15)
    mixed = nearest_rows(X, sp.csr_array(Y), n_neighbors=4, metric=metric)
    assert np.array_equal(mixed[0], distances)
    assert np.array_equal(mixed[1], indices)


@each_instruction_set
@each_metric
@pytest.mark.parametrize("density", [1.0, 0.04])
def test_neither_threads_nor_panels_nor_types_change_the_answer(rng, isa, metric, density):
    X = rng.integers(0, 3, (250, 30)) * (rng.random((250, 30)) < density)
    own = np.arange(250)
    first = native_nearest(X.astype(np.float64), X.astype(np.float64), 5, metric, own=own, isa=isa)
    for dtype in (np.float32, np.float64, np.int8, np.uint16, np.int64):
        for form in (np.asarray, np.asfortranarray, sp.csr_array):
            rows = form(X.astype(dtype))
            for options in ({"panel_rows": 7}, {"panel_rows": 96, "n_threads": 2}, {"n_threads": 5}):
                found = native_nearest(rows, rows, 5, metric, own=own, isa=isa, **options)
                assert np.array_equal(found[0], first[0])
                assert np.array_equal(found[1], first[1])


@each_metric
@each_form
def test_jobs_do_not_change_the_answer(rng, metric, form):
    X = form(some_rows(rng, 200, 20, np.float32, 0.3))
    one, two = (nearest_rows(X, n_neighbors=7, metric=metric, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one[0], two[0])
    assert np.array_equal(one[1], two[1])


@each_metric
@each_form
def test_ties_go_to_the_lower_row(rng, metric, form):
    X = rng.integers(0, 3, size=(80, 3))  # many duplicates, many equal distances
    distances, indices = nearest_rows(form(X), n_neighbors=6, metric=metric)
    expected_distances, expected = slow_nearest(X, X, 6, metric, np.arange(80))
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-6, atol=1e-12)
    equal = distances[:, 1:] == distances[:, :-1]
    assert (indices[:, 1:] > indices[:, :-1])[equal].all()


@each_form
def test_ties_of_unit_rows_go_to_the_lower_row(rng, form):
    """Rows without a common word are all at the distance root of 2, but for rounding."""
    X = np.zeros((30, 90))
    for i in range(30):
        X[i, 3 * i : 3 * i + 3] = rng.random(3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    for metric in ("euclidean", "cosine", "inner"):
        _, indices = nearest_rows(form(X), n_neighbors=3, metric=metric)
        assert np.array_equal(indices[3:], np.tile([0, 1, 2], (27, 1)))


@each_form
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_a_row_is_not_its_own_neighbor_but_its_duplicate_is(form, metric):
    X = np.array([[0.1, 0.3, 7.7]] * 4 + [[5.0, 5.0, 5.0]])
    distances, indices = nearest_rows(form(X), n_neighbors=3, metric=metric)
    assert np.array_equal(indices[:4], [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]])
    assert (distances[:4] == 0).all()
    _, with_itself = nearest_rows(form(X), n_neighbors=3, metric=metric, exclude_self=False)
    assert np.array_equal(with_itself[:4], np.tile([0, 1, 2], (4, 1)))
    _, known = nearest_rows(form(X[[2, 4]]), form(X), n_neighbors=2, metric=metric, exclude_self=[2, -1])
    assert np.array_equal(known, [[0, 1], [4, 0]])


@pytest.mark.parametrize("value", [0.0, 3.5])
@each_metric
@each_form
def test_constant_rows(form, metric, value):
    n = 300
    distances, indices = nearest_rows(form(np.full((n, 4), value)), n_neighbors=2, metric=metric)
    assert np.array_equal(indices[2:], np.tile([0, 1], (n - 2, 1)))
    expected = {"cosine": float(value == 0), "inner": 4 * value**2}.get(metric, 0.0)
    np.testing.assert_allclose(distances, expected, atol=1e-12)


@each_form
def test_rows_of_zeros_are_at_cosine_distance_one(form):
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-2.0, 0.0], [0.0, 0.0]])
    distances, indices = nearest_rows(form(X), n_neighbors=3, metric="cosine")
    assert np.array_equal(indices, [[1, 2, 3], [0, 3, 2], [0, 3, 1], [0, 1, 2]])
    assert np.array_equal(distances, [[1, 1, 1], [1, 1, 2], [1, 1, 2], [1, 1, 1]])


def test_stored_zeros_duplicates_and_unsorted_entries(rng):
    X = np.array([[3.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [3.0, 0.0, 1.5]])
    data = np.array([0.25, 3.0, 0.0, 0.75, 2.0, 1.0, 0.0, 1.5, 3.0])
    columns = np.array([2, 0, 1, 2, 1, 0, 2, 2, 0])
    untidy = sp.csr_array((data, columns, [0, 4, 4, 7, 9]), shape=(4, 3))
    assert np.array_equal(untidy.toarray(), X)
    before = untidy.copy()
    for metric in METRICS:
        found, expected = (nearest_rows(rows, n_neighbors=3, metric=metric) for rows in (untidy, X))
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])
    assert np.array_equal(untidy.data, before.data)


@each_form
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_nearly_equal_rows_keep_their_digits(rng, form, dtype):
    X = (1000 + rng.random((50, 20))).astype(dtype)
    X[25:] = X[:25]
    X[25:, 3] = np.nextafter(X[25:, 3], dtype(np.inf))
    distances, indices = nearest_rows(form(X), n_neighbors=1)
    assert np.array_equal(indices[:, 0], np.r_[25:50, 0:25])
    expected = np.abs(X[25:, 3].astype(np.float64) - X[:25, 3])
    np.testing.assert_allclose(distances[:25, 0], expected, rtol=1e-6 if dtype == np.float32 else 1e-12)


@each_form
def test_near_rows_far_from_the_origin(rng, form):
    X = rng.normal(size=(60, 4)) + np.repeat([-1e9, 0, 1e9], 20)[:, None]
    assert np.array_equal(nearest_rows(form(X), n_neighbors=5)[1], slow_nearest(X, X, 5, "euclidean", np.arange(60))[1])


@each_form
def test_an_outlier_does_not_blur_the_others(rng, form):
    X = np.vstack([rng.normal(size=(40, 3)), [[1e12, 0, 0]]])
    expected = slow_nearest(X, X, 3, "euclidean", np.arange(41))[1]
    assert np.array_equal(nearest_rows(form(X), n_neighbors=3)[1], expected)


@each_form
@each_metric
@pytest.mark.parametrize("exponent", [-1040, -800, -540, 505, 511])
def test_huge_and_tiny_values(rng, form, metric, exponent):
    X = rng.integers(-40, 40, (60, 6)) * 1.0
    distances, indices = nearest_rows(form(X), n_neighbors=5, metric=metric)
    scaled, found = nearest_rows(form(np.ldexp(X, exponent)), n_neighbors=5, metric=metric)
    assert np.array_equal(found, indices)
    with np.errstate(over="ignore", under="ignore"):
        shift = {"cosine": 0, "inner": 2 * exponent}.get(metric, exponent)
        np.testing.assert_allclose(scaled, np.ldexp(distances, shift), rtol=1e-3 if exponent < -1000 else 1e-12)


@each_form
def test_values_whose_differences_overflow(form):
    X = np.array([[1.5e308, 0.0], [-1.5e308, 0.0], [-1.4e308, 1e307], [1.4e308, 1e300]])
    distances, indices = nearest_rows(form(X), n_neighbors=1)
    assert np.array_equal(indices.ravel(), [3, 2, 1, 0])
    np.testing.assert_allclose(distances.ravel(), [1e307, np.sqrt(2) * 1e307, np.sqrt(2) * 1e307, 1e307], rtol=1e-12)


@each_form
def test_tiny_rows_beside_huge_ones(form):
    X = np.array([[1e300, 0.0], [1e-300, 0.0], [3e-300, 0.0], [4e-300, 1e-310], [0.0, 1e160], [0.0, 3e160]])
    distances, indices = nearest_rows(form(X), n_neighbors=1)
    assert np.array_equal(indices.ravel(), [1, 2, 3, 2, 1, 4])
    np.testing.assert_allclose(distances.ravel(), [1e300, 2e-300, 1e-300, 1e-300, 1e160, 2e160], rtol=1e-12)
    distances, indices = nearest_rows(form(X), n_neighbors=2, metric="cosine")
    assert np.array_equal(indices, [[1, 2], [0, 2], [0, 1], [0, 1], [5, 3], [4, 3]])
    np.testing.assert_allclose(distances[:3], 0, atol=1e-19)
    np.testing.assert_allclose(distances[4:], [[0, 1], [0, 1]], rtol=1e-9)


@each_form
def test_parallel_rows_are_at_cosine_distance_zero(rng, form):
    x = rng.normal(size=7)
    X = np.outer([1, 3, 7.1, 1e-200, 1e200, 0.1], x)
    distances, indices = nearest_rows(form(X), n_neighbors=5, metric="cosine")
    assert (distances == 0).all()
    assert np.array_equal(np.sort(indices), indices)


def test_single_precision_stays(rng):
    X = rng.random((30, 4))
    assert nearest_rows(X.astype(np.float32), n_neighbors=2)[0].dtype == np.float32
    assert nearest_rows(X.astype(np.float32), X, n_neighbors=2)[0].dtype == np.float64
    assert nearest_rows(sp.csr_array(X.astype(np.float32)), n_neighbors=2)[0].dtype == np.float32
    assert nearest_rows((8 * X).astype(np.uint8), n_neighbors=2)[0].dtype == np.float32
    assert nearest_rows(X > 0.5, n_neighbors=2)[0].dtype == np.float32


@each_form
@each_metric
def test_more_neighbors_than_rows_are_all_rows(rng, form, metric):
    X = rng.normal(size=(9, 3))
    distances, indices = nearest_rows(form(X), n_neighbors=100, metric=metric)
    expected = slow_nearest(X, X, 8, metric, np.arange(9))
    assert np.array_equal(indices, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12, atol=1e-15)
    assert nearest_rows(form(X[:1]), form(X), n_neighbors=20, metric=metric)[1].shape == (1, 9)
    assert nearest_rows(form(X[:1]), n_neighbors=3, metric=metric, exclude_self=False)[1].tolist() == [[0]]


@each_form
def test_many_neighbors_among_many_rows(rng, form):
    X = some_rows(rng, 1500, 3, np.float32, 0.8)
    distances, indices = nearest_rows(form(X), n_neighbors=700)
    expected = slow_nearest(X, X, 700, "euclidean", np.arange(1500))
    assert np.array_equal(indices, expected[1])
    np.testing.assert_allclose(distances, expected[0], rtol=1e-6)


@each_instruction_set
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_adversarial_values(isa, data):
    """Whole numbers, so that an oracle without rounding decides: Python's fractions."""
    n, m = data.draw(st.integers(2, 40)), data.draw(st.integers(1, 9))
    metric = data.draw(st.sampled_from(METRICS[:2] + METRICS[3:]))
    numbers = data.draw(st.lists(st.integers(-(2**12), 2**12), min_size=1, max_size=8))
    pick = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X = pick.choice(np.array([0, *numbers]), (n, m))
    k, form = data.draw(st.integers(1, n - 1)), data.draw(st.sampled_from([np.asarray, sp.csr_array]))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    exact = [[_whole_key(metric, x, y) for y in X.tolist()] for x in X.tolist()]
    rows = form(X.astype(dtype))
    distances, indices = native_nearest(rows, rows, k, metric, own=np.arange(n), isa=isa)
    for i, row in enumerate(exact):
        expected = sorted((key, j) for j, key in enumerate(row) if j != i)[:k]
        assert indices[i].tolist() == [j for _, j in expected]
        values = [-key if metric == "inner" else key for key, _ in expected]
        if metric == "euclidean":
            values = np.sqrt(np.array(values, np.float64))
        np.testing.assert_allclose(distances[i], values, rtol=1e-13)


def _whole_key(metric, x, y):
    pairs = list(zip(x, y, strict=True))
    if metric == "inner":
        return -sum(a * b for a, b in pairs)
    return sum(abs(a - b) if metric == "manhattan" else (a - b) ** 2 for a, b in pairs)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_euclidean_distances_of_any_numbers(data):
    """Against square roots of fractions: right to 44 binary digits, from the least to the largest numbers."""
    number = st.floats(-1e307, 1e307, allow_subnormal=False)
    X = np.array(data.draw(st.lists(st.lists(number, min_size=3, max_size=3), min_size=2, max_size=5)))
    for form in (np.asarray, sp.csr_array):
        distances, indices = nearest_rows(form(X), n_neighbors=len(X) - 1)
        for i, (row, found) in enumerate(zip(distances, indices, strict=True)):
            assert sorted(found.tolist()) == [j for j in range(len(X)) if j != i]
            assert (np.diff(row) >= 0).all()
            for distance, j in zip(row, found, strict=True):
                squared = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(X[i], X[j], strict=True))
                assert distance == pytest.approx(_root(squared), rel=1e-13, abs=1e-320)


def _root(value):
    shifted = value * 2**2200
    return float(Fraction(isqrt(shifted.numerator // shifted.denominator), 2**1100))


def test_nothing_of_the_size_rows_by_rows_is_held(rng):
    """Five thousand rows: their distances alone would be 200 MB."""
    import tracemalloc

    X = sp.random_array((5000, 2000), density=0.002, format="csr", rng=rng, dtype=np.float32)
    tracemalloc.start()
    nearest_rows(X, n_neighbors=3, metric="cosine")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_bad_input(rng):
    X = rng.random((5, 3))
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1; got 0"):
        nearest_rows(X, n_neighbors=0)
    with pytest.raises(ValueError, match="metric must be one of 'euclidean', 'manhattan', 'cosine', 'inner'; got 'l2'"):
        nearest_rows(X, n_neighbors=1, metric="l2")
    with pytest.raises(ValueError, match="X has 3 columns and Y has 2; both must have the same"):
        nearest_rows(X, X[:, :2], n_neighbors=1)
    with pytest.raises(ValueError, match="exclude_self=True needs Y=None"):
        nearest_rows(X, X, n_neighbors=1, exclude_self=True)
    with pytest.raises(ValueError, match=r"for each of the 5 rows of X a row number from -1 \(none\) to 4"):
        nearest_rows(X, X, n_neighbors=1, exclude_self=[0, 1, 2, 3, 5])
    with pytest.raises(ValueError, match="X has only one row, which has no other rows near it; give more rows"):
        nearest_rows(X[:1], n_neighbors=1)
    with pytest.raises(ValueError, match="Input Y contains NaN"):
        nearest_rows(X, np.full((2, 3), np.nan), n_neighbors=1)
    with pytest.raises(ValueError, match="Complex data not supported"):
        nearest_rows(X * 1j, n_neighbors=1)


def test_arrays_that_do_not_fit_are_refused(rng):
    X = rng.random((6, 4))
    with pytest.raises(ValueError, match="not as many rows as are wanted"):
        native_nearest(X, X, 6, "euclidean", own=np.arange(6))
    with pytest.raises(ValueError, match="own must have a number per row"):
        native_nearest(X, X, 2, "euclidean", own=np.arange(5))
    with pytest.raises(ValueError, match="differ in their number of columns"):
        native_nearest(X, X[:, :2], 2, "euclidean")
    with pytest.raises(ValueError, match="both be dense or both be CSR"):
        native_nearest(X, sp.csr_array(X), 2, "euclidean")

"""The compiled kernel against plain NumPy, on every instruction set of this machine."""

import os
import subprocess
import sys

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from vicinal import _native

METRICS = ("euclidean", "manhattan", "cosine")
each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)


def search(x, anchors, *, k=1, metric="euclidean", isa="", dtype=None, **options):
    """Nearest anchors in one group of all columns: (index, distance, sum of all distances)."""
    x, anchors = np.asarray(x), np.asarray(anchors)
    columns = np.empty((len(x), k), np.int32)
    distances = np.empty((len(x), k), dtype or (np.float32 if x.dtype == np.float32 else np.float64))
    sums, counts, _ = _native.nearest(
        x, _groups(anchors, x.shape[1], metric), columns, distances, n_neighbors=k, isa=isa, **options
    )
    return columns, distances, sums[0] / max(counts[0], 1) if sums else None


def _groups(anchors, n_features, metric):
    return _native.AnchorGroups(
        anchors,
        anchor_ptr=np.array([0, len(anchors)]),
        rows=np.arange(len(anchors), dtype=np.int32),
        feature_ptr=np.array([0, n_features]),
        features=np.arange(n_features, dtype=np.int32),
        metric=METRICS.index(metric),
    )


def fixed_means(x, anchors, **options):
    """The transform-only path, where no distances are summed; its values are not looked at."""
    columns, _, _ = search(x, anchors, mean_distances=np.zeros(1), **options)
    return columns


def assert_nearest(x, anchors, k, metric, isa):
    D = oracle.distances(x, anchors, metric)
    columns, values, mean = search(x, anchors, k=k, metric=metric, isa=isa)
    single = x.dtype == np.float32
    # The chosen anchors are as near as the nearest, within rounding; where the runner-up is clearly farther, the same.
    scale = np.abs(D[np.isfinite(D)]).max(initial=1) if metric == "cosine" else np.abs(np.nan_to_num(x)).max(initial=0)
    slack = (1e-5 if single else 1e-12) * max(scale * np.sqrt(x.shape[1]), 1e-300)
    expected = np.sort(D, axis=1)[:, :k]
    found = np.sort(np.where(columns < 0, np.inf, np.take_along_axis(D, np.maximum(columns, 0), 1)), axis=1)
    present = np.isfinite(expected)
    assert (np.sort(columns < 0, axis=1) == ~present).all()
    assert (np.abs(found[present] - expected[present]) <= slack).all()
    whole = present.all(1)
    rtol = 1e-4 if single else 1e-9
    np.testing.assert_allclose(np.sort(values, axis=1)[whole], expected[whole], rtol=rtol, atol=slack)
    if np.isfinite(D).any():
        # Distances far below the rows' length vanish in the rounding of expanded squares; in a mean they do not matter.
        lost = 4 * np.sqrt(np.finfo(x.dtype).eps) * max(scale, 1 if metric == "cosine" else 0) * np.sqrt(x.shape[1])
        assert mean == pytest.approx(D[np.isfinite(D)].mean(), rel=1e-5, abs=lost)
    if k == 1:
        assert (fixed_means(x, anchors, metric=metric, isa=isa) == columns).all()


@each_instruction_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("n", "m", "r"), [(1, 1, 3), (33, 2, 13), (70, 5, 40), (100, 17, 64), (257, 130, 101)])
def test_nearest_anchors_are_those_of_numpy(rng, isa, dtype, metric, k, n, m, r):
    x = rng.standard_normal((n, m)).astype(dtype)
    anchors = rng.standard_normal((r, m)).astype(dtype)
    anchors[: min(n, r) // 2] = x[: min(n, r) // 2]
    assert_nearest(x, anchors, k, metric, isa)


@each_instruction_set
@pytest.mark.parametrize("metric", METRICS)
def test_ties_go_to_the_lower_index(rng, isa, metric):
    for m in (1, 2, 3, 9, 40):
        x = rng.integers(0, 2, (200, m)).astype(np.float32)
        anchors = np.repeat(rng.integers(0, 2, (20, m)), 3, axis=0).astype(np.float32)
        expected, _ = oracle.nearest(oracle.distances(x, anchors, metric).round(6))
        columns, _, _ = search(x, anchors, metric=metric, isa=isa)
        assert (columns == expected).all()
        assert (fixed_means(x, anchors, metric=metric, isa=isa) == expected).all()


@each_instruction_set
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("kind", ["normal", "skewed", "integers", "constant", "two values", "huge"])
def test_the_index_returns_what_a_scan_returns(rng, isa, m, kind):
    x = {
        "normal": lambda: rng.standard_normal((20_000, m)),
        "skewed": lambda: np.exp(3 * rng.standard_normal((20_000, m))),
        "integers": lambda: rng.integers(-9, 10, (20_000, m)),
        "constant": lambda: np.full((20_000, m), 2.5),
        "two values": lambda: rng.integers(0, 2, (20_000, m)),
        "huge": lambda: rng.standard_normal((20_000, m)) * 1e30,
    }[kind]().astype(np.float32)
    for r in (150, 900):
        with_index = fixed_means(x, x[:r], isa=isa)
        without = fixed_means(x, x[:r], isa=isa, use_index=False)
        assert (with_index == without).all()


TABLES = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "integers": lambda rng, shape: rng.integers(-2, 3, shape),
    "duplicates": lambda rng, shape: rng.standard_normal((7, shape[1]))[rng.integers(0, 7, shape[0])],
    "constant": lambda rng, shape: np.full(shape, 2.5),
    "far": lambda rng, shape: 1e4 + rng.standard_normal(shape),
    "uneven": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, (shape[0], 1)),
}


@each_instruction_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [*TABLES, "huge", "tiny", "vanishing"])
def test_tiles_of_few_features_return_what_a_scan_returns(rng, isa, dtype, kind):
    """The search by products alone must say what squared differences say, to the last digit."""
    huge = 1e19 if dtype == np.float32 else 1e154  # whose squares are nearly too large
    for m, r, n in [(1, 200, 70), (2, 203, 33), (3, 1000, 400), (4, 192, 1), (4, 997, 300), (5, 301, 95), (6, 250, 64)]:
        scale = {"huge": huge, "tiny": 1 / huge, "vanishing": 0.003 / huge}.get(kind, 1)
        x = TABLES.get(kind, TABLES["normal"])(rng, (n, m))
        near = np.vstack([x, x + 0.25 * x.std() * rng.standard_normal(x.shape)] * (r // n + 1))
        anchors = (scale * near[rng.permutation(len(near))[:r]]).astype(dtype)
        x = (scale * x).astype(dtype)
        expected, _, _ = search(x, anchors, isa=isa)  # sums of distances need all of them
        assert (fixed_means(x, anchors, isa=isa)[:, 0] == expected[:, 0]).all(), (m, r)
        if kind in ("integers", "constant"):
            assert (expected == oracle.nearest(oracle.distances(x, anchors))[0]).all()


@each_instruction_set
def test_missing_and_lone_rows_among_few_features(rng, isa):
    x, anchors = rng.standard_normal((70, 4)), rng.standard_normal((300, 4))
    x[3, 1] = x[40] = np.nan
    assert_nearest(x.astype(np.float32), anchors.astype(np.float32), 1, "euclidean", isa)
    assert_nearest(x[:1].astype(np.float32), anchors.astype(np.float32), 1, "euclidean", isa)
    anchors[299, 2] = np.nan  # the last one, whose tile is filled up
    assert_nearest(x.astype(np.float32), anchors.astype(np.float32), 1, "euclidean", isa)


@each_instruction_set
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_slices_of_features_and_panels_of_anchors(rng, isa, metric):
    """Sums of small whole numbers are exact: ties are ties, whatever is added up first."""
    for m, r in [(7, 97), (127, 5), (128, 96), (129, 6), (130, 7), (257, 13), (300, 193), (390, 64)]:
        x = rng.integers(0, 2, (33, m)).astype(np.float32)
        anchors = x[rng.integers(0, 33, r)] + (rng.random((r, m)) < 3 / m).astype(np.float32)
        anchors[r // 2 :] = anchors[: r - r // 2]
        expected, d = oracle.nearest(oracle.distances(x, anchors, metric))
        columns, values, _ = search(x, anchors, metric=metric, isa=isa)
        assert (columns == expected).all()
        np.testing.assert_allclose(values, d, rtol=1e-6)
        assert (fixed_means(x, anchors, metric=metric, isa=isa) == expected).all()


def test_a_lone_group_is_the_same_on_any_number_of_threads(rng):
    x = rng.standard_normal((1500, 390)).astype(np.float32)
    columns, values, mean = search(x, x[:100], n_threads=1)
    for n_threads in (2, 5):
        others = search(x, x[:100], n_threads=n_threads)
        assert (columns == others[0]).all()
        assert (values == others[1]).all()
        assert mean == others[2]


@each_instruction_set
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_adversarial_values(isa, data):
    n, m, r = (data.draw(st.integers(1, most)) for most in (40, 12, 20))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    metric = data.draw(st.sampled_from(METRICS))
    value = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-12, 1e12, 3.0, 2000.0, 2000.5]),
        st.floats(-1e6, 1e6, width=32).filter(lambda v: v == 0 or abs(v) > 1e-12),  # squares that a float32 holds
        st.just(float("nan")),
    )
    numbers = data.draw(st.lists(value, min_size=1, max_size=30))
    seed = data.draw(st.integers(0, 2**32 - 1))
    pick = np.random.default_rng(seed)
    x = pick.choice(np.array(numbers, dtype), (n, m))
    anchors = pick.choice(np.array(numbers, dtype), (r, m))
    if metric == "cosine":  # tiny and huge values side by side: their squares leave nothing to compare
        x, anchors = np.clip(x, -1e3, 1e3), np.clip(anchors, -1e3, 1e3)
    assert_nearest(x, anchors, data.draw(st.integers(1, min(r, 3))), metric, isa)


@each_instruction_set
def test_near_ties_are_settled_exactly(rng, isa):
    """Expanded squares in float32 cannot tell these anchors apart; the kernel can."""
    m, n = 64, 500
    x = rng.standard_normal((n, m)).astype(np.float32)
    anchors = (x[0] + 1e-4 * rng.standard_normal((30, m))).astype(np.float32)
    expected, d = oracle.nearest(oracle.distances(x, anchors))
    columns, values, _ = search(x, anchors, isa=isa)
    assert (columns == expected).all()
    np.testing.assert_allclose(values, d, rtol=1e-5)


@each_instruction_set
def test_overflow_falls_back_to_exact_distances(isa):
    x = np.array([[3e30, 1e30] * 8, [1.0, 2.0] * 8, [-2e38, 0] * 8], np.float32)
    expected, _ = oracle.nearest(oracle.distances(x, x[::-1]))
    columns, _, _ = search(x, x[::-1].copy(), isa=isa)
    assert (columns == expected).all()


@each_instruction_set
def test_instruction_sets_agree(rng, isa):
    x = rng.standard_normal((300, 50)).astype(np.float32)
    for metric in METRICS:
        columns, values, mean = search(x, x[:40], metric=metric, isa=isa)
        plain_columns, plain_values, plain_mean = search(x, x[:40], metric=metric, isa="baseline")
        assert (columns == plain_columns).all()
        np.testing.assert_allclose(values, plain_values, rtol=1e-5, atol=1e-6)
        assert mean == pytest.approx(plain_mean, rel=1e-6)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
def test_every_number_type_and_layout_is_read(rng, dtype):
    x = rng.integers(0, 100, (90, 21)).astype(dtype)
    expected = search(x.astype(np.float64), x[:9].astype(np.float64))[0]
    for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], x[::-1][::-1]):
        columns, _, _ = search(layout, x[:9].astype(np.float64), dtype=np.float64)
        assert (columns == expected).all()
    for index_type in (np.int32, np.int64):
        csr = sp.csr_array(x)
        parts = csr.data, csr.indices.astype(index_type), csr.indptr.astype(index_type), 21
        columns, values = np.empty((90, 1), np.int32), np.empty((90, 1))
        _native.nearest(parts, _groups(x[:9].astype(np.float64), 21, "euclidean"), columns, values)
        assert (columns == expected).all()


def test_fingerprints_see_values_not_containers(rng):
    x = rng.integers(-3, 4, (50, 6)).astype(np.float64)
    x[0], x[1, 0] = -0.0, np.nan
    csr = sp.csr_array(np.nan_to_num(x, nan=7.0))

    def of(matrix):
        out = np.empty(50, np.uint64)
        _native.fingerprints(matrix, out)
        return out

    assert (of(x) == of(x.astype(np.float32))).all()
    assert (of(np.nan_to_num(x, nan=7.0)) == of((csr.data, csr.indices, csr.indptr, 6))).all()
    assert of(x)[0] == of(np.zeros((50, 6)))[0]
    distinct = len(np.unique(np.nan_to_num(x, nan=7.0), axis=0))
    assert len(np.unique(of(x))) == distinct


@pytest.mark.parametrize("isa", [*_native.available_instruction_sets, "mmx"])
def test_environment_variable_forces_an_instruction_set(isa):
    code = "from vicinal import _native; print(_native.instruction_set)"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "VICINAL_ISA": isa}, capture_output=True, text=True
    )
    if isa == "mmx":
        assert run.returncode != 0
        assert "VICINAL_ISA=mmx is not one of this machine's instruction sets" in run.stderr
    else:
        assert run.stdout.strip() == isa


@each_instruction_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", METRICS)
def test_subspaces_of_landmarks(isa, dtype, metric):
    """By directions and by products with neighbours, subspaces of 0, 1, 13 and 25 dimensions, 1 to 70 rows."""
    rng = np.random.default_rng(0)
    table, k, dimensions = rng.standard_normal((60, 33)).astype(dtype), 26, [0, 1, 13, 25, 12, 24]
    neighbors = np.array([rng.permutation(60)[:k] for _ in dimensions], np.int32)
    weights = [rng.standard_normal((k, q)) for q in dimensions]
    directions = [weight.T @ table[near] for weight, near in zip(weights, neighbors, strict=True)]
    own = [rng.standard_normal(q) for q in dimensions]
    ptr, drawn_ptr = np.cumsum([0, *dimensions]), np.array([0, 4, 10])
    drawn = np.array([3, 1, 0, 2, 5, 4, 3, 2, 1, 0], np.int32)
    told = ptr, np.concatenate(own), drawn_ptr, drawn
    coefficients = np.concatenate([weight.ravel() for weight in weights]).astype(dtype)[None]
    both = (
        _native.LandmarkSubspaces(np.vstack(directions).astype(dtype), *told, metric=METRICS.index(metric)),
        _native.LandmarkSubspaces(table, *told, neighbors, coefficients, metric=METRICS.index(metric)),
    )
    for n_rows in (1, 31, 70):
        x = rng.standard_normal((n_rows, 33)).astype(dtype)
        D = np.column_stack(
            [
                oracle.distances(at[None], x @ along.T, metric)[0] if len(at) else np.full(n_rows, metric == "cosine")
                for at, along in zip(own, directions, strict=True)
            ]
        )
        expected = np.hstack([oracle.mean_minus_distance(D[:, part], 3, 0.1) for part in (drawn[:4], drawn[4:])])
        for subspaces in both:
            columns, values = np.empty((n_rows, 6), np.int32), np.empty((n_rows, 6), dtype)
            _native.nearest_in_subspaces(x, subspaces, columns, values, epsilon=0.1, n_nearest=3, isa=isa)
            found = np.zeros(expected.shape)
            np.put_along_axis(found, columns, values, 1)
            np.testing.assert_allclose(found, expected, rtol=2e-4 if dtype == np.float32 else 1e-10, atol=1e-6)


@each_instruction_set
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projection(isa, dtype):
    rng = np.random.default_rng(0)
    x, directions = rng.standard_normal((45, 19)).astype(dtype), rng.standard_normal((14, 19)).astype(dtype)
    center = rng.standard_normal(19)
    for rows, moved in [(x, center), (x, None), ((*_csr(x), 19), None)]:
        out = np.empty((45, 14), dtype)
        _native.project(rows, directions, out, moved, 0.5, 2, isa)
        expected = 0.5 * (x - (0 if moved is None else center)) @ directions.T
        np.testing.assert_allclose(out, expected, rtol=1e-4 if dtype == np.float32 else 1e-10, atol=1e-5)


def _csr(x):
    matrix = sp.csr_matrix(x)
    return matrix.data, matrix.indices, matrix.indptr

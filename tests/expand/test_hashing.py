"""HashedProjection: its matrix is the one that NumPy makes of the seed, wherever and however it is applied."""

import os
import pickle
from hashlib import blake2b

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from vicinal import _native
from vicinal.datasets import load
from vicinal.expand import HashedProjection
from vicinal.expand._hashing import nearest_divisor

each_instruction_set = pytest.mark.parametrize("isa", _native.available_instruction_sets)
SHAPES = [(1, 1), (6, 3), (12, 1), (64, 8), (21, 7), (300, 2), (1200, 3), (77, 77), (1024, 128)]


def mixed(h):
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def places_and_signs(columns, m, s, seed):
    """h and sigma of the notes, for every column and every block."""
    columns = np.asarray(columns, np.uint64)
    step = np.uint64(0x9E3779B97F4A7C15)
    keys = mixed(mixed(np.array([seed], np.uint64) + step) + (columns + np.uint64(1)) * step)[:, None]
    small = m // s <= 128
    n_words = (s + 1) // 2 if small else s
    words = np.arange(n_words, dtype=np.uint32) * np.uint32(0x9E3779B9) + keys.astype(np.uint32)
    words = (words ^ (words >> np.uint32(16))) * np.uint32(0x7FEB352D) ^ (keys >> np.uint64(32)).astype(np.uint32)
    words = (words ^ (words >> np.uint32(15))) * np.uint32(0x846CA68B)
    words = (words ^ (words >> np.uint32(16))).astype(np.uint64)
    if not small:
        sides = words * np.uint64(2 * (m // s)) >> np.uint64(32)
    else:
        halves = np.hstack([words & np.uint64(0xFFFF), words >> np.uint64(16)])[:, :s]
        sides = halves * np.uint64(2 * (m // s)) >> np.uint64(16)
    return (sides // 2).astype(int), 1 - 2 * (sides % 2).astype(int)


def matrix(columns, m, s, seed, signed=True):
    """A: s blocks of m / s rows, each with one entry per column."""
    places, signs = places_and_signs(columns, m, s, seed)
    A = np.zeros((m, len(places)))
    for block in range(s):
        rows = block * (m // s) + places[:, block]
        A[rows, np.arange(len(places))] = (signs[:, block] if signed else 1) / np.sqrt(s)
    return A


def hash_rows(X, m, s, *, isa="", seed=5, signed=True, n_threads=1, dtype=np.float64):
    out = np.full((X.shape[0], m), np.nan, dtype)
    native = (X.data, X.indices, X.indptr, X.shape[1]) if sp.issparse(X) else X
    _native.hash_rows(native, out, seed, s, signed, n_threads, isa=isa)
    return out


def some_rows(rng, n=40, d=90, dtype=np.float64):
    return np.where(rng.random((n, d)) < 0.3, rng.integers(-9, 10, (n, d)), 0).astype(dtype)


@each_instruction_set
@pytest.mark.parametrize(("m", "s"), SHAPES)
@pytest.mark.parametrize("signed", [True, False])
def test_rows_are_multiplied_by_the_matrix(rng, isa, m, s, signed):
    X = some_rows(rng)
    expected = X @ matrix(np.arange(90), m, s, 5, signed).T
    for given_rows in (X, np.asfortranarray(X), X[:, ::-1][:, ::-1], sp.csr_array(X)):
        np.testing.assert_allclose(hash_rows(given_rows, m, s, isa=isa, signed=signed), expected, atol=1e-12)


@each_instruction_set
@pytest.mark.parametrize("number", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.float32])
def test_every_number_type_is_read(rng, isa, number):
    X = np.abs(some_rows(rng)).astype(number)
    expected = X.astype(float) @ matrix(np.arange(90), 64, 8, 5).T
    for given_rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(hash_rows(given_rows, 64, 8, isa=isa), expected, atol=1e-12)
        single = hash_rows(given_rows, 64, 8, isa=isa, dtype=np.float32)
        np.testing.assert_allclose(single, expected, rtol=1e-5, atol=1e-4)


@each_instruction_set
def test_the_map_of_a_seed_never_changes(isa):
    small = hash_rows(np.eye(6), 8, 2, seed=0, isa=isa).reshape(6, 2, 4)
    assert np.abs(small).argmax(axis=2).tolist() == [[0, 2], [0, 0], [2, 0], [0, 0], [0, 0], [3, 2]]
    assert np.sign(small.sum(axis=2)).tolist() == [[-1, 1], [-1, -1], [-1, 1], [-1, 1], [1, 1], [1, -1]]
    large = hash_rows(np.eye(4), 1000, 1, seed=2**64 - 1, isa=isa)
    assert np.abs(large).argmax(axis=1).tolist() == [767, 433, 879, 79]


def test_the_map_of_keys_never_changes():
    model = HashedProjection(1000, n_blocks=1, input_type="dict", random_state=1)
    Z = model.transform([{"a": 1}, {"ä": 1}, {"": 1}])
    assert np.abs(Z).argmax(axis=1).tolist() == [633, 605, 531]
    assert Z.sum(axis=1).tolist() == [-1, -1, 1]


def test_every_block_has_one_entry_of_equal_size(rng):
    Z = HashedProjection(60, n_blocks=12, random_state=1).transform(np.eye(500))
    sizes = np.abs(Z).reshape(500, 12, 5)
    np.testing.assert_allclose(sizes.sum(axis=2), 1 / np.sqrt(12))
    assert np.all((sizes > 0).sum(axis=2) == 1)


@pytest.mark.portable
@pytest.mark.parametrize(("m", "s"), [(64, 8), (1000, 1), (600, 6)])
@pytest.mark.parametrize("columns", ["consecutive", "multiples of 2^32", "random"])
def test_places_and_signs_are_uniform_and_independent(rng, m, s, columns):
    n, size = 30_000, m // s
    ids = {
        "consecutive": np.arange(n),
        "multiples of 2^32": np.arange(n) << 32,
        "random": rng.integers(0, 2**63, n),
    }[columns]
    X = sp.csr_array((np.ones(n), ids, np.arange(n + 1)), shape=(n, 2**63 - 1))
    Z = HashedProjection(m, n_blocks=s, random_state=11).transform(X).reshape(n, s, size)
    sides = 2 * np.abs(Z).argmax(axis=2) + (Z.sum(axis=2) < 0)
    cells = 2 * size
    for block in range(s):
        assert_uniform(sides[:, block], cells)
        # of two columns that follow each other, of two seeds, and of two blocks: all pairs of signs and of low places
        assert_uniform(pairs_of(sides[:-1, block], sides[1:, block], cells), 64)
        for other in range(block):
            assert_uniform(pairs_of(sides[:, block], sides[:, other], cells), 64)
    other_seed = HashedProjection(m, n_blocks=s, random_state=12).transform(X).reshape(n, s, size)
    others = 2 * np.abs(other_seed).argmax(axis=2) + (other_seed.sum(axis=2) < 0)
    assert_uniform(pairs_of(sides[:, 0], others[:, 0], cells), 64)


def pairs_of(first, second, cells):
    """Both numbers cut to eight classes: their leading two bits, as far as they go evenly, and the sign."""

    def classes(sides):
        return sides // 2 * 4 // (cells // 2) * 2 + sides % 2

    return classes(first) * 8 + classes(second)


def assert_uniform(numbers, cells):
    expected = len(numbers) / cells
    assert_expected(np.bincount(numbers, minlength=cells), np.full(cells, expected))


def assert_expected(observed, expected):
    statistic = np.sum((observed - expected) ** 2 / expected)
    assert 1e-5 < chi2.cdf(statistic, len(expected) - 1) < 1 - 1e-5


@pytest.mark.portable
@pytest.mark.parametrize("step", [1, 2**20, 2**32])
@pytest.mark.parametrize("lag", [1, 2, 1000])
def test_two_columns_meet_in_as_many_blocks_as_chance_has_it(step, lag):
    """Inner products of code vectors, with and without signs; were blocks not independent, many would be too large."""
    s, size, n = 96, 8, 40_000
    ids = np.arange(n, dtype=np.int64) * step
    X = sp.csr_array((np.ones(n, np.float32), ids, np.arange(n + 1)), shape=(n, 2**63 - 1))
    codes = HashedProjection(s * size, n_blocks=s, random_state=7).transform(X) * np.float32(np.sqrt(s))
    products = np.einsum("ij,ij->i", codes[lag:], codes[:-lag])
    meetings = np.einsum("ij,ij->i", np.abs(codes[lag:]), np.abs(codes[:-lag]))
    meetings, products = np.rint(meetings).astype(int), np.rint(products).astype(int)
    assert_expected(*pooled(meetings, binom(s, 1 / size)))
    agreeing = (meetings + products) // 2
    assert_expected(*pooled(agreeing, binom(s, 0.5 / size)))


def pooled(numbers, law):
    """Observed and expected counts of whole numbers; rare ones, at both ends, are put together."""
    expected = len(numbers) * law.pmf(np.arange(law.support()[1] + 1))
    common = np.flatnonzero(expected > 20)
    first, last = common[0], common[-1]
    observed = np.bincount(np.clip(numbers, first, last), minlength=last + 1)[first : last + 1]
    expected = expected[first : last + 1].copy()
    expected[0] = len(numbers) * law.cdf(first)
    expected[-1] = len(numbers) * law.sf(last - 1)
    return observed, expected


def test_one_bit_of_the_seed_or_of_the_column_changes_everything(rng):
    m, s = 1024, 64
    seeds = rng.integers(0, 2**63, 60)
    columns = rng.integers(0, 2**62, 200)

    def sides(columns, seed):
        X = sp.csr_array((np.ones(200), columns, np.arange(201)), shape=(200, 2**63 - 1))
        Z = hash_rows(X, m, s, seed=int(seed)).reshape(200, s, m // s)
        return 2 * np.abs(Z).argmax(axis=2) + (Z.sum(axis=2) < 0)

    for bit, seed in enumerate(seeds):
        before = sides(columns, seed)
        for after in (sides(columns, int(seed) ^ (1 << bit)), sides(columns ^ (1 << bit), seed)):
            equal = (before == after).mean()  # by chance: 1 of 32, of 12,800
            assert abs(equal - 1 / 32) < 5 * np.sqrt(1 / 32 / 12_800)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_dense_and_csr_and_threads_agree_to_the_bit(data):
    m, s = data.draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    X = some_rows(rng, n=data.draw(st.integers(1, 80)), d=data.draw(st.integers(1, 300))) * np.pi
    X = X.astype(dtype)
    sparse = sp.csr_array(X)
    wide = sp.csr_array(
        (sparse.data, sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)), shape=sparse.shape
    )
    results = [
        hash_rows(rows, m, s, isa=isa, n_threads=threads, dtype=dtype)
        for rows in (X, sparse, wide)
        for isa in _native.available_instruction_sets
        for threads in (1, 3)
    ]
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_rows_do_not_depend_on_their_neighbours(rng):
    model = HashedProjection(64, random_state=0)
    X = some_rows(rng, n=100)
    whole = model.fit_transform(X)
    assert np.array_equal(np.vstack([model.transform(X[i : i + 7]) for i in range(0, 100, 7)]), whole)


def test_zeros_do_no_harm_and_duplicates_add_up():
    indptr, shape = [0, 4, 4, 5], (3, 10)
    X = sp.csr_matrix((np.array([1.0, 0.0, 2.0, 3.0, 0.0]), np.array([7, 3, 7, 1, 2]), np.array(indptr)), shape=shape)
    model = HashedProjection(64, n_blocks=8, random_state=0)
    expected = np.zeros((3, 10))
    expected[0, [7, 1]] = 3
    assert np.array_equal(model.transform(X), model.transform(expected))
    assert X.nnz == 5
    raw = np.empty((3, 64))
    _native.hash_rows((X.data, X.indices, X.indptr, 10), raw, 0, 8)
    np.testing.assert_allclose(raw, model.transform(expected), atol=1e-15)
    assert np.all(model.transform(X)[1:] == 0)


def test_feature_hashing_without_signs_keeps_sums(rng):
    X = np.abs(some_rows(rng))
    Z = HashedProjection(16, n_blocks=1, signed=False, random_state=0).fit_transform(X)
    assert np.array_equal(Z.sum(axis=1), X.sum(axis=1))
    assert Z.min() >= 0


@pytest.mark.parametrize(
    ("given_type", "expected"),
    [
        (np.float32, np.float32),
        (np.float16, np.float32),
        (">f4", np.float32),
        (np.uint8, np.float32),
        (bool, np.float32),
        (np.float64, np.float64),
        (np.int32, np.float64),
        (np.int64, np.float64),
    ],
)
def test_dtypes(rng, given_type, expected):
    X = np.abs(some_rows(rng)).astype(given_type)
    wanted = HashedProjection(64, random_state=0).fit_transform(X.astype(float))
    known_to_scipy = given_type not in (np.float16, ">f4")
    for rows in [X, sp.csr_matrix(X)] if known_to_scipy else [X]:
        out = HashedProjection(64, random_state=0).fit_transform(rows)
        assert out.dtype == expected
        np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-4)


def test_memory_does_not_grow_with_the_columns(rng):
    few, many = 1000, 2**62
    columns = np.sort(rng.choice(few, 500, replace=False)).astype(np.int64)
    indptr = np.arange(0, 501, 5)
    models = []
    for d in (few, many):
        X = sp.csr_array((np.ones(500), columns, indptr), shape=(100, d))
        models.append(HashedProjection(64, n_blocks=8, random_state=0).fit(X))
        np.testing.assert_array_equal(models[-1].transform(X), models[0].transform(X[:, :few] if d > few else X))
    sizes = [len(pickle.dumps(model)) for model in models]
    assert abs(sizes[0] - sizes[1]) < 16


def test_auto_is_the_nearest_divisor():
    X = sp.csr_array((1, 335_861))
    assert HashedProjection(1024).fit(X).n_blocks_ == 128  # sqrt(1024 ln 335,861) = 114
    assert HashedProjection(1000).fit(X).n_blocks_ == 125
    assert HashedProjection(8).fit(X).n_blocks_ == 8
    assert HashedProjection(1024).fit(np.ones((3, 1))).n_blocks_ == 1
    assert HashedProjection(1024, input_type="dict").fit([]).n_blocks_ == 128


def test_code_vectors_break_the_condition_that_the_bound_does_not_need():
    d, m, seed, delta = 1000, 1024, 0, 0.05
    meetings = {}
    for s in (64, 256):
        columns = HashedProjection(m, n_blocks=s, random_state=seed).fit_transform(np.eye(d)) != 0
        meetings[s] = np.triu(columns.astype(np.float32) @ columns.T.astype(np.float32), k=1)
    assert HashedProjection(m).fit(np.eye(d)).n_blocks_ == 64
    assert meetings[64].max() == 16 > 2 * 64**2 / m
    assert meetings[64].sum() / (d * (d - 1) / 2) == pytest.approx(64**2 / m, rel=0.01)
    assert np.sqrt(2 * m * np.log(d) / (2 * np.log(2) - 1)) < 256
    assert meetings[256].max() <= 2 * 256**2 / m
    pair = np.zeros((1, d))
    pair[0, list(np.unravel_index(meetings[64].argmax(), (d, d)))] = 1
    errors = [
        HashedProjection(m, random_state=other).fit(pair).embedding_error(pair, n_pairs=0) for other in range(200)
    ]
    lowest, highest = errors[0].bound(delta)
    assert np.mean([not lowest <= error.rows[0] <= highest for error in errors]) <= delta


@pytest.mark.portable
@given(st.integers(1, 3000), st.floats(0, 4000))
def test_nearest_divisor(number, wanted):
    found = nearest_divisor(number, wanted)
    ratios = {
        divisor: max(divisor, max(wanted, 1)) / min(divisor, max(wanted, 1))
        for divisor in range(1, number + 1)
        if number % divisor == 0
    }
    assert ratios[found] <= min(ratios.values()) * (1 + 1e-12)


def test_no_fit_is_needed_where_nothing_is_to_be_settled(rng):
    X = some_rows(rng)
    settled = HashedProjection(64, n_blocks=8, random_state=3)
    assert not get_tags(settled).requires_fit
    unfitted = settled.transform(X)
    assert np.array_equal(unfitted, clone(settled).fit_transform(X))
    assert list(settled.get_feature_names_out())[:2] == ["hashedprojection0", "hashedprojection1"]
    assert settled.embedding_error(X).n_blocks == 8
    for open_question in (HashedProjection(64, n_blocks=8), HashedProjection(64, random_state=3)):
        assert get_tags(open_question).requires_fit
        with pytest.raises(NotFittedError):
            open_question.transform(X)
        with pytest.raises(NotFittedError):
            open_question.get_feature_names_out()
    with pytest.raises(ValueError, match="X has 89 features, but HashedProjection is expecting 90"):
        settled.fit(X).transform(X[:, 1:])


def test_a_drawn_seed_is_kept(rng):
    X = some_rows(rng)
    model = HashedProjection(64).fit(X)
    assert 0 <= model.seed_ < 2**64
    assert np.array_equal(model.transform(X), HashedProjection(64, random_state=model.seed_).fit_transform(X))
    assert model.seed_ != HashedProjection(64).fit(X).seed_
    one, other = (HashedProjection(64, random_state=np.random.RandomState(1)).fit(X).seed_ for _ in range(2))
    assert one == other
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(model.transform(X), restored.transform(X))


def test_a_stream_trains_a_linear_model(rng):
    """Two topics with words of their own among a million words, in chunks of rows."""
    model = SGDClassifier(random_state=0)
    hashed = HashedProjection(256, n_blocks=16, input_type="dict", random_state=0)

    def chunk(n):
        topics = rng.integers(0, 2, n)
        rows = (
            {f"word{word}": 1.0 for word in [*rng.integers(0, 10**6, 20), *(rng.integers(0, 15, 8) + 20 * topic)]}
            for topic in topics
        )
        return rows, topics

    for _ in range(20):
        rows, topics = chunk(100)
        model.partial_fit(hashed.transform(rows), topics, classes=[0, 1])
    rows, topics = chunk(500)
    assert model.score(hashed.transform(rows), topics) > 0.9


ROWS = [{"b": 2.0, "a": -1, "c": np.float32(0.5)}, {}, {"a": True, "Größe": 3}]


def test_keys_are_columns():
    m, s = 96, 8
    keys = ["b", "a", "c", "Größe"]
    ids = [int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little") for key in keys]
    X = np.array([[2, -1, 0.5, 0], [0, 0, 0, 0], [0, 1, 0, 3]])
    model = HashedProjection(m, n_blocks=s, input_type="dict", random_state=5)
    expected = X @ matrix(ids, m, s, 5).T
    np.testing.assert_allclose(model.transform(ROWS), expected, atol=1e-14)
    np.testing.assert_allclose(model.transform(iter(ROWS)), expected, atol=1e-14)
    pairs = model.set_params(input_type="pair").fit(ROWS)
    split = [[("b", 1.5), ("a", -1), ("b", 0.5), ["c", 0.5]], (), [("a", 1), ("Größe", 3)]]
    np.testing.assert_allclose(pairs.transform(split), expected, atol=1e-14)


def test_errors_of_rows_by_keys_are_those_of_an_array():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (40, 30)).astype(float)
    keys = [f"key {column}" for column in range(30)]
    pairs = [[(key, value / 2) for key, value in zip(keys * 2, [*row, *row], strict=True)] for row in X]
    model = HashedProjection(64, n_blocks=8, input_type="pair", random_state=0)
    error = model.embedding_error(pairs, n_pairs=100)
    Z = model.transform(pairs)
    np.testing.assert_allclose(error.rows, (Z**2).sum(axis=1) / (X**2).sum(axis=1) - 1, atol=1e-12)
    possible = [
        np.sum((Z[i] - Z[j]) ** 2) / np.sum((X[i] - X[j]) ** 2) - 1 for i in range(40) for j in range(40) if i < j
    ]
    assert np.abs(error.pairs[:, None] - np.array(possible)).min(axis=1).max() < 1e-9
    assert len(model.embedding_error([[], []]).rows) == 0


def test_more_keys_than_are_remembered():
    model = HashedProjection(64, input_type="dict", random_state=0)
    many, first, last = ({str(number): 1.0 for number in numbers} for numbers in (range(70_000), [0], [69_999]))
    found = model.transform([first, many, first, last])
    for place, row in ((0, first), (2, first), (3, last)):
        assert np.array_equal(found[[place]], model.transform([row]))


def test_in_a_pipeline_with_pandas_output(rng):
    pytest.importorskip("pandas")
    X = some_rows(rng)
    frame = HashedProjection(8, random_state=0).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == [f"hashedprojection{i}" for i in range(8)]
    labels = (X[:, 0] > 0).astype(int)
    assert make_pipeline(HashedProjection(512, random_state=0), SGDClassifier(random_state=0)).fit(X, labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_components": -3}, "n_components must be a whole number of at least 1; got -3"),
        ({"n_components": 64.0}, "n_components must be a whole number of at least 1; got 64.0"),
        ({"n_components": 2**31}, "n_components must be at most 2147483647; got 2147483648"),
        ({"n_blocks": 0}, "n_blocks must be a whole number of at least 1; got 0"),
        ({"n_blocks": 2.5}, "n_blocks must be a whole number of at least 1; got 2.5"),
        ({"n_blocks": 128}, "n_blocks=128 must not exceed n_components=64: a block has at least one place"),
        ({"n_blocks": 12}, "n_blocks=12 must divide n_components=64, as all blocks are equally large; 16 would"),
        ({"n_blocks": "few"}, "n_blocks must be one of 'auto'; got 'few'"),
        ({"input_type": "string"}, "input_type must be one of 'array', 'dict', 'pair'; got 'string'"),
        ({"random_state": -1}, r"random_state must be a whole number from 0 to 2\*\*64 - 1, .* or None; got -1"),
        ({"random_state": 2**64}, "random_state must be a whole number from 0 to"),
        ({"random_state": "seed"}, "'seed' cannot be used to seed"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads, or -1 for all cores; got 0"),
    ],
)
def test_bad_parameters(rng, parameters, message):
    model = HashedProjection(**{"n_components": 64, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit_transform(some_rows(rng))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_blocks": 12}, "n_blocks=12 must divide n_components=64"),
        ({"n_blocks": 128}, "n_blocks=128 must not exceed n_components=64"),
        ({"random_state": -1}, "random_state must be a whole number from 0 to"),
        ({"input_type": "string"}, "input_type must be one of 'array', 'dict', 'pair'; got 'string'"),
        ({"n_jobs": 0}, "n_jobs must be a number of threads"),
    ],
)
def test_bad_parameters_without_a_fit(rng, parameters, message):
    model = HashedProjection(**{"n_components": 64, "n_blocks": 8, "random_state": 0, **parameters})
    assert not get_tags(model).requires_fit
    with pytest.raises(ValueError, match=message):
        model.transform(some_rows(rng))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
def test_what_is_not_finite(rng, bad, container):
    X = some_rows(rng)
    X[3, 4] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        HashedProjection(64, n_blocks=8, random_state=0).transform(container(X))


@pytest.mark.parametrize(
    ("input_type", "rows", "error", "message"),
    [
        ("dict", [{"a": 1}, {5: 1.0}], TypeError, "Row 1 has the key 5 of type int; keys must be strings"),
        ("pair", [[(("a",), 1.0)]], TypeError, r"Row 0 has the key \('a',\) of type tuple; keys must be strings"),
        ("pair", [[([], 1.0)]], TypeError, r"Row 0 has the key \[\] of type list; keys must be strings"),
        ("dict", [{b"a": 1}], TypeError, "Row 0 has the key b'a' of type bytes; keys must be strings"),
        ("dict", [{"a": "x"}], TypeError, "Row 0 has 'x' for the key 'a'; values must be numbers"),
        ("dict", [{"a": None}], TypeError, "Row 0 has None for the key 'a'; values must be numbers"),
        ("dict", [{}, {"a": 1, "b": np.nan}], ValueError, "Row 1 has a value that is nan; values must be finite"),
        ("pair", [[], [], [("a", np.inf)]], ValueError, "Row 2 has a value that is inf; values must be finite"),
        ("dict", [[("a", 1)]], TypeError, "Row 0 is of type list; with input_type='dict' a row must map keys"),
        ("pair", [{"a": 1}], TypeError, "Row 0 is of type dict; with input_type='pair' a row must be a list"),
        ("pair", ["ab"], TypeError, "Row 0 is of type str; with input_type='pair' a row must be a list"),
        ("pair", [7], TypeError, "Row 0 is of type int; with input_type='pair' a row must be a list"),
        ("pair", [["ab"]], TypeError, r"Row 0 has the entry 'ab'; .* must be a pair \(key, number\)"),
        ("pair", [[("a", 1, 2)]], TypeError, r"Row 0 has the entry \('a', 1, 2\)"),
        ("dict", {"a": 1}, TypeError, "X must be a list or another iterable of rows; got dict"),
        ("dict", 3, TypeError, "X must be a list or another iterable of rows; got int"),
        ("dict", [], ValueError, "X has no rows; at least one is needed"),
    ],
)
def test_bad_rows_by_keys(input_type, rows, error, message):
    with pytest.raises(error, match=message):
        HashedProjection(64, input_type=input_type, random_state=0).transform(rows)


def test_bad_native_calls():
    X = np.ones((2, 3))
    for out, s, message in [
        (np.empty((3, 8)), 2, "a row per row"),
        (np.empty((2, 8)), 3, "n_blocks must divide"),
        (np.empty((2, 8)), 0, "n_blocks must divide"),
        (np.empty((2, 8), int), 2, "float32 or float64"),
    ]:
        with pytest.raises(ValueError, match=message):
            _native.hash_rows(X, out, 0, s)


def test_real_text():
    """Word counts, whose few frequent words are hard for a projection with uneven columns."""
    if not os.environ.get("VICINAL_DATA"):
        pytest.skip("VICINAL_DATA is not set: this test needs real data")
    X = load("news20_bydate").X
    error = HashedProjection(1024, random_state=0).fit(X).embedding_error(X)
    assert np.sqrt(np.mean(error.rows**2)) < 1.1 * np.sqrt(2 / 1024)
    assert np.mean(np.abs(error.pairs) > error.bound(0.05)[1]) < 0.05


def test_long_float32_rows_keep_their_digits_when_hashed():
    row = np.random.default_rng(0).uniform(size=(1, 300_000)).astype(np.float32)
    model = HashedProjection(4, n_blocks=2, random_state=0).fit(row)
    np.testing.assert_allclose(model.transform(row), model.transform(row.astype(np.float64)), rtol=1e-6)

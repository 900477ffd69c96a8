"""GaussianProjection and what projections promise: the bounds hold, and errors are measured as they are."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils.extmath import row_norms

from vicinal.expand import EmbeddingError, GaussianProjection, HashedProjection

DIGITS = load_digits().data
DELTAS = (0.5, 0.2, 0.05, 0.01)


def adversaries(n_columns):
    """Vectors that are hard for sparse projections, and some that are not."""
    rows = np.zeros((5, n_columns))
    rows[0, 3] = 7
    rows[1, [0, 5]] = 1
    rows[2] = 1
    rows[3, :8] = [1, -1, 1, -1, 1, 1, 1, 1]
    rows[4] = 0.7 ** np.arange(n_columns)
    return rows


def images(make, rows, n_seeds, n_copies):
    """The rows' images under many maps: for every seed, and within it in columns of their own for every copy."""
    copies = sp.kron(sp.identity(n_copies), rows, format="csr")
    projected = [make(seed).fit(copies).transform(copies) for seed in range(n_seeds)]
    return np.reshape(projected, (n_seeds * n_copies, len(rows), -1))


def errors_of(images, rows):
    return (images**2).sum(axis=2) / row_norms(rows, squared=True) - 1


@pytest.mark.parametrize("m", [16, 100])
def test_theorem_1_holds_for_every_vector(m):
    rows = adversaries(64)
    errors = errors_of(images(lambda seed: GaussianProjection(m, random_state=seed), rows, 100, 20), rows)
    for delta in DELTAS:
        lowest, highest = EmbeddingError(np.empty(0), np.empty(0), m).bound(delta)
        assert np.all(((errors < lowest) | (errors > highest)).mean(axis=0) <= delta)
    assert np.any(errors > highest / 2)
    assert np.any(errors < lowest / 2)


@pytest.mark.parametrize("s", [1, 2, 8, 64])
def test_theorem_2_holds_for_every_vector(s):
    m, rows = 64, adversaries(512)
    maps = images(lambda seed: HashedProjection(m, n_blocks=s, random_state=seed), rows, 100, 50)
    errors = errors_of(maps, rows)
    assert np.allclose(errors[:, 0], 0)
    for delta in DELTAS:
        lowest, highest = EmbeddingError(np.empty(0), np.empty(0), m, s).bound(delta)
        assert np.all(((errors < lowest) | (errors > highest)).mean(axis=0) <= delta)
    assert np.any(errors > highest / 3)


def test_the_bound_of_a_hashed_projection_is_its_best_one():
    t = np.log(2 / 0.05)
    few, many = (EmbeddingError(np.empty(0), np.empty(0), 1024, s).bound(0.05)[1] for s in (1, 1024))
    assert few == pytest.approx(np.sqrt(2 / (1024 * 0.05)))
    assert many == pytest.approx(2 * np.sqrt(t / 1024) + (1 + np.sqrt(1.5)) * t / 1024)
    assert EmbeddingError(np.empty(0), np.empty(0), 4).bound(1e-6)[0] == -1


@given(st.floats(1e-3, 20), st.floats(1e-9, 0.9))
def test_auto_is_the_least_number_of_components(epsilon, delta):
    model = GaussianProjection(epsilon=epsilon, delta=delta)
    width = model._width(10**15)
    within = [
        EmbeddingError(np.empty(0), np.empty(0), m).bound(delta)[1] <= epsilon * (1 + 1e-12)
        for m in (width, max(width - 1, 1))
    ]
    assert within[0]
    assert width == 1 or not within[1]


def test_auto_names_every_column():
    model = GaussianProjection(epsilon=0.9, delta=0.1, random_state=0).fit(DIGITS)
    assert model.transform(DIGITS).shape[1] == model.n_components_ == len(model.get_feature_names_out()) == 27


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_the_matrix_is_that_of_scikit_learn(dtype, container):
    X = container(DIGITS[:50].astype(dtype))
    ours, theirs = GaussianProjection(7, random_state=3).fit(X), GaussianRandomProjection(7, random_state=3).fit(X)
    assert np.array_equal(ours.components_, theirs.components_)
    projected = ours.transform(X)
    assert type(projected) is np.ndarray
    assert projected.dtype == dtype
    np.testing.assert_allclose(projected, theirs.transform(X), rtol=1e-5)


def test_dtype_is_that_of_the_new_rows():
    model = GaussianProjection(7, random_state=3).fit(DIGITS)
    assert model.transform(DIGITS.astype(np.float32)).dtype == np.float32
    assert model.transform(DIGITS.astype(int)).dtype == np.float64


@pytest.mark.parametrize("make", [GaussianProjection, HashedProjection])
def test_lengths_and_inner_products_are_kept_on_average(make):
    rows = adversaries(64)
    Z = images(lambda seed: make(32, random_state=seed), rows, 100, 50)
    products = Z @ Z.transpose(0, 2, 1)
    deviation = products.std(axis=0) / np.sqrt(len(Z))
    assert np.all(np.abs(products.mean(axis=0) - rows @ rows.T) <= 4 * deviation + 1e-9)


@pytest.mark.parametrize("s", [1, 4, 32])
def test_the_variance_of_squared_lengths_does_not_depend_on_blocks(s):
    v = np.array([[3.0, 1, 1, 2, 0, 0.5, 1, 1, 1, 1]])
    errors = errors_of(images(lambda seed: HashedProjection(32, n_blocks=s, random_state=seed), v, 100, 200), v)
    expected = 2 / 32 * (1 - np.sum(v**4) / np.sum(v**2) ** 2)
    assert np.mean(errors) == pytest.approx(0, abs=4 * np.sqrt(expected / len(errors)))
    assert np.var(errors) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("make", [GaussianProjection, HashedProjection])
def test_errors_are_those_of_rows_and_of_differences(make, container):
    X = DIGITS[:30]
    model = make(32, random_state=0).fit(X)
    error = model.embedding_error(container(X), n_pairs=200)
    Z = model.transform(X)
    np.testing.assert_allclose(error.rows, row_norms(Z, squared=True) / row_norms(X, squared=True) - 1, atol=1e-12)
    possible = [
        np.sum((Z[i] - Z[j]) ** 2) / np.sum((X[i] - X[j]) ** 2) - 1
        for i in range(len(X))
        for j in range(len(X))
        if i < j
    ]
    gaps = np.abs(error.pairs[:, None] - np.array(possible))
    assert len(error.pairs) == 200
    assert gaps.min(axis=1).max() < 1e-9
    assert len(set(gaps.argmin(axis=1))) > 100
    again = model.embedding_error(X, n_pairs=200)
    np.testing.assert_allclose(again.pairs, error.pairs, atol=1e-12)
    assert not np.allclose(model.embedding_error(X, n_pairs=200, random_state=1).pairs, error.pairs)
    assert np.array_equal(error.quantiles([1.0]), [max(abs(error.rows).max(), abs(error.pairs).max())])
    assert "rows" not in repr(error)


def test_errors_of_many_rows_are_those_of_few():
    """16 MB of rows and images, and more, are measured in blocks."""
    X = np.tile(DIGITS, (20, 1))
    model = HashedProjection(32, random_state=0).fit(X)
    whole, sparse = model.embedding_error(X), model.embedding_error(sp.csr_array(X))
    np.testing.assert_allclose(whole.rows, np.tile(model.embedding_error(DIGITS).rows, 20), atol=1e-12)
    np.testing.assert_allclose(sparse.rows, whole.rows, atol=1e-12)
    np.testing.assert_allclose(sparse.pairs, whole.pairs, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e160, 1e304])
@pytest.mark.parametrize("make", [GaussianProjection, HashedProjection])
def test_errors_are_relative(make, scale):
    X = np.where(DIGITS[:20] > 8, 1.0, -1.0)
    model = make(32, random_state=0).fit(X)
    expected, error = model.embedding_error(X), model.embedding_error(X * scale)
    np.testing.assert_allclose(error.rows, expected.rows, atol=1e-6)
    np.testing.assert_allclose(error.pairs, expected.pairs, atol=1e-6)


def test_differences_do_not_overflow():
    X = np.array([[1.7e308, 0], [-1.7e308, 0]])
    error = HashedProjection(16, random_state=0).fit(X).embedding_error(X)
    np.testing.assert_allclose(np.r_[error.rows, error.pairs], 0, atol=1e-12)


def test_zero_rows_and_equal_pairs_have_no_error():
    X = np.repeat(DIGITS[:2], 3, axis=0)
    X[0] = 0
    error = GaussianProjection(4, random_state=0).fit(X).embedding_error(X, n_pairs=500)
    assert len(error.rows) == 5
    assert 0 < len(error.pairs) < 500
    nothing = HashedProjection(4, random_state=0).fit(X).embedding_error(np.zeros((1, 64)))
    assert len(nothing.rows) == len(nothing.pairs) == 0
    assert np.all(np.isnan(nothing.quantiles()))


def test_one_row_has_no_pairs():
    error = GaussianProjection(4, random_state=0).fit(DIGITS).embedding_error(DIGITS[:1])
    assert (len(error.rows), len(error.pairs)) == (1, 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_components": 2.5}, "n_components must be a whole number of at least 1; got 2.5"),
        ({"n_components": "all"}, "n_components must be a whole number of at least 1 or 'auto'; got 'all'"),
        ({"epsilon": 0}, "epsilon must be a number above 0; got 0"),
        ({"epsilon": np.nan}, "epsilon must be a number above 0; got nan"),
        ({"delta": 1.0}, "delta must be a probability above 0 and below 1; got 1.0"),
        ({"delta": 0}, "delta must be a probability above 0 and below 1; got 0"),
        ({}, "need 1620 components but X has only 64 columns; use X as it is, allow a larger epsilon"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        GaussianProjection(**parameters).fit(DIGITS)


def test_bad_questions():
    model = GaussianProjection(4, random_state=0)
    with pytest.raises(NotFittedError):
        model.embedding_error(DIGITS)
    model.fit(DIGITS)
    with pytest.raises(ValueError, match="n_pairs must be a whole number of at least 0; got -1"):
        model.embedding_error(DIGITS, n_pairs=-1)
    with pytest.raises(ValueError, match="X has 63 features, but GaussianProjection is expecting 64"):
        model.embedding_error(DIGITS[:, 1:])
    with pytest.raises(ValueError, match="delta must be a probability above 0 and below 1; got 2"):
        model.embedding_error(DIGITS).bound(2)
    unsigned = HashedProjection(64, signed=False, random_state=0).fit(DIGITS).embedding_error(DIGITS)
    assert np.all(unsigned.rows > 0)
    with pytest.raises(ValueError, match="no bound without random signs"):
        unsigned.bound()

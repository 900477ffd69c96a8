"""RBFMap: inner products are the kernel, linear models on it are kernel machines, and memory is asked for first."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from vicinal.expand import RBFMap

DIGITS, LABELS = load_digits(return_X_y=True)
# Of its kernel LAPACK's driver "evr" returns vectors that are not orthogonal.
NEARLY_APART = np.full((8, 6), -7.0)
NEARLY_APART[[0, 1, 2, 3, 4, 6], [0, 1, 1, 1, 3, 1]] = [-0.5, 0.5, 0, 0, 0, 0]
tables = arrays(np.float64, st.tuples(st.integers(1, 25), st.integers(1, 6)), elements=st.floats(-10, 10, width=16))


@given(tables, st.sampled_from([0.01, 0.5, 3.0]))
def test_inner_products_of_training_rows_are_the_kernel(X, gamma):
    features = RBFMap(gamma=gamma).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, rbf_kernel(X, gamma=gamma), rtol=0, atol=1e-10)


@given(tables, tables)
@example(NEARLY_APART, np.array([[0.0]]))
def test_inner_products_with_new_rows_are_the_kernel_too(X, new):
    new = np.resize(new, (len(new), X.shape[1]))
    model = RBFMap(gamma=0.5)
    features, images = model.fit_transform(X), model.transform(new)
    # the share of k(x, X) along dropped eigenvectors is at most the root of their eigenvalue
    np.testing.assert_allclose(images @ features.T, rbf_kernel(new, X, gamma=0.5), rtol=0, atol=2e-5)
    assert np.all((images**2).sum(axis=1) <= 1 + 1e-6)  # a projection of a unit vector


def test_both_ways_to_the_training_rows_agree():
    model = RBFMap(gamma=0.001)
    np.testing.assert_allclose(model.fit_transform(DIGITS[:300]), model.transform(DIGITS[:300]), atol=1e-9)


def test_new_rows_are_projected_on_the_span_of_the_training_rows():
    training, new = DIGITS[:200], DIGITS[200:260]
    model = RBFMap(gamma=0.0005).fit(training)
    images = model.transform(new)
    # the best approximation by images of training rows has coefficients K^-1 k(X, x): its inner products
    cross = rbf_kernel(new, training, gamma=0.0005)
    expected = cross @ np.linalg.solve(rbf_kernel(training, gamma=0.0005), cross.T)
    np.testing.assert_allclose(images @ images.T, expected, atol=1e-9)


def test_centred_it_is_kernel_pca():
    training, new = DIGITS[:150], DIGITS[150:200]
    model = RBFMap(gamma=0.001)
    mean = model.fit_transform(training).mean(axis=0)
    pca = KernelPCA(kernel="rbf", gamma=0.001).fit(training)
    ours = (model.transform(new) - mean) @ (model.transform(training) - mean).T
    np.testing.assert_allclose(ours, pca.transform(new) @ pca.transform(training).T, atol=1e-9)


def test_ridge_on_it_is_kernel_ridge():
    training, new, target = DIGITS[:300], DIGITS[300:400], LABELS[:300].astype(float)
    model = RBFMap(gamma=0.001)
    ridge = Ridge(alpha=0.1, fit_intercept=False, solver="cholesky").fit(model.fit_transform(training), target)
    kernel = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.001).fit(training, target)
    np.testing.assert_allclose(ridge.predict(model.transform(new)), kernel.predict(new), atol=1e-8)


def test_a_linear_svm_on_it_is_the_kernel_svm():
    training, new, target = DIGITS[:300], DIGITS[300:600], LABELS[:300]
    model = RBFMap()
    linear = SVC(kernel="linear", C=10, tol=1e-8).fit(model.fit_transform(training), target)
    kernel = SVC(kernel="rbf", C=10, tol=1e-8, gamma="scale").fit(training, target)
    np.testing.assert_allclose(linear.decision_function(model.transform(new)), kernel.decision_function(new), atol=1e-5)


def test_duplicates_add_no_features():
    X = np.repeat(DIGITS[:20], 5, axis=0)
    model = RBFMap(gamma=0.001)
    features = model.fit_transform(X)
    assert features.shape == (100, 20)
    np.testing.assert_allclose(features @ features.T, rbf_kernel(X, gamma=0.001), atol=1e-12)
    np.testing.assert_allclose(model.transform(X), features, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_row_and_constant_rows(dtype):
    model = RBFMap()
    assert np.array_equal(model.fit_transform(np.full((1, 3), 7, dtype=dtype)), [[1]])
    assert model.gamma_ == 1
    np.testing.assert_allclose(model.fit_transform(np.full((6, 3), 7, dtype=dtype)), np.ones((6, 1)), rtol=1e-6)
    np.testing.assert_allclose(model.transform(np.full((2, 3), 7, dtype=dtype)), np.ones((2, 1)), rtol=1e-6)


def test_leading_components_are_the_first_of_all():
    everything, leading = RBFMap(gamma=0.001), RBFMap(gamma=0.001, n_components=7)
    all_features = everything.fit_transform(DIGITS[:200])
    np.testing.assert_allclose(leading.fit_transform(DIGITS[:200]), all_features[:, :7], atol=1e-9)
    np.testing.assert_allclose(leading.transform(DIGITS[200:]), everything.transform(DIGITS[200:])[:, :7], atol=1e-9)
    assert np.all(np.diff(everything.eigenvalues_) <= 0)
    assert RBFMap(n_components=99).fit_transform(DIGITS[:5]).shape == (5, 5)


def test_signs_do_not_depend_on_chance():
    vectors = RBFMap(gamma=0.001).fit(DIGITS[:100]).eigenvectors_
    assert np.all(vectors.max(axis=0) >= -vectors.min(axis=0))


def test_scale_is_that_of_scikit_learn():
    for X in (DIGITS[:100], sp.csr_matrix(DIGITS[:100]), DIGITS[:100].astype(np.float32)):
        assert RBFMap().fit(X).gamma_ == pytest.approx(1 / (64 * DIGITS[:100].var()), rel=1e-9)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
def test_dense_and_sparse_agree(container):
    training, new = DIGITS[:150], DIGITS[150:300]
    dense, sparse = RBFMap(gamma=0.001), RBFMap(gamma=0.001)
    features = dense.fit_transform(training)
    np.testing.assert_allclose(sparse.fit_transform(container(training)), features, atol=1e-8)
    expected = dense.transform(new)
    for model in (dense, sparse):
        for rows in (new, container(new)):
            np.testing.assert_allclose(model.transform(rows), expected, atol=1e-8)


def test_single_precision_only_at_the_door():
    training, new = DIGITS[:150], DIGITS[150:300]
    double, single = RBFMap(gamma=0.001), RBFMap(gamma=0.001)
    features = single.fit_transform(training.astype(np.float32))
    assert features.dtype == single.transform(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_array_equal(features, double.fit_transform(training).astype(np.float32))
    assert np.array_equal(single.eigenvalues_, double.eigenvalues_)


def test_rows_far_from_zero_keep_their_digits():
    X = np.round(DIGITS[:100])
    near, far = RBFMap(gamma=0.001).fit_transform(X), RBFMap(gamma=0.001).fit_transform(X + 2.0**30)
    np.testing.assert_allclose(far @ far.T, near @ near.T, atol=1e-10)


def test_blocks_change_nothing():
    """Kernel values of 18,000 new rows with 150 training rows, and of 1,500 training rows, are more than a block."""
    model = RBFMap(gamma=0.001).fit(DIGITS[:150])
    images = model.transform(np.tile(DIGITS, (10, 1)))
    np.testing.assert_allclose(images, np.tile(model.transform(DIGITS), (10, 1)), atol=1e-9)
    features = RBFMap(gamma=0.001).fit_transform(DIGITS[:1500])
    few = [0, 700, 1499]
    np.testing.assert_allclose(
        features[few] @ features.T, rbf_kernel(DIGITS[few], DIGITS[:1500], gamma=0.001), atol=1e-9
    )


def test_later_changes_of_the_training_rows_do_no_harm():
    X = DIGITS[:50].copy()
    model = RBFMap(gamma=0.001).fit(X)
    before = model.transform(DIGITS[50:80])
    X[:] = 0
    assert np.array_equal(model.transform(DIGITS[50:80]), before)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).transform(DIGITS[50:80]), before)


def test_what_does_not_fit_is_refused_before_anything_is_allocated():
    message = (
        r"The kernel matrix of 1000 rows and its eigenvectors need 0\.024 GB of memory, but 0\.001 GB are allowed by "
        r"max_memory; fit fewer rows, or use sklearn\.kernel_approximation\.Nystroem\."
    )
    with pytest.raises(MemoryError, match=message):
        RBFMap(max_memory=10**6).fit(DIGITS[:1000])
    assert RBFMap(max_memory=24 * 1000**2, n_components=10).fit_transform(DIGITS[:1000]).shape == (1000, 10)
    with pytest.raises(MemoryError, match=r"of 20000000 rows .* need 9.6e[+]06 GB .* GB are available"):
        RBFMap().fit(np.zeros((20_000_000, 1), dtype=np.float32))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 0}, "gamma must be a number above 0 or 'scale'; got 0."),
        ({"gamma": "auto"}, "gamma must be a number above 0 or 'scale'; got 'auto'."),
        ({"gamma": -1.0}, "gamma must be a number of at least 0; got -1.0."),
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0."),
        ({"tol": -1}, "tol must be a number of at least 0; got -1."),
        ({"max_memory": 0.5}, "max_memory must be a whole number of at least 1; got 0.5."),
    ],
)
def test_bad_parameters_get_one_clear_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        RBFMap(**settings).fit(DIGITS[:20])


def test_values_too_large_to_square_get_one_clear_sentence():
    X = DIGITS[:20].copy()
    X[0, 0] = -1e200
    with pytest.raises(ValueError, match=r"X has values beyond 1e\+150, .* scale X first"):
        RBFMap().fit(X)


def test_the_explicit_kernel_map_adds_up_entries_that_are_stored_twice():
    halves = sp.csr_matrix(([1.0, 1.0], [0, 0], [0, 2, 2]), shape=(2, 1))
    features = RBFMap(gamma=1.0).fit_transform(halves)
    assert (features @ features.T)[0, 1] == pytest.approx(np.exp(-4))

"""A fit that fails leaves an estimator as it was; and other traps that all of them share."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from vicinal.expand import (
    GaussianProjection,
    HashedProjection,
    HermiteMap,
    KernelPerceptron,
    OnlinePerceptron,
    PolynomialMap,
    RandomFourierFeatures,
    RBFMap,
    SubsetProductMap,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 5)), np.arange(20) % 2
CASES = [
    (RandomFourierFeatures(8), {"frequencies": "none"}),
    (RandomFourierFeatures(8, frequencies="hadamard"), {"gamma": -1}),
    (GaussianProjection(3), {"n_components": 0}),
    (HashedProjection(8), {"n_blocks": 3}),
    (PolynomialMap(), {"degree": 0}),
    (SubsetProductMap(), {"max_features": 1}),
    (HermiteMap(), {"gamma": -1}),
    (RBFMap(), {"gamma": -1}),
    (OnlinePerceptron(), {"n_passes": 0}),
    (KernelPerceptron(), {"budget": 0}),
]


@pytest.mark.parametrize(("model", "bad"), CASES, ids=lambda case: type(case).__name__)
def test_a_failed_fit_leaves_no_trace(model, bad):
    good = {name: model.get_params()[name] for name in bad}
    with pytest.raises(ValueError, match=r"must|max_features is"):
        model.set_params(**bad).fit(X, Y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    model.set_params(**good).fit(X, Y)
    before = {name: value for name, value in vars(model).items() if name not in bad}
    with pytest.raises(ValueError, match=r"must|max_features is"):
        model.set_params(**bad).fit(X[:, :3], Y)
    assert {name: value for name, value in vars(model).items() if name not in bad} == before


def test_rows_are_refused_that_a_failed_refit_had():
    model = OnlinePerceptron().fit(sp.csr_array(X[:, :3]), Y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(sp.csr_array(X[:, :4]), np.zeros(20))
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.partial_fit(sp.csr_array(X[:, :4]), Y)


def test_weights_that_were_handed_out_stay():
    model = OnlinePerceptron().fit(X, Y)
    weights, copied = model.coef_, model.coef_.copy()
    model.partial_fit(-X, Y)
    np.testing.assert_array_equal(weights, copied)


@pytest.mark.parametrize("frequencies", ["iid", "orthogonal", "hadamard"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_angles_beyond_the_number_type_are_refused(frequencies, kind):
    model = RandomFourierFeatures(6, gamma=1.0, frequencies=frequencies, random_state=0).fit(X)
    with pytest.raises(ValueError, match="too large for float64; scale X"):
        model.transform(kind(np.full((3, 5), 1.7e308)))
    with pytest.raises(ValueError, match="too large for float32"):
        RandomFourierFeatures(6, gamma=1e80, frequencies=frequencies).fit_transform(X.astype(np.float32))


def test_a_scale_beyond_the_number_type_is_refused():
    with pytest.raises(ValueError, match="scale X first"):
        RandomFourierFeatures(6).fit(X * 1e160)
    with pytest.raises(ValueError, match="kernel must be one of"):
        RandomFourierFeatures(6, kernel=type(RandomFourierFeatures(6).fit(X).kernel_)).fit(X)
    with pytest.raises(ValueError, match="allow a larger error"):
        RandomFourierFeatures("auto", epsilon=1e-200).fit(X)


def test_the_explicit_kernel_map_adds_up_entries_that_are_stored_twice():
    halves = sp.csr_matrix(([1.0, 1.0], [0, 0], [0, 2, 2]), shape=(2, 1))
    features = RBFMap(gamma=1.0).fit_transform(halves)
    assert (features @ features.T)[0, 1] == pytest.approx(np.exp(-4))


def test_long_float32_rows_keep_their_digits_when_hashed():
    row = RNG.uniform(size=(1, 300_000)).astype(np.float32)
    model = HashedProjection(4, n_blocks=2, random_state=0).fit(row)
    np.testing.assert_allclose(model.transform(row), model.transform(row.astype(np.float64)), rtol=1e-6)


def test_products_of_a_few_among_very_many_columns():
    n_columns = 2_000_000_000
    rows = sp.csr_array(([1.0, 2.0], [3, n_columns - 1], [0, 2]), shape=(1, n_columns))
    out = PolynomialMap(2).fit(rows).transform(rows)
    assert out.nnz == 6
    assert out.indices.max() == (n_columns + 2) * (n_columns + 1) // 2 - 1
    assert (out.data**2).sum() == pytest.approx(36)


def test_subsets_too_many_for_memory_are_refused_however_many_rows():
    for n_rows in (1, 2, 4):
        with pytest.raises(MemoryError):
            SubsetProductMap(62).fit_transform(sp.csr_matrix(np.ones((n_rows, 62))))

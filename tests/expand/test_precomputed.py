"""KernelPerceptron on a matrix of kernel values: what it is with the kernel itself, and in cross-validation."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score

from vicinal.expand import KernelPerceptron
from vicinal.expand.kernels import Gaussian, Polynomial

DIGITS, LABELS = load_digits(return_X_y=True)


def digits(n_classes, n_rows=400):
    return DIGITS[:n_rows] / 16, LABELS[:n_rows] % n_classes


PRECOMPUTED = [
    {},
    {"n_passes": 3, "shuffle": True, "average": True},
    *({"budget": 20, "forget": rule} for rule in ("oldest", "smallest", "least_harmful")),
]


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("parameters", PRECOMPUTED)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_precomputed_values_are_those_of_the_kernel(n_classes, parameters, container):
    X, y = digits(n_classes)
    kernel, training = Polynomial(3), slice(0, 250)
    by_rows = KernelPerceptron(kernel, random_state=0, **parameters).fit(X[training], y[training])
    gram = kernel(X, X[training])
    model = KernelPerceptron("precomputed", random_state=0, **parameters).fit(container(gram[training]), y[training])
    assert model.n_mistakes_ == by_rows.n_mistakes_ > 20
    np.testing.assert_array_equal(X[model.support_], by_rows.support_vectors_)
    np.testing.assert_array_equal(model.dual_coef_, by_rows.dual_coef_)
    np.testing.assert_allclose(model.decision_function(container(gram)), by_rows.decision_function(X), rtol=1e-9)
    assert by_rows.support_ is None
    assert model.support_vectors_.shape == (0, 0)


def test_precomputed_values_in_cross_validation():
    X, y = digits(3, n_rows=150)
    kernel = Gaussian(0.1)
    for folds in (3, 5):
        found = cross_val_score(KernelPerceptron("precomputed", n_passes=2), kernel(X), y, cv=folds)
        np.testing.assert_array_equal(found, cross_val_score(KernelPerceptron(kernel, n_passes=2), X, y, cv=folds))
    search = GridSearchCV(KernelPerceptron("precomputed"), {"n_passes": [1, 4], "average": [False, True]}, cv=3)
    assert search.fit(kernel(X), y).best_score_ > 0.6
    assert search.predict(kernel(X[:7], X)).shape == (7,)


def test_precomputed_values_must_be_of_all_training_rows():
    X, y = digits(2, n_rows=60)
    model = KernelPerceptron("precomputed")
    with pytest.raises(
        ValueError, match=r"square matrix of kernel values of the training rows; its shape is \(60, 64\)"
    ):
        model.fit(X, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X @ X.T, y)
    model.fit(X @ X.T, y)
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(X @ X[:30].T)
    with pytest.raises(ValueError, match="cannot go on from a precomputed matrix"):
        model.set_params(kernel="gaussian").partial_fit(X @ X.T, y)
    assert model.fit(X, y).support_ is None
    assert model.partial_fit(X, y).support_vectors_.shape[1] == 64

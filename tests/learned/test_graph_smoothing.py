"""GraphSmoothing: scores against a dense solution, and what smoothing does to them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from vicinal.learned import GraphSmoothing

X, GROUPS = make_blobs(120, n_features=5, centers=4, cluster_std=2.0, random_state=0)
TWO, FOUR = (np.where(np.arange(120) % 4, -1, labels) for labels in (GROUPS % 2, GROUPS))


def fingerprints(model):
    return np.unpackbits(model.fingerprints_, axis=1, count=model.n_bits).astype(int)


def dense_weights(model):
    """The graph by definition: bits that differ, the nearest, either way."""
    bits = fingerprints(model)
    differing = (bits[:, None] != bits[None]).sum(axis=2)
    weights = np.cos(np.pi * differing / model.n_bits)
    np.fill_diagonal(differing, 10**6)
    nearest = np.argsort(differing, axis=1, kind="stable")[:, : model.n_neighbors]
    joined = np.zeros_like(weights, dtype=bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    return np.where(joined | joined.T, np.maximum(weights, 0), 0)


@pytest.mark.parametrize("y", [TWO, FOUR], ids=["two classes", "four"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_the_solution_is_that_of_dense_equations(y, container):
    model = GraphSmoothing(smoothness=0.7, n_neighbors=5, n_bits=100, tol=1e-10, random_state=0).fit(container(X), y)
    W = dense_weights(model)
    L = np.diag(W.sum(axis=1)) - W
    scores = LogisticRegression().fit(X[y >= 0], y[y >= 0]).decision_function(X)
    np.testing.assert_allclose(model.scores_, np.linalg.solve(np.eye(120) + 2 * 0.7 * L, scores), atol=1e-5)


def test_the_solution_has_the_least_loss():
    model = GraphSmoothing(smoothness=0.3, n_bits=64, tol=1e-10, random_state=0).fit(X, TWO)
    W, scores = dense_weights(model), model.estimator_.decision_function(X)

    def loss(z):
        return np.square(z - scores).sum() + 0.3 * (W * np.square(z[:, None] - z)).sum()

    draws = np.random.default_rng(0).normal(scale=0.01, size=(20, 120))
    assert all(loss(model.scores_ + draw) > loss(model.scores_) for draw in draws)


def test_more_smoothness_is_smoother():
    models = [GraphSmoothing(smoothness=amount, random_state=0).fit(X, TWO) for amount in (0, 0.1, 1, 10)]
    W = dense_weights(models[0])
    roughness = [(W * np.square(model.scores_[:, None] - model.scores_)).sum() for model in models]
    assert roughness == sorted(roughness, reverse=True)
    assert roughness[-1] < 0.1 * roughness[0]


def test_without_smoothness_scores_are_the_estimators():
    model = GraphSmoothing(smoothness=0, random_state=0).fit(X, FOUR)
    alone = LogisticRegression().fit(X[FOUR >= 0], FOUR[FOUR >= 0])
    np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_allclose(model.scores_, alone.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_other_rows_are_drawn_to_the_nearest_fitted_ones():
    model = GraphSmoothing(smoothness=0.5, n_neighbors=3, n_bits=80, random_state=0).fit(X, TWO)
    queries = X[:9] + np.random.default_rng(0).normal(size=(9, 5))
    bits = np.unpackbits(model._fingerprints(queries), axis=1, count=80).astype(int)
    differing = (bits[:, None] != fingerprints(model)[None]).sum(axis=2)
    nearest = np.argsort(differing, axis=1, kind="stable")[:, :3]
    weights = np.maximum(np.cos(np.pi * np.take_along_axis(differing, nearest, axis=1) / 80), 0)
    scores = model.estimator_.decision_function(queries)
    wanted = (scores + (weights * model.scores_[nearest]).sum(axis=1)) / (1 + weights.sum(axis=1))
    np.testing.assert_allclose(model.decision_function(queries), wanted)
    np.testing.assert_allclose(model.decision_function(queries[3:5]), wanted[3:5])


def test_bits_tell_angles():
    rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 0.0], [3.0, 0.0]])
    model = GraphSmoothing(n_bits=4000, n_neighbors=1, random_state=0).fit(rows, [0, 0, 1, 1, -1])
    bits = fingerprints(model)
    shares = (bits[0] != bits).mean(axis=1)
    np.testing.assert_allclose(shares, [0, 0.25, 0.5, 1, 0], atol=0.03)


def test_rows_of_any_length_and_zeros():
    lengths = np.exp2(np.random.default_rng(0).integers(-900, 900, size=(120, 1)).astype(float))
    near_one, far = (GraphSmoothing(GaussianNB(), n_bits=50, random_state=0) for _ in range(2))
    np.testing.assert_array_equal(near_one.fit(X, TWO)._fingerprints(X), far.fit(X, TWO)._fingerprints(X * lengths))
    assert not near_one._fingerprints(np.zeros((1, 5))).any()


def test_estimators_without_scores_but_with_shares():
    model = GraphSmoothing(GaussianNB(), smoothness=0).fit(X, TWO)
    shares = model.estimator_.predict_proba(X)
    np.testing.assert_allclose(model.decision_function(X), shares[:, 1] - shares[:, 0])


def test_unlabelled_rows_pay_where_neighbours_are_alike():
    rows, groups = load_digits(return_X_y=True)
    few = np.where(np.arange(len(rows)) % 20, -1, groups)
    alone, smooth = (GraphSmoothing(smoothness=amount, random_state=0).fit(rows / 16, few) for amount in (0, 1))
    assert smooth.score(rows / 16, groups) > alone.score(rows / 16, groups) + 0.02


def test_what_does_not_converge_says_so():
    with pytest.warns(ConvergenceWarning, match="GraphSmoothing did not converge"):
        GraphSmoothing(smoothness=1e15, tol=1e-300, random_state=0).fit(X, TWO)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"smoothness": -1.0}, "smoothness must be a number of at least 0"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_bits": 0}, "n_bits"),
        ({"tol": 0.0}, "tol must be a number above 0"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        GraphSmoothing(**options).fit(X, TWO)


def test_scores_of_pairs_of_classes_are_refused():
    model = GraphSmoothing(SVC(decision_function_shape="ovo"))
    for y in (FOUR, np.where(FOUR > 2, -1, FOUR)):  # three classes have three pairs, too
        with pytest.raises(ValueError, match="scores of pairs of classes, and smoothing needs one per class"):
            model.fit(X, y)
        assert not hasattr(model, "estimator_")
    assert model.fit(X, TWO).scores_.shape == (120,)
    assert GraphSmoothing(SVC()).fit(X, FOUR).scores_.shape == (120, 4)


def test_a_fitted_row_that_is_asked_again_has_itself_among_its_neighbours():
    model = GraphSmoothing(smoothness=0.5, n_neighbors=1, n_bits=400, random_state=0).fit(X, TWO)
    bits = fingerprints(model)
    alone = np.array([(bits == row).all(axis=1).sum() == 1 for row in bits])
    wanted = (model.estimator_.decision_function(X) + model.scores_) / 2  # its own cosine is 1
    np.testing.assert_allclose(model.decision_function(X)[alone], wanted[alone])
    assert alone.sum() > 100


def test_all_rows_unlabelled():
    with pytest.raises(ValueError, match="all rows are unlabelled"):
        GraphSmoothing().fit(X, np.full(120, -1))

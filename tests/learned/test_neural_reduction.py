import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from vicinal import NeuralReduction
from vicinal.learned._epochs import train
from vicinal.learned._neural_reduction import ACTIVATIONS, ClassNetwork

each_activation = pytest.mark.parametrize("activation", list(ACTIVATIONS))


@pytest.fixture(scope="module")
def table():
    X, y = make_blobs(200, 6, centers=2, cluster_std=4.0, random_state=0)
    return X - X.mean(axis=0), y


def fitted(table, n_components=5, **options):
    return NeuralReduction(n_components, **({"random_state": 0, "n_epochs": 5} | options)).fit(*table)


@each_activation
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_loss_and_gradients(activation, n_outputs, rng):
    X, classes = rng.standard_normal((7, 4)), np.arange(7) % max(2, n_outputs)
    shapes = [(4, 5), (5,), (5, n_outputs), (n_outputs,)]
    start = rng.standard_normal(sum(int(np.prod(shape)) for shape in shapes))

    def at(flat):
        parts = np.split(flat, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
        weights, *others = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return ClassNetwork(activation, weights, others), X @ weights

    network, sums = at(start)
    loss, by_sums, by_others = network.slopes(sums, classes)
    odds = network.odds(network.hidden(sums))
    chances = np.exp(odds) if n_outputs > 1 else np.hstack([np.ones_like(odds), np.exp(odds)])
    assert np.isclose(loss, log_loss(classes, chances / chances.sum(axis=1, keepdims=True)))
    analytic = np.concatenate([(X.T @ by_sums).ravel(), *(part.ravel() for part in by_others)])

    def value(flat):
        moved, moved_sums = at(flat)
        return moved.slopes(moved_sums, classes)[0]

    assert np.abs(analytic - approx_fprime(start, value, 1e-6)).max() < 1e-4


@each_activation
def test_features_are_the_hidden_layer(table, activation):
    X, model = table[0], fitted(table, activation=activation)
    sums = X @ model.column_weights_ + model.hidden_biases_
    hidden = {"identity": sums, "tanh": np.tanh(sums), "logistic": expit(sums)}[activation]
    assert np.allclose(model.transform(X), hidden)
    odds = hidden @ model.output_weights_ + model.output_biases_
    assert np.allclose(model.decision_function(X), odds[:, 0])
    assert np.allclose(model.predict_proba(X)[:, 1], expit(odds[:, 0]))
    assert (model.predict(X) == (odds[:, 0] > 0)).all()
    assert model.get_feature_names_out().tolist() == [f"neuralreduction{s}" for s in range(5)]


def test_a_linear_layer_does_what_logistic_regression_does(table):
    X, y = table
    model = NeuralReduction(5, random_state=0).fit(X[::2], y[::2])
    theirs = LogisticRegression().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) >= theirs.score(X[1::2], y[1::2]) - 0.03
    assert np.corrcoef(model.decision_function(X), theirs.decision_function(X))[0, 1] > 0.95


@each_activation
def test_several_classes(activation):
    X, y = make_blobs(300, 5, centers=4, random_state=0)
    names = np.array(list("dbca"))[y]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = NeuralReduction(10, activation=activation, random_state=0).fit(X[::2], names[::2])
    assert model.decision_function(X).shape == (300, 4)
    assert model.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.score(X[1::2], names[1::2]) > 0.95


def test_rows_without_a_label_are_left_out(table):
    X, y = table
    some = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    partly, known = fitted((X, some)), fitted((X[some >= 0], y[some >= 0]))
    assert (partly.column_weights_ == known.column_weights_).all()
    assert set(partly.predict(X)) == {0, 1}


def test_sparse_rows_give_the_same(table):
    X, y = np.where(table[0] > 0, table[0], 0), table[1]
    dense, sparse = fitted((X, y)), fitted((sp.csr_matrix(X), y))
    assert np.allclose(dense.transform(X), sparse.transform(sp.csr_matrix(X)))


def test_single_precision_stays(table):
    X, y = table[0].astype(np.float32), table[1]
    model = fitted((X, y))
    assert model.transform(X).dtype == model.predict_proba(X).dtype == np.float32
    assert model.column_weights_.dtype == model.output_weights_.dtype == np.float32


def test_both_number_types_learn_alike(table):
    X, y = table[0].astype(np.float32), table[1]
    single, double = fitted((X, y)), fitted((X.astype(np.float64), y))
    assert np.abs(single.column_weights_ - double.column_weights_).max() < 1e-3


@pytest.mark.parametrize(("batch_size", "rows"), [(1, [1] * 9), (2, [2, 2, 2, 2, 1]), (64, [9])])
def test_rows_per_step(table, batch_size, rows, monkeypatch):
    met = []

    def spied(self, sums, classes):
        met.append(len(sums))
        return slopes(self, sums, classes)

    slopes = ClassNetwork.slopes
    monkeypatch.setattr(ClassNetwork, "slopes", spied)
    X, y = table
    model = fitted((X[:9], y[:9]), batch_size=batch_size, n_epochs=1, validation_fraction=None, weight_decay=0.0)
    assert met[: len(rows)] == rows
    assert np.isfinite(model.loss_curve_).all()


def test_held_out_rows_end_the_training(table):
    model = fitted(table, n_epochs=200, n_epochs_no_change=2)
    assert model.n_iter_ == len(model.loss_curve_) == len(model.validation_score_) < 200
    assert model.validation_score_[-2:].max() <= model.validation_score_[-3] + model.tol
    assert (model.validation_score_ < 0).all()  # logarithms of probabilities


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"activation": "relu"}, "activation must be one of 'identity', 'tanh', 'logistic'; got 'relu'"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1; got 0"),
        ({"n_epochs": 0}, "n_epochs must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_parameters(table, options, message):
    with pytest.raises(ValueError, match=message):
        NeuralReduction(**options).fit(*table)


def test_steps_that_are_too_large_are_made_smaller(rng, monkeypatch):
    """Labels by chance: large steps end up worse than the shares of the classes, however often they begin."""
    rates = []

    def spied(*args):
        rates.append(args[4].learning_rate)
        return train(*args)

    monkeypatch.setattr("vicinal.learned._neural_reduction.train", spied)
    X = rng.standard_normal((60, 5))
    model = NeuralReduction(5, learning_rate=64.0, weight_decay=0.0, n_epochs=20, random_state=0)
    assert model.fit(X, np.arange(60) % 2).validation_score_.max() < -np.log(2)
    assert rates == [64.0, 16.0, 4.0]
    rates.clear()
    model.fit(X, X[:, 0] > 0)
    assert rates == [64.0]

"""NeuralReduction: the hidden layer of a small network that predicts classes, as features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, check_choice, check_count, checked_rows, refuse_extreme_values
from ._epochs import checked_schedule, first_column_weights, generator, held_out_rows, prepared, train
from ._labels import partial_labels

Floats = NDArray[Any]
Places = NDArray[np.intp]

ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {"identity": lambda sums: sums, "tanh": np.tanh, "logistic": expit}
SLOPES: dict[str, Callable[[Floats], Floats]] = {  # of the activations, by their values
    "identity": np.ones_like,
    "tanh": lambda values: 1 - values**2,
    "logistic": lambda values: values * (1 - values),
}
SMALLER_RATES = np.array([1 / 4, 1 / 16])  # of the learning rate, where steps were too large to learn by


class ClassNetwork:
    """One hidden layer, and the log-odds of classes; `others` are its biases, then weights and biases of the output."""

    def __init__(self, activation: str, column_weights: Floats, others: list[Floats]):
        self.activation, self.column_weights, self.others = activation, column_weights, others

    def hidden(self, sums: Floats) -> Floats:
        values: Floats = ACTIVATIONS[self.activation](sums + self.others[0])
        return values

    def odds(self, hidden: Floats) -> Floats:
        """A column per class, or one for two classes."""
        odds: Floats = hidden @ self.others[1] + self.others[2]
        return odds

    def slopes(self, sums: Floats, classes: Places) -> tuple[float, Floats, list[Floats]]:
        hidden = self.hidden(sums)
        loss, by_odds = _log_loss(self.odds(hidden), classes)
        by_sums = by_odds @ self.others[1].T * SLOPES[self.activation](hidden)
        return loss, by_sums, [by_sums.sum(axis=0), hidden.T @ by_odds, by_odds.sum(axis=0)]

    def quality(self, sums: Floats, classes: Places) -> float:
        return -_log_loss(self.odds(self.hidden(sums)), classes)[0]


def _both_odds(odds: Floats) -> Floats:
    return odds if odds.shape[1] > 1 else np.hstack([np.zeros_like(odds), odds])


def _log_loss(odds: Floats, classes: Places) -> tuple[float, Floats]:
    """Its mean over rows, and its slopes by the odds."""
    every, rows = _both_odds(odds), np.arange(len(odds))
    slopes = softmax(every, axis=1)
    slopes[rows, classes] -= 1
    slopes /= len(odds)
    return -float(log_softmax(every, axis=1)[rows, classes].mean()), slopes[:, -odds.shape[1] :]


@obeys_n_jobs
class NeuralReduction(
    TakesSparseFloats, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """Few features that know the classes: the hidden layer of a network that is trained to predict them.

    Rows are multiplied by weights of their columns, which gives `n_components` sums; what an activation makes of these
    are the features, and a logistic output of them (softmax for several classes) is the prediction. With a linear
    hidden layer the whole is logistic regression with a detour.

    Parameters
    ----------
    n_components : int, default=100
        Units of the hidden layer.
    activation : {"identity", "tanh", "logistic"}, default="identity"
        Of the hidden layer.
    learning_rate : float, default=0.5
        Length of the first step of the weights of a column; further ones shrink as gradients add up (Adagrad).
    weight_decay : float, default=0.01
        In each step, weights that take part in it are multiplied by ``1 - learning_rate * weight_decay``.
    batch_size : int, default=64
        Rows per step.
    n_epochs : int, default=200
        Passes over the labelled rows at most.
    validation_fraction : float or None, default=0.1
        A share of the labelled rows that is not learned from: training ends when `n_epochs_no_change` epochs have not
        bettered `validation_score_`, and the weights are those after the best epoch. With None, or where two classes
        cannot spare a row, all epochs take place and the last one counts.
    n_epochs_no_change : int, default=10
        Of few rows there are more, so that these have 200 steps at least.
    tol : float, default=1e-3
        An epoch betters the score if it raises it by more than this above the best so far.
    random_state : int, RandomState instance or None, default=None
        Draws first weights, held-out rows and the order of rows.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    column_weights_ : ndarray of shape (n_features_in_, n_components)
        Columns that no labelled row has are zero.
    hidden_biases_ : ndarray of shape (n_components,)
    output_weights_ : ndarray of shape (n_components, n_outputs)
        One output for two classes, otherwise one per class.
    output_biases_ : ndarray of shape (n_outputs,)
    classes_ : ndarray of shape (n_classes,)
    loss_curve_ : list of float
        For each epoch, the mean logarithmic loss of its batches as met during training.
    validation_score_ : ndarray of shape (n_iter_,) or (0,)
        After each epoch, the mean log-likelihood of the held-out rows' classes.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Rows with the label -1 have none and are left out.

    Columns need no scale, for that of all together is taken out, but rows of like lengths help:
    `sklearn.preprocessing.normalize`. Columns with a large mean should be centred first. A step costs what the entries
    of its rows cost, however many columns there are. Where steps are so large that the network ends up worse than the
    classes' shares alone, training begins anew with a quarter of the learning rate, and once more with a sixteenth.

    References
    ----------
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.learned import NeuralReduction
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NeuralReduction(10, activation="tanh", random_state=0).fit(X[::2], y[::2])
    >>> model.transform(X).shape
    (1797, 10)
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        activation: str = "identity",
        learning_rate: float = 0.5,
        weight_decay: float = 0.01,
        batch_size: int = 64,
        n_epochs: int = 200,
        validation_fraction: float | None = 0.1,
        n_epochs_no_change: int = 10,
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.activation = activation
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.validation_fraction = validation_fraction
        self.n_epochs_no_change = n_epochs_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _n_features_out(self) -> int:
        return len(self.hidden_biases_)

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> NeuralReduction:
        """Train the network.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; -1 means none.

        Returns
        -------
        self
        """
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        n_components, schedule = check_count("n_components", self.n_components), checked_schedule(self)
        rows, given = checked_rows(self, X, y, multi_output=False)
        refuse_extreme_values(type(self).__name__, rows)
        labels = partial_labels(given, type(self).__name__)
        taken, rng = prepared(rows[labels.labelled]), generator(self.random_state)
        shares = np.bincount(labels.places) / len(labels.places)
        network = self._first_network(taken.rows, len(shares), n_components, rng)
        held_out = held_out_rows(labels.places, self.validation_fraction, rng)
        history = train(network, taken.rows, labels.places, held_out, schedule, rng)
        for rate in schedule.learning_rate * SMALLER_RATES:
            least = -max(history.qualities) if len(held_out) else min(history.losses)
            if least <= -shares @ np.log(shares):
                break
            network = self._first_network(taken.rows, len(shares), n_components, rng)
            smaller = replace(schedule, learning_rate=float(rate))
            history = train(network, taken.rows, labels.places, held_out, smaller, rng)
        self.column_weights_ = taken.spread(network.column_weights)
        self.hidden_biases_, self.output_weights_, self.output_biases_ = network.others
        self.classes_, self.n_iter_ = labels.classes, len(history.losses)
        self.loss_curve_, self.validation_score_ = history.losses, np.array(history.qualities)
        return self

    def _first_network(self, rows: Matrix, n_classes: int, n_components: int, rng: np.random.Generator) -> ClassNetwork:
        n_outputs, dtype = n_classes if n_classes > 2 else 1, rows.dtype
        columns = first_column_weights(rows.shape[1], n_components, dtype, rng)
        output = rng.standard_normal((n_components, n_outputs)) / np.sqrt(n_components)
        others = [np.zeros(n_components, dtype), output.astype(dtype), np.zeros(n_outputs, dtype)]
        return ClassNetwork(self.activation, columns, others)

    def transform(self, X: ArrayLike) -> Floats:
        """The values of the hidden layer.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        refuse_extreme_values(type(self).__name__, rows)
        others = [part.astype(rows.dtype, copy=False) for part in self._others()]
        sums = rows @ self.column_weights_.astype(rows.dtype, copy=False)
        return ClassNetwork(self.activation, self.column_weights_, others).hidden(sums)

    def decision_function(self, X: ArrayLike) -> Floats:
        """The logarithm of the odds of the second class or, for several classes, what the softmax is of.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        odds = self._odds(X)
        return odds if odds.shape[1] > 1 else odds[:, 0]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        chances: Floats = softmax(_both_odds(self._odds(X)), axis=1)
        return chances

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The likeliest class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        odds = _both_odds(self._odds(X))
        return self.classes_[odds.argmax(axis=1)]

    def _odds(self, X: ArrayLike) -> Floats:
        hidden = self.transform(X)
        return ClassNetwork(self.activation, self.column_weights_, self._others()).odds(hidden)

    def _others(self) -> list[Floats]:
        return [self.hidden_biases_, self.output_weights_, self.output_biases_]

"""NeuralKernel: a kernel that a network learns from labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, Tags, gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._calls import limited_threads, n_threads, obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, check_choice, check_count, checked_rows, refuse_extreme_values
from ._epochs import checked_schedule, generator, held_out_rows, prepared, train
from ._labels import partial_labels
from ._pair_network import FORMS, first_network

Floats = NDArray[Any]

MOST_STARTS = 4
LOSS_OF_NOTHING = 0.95  # about that of a kernel of zeros, which is 1, and which networks of pairs are drawn to at first
MOST_HELD_OUT = 1000  # all pairs of which are looked at after each epoch
BLOCK_ENTRIES = 2**24  # of the kernel, at a time


def _has_features(model: NeuralKernel) -> bool:
    if model.form != "products":
        raise AttributeError("Only a kernel with form='products' has features; this one's form is 'pairs'.")
    return True


def _only_with_features(kind: type[NeuralKernel]) -> type[NeuralKernel]:
    for name in ("transform", "fit_transform", "get_feature_names_out"):
        setattr(kind, name, available_if(_has_features)(getattr(kind, name)))
    return kind


@_only_with_features  # the last to see the methods: scikit-learn and `obeys_n_jobs` wrap functions only
@obeys_n_jobs
class NeuralKernel(TakesSparseFloats, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A similarity of two rows, learned from labels: near 1 for rows of one class, near -1 for rows of two.

    A network takes two rows and gives K(x, x'). All its units are tanh, and the two rows have weights of their own in
    the first layer. It is trained by the squared loss ``(K(x, x') - t)^2`` over pairs of labelled rows, t 1 or -1, and
    the similarity is symmetrised: ``(K(x, x') + K(x', x)) / 2``. With ``form="products"`` a network of one row gives
    functions phi_s, and ``K(x, x') = sum_s phi_s(x) phi_s(x')``: this kernel is positive semidefinite, and `transform`
    gives its features.

    Parameters
    ----------
    hidden_layers : tuple of int, default=(20, 20)
        Units of each hidden layer. With ``form="products"`` the last one's are the features.
    form : {"pairs", "products"}, default="pairs"
        One network of both rows, or products of the units of two networks with the same weights, one per row.
    learning_rate : float, default=0.5
        Length of the first step of the weights of a column; further ones shrink as gradients add up (Adagrad).
    weight_decay : float, default=0.01
        In each step, weights that take part in it are multiplied by ``1 - learning_rate * weight_decay``.
    batch_size : int, default=64
        Rows per step, at least 2; the step is taken over all pairs of them.
    n_epochs : int, default=200
        Passes over the labelled rows at most.
    validation_fraction : float or None, default=0.1
        A share of the labelled rows, at most 1000 of them, that is not learned from: training ends when
        `n_epochs_no_change` epochs have not bettered `validation_score_`, and the weights are those after the best
        epoch. With None, or where two classes cannot spare a row, all epochs take place and the last one counts.
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
    column_weights_ : ndarray of shape (n_features_in_, n_sums)
        The first layer: with ``form="pairs"`` the weights of the first row beside those of the second, otherwise the
        only ones. Columns that no labelled row has are zero.
    layer_biases_ : list of ndarray
        Of each layer.
    layer_weights_ : list of ndarray
        Of each layer after the first one.
    classes_ : ndarray of shape (n_classes,)
    loss_curve_ : list of float
        For each epoch, the mean loss of its batches as met during training.
    validation_score_ : ndarray of shape (n_iter_,) or (0,)
        After each epoch, the centred alignment of the held-out rows' kernel with that of their classes (see
        `vicinal.metrics.kernel_alignment`).
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Rows with the label -1 have none and are left out. Pairs of one class and pairs of two have weights by which both
    kinds count as much, given how frequent the classes are among the labelled rows.

    A product is hard to begin to learn: some first weights lead to a kernel of zeros and stay there. Where training
    ends like that, it begins anew with other first weights, up to three times.

    Columns need no scale, for that of all together is taken out, but rows of like lengths help:
    `sklearn.preprocessing.normalize`. Columns with a large mean should be centred first.

    The kernel of ``form="pairs"`` is computed in single precision. Sums of the first layer are made once per row, not
    once per pair.

    Values of training rows are nearer to -1 and 1 than those of other rows, for they were learned. On 20,000 film
    reviews, a linear model that was fitted to them put new rows in an order as good as one fitted to other rows did.

    References
    ----------
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, section 3.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from vicinal.learned import NeuralKernel
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = scale(X)
    >>> model = NeuralKernel(random_state=0).fit(X[::2], y[::2])
    >>> K = model.kernel(X[1::2])
    >>> same = y[1::2, None] == y[1::2]
    >>> bool(K[same].mean() > 0.3), bool(K[~same].mean() < -0.3)
    (True, True)
    """

    def __init__(
        self,
        hidden_layers: tuple[int, ...] = (20, 20),
        *,
        form: str = "pairs",
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
        self.hidden_layers = hidden_layers
        self.form = form
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.validation_fraction = validation_fraction
        self.n_epochs_no_change = n_epochs_no_change
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags()
        if self.form != "products":
            tags.transformer_tags = None
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.layer_biases_[-1])

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> NeuralKernel:
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
        check_choice("form", self.form, tuple(FORMS))
        sizes, schedule = _sizes(self.hidden_layers), checked_schedule(self, least_batch=2)
        rows, given = checked_rows(self, X, y, multi_output=False)
        refuse_extreme_values(type(self).__name__, rows)
        labels = partial_labels(given, type(self).__name__)
        taken = prepared(rows[labels.labelled])
        rng = generator(self.random_state)
        held_out = held_out_rows(labels.places, self.validation_fraction, rng, most=MOST_HELD_OUT)
        for _ in range(MOST_STARTS):
            network = first_network(self.form, taken.rows.shape[1], sizes, rows.dtype, rng)
            network.balance(labels.places)
            history = train(network, taken.rows, labels.places, held_out, schedule, rng)
            if min(history.losses) < LOSS_OF_NOTHING:
                break
        self.column_weights_ = taken.spread(network.column_weights)
        self.layer_weights_, self.layer_biases_ = network.weights, network.biases
        self.classes_, self.n_iter_ = labels.classes, len(history.losses)
        self.loss_curve_, self.validation_score_ = history.losses, np.array(history.qualities)
        return self

    def kernel(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """The symmetrised similarities of rows with other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        Y : array-like or sparse matrix of shape (n_others, n_features), default=None
            None stands for X.

        Returns
        -------
        ndarray of shape (n_samples, n_others)
        """
        rows, others = self._both(X, Y)
        out = np.empty((rows.shape[0], others.shape[0]), dtype=rows.dtype)
        for block, values in self._blocks(rows, others):
            out[block] = values
        return out

    def transform(self, X: ArrayLike) -> Floats:
        """The functions phi_s of rows, whose products are the kernel.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        rows = self._checked(X)
        features: Floats = self._network().features(rows @ self._column_weights(rows))
        return features

    def _blocks(self, rows: Matrix, others: Matrix) -> Iterator[tuple[slice, Floats]]:
        network, weights, threads = self._network(), self._column_weights(rows), n_threads(self.n_jobs)
        other_sums = others @ weights
        for block in gen_batches(rows.shape[0], max(1, BLOCK_ENTRIES // others.shape[0])):
            with limited_threads(self.n_jobs):
                values = network.kernel(rows[block] @ weights, other_sums, threads)
            yield block, values.astype(rows.dtype, copy=False)

    def _both(self, X: ArrayLike, Y: ArrayLike | None) -> tuple[Matrix, Matrix]:
        rows = self._checked(X)
        return rows, rows if Y is None else self._checked(Y).astype(rows.dtype, copy=False)

    def _checked(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        refuse_extreme_values(type(self).__name__, rows)
        return rows

    def _column_weights(self, rows: Matrix) -> Floats:
        weights: Floats = self.column_weights_.astype(rows.dtype, copy=False)
        return weights

    def _network(self) -> Any:
        others = [self.layer_biases_[0]]
        for weights, biases in zip(self.layer_weights_, self.layer_biases_[1:], strict=True):
            others += [weights, biases]
        return FORMS[self.form](self.column_weights_, others)


def _sizes(hidden_layers: Any) -> list[int]:
    if not isinstance(hidden_layers, tuple | list) or not hidden_layers:
        raise ValueError(f"hidden_layers must be a tuple of whole numbers, such as (20, 20); got {hidden_layers!r}.")
    return [check_count("each of hidden_layers", size) for size in hidden_layers]

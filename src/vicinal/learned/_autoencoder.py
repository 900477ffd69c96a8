"""Denoising autoencoders: features from which clean rows are rebuilt although the encoder saw damaged ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.neural_network import MLPRegressor
from sklearn.utils import Tags, check_array, check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import (
    all_or_nothing,
    check_choice,
    check_count,
    check_non_negative,
    checked_rows,
    refuse_extreme_values,
)
from ._corruption import corruption

Dense = NDArray[Any]

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda codes, out: np.maximum(codes, 0, out=out),
    "logistic": expit,
    "tanh": np.tanh,
}
LARGEST_SEED = np.iinfo(np.int32).max


class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What one layer and a stack of layers share: the parameters of training, and the checks of input."""

    def __init__(
        self,
        n_components: Any = 0.5,
        *,
        corruption: str = "masking",
        level: float = 0.3,
        activation: str = "relu",
        n_epochs: int = 20,
        batch_size: int | str = "auto",
        learning_rate_init: float = 1e-3,
        weight_decay: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.corruption = corruption
        self.level = level
        self.activation = activation
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.weight_decay = weight_decay
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _checked(self, X: ArrayLike, *, reset: bool) -> Dense:
        rows: Dense = checked_rows(self, X, reset=reset, accept_sparse=False, order="C" if reset else None)
        refuse_extreme_values(type(self).__name__, rows)
        return rows

    def _checked_codes(self, codes: ArrayLike) -> Dense:
        check_is_fitted(self)
        given: Dense = check_array(codes, dtype=(np.float64, np.float32), input_name="codes")
        if given.shape[1] != self.n_components_:
            raise ValueError(
                f"codes has {given.shape[1]} columns, but {type(self).__name__} makes codes of {self.n_components_}; "
                "pass what transform returned."
            )
        return given


@obeys_n_jobs
class DenoisingAutoencoder(Autoencoder):
    """Codes of a hidden layer that was trained to rebuild clean rows from damaged ones.

    The encoder is ``activation(X @ W + b)``, the decoder is linear, the loss is the squared error against the clean
    row. Damage is drawn afresh for every row in every epoch, so that the codes cannot rely on any one column and have
    to catch how columns depend on each other. `transform` encodes rows as they are, without damage.

    Parameters
    ----------
    n_components : int or float, default=0.5
        Number of codes; a float is a share, at most 1.0, of the columns. A number larger than that of the columns is
        allowed: the damage keeps the codes from being a mere copy.
    corruption : {"masking", "gaussian"}, default="masking"
        Entries set to zero, or Gaussian noise added to all of them.
    level : float, default=0.3
        For masking, the chance of each entry to be zeroed; for Gaussian noise, its standard deviation as a share of
        the column's. 0 makes a plain autoencoder.
    activation : {"relu", "logistic", "tanh"}, default="relu"
    n_epochs : int, default=20
        Passes over the training rows; all of them take place.
    batch_size : int or "auto", default="auto"
        Rows per step. "auto" takes a hundredth of the rows, but at least 16 and at most 256, so that small data get
        enough steps and large data large products.
    learning_rate_init : float, default=1e-3
        Step size of Adam.
    weight_decay : float, default=1e-4
        After each step all weights are multiplied by ``exp(-learning_rate_init * weight_decay)``.
    random_state : int, RandomState instance or None, default=None
        Draws first weights, order of rows and damage.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    encoder_weights_ : ndarray of shape (n_features_in_, n_components_)
    encoder_biases_ : ndarray of shape (n_components_,)
    decoder_weights_ : ndarray of shape (n_components_, n_features_in_)
    decoder_biases_ : ndarray of shape (n_features_in_,)
    loss_curve_ : list of float
        For each epoch, the mean squared error of the entries rebuilt from damaged rows, as met during training.
    n_components_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Columns are taken as they are. Scale them first, to [0, 1] or to unit variance: a column with large values would
    rule the loss, and zero should be a value that says little if entries are masked.

    float32 is computed in single precision throughout, in about half the time of float64. Beside X and the weights,
    training holds a few batches of rows.

    The training is that of `sklearn.neural_network.MLPRegressor`. Encoder and decoder have weights of their own (they
    are not tied).

    References
    ----------
    Vincent, Larochelle, Bengio, Manzagol: Extracting and Composing Robust Features with Denoising Autoencoders,
    ICML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.learned import DenoisingAutoencoder
    >>> X = load_digits().data / 16
    >>> model = DenoisingAutoencoder(n_components=32, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 32)
    >>> bool(model.loss_curve_[-1] < 0.5 * X.var(axis=0).mean())
    True
    """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> DenoisingAutoencoder:
        """Train encoder and decoder.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows = self._checked(X, reset=True)
        n_components = size_of(self.n_components, rows.shape[1])
        network, losses = self._trained(rows, n_components)
        self.encoder_weights_, self.decoder_weights_ = network.coefs_
        self.encoder_biases_, self.decoder_biases_ = network.intercepts_
        self.n_components_, self.loss_curve_ = n_components, losses
        return self

    def transform(self, X: ArrayLike) -> Dense:
        """The rows' codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        codes = rows @ self.encoder_weights_.astype(rows.dtype, copy=False)
        codes += self.encoder_biases_
        ACTIVATIONS[self.activation](codes, out=codes)
        return codes

    def inverse_transform(self, codes: ArrayLike) -> Dense:
        """Rows rebuilt from codes.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
        """
        given = self._checked_codes(codes)
        rows = given @ self.decoder_weights_.astype(given.dtype, copy=False)
        rows += self.decoder_biases_
        return rows

    def _trained(self, X: Dense, n_components: int) -> tuple[MLPRegressor, list[float]]:
        n_samples, n_features = X.shape
        check_choice("activation", self.activation, tuple(ACTIVATIONS))
        check_count("n_epochs", self.n_epochs)
        batch_size = min(_batch_size(self.batch_size, n_samples), n_samples)
        if check_non_negative("learning_rate_init", self.learning_rate_init) == 0:
            raise ValueError("learning_rate_init must be above 0, or nothing is learned; got 0.")
        decay = np.exp(-self.learning_rate_init * check_non_negative("weight_decay", self.weight_decay))
        weight_seed, noise_seed = check_random_state(self.random_state).randint(LARGEST_SEED, size=2)
        rng = np.random.default_rng(noise_seed)  # unlike RandomState it draws single precision
        corrupted = corruption(self.corruption, self.level, X, batch_size, rng)
        network = MLPRegressor(
            hidden_layer_sizes=(n_components,),
            activation=self.activation,
            alpha=0.0,  # the decay is done here, so that the network's loss is that of the reconstruction alone
            learning_rate_init=self.learning_rate_init,
            shuffle=False,
            random_state=int(weight_seed),
        )
        rows = np.empty((batch_size, n_features), dtype=X.dtype)

        def epoch() -> float:
            order, total = rng.permutation(n_samples), 0.0
            for batch in gen_batches(n_samples, batch_size):
                size = batch.stop - batch.start
                clean = rows[:size]
                np.take(X, order[batch], axis=0, out=clean, mode="clip")
                network.batch_size = size
                network.partial_fit(corrupted(clean), clean if n_features > 1 else clean[:, 0])
                for weights in network.coefs_:
                    weights *= decay
                total += 2 * size * float(network.loss_)  # the network halves the squared error
            return total / n_samples

        with warnings.catch_warnings():
            # The network turns Ctrl-C into this warning and would go on with the next batch.
            warnings.filterwarnings("error", "Training interrupted by user")
            try:
                return network, [epoch() for _ in range(self.n_epochs)]
            except UserWarning as warning:
                if "interrupted" in str(warning):
                    raise KeyboardInterrupt from None
                raise


def size_of(value: Any, n_features: int) -> int:
    if isinstance(value, float | np.floating) and 0 < value <= 1:
        return max(1, round(float(value) * n_features))
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise ValueError(
        "n_components must be a whole number of at least 1, or a share of the columns above 0 and up to 1.0; "
        f"got {value!r}."
    )


def _batch_size(value: Any, n_samples: int) -> int:
    if isinstance(value, str):
        check_choice("batch_size", value, ("auto",))
        return min(256, max(16, n_samples // 100))
    return check_count("batch_size", value)

"""Denoising autoencoders on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing
from ._autoencoder import LARGEST_SEED, Autoencoder, DenoisingAutoencoder, Dense, size_of


@obeys_n_jobs
class StackedDenoisingAutoencoder(Autoencoder):
    """Codes of codes: denoising autoencoders on top of each other, trained one after the other.

    The first layer learns from the rows, each further one from the undamaged codes of the layer below, whose damage it
    draws itself. `transform` gives the last layer's codes. Layers are not trained further together.

    Parameters
    ----------
    n_components : int, float or sequence of them, default=0.5
        Codes per layer. One number makes three layers of that size. A float is a share, at most 1.0, of the columns of
        X, in every layer.
    corruption : {"masking", "gaussian"}, default="masking"
        How each layer's input is damaged, as in `DenoisingAutoencoder`; the parameters below are its own, too, and hold
        for every layer.
    level : float, default=0.3
    activation : {"relu", "logistic", "tanh"}, default="relu"
    n_epochs : int, default=20
        Passes over the training rows, per layer.
    batch_size : int or "auto", default="auto"
    learning_rate_init : float, default=1e-3
    weight_decay : float, default=1e-4
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    layers_ : list of DenoisingAutoencoder
    n_components_ : int
        Codes of the last layer.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Vincent, Larochelle, Lajoie, Bengio, Manzagol: Stacked Denoising Autoencoders: Learning Useful Representations in a
    Deep Network with a Local Denoising Criterion, JMLR 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.learned import StackedDenoisingAutoencoder
    >>> X = load_digits().data / 16
    >>> model = StackedDenoisingAutoencoder([48, 0.5, 16], n_epochs=5, random_state=0)
    >>> model.fit_transform(X).shape
    (1797, 16)
    >>> [layer.n_components_ for layer in model.layers_]
    [48, 32, 16]
    """

    def fit(self, X: ArrayLike, y: Any = None) -> StackedDenoisingAutoencoder:
        """Train the layers, from the first to the last.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._fitted_codes(X, of_last_layer=False)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None, **fit_params: Any) -> Dense:
        """What ``fit(X).transform(X)`` returns, without encoding the rows a second time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return self._fitted_codes(X, of_last_layer=True)

    def transform(self, X: ArrayLike) -> Dense:
        """The last layer's codes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        codes = self._checked(X, reset=False)
        for layer in self.layers_:
            codes = layer.transform(codes)
        return codes

    def inverse_transform(self, codes: ArrayLike) -> Dense:
        """Rows rebuilt from the last layer's codes, through all decoders.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
        """
        rows = self._checked_codes(codes)
        for layer in reversed(self.layers_):
            rows = layer.inverse_transform(rows)
        return rows

    @all_or_nothing
    def _fitted_codes(self, X: ArrayLike, *, of_last_layer: bool) -> Dense:
        codes = self._checked(X, reset=True)
        sizes = self._sizes(codes.shape[1])
        seeds = check_random_state(self.random_state).randint(LARGEST_SEED, size=len(sizes))
        layers: list[DenoisingAutoencoder] = []
        for size, seed in zip(sizes, seeds, strict=True):
            parameters = self.get_params() | {"n_components": size, "random_state": int(seed)}
            layers.append(DenoisingAutoencoder(**parameters).fit(codes))
            if of_last_layer or len(layers) < len(sizes):
                codes = layers[-1].transform(codes)
        self.layers_, self.n_components_ = layers, sizes[-1]
        return codes

    def _sizes(self, n_features: int) -> list[int]:
        sizes = self.n_components
        if not isinstance(sizes, Sequence | np.ndarray) or isinstance(sizes, str):
            sizes = [sizes] * 3
        if len(sizes) == 0:
            raise ValueError("n_components must be a number or a sequence with one number per layer; got an empty one.")
        return [size_of(size, n_features) for size in sizes]

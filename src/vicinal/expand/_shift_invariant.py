"""Kernels that depend on the difference of two rows alone, each with draws from its spectral density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from .._validation import check_positive
from ._characteristic import CharacteristicFunction
from ._densities import as_density
from ._gram import (
    cauchy_of_sparse,
    checked_pair,
    largest_difference,
    product_over_columns,
    refuse_large_values,
    with_narrow_indices,
)
from ._spectrum import check_function, draw_from, spectral_density


@dataclass(frozen=True)
class Gaussian:
    """``exp(-gamma * squared_distance)``.

    Parameters
    ----------
    gamma : float, default=1.0
        1 / (2 sigma^2) for a bandwidth of sigma.

    Examples
    --------
    >>> from vicinal.expand.kernels import Gaussian
    >>> Gaussian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        refuse_large_values("X", rows)
        refuse_large_values("Y", others)
        dtype, same = rows.dtype, others is rows
        if not sp.issparse(rows) and not sp.issparse(others):  # distances far from zero would lose digits
            center = others.mean(axis=0, dtype=np.float64)
            rows = rows - center
            others = rows if same else others - center
        return rbf_kernel(rows, None if same else others, gamma=self.gamma).astype(dtype, copy=False)

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draws from the spectral density: normal, of variance 2 gamma in each coordinate."""
        return rng.normal(scale=np.sqrt(2 * self.gamma), size=(n_frequencies, n_features))

    def draw_lengths(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Lengths of such draws, whose directions are all equally likely: no other kernel here has this."""
        return np.sqrt(2 * self.gamma * rng.chisquare(n_features, size=n_frequencies))


@dataclass(frozen=True)
class Laplacian:
    """``exp(-gamma * manhattan_distance)``.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> from vicinal.expand.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        gram = laplacian_kernel(with_narrow_indices(rows), with_narrow_indices(others), gamma=self.gamma)
        return gram.astype(rows.dtype, copy=False)

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draws from the spectral density: Cauchy, of scale gamma in each coordinate."""
        return self.gamma * rng.standard_cauchy(size=(n_frequencies, n_features))


@dataclass(frozen=True)
class Cauchy:
    """The product of ``1 / (1 + gamma * (x_i - y_i) ** 2)`` over all columns.

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> from vicinal.expand.kernels import Cauchy
    >>> Cauchy()([[0.0, 0.0], [1.0, 1.0]])
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        if sp.issparse(rows) and sp.issparse(others):
            return cauchy_of_sparse(rows, others, self.gamma)
        with np.errstate(over="ignore", under="ignore"):  # infinite squares give 0, as they should
            return product_over_columns(rows, others, self._factor)

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draws from the spectral density: Laplace, of scale sqrt(gamma) in each coordinate."""
        return rng.laplace(scale=np.sqrt(self.gamma), size=(n_frequencies, n_features))

    def _factor(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        factor = np.subtract.outer(x, y)
        np.multiply(factor, factor, out=factor)
        factor *= self.gamma
        factor += 1
        return np.reciprocal(factor, out=factor)


@dataclass(frozen=True)
class ShiftInvariant:
    """The kernel whose frequencies have a given density in each coordinate, independent of the others.

    By Bochner's theorem every density is that of a kernel: the product of ``phi(x_i - y_i)`` over all columns, where
    phi is the density's characteristic function. It is found by numerical integration, with an error of about 1e-8 at
    most, once for the range of differences that the data has. CSR rows take as long as dense ones.

    Parameters
    ----------
    density : frozen distribution of scipy.stats or callable
        Continuous, of one variable and symmetric about 0, for example ``scipy.stats.t(df=3)``. A function of
        frequencies is a density on the whole line; it need not sum to 1.

    Examples
    --------
    A uniform density gives the kernel of band-limited functions:

    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from vicinal.expand.kernels import ShiftInvariant
    >>> kernel = ShiftInvariant(uniform(loc=-1, scale=2))
    >>> np.allclose(kernel([[0.0]], [[0.5], [3.0]]), [np.sin(0.5) / 0.5, np.sin(3) / 3])
    True

    The density of the Laplacian kernel, but for a factor:

    >>> kernel = ShiftInvariant(lambda frequency: 1 / (1 + frequency**2))
    >>> np.allclose(kernel([[0.0]], [[0.5], [3.0]]), np.exp([-0.5, -3]))
    True
    """

    density: Any
    _phi: CharacteristicFunction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_phi", CharacteristicFunction(as_density(self.density)))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        self._phi.cover(largest_difference(rows, others))
        return product_over_columns(rows, others, lambda x, y: self._phi(np.abs(np.subtract.outer(x, y))))

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draws from the density, for every coordinate."""
        return self._phi.density.rvs(size=(n_frequencies, n_features), random_state=rng)


@dataclass(frozen=True)
class FromFunction:
    """The product of ``function(x_i - y_i)`` over all columns, for a function of your own.

    By Bochner's theorem the function is a kernel if and only if its Fourier transform is nowhere negative; divided by 2
    pi, this is the density of the frequencies in each coordinate. `spectral_density` finds it by a fast cosine
    transform, and refuses functions with a transform that is negative.

    Parameters
    ----------
    function : callable
        Takes an array of differences and returns an array of the same shape. It must be 1 at 0, the same for t and -t,
        and fall to 0: its absolute value must stay below 1e-5 from some difference on, which is at most 1,024 times
        that at which it has fallen to one half.

    Examples
    --------
    A Matern kernel, once differentiable, and waves that stand for it:

    >>> import numpy as np
    >>> from vicinal.expand import RandomFourierFeatures
    >>> from vicinal.expand.kernels import FromFunction
    >>> kernel = FromFunction(lambda t: (1 + np.abs(t)) * np.exp(-np.abs(t)))
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> waves = RandomFourierFeatures(20000, kernel=kernel, random_state=0).fit_transform(X)
    >>> bool(np.abs(waves @ waves.T - kernel(X)).max() < 0.05)
    True
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        check_function(self.function)

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        return product_over_columns(rows, others, lambda x, y: self.function(np.subtract.outer(x, y)))

    def spectral_density(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Frequencies from 0 on, equally spaced, and the density of the frequencies in each coordinate there.

        It is the same for negative frequencies. Between the given ones it is taken as linear, which changes the kernel
        by about 1e-4 at most.
        """
        return spectral_density(self.function)

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draws from the density, for every coordinate."""
        return draw_from(*self.spectral_density(), (n_frequencies, n_features), rng)


@dataclass(frozen=True)
class FromSampler:
    """A shift-invariant kernel of your own, with a function that draws from its spectral density.

    Unlike `FromFunction`, it need not be a product over the columns.

    Parameters
    ----------
    kernel : callable
        Takes two tables and returns the matrix of kernel values.
    sampler : callable
        ``sampler(n_frequencies, n_features, rng)``, with a `numpy.random.RandomState`, returns an array of shape
        (n_frequencies, n_features). The mean of ``cos(w.(x - y))`` over its rows w stands for the kernel of x and y.

    Examples
    --------
    ``exp(-distance)``: its frequencies have a multivariate Cauchy distribution.

    >>> import numpy as np
    >>> from sklearn.metrics import pairwise_distances
    >>> from vicinal.expand import RandomFourierFeatures
    >>> from vicinal.expand.kernels import FromSampler
    >>> def multivariate_cauchy(n_frequencies, n_features, rng):
    ...     return rng.normal(size=(n_frequencies, n_features)) / np.abs(rng.normal(size=(n_frequencies, 1)))
    >>> kernel = FromSampler(lambda X, Y: np.exp(-pairwise_distances(X, Y)), multivariate_cauchy)
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> waves = RandomFourierFeatures(20000, kernel=kernel, random_state=0).fit_transform(X)
    >>> bool(np.abs(waves @ waves.T - kernel(X)).max() < 0.05)
    True
    """

    kernel: Callable[..., Any]
    sampler: Callable[..., Any]

    def __post_init__(self) -> None:
        for name, value in (("kernel", self.kernel), ("sampler", self.sampler)):
            if isinstance(value, type) or not callable(value):
                raise ValueError(f"{name} must be a function; got {value!r}.")

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        return self.kernel(rows, others)

    def draw_frequencies(self, n_frequencies: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """What the sampler draws."""
        drawn = np.asarray(self.sampler(n_frequencies, n_features, rng), dtype=np.float64)
        if drawn.shape != (n_frequencies, n_features):
            raise ValueError(f"sampler must return the shape {(n_frequencies, n_features)}; it returned {drawn.shape}.")
        return drawn

"""A density that is given as a function: its quantiles and draws, by numerical inversion."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import roots_legendre
from scipy.stats import rv_continuous
from scipy.stats.sampling import NumericalInversePolynomial, UNURANError

RESOLUTION = 1e-12  # of probabilities
NODES, WEIGHTS = roots_legendre(48)


def as_density(density: Any) -> Any:
    """Distributions as they are; a function becomes the distribution that has it for a density."""
    if isinstance(density, type | rv_continuous) or hasattr(density, "pdf") or not callable(density):
        return density
    return FunctionDensity(density)


class FunctionDensity:
    """The distribution on the whole line, symmetric about 0, whose density is proportional to a function.

    It has the methods of `scipy.stats` that draws and characteristic functions need.
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        try:
            self._inverse = NumericalInversePolynomial(
                SimpleNamespace(pdf=function), center=0.0, u_resolution=RESOLUTION
            )
        except (UNURANError, ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(
                f"{function!r} is no density that can be integrated over the whole line: {error}. It must take a "
                "number or an array and return what is not negative."
            ) from error
        edges = np.concatenate([[0.0], self.isf(0.5 ** np.arange(2, 20))])
        nodes = edges[:-1, None] + np.diff(edges)[:, None] * (NODES + 1) / 2
        mass = float((np.diff(edges)[:, None] * WEIGHTS * self.pdf(nodes)).sum())  # of both halves
        self._constant = (1 - 2 * 0.5**19) / mass
        if not self.pdf(4 * edges[-1]) > 0:
            raise ValueError(
                "A density that is given as a function must be above 0 everywhere; for one with ends use a frozen "
                "distribution of scipy.stats, such as scipy.stats.uniform(loc=-1, scale=2)."
            )

    _constant = 1.0

    def pdf(self, x: ArrayLike) -> Any:
        return self._constant * np.asarray(self.function(x), dtype=np.float64)

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        return self._inverse.cdf(x)

    def sf(self, x: ArrayLike) -> NDArray[np.float64]:
        return self.cdf(-np.asarray(x))

    def ppf(self, q: ArrayLike) -> NDArray[np.float64]:
        return self._inverse.ppf(q)

    def isf(self, q: ArrayLike) -> NDArray[np.float64]:
        return -self.ppf(q)

    def rvs(self, size: tuple[int, ...], random_state: np.random.RandomState) -> NDArray[np.float64]:
        return self.ppf(random_state.uniform(size=size))

    def support(self) -> tuple[float, float]:
        return -np.inf, np.inf

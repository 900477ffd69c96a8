"""Kernels, their explicit maps, and a few random numbers that stand for them."""

from . import kernels
from ._bandwidth import gamma_from_scale
from ._fourier import RandomFourierFeatures
from ._hashing import HashedProjection
from ._hermite import HermiteMap
from ._kernel_map import RBFMap
from ._kernel_perceptron import KernelPerceptron
from ._perceptron import OnlinePerceptron
from ._products import PolynomialMap, SubsetProductMap
from ._projection import EmbeddingError, GaussianProjection

__all__ = [
    "EmbeddingError",
    "GaussianProjection",
    "HashedProjection",
    "HermiteMap",
    "KernelPerceptron",
    "OnlinePerceptron",
    "PolynomialMap",
    "RBFMap",
    "RandomFourierFeatures",
    "SubsetProductMap",
    "gamma_from_scale",
    "kernels",
]

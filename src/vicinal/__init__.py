"""Sparse, local features from neighbourhoods, so that a linear model does what used to need a kernel machine."""

from importlib.metadata import version

from .cluster import SpectralFeatures
from .expand import (
    GaussianProjection,
    HashedProjection,
    HermiteMap,
    KernelPerceptron,
    OnlinePerceptron,
    PolynomialMap,
    RandomFourierFeatures,
    RBFMap,
    SubsetProductMap,
)
from .learned import DenoisingAutoencoder, StackedDenoisingAutoencoder
from .local import RULLS, ProjectedLandmarks, RandLocal, RobustPCA, SampledLandmarks
from .select import MCFS, NDFS, RSFS, RUFS, SNFS, SPEC, UDFS, LaplacianScore, MaximumVariance

__version__ = version("vicinal")

__all__ = [
    "MCFS",
    "NDFS",
    "RSFS",
    "RUFS",
    "RULLS",
    "SNFS",
    "SPEC",
    "UDFS",
    "DenoisingAutoencoder",
    "GaussianProjection",
    "HashedProjection",
    "HermiteMap",
    "KernelPerceptron",
    "LaplacianScore",
    "MaximumVariance",
    "OnlinePerceptron",
    "PolynomialMap",
    "ProjectedLandmarks",
    "RBFMap",
    "RandLocal",
    "RandomFourierFeatures",
    "RobustPCA",
    "SampledLandmarks",
    "SpectralFeatures",
    "StackedDenoisingAutoencoder",
    "SubsetProductMap",
    "__version__",
]

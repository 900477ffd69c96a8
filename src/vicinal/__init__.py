"""Sparse, local features from neighbourhoods, so that a linear model does what used to need a kernel machine."""

from importlib.metadata import version

from .cluster import SpectralFeatures
from .expand import RBFMap
from .learned import DenoisingAutoencoder, StackedDenoisingAutoencoder
from .local import RULLS, ProjectedLandmarks, RandLocal, RobustPCA, SampledLandmarks

__version__ = version("vicinal")

__all__ = [
    "RULLS",
    "DenoisingAutoencoder",
    "ProjectedLandmarks",
    "RBFMap",
    "RandLocal",
    "RobustPCA",
    "SampledLandmarks",
    "SpectralFeatures",
    "StackedDenoisingAutoencoder",
    "__version__",
]

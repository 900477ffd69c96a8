"""Sparse, local features from neighbourhoods, so that a linear model does what used to need a kernel machine."""

from importlib.metadata import version

from .local import RandLocal

__version__ = version("vicinal")

__all__ = ["RandLocal", "__version__"]

"""Codes learned by reconstruction."""

from ._autoencoder import DenoisingAutoencoder
from ._stacked import StackedDenoisingAutoencoder

__all__ = ["DenoisingAutoencoder", "StackedDenoisingAutoencoder"]

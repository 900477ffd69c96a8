"""Codes learned by reconstruction."""

from ._autoencoder import DenoisingAutoencoder, StackedDenoisingAutoencoder

__all__ = ["DenoisingAutoencoder", "StackedDenoisingAutoencoder"]

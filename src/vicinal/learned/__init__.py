"""Codes learned by reconstruction, and rules learned from an order of rows."""

from ._autoencoder import DenoisingAutoencoder
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = ["DenoisingAutoencoder", "RankBoost", "RankBoostMap", "StackedDenoisingAutoencoder"]

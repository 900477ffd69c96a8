"""Codes learned by reconstruction, rules learned from an order of rows, kernels learned from labels."""

from ._autoencoder import DenoisingAutoencoder
from ._learned_kernel_features import LearnedKernelFeatures
from ._pivot_map import PivotMap
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = [
    "DenoisingAutoencoder",
    "LearnedKernelFeatures",
    "PivotMap",
    "RankBoost",
    "RankBoostMap",
    "StackedDenoisingAutoencoder",
]

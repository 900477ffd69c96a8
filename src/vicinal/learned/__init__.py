"""Codes learned by reconstruction; rules, kernels and features learned from labels."""

from ._autoencoder import DenoisingAutoencoder
from ._neural_kernel import NeuralKernel
from ._neural_reduction import NeuralReduction
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = [
    "DenoisingAutoencoder",
    "NeuralKernel",
    "NeuralReduction",
    "RankBoost",
    "RankBoostMap",
    "StackedDenoisingAutoencoder",
]

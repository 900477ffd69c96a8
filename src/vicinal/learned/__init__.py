"""Codes learned by reconstruction; rules, kernels and features learned from labels."""

from ._autoencoder import DenoisingAutoencoder
from ._learned_kernel_features import LearnedKernelFeatures
from ._neural_kernel import NeuralKernel
from ._neural_reduction import NeuralReduction
from ._pivot_map import PivotMap
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = [
    "DenoisingAutoencoder",
    "LearnedKernelFeatures",
    "NeuralKernel",
    "NeuralReduction",
    "PivotMap",
    "RankBoost",
    "RankBoostMap",
    "StackedDenoisingAutoencoder",
]

"""Codes learned by reconstruction; rules, kernels and features learned from labels."""

from ._autoencoder import DenoisingAutoencoder
from ._graph_smoothing import GraphSmoothing
from ._kmeans_features import KMeansFeatures
from ._labelled_only import LabelledOnly
from ._learned_kernel_features import LearnedKernelFeatures
from ._neural_kernel import NeuralKernel
from ._neural_reduction import NeuralReduction
from ._pivot_map import PivotMap
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = [
    "DenoisingAutoencoder",
    "GraphSmoothing",
    "KMeansFeatures",
    "LabelledOnly",
    "LearnedKernelFeatures",
    "NeuralKernel",
    "NeuralReduction",
    "PivotMap",
    "RankBoost",
    "RankBoostMap",
    "StackedDenoisingAutoencoder",
]

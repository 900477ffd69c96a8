"""Codes learned by reconstruction, rules from an order of rows, and what rows without labels can add to the others."""

from ._autoencoder import DenoisingAutoencoder
from ._graph_smoothing import GraphSmoothing
from ._kmeans_features import KMeansFeatures
from ._labelled_only import LabelledOnly
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap
from ._stacked import StackedDenoisingAutoencoder

__all__ = [
    "DenoisingAutoencoder",
    "GraphSmoothing",
    "KMeansFeatures",
    "LabelledOnly",
    "RankBoost",
    "RankBoostMap",
    "StackedDenoisingAutoencoder",
]

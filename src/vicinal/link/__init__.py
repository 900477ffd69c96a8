"""Which nodes of a network should be linked, where some show only links and others only attributes."""

from ._base import LinkPredictor, NetworkEmbedding, Recommended
from ._deepwalk import DeepWalk
from ._line import LINE
from ._without_learning import AdamicAdar, AttributeCosine, Katz

__all__ = [
    "LINE",
    "AdamicAdar",
    "AttributeCosine",
    "DeepWalk",
    "Katz",
    "LinkPredictor",
    "NetworkEmbedding",
    "Recommended",
]

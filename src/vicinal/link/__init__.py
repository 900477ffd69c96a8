"""Which nodes of a network should be linked, where some show only links and others only attributes."""

from ._base import LinkPredictor, NetworkEmbedding, Recommended
from ._deepwalk import DeepWalk
from ._line import LINE
from ._nrcl import NRCL
from ._partial import PartiallyObservable, make_partially_observable
from ._ranking import LinkRanking
from ._without_learning import AdamicAdar, AttributeCosine, Katz

__all__ = [
    "LINE",
    "NRCL",
    "AdamicAdar",
    "AttributeCosine",
    "DeepWalk",
    "Katz",
    "LinkPredictor",
    "LinkRanking",
    "NetworkEmbedding",
    "PartiallyObservable",
    "Recommended",
    "make_partially_observable",
]

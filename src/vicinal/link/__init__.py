"""Which nodes of a network should be linked, where some show only links and others only attributes."""

from ._base import LinkPredictor, NetworkEmbedding, Recommended
from ._partial import PartiallyObservable, make_partially_observable
from ._without_learning import AdamicAdar, AttributeCosine, Katz

__all__ = [
    "AdamicAdar",
    "AttributeCosine",
    "Katz",
    "LinkPredictor",
    "NetworkEmbedding",
    "PartiallyObservable",
    "Recommended",
    "make_partially_observable",
]

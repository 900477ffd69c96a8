"""Which anchors, rows and columns speak for a prediction."""

from ._clusters import ClusterExplanation, explain_clusters
from ._explain import explain
from ._explanation import Explanation
from ._plots import plot_explanation, plot_prototypes, plot_voronoi

__all__ = [
    "ClusterExplanation",
    "Explanation",
    "explain",
    "explain_clusters",
    "plot_explanation",
    "plot_prototypes",
    "plot_voronoi",
]

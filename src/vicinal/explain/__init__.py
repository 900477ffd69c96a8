"""Which anchors, rows and columns speak for a prediction."""

from ._clusters import ClusterExplanation, explain_clusters
from ._explain import explain
from ._explanation import Explanation
from ._outlier_explanation import OutlierExplanation
from ._outliers import explain_outliers
from ._plots import plot_explanation, plot_prototypes, plot_voronoi

__all__ = [
    "ClusterExplanation",
    "Explanation",
    "OutlierExplanation",
    "explain",
    "explain_clusters",
    "explain_outliers",
    "plot_explanation",
    "plot_prototypes",
    "plot_voronoi",
]

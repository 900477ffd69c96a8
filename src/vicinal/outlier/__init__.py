"""Detectors of outliers on local features."""

from ._column_scale import ColumnScale  # noqa: F401 - for explanations, which show rows as anchors are
from ._cross_fitting import cross_fitted_p_values
from ._local_outlier_detector import LocalOutlierDetector
from ._neighbor_outlier_detector import NeighborOutlierDetector

__all__ = ["LocalOutlierDetector", "NeighborOutlierDetector", "cross_fitted_p_values"]

"""Detectors of outliers on local features."""

from ._local_outlier_detector import LocalOutlierDetector
from ._neighbor_outlier_detector import NeighborOutlierDetector

__all__ = ["LocalOutlierDetector", "NeighborOutlierDetector"]

"""Sparse features from nearest anchors and landmarks."""

from ._landmarks import ProjectedLandmarks, SampledLandmarks
from ._randlocal import RandLocal
from ._robust_pca import RobustPCA
from ._rulls import RULLS

__all__ = ["RULLS", "ProjectedLandmarks", "RandLocal", "RobustPCA", "SampledLandmarks"]

"""Sparse features from nearest anchors and landmarks."""

from ._projected_landmarks import ProjectedLandmarks
from ._randlocal import RandLocal
from ._robust_pca import RobustPCA
from ._rulls import RULLS
from ._sampled_landmarks import SampledLandmarks

__all__ = ["RULLS", "ProjectedLandmarks", "RandLocal", "RobustPCA", "SampledLandmarks"]

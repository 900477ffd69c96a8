"""Sparse features from nearest anchors and landmarks."""

from ._forest_cells import ForestCells
from ._projected_landmarks import ProjectedLandmarks
from ._randlocal import RandLocal
from ._robust_pca import RobustPCA
from ._rulls import RULLS
from ._sampled_landmarks import SampledLandmarks

__all__ = ["RULLS", "ForestCells", "ProjectedLandmarks", "RandLocal", "RobustPCA", "SampledLandmarks"]

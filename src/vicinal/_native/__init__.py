"""The compiled part: nearest anchors, in groups or in subspaces of their own, and random maps. Knows arrays only.

The instruction set is chosen once, at import; the environment variable ``VICINAL_ISA`` names a lower one.
"""

from ._core import (
    AnchorGroups,
    LandmarkSubspaces,
    available_instruction_sets,
    drop_missing,
    fingerprints,
    finish,
    fourier_features,
    hash_rows,
    instruction_set,
    nearest,
    nearest_in_subspaces,
    project,
    sum_distances,
)

__all__ = [
    "AnchorGroups",
    "LandmarkSubspaces",
    "available_instruction_sets",
    "drop_missing",
    "fingerprints",
    "finish",
    "fourier_features",
    "hash_rows",
    "instruction_set",
    "nearest",
    "nearest_in_subspaces",
    "project",
    "sum_distances",
]

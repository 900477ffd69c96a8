"""The compiled part: nearest anchors, nearest rows, random maps, products of rows. Knows arrays only.

The instruction set is chosen once, at import; the environment variable ``VICINAL_ISA`` names a lower one.
"""

from ._core import (
    AnchorGroups,
    LandmarkSubspaces,
    SparseRows,
    are_linked,
    available_instruction_sets,
    drop_missing,
    fingerprints,
    finish,
    fourier_features,
    hash_rows,
    instruction_set,
    link_products,
    nearest,
    nearest_in_subspaces,
    nearest_rows,
    products_of_rows,
    project,
    softmax_of_products,
    sum_distances,
    triplet_margins,
    triplet_steps,
)
from ._sparse import sparse_rows

__all__ = [
    "AnchorGroups",
    "LandmarkSubspaces",
    "SparseRows",
    "are_linked",
    "available_instruction_sets",
    "drop_missing",
    "fingerprints",
    "finish",
    "fourier_features",
    "hash_rows",
    "instruction_set",
    "link_products",
    "nearest",
    "nearest_in_subspaces",
    "nearest_rows",
    "products_of_rows",
    "project",
    "softmax_of_products",
    "sparse_rows",
    "sum_distances",
    "triplet_margins",
    "triplet_steps",
]

"""The compiled part: nearest anchors of many rows in many groups. Knows arrays only.

The instruction set is chosen once, at import; the environment variable ``VICINAL_ISA`` names a lower one.
"""

from ._core import (
    AnchorGroups,
    available_instruction_sets,
    drop_missing,
    fingerprints,
    finish,
    instruction_set,
    nearest,
    sum_distances,
)

__all__ = [
    "AnchorGroups",
    "available_instruction_sets",
    "drop_missing",
    "fingerprints",
    "finish",
    "instruction_set",
    "nearest",
    "sum_distances",
]

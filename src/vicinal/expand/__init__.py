"""Explicit maps of kernels."""

from ._kernel_map import RBFMap

__all__ = ["RBFMap"]

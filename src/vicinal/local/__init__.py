"""Sparse features from nearest anchors."""

from ._randlocal import RandLocal

__all__ = ["RandLocal"]

"""Which columns are worth keeping, when there are no labels."""

from ._variance import MaximumVariance

__all__ = ["MaximumVariance"]

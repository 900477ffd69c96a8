"""Which anchors, rows and columns speak for a prediction."""

from ._explain import explain
from ._explanation import Explanation

__all__ = ["Explanation", "explain"]

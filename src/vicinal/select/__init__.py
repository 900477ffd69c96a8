"""Which columns are worth keeping, when there are no labels."""

from ._laplacian_score import LaplacianScore
from ._mcfs import MCFS
from ._ndfs import NDFS
from ._rsfs import RSFS
from ._rufs import RUFS
from ._snfs import SNFS
from ._spec import SPEC
from ._udfs import UDFS
from ._variance import MaximumVariance

__all__ = ["MCFS", "NDFS", "RSFS", "RUFS", "SNFS", "SPEC", "UDFS", "LaplacianScore", "MaximumVariance"]

"""Which columns are worth keeping, when there are no labels."""

from ._base import FeatureSelector
from ._cdma import CDMAFS
from ._gfs import GFS
from ._laplacian_score import LaplacianScore
from ._lufs import LUFS
from ._mcfs import MCFS
from ._mvfs import MVFS
from ._mvufs import MVUFS
from ._ndfs import NDFS
from ._per_view import PerView
from ._pop import MMPOP, PPOP, SPOP
from ._registry import SELECTORS, SelectorEntry
from ._rsfs import RSFS
from ._rufs import RUFS
from ._sidefs import SideFS
from ._snfs import SNFS
from ._spec import SPEC
from ._udfs import UDFS
from ._variance import MaximumVariance

__all__ = [
    "CDMAFS",
    "GFS",
    "LUFS",
    "MCFS",
    "MMPOP",
    "MVFS",
    "MVUFS",
    "NDFS",
    "PPOP",
    "RSFS",
    "RUFS",
    "SELECTORS",
    "SNFS",
    "SPEC",
    "SPOP",
    "UDFS",
    "FeatureSelector",
    "LaplacianScore",
    "MaximumVariance",
    "PerView",
    "SelectorEntry",
    "SideFS",
]

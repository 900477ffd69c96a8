"""All selectors, one line each: what the command line and the experiments know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ._base import FeatureSelector, NetworkSelector, SideSelector
from ._cdma import CDMAFS
from ._gfs import GFS
from ._laplacian_score import LaplacianScore
from ._lufs import LUFS
from ._mcfs import MCFS
from ._multi_view import MultiViewSelector
from ._mvfs import MVFS
from ._mvufs import MVUFS
from ._ndfs import NDFS
from ._pop import MMPOP, PPOP, SPOP
from ._rsfs import RSFS
from ._rufs import RUFS
from ._sidefs import SideFS
from ._snfs import SNFS
from ._spec import SPEC
from ._udfs import UDFS
from ._variance import MaximumVariance


@dataclass(frozen=True)
class SelectorEntry:
    """A selector as others see it.

    Attributes
    ----------
    name : str
        At the command line and in declared experiments.
    label : str
        In tables.
    kind : type
        The class.
    tuned : tuple of str
        The parameters that have a grid in experiments: the weights of the terms of its objective.
    scale : "standard" or "minmax"
        What columns of tables should be brought to. Standardised columns all vary alike, and some are negative.

    Examples
    --------
    >>> from vicinal.select import SELECTORS
    >>> SELECTORS["laplacian-score"].kind(n_features_to_select=3)
    LaplacianScore(n_features_to_select=3)
    >>> [entry.label for entry in SELECTORS.values() if entry.has_rule]
    ['SNFS', 'CDMA-FS']
    >>> [entry.name for entry in SELECTORS.values() if entry.reads_links]
    ['lufs', 'gfs', 'spop', 'ppop', 'mmpop']
    >>> [entry.name for entry in SELECTORS.values() if entry.reads_views]
    ['mvfs', 'mvufs', 'cdma']
    >>> [entry.name for entry in SELECTORS.values() if entry.reads_side]
    ['sidefs']
    """

    name: str
    label: str
    kind: type[FeatureSelector]
    tuned: tuple[str, ...] = ()
    scale: Literal["standard", "minmax"] = "standard"

    @property
    def has_rule(self) -> bool:
        """Whether it knows how many columns to keep: ``n_features_to_select="auto"``."""
        return self.kind._has_rule

    @property
    def reads_links(self) -> bool:
        """Whether it looks at links between the rows: ``fit(X, adjacency=...)``."""
        return issubclass(self.kind, NetworkSelector)

    @property
    def reads_views(self) -> bool:
        """Whether it looks at several views of the rows: its parameter `views`."""
        return issubclass(self.kind, MultiViewSelector)

    @property
    def reads_side(self) -> bool:
        """Whether it looks at side information about the rows: ``fit(X, side=...)``."""
        return issubclass(self.kind, SideSelector)


SELECTORS: Mapping[str, SelectorEntry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            SelectorEntry("maximum-variance", "maximum variance", MaximumVariance, scale="minmax"),
            SelectorEntry("laplacian-score", "Laplacian Score", LaplacianScore),
            SelectorEntry("spec", "SPEC", SPEC),
            SelectorEntry("mcfs", "MCFS", MCFS),
            SelectorEntry("udfs", "UDFS", UDFS, ("sparsity", "ridge")),
            SelectorEntry("ndfs", "NDFS", NDFS, ("regression_weight", "sparsity")),
            SelectorEntry("rufs", "RUFS", RUFS, ("regression_weight", "sparsity", "smoothness"), scale="minmax"),
            SelectorEntry("rsfs", "RSFS", RSFS, ("regression_weight", "sparsity", "outlier_cost")),
            SelectorEntry("snfs", "SNFS", SNFS),
            SelectorEntry("lufs", "LUFS", LUFS, ("community_weight", "sparsity", "ridge")),
            SelectorEntry("gfs", "GFS", GFS, ("sparsity", "ridge"), scale="minmax"),
            SelectorEntry("spop", "SPOP", SPOP, scale="minmax"),
            SelectorEntry("ppop", "PPOP", PPOP, scale="minmax"),
            SelectorEntry("mmpop", "MMPOP", MMPOP, scale="minmax"),
            SelectorEntry("mvfs", "MVFS", MVFS, ("regression_weight", "sparsity")),
            SelectorEntry("mvufs", "MVUFS", MVUFS, ("regression_weight", "sparsity", "smoothness"), scale="minmax"),
            SelectorEntry("cdma", "CDMA-FS", CDMAFS),
            SelectorEntry("sidefs", "SideFS", SideFS, ("sparsity",)),
        )
    }
)

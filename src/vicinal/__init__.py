"""Sparse, local features from neighbourhoods, so that a linear model does what used to need a kernel machine."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .cluster import LocalSpectralClustering, SpectralFeatures
    from .expand import (
        GaussianProjection,
        HashedProjection,
        HermiteMap,
        KernelPerceptron,
        OnlinePerceptron,
        PolynomialMap,
        RandomFourierFeatures,
        RBFMap,
        SubsetProductMap,
    )
    from .learned import (
        DenoisingAutoencoder,
        GraphSmoothing,
        KMeansFeatures,
        LearnedKernelFeatures,
        NeuralKernel,
        NeuralReduction,
        PivotMap,
        RankBoost,
        RankBoostMap,
        StackedDenoisingAutoencoder,
    )
    from .link import LINE, NRCL, AdamicAdar, AttributeCosine, DeepWalk, Katz, LinkRanking
    from .local import RULLS, ForestCells, ProjectedLandmarks, RandLocal, RobustPCA, SampledLandmarks
    from .model import LocalClassifier, LocalLinearClassifier, LocalLinearRegressor, LocalRegressor
    from .outlier import LocalOutlierDetector, NeighborOutlierDetector
    from .select import (
        CDMAFS,
        GFS,
        LUFS,
        MCFS,
        MMPOP,
        MVFS,
        MVUFS,
        NDFS,
        PPOP,
        RSFS,
        RUFS,
        SNFS,
        SPEC,
        SPOP,
        UDFS,
        LaplacianScore,
        MaximumVariance,
        SideFS,
    )

    __version__: str

__all__ = [
    "CDMAFS",
    "GFS",
    "LINE",
    "LUFS",
    "MCFS",
    "MMPOP",
    "MVFS",
    "MVUFS",
    "NDFS",
    "NRCL",
    "PPOP",
    "RSFS",
    "RUFS",
    "RULLS",
    "SNFS",
    "SPEC",
    "SPOP",
    "UDFS",
    "AdamicAdar",
    "AttributeCosine",
    "DeepWalk",
    "DenoisingAutoencoder",
    "ForestCells",
    "GaussianProjection",
    "GraphSmoothing",
    "HashedProjection",
    "HermiteMap",
    "KMeansFeatures",
    "Katz",
    "KernelPerceptron",
    "LaplacianScore",
    "LearnedKernelFeatures",
    "LinkRanking",
    "LocalClassifier",
    "LocalLinearClassifier",
    "LocalLinearRegressor",
    "LocalOutlierDetector",
    "LocalRegressor",
    "LocalSpectralClustering",
    "MaximumVariance",
    "NeighborOutlierDetector",
    "NeuralKernel",
    "NeuralReduction",
    "OnlinePerceptron",
    "PivotMap",
    "PolynomialMap",
    "ProjectedLandmarks",
    "RBFMap",
    "RandLocal",
    "RandomFourierFeatures",
    "RankBoost",
    "RankBoostMap",
    "RobustPCA",
    "SampledLandmarks",
    "SideFS",
    "SpectralFeatures",
    "StackedDenoisingAutoencoder",
    "SubsetProductMap",
    "__version__",
]

# The modules that define the classes above.
_HOMES = ("local", "expand", "learned", "select", "link", "outlier", "model", "cluster")
_MODULES = (*_HOMES, "datasets", "experiments", "explain", "graphs", "metrics", "network", "report", "views")

if not TYPE_CHECKING:  # a type checker reads the imports above, and reports names that do not exist

    def __getattr__(name: str) -> Any:
        """Imports what is asked for, so that the command line can answer without loading scikit-learn."""
        if name == "__version__":
            from importlib.metadata import version

            value = version("vicinal")
        elif name in _MODULES:
            value = import_module(f".{name}", __name__)
        elif name in __all__:
            homes = (import_module(f".{home}", __name__) for home in _HOMES)
            value = next(getattr(home, name) for home in homes if hasattr(home, name))
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})

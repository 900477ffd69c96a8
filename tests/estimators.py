"""One small instance of every public estimator, and the variants that take other paths through the code."""

import importlib
import inspect
import pkgutil

from sklearn.base import BaseEstimator, is_classifier
from sklearn.svm import LinearSVC

import vicinal
from vicinal import (
    RULLS,
    ForestCells,
    LocalSpectralClustering,
    ProjectedLandmarks,
    RandLocal,
    RobustPCA,
    SampledLandmarks,
    SpectralFeatures,
)
from vicinal.expand import (
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
from vicinal.expand.kernels import Gaussian
from vicinal.learned import (
    DenoisingAutoencoder,
    GraphSmoothing,
    KMeansFeatures,
    LabelledOnly,
    LearnedKernelFeatures,
    NeuralKernel,
    NeuralReduction,
    PivotMap,
    RankBoost,
    RankBoostMap,
    StackedDenoisingAutoencoder,
)
from vicinal.link import LINE, NRCL, AdamicAdar, AttributeCosine, DeepWalk, Katz, LinkPredictor, LinkRanking
from vicinal.model import LocalClassifier, LocalLinearClassifier, LocalLinearRegressor, LocalRegressor
from vicinal.outlier import LocalOutlierDetector, NeighborOutlierDetector
from vicinal.select import (
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
    PerView,
    SideFS,
)

FEW_PARTS = [{"part": "local", "n_groups": 20, "n_neighbors": 3}, {"part": "columns"}]

ONE_OF_EACH = sorted(
    [
        RandLocal(n_groups=7),
        ForestCells(5),
        RULLS(4, n_neighborhood=5, n_nearest=2),
        ProjectedLandmarks(4, n_nearest=2),
        SampledLandmarks(4, n_nearest=2),
        RobustPCA(),
        RBFMap(),
        PolynomialMap(),
        SubsetProductMap(),
        HermiteMap(),
        OnlinePerceptron(),
        KernelPerceptron(),
        RandomFourierFeatures(10),
        GaussianProjection(n_components=1),
        HashedProjection(),
        DenoisingAutoencoder(n_epochs=2),
        StackedDenoisingAutoencoder(n_epochs=2),
        NeuralKernel((4,), n_epochs=5),
        NeuralReduction(4),
        RankBoost(n_rounds=20),
        RankBoostMap(RankBoost(n_rounds=20, random_state=0)),
        PivotMap(n_pivots=5, n_components=3),
        LearnedKernelFeatures(n_rounds=20, n_pivots=5, n_components=3),
        KMeansFeatures(10),
        LabelledOnly(RankBoost(n_rounds=20, random_state=0)),
        GraphSmoothing(RankBoost(n_rounds=20, random_state=0), n_neighbors=4, n_bits=64),
        SpectralFeatures(),
        LocalOutlierDetector(20),
        LocalClassifier(FEW_PARTS, random_state=0),
        LocalRegressor(FEW_PARTS, random_state=0),
        LocalLinearClassifier(tol=1e-20),
        LocalLinearRegressor(tol=1e-20),
        NeighborOutlierDetector(RandLocal(20, task="unsupervised", random_state=0)),
        LocalSpectralClustering(n_groups=20, n_starts=2),
        MaximumVariance(),
        LaplacianScore(),
        SPEC(),
        MCFS(),
        UDFS(n_clusters=2),
        NDFS(n_clusters=2, tol=0.01),
        RUFS(n_clusters=2, tol=0.01),
        RSFS(n_clusters=2, tol=0.01),
        MVFS(n_clusters=2, tol=0.01),
        MVUFS(n_clusters=2, tol=0.01),
        PerView(LaplacianScore()),
        SNFS(),
        GFS(),
        LUFS(n_clusters=2),
        SPOP(),
        PPOP(),
        MMPOP(),
        CDMAFS(),
        SideFS(),
        NRCL(3, n_epochs=3),
        LinkRanking(3, n_epochs=3),
        DeepWalk(4, n_walks=2, walk_length=5),
        LINE(4, n_samples=2),
        AttributeCosine(),
        AdamicAdar(),
        Katz(),
    ],
    key=lambda estimator: type(estimator).__name__,
)

VARIANTS = [
    LocalClassifier([{"part": "forest", "n_trees": 10}, {"part": "leaves", "n_trees": 10}], random_state=0),
    LocalRegressor([{"part": "boosted", "max_iter": 10}, {"part": "forest", "n_trees": 10}], random_state=0),
    LocalLinearRegressor(RandLocal(7, random_state=0), tol=0.1),
    LocalLinearRegressor(loss="huber", tol=1e-20),
    LocalLinearClassifier(RandLocal(7, random_state=0)),
    LocalLinearClassifier(ForestCells(6, random_state=0), random_state=0),
    LocalLinearClassifier(loss="hinge", class_weight="balanced", tol=0.99),
    LocalLinearClassifier(loss="logistic", tol=1e-20),
    NRCL(3, solver="lbfgs", loss="logistic", tol=0.01),
    LinkRanking(3, solver="lbfgs", tol=0.01, max_iter=2000),
    RandLocal(n_groups=5, n_neighbors=3, norm="l2", metric="manhattan"),
    RandLocal(n_groups=5, subspace="correlated", metric="cosine", exclude_self=False),
    RandLocal(n_groups=5, n_levels=2, n_neighbors=2),
    RandLocal(n_groups=5, values="soft", n_neighbors=3),
    RandLocal(n_groups=5, ranks=0.5, guide="forest"),
    RandLocal(n_groups=5, ranks=1.0),
    ForestCells(4, min_samples_leaf=1, max_features="sqrt"),
    RULLS(3, n_neighborhood=5, n_nearest=2, pca="robust", metric="manhattan"),
    RULLS(3, n_neighborhood=5, n_nearest=2, normalize=True, metric="cosine"),
    ProjectedLandmarks(3, n_components="auto", n_nearest=2),
    ProjectedLandmarks(3, n_components=1.0, n_nearest=1, metric="manhattan"),
    ProjectedLandmarks(3, n_levels=2, n_nearest=3),
    SampledLandmarks(3, n_columns=1, n_nearest=1, metric="cosine"),
    SampledLandmarks(3, n_levels=2, n_nearest=3),
    SampledLandmarks(3, n_landmarks="auto", n_nearest=2),
    RBFMap(gamma=0.5, n_components=3),
    PolynomialMap(3),
    PolynomialMap(3, interaction_only=True),
    HermiteMap(2, 0.5),
    HermiteMap(3, expansion="taylor"),
    OnlinePerceptron(n_passes=3, shuffle=True, average=True),
    KernelPerceptron(Gaussian(0.5), n_passes=3, shuffle=True, average=True),
    KernelPerceptron(budget=20),
    KernelPerceptron("precomputed"),
    RandomFourierFeatures(10, kernel="laplacian", gamma="median"),
    RandomFourierFeatures(10, frequencies="hadamard"),
    RandomFourierFeatures(10, frequencies="orthogonal"),
    GaussianProjection(epsilon=100.0, delta=0.5),
    HashedProjection(6, random_state=0),
    HashedProjection(5, n_blocks=1),
    HashedProjection(12, n_blocks=1, signed=False, random_state=0),
    DenoisingAutoencoder(n_components=3, corruption="gaussian", activation="tanh", n_epochs=2),
    NeuralKernel((4, 3), form="products", n_epochs=5),
    NeuralReduction(4, activation="tanh", validation_fraction=None),
    RankBoost(n_rounds=10, rankers="grids", n_first=3),
    RankBoost(n_rounds=10, target="grades"),
    RankBoostMap(RankBoost(n_rounds=10, rankers="grids", n_first=3, random_state=0)),
    RankBoostMap(RankBoost(n_rounds=10, random_state=0), axis_wise=True),
    PivotMap(n_pivots=5, pivots="k-means", whiten=True, n_components=None),
    PivotMap(RankBoostMap(RankBoost(n_rounds=10)), n_pivots=5, pivots="k-means++", whiten=True, projection="labels"),
    LearnedKernelFeatures("rankboost-grids", n_rounds=10, n_pivots=None, with_score=False),
    KMeansFeatures(3, gamma=0.01, batch_size=7, max_iter=5),
    LabelledOnly(),
    LabelledOnly(RankBoostMap(RankBoost(n_rounds=10, random_state=0))),
    GraphSmoothing(LinearSVC(), smoothness=2.0, n_neighbors=2, n_bits=30),
    SpectralFeatures(2),
    LocalSpectralClustering(2, map=RandLocal(20, norm="l2"), n_components=2, n_starts=2),
    LaplacianScore(weights="cosine"),
    SPEC(criterion="total", power=3),
    SPEC(criterion="leading"),
    MCFS(n_clusters=2, weights="binary", n_nonzero=2),
    SNFS(affinity="euclidean"),
    SNFS(affinity="cosine"),
    SNFS(0.5, n_neighbors=4, penalty="auto", random_state=0),
    PerView(RUFS(n_clusters=2, tol=0.01)),
    PerView(SNFS(), "auto"),
    CDMAFS("auto", penalty=0.1, unit_rows=False),
    PPOP(penalty="auto", average=False),
    MMPOP(penalty=0),
    MMPOP(solver="exact"),
    SideFS(link="distance", fit_intercept=False, n_components=2),
]


def expected_failures(estimator):
    """The checks that an estimator cannot pass, and why. scikit-learn leaves its own such classifiers out by name."""
    if isinstance(estimator, GraphSmoothing | LabelledOnly | NeuralReduction) and is_classifier(estimator):
        return {"check_classifiers_classes": "its labels -1 and 1 are those of one class and of unlabelled rows"}
    if isinstance(estimator, LocalClassifier | LocalRegressor):
        reason = "folds and anchors are drawn among rows, however often they stand there"
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if isinstance(estimator, LocalLinearClassifier | LocalLinearRegressor) and (
        estimator.features or estimator.tol > 0.5
    ):
        reason = (
            "its map draws anchors among rows, however often they stand there; a large gap leaves weights undecided"
        )
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    return {}


def public_modules():
    """Every module of vicinal that can be imported by a name without an underscore."""
    found = [vicinal]
    for part in pkgutil.walk_packages(vicinal.__path__, "vicinal."):
        if not any(name.startswith("_") for name in part.name.split(".")):
            found.append(importlib.import_module(part.name))
    return found


def looks_at_all_rows(model):
    """Whether it says nothing of other rows than those it was fitted to."""
    return isinstance(model, LinkPredictor) and not hasattr(model, "transform")


def public_classes():
    """The estimators among the public names, in the order of their names."""
    found = {
        value
        for module in public_modules()
        for name in getattr(module, "__all__", ())
        if inspect.isclass(value := getattr(module, name))
        and issubclass(value, BaseEstimator)
        and not inspect.isabstract(value)
    }
    return sorted(found, key=lambda kind: kind.__name__)

"""Methods that predict by themselves, classes or numbers: trees, neighbours, kernels, nets, and our own."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, QuantileTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from ..local import RandLocal
from ..model import LocalClassifier, LocalLinearClassifier, LocalRegressor
from ._method import Context, Grid, Method, Role

# The RandLocal paper's own grid (section 4.3).
BANDWIDTHS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
KERNEL_GRID: Grid = {"C": (1.0, 10.0, 100.0)}
QUANTILES = 500

_LEARNING_RATES: list[Grid] = [{"learning_rate": [0.05, 0.1, 0.2]}]
_COLUMNS_PER_SPLIT: list[Grid] = [{"max_features": ["sqrt", 0.3, 1.0]}]
# How many rounds, at most 500, is left to rows that it holds back.
_LEAVES_AND_RATES: list[Grid] = [{"max_leaf_nodes": [31, 127, 255], "learning_rate": [0.1, 0.2]}]
_FEWER_LEAVES: list[Grid] = [
    {"max_leaf_nodes": [8, 31, 127], "learning_rate": [0.03, 0.1], "l2_regularization": [0.0, 1.0]}
]
_BOOSTED: list[Grid] = [{"num_leaves": [7, 31, 127], "learning_rate": [0.03, 0.1], "n_estimators": [100, 400]}]
_LEAF_SIZES: list[Grid] = [{"max_features": ["sqrt", 0.3, 1.0], "min_samples_leaf": [1, 3]}]
_NEIGHBORS: list[Grid] = [{"n_neighbors": [1, 3, 5, 10], "weights": ["uniform", "distance"]}]
_NETS: list[Grid] = [
    {"hidden_layer_sizes": [(100,), (256, 128)], "alpha": [1e-4, 1e-2], "learning_rate_init": [0.001, 0.01]}
]


def bandwidths(to: Context) -> list[Grid]:
    """The paper's grid, and values around 1 / n_features, where the kernel is neither flat nor a spike."""
    around = (float(f"{factor / to.n_features:.3g}") for factor in (1.0, 3.0, 10.0, 30.0))
    return [{"gamma": sorted({*BANDWIDTHS, *around})}]


def _kernel_grid(to: Context) -> list[Grid]:
    return [{**KERNEL_GRID, **part} for part in bandwidths(to)]


def _of_ranks(to: Context) -> list[Grid]:
    widths = [float(f"{factor / to.n_features:.3g}") for factor in (0.1, 0.3, 1.0, 3.0, 10.0)]
    return [{"kernel__gamma": widths, "kernel__C": KERNEL_GRID["C"]}]


def _kernel_machine(to: Context) -> Any:
    return (SVC if to.n_classes else SVR)(cache_size=1000)


def _kernel_machine_on_ranks(to: Context) -> Any:
    ranks = QuantileTransformer(n_quantiles=min(QUANTILES, to.n_rows), random_state=to.seed)
    steps = {"dense": FunctionTransformer(validate=True), "ranks": ranks, "scale": StandardScaler()}
    return Pipeline([*steps.items(), ("kernel", _kernel_machine(to))])


def _lightgbm(to: Context) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if to.n_classes else LGBMRegressor
    return kind(n_jobs=to.threads, random_state=to.seed, verbose=-1)


def _boosting(to: Context, **given: Any) -> Any:
    kind = HistGradientBoostingClassifier if to.n_classes else HistGradientBoostingRegressor
    return kind(**given, random_state=to.seed)


def _boosting_with_rounds_by_rows_held_back(to: Context) -> Any:
    return _boosting(to, max_iter=500, early_stopping=True, n_iter_no_change=20)


def _extra_trees(to: Context, n_trees: int = 100) -> Any:
    return (ExtraTreesClassifier if to.n_classes else ExtraTreesRegressor)(n_estimators=n_trees, random_state=to.seed)


def _random_forest(to: Context) -> Any:
    return (RandomForestClassifier if to.n_classes else RandomForestRegressor)(n_estimators=100, random_state=to.seed)


def _nearest_rows(to: Context) -> Any:
    return (KNeighborsClassifier if to.n_classes else KNeighborsRegressor)(n_jobs=to.threads)


def _net(to: Context) -> Any:
    kind = MLPClassifier if to.n_classes else MLPRegressor
    return kind(early_stopping=True, n_iter_no_change=20, max_iter=300, random_state=to.seed)


def _local_model(to: Context) -> Any:
    return (LocalClassifier if to.n_classes else LocalRegressor)(
        budget="1m", image_shape=to.image_shape, random_state=to.seed, n_jobs=to.threads
    )


def _growing_cells(to: Context) -> Any:
    # Predictions on local features of large tables have settled at this gap.
    return LocalLinearClassifier(
        RandLocal(to.n_groups, n_anchors="auto", random_state=to.seed, n_jobs=to.threads),
        tol=0.1,
        random_state=to.seed,
        n_jobs=to.threads,
    )


def _cells(to: Context) -> list[Grid]:
    """Anchors per group that speak for a row, and what share of the columns groups see."""
    ranges = [None, (0.1, 0.5), (0.4, 1.0)]
    return [{"features__n_neighbors": [1, 3], "features__feature_range": ranges, "C": [1.0, 10.0]}]


def _model(name: str, label: str, make: Any, grid: Any = None, **more: Any) -> Method:
    """A method that predicts classes or, of tables with numbers, these; its grid is a list, or made from a context."""
    more = {"predicts_numbers": True, **more}
    made = grid if callable(grid) else lambda to: grid or [{}]
    return Method(name, label, Role.MODEL, make, grid=made, **more)


MODELS: tuple[Method, ...] = (
    _model("boosting", "gradient boosting", _boosting, _LEARNING_RATES),
    _model("lightgbm", "LightGBM", _lightgbm, _LEARNING_RATES, needs="lightgbm"),
    _model("lightgbm-tuned", "LightGBM, tuned", _lightgbm, _BOOSTED, needs="lightgbm"),
    _model("boosting-tuned", "gradient boosting, tuned", _boosting_with_rounds_by_rows_held_back, _LEAVES_AND_RATES),
    _model("boosting-small", "gradient boosting, tuned", _boosting_with_rounds_by_rows_held_back, _FEWER_LEAVES),
    _model("extra-trees", "extra trees", _extra_trees, _COLUMNS_PER_SPLIT),
    _model("extra-trees-tuned", "extra trees, tuned", lambda to: _extra_trees(to, 300), _LEAF_SIZES),
    _model("random-forest", "random forest", _random_forest, _COLUMNS_PER_SPLIT),
    _model("nearest-rows", "k nearest rows", _nearest_rows, _NEIGHBORS),
    _model("rbf-svm", "RBF kernel SVM", _kernel_machine, _kernel_grid),
    _model("rbf-svm-ranks", "RBF kernel SVM on ranks", _kernel_machine_on_ranks, _of_ranks),
    _model("net", "neural network", _net, _NETS),
    _model(
        "logistic",
        "logistic regression",
        lambda to: LogisticRegression(max_iter=1000),
        [{"C": [0.01, 0.1, 1.0, 10.0, 100.0]}],
        predicts_numbers=False,
    ),
    _model("randlocal-growing", "RandLocal, cells that grow", _growing_cells, _cells, predicts_numbers=False),
    _model("local-model", "local model", _local_model),
)

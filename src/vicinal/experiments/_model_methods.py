"""Methods that predict by themselves: trees, neighbours, and the linear model on codes of local features."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from ..local import RandLocal
from ..model import LocalLinearClassifier
from ._method import Context, Grid, Method, Role

_LEARNING_RATES: list[Grid] = [{"learning_rate": [0.05, 0.1, 0.2]}]
_COLUMNS_PER_SPLIT: list[Grid] = [{"max_features": ["sqrt", 0.3, 1.0]}]
# How many rounds, at most 500, is left to rows that it holds back.
_LEAVES_AND_RATES: list[Grid] = [{"max_leaf_nodes": [31, 127, 255], "learning_rate": [0.1, 0.2]}]


def _lightgbm(to: Context) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=to.threads, random_state=to.seed, verbose=-1)


def _forest(kind: type) -> Any:
    return lambda to: kind(n_estimators=100, random_state=to.seed)


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


MODELS: tuple[Method, ...] = (
    Method(
        "boosting",
        "gradient boosting",
        Role.MODEL,
        lambda to: HistGradientBoostingClassifier(random_state=to.seed),
        grid=lambda to: _LEARNING_RATES,
    ),
    Method("lightgbm", "LightGBM", Role.MODEL, _lightgbm, grid=lambda to: _LEARNING_RATES, needs="lightgbm"),
    Method(
        "boosting-tuned",
        "gradient boosting, tuned",
        Role.MODEL,
        lambda to: HistGradientBoostingClassifier(
            max_iter=500, early_stopping=True, n_iter_no_change=20, random_state=to.seed
        ),
        grid=lambda to: _LEAVES_AND_RATES,
    ),
    Method("extra-trees", "extra trees", Role.MODEL, _forest(ExtraTreesClassifier), grid=lambda to: _COLUMNS_PER_SPLIT),
    Method(
        "random-forest",
        "random forest",
        Role.MODEL,
        _forest(RandomForestClassifier),
        grid=lambda to: _COLUMNS_PER_SPLIT,
    ),
    Method(
        "nearest-rows",
        "k nearest rows",
        Role.MODEL,
        lambda to: KNeighborsClassifier(n_jobs=to.threads),
        grid=lambda to: [{"n_neighbors": [1, 3, 5, 10], "weights": ["uniform", "distance"]}],
    ),
    Method("randlocal-growing", "RandLocal, cells that grow", Role.MODEL, _growing_cells, grid=_cells),
)

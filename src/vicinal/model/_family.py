"""The family of parts that a local model is made of: their settings, as plain dictionaries, and their estimators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline

from .._calls import n_threads
from .._validation import Matrix, check_choice, suggest
from ..local import ForestCells, RandLocal
from ._classifier import LocalLinearClassifier
from ._maps import ColumnsAndRanks, KernelAtRows
from ._regressor import LocalLinearRegressor

Settings = dict[str, Any]

TOLERANCE = 0.1  # of linear parts: their scores have settled at this gap
MOST_PASSES = 200
FEW_TO_STOP_BY = 20  # rows of a class below which boosting holds none back to see when to stop

DEFAULTS: dict[str, Settings] = {
    "local": {
        "n_groups": 150,
        "n_neighbors": 10,
        "ranks": 0.0,
        "guide": 0.0,
        "feature_range": None,
        "n_anchors": "auto",
        "metric": "euclidean",
        "subspace": "random",
        "C": 1.0,
    },
    "columns": {"ranks": True, "C": 1.0},
    "kernel": {"n_rows": 2000, "sharpness": 1.0, "C": 10.0},
    "leaves": {"n_trees": 150, "max_features": 0.5, "min_samples_leaf": 2, "C": 1.0},
    "forest": {"n_trees": 150, "max_features": 0.5, "min_samples_leaf": 1},
    "boosted": {"learning_rate": 0.1, "max_leaf_nodes": 31, "max_iter": 300},
}
LINEAR = ("local", "columns", "leaves", "kernel")
DENSE = ("columns", "kernel")  # whose features are no cells


def part_defaults(part: str) -> Settings:
    """The settings that a part of `LocalClassifier` has where it leaves them open.

    Parameters
    ----------
    part : {"local", "columns", "kernel", "leaves", "forest", "boosted"}
        The kind of part.

    Returns
    -------
    dict

    Examples
    --------
    >>> from vicinal.model import part_defaults
    >>> part_defaults("forest")
    {'n_trees': 150, 'max_features': 0.5, 'min_samples_leaf': 1}
    """
    return dict(DEFAULTS[part])


def checked_family(family: Any) -> tuple[str, ...]:
    """The kinds of parts that may be chosen."""
    if family is None:
        return tuple(DEFAULTS)
    if isinstance(family, str) or not len(family):
        raise ValueError(f"family must be a list of kinds of parts, or None for all; got {family!r}.")
    for part in family:
        check_choice("Each kind in family", part, tuple(DEFAULTS))
    return tuple(family)


def completed(settings: Mapping[str, Any]) -> Settings:
    """Settings with the defaults of their part for what they leave open."""
    if not isinstance(settings, Mapping):
        raise ValueError(f"Each of parts is a dictionary such as {{'part': 'local'}}; got {settings!r}.")
    given = dict(settings)
    part = given.pop("part", None)
    if part not in DEFAULTS:
        raise ValueError(f"Each of parts needs a 'part', one of {', '.join(map(repr, DEFAULTS))}; got {part!r}.")
    known = {**DEFAULTS[part], "seed": 0, "weight": None, "bias": 0.0}
    for name in given:
        if name not in known:
            raise ValueError(f"A part {part!r} has no setting {name!r}; {suggest(name, known)}")
    return {"part": part, **known, **given}


def reads_labels(settings: Settings) -> bool:
    """Whether more than the linear model after the map depends on labels."""
    return settings["part"] not in ("local", *DENSE) or settings.get("guide", 0) > 0


def make_map(settings: Settings, useful: NDArray[np.float64] | None, image_shape: Any) -> Any:
    """The map of a linear part, not fitted; `useful` are importances of columns for guided groups."""
    part, seed = settings["part"], settings["seed"]
    if part == "columns":
        return ColumnsAndRanks(ranks=settings["ranks"])
    if part == "kernel":
        return KernelAtRows(settings["n_rows"], sharpness=settings["sharpness"], random_state=seed)
    if part == "leaves":
        of_trees = ("n_trees", "max_features", "min_samples_leaf")
        return ForestCells(**{name: settings[name] for name in of_trees}, random_state=seed)
    guide = None
    if settings["guide"] > 0:
        guide = np.maximum(useful, 0) ** settings["guide"] if useful is not None and np.any(useful > 0) else None
    names = ("n_groups", "n_neighbors", "ranks", "feature_range", "n_anchors", "metric", "subspace")
    return RandLocal(
        **{name: settings[name] for name in names},
        values="soft" if settings["n_neighbors"] > 1 else "nearness",
        guide=guide,
        image_shape=image_shape if settings["subspace"] == "image" else None,
        random_state=seed,
    )


def make_model(settings: Settings, is_number: bool, useful: Any, image_shape: Any, counts: NDArray) -> Any:
    """The estimator of a part, not fitted. `counts` are rows per class, or of all rows."""
    part, seed = settings["part"], settings["seed"]
    if part in LINEAR:
        kind = LocalLinearRegressor if is_number else LocalLinearClassifier
        given = {"C": settings["C"], "tol": TOLERANCE, "max_iter": MOST_PASSES, "random_state": seed}
        map_ = make_map(settings, useful, image_shape)
        return make_pipeline(map_, kind(**given)) if part in DENSE else kind(map_, **given)
    if part == "forest":
        of_trees = {name: settings[name] for name in ("max_features", "min_samples_leaf")}
        forest = ExtraTreesRegressor if is_number else ExtraTreesClassifier
        return forest(settings["n_trees"], **of_trees, random_state=seed, n_jobs=n_threads(None))
    boosted = HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    return boosted(
        learning_rate=settings["learning_rate"],
        max_leaf_nodes=settings["max_leaf_nodes"],
        max_iter=settings["max_iter"] if counts.min() >= FEW_TO_STOP_BY else min(100, settings["max_iter"]),
        early_stopping=bool(counts.min() >= FEW_TO_STOP_BY),
        n_iter_no_change=20,
        random_state=seed,
    )


def scores_of(model: Any, X: Matrix, n_classes: int) -> NDArray[np.float64]:
    """Scores as blends add them up: of numbers the predictions, of two classes one for the second, or one for each.

    Classes are numbers from 0; one that a model has not seen gets its lowest score.
    """
    if n_classes == 0:
        return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)
    if hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        found = np.column_stack([-found, found]) if found.ndim == 1 else found
    else:
        found = model.predict_proba(X)
    return as_outputs(found, model.classes_, n_classes)


def as_outputs(by_class: NDArray[np.float64], classes: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """A column for each class, or for the second of two, from columns for the classes that a model knows."""
    if len(classes) < n_classes:
        full = np.tile(by_class.min(axis=1, keepdims=True), (1, n_classes))
        full[:, classes.astype(np.intp)] = by_class
        by_class = full
    if n_classes == 2:
        return (by_class[:, 1:] - by_class[:, :1]) / 2
    return by_class - by_class.mean(axis=1, keepdims=True)

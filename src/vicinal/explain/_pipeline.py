"""A pipeline taken apart: what prepares rows, the local map, and what comes after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._preparation import is_frame
from .._seen_columns import seen_by
from .._validation import Matrix
from .._words import listed
from ..outlier import LocalOutlierDetector, NeighborOutlierDetector
from ._groups import IN_PROJECTIONS, MAPS, LocalGroups


@dataclass(frozen=True)
class Parts:
    """Fitted steps: those before the local map, the map, those between it and the model, and the model, if any."""

    before: list[Any]
    map: Any
    between: list[Any]
    model: Any | None

    @property
    def groups(self) -> LocalGroups:
        return LocalGroups.of(self.map)

    @property
    def first(self) -> Any:
        return next((step for step in self.before if hasattr(step, "n_features_in_")), self.map)

    def mapped(self, X: Any) -> tuple[Matrix, Any]:
        """Rows as the map's groups see them, and what it makes of them."""
        for step in self.before:
            X = step.transform(X)
        return seen_by(self.map, X.tocsr() if sp.issparse(X) else np.asarray(X)), self.map.transform(X)


def taken_apart(pipeline: Any) -> Parts:
    """The parts of a fitted pipeline, or of a fitted map alone; pipelines within pipelines are looked into."""
    steps = _steps(pipeline)
    place = next((place for place, step in enumerate(steps) if isinstance(step, (*MAPS, *IN_PROJECTIONS))), None)
    if place is None:
        names = listed([type(step).__name__ for step in steps], most=6)
        raise ValueError(
            f"There is no local map to explain by: a RandLocal or SampledLandmarks is needed, and this is {names}."
        )
    for step in steps:
        _check_fitted(step)
    LocalGroups.of(steps[place])
    after = steps[place + 1 :]
    return Parts(steps[:place], steps[place], after[:-1], after[-1] if after else None)


def last_step(model: Any) -> Any:
    """The last step that does anything; None where there is none."""
    return next(reversed(_steps(model)), None)


def detector_apart(model: Any) -> tuple[list[Any], LocalOutlierDetector]:
    """The fitted steps before a detector, and the detector, which is the last step."""
    steps = _steps(model)
    detector = next(reversed(steps), None)
    if isinstance(detector, NeighborOutlierDetector):
        raise ValueError(
            "NeighborOutlierDetector measures distances between features of rows, in which no column has a share of "
            "its own, so there is nothing to explain them by; use LocalOutlierDetector."
        )
    if not isinstance(detector, LocalOutlierDetector):
        raise ValueError(f"The last step must be a LocalOutlierDetector; it is {type(detector).__name__}.")
    for step in steps:
        _check_fitted(step)
    return steps[:-1], detector


def _steps(model: Any) -> list[Any]:
    model = getattr(model, "best_estimator_", model)  # of a search over parameters
    if not isinstance(model, Pipeline):
        return [] if model is None or isinstance(model, str) else [model]  # "passthrough" does nothing
    return [inner for _, step in model.steps for inner in _steps(step)]


def _check_fitted(step: Any) -> None:
    try:
        check_is_fitted(step)
    except NotFittedError:
        raise NotFittedError(f"The {type(step).__name__} is not fitted yet; call fit before explain.") from None
    except TypeError:
        raise ValueError(f"explain takes a pipeline of fitted estimators; {step!r} is none.") from None


def as_rows(X: Any, first: Any) -> Any:
    """One row or several as a table with the columns that the first step was fitted on, in their order."""
    if not is_frame(X) and hasattr(X, "to_frame") and hasattr(X, "index"):  # a row of a pandas frame
        X = X.to_frame().T.infer_objects()
    if is_frame(X):
        names = getattr(first, "feature_names_in_", None)
        if names is not None:
            lacking = [str(name) for name in names if name not in X.columns]
            if lacking:
                raise ValueError(f"X lacks columns that the pipeline was fitted on: {listed(lacking, most=5)}.")
            X = X[list(names)]
    elif not sp.issparse(X):
        X = np.asarray(X)
        X = X[None] if X.ndim == 1 else X
        if X.ndim != 2:
            raise ValueError(f"X must be one row or a table of rows; it has {X.ndim} dimensions.")
    if X.shape[1] != first.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} columns; the pipeline was fitted on {first.n_features_in_}.")
    if X.shape[0] == 0:
        raise ValueError("X has no rows to explain.")
    return X

"""A linear model's scores as sums over features, also through linear steps between the features and the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

_TOLERANCE = 1e-3  # of single precision, by far; another form of the score misses by more


@dataclass(frozen=True)
class LinearScores:
    """Scores of some rows: ``features @ weights.T + intercepts``, one column per class or output.

    `classes` are None for regression; a model of two classes has one column, whose negative speaks for the first class.
    """

    features: sp.csr_array
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    classes: NDArray[Any] | None
    predictions: NDArray[Any]

    def decision_values(self) -> NDArray[np.float64]:
        return self.features @ self.weights.T + self.intercepts


def linear_scores(model: Any, between: Sequence[Any], features: Any) -> LinearScores:
    """The scores of a fitted model whose input is what the steps make of the features."""
    given: Any = features
    for step in between:
        given = step.transform(given)
    weights, intercepts = _own_weights(model)
    last = max((place + 1 for place, step in enumerate(between) if isinstance(step, Normalizer)), default=0)
    for step in between[:last]:
        if not isinstance(step, Normalizer) and not _only_scales(step):
            raise ValueError(_not_linear(step))
        features = step.transform(features)
    for step in reversed(between[last:]):
        weights, intercepts = _before(step, weights, intercepts)
    features = sp.csr_array(features)
    predictions = np.asarray(model.predict(given))
    classes = model.classes_ if is_classifier(model) else None
    if classes is not None and predictions.ndim > 1:
        raise ValueError(f"This {type(model).__name__} gives a row several labels; explain is for one class per row.")
    scores = LinearScores(features, weights, intercepts, classes, predictions)
    _check_form(scores, model, given)
    return scores


def _own_weights(model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    name = type(model).__name__
    try:
        weights, intercepts = model.coef_, model.intercept_
    except AttributeError:
        raise ValueError(
            f"{name} is not a linear model, so its scores are no sums over anchors; explain needs one with coef_ and "
            "intercept_, such as LinearSVC, LogisticRegression or Ridge."
        ) from None
    weights = np.atleast_2d(weights.toarray() if sp.issparse(weights) else weights).astype(np.float64)
    return weights, np.broadcast_to(np.asarray(intercepts, np.float64), weights.shape[:1]).copy()


def _only_scales(step: Any) -> bool:
    return isinstance(step, MaxAbsScaler) or (isinstance(step, StandardScaler) and not step.with_mean)


def _before(
    step: Any, weights: NDArray[np.float64], intercepts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and intercepts of what goes into a linear step, given those of what comes out."""
    if isinstance(step, MaxAbsScaler):
        return weights / step.scale_, intercepts
    if isinstance(step, StandardScaler):
        if step.with_std:
            weights = weights / step.scale_
        return weights, intercepts - weights @ step.mean_ if step.with_mean else intercepts
    if isinstance(step, SelectorMixin):
        support = step.get_support()
        wider = np.zeros((len(weights), len(support)))
        wider[:, support] = weights
        return wider, intercepts
    if isinstance(step, TruncatedSVD):
        return weights @ step.components_, intercepts
    if isinstance(step, PCA):
        if step.whiten:
            weights = weights / np.sqrt(step.explained_variance_)
        weights = weights @ step.components_
        return weights, intercepts - weights @ step.mean_
    raise ValueError(_not_linear(step))


def _not_linear(step: Any) -> str:
    return (
        f"{type(step).__name__} stands between the map and the model, and explain cannot tell what it makes of an "
        "anchor's share; of such steps it knows MaxAbsScaler, StandardScaler, Normalizer, selections of features, "
        "TruncatedSVD and PCA."
    )


def _check_form(scores: LinearScores, model: Any, given: Any) -> None:
    """Refuses models with weights whose scores are another function of them, such as votes of pairs of classes."""
    told = np.asarray(model.decision_function(given) if hasattr(model, "decision_function") else scores.predictions)
    values = scores.decision_values()
    told = told.reshape(len(values), -1)
    sizes = abs(scores.features) @ abs(scores.weights).T + abs(scores.intercepts)
    if told.shape != values.shape or (abs(told - values) > _TOLERANCE * sizes + 1e-12).any():
        raise ValueError(
            f"The scores of {type(model).__name__} are not its coef_ times the features plus its intercept_, so they "
            "are no sums over anchors; explain needs a linear model, such as LinearSVC, LogisticRegression or Ridge."
        )


@dataclass(frozen=True)
class ChosenScores:
    """Per row the score of one class (or output): what each feature adds to it, and the intercept."""

    targets: NDArray[Any] | None
    contributions: sp.csr_array
    intercepts: NDArray[np.float64]


def chosen_scores(scores: LinearScores, class_: Any) -> ChosenScores:
    """The score of the class that is asked for, or of the predicted one."""
    n_rows = scores.features.shape[0]
    places, signs = np.zeros(n_rows, np.intp), np.ones(n_rows)
    targets: NDArray[Any] | None = None
    if scores.classes is None:
        places[:] = _chosen_output(class_, len(scores.weights))
        if len(scores.weights) > 1:
            targets = places.copy()
    else:
        chosen = _chosen_classes(scores, class_)
        targets = scores.classes[chosen]
        if len(scores.weights) == 1:
            signs = np.where(chosen == 1, 1.0, -1.0)
        else:
            places = chosen
    rows = np.repeat(np.arange(n_rows), np.diff(scores.features.indptr))
    contributions = scores.features.astype(np.float64)
    contributions.data = contributions.data * scores.weights[places[rows], contributions.indices] * signs[rows]
    return ChosenScores(targets, contributions, scores.intercepts[places] * signs)


def _chosen_output(class_: Any, n_outputs: int) -> int:
    if n_outputs == 1:
        if class_ is not None:
            raise ValueError("class_ is for classifiers; this model predicts numbers.")
        return 0
    if not isinstance(class_, int | np.integer) or not 0 <= class_ < n_outputs:
        raise ValueError(
            f"The model predicts {n_outputs} numbers; class_ must say which, from 0 to {n_outputs - 1}; got {class_!r}."
        )
    return int(class_)


def _chosen_classes(scores: LinearScores, class_: Any) -> NDArray[np.intp]:
    assert scores.classes is not None
    known = scores.classes.tolist()
    if class_ is None:
        return np.searchsorted(scores.classes, scores.predictions)
    if class_ not in known:
        shown = ", ".join(map(repr, known[:8])) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
        raise ValueError(f"class_={class_!r} is none of the model's classes, which are {shown}.")
    return np.full(scores.features.shape[0], known.index(class_))

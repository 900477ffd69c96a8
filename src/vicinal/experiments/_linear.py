"""Features before a linear SVM, and models of their own: parameters chosen by cross-validation, fits, times."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from .._sample import Sample
from ..model import LocalLinearClassifier
from ._method import Context, Role
from ._work import Work, fit, fit_transform, recording_warnings, show_again, stratified_sample


@dataclass(frozen=True)
class Tuning:
    """How parameters are chosen: folds, the most rows, and the score of a fitted model on features and targets.

    `groups` gives rows a number each, of which every fold has its share: their classes, if nothing else is said. With
    a limit of seconds candidates are tried in a random order until time is up, one at least.
    """

    folds: int
    most_rows: int
    score: Callable[[Any, Any, NDArray], float]
    groups: Callable[[NDArray], NDArray] = lambda y: y
    seconds: float | None = None


def choose(work: Work, rows: Sample, tuning: Tuning) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters by cross-validation: first the map's, before a model in the middle of its grid, then the model's."""
    to = work.context_for(rows.X)
    candidates, model_candidates = work.method.candidates(to), work.method.model_candidates(to)
    assert rows.y is not None
    if len(rows) > tuning.most_rows:
        rows = rows[stratified_sample(tuning.groups(rows.y), tuning.most_rows, to.seed, at_least=tuning.folds)]
    end = time.monotonic() + (np.inf if tuning.seconds is None else tuning.seconds)
    if tuning.seconds is not None:
        rng = np.random.default_rng(to.seed)
        candidates = [candidates[place] for place in rng.permutation(len(candidates))]
        model_candidates = [model_candidates[place] for place in rng.permutation(len(model_candidates))]
    if len(candidates) > 1:
        middle = model_candidates[len(model_candidates) // 2 : len(model_candidates) // 2 + 1]
        candidates = [candidates[_scores(work, to, tuning, candidates, middle, rows, end)[:, 0].argmax()]]
    if len(model_candidates) > 1:
        scores = _scores(work, to, tuning, candidates, model_candidates, rows, end)
        model_candidates = [model_candidates[scores[0].argmax()]]
    return candidates[0], model_candidates[0]


def _scores(
    work: Work,
    to: Context,
    tuning: Tuning,
    candidates: list[dict[str, Any]],
    model_candidates: list[dict[str, Any]],
    rows: Sample,
    end: float,
) -> NDArray[np.float64]:
    """Summed score of every map before every model, minus infinity of those there was no time for."""
    assert rows.y is not None
    groups = tuning.groups(rows.y)
    check_folds(groups, tuning.folds, "to choose parameters by cross-validation inside the training part")
    splitter = StratifiedKFold(tuning.folds, shuffle=True, random_state=to.seed)
    parts = [(rows[training], rows[test]) for training, test in splitter.split(np.zeros(len(rows)), groups)]
    scores = np.full((len(candidates), len(model_candidates)), -np.inf)
    for i, parameters in enumerate(candidates):
        made = [features(work, parameters, part, test_part)[:2] for part, test_part in parts]
        for j, model_parameters in enumerate(model_candidates):
            if (i or j) and time.monotonic() > end:
                return scores
            scores[i, j] = 0.0
            for (F, F_test), (part, test_part) in zip(made, parts, strict=True):
                model = work.method.build_model(replace(to, n_rows=F.shape[0]), model_parameters)
                fitted, _ = fit_model(model, F, part.y, to.threads)
                assert test_part.y is not None
                scores[i, j] += tuning.score(fitted, F_test, test_part.y)
    return scores


def check_folds(y: NDArray, folds: int, purpose: str = "to cross-validate") -> None:
    values, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        rarest, count = values[counts.argmin()], int(counts.min())
        raise ValueError(
            f"Class {rarest.item()!r} has {count} row{'s' * (count != 1)}; {folds} are needed {purpose} in {folds} "
            "folds. Merge or remove it, or take fewer folds."
        )


def features(
    work: Work, parameters: Mapping[str, Any], rows: Sample, test_rows: Sample, fitted_on: Sample | None = None
) -> tuple[Any, Any, float]:
    """Features of both parts, divided by the training rows' mean length, so that one grid of C serves all maps.

    The map is given the labels of the training part, or those of other rows that it is to be fitted on; a map may
    ignore them.
    """
    F, F_test, seconds = rows.X, test_rows.X, 0.0
    if work.method.has_map:
        start = time.perf_counter()
        of = rows if fitted_on is None else fitted_on
        estimator = work.method.build(work.context_for(of.X), parameters)
        F = fit_transform(estimator, of, of.y) if of is rows else fit(estimator, of, of.y).transform(rows.X)
        F_test = estimator.transform(test_rows.X)
        seconds = time.perf_counter() - start
    elif work.method.role is Role.MODEL:
        return F, F_test, 0.0
    length = _mean_length(F)
    return F * (1 / length), F_test * (1 / length), seconds


def fit_model(model: Any, F: Any, y: NDArray | None, n_jobs: int) -> tuple[Any, bool]:
    """The fitted model, and whether its solver converged."""
    if isinstance(model, LinearSVC):
        model = _solver_of(model, F, n_jobs)
    fitted, caught = recording_warnings(lambda: model.fit(F, y))
    show_again(caught, but=ConvergenceWarning)
    return fitted, not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _solver_of(svm: LinearSVC, F: Any, n_jobs: int) -> Any:
    """Who solves a linear SVM soonest; its problem, and up to a tolerance its optimum, are the same for all.

    Of sparse rows that is our solver; of dense ones liblinear's primal one, where there are fewer columns than rows
    and the loss has a derivative, and else its dual one.
    """
    if not sp.issparse(F):
        return svm.set_params(dual=svm.loss == "hinge" or F.shape[0] < F.shape[1])
    shared = ("loss", "C", "fit_intercept", "intercept_scaling", "class_weight", "random_state")
    return LocalLinearClassifier(**{name: getattr(svm, name) for name in shared}, tol=svm.tol, n_jobs=n_jobs)


def _mean_length(X: Any) -> float:
    squares = X.multiply(X) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1) if sp.issparse(X) else squares, dtype=np.float64))
    return float(lengths.mean()) or 1.0

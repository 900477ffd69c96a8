"""Parts of a local model on rows that they have not learned from: what reads labels is learned anew in each fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls import side_by_side
from .._forests import importances
from .._validation import Matrix
from ._base import coded_features
from ._coded_rows import CodedRows
from ._family import (
    DEFAULTS,
    DENSE,
    LINEAR,
    MOST_PASSES,
    TOLERANCE,
    Settings,
    as_outputs,
    make_map,
    make_model,
    reads_labels,
    scores_of,
)
from ._solver import Outputs, solve

ROWS_FOR_THREADS = 50_000

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to learn from, rows to predict


@dataclass(frozen=True)
class Problem:
    """Rows as parts see them, what is to be predicted, and what each row counts.

    Targets are numbers with a mean of 0 and a deviation of 1, or classes counted from 0, of which there are
    `n_classes`; it is 0 for numbers.
    """

    X: Matrix
    targets: NDArray[Any]
    weights: NDArray[np.float64]
    n_classes: int
    image_shape: tuple[int, ...] | None = None
    family: tuple[str, ...] = tuple(DEFAULTS)

    @property
    def is_number(self) -> bool:
        return self.n_classes == 0

    @property
    def n_outputs(self) -> int:
        return self.n_classes if self.n_classes > 2 else 1

    def take(self, rows: NDArray[np.intp]) -> Problem:
        """Some of the rows."""
        return replace(self, X=self.X[rows], targets=self.targets[rows], weights=self.weights[rows])

    def counts(self, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.int64]:
        """How many rows there are of each class that there is, or in all."""
        targets = self.targets[rows]
        return np.array([len(targets)]) if self.is_number else np.unique(targets, return_counts=True)[1]

    def fitted(self, settings: Settings, rows: NDArray[np.intp] | slice = slice(None)) -> Any:
        """The estimator of a part, fitted to these rows."""
        X, targets, given = self.X[rows], self.targets[rows], self.weights[rows]
        weights = None if (given == 1).all() else given  # quantiles with weights take boosting most of its time
        useful = self.useful(rows) if settings.get("guide", 0) > 0 else None
        model = make_model(settings, self.is_number, useful, self.image_shape, self.counts(rows))
        if settings["part"] in DENSE:
            return model.fit(X, targets, **{f"{model.steps[-1][0]}__sample_weight": weights})
        return model.fit(X, targets, sample_weight=weights)

    def all_fitted(self, parts: Sequence[Settings]) -> list[Any]:
        """The estimators of all parts; of few rows side by side, since threads would mostly wait for each other."""
        if len(self.targets) < ROWS_FOR_THREADS:
            return side_by_side(self.fitted, parts)
        return [self.fitted(part) for part in parts]

    def useful(self, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.float64]:
        """How useful columns are by the labels of these rows."""
        return importances(self.X[rows], self.targets[rows], np.random.RandomState(0), None)


def folds_of(problem: Problem, n_folds: int, rng: np.random.RandomState) -> list[Fold]:
    """Each class, or each range of numbers, spread evenly over the folds."""
    n_rows = len(problem.targets)
    shuffled = rng.permutation(n_rows)
    order = shuffled[np.argsort(problem.targets[shuffled], kind="stable")]
    fold = np.empty(n_rows, np.intp)
    fold[order] = np.arange(n_rows) % n_folds
    return [(np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(n_folds)]


class Trials:
    """Scores of parts on the rows of all folds' tests, fold after fold."""

    def __init__(self, problem: Problem, folds: Sequence[Fold]):
        self.problem, self.folds = problem, folds
        tested = np.concatenate([test for _, test in folds])
        self.targets, self.weights = problem.targets[tested], problem.weights[tested]
        self._useful: dict[int, NDArray[np.float64]] = {}

    def scores(self, settings: Settings, C_values: Sequence[float]) -> list[tuple[Settings, NDArray[np.float64]]]:
        """The settings with each value of C, where there is one, and scores by them."""
        if settings["part"] not in LINEAR:
            models = (self.problem.fitted(settings, train) for train, _ in self.folds)
            found = [
                scores_of(model, self.problem.X[test], self.problem.n_classes)
                for model, (_, test) in zip(models, self.folds, strict=True)
            ]
            return [(settings, np.concatenate(found))]
        everywhere = None if reads_labels(settings) else self._features(settings, None)
        by_fold = []
        for number, (train, test) in enumerate(self.folds):
            rows = self._features(settings, number) if everywhere is None else everywhere
            by_fold.append(self._path(rows, train, test, sorted(C_values), settings["seed"]))
        joined = [np.concatenate(parts) for parts in zip(*by_fold, strict=True)]
        return [({**settings, "C": C}, part) for C, part in zip(sorted(C_values), joined, strict=True)]

    def _features(self, settings: Settings, number: int | None) -> Matrix | CodedRows:
        """Features of all rows, by a map that knows the labels of a fold's training rows alone, or none."""
        problem = self.problem
        if number is None:
            map_ = make_map(settings, None, problem.image_shape).fit(problem.X)
        else:
            train = self.folds[number][0]
            if settings.get("guide", 0) > 0 and number not in self._useful:
                self._useful[number] = problem.useful(train)
            map_ = make_map(settings, self._useful.get(number), problem.image_shape)
            map_.fit(problem.X[train], problem.targets[train])
        if settings["part"] in DENSE:
            return map_.transform(problem.X)
        rows = coded_features(map_, problem.X)
        return rows.scaled(1 / np.sqrt(max(rows.mean_squared_length(), 1e-300)))

    def _path(
        self, rows: Matrix | CodedRows, train: NDArray, test: NDArray, C_values: Sequence[float], seed: int
    ) -> list[NDArray[np.float64]]:
        """Scores of test rows for each C, from the smallest on."""
        problem, labels = self.problem, self.problem.targets[train]
        classes, outputs = outputs_of(labels, problem.is_number)
        if isinstance(rows, CodedRows):
            learned, others = rows.take(train), rows.take(test).to_csr()
        else:
            learned, others = rows[train], rows[test]
        duals, found = None, []
        for place, C in enumerate(C_values):
            solved = solve(
                learned,
                outputs,
                problem.weights[train] * C,
                loss="huber" if problem.is_number else "squared_hinge",
                constant=1.0,
                tol=TOLERANCE,
                max_iter=MOST_PASSES,
                seed=seed,
                duals=None if duals is None else duals * duals.dtype.type(C / C_values[place - 1]),
            )
            duals = solved.duals
            by_class = others @ solved.coefficients[:, :-1].T + solved.coefficients[:, -1]
            if problem.is_number:
                found.append(by_class)
            else:
                by_class = np.column_stack([-by_class, by_class]) if len(classes) == 2 else by_class
                found.append(as_outputs(by_class, classes, problem.n_classes))
        return found


def outputs_of(targets: NDArray[Any], is_number: bool) -> tuple[NDArray[Any], Outputs]:
    """The classes that there are, and what the solver is asked for: of two classes the second alone."""
    if is_number:
        return np.zeros(0), Outputs(np.ones((2, 1)), np.ones(1), targets=targets.reshape(-1, 1).astype(np.float64))
    classes, places = np.unique(targets, return_inverse=True)
    counts, labels = np.bincount(places).astype(np.float64), places.astype(np.int32)
    if len(classes) == 2:
        return classes, Outputs(np.ones((2, 1)), counts[1:], labels=labels - np.int32(1))
    return classes, Outputs(np.ones((2, len(classes))), counts, labels=labels)

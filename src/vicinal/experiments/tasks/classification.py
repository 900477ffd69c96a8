"""Classification: features or models, chosen and fitted without the test part, scored on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from ..._page import Section
from ..._sample import Sample
from .._curves import over_time
from .._experiment import Experiment
from .._method import Context, Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._task import Task
from .._verdicts import cost_verdict
from .._work import Outcome, Work, fit_transform, nonzeros, readable, recording_warnings, show_again, stratified_sample

QUICK_FOLDS, QUICK_TUNING_ROWS = 2, 500

SCORES: dict[str, Callable[[NDArray, NDArray], float]] = {
    "accuracy": lambda y, predicted: float(np.mean(y == predicted)),
    "micro_f1": lambda y, predicted: f1_score(y, predicted, average="micro"),
    "macro_f1": lambda y, predicted: f1_score(y, predicted, average="macro"),
}


@dataclass(frozen=True)
class ClassificationOptions:
    """Folds of the cross-validation; parameters are chosen in `tuning_folds` folds of at most `tuning_rows` rows."""

    folds: int = 5
    tuning_rows: int = 3000
    tuning_folds: int = 3


@dataclass(frozen=True)
class ClassificationUse:
    """Rows that a method's parameters are chosen on, for single data sets."""

    tuning_rows: Mapping[str, int] = field(default_factory=dict)


class Classification(Task):
    name = "classification"
    metrics = (
        Metric("accuracy", "accuracy"),
        Metric("micro_f1", "micro-F1"),
        Metric("macro_f1", "macro-F1"),
    )
    Options = ClassificationOptions
    MethodOptions = ClassificationUse
    roles = (Role.COLUMNS, Role.MAP, Role.SELECTOR, Role.MODEL)
    reads_labels = True

    def folds(self, experiment: Experiment) -> int:
        return experiment.options.folds

    def least_rows_per_class(self, experiment: Experiment) -> int:
        return max(experiment.options.folds, 2 * experiment.options.tuning_folds)

    def quick_options(self, options: ClassificationOptions) -> ClassificationOptions:
        return ClassificationOptions(
            folds=min(options.folds, QUICK_FOLDS),
            tuning_rows=min(options.tuning_rows, QUICK_TUNING_ROWS),
            tuning_folds=min(options.tuning_folds, QUICK_FOLDS),
        )

    def quick_method_options(self, options: ClassificationUse) -> ClassificationUse:
        return ClassificationUse()

    def evaluate(self, work: Work) -> Outcome:
        """Trains on all parts but one and predicts that one; parameters are chosen on the training part alone."""
        outcome = Outcome()
        y = work.sample.y
        assert y is not None
        training, test = split_rows(work)
        rows, test_rows = work.sample[training], work.sample[test]
        preparation = work.preparation(work.sample.X)
        X, X_test = preparation.fit_transform(rows.X), preparation.transform(test_rows.X)
        X, X_test = readable(work, outcome, X, X_test)
        rows, test_rows = self._capped(work, outcome, rows.with_X(X)), test_rows.with_X(X_test)

        start = time.perf_counter()
        labelled = rows.labelled
        all_labelled = len(labelled) == len(rows)
        chosen, model_chosen = choose(work, rows if all_labelled else rows[labelled])
        outcome.tuning_seconds = time.perf_counter() - start
        F, F_test, outcome.feature_seconds = features(work, chosen, rows, test_rows)
        start = time.perf_counter()
        model = work.method.build_model(work.context_for(X), model_chosen)
        assert rows.y is not None
        takes_all = all_labelled or work.method.role is Role.MODEL
        if not fit_model(model, *((F, rows.y) if takes_all else (F[labelled], rows.y[labelled]))):
            outcome.note("the SVM stopped before it converged")
        predicted = model.predict(F_test)
        outcome.model_seconds = time.perf_counter() - start
        outcome.values = [
            (work.cell.fold, Measure(metric), SCORES[metric.name](y[test], predicted))
            for metric in work.experiment.metrics
        ]
        outcome.training_rows, outcome.test_rows = len(rows), len(test_rows)
        outcome.nonzeros_per_row = nonzeros(F_test) / F_test.shape[0]
        outcome.chosen = {**chosen, **model_chosen}
        return outcome

    def _capped(self, work: Work, outcome: Outcome, rows: Sample) -> Sample:
        if work.most_rows is None or len(rows) <= work.most_rows:
            return rows
        assert rows.y is not None
        keep = stratified_sample(rows.y, work.most_rows, work.context.seed, at_least=work.options.tuning_folds)
        outcome.note(f"fitted on {len(keep):,} of {len(rows):,} rows")
        return rows[keep]

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        return (
            (
                "Protocol",
                f"{options.folds}-fold cross-validation; parameters chosen by {options.tuning_folds}-fold "
                f"cross-validation on at most {options.tuning_rows:,} rows of the training part",
            ),
            ("Intervals and tests", "95 %, over folds, corrected for shared training rows (Nadeau and Bengio 2003)"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.options.folds} folds, {super().quick_size(experiment)}"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        if sizes_differ(experiment):
            return cost_verdict(experiment, summaries)
        return super().verdict(experiment, summaries)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        if sizes_differ(experiment):
            return (over_time(experiment, summaries), tables)
        return super().sections(experiment, summaries, tables)


def split_rows(work: Work) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The cell's training and test rows. Rows without a label are never tested on: methods that take them are fitted
    to them as well, others do not see them."""
    sample, folds = work.sample, work.options.folds
    assert sample.y is not None
    labelled = sample.labelled
    y = sample.y[labelled]
    check_folds(y, folds)
    parts = StratifiedKFold(folds, shuffle=True, random_state=work.context.seed).split(np.zeros(len(y)), y)
    training, test = next(part for number, part in enumerate(parts) if number == work.cell.fold)
    training, test = labelled[training], labelled[test]
    if work.method.takes_unlabelled and len(labelled) < len(sample):
        training = np.concatenate([training, np.setdiff1d(np.arange(len(sample)), labelled)])
    return training, test


def sizes_differ(experiment: Experiment) -> bool:
    """Whether methods vary different parameters, so that only what they cost compares them all."""
    return len({frozenset(spec.vary) for spec in experiment.methods if spec.vary}) > 1


def choose(work: Work, rows: Sample) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters by cross-validation: first the map's, before a model in the middle of its grid, then the model's."""
    to = work.context_for(rows.X)
    candidates, model_candidates = work.method.candidates(to), work.method.model_candidates(to)
    most = work.method_options.tuning_rows.get(work.cell.data, work.options.tuning_rows)
    assert rows.y is not None
    if len(rows) > most:
        rows = rows[stratified_sample(rows.y, most, to.seed, at_least=work.options.tuning_folds)]
    if len(candidates) > 1:
        middle = model_candidates[len(model_candidates) // 2 : len(model_candidates) // 2 + 1]
        candidates = [candidates[_scores(work, to, candidates, middle, rows)[:, 0].argmax()]]
    if len(model_candidates) > 1:
        model_candidates = [model_candidates[_scores(work, to, candidates, model_candidates, rows)[0].argmax()]]
    return candidates[0], model_candidates[0]


def _scores(
    work: Work, to: Context, candidates: list[dict[str, Any]], model_candidates: list[dict[str, Any]], rows: Sample
) -> NDArray[np.float64]:
    """Summed accuracy of every map before every model; each map is fitted once per fold."""
    scores = np.zeros((len(candidates), len(model_candidates)))
    assert rows.y is not None
    folds = work.options.tuning_folds
    check_folds(rows.y, folds, "to choose parameters by cross-validation inside the training part")
    parts = StratifiedKFold(folds, shuffle=True, random_state=to.seed)
    for training, test in parts.split(np.zeros(len(rows)), rows.y):
        part, test_part = rows[training], rows[test]
        for i, parameters in enumerate(candidates):
            F, F_test, _ = features(work, parameters, part, test_part)
            for j, model_parameters in enumerate(model_candidates):
                model = work.method.build_model(replace(to, n_rows=F.shape[0]), model_parameters)
                fit_model(model, F, part.y)
                scores[i, j] += model.score(F_test, test_part.y)
    return scores


def check_folds(y: NDArray, folds: int, purpose: str = "to cross-validate") -> None:
    values, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        rarest, count = values[counts.argmin()], int(counts.min())
        raise ValueError(
            f"Class {rarest.item()!r} has {count} row{'s' * (count != 1)}; {folds} are needed {purpose} in {folds} "
            "folds. Merge or remove it, or take fewer folds."
        )


def features(work: Work, parameters: Mapping[str, Any], rows: Sample, test_rows: Sample) -> tuple[Any, Any, float]:
    """Features of both parts, divided by the training rows' mean length, so that one grid of C serves all maps.

    The map is given the labels of the training part; a map may ignore them.
    """
    F, F_test, seconds = rows.X, test_rows.X, 0.0
    if work.method.has_map:
        start = time.perf_counter()
        estimator = work.method.build(work.context_for(rows.X), parameters)
        F = fit_transform(estimator, rows, rows.y)
        F_test = estimator.transform(test_rows.X)
        seconds = time.perf_counter() - start
    elif work.method.role is Role.MODEL:
        return F, F_test, 0.0
    length = _mean_length(F)
    return F * (1 / length), F_test * (1 / length), seconds


def fit_model(model: Any, F: Any, y: NDArray | None) -> bool:
    """Fits the model and returns whether its solver converged."""
    if isinstance(model, LinearSVC):
        # liblinear's primal solver is the faster one for few dense columns, its dual one for many sparse ones.
        model.set_params(dual=sp.issparse(F) or F.shape[0] < F.shape[1])
    _, caught = recording_warnings(lambda: model.fit(F, y))
    show_again(caught, but=ConvergenceWarning)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _mean_length(X: Any) -> float:
    squares = X.multiply(X) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1) if sp.issparse(X) else squares, dtype=np.float64))
    return float(lengths.mean()) or 1.0

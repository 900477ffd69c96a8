"""Classification: features or models, chosen and fitted without the test part, scored on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from ..._page import Section
from ..._sample import Sample
from .._curves import over_time
from .._experiment import Experiment
from .._linear import Tuning, check_folds, choose, features, fit_model
from .._method import Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._task import Task
from .._verdicts import cost_verdict
from .._work import Outcome, Work, nonzeros, readable, stratified_sample

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
        chosen, model_chosen = choose(work, rows if all_labelled else rows[labelled], tuning_of(work))
        outcome.tuning_seconds = time.perf_counter() - start
        F, F_test, outcome.feature_seconds = features(work, chosen, rows, test_rows)
        start = time.perf_counter()
        model = work.method.build_model(work.context_for(X), model_chosen)
        assert rows.y is not None
        takes_all = all_labelled or work.method.role is Role.MODEL
        learned_from = (F, rows.y) if takes_all else (F[labelled], rows.y[labelled])
        fitted, converged = fit_model(model, *learned_from, work.context.threads)
        if not converged:
            outcome.note("the SVM stopped before it converged")
        predicted = fitted.predict(F_test)
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


def tuning_of(work: Work) -> Tuning:
    """How a cell's parameters are chosen: by accuracy."""
    most = work.method_options.tuning_rows.get(work.cell.data, work.options.tuning_rows)
    return Tuning(work.options.tuning_folds, most, lambda model, F, y: model.score(F, y))

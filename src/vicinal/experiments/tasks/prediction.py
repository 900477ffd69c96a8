"""What tasks share that learn from a training part and predict a test part: classes, or numbers."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..._page import Section, Table
from ..._sample import Sample
from .._curves import over_time
from .._experiment import Experiment
from .._linear import Tuning, check_folds, choose, features, fit_model
from .._method import Role
from .._race_tables import race_tables
from .._summary import Summary
from .._task import Task
from .._verdicts import cost_verdict
from .._work import Outcome, Work, nonzeros, readable, stratified_sample

QUICK_FOLDS, QUICK_TUNING_ROWS, QUICK_SECONDS = 2, 500, 2.0
A_RACE = 5  # data sets, at least, and more than there are methods


@dataclass(frozen=True)
class PredictionOptions:
    """Folds of the cross-validation; parameters are chosen in `tuning_folds` folds of at most `tuning_rows` rows, and
    within `tuning_seconds`, if that is given."""

    folds: int = 5
    tuning_rows: int = 3000
    tuning_folds: int = 3
    tuning_seconds: float | None = field(default=None, metadata={"came_later": True})


@dataclass(frozen=True)
class PredictionUse:
    """Rows that a method's parameters are chosen on, for single data sets."""

    tuning_rows: Mapping[str, int] = field(default_factory=dict)


class Prediction(Task):
    """Trains on all parts but one and predicts that one; parameters are chosen on the training part alone."""

    Options = PredictionOptions
    MethodOptions = PredictionUse
    roles = (Role.COLUMNS, Role.MAP, Role.SELECTOR, Role.MODEL)
    reads_labels = True
    predicts_numbers: ClassVar[bool] = False

    def learned_as(self, y: NDArray) -> Callable[[NDArray], NDArray]:
        """What turns targets into those that models are given, learned from a training part."""
        return lambda given: given

    @abstractmethod
    def values(self, work: Work, fitted: Any, X: Any, y: NDArray) -> dict[str, float]:
        """The metrics of a fitted model on test rows, by their names."""

    @abstractmethod
    def groups(self, y: NDArray) -> NDArray:
        """A number for each row; every fold has its share of each."""

    def folds(self, experiment: Experiment) -> int:
        return experiment.options.folds

    def least_rows_per_class(self, experiment: Experiment) -> int:
        return max(experiment.options.folds, 2 * experiment.options.tuning_folds)

    def groups_of_rows(self, sample: Sample) -> NDArray:
        assert sample.y is not None
        return self.groups(sample.y)

    def quick_options(self, options: Any) -> Any:
        return replace(
            options,
            folds=min(options.folds, QUICK_FOLDS),
            tuning_rows=min(options.tuning_rows, QUICK_TUNING_ROWS),
            tuning_folds=min(options.tuning_folds, QUICK_FOLDS),
            tuning_seconds=None if options.tuning_seconds is None else QUICK_SECONDS,
        )

    def quick_method_options(self, options: Any) -> Any:
        return PredictionUse()

    def quick_parameters(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**parameters, "budget": QUICK_SECONDS} if "budget" in parameters else parameters

    def evaluate(self, work: Work) -> Outcome:
        outcome = Outcome()
        work = replace(work, context=replace(work.context, n_classes=0)) if self.predicts_numbers else work
        training, test = self._split(work)
        rows, test_rows = work.sample[training], work.sample[test]
        preparation = work.preparation(work.sample.X)
        X, X_test = preparation.fit_transform(rows.X), preparation.transform(test_rows.X)
        X, X_test = readable(work, outcome, X, X_test)
        assert rows.y is not None
        assert test_rows.y is not None
        as_learned = self.learned_as(rows.y)
        rows = self._capped(work, outcome, replace(rows.with_X(X), y=as_learned(rows.y)))
        test_rows = replace(test_rows.with_X(X_test), y=as_learned(test_rows.y))

        start = time.perf_counter()
        labelled = rows.labelled
        all_labelled = self.predicts_numbers or len(labelled) == len(rows)
        chosen, model_chosen = choose(work, rows if all_labelled else rows[labelled], self.tuning(work))
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
        assert test_rows.y is not None
        values = self.values(work, fitted, F_test, test_rows.y)
        outcome.model_seconds = time.perf_counter() - start
        outcome.values = [
            (work.cell.fold, measure, values[measure.metric.name])
            for measure in self.measures(work.experiment, work.cell)
        ]
        outcome.training_rows, outcome.test_rows = len(rows), len(test_rows)
        outcome.nonzeros_per_row = nonzeros(F_test) / F_test.shape[0]
        outcome.chosen = {**chosen, **model_chosen}
        return outcome

    def _split(self, work: Work) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cell's training and test rows. Rows without a label are never tested on: methods that take them are
        fitted to them as well, others do not see them."""
        sample, folds = work.sample, work.options.folds
        assert sample.y is not None
        labelled = np.arange(len(sample)) if self.predicts_numbers else sample.labelled
        groups = self.groups(sample.y[labelled])
        check_folds(groups, folds)
        parts = StratifiedKFold(folds, shuffle=True, random_state=work.context.seed).split(
            np.zeros(len(groups)), groups
        )
        training, test = next(part for number, part in enumerate(parts) if number == work.cell.fold)
        training, test = labelled[training], labelled[test]
        if work.method.takes_unlabelled and len(labelled) < len(sample):
            training = np.concatenate([training, np.setdiff1d(np.arange(len(sample)), labelled)])
        return training, test

    def tuning(self, work: Work) -> Tuning:
        """How a cell's parameters are chosen: by accuracy, or the share of variance that is explained."""
        options = work.options
        most = work.method_options.tuning_rows.get(work.cell.data, options.tuning_rows)
        return Tuning(
            options.tuning_folds,
            most,
            lambda model, F, y: model.score(F, y),
            self.groups,
            options.tuning_seconds,
        )

    def _capped(self, work: Work, outcome: Outcome, rows: Sample) -> Sample:
        if work.most_rows is None or len(rows) <= work.most_rows:
            return rows
        assert rows.y is not None
        at_least = work.options.tuning_folds
        keep = stratified_sample(self.groups(rows.y), work.most_rows, work.context.seed, at_least=at_least)
        outcome.note(f"fitted on {len(keep):,} of {len(rows):,} rows")
        return rows[keep]

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        limit = f", within {options.tuning_seconds:g} seconds" if options.tuning_seconds is not None else ""
        return (
            (
                "Protocol",
                f"{options.folds}-fold cross-validation; parameters chosen by {options.tuning_folds}-fold "
                f"cross-validation on at most {options.tuning_rows:,} rows of the training part{limit}",
            ),
            ("Intervals and tests", "95 %, over folds, corrected for shared training rows (Nadeau and Bengio 2003)"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.options.folds} folds, {super().quick_size(experiment)}"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        if sizes_differ(experiment):
            return cost_verdict(experiment, summaries)
        return super().verdict(experiment, summaries)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        if len(experiment.data) >= max(A_RACE, len(experiment.methods)) and not any(s.variant for s in summaries):
            return race_tables(experiment, summaries)
        return super().tables(experiment, summaries)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        if sizes_differ(experiment):
            return (over_time(experiment, summaries), tables)
        return super().sections(experiment, summaries, tables)


def sizes_differ(experiment: Experiment) -> bool:
    """Whether methods vary different parameters, so that only what they cost compares them all."""
    return len({frozenset(spec.vary) for spec in experiment.methods if spec.vary}) > 1

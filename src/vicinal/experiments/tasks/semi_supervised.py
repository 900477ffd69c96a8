"""Few labels and many rows without one: features before a fixed linear SVM, or models, by AUC."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from ..._page import Cell as PageCell
from ..._page import Section, Table
from ..._sample import Sample
from ..._words import capital
from .._curves import lines
from .._experiment import Experiment
from .._label_draws import KnownLabels, Parts, draw_parts, in_words, public_rows
from .._linear import Tuning, choose, features, fit_model
from .._method import Method, Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._tables import by_data_set, metrics_of, result_cell, result_tables, table
from .._task import Task
from .._toml_keys import is_of
from .._work import Outcome, Work, nonzeros, readable, stratified_sample

QUICK_PART, QUICK_LEAST = 25, 20  # of rounds, pivots and centres: a 25th, but not fewer than 20
QUICK_TUNING_ROWS, QUICK_TUNING_FOLDS = 300, 2
RULE_FEATURES = 100
LOSSES = {"hinge": "hinge loss", "squared_hinge": "squared hinge loss"}


@dataclass(frozen=True)
class SemiSupervisedOptions:
    """Which labels are known, how rows are divided where the data do not say it, and the rule of the challenge.

    Attributes
    ----------
    labelled : tuple of float
        Shares of the training labels that are kept; every method is run with each.
    flipped : tuple of float
        Shares of these labels that are wrong; every method is run with each.
    test_share : float
        Share of the rows that are tested on, where the data have no published split.
    unlabelled_share : float
        Share of the training rows whose labels are hidden, where the data have no rows without a label.
    C, loss : float, {"hinge", "squared_hinge"}
        Of the linear SVM. Eq. 1 of the paper has the hinge loss. On IMDB reviews it takes no longer than its square,
        which has an AUC of 0.001 to 0.013 more: 0.8859 against 0.8852 on 100 projections of 1,000 stumps.
    tuning_rows, tuning_folds : int
        Labelled rows, and folds of these, by which methods with a grid choose their parameters.
    """

    labelled: tuple[float, ...] = field(default=(1.0,), metadata={"makes_conditions": True})
    flipped: tuple[float, ...] = field(default=(0.0,), metadata={"makes_conditions": True})
    test_share: float = 0.3
    unlabelled_share: float = 0.0
    C: float = 1.0
    loss: str = "hinge"
    tuning_rows: int = 3000
    tuning_folds: int = 3

    @property
    def conditions(self) -> dict[str, KnownLabels]:
        """What is known of the labels, by its words."""
        every = (KnownLabels(*pair) for pair in itertools.product(self.labelled, self.flipped))
        return {in_words(known, self.labelled, self.flipped): known for known in every}


class SemiSupervised(Task):
    """The semi-supervised feature learning challenge, on any two classes.

    Rows are labelled training rows, training rows without a label, and test rows (`_label_draws.draw_parts`). A map is
    fitted on the labelled rows or, if it takes rows without a label, on all training rows, with -1 for a missing label;
    features of the labelled rows, divided by these rows' mean length, train a linear SVM with a fixed C. A model is
    fitted in the same way, and its score is its single feature. Test rows and their labels only give the AUC: the
    share of pairs of a positive and a negative row in which the positive one has the higher score, ties half. The
    public and the private part are 30 % and 70 % of the test rows, always the same ones. Parameters that have a grid
    are chosen on labelled rows, by AUC.
    """

    name = "semi-supervised"
    metrics = (
        Metric("auc", "AUC"),
        Metric("auc_public", "AUC, public 30 %"),
        Metric("auc_private", "AUC, private 70 %"),
    )
    Options = SemiSupervisedOptions
    roles = (Role.COLUMNS, Role.MAP, Role.MODEL)
    reads_labels = True
    all_rows = True

    # ------------------------------------------------------------------------------------------------ what is run

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        options = experiment.options
        ranges: tuple[tuple[str, tuple[float, ...], Callable[[float], bool], str], ...] = (
            ("labelled", options.labelled, lambda share: 0 < share <= 1, "above 0 and at most 1"),
            ("flipped", options.flipped, lambda share: 0 <= share < 0.5, "at least 0 and below 0.5"),
            ("test_share", (options.test_share,), lambda share: 0 < share < 1, "between 0 and 1"),
            ("unlabelled_share", (options.unlabelled_share,), lambda share: 0 <= share < 1, "at least 0 and below 1"),
            ("C", (options.C,), lambda C: C > 0, "above 0"),
        )
        for name, given, allowed, words in ranges:
            for value in given:
                if not is_of(value, (int, float)) or not allowed(value):
                    raise ValueError(f"The experiment {experiment.name}: {name} must be {words}; got {value!r}.")
        if options.loss not in LOSSES:
            raise ValueError(
                f"The experiment {experiment.name}: loss must be one of {', '.join(LOSSES)}; got {options.loss!r}."
            )

    def conditions(self, experiment: Experiment) -> tuple[str, ...]:
        return tuple(experiment.options.conditions)

    def groups_of_rows(self, sample: Sample) -> NDArray:
        """Classes, and within them the parts of a published split."""
        labels = super().groups_of_rows(sample)
        return labels if sample.split is None else 3 * labels + sample.split

    def least_rows_per_class(self, experiment: Experiment) -> int:
        return 10

    def quick_options(self, options: SemiSupervisedOptions) -> SemiSupervisedOptions:
        return replace(
            options,
            labelled=_ends(options.labelled),
            flipped=_ends(options.flipped),
            tuning_rows=min(options.tuning_rows, QUICK_TUNING_ROWS),
            tuning_folds=min(options.tuning_folds, QUICK_TUNING_FOLDS),
        )

    def quick_parameters(self, parameters: Any) -> dict[str, Any]:
        """Fewer rounds, pivots and centres, in the same order."""
        return {
            name: min(value, max(QUICK_LEAST, value // QUICK_PART)) if _is_size(name, value) else value
            for name, value in parameters.items()
        }

    def evaluate(self, work: Work) -> Outcome:
        outcome = Outcome()
        options, seed = work.options, work.context.seed
        parts = draw_parts(
            work.sample,
            options.conditions[work.cell.variant.condition],
            seed,
            test_share=options.test_share,
            unlabelled_share=options.unlabelled_share,
            data=work.cell.data,
        )
        work = replace(work, method=by_the_rule(work.method, options), context=replace(work.context, n_classes=2))
        training, test = _prepared(work, outcome, parts)
        labelled = training[np.arange(len(parts.labelled))]
        fitted_on = training if work.method.takes_unlabelled else labelled
        if work.method.takes_unlabelled and len(parts.unlabelled):
            outcome.note(f"also given {len(parts.unlabelled):,} without labels")
        fitted_on = _capped(work, outcome, fitted_on)

        start = time.perf_counter()
        folds = min(options.tuning_folds, np.bincount(parts.labels).min())
        chosen, model_chosen = choose(work, labelled, Tuning(folds, options.tuning_rows, auc))
        outcome.tuning_seconds = time.perf_counter() - start
        is_model = work.method.role is Role.MODEL
        rows = labelled if work.method.has_map else fitted_on
        F, F_test, outcome.feature_seconds = features(work, chosen, rows, test, fitted_on)
        start = time.perf_counter()
        model = work.method.build_model(work.context_for(rows.X), model_chosen)
        fitted, converged = fit_model(model, F, rows.y, work.context.threads)
        if not converged:
            outcome.note("the solver stopped before it converged")
        scores = scores_of(fitted, F_test)
        outcome.model_seconds = time.perf_counter() - start
        outcome.values = [
            (0, Measure(metric), roc_auc_score(*_of_part(metric, parts.test_labels, scores)))
            for metric in work.experiment.metrics
        ]
        outcome.training_rows, outcome.test_rows = len(labelled), len(test)
        outcome.nonzeros_per_row = 1.0 if is_model else nonzeros(F_test) / F_test.shape[0]
        outcome.chosen = {**chosen, **model_chosen, "n_features": 1 if is_model else F.shape[1]}
        return outcome

    # ------------------------------------------------------------------------------------------------ words, report

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        hidden = (
            f"; where no row lacks a label, those of {100 * options.unlabelled_share:g} % of the training rows are "
            "hidden"
            if options.unlabelled_share
            else ""
        )
        facts = [
            (
                "Rows",
                "the published split into training rows, test rows and rows without labels; where there is none, "
                f"{100 * options.test_share:g} % of each class are tested on{hidden}",
            ),
            (
                "Protocol",
                f"a linear SVM with C = {options.C:g} and {LOSSES[options.loss]} on features of the labelled rows, "
                "divided by their mean length, or a model's own scores; AUC on the test rows. Parameters with a grid "
                f"are chosen by AUC in {options.tuning_folds} folds of labelled rows",
            ),
        ]
        if len(experiment.metrics) > 1:
            facts.append(("Public and private part", "30 % and 70 % of the test rows, by class, always the same ones"))
        if experiment.repeats > 1:
            drawn = "over draws of maps, of pivots and of which labels are known, right, or tested on"
            facts.append(("Intervals and deviations", f"{drawn}: {experiment.repeats} of each"))
        return tuple(facts)

    def quick_size(self, experiment: Experiment) -> str:
        return f"one in {QUICK_PART} of all rounds, pivots and centres"

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        """Under several conditions these across, a table for each data set; of one data set metrics across."""
        if experiment.shown:
            return super().tables(experiment, summaries)
        metrics = metrics_of(summaries)
        if len(self.conditions(experiment)) > 1:
            return tuple(
                table(
                    f"{capital(metric.label)}, {data}",
                    metric,
                    [summary for summary in members if summary.measure.metric == metric],
                    lambda summary: summary.variant.condition,
                    variant_of=_varied,
                    cell_of=auc_cell,
                )
                for metric in metrics
                for data, members in by_data_set(experiment, summaries)
            )
        if len(experiment.data) == 1 and len(metrics) > 1:
            label = experiment.data_label(experiment.data[0].key)
            by_metric = lambda summary: summary.measure.metric.label  # noqa: E731
            return (table(label, metrics[0], summaries, by_metric, variant_of=_varied, cell_of=auc_cell),)
        return result_tables(experiment, summaries, cell_of=auc_cell)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        if len(self.conditions(experiment)) > 1:
            return (over_labels(experiment, summaries), tables)
        return super().sections(experiment, summaries, tables)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None


def by_the_rule(method: Method, options: SemiSupervisedOptions) -> Method:
    """A method whose linear SVM, if one follows it, is that of the rule, but for what an experiment says of it."""
    rule = {"C": options.C, "loss": options.loss}
    return method if method.role is Role.MODEL else method.fixing({}, {**rule, **method.model_parameters})


def scores_of(model: Any, F: Any) -> NDArray[np.float64]:
    """Higher for rows that are rather of the second class."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(F), dtype=np.float64)
    return np.asarray(model.predict_proba(F), dtype=np.float64)[:, 1]


def auc(model: Any, F: Any, y: NDArray) -> float:
    return float(roc_auc_score(y, scores_of(model, F)))


def _of_part(metric: Metric, labels: NDArray, scores: NDArray) -> tuple[NDArray, NDArray]:
    """Labels and scores of the part of the test rows that a metric is about."""
    if metric.name == "auc":
        return labels, scores
    rows = public_rows(labels) == (metric.name == "auc_public")
    return labels[rows], scores[rows]


def _prepared(work: Work, outcome: Outcome, parts: Parts) -> tuple[Sample, Sample]:
    """Training rows with the labels that are given, the labelled ones first, and test rows without their labels."""
    training, test = work.sample[parts.training], work.sample[parts.test]
    preparation = work.preparation(training.X)
    X, X_test = preparation.fit_transform(training.X), preparation.transform(test.X)
    X, X_test = readable(work, outcome, X, X_test)
    return replace(training.with_X(X), y=parts.given_labels), replace(test.with_X(X_test), y=None)


def _capped(work: Work, outcome: Outcome, rows: Sample) -> Sample:
    """The rows that a method is fitted on, where there are more than it may see."""
    if work.most_rows is None or len(rows) <= work.most_rows:
        return rows
    assert rows.y is not None
    keep = stratified_sample(rows.y, work.most_rows, work.context.seed, at_least=2)
    outcome.note(f"fitted on {len(keep):,} of {len(rows):,} rows")
    return rows[keep]


def _is_size(name: str, value: Any) -> bool:
    own = name.rpartition("__")[2]
    return isinstance(value, int) and (own.startswith("n_") or own == "max_iter")


def _ends(shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(dict.fromkeys((shares[0], shares[-1])))


def _varied(summary: Summary) -> str:
    return str(replace(summary.variant, condition=""))


def auc_cell(summary: Summary) -> PageCell:
    """A mean beside the paper's, with deviations where there are several draws, and the number of features."""
    cell = result_cell(summary)
    if not summary.n:
        return cell
    whole = summary.measure.metric.name == "auc"  # which stands beside those of parts, of the same features
    metric, details, brief = summary.measure.metric, [], []
    if summary.n > 1:
        details.append(f"deviation {metric.show(summary.deviation)} over {summary.n} draws")
        brief.append(f"±{metric.show(summary.deviation)}")
    if summary.paper_deviation is not None:
        details.append(f"the paper's deviation {metric.show(summary.paper_deviation)}")
    if whole and summary.n_columns is not None:
        beyond = ", more than the challenge allows" if summary.n_columns > RULE_FEATURES else ""
        details.append(f"{summary.n_columns:,} feature{'s' * (summary.n_columns != 1)}{beyond}")
    return replace(
        cell,
        detail="; ".join(filter(None, (cell.detail, *details))),
        brief=" ".join(filter(None, (*brief, cell.brief))),
    )


def over_labels(experiment: Experiment, summaries: list[Summary]) -> Section:
    """A chart per data set over the share of labels that are known or, where all are, of those that are flipped."""
    options, metric = experiment.options, summaries[0].measure.metric
    by_share = len(options.labelled) > 1
    wanted = "share of the labels that are known" if by_share else "share of the labels that are flipped"

    def share(summary: Summary) -> float:
        known = options.conditions[summary.variant.condition]
        return known.share if by_share else known.flipped

    def name(summary: Summary) -> str:
        flips = options.conditions[summary.variant.condition].flipped
        beside = in_words(KnownLabels(1.0, flips), (1.0,), options.flipped) if by_share else ""
        return ", ".join(filter(None, (summary.label, _varied(summary), beside)))

    own = [summary for summary in summaries if summary.measure.metric == metric]
    blocks = [
        lines(f"{data}: {metric.label}", wanted, metric.label, members, name=name, x=share, x_log=by_share)
        for data, members in by_data_set(experiment, own)
    ]
    return Section(f"{capital(metric.label)} over the {wanted}", "", tuple(blocks))

"""Several labels of a row: columns chosen without any, then the labels of the nearest row by these columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import KFold

from ..._hetero import check_relation
from ..._sample import Sample
from ...graphs import nearest_rows
from .._column_task import QUICK_CANDIDATES, ColumnOptions, ColumnTask, Protocol, Scorer, grid_words
from .._column_trials import Scores
from .._experiment import Experiment
from .._metric import Metric
from .._side import without_relations
from .._work import Outcome, Work

MICRO = Metric("micro_f1", "micro-F1")
MACRO = Metric("macro_f1", "macro-F1")
HAMMING = Metric("hamming_loss", "Hamming loss", better="low")


@dataclass(frozen=True)
class MultiLabelOptions(ColumnOptions):
    """What the labels are, and into how many parts the rows that have any are divided.

    Attributes
    ----------
    labels : str
        The relation of the side information whose links are the labels, such as "compound-causes-sideeffect". It is
        taken out of the side information before anything looks at that.
    folds : int
        Parts of the rows that have labels, each of which is the test part once.
    """

    labels: str = ""
    folds: int = 5


class MultiLabel(ColumnTask):
    name = "multi-label"
    metrics = (MICRO, MACRO, HAMMING)
    Options = MultiLabelOptions
    all_rows = True

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        try:
            check_relation(tuple(experiment.options.labels.split("-")))
        except ValueError as error:
            raise ValueError(
                f"The experiment {experiment.name} needs 'labels', the relation whose links are the labels, such as "
                f'"compound-causes-sideeffect"; got {experiment.options.labels!r}.'
            ) from error

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.folds

    def shared_rows(self, experiment: Experiment) -> tuple[float, float]:
        folds = experiment.options.folds
        return 1 / (folds - 1), 1 / folds

    def preparations(self, work: Work, sample: Sample) -> Iterator[tuple[Sample, Sequence[Protocol]]]:
        """Selectors see nothing of the labels: neither those of test rows nor those of others."""
        side = without_relations(sample.side, [work.options.labels], work.cell.data)
        yield replace(sample, y=None, side=side), work.options.protocols()

    def scorer(self, work: Work, sample: Sample, outcome: Outcome) -> Scorer:
        """Scores of the labels of nearest rows, by fold."""
        labels = labels_of(work.sample, work.options.labels)
        labelled = np.flatnonzero(np.diff(labels.indptr) > 0)
        if len(labelled) < work.options.folds:
            raise ValueError(
                f"{len(labelled)} rows of {work.cell.data} have links of {work.options.labels}, which are too few for "
                f"{work.options.folds} folds."
            )
        labels = labels[labelled]
        parts = list(KFold(work.options.folds, shuffle=True, random_state=work.context.seed).split(labelled))
        outcome.training_rows, outcome.test_rows = len(parts[0][0]), len(parts[0][1])
        if len(labelled) < len(sample):
            outcome.note(f"{len(labelled):,} of {len(sample):,} rows have labels")

        def by_nearest_row(kept: NDArray[np.intp], way: None) -> Scores:
            F = sample.X[labelled][:, kept]
            if not np.all(abs(F).sum(axis=1) > 0):
                outcome.note("some rows have none of the chosen columns, and get the labels of the first row")
            made = [
                label_scores(labels[test], labels[train][nearest(F[train], F[test], work.context.threads)])
                for train, test in parts
            ]
            return {metric.name: np.array([scores[metric.name] for scores in made]) for metric in self.metrics}

        return by_nearest_row

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        return (
            (
                "Protocol",
                f"labels are the links of {options.labels}, which is left out of the side information; columns chosen "
                f"on all rows, without labels; the rows with labels in {options.folds} parts, each of which is tested "
                "once: a row gets the labels of the nearest row of the other parts, by the cosine of the chosen "
                "columns, of equal ones the first",
            ),
            (
                "Metrics",
                "micro-F1 over all pairs of a row and a label; macro-F1 is the mean over the labels that occur in the "
                "test part; Hamming loss is the share of wrong pairs of a row and a label, of all labels that a row of "
                "any part has",
            ),
            grid_words(options),
            ("Intervals and tests", "95 %, over the folds; every selector was fitted once per combination"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        grids = f", {QUICK_CANDIDATES} combinations of each grid" if experiment.options.grids else ""
        return f"{experiment.options.folds} folds{grids}"


def labels_of(sample: Sample, relation: str) -> sp.csr_array:
    """A row for each row of the sample, a column for each label that any of them has: 1 where it has it."""
    key = check_relation(tuple(relation.split("-")))
    side = sample.side
    if side.target not in (key[0], key[2]):
        raise ValueError(f"Labels are links of the rows, which are {side.target} nodes; {relation} has none of these.")
    links = side.relations[key]
    whole = sp.csr_array(links if key[0] == side.target else links.T, dtype=np.int8, copy=True)
    whole.data[:] = 1
    return whole[:, np.unique(whole.indices)]


def nearest(F: Any, F_test: Any, n_jobs: int) -> NDArray[np.int64]:
    """The nearest row of F to each row of another part."""
    return nearest_rows(F_test, F, n_neighbors=1, metric="cosine", n_jobs=n_jobs)[1][:, 0]


def label_scores(true: sp.csr_array, predicted: sp.csr_array) -> dict[str, float]:
    """Every metric of predicted labels."""
    occurring = np.unique(true.indices)
    return {
        MICRO.name: float(f1_score(true, predicted, average="micro", zero_division=0)),
        MACRO.name: float(f1_score(true[:, occurring], predicted[:, occurring], average="macro", zero_division=0)),
        HAMMING.name: float(hamming_loss(true, predicted)),
    }

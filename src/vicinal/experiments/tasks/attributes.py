"""Which attributes a method that recommends links goes by, and which it leaves alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._page import Cell as TableCell
from ..._page import Column, DotRow, Dots, Section, Table
from ..._sample import Sample
from ..._validation import suggest
from ...network import Network
from .._experiment import Cell, Experiment
from .._method import Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._tables import NOTHING, by_data_set
from .._task import Task
from .._work import Outcome, Work, recording_warnings

SCORE = Metric("score", "score of an attribute", better=None, kind="error", high=float("inf"))
SELECTED = Metric("selected", "share of attributes whose score is not zero", better=None)
ZERO = 1e-6  # of the largest score: what is less counts as zero
QUICK_ROWS = 300
HEADINGS = {"top": "The highest scores", "last": "The lowest scores", "listed": "Attributes that the paper lists"}


@dataclass(frozen=True)
class AttributeOptions:
    """Which attributes are shown.

    Attributes
    ----------
    top : int
        How many of those with the highest scores, and how many of those with the lowest.
    listed : tuple of str
        Names of others, such as those that a paper shows.
    """

    top: int = 5
    listed: tuple[str, ...] = ()

    def places(self) -> list[str]:
        """The places of all that is shown: its kind, and a number from 1."""
        sizes = {"top": self.top, "last": self.top, "listed": len(self.listed)}
        return [f"{kind}{number}" for kind, size in sizes.items() for number in range(1, size + 1)]


class Attributes(Task):
    name = "attribute-scores"
    metrics = (SCORE, SELECTED)
    Options = AttributeOptions
    roles = (Role.LINK_PREDICTOR,)
    quick_rows = QUICK_ROWS

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        places = experiment.options.places() if SCORE in experiment.metrics else []
        shares = [Measure(SELECTED)] if SELECTED in experiment.metrics else []
        return (*(Measure(SCORE, place) for place in places), *shares)

    def evaluate(self, work: Work) -> Outcome:
        """Scores of the highest, the lowest and the listed attributes; their names and ranks are what was chosen."""
        sample, outcome = work.all_rows()
        if sample.adjacency is None:
            raise ValueError(f"Scores of attributes need links between rows, and {work.cell.data} has none.")
        sample = _observed(sample, outcome)
        model = work.method.build(work.context, {})
        start = time.perf_counter()
        _, caught = recording_warnings(partial(model.fit, sample.X, adjacency=Network(sample.adjacency)))
        outcome.feature_seconds = time.perf_counter() - start
        outcome.notes += [f"the fit warned: {str(warning.message).split(':')[0].rstrip('.')}" for warning in caught]
        if not hasattr(model, "feature_scores_"):
            raise ValueError(f"{work.method.label} gives attributes no scores.")
        scores = np.where(model.feature_scores_ < ZERO * model.feature_scores_.max(), 0.0, model.feature_scores_)
        names = [str(name) for name in sample.names or range(sample.X.shape[1])]
        order = np.argsort(-scores, kind="stable")
        if SCORE in work.experiment.metrics:
            for place, column in _shown(work.options, names, order):
                measure = Measure(SCORE, place)
                outcome.values.append((0, measure, float(scores[column])))
                rank = 1 + int((scores > scores[column]).sum())
                outcome.chosen_by_measure[measure] = {"attribute": names[column], "rank": rank}
        if SELECTED in work.experiment.metrics:
            outcome.values.append((0, Measure(SELECTED), float((scores > 0).mean())))
        return outcome

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        return (
            ("Protocol", "a method is fitted on all links and all attributes that are known; one fit, by one seed"),
            (
                "Scores",
                f"the sum of squares of an attribute's coefficients; less than {ZERO:g} of the largest score counts "
                "as zero. Ranks are from 1, and equal scores have the same",
            ),
            ("Parameters", "as declared, all others at their defaults; no grid"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return "one fit"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        sentences = []
        for data, members in by_data_set(experiment, [summary for summary in summaries if summary.n]):
            for label in dict.fromkeys(summary.label for summary in members):
                own = {str(s.measure.at or ""): s for s in members if s.label == label}
                if "" in own:
                    sentences.append(_share(data, label, own[""]))
                if "top1" in own:
                    first = own["top1"]
                    sentences.append(f"{data}, {label}: the highest score is {first.shown}, of {_name(first)}.")
                listed = [own[place] for place in own if place.startswith("listed")]
                known = [s for s in listed if s.paper is not None and s.chosen]
                if known:
                    sentences.append(_listed_in_words(data, label, known))
        return tuple(sentences)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        if experiment.shown:
            return super().tables(experiment, summaries)
        made = []
        for data, members in by_data_set(experiment, [s for s in summaries if s.measure.metric == SCORE]):
            for label in dict.fromkeys(summary.label for summary in members):
                for kind, heading in HEADINGS.items():
                    own = [s for s in members if s.label == label and str(s.measure.at).startswith(kind)]
                    if own:
                        made.append(_table(f"{heading}, {data}, {label}", own))
        return tuple(made)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        """The tables, and a chart of the attributes that are listed or, if there are none, of those that lead."""
        known = [s for s in summaries if s.n and s.measure.metric == SCORE]
        listed = [s for s in known if str(s.measure.at).startswith("listed")] or known[: experiment.options.top]
        charts = []
        for data, members in by_data_set(experiment, listed):
            for label in dict.fromkeys(summary.label for summary in members):
                rows = [DotRow(_name(s), s.mean, paper=s.paper) for s in members if s.label == label]
                charts.append(Dots(f"{data}, {label}", SCORE.label, tuple(rows)))
        return (tables, Section("Scores", "", tuple(charts)))

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None


def _observed(sample: Sample, outcome: Outcome) -> Sample:
    """Without nodes that show neither links nor attributes."""
    adjacency = sp.csr_array(sample.adjacency.tocsr())
    known = np.asarray(adjacency.sum(axis=0) + adjacency.sum(axis=1)).ravel() > 0
    known |= np.asarray(abs(sample.X).sum(axis=1)).ravel() > 0
    if not known.all():
        outcome.note(f"{int((~known).sum())} nodes show neither links nor attributes and are left out")
    return sample[known]


def _shown(options: AttributeOptions, names: list[str], order: NDArray[np.int64]) -> list[tuple[str, int]]:
    """The place and the column of every attribute that is shown."""
    unknown = next((name for name in options.listed if name not in names), None)
    if unknown is not None:
        raise ValueError(f"There is no attribute {unknown!r}; {suggest(unknown, names)}")
    if options.top > len(order):
        raise ValueError(f"top is {options.top}, and there are {len(order)} attributes.")
    columns: list[Any] = [*order[: options.top], *order[: -options.top - 1 : -1]]
    return list(zip(options.places(), [*map(int, columns), *map(names.index, options.listed)], strict=True))


def _name(summary: Summary) -> str:
    return str(summary.chosen[0]["attribute"]) if summary.chosen else NOTHING


def _rank(summary: Summary) -> int:
    return int(summary.chosen[0]["rank"])


def _share(data: str, label: str, summary: Summary) -> str:
    return f"{data}, {label}: {summary.mean:.1%} of the attributes have a score that is not zero."


def _listed_in_words(data: str, label: str, known: list[Summary]) -> str:
    """Where the attributes stand that a paper lists, of those with a score and of those without."""
    chosen = [summary for summary in known if summary.paper]
    left = [summary for summary in known if not summary.paper]
    zero = sum(summary.mean == 0 for summary in left)
    ranks = ", ".join(str(_rank(summary)) for summary in chosen)
    return (
        f"{data}, {label}: the {len(chosen)} attributes that the paper ranks first have the ranks {ranks} here; of the "
        f"{len(left)} that it names as unselected, {zero} have a score of zero."
    )


def _table(caption: str, summaries: list[Summary]) -> Table:
    has_paper = any(summary.paper is not None for summary in summaries)
    rows = []
    for summary in summaries:
        known = bool(summary.chosen)
        paper = NOTHING if summary.paper is None else SCORE.show(summary.paper)
        rows.append(
            (
                TableCell(_name(summary)),
                TableCell(str(_rank(summary)), _rank(summary)) if known else TableCell(NOTHING),
                TableCell(summary.shown, summary.mean)
                if known
                else TableCell(NOTHING, detail="; ".join(summary.notes)),
                *((TableCell(paper, summary.paper),) if has_paper else ()),
            )
        )
    columns = (Column("attribute"), Column("rank", "number"), Column("score", "number"))
    return Table(caption, (*columns, *((Column("paper", "number"),) if has_paper else ())), tuple(rows))

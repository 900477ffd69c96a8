"""Links between nodes that show only links and nodes that show only attributes: are they found?"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._page import Section, Table
from ..._sample import Sample
from ..._words import capital
from ...link import make_partially_observable
from ...metrics import pair_auc, precision_at, recall_at
from .._curves import beside_the_paper, over_parameter
from .._experiment import Cell, Experiment
from .._method import Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._tables import by_data_set, metrics_of, selection_cell, table
from .._task import Task
from .._verdicts import contest_verdict, longest_fit_verdict
from .._work import Outcome, Work, recording_warnings

TO_LINK_ONLY, TO_ATTRIBUTE_ONLY = DIRECTIONS = ("to_link_only", "to_attribute_only")
IN_WORDS = {TO_LINK_ONLY: "attribute-only to link-only", TO_ATTRIBUTE_ONLY: "link-only to attribute-only"}
TOP = 5
QUICK_ROWS, QUICK_DRAWS, QUICK_CANDIDATES = 200, 2, 2

Links = Any  # a csr_array of queries and candidates: 1 for each link that is to be found


@dataclass(frozen=True)
class Asked:
    """What a metric asks: a score of the candidates of queries, of those with a true link or of all."""

    score: Callable[..., float]
    direction: str
    all_queries: bool

    def value(self, scores: NDArray[np.float64], links: Links) -> float:
        if self.score is not pair_auc:
            return self.score(scores, links, TOP, all_queries=self.all_queries)
        rows = np.flatnonzero(self.all_queries | (np.diff(links.indptr) > 0))
        return pair_auc(scores[rows], links[rows])


def _metrics() -> dict[Metric, Asked]:
    kinds = (
        (f"precision_at_{TOP}", f"precision@{TOP}", precision_at),
        (f"recall_at_{TOP}", f"recall@{TOP}", recall_at),
        ("auc", "AUC", pair_auc),
    )
    return {
        Metric(
            f"{name}_{direction}{'_all' * all_queries}",
            f"{label}, {IN_WORDS[direction]}{', over all queries' * all_queries}",
        ): Asked(score, direction, all_queries)
        for all_queries, (name, label, score), direction in itertools.product((False, True), kinds, DIRECTIONS)
    }


METRICS = _metrics()
COMPLETE = Metric("complete", "share of nodes that show both links and attributes", better=None)


@dataclass(frozen=True)
class CrossViewOptions:
    """How much of a network is hidden, how often, and by what parameters are chosen.

    Attributes
    ----------
    shares : tuple of float
        Shares of nodes that lose their links, in whole per cents.
    draws : int
        Draws of the nodes that lose their links or their attributes.
    validation : float
        The share of the queries of each direction whose hidden links choose a method's parameters from its grid; the
        others are tested.
    tuned_draws : int
        The first so many draws choose parameters; the others keep them.
    """

    shares: tuple[float, ...] = (0.2, 0.3)
    draws: int = 5
    validation: float = 0.2
    tuned_draws: int = 1


class CrossView(Task):
    name = "cross-view-links"
    metrics = (*METRICS, COMPLETE)
    Options = CrossViewOptions
    roles = (Role.LINK_PREDICTOR,)
    quick_rows = QUICK_ROWS

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        name, options = experiment.name, experiment.options
        shares = options.shares
        whole = all(isinstance(share, float) and 0 < share < 1 and per_cent(share) / 100 == share for share in shares)
        if not shares or not whole or len(set(shares)) < len(shares):
            raise ValueError(
                f"The experiment {name}: shares are different whole per cents above 0 and below 1, such as 0.2; got "
                f"{list(shares)}."
            )
        if not 0 < options.validation < 1:
            raise ValueError(
                f"The experiment {name}: validation is a share above 0 and below 1; got {options.validation}."
            )
        if options.tuned_draws > options.draws:
            raise ValueError(
                f"The experiment {name}: tuned_draws are some of the draws, of which there are {options.draws}; got "
                f"{options.tuned_draws}."
            )

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.draws

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        places = map(per_cent, experiment.options.shares)
        return tuple(Measure(metric, place) for place in places for metric in experiment.metrics)

    def quick_options(self, options: CrossViewOptions) -> CrossViewOptions:
        return replace(options, draws=min(options.draws, QUICK_DRAWS), tuned_draws=1)

    def evaluate(self, work: Work) -> Outcome:
        """Every metric for every share and draw; a fit serves both directions.

        Parameters are chosen for each share and direction. A method without a grid has nothing to choose, but is tested
        on the same queries.
        """
        sample, outcome = work.all_rows()
        if sample.adjacency is None:
            raise ValueError(f"Cross-view links need links between rows, and {work.cell.data} has none.")
        seconds: list[float] = []
        for share in work.options.shares:
            trials = _Trials(work, sample, share, outcome)
            start = time.perf_counter()
            chosen = trials.choose()
            outcome.tuning_seconds += time.perf_counter() - start
            for number, direction in itertools.product(range(work.options.draws), DIRECTIONS):
                found = trials.scored(number, direction, chosen[direction])
                for metric in (metric for metric in work.experiment.metrics if metric != COMPLETE):
                    if METRICS[metric].direction == direction:
                        measure = Measure(metric, per_cent(share))
                        outcome.values.append((number, measure, METRICS[metric].value(*found)))
                        outcome.chosen_by_measure[measure] = dict(chosen[direction])
            if COMPLETE in work.experiment.metrics:
                measure = Measure(COMPLETE, per_cent(share))
                outcome.values += [(number, measure, draw.complete) for number, draw in trials.draws.items()]
            seconds += trials.seconds
        outcome.feature_seconds = float(np.mean(seconds))
        outcome.values.sort(key=lambda value: value[0])
        return outcome

    def place(self, measure: Measure) -> str:
        return f"{measure.at} % without links"

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        shares = " or ".join(f"{share:.0%}" for share in options.shares)
        tuned = "the first draw" if options.tuned_draws == 1 else f"the first {options.tuned_draws} draws"
        return (
            (
                "Protocol",
                f"{shares} of the nodes, drawn from those with attributes, lose their links; as many others as are "
                "without links then lose their attributes, drawn from those that show both; nodes that would show "
                "neither are left out. A method is fitted on what is left. Attribute-only to link-only: each link-only "
                "node is a query, all attribute-only nodes are its candidates, and its hidden links to them are to be "
                "found; and the other way round",
            ),
            (
                "Metrics",
                f"precision@{TOP} is the share of the first {TOP} candidates that are linked to the query, "
                f"recall@{TOP} the share of its hidden links that are among them; means over the queries with a hidden "
                "link or, where it is said, over all queries, of which those without one count 0. AUC: of all pairs "
                "of a query and a candidate",
            ),
            (
                "Parameters",
                f"as declared; others from the method's grid, by the mean precision@{TOP} of the "
                f"{options.validation:.0%} of each direction's queries that are for validation, which are not "
                f"tested in that draw; chosen for each direction and share on {tuned}, as grids are costly, and kept "
                "for the others",
            ),
            ("Intervals and tests", f"95 %, over {options.draws} draws of the hidden links and attributes"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.options.draws} draws, {QUICK_CANDIDATES} combinations of each grid"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        sentences: list[str] = []
        for metric in _told(summaries):
            own = [summary for summary in summaries if summary.measure.metric == metric and summary.n]
            sentences += contest_verdict(experiment, own)
            sentences += _ranges(experiment, [summary for summary in own if summary.variant])
        return tuple(sentences)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        """A table per metric and share: methods down, data sets across."""
        if experiment.shown:
            return super().tables(experiment, summaries)
        made = []
        for metric, place in itertools.product(metrics_of(summaries), _places(summaries)):
            own = [s for s in summaries if (s.measure.metric, s.measure.at) == (metric, place)]
            if metric == COMPLETE and own:  # which is the same for all methods
                told = [s for s in own if s.ours and s.n] or own
                own = [replace(s, label="every method") for s in told]
            caption = f"{capital(metric.label)}; {place} % of nodes lose their links"
            made.append(
                table(
                    caption,
                    metric,
                    own,
                    lambda summary: experiment.data_label(summary.data),
                    variant_of=lambda summary: str(summary.variant),
                    cell_of=selection_cell,
                )
            )
        return tuple(made)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        sections = [tables]
        varied = dict.fromkeys(name for spec in experiment.methods for name in spec.vary)
        for metric in _told(summaries):
            own = [summary for summary in summaries if summary.measure.metric == metric and summary.n]
            title = capital(metric.label)
            for parameter in varied:
                chart = over_parameter(experiment, own, parameter, name=lambda s: f"{s.label}, {self.place(s.measure)}")
                assert chart is not None
                sections.append(replace(chart, title=f"{title}, over {parameter}"))
            if not varied:
                beside = beside_the_paper(experiment, own)
                sections.append(replace(beside, title=f"{title}, beside the paper"))
        return (*sections[1:], tables) if varied else tuple(sections)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return longest_fit_verdict(experiment, summaries)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None


class Draw:
    """A partially observable network, and the queries of each direction: for validation, and for the test."""

    def __init__(self, sample: Sample, share: float, validation: float, seed: tuple[int, ...]):
        random = np.random.RandomState(seed)
        self.shown = make_partially_observable(sample.adjacency, sample.X, share, random_state=random)
        names, hidden = self.shown.network.names, self.shown.hidden
        link_only, attribute_only = names[self.shown.link_only], names[self.shown.attribute_only]
        self.pairs = {
            TO_LINK_ONLY: (link_only, attribute_only, hidden),
            TO_ATTRIBUTE_ONLY: (attribute_only, link_only, sp.csr_array(hidden.T)),
        }
        self.validation, self.test = {}, {}
        for direction, (queries, _, _) in self.pairs.items():
            order = random.permutation(len(queries))
            n_first = max(1, round(validation * len(queries)))
            self.validation[direction], self.test[direction] = np.sort(order[:n_first]), np.sort(order[n_first:])

    @property
    def complete(self) -> float:
        """The share of all nodes that show both."""
        return self.shown.n_complete / (len(self.shown.nodes) + self.shown.n_left_out)

    def scored(self, model: Any, direction: str, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], Links]:
        """Scores of all candidates for some queries, and the links that are to be found."""
        queries, candidates, hidden = self.pairs[direction]
        return model.scores_between(queries[rows], candidates), hidden[rows]


class _Trials:
    """A method at one share: its draws, and its fits with candidates of its grid, each made once."""

    def __init__(self, work: Work, sample: Sample, share: float, outcome: Outcome):
        self.work, self.sample, self.share, self.outcome = work, sample, share, outcome
        # A quick run's few links bear light weights only, with which grids begin.
        most = QUICK_CANDIDATES if work.experiment.quick else None
        self.candidates = work.method.candidates(work.context)[:most]
        self.draws: dict[int, Draw] = {}
        self.fitted: dict[tuple[int, int], Any] = {}
        self.seconds: list[float] = []

    def draw(self, number: int) -> Draw:
        """The same for every method."""
        if number not in self.draws:
            seed = (self.work.context.seed, number, per_cent(self.share))
            self.draws[number] = draw = Draw(self.sample, self.share, self.work.options.validation, seed)
            if draw.shown.n_left_out:
                self.outcome.note("nodes that would show neither links nor attributes are left out")
        return self.draws[number]

    def choose(self) -> dict[str, dict[str, Any]]:
        """For each direction the candidate with the best validation queries on the draws that are for it."""
        if len(self.candidates) == 1:
            return dict.fromkeys(DIRECTIONS, self.candidates[0])
        reached = np.zeros((len(DIRECTIONS), len(self.candidates)))
        for number, place in itertools.product(range(self.work.options.tuned_draws), range(len(self.candidates))):
            draw, model = self.draw(number), self._fit(number, place)
            for row, direction in enumerate(DIRECTIONS):
                scores, links = draw.scored(model, direction, draw.validation[direction])
                reached[row, place] += precision_at(scores, links, TOP) if links.nnz else 0.0
        return {direction: self.candidates[int(reached[row].argmax())] for row, direction in enumerate(DIRECTIONS)}

    def scored(self, number: int, direction: str, parameters: dict[str, Any]) -> tuple[NDArray[np.float64], Links]:
        """Scores and links of the queries that are tested."""
        draw, model = self.draw(number), self._fit(number, self.candidates.index(parameters))
        return draw.scored(model, direction, draw.test[direction])

    def _fit(self, number: int, place: int) -> Any:
        if (number, place) not in self.fitted:
            context = replace(self.work.context, seed=self.work.context.seed + number)
            model = self.work.method.build(context, self.candidates[place])
            shown = self.draw(number).shown
            start = time.perf_counter()
            call = partial(model.fit, shown.X, adjacency=shown.network, attributed=shown.attributed)
            self.fitted[number, place], caught = recording_warnings(call)
            self.seconds.append(time.perf_counter() - start)
            for text in {str(warning.message).split(":")[0].rstrip(".") for warning in caught}:
                self.outcome.note(f"some fits warned: {text}")
        return self.fitted[number, place]


def per_cent(share: float) -> int:
    return round(100 * share)


def _places(summaries: list[Summary]) -> list[Any]:
    return list(dict.fromkeys(summary.measure.at for summary in summaries))


def _told(summaries: list[Summary]) -> list[Metric]:
    """The metrics that sentences and charts are about: those of queries with a true link."""
    return [metric for metric in metrics_of(summaries) if metric in METRICS and not METRICS[metric].all_queries]


def _ranges(experiment: Experiment, varied: list[Summary]) -> list[str]:
    """Between which ends a varied parameter moves the values."""
    sentences = []
    for data, members in by_data_set(experiment, varied):
        for parameter, place in dict.fromkeys((s.variant.parameter, s.measure.at) for s in members):
            own = [s for s in members if (s.variant.parameter, s.measure.at) == (parameter, place)]
            low, high = (pick(own, key=lambda s: s.mean) for pick in (min, max))
            where = f"{data}, {experiment.task.place(high.measure)}"
            sentences.append(
                f"{capital(high.measure.metric.label)}, {where}: from {low.shown} ({low.variant}) to {high.shown} "
                f"({high.variant})."
            )
    return sentences

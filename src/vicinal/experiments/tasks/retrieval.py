"""Link retrieval: whether the most similar node, by the columns that were chosen, is a neighbour in the network."""

from __future__ import annotations

import inspect
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
from ...graphs import nearest_rows
from ...network import Network, hold_out_links
from .._column_numbers import ColumnNumbers, Number, check_numbers, counts, in_words
from .._curves import column_charts
from .._experiment import Cell, Experiment
from .._method import Role
from .._methods import find_method
from .._metric import Measure, Metric
from .._selection_words import selection_tables
from .._summary import Summary
from .._tables import by_data_set, metrics_of, selection_cell, table
from .._task import Task
from .._verdicts import contest_verdict, longest_fit_verdict
from .._work import Outcome, Work, fit, fitting_rows, nonzeros, recording_warnings

PRECISION = Metric("precision_at_1", "precision@1")
HELD_OUT = Metric("held_out_precision_at_1", "precision@1 on links held out")
FREQUENCY = Metric("document_frequency", "mean document frequency", None, "count", high=float("inf"))

QUICK_ROWS, QUICK_DRAWS = 200, 2
FIRST_NEIGHBORS, MORE_NEIGHBORS = 4, 4

Links = NDArray[np.int64]  # numbers of pairs of nodes, sorted


@dataclass(frozen=True)
class RetrievalOptions(ColumnNumbers):
    """Which links are held out, and how often.

    Attributes
    ----------
    held_out : float
        The share of links that the selectors of `held_out_precision_at_1` do not see.
    draws : int
        Draws of these links, and seeds of the selectors that draw themselves.
    """

    held_out: float = 0.0
    draws: int = 5


class Retrieval(Task):
    name = "link-retrieval"
    metrics = (PRECISION, HELD_OUT, FREQUENCY)
    Options = RetrievalOptions
    roles = (Role.COLUMNS, Role.SELECTOR)
    quick_rows = QUICK_ROWS

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        check_numbers(experiment)
        share, is_measured = experiment.options.held_out, HELD_OUT in experiment.metrics
        if not 0 <= share < 1:
            raise ValueError(f"The experiment {experiment.name}: held_out is a share from 0 to below 1; got {share}.")
        if is_measured != (share > 0):
            raise ValueError(
                f"The experiment {experiment.name}: the metric {HELD_OUT.name} and held_out, the share of links that "
                "are held out, belong together; give both or neither."
            )

    def runs(self, experiment: Experiment) -> int:
        return experiment.options.draws

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        numbers = counts(experiment.method(cell), experiment.options.of(cell.data))
        return tuple(Measure(metric, count) for count in numbers for metric in experiment.metrics)

    def quick_options(self, options: RetrievalOptions) -> RetrievalOptions:
        return replace(options, draws=min(options.draws, QUICK_DRAWS))

    def evaluate(self, work: Work) -> Outcome:
        """Every metric for every number of columns and every draw.

        A selector is fitted anew only if that can change its answer: for each draw if it draws itself, and once more
        without the links that are held out if it looks at links.
        """
        sample, outcome = work.all_rows()
        if sample.adjacency is None:
            raise ValueError(f"Link retrieval needs links between rows, and {work.cell.data} has none.")
        network = Network(sample.adjacency).undirected()
        numbers = counts(work.method, work.options.of(work.cell.data))
        fits = _Fits(work, sample, network, outcome)
        similar = _Similar(sample.X, network, work.context.threads)
        for draw in range(work.options.draws):
            for metric in work.experiment.metrics:
                for count in numbers:
                    kept = fits.columns(count, draw, held_out=metric == HELD_OUT)
                    measure = Measure(metric, count)
                    if metric == FREQUENCY:
                        value = document_frequency(sample.X, kept)
                    elif metric == PRECISION:
                        value = similar.precision(kept)
                    else:
                        value = similar.precision_on(kept, *fits.split(draw))
                    outcome.values.append((draw, measure, value))
                    if isinstance(count, str):
                        outcome.chosen_by_measure[measure] = {"n_features": len(kept)}
                    outcome.nonzeros_by_measure[measure] = nonzeros(sample.X[:, kept]) / len(sample)
        outcome.feature_seconds = fits.seconds_on_all_links()
        if similar.most_without:
            outcome.note(f"up to {similar.most_without:,} of {len(sample):,} rows share no chosen column with another")
        return outcome

    def takes_time(self, experiment: Experiment, method: str) -> bool:
        return find_method(experiment.method_spec(method).name).role is Role.SELECTOR

    def place(self, measure: Measure) -> str:
        return "own number" if measure.at == "auto" else in_words(measure.at)

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options, facts = experiment.options, []
        if PRECISION in experiment.metrics:
            facts.append(
                "columns chosen with all links; for each node the other node with the largest inner product of the "
                "chosen columns, of equal ones the first; the share of all nodes for which it is a neighbour. Nodes "
                "without links, and nodes that share no chosen column with another one, count as failures"
            )
        if HELD_OUT in experiment.metrics:
            facts.append(
                f"held out: {options.held_out:.0%} of the links, drawn anew each time, are not shown to the selector; "
                "a node's other neighbours are not retrieved; the share of nodes with a held-out link for which the "
                "retrieved node is the other end of one"
            )
        if FREQUENCY in experiment.metrics:
            facts.append("document frequency: the number of rows in which a column is not 0")
        return (
            ("Protocol", "; ".join(facts)),
            ("Parameters", "as declared, all others at their defaults; no grid"),
            (
                "Intervals and tests",
                f"95 %, over {options.draws} draws of the selector and of the links held out; a selector that draws "
                "nothing has the same value each time with all links",
            ),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.options.draws} draws"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        sentences: list[str] = []
        for metric in metrics_of(summaries):
            own = [summary for summary in summaries if summary.measure.metric == metric]
            if metric.better is not None:
                sentences += contest_verdict(experiment, own)
            elif len(metrics_of(summaries)) == 1:
                sentences += _values_in_words(experiment, own)
        return tuple(sentences)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return longest_fit_verdict(experiment, summaries)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        if experiment.shown:
            return super().tables(experiment, summaries)
        numbers = {summary.measure.at for summary in summaries} - {"all"}
        if len(numbers) > 1:
            return tuple(selection_tables(experiment, summaries))
        return tuple(_with_data_across(experiment, summaries, metric) for metric in metrics_of(summaries))

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        charts = []
        for metric in metrics_of(summaries):
            own = [summary for summary in summaries if summary.measure.metric == metric]
            if len({summary.measure.at for summary in own} - {"all"}) > 1:
                text = "Lines across are all columns. Only the paper's own method has its interval drawn."
                title = f"{capital(metric.label)} over the number of columns"
                charts.append(Section(title, text, tuple(column_charts(experiment, metric, own))))
        return (*charts, tables)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None  # chosen columns look as before


class _Fits:
    """The selector of a cell with its draws and its splits of the links, each fitted once and when it is asked for."""

    def __init__(self, work: Work, sample: Sample, network: Network, outcome: Outcome):
        self.work, self.sample, self.network, self.outcome = work, sample, network, outcome
        self.splits: dict[int, tuple[Network, NDArray[np.int64]]] = {}
        self.fitted: dict[tuple[int, int | None], tuple[Any, float]] = {}
        if work.method.has_map:
            selector = work.method.build(work.context, {})
            self.draws_itself = "random_state" in selector.get_params()
            self.sees_links = "adjacency" in inspect.signature(selector.fit).parameters

    def split(self, draw: int) -> tuple[Network, NDArray[np.int64]]:
        """The network without the links that are held out, and these."""
        if draw not in self.splits:
            seed = self.work.context.seed + draw
            self.splits[draw] = hold_out_links(self.network, self.work.options.held_out, random_state=seed)
        return self.splits[draw]

    def columns(self, count: Number | str, draw: int, *, held_out: bool) -> NDArray[np.intp]:
        """The columns that are kept; all of them where nothing is selected."""
        if not self.work.method.has_map:
            return np.arange(self.sample.X.shape[1])
        key = (draw if self.draws_itself else 0, draw if held_out and self.sees_links else None)
        if key not in self.fitted:
            self.fitted[key] = self._fit(*key)
        return self.fitted[key][0].with_n_features(count).get_support(indices=True)

    def _fit(self, draw: int, split: int | None) -> tuple[Any, float]:
        network = self.network if split is None else self.split(split)[0]
        sample = replace(self.sample, adjacency=network)
        context = replace(self.work.context, seed=self.work.context.seed + draw)
        selector = self.work.method.build(context, {})
        start = time.perf_counter()
        _, caught = recording_warnings(partial(fit, selector, fitting_rows(self.work, sample, self.outcome)))
        for warning in caught:
            self.outcome.note(f"a fit warned: {str(warning.message).split(':')[0].rstrip('.')}")
        return selector, time.perf_counter() - start

    def seconds_on_all_links(self) -> float:
        """Of one fit, the mean over draws."""
        seconds = [seconds for (_, split), (_, seconds) in self.fitted.items() if split is None]
        return float(np.mean(seconds)) if seconds else 0.0


class _Similar:
    """Nodes with their most similar other ones by some columns, and how many of these are linked."""

    def __init__(self, X: Any, network: Network, n_jobs: int):
        self.X, self.network, self.n_jobs = X, network, n_jobs
        self.links = pair_numbers(network.links(), network.n_nodes)
        self.most_without = 0
        self._known: dict[bytes, float] = {}

    def precision(self, kept: NDArray[np.intp]) -> float:
        """The share of all nodes whose most similar one is a neighbour; computed once for the same columns."""
        key = kept.tobytes()
        if key not in self._known:
            nodes = np.arange(self.network.n_nodes)
            found = most_similar(self.X[:, kept], nodes, n_jobs=self.n_jobs)
            self.most_without = max(self.most_without, int((found < 0).sum()))
            self._known[key] = float(are_pairs(nodes, found, self.links, len(nodes)).mean())
        return self._known[key]

    def precision_on(self, kept: NDArray[np.intp], left: Network, held: NDArray[np.int64]) -> float:
        """The share of nodes with a held-out link whose most similar one, neighbours left out, is its other end."""
        n = self.network.n_nodes
        nodes = np.unique(held)
        found = most_similar(self.X[:, kept], nodes, pair_numbers(left.links(), n), n_jobs=self.n_jobs)
        return float(are_pairs(nodes, found, pair_numbers(held, n), n).mean())


def pair_numbers(links: NDArray[np.int64], n_nodes: int) -> Links:
    """A number for each link in both directions, in ascending order."""
    ends = np.concatenate([links, links[:, ::-1]])
    return np.sort(ends[:, 0] * n_nodes + ends[:, 1])


def are_pairs(nodes: NDArray[np.int64], found: NDArray[np.int64], links: Links, n_nodes: int) -> NDArray[np.bool_]:
    """Whether each node is linked to the one that was found for it; none was where that is -1."""
    return (found >= 0) & np.isin(nodes * n_nodes + found, links)


def most_similar(
    F: Any, nodes: NDArray[np.int64], left_out: Links | None = None, *, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """For some rows of F the other row with the largest inner product, the first of equal ones.

    Pairs in `left_out` are not looked at. A row has none, -1, if no inner product is positive.
    """
    n = F.shape[0]
    found = np.full(len(nodes), -1, dtype=np.int64)
    waiting = np.arange(len(nodes))
    k = FIRST_NEIGHBORS if left_out is not None else 1
    while len(waiting):
        asked = nodes[waiting]
        products, nearest = nearest_rows(
            F[asked], F, n_neighbors=min(k, n - 1), metric="inner", exclude_self=asked, n_jobs=n_jobs
        )
        free = products > 0
        if left_out is not None:
            free &= ~np.isin(asked[:, None] * n + nearest, left_out)
        has = free.any(axis=1)
        found[waiting[has]] = nearest[has, free.argmax(axis=1)[has]]
        waiting = waiting[~has & (products[:, -1] > 0) & (k < n - 1)]
        k *= MORE_NEIGHBORS
    return found


def document_frequency(X: Any, kept: NDArray[np.intp]) -> float:
    """The number of rows in which a column is not 0, the mean over some columns."""
    F = X[:, kept]
    return (int(F.count_nonzero()) if sp.issparse(F) else int(np.count_nonzero(F))) / len(kept)


def _with_data_across(experiment: Experiment, summaries: list[Summary], metric: Metric) -> Table:
    """A table of one number of columns."""
    own = [summary for summary in summaries if summary.measure.metric == metric]
    place = next((experiment.task.place(s.measure) for s in own if s.measure.at != "all"), "all columns")
    caption = f"{capital(metric.label)}, {place}"
    return table(caption, metric, own, lambda s: experiment.data_label(s.data), cell_of=selection_cell)


def _values_in_words(experiment: Experiment, summaries: list[Summary]) -> list[str]:
    sentences = []
    for data, members in by_data_set(experiment, [summary for summary in summaries if summary.n]):
        values = [
            f"{s.label} {s.shown}" + (f" (paper {s.measure.metric.show(s.paper)})" if s.paper is not None else "")
            for s in members
        ]
        places = dict.fromkeys(experiment.task.place(s.measure) for s in members if s.measure.at != "all")
        where = ", ".join([data, *places])
        sentences.append(f"{capital(members[0].measure.metric.label)}, {where}: {', '.join(values)}.")
    return sentences

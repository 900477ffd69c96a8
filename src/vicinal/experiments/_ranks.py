"""Ranks of selectors, averaged over data sets: at equal numbers of columns, and at their own."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import rankdata

from .._page import Cell, Column, Section, Table
from ._column_numbers import Number, fixed_numbers, in_words
from ._experiment import Experiment
from ._method import Role
from ._methods import find_method
from ._metric import KMeansProtocol, Measure, Metric
from ._summary import Summary
from ._tables import NOTHING, metrics_of, protocols_of, with_protocol


class Entry(NamedTuple):
    """Who is ranked: a method, at its own number of columns or at the contest's.

    Parameters
    ----------
    method : str
        The method's id.
    own_number : bool
        Whether it keeps the number of columns that its own rule gives.

    Examples
    --------
    >>> from vicinal.experiments import Entry
    >>> Entry("snfs", own_number=True)
    Entry(method='snfs', own_number=True)
    """

    method: str
    own_number: bool


@dataclass(frozen=True)
class Contest:
    """Scores of the entries on every data set that has a score of each of them.

    Parameters
    ----------
    metric : Metric
        What the scores are.
    count : int, float or None
        The number or share of columns that selectors keep, None where their scores are averaged over all these numbers.
    scores : mapping of data set to mapping of Entry to float
        The scores.

    Examples
    --------
    >>> from vicinal.experiments import Contest, Entry, Metric
    >>> snfs, mcfs = Entry("snfs", own_number=False), Entry("mcfs", own_number=False)
    >>> scores = {"text_bbc": {snfs: 0.71, mcfs: 0.66}, "text_guardian": {snfs: 0.52, mcfs: 0.55}}
    >>> contest = Contest(Metric("nmi", "NMI"), 100, scores)
    >>> contest.best("text_bbc").method, contest.ranks[snfs]
    ('snfs', 1.5)
    """

    metric: Metric
    count: Number | None
    scores: Mapping[str, Mapping[Entry, float]]

    @property
    def ranks(self) -> dict[Entry, float]:
        """Mean ranks, 1 for the best; equal scores share theirs.

        No method is its own rival: one that takes part with the contest's number of columns is ranked at its own
        number as if it had only that.
        """
        entries = list(next(iter(self.scores.values())))
        twins = {entry: entry._replace(own_number=False) for entry in entries if entry.own_number}
        rivals = [entry for entry in entries if twins.get(entry) not in entries]
        ranks = dict(zip(rivals, self._mean_ranks(rivals), strict=True))
        for entry in entries:
            if entry not in ranks:
                place = rivals.index(twins[entry])
                ranks[entry] = self._mean_ranks([*rivals[:place], entry, *rivals[place + 1 :]])[place]
        return ranks

    def _mean_ranks(self, entries: list[Entry]) -> list[float]:
        table = np.array([[scores[entry] for entry in entries] for scores in self.scores.values()])
        return rankdata(-self.metric.sign * table, axis=1).mean(axis=0).tolist()

    def best(self, data: str) -> Entry:
        return max(self.scores[data], key=lambda entry: self.metric.sign * self.scores[data][entry])


def mean_ranks(
    experiment: Experiment, summaries: list[Summary], metric: Metric, protocol: KMeansProtocol | None = None
) -> list[Contest]:
    """The contests of a selection experiment, none where parameters or noise vary.

    First one per number of columns: all selectors with that many, and all columns; those that have a rule also at their
    own number. Last, selectors with a rule at their own number, the others averaged over the numbers of columns, and
    all columns. Methods with a grid take part by its median.

    Parameters
    ----------
    experiment : Experiment
        An experiment whose task is "selection".
    summaries : list of Summary
        What `summarise` gives.
    metric : Metric
        The metric by which they are ranked.
    protocol : KMeansProtocol, default=None
        How k-means was run, where the experiment runs it in several ways.

    Returns
    -------
    list of Contest

    Examples
    --------
    >>> from vicinal.experiments import Result, entry_label, mean_ranks, read_experiment, summarise
    >>> declared = '''
    ... title = "Which columns?"
    ... task = "selection"
    ... metrics = ["nmi"]
    ... features = [100]
    ... runs = 1
    ... data = ["text_bbc"]
    ... methods = ["raw", "mcfs"]
    ... '''
    >>> experiment = read_experiment("mine", declared)
    >>> results = [
    ...     Result("mine", cell.data, cell.method, cell.variant, cell.seed, 0, measure, value)
    ...     for cell, value in zip(experiment.cells(), (0.5, 0.7), strict=True)
    ...     for measure in experiment.measures(cell)
    ... ]
    >>> contest, *_ = mean_ranks(experiment, summarise(experiment, results), experiment.metrics[0])
    >>> {entry_label(experiment, entry): rank for entry, rank in contest.ranks.items()}
    {'raw features': 2.0, 'MCFS': 1.0}
    """
    if experiment.shown or any(summary.variant for summary in summaries):
        return []
    means = {(s.data, s.method, s.measure): s.mean for s in summaries if s.n}

    def scores(data: str, count: Number | None) -> dict[Entry, float]:
        found = {}
        for spec in experiment.methods:

            def mean_at(at: Number | str, method: str = spec.id) -> float | None:
                return means.get((data, method, Measure(metric, at, protocol=protocol)))

            own = mean_at("auto") if mean_at("auto") is not None else mean_at("all")
            numbers = fixed_numbers(experiment, data) if count is None else [count]
            fixed = [mean_at(number) for number in numbers]
            known = [value for value in fixed if value is not None]
            if known and len(known) == len(fixed) and not (count is None and own is not None):
                found[Entry(spec.id, own_number=False)] = statistics.fmean(known)
            if own is not None:
                found[Entry(spec.id, own_number=True)] = own
        return found

    contests = []
    for count in (*fixed_numbers(experiment), None):
        by_data = {spec.key: scores(spec.key, count) for spec in experiment.data}
        entries = {entry for found in by_data.values() for entry in found}
        whole = {data: found for data, found in by_data.items() if len(found) == len(entries)}
        if len(entries) > 1 and whole:
            contests.append(Contest(metric, count, whole))
    return contests


def entry_label(experiment: Experiment, entry: Entry) -> str:
    """The name of an entry; that of a selector at its own number of columns says so.

    Parameters
    ----------
    experiment : Experiment
        The experiment that the entry belongs to.
    entry : Entry
        A method, with its own number of columns or without.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal.experiments import Entry, entry_label, load_experiment
    >>> entry_label(load_experiment("thesis-table3"), Entry("snfs", own_number=True))
    'SNFS, own number'
    """
    label = experiment.label(entry.method)
    selects = find_method(experiment.method_spec(entry.method).name).role is Role.SELECTOR
    return f"{label}, own number" if entry.own_number and selects else label


def rank_tables(experiment: Experiment, summaries: list[Summary]) -> list[Table]:
    """A table of mean ranks per metric: methods down, numbers of columns across."""
    tables = []
    for metric, protocol in itertools.product(metrics_of(summaries), protocols_of(summaries)):
        contests = mean_ranks(experiment, summaries, metric, protocol)
        shares = [contest for contest in contests if isinstance(contest.count, float)]
        numbers = [contest for contest in contests if contest not in shares]
        tables += [_rank_table(experiment, own, metric, protocol) for own in (numbers, shares) if own]
    return tables


def _rank_table(
    experiment: Experiment, contests: list[Contest], metric: Metric, protocol: KMeansProtocol | None
) -> Table:
    entries = list(dict.fromkeys(entry for contest in contests for entry in contest.ranks))
    columns = [Column("method")]
    rows = [[Cell(entry_label(experiment, entry))] for entry in entries]
    most = max(len(contest.scores) for contest in contests)
    for contest in contests:
        hint = "" if contest.count else "with a rule, the selector's own number; without, the average of the others"
        if len(contest.scores) < most:
            hint = "; ".join(filter(None, (hint, f"over {len(contest.scores)} data sets only")))
        name = in_words(contest.count) if contest.count else "own number or average"
        columns.append(Column(name, "number", "low", hint))
        least = min(contest.ranks.values())
        for entry, row in zip(entries, rows, strict=True):
            rank = contest.ranks.get(entry)
            mark: Literal["best", ""] = "best" if rank == least else ""
            row.append(Cell(NOTHING) if rank is None else Cell(f"{rank:.2f}", rank, mark=mark))
    caption = with_protocol(f"Mean rank by {metric.label}, over {most} data set{'s' * (most != 1)}", protocol)
    return Table(caption, tuple(columns), tuple(map(tuple, rows)))


def rank_section(experiment: Experiment, summaries: list[Summary]) -> Section:
    text = (
        "1 is the best. For each number of columns all selectors that keep so many are ranked, and what selects none; "
        "those with a rule for how many also at their own number, in place of the other. Selectors with a grid have "
        "the score of its median."
    )
    return Section("Who is ahead?", text, tuple(rank_tables(experiment, summaries)))

"""Ranks of selectors, averaged over data sets: at equal numbers of columns, and at their own."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from ._experiment import Experiment
from ._summary import Figure


class Entry(NamedTuple):
    """Who is ranked: a method, at its own number of columns or at the contest's."""

    method: str
    own_number: bool


@dataclass(frozen=True)
class Contest:
    """Scores of the entries on every data set that all of them have figures for.

    `count` is the number of columns that selectors keep, None where their scores are averaged over all these numbers.
    """

    metric: str
    count: int | None
    scores: Mapping[str, Mapping[Entry, float]]

    @property
    def ranks(self) -> dict[Entry, float]:
        """Mean ranks, 1 for the best; equal scores share theirs.

        No method has itself for a rival: one that is there at the contest's number of columns is ranked at its own
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
        return rankdata(-table, axis=1).mean(axis=0).tolist()

    def best(self, data: str) -> Entry:
        return max(self.scores[data], key=lambda entry: self.scores[data][entry])


def mean_ranks(experiment: Experiment, figures: list[Figure], metric: str) -> list[Contest]:
    """The contests of a selection experiment, none where parameters or noise vary.

    First one per number of columns: all selectors with that many, and all columns; those that have a rule also at their
    own number. Last, selectors with a rule at their own number, the others averaged over the numbers of columns, and
    all columns. Methods with a grid are there by its median.
    """
    if experiment.task != "selection" or experiment.shown or any(figure.setting for figure in figures):
        return []
    means = {(f.data, f.method, f.metric): f.mean for f in figures if f.n}
    counts = [count for count in experiment.features if isinstance(count, int)]

    def scores(data: str, count: int | None) -> dict[Entry, float]:
        found = {}
        for spec in experiment.methods:
            own = means.get((data, spec.id, f"{metric}@auto"), means.get((data, spec.id, f"{metric}@all")))
            wanted = counts if count is None else [count]
            fixed = [means.get((data, spec.id, f"{metric}@{number}")) for number in wanted]
            told = [value for value in fixed if value is not None]
            if told and len(told) == len(fixed) and not (count is None and own is not None):
                found[Entry(spec.id, own_number=False)] = statistics.fmean(told)
            if own is not None:
                found[Entry(spec.id, own_number=True)] = own
        return found

    contests = []
    for count in (*counts, None):
        by_data = {spec.name: scores(spec.name, count) for spec in experiment.data}
        entries = {entry for found in by_data.values() for entry in found}
        whole = {data: found for data, found in by_data.items() if len(found) == len(entries)}
        if len(entries) > 1 and whole:
            contests.append(Contest(metric, count, whole))
    return contests


def entry_label(experiment: Experiment, entry: Entry) -> str:
    """A selector at its own number of columns says so; all columns need not."""
    label = experiment.label(entry.method)
    selects = experiment.selects(entry.method)
    return f"{label}, own number" if entry.own_number and selects else label

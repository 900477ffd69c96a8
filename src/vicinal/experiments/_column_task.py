"""What tasks share in which selectors choose columns without labels, and something is measured on these."""

from __future__ import annotations

import itertools
import time
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._page import Section, Table
from .._sample import Sample
from ._column_numbers import ColumnNumbers, Number, check_numbers, counts, in_words
from ._column_trials import Fits, Scores, Trial, best_trial, median_trial, middle, record
from ._curves import over_columns, over_parameter
from ._experiment import Cell, Experiment
from ._method import Context, Method, Role
from ._methods import find_method
from ._metric import KMeansProtocol, Measure
from ._ranks import rank_section
from ._selection_words import OWN_NUMBER, selection_tables, selection_verdict
from ._side import SideUse
from ._summary import Summary
from ._task import Task
from ._verdicts import longest_fit_verdict
from ._work import Outcome, Work, fitting_rows, nonzeros

# Selectors take time that grows with the square of rows, once for every combination of their grids.
QUICK_ROWS, QUICK_CANDIDATES = 200, 2

GRIDS = (
    "of selectors with regularisation weights the median combination, the worse one of two, for each number of "
    "columns; the best one, which only labels show, is beside it and never ranked"
)

Kept = dict[Number | str, NDArray[np.intp]]  # columns, by how many are wanted
Protocol = KMeansProtocol | None  # how k-means is run on columns, where it is
Scorer = Callable[[NDArray[np.intp], Any], Scores]  # of columns, by a protocol


@dataclass(frozen=True)
class ColumnOptions(ColumnNumbers):
    """How selectors are fitted.

    Attributes
    ----------
    grids : bool
        Whether the weights of selectors' objectives are tried over a grid; if not, those that an experiment does not
        give are at their defaults.
    """

    grids: bool = field(default=True, metadata={"came_later": True})

    def candidates(self, method: Method, to: Context) -> list[dict[str, Any]]:
        """The combinations of parameters that a method is fitted with."""
        return method.candidates(to) if self.grids else [{}]

    def protocols(self) -> Sequence[Protocol]:
        """Every way in which chosen columns are measured."""
        return [None]

    def in_measures(self, protocol: Protocol) -> Protocol:
        """A protocol as measures have it: the only one is not named."""
        return None


class ColumnTask(Task):
    """Columns are chosen on all rows, without labels, and measured by what `scorer` gives."""

    Options: ClassVar[type] = ColumnOptions
    MethodOptions: ClassVar[type] = SideUse
    roles: ClassVar[tuple[Role, ...]] = (Role.COLUMNS, Role.SELECTOR)
    quick_rows = QUICK_ROWS

    @abstractmethod
    def scorer(self, work: Work, sample: Sample, outcome: Outcome) -> Scorer:
        """What gives scores of some columns, by metric and run."""

    def check(self, experiment: Experiment) -> None:
        super().check(experiment)
        check_numbers(experiment)

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        method, options = experiment.method(cell), experiment.options
        grids = (False, True) if len(options.candidates(method, Context(1, 1))) > 1 else (False,)
        return tuple(
            Measure(metric, count, best_of_grid, options.in_measures(protocol))
            for protocol in options.protocols()
            for count in counts(method, options.of(cell.data))
            for best_of_grid in grids
            for metric in experiment.metrics
        )

    def evaluate(self, work: Work) -> Outcome:
        """Scores of the columns that a method keeps of all rows, for every number of columns.

        The method is fitted once with each combination of its grid; a quick run takes those in the middle. Two of them
        count, for each number of columns, protocol and metric: that of the median of the means over runs, and the best
        one, which only the labels show. A method without a map has all columns, or clusters by links alone.
        """
        whole, outcome = work.all_rows()
        options, metrics = work.options, work.experiment.metrics
        most = QUICK_CANDIDATES if work.experiment.quick else None
        candidates = middle(options.candidates(work.method, work.context), most)
        wanted = counts(work.method, options.of(work.cell.data))
        trials: dict[Any, list[Trial]] = {(count, way): [] for count in wanted for way in options.protocols()}
        fits, score_seconds = Fits(), 0.0
        for prepared, ways in self.preparations(work, whole):
            sample = work.method_options.linked(prepared, work.cell.data, work.context.seed)
            scores_of = self.scorer(work, sample, outcome)
            for parameters in candidates:
                every = np.arange(sample.X.shape[1] if work.method.role is not Role.LINKS else 0)
                kept: Kept = {"all": every}
                if work.method.has_map:
                    kept = self.columns(work, parameters, fitting_rows(work, sample, outcome), wanted, fits)
                start = time.perf_counter()
                for count, way in itertools.product(wanted, ways):
                    full = nonzeros(sample.X[:, kept[count]]) / len(sample)
                    trial = Trial(parameters, len(kept[count]), full, scores_of(kept[count], way))
                    trials[count, way].append(trial)
                score_seconds += time.perf_counter() - start
        outcome.notes += [f"{times} of {fits.number} fits {what}" for what, times in fits.complaints.items()]
        outcome.feature_seconds = fits.seconds / max(fits.number, 1)
        outcome.model_seconds = score_seconds / (len(candidates) * len(trials) * self.runs(work.experiment))
        outcome.nonzeros_per_row = nonzeros(whole.X) / len(whole)
        for (count, way), made in trials.items():
            for metric in metrics:
                measure = Measure(metric, count, protocol=options.in_measures(way))
                record(outcome, measure, median_trial(made, metric))
                if len(candidates) > 1:
                    record(outcome, replace(measure, best_of_grid=True), best_trial(made, metric))
        outcome.values.sort(key=lambda value: value[0])
        return outcome

    def preparations(self, work: Work, sample: Sample) -> Iterable[tuple[Sample, Sequence[Protocol]]]:
        """Rows from which columns are chosen, each with the ways in which these are measured."""
        return [(sample, work.options.protocols())]

    def columns(
        self, work: Work, parameters: Mapping[str, Any], sample: Sample, wanted: Sequence[Number | str], fits: Fits
    ) -> Kept:
        """The columns that a method keeps, for each number of them."""
        selector = work.method.build(work.context, parameters)
        metapaths = work.experiment.data_spec(work.cell.data).metapaths
        if metapaths and "metapaths" in selector.get_params():
            selector.set_params(metapaths=metapaths)
        fits.fitted(selector, sample)
        return {count: selector.with_n_features(count).get_support(indices=True) for count in wanted}

    def contest(self, experiment: Experiment, summary: Summary) -> Hashable:
        """Selectors with a number of columns of their own and all columns are one contest."""
        if summary.measure.at == "all":
            summary = replace(summary, measure=replace(summary.measure, at="auto"))
        return super().contest(experiment, summary)

    def takes_time(self, experiment: Experiment, method: str) -> bool:
        return find_method(experiment.method_spec(method).name).role is Role.SELECTOR

    def place(self, measure: Measure) -> str:
        columns = in_words(measure.at) if isinstance(measure.at, int | float) else OWN_NUMBER
        return columns if measure.protocol is None else f"{columns}, {measure.protocol.label}"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return selection_verdict(experiment, summaries)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return longest_fit_verdict(experiment, summaries)

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        if experiment.shown:
            return super().tables(experiment, summaries)
        return tuple(selection_tables(experiment, summaries))

    def tables_text(self, experiment: Experiment, summaries: list[Summary]) -> str:
        text = super().tables_text(experiment, summaries)
        if any(summary.by_labels for summary in summaries):
            text += " Selectors with a grid have its median/best; only labels show the best, so that it is not ranked."
        return text.strip()

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        varied = dict.fromkeys(name for spec in experiment.methods for name in spec.vary)
        if not varied:
            return (rank_section(experiment, summaries), *over_columns(experiment, summaries), tables)
        charts = []
        for parameter in varied:
            chart = over_parameter(
                experiment, summaries, parameter, name=lambda s: f"{s.label}, {self.place(s.measure)}"
            )
            if chart:
                charts.append(replace(chart, title=f"{chart.title}: {parameter}") if len(varied) > 1 else chart)
        return (*charts, tables)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None  # chosen columns look as before


def grid_words(options: ColumnOptions) -> tuple[str, str]:
    """What a report says about grids."""
    return "Grids", GRIDS if options.grids else "none: parameters as declared, all others at their defaults"

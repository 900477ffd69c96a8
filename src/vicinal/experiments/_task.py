"""What a task is: the one place that knows what is done with the data, what is measured, and what is said of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from .._page import Section, Table
from ._curves import against_time, beside_the_paper, over_parameter, sensitivity
from ._experiment import QUICK_ROWS
from ._method import Role
from ._methods import find_method, method_names
from ._metric import FEATURE_SECONDS, MODEL_SECONDS, Measure, Metric, read_measure
from ._pictures import subject_pictures
from ._tables import result_tables
from ._verdicts import contest_verdict, time_verdict

if TYPE_CHECKING:
    from .._sample import Sample
    from ._experiment import Cell, Experiment
    from ._summary import Summary
    from ._work import Outcome, Work


@dataclass(frozen=True)
class NoOptions:
    """Nothing that could be chosen."""


class Task(ABC):
    """One kind of experiment: its options, metrics, cells and evaluation, its words, and its sections of the report.

    A task of your own says what it measures and how; all else has a default that serves plain tables of scores.
    `vicinal.experiments.register` makes it known to declared experiments.

    Attributes
    ----------
    name : str
        As TOML files have it.
    metrics : tuple of Metric
        What can be measured.
    Options, MethodOptions : frozen dataclasses
        What an experiment may say about the task, and what it may say about the use of single methods.
    roles : tuple of Role
        The methods that it can measure.
    quick_rows : int
        The most rows of a quick run.
    reads_labels : bool
        Whether methods are given the labels of the training part.
    all_rows : bool
        Whether rows without a label take part.
    pictures_first : bool
        Whether the report begins with the pictures.

    Examples
    --------
    A task that measures how far apart the rows are, as the columns have them:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.datasets import Sample
    >>> from vicinal.experiments import Context, Measure, Metric, Outcome, Role, Task, Work, comparison
    >>> class Spread(Task):
    ...     name = "spread"
    ...     metrics = (Metric("variance", "variance", better=None, high=np.inf),)
    ...     roles = (Role.COLUMNS,)
    ...     def evaluate(self, work):
    ...         X = work.preparation(work.sample.X).fit_transform(work.sample.X)
    ...         return Outcome([(0, Measure(self.metrics[0]), float(X.var(axis=0).sum()))])
    >>> from sklearn.preprocessing import StandardScaler
    >>> experiment = comparison("iris", methods=("raw",))
    >>> cell, sample = experiment.cells()[0], Sample(*load_iris(return_X_y=True))
    >>> work = Work(experiment, cell, experiment.method(cell), Context(150, 4), sample, lambda X: StandardScaler())
    >>> [(str(measure), round(value, 6)) for _, measure, value in Spread().evaluate(work).values]
    [('variance', 4.0)]
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]
    Options: ClassVar[type] = NoOptions
    MethodOptions: ClassVar[type] = NoOptions
    roles: ClassVar[tuple[Role, ...]] = (Role.COLUMNS, Role.MAP, Role.SELECTOR)
    quick_rows: ClassVar[int] = QUICK_ROWS
    reads_labels: ClassVar[bool] = False
    all_rows: ClassVar[bool] = False
    pictures_first: ClassVar[bool] = False

    @abstractmethod
    def evaluate(self, work: Work) -> Outcome:
        """One cell: data in, values out."""

    # ------------------------------------------------------------------------------------------------ what is run

    def metric(self, name: str) -> Metric:
        return next(metric for metric in self.metrics if metric.name == name)

    def read_measure(self, text: str) -> Measure:
        return read_measure(text, self.metrics)

    def check(self, experiment: Experiment) -> None:
        """Refuses, in one sentence, what the task cannot do."""
        for spec in experiment.methods:
            role = find_method(spec.name).role
            if role not in self.roles:
                fitting = [name for name in method_names() if find_method(name).role in self.roles]
                raise ValueError(
                    f"The experiment {experiment.name}: {spec.name!r} {role.value}, which {self.name} has no use for; "
                    f"take one of {', '.join(fitting)}."
                )
            if not self.reads_labels and find_method(spec.name).learns_from_labels:
                raise ValueError(
                    f"The experiment {experiment.name}: {spec.name!r} learns from labels, and {self.name} gives none."
                )

    def folds(self, experiment: Experiment) -> int:
        """Number of parts of the rows, each of which is the test part once."""
        return 1

    def runs(self, experiment: Experiment) -> int:
        """Number of values of each measure in a cell."""
        return 1

    def runs_of(self, experiment: Experiment, method: str) -> int:
        """The same of one method, where methods differ."""
        return self.runs(experiment)

    def conditions(self, experiment: Experiment) -> tuple[str, ...]:
        """What the task itself changes in the data, in words: every method is run under each of these conditions."""
        return ("",)

    def measures(self, experiment: Experiment, cell: Cell) -> tuple[Measure, ...]:
        return tuple(map(Measure, experiment.metrics))

    def groups_of_rows(self, sample: Sample) -> NDArray:
        """A number for each row: where a data set is cut to fewer rows, those of one number keep their share."""
        assert sample.y is not None
        return sample.y

    def least_rows_per_class(self, experiment: Experiment) -> int:
        """The fewest rows that a class, or a group of rows, keeps where a data set is cut to fewer."""
        return 2

    def quick_options(self, options: Any) -> Any:
        return options

    def quick_method_options(self, options: Any) -> Any:
        return options

    def quick_parameters(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fixed parameters of a method or its model, as a quick run has them."""
        return parameters

    # ------------------------------------------------------------------------------------------------ statistics

    def shared_rows(self, experiment: Experiment) -> tuple[float, float]:
        """Test rows over training rows, and over all rows: what intervals and tests correct for. 0 without folds."""
        folds = self.folds(experiment)
        return (1 / (folds - 1), 1 / folds) if folds > 1 else (0.0, 0.0)

    def contest(self, experiment: Experiment, summary: Summary) -> Hashable:
        """A key that summaries share that are ranked together."""
        among = experiment.method_spec(summary.method).among
        return summary.data, summary.variant, summary.measure, among

    def takes_time(self, experiment: Experiment, method: str) -> bool:
        """Whether a method is worth a row in a table of times."""
        return True

    # ------------------------------------------------------------------------------------------------ words

    def place(self, measure: Measure) -> str:
        """The name of a measure's place; empty where it has none."""
        return "" if measure.at is None else str(measure.at)

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        """How values come about, as names and sentences."""
        return ()

    def quick_size(self, experiment: Experiment) -> str:
        """How small a quick run is."""
        return f"{experiment.n_groups} group{'s' * (experiment.n_groups != 1)}"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        """The outcome in words: where the paper's own method leads, and how it stands to the paper's values."""
        return contest_verdict(experiment, summaries)

    def time_verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        """The same where times are shown."""
        largest = experiment.data[-1].key
        return (
            f"Features of {experiment.data_label(largest)}: "
            f"{time_verdict(experiment, summaries, largest, FEATURE_SECONDS)}.",
            f"The linear SVM on {experiment.data_label(largest)}: "
            f"{time_verdict(experiment, summaries, largest, MODEL_SECONDS, ('raw', experiment.subject))}.",
        )

    # ------------------------------------------------------------------------------------------------ the report

    def tables(self, experiment: Experiment, summaries: list[Summary]) -> tuple[Table, ...]:
        """The tables that both the terminal and the report show."""
        return result_tables(experiment, summaries)

    def tables_text(self, experiment: Experiment, summaries: list[Summary]) -> str:
        if experiment.paper_data:
            return f"Ours, and beside them the paper's own, which are of other data: {experiment.paper_data}."
        return "Ours, and the paper's own where it gives one for the same data." if experiment.paper else ""

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        """The sections of the report, the tables among them, in reading order."""
        if any(spec.vary for spec in experiment.methods):
            return (over_parameter(experiment, summaries) or sensitivity(experiment, summaries), tables)
        return (tables, beside_the_paper(experiment, summaries), against_time(experiment, summaries))

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        """Pictures of data, made while the experiment runs."""
        return subject_pictures(experiment, load)

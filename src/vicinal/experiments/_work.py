"""What the evaluation of any cell needs: rows as a method can read them, features, and what they cost."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from .._memory import refuse_beyond_memory
from .._preparation import has_missing, make_imputer, make_preparation, scaler
from .._sample import Sample
from .._words import capital
from ._classes import of_classes
from ._experiment import Cell, Experiment
from ._method import Context, Method
from ._metric import Measure
from ._noise import add_noise
from ._side import with_side

DENSE_COPIES = 2  # of rows that were sparse: those that a method is given, and what it makes of them at least


@dataclass
class Outcome:
    """A cell's values and what they cost: what `Task.evaluate` returns.

    Parameters
    ----------
    values : list of (int, Measure, float)
        The fold, or the run, with each measure and its value.
    feature_seconds, model_seconds, tuning_seconds : float, default=0
        Time for features, for the model, and for the choice of parameters.
    training_rows, test_rows : int, default=0
        Rows of both parts; the same where there is no test part.
    nonzeros_per_row : float, default=0
        How full the features are.
    chosen : dict, default={}
        Parameters that were chosen from a grid.
    chosen_by_measure, nonzeros_by_measure : dict, default={}
        The same by `Measure`, for tasks in which they differ from one to the next.
    notes : list of str, default=[]
        What a reader of the values must know; `note` adds to it.

    Examples
    --------
    >>> from vicinal.experiments import Measure, Metric, Outcome
    >>> outcome = Outcome([(0, Measure(Metric("accuracy", "accuracy")), 0.93)], training_rows=120, test_rows=30)
    >>> for _ in range(2):
    ...     outcome.note("fitted on 100 of 120 rows")
    >>> outcome.notes
    ['fitted on 100 of 120 rows']
    """

    values: list[tuple[int, Measure, float]] = field(default_factory=list)
    feature_seconds: float = 0.0
    model_seconds: float = 0.0
    tuning_seconds: float = 0.0
    training_rows: int = 0
    test_rows: int = 0
    nonzeros_per_row: float = 0.0
    chosen: dict[str, Any] = field(default_factory=dict)
    chosen_by_measure: dict[Measure, dict[str, Any]] = field(default_factory=dict)
    nonzeros_by_measure: dict[Measure, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True)
class Work:
    """One cell with all that its evaluation needs: what `Task.evaluate` is given.

    Parameters
    ----------
    experiment : Experiment
        The experiment that the cell is a part of.
    cell : Cell
        Data set, method, variant, seed and fold.
    method : Method
        The method, with the parameters that are fixed or varied.
    context : Context
        What the method may depend on.
    sample : Sample
        The rows.
    preparation : callable
        Makes the transformer that scales rows like those given to it.
    most_rows : int, default=None
        The most rows that the method is fitted on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal.datasets import Sample
    >>> from vicinal.experiments import Context, Work, comparison
    >>> experiment = comparison("iris", methods=("raw",))
    >>> cell = experiment.cells()[0]
    >>> sample = Sample(*load_iris(return_X_y=True))
    >>> work = Work(experiment, cell, experiment.method(cell), Context(150, 4), sample, lambda X: StandardScaler())
    >>> outcome = experiment.task.evaluate(work)
    >>> outcome.training_rows, outcome.test_rows
    (120, 30)
    """

    experiment: Experiment
    cell: Cell
    method: Method
    context: Context
    sample: Sample
    preparation: Callable[[Any], Any]
    most_rows: int | None = None

    @property
    def options(self) -> Any:
        return self.experiment.options

    @property
    def method_options(self) -> Any:
        return self.experiment.method_spec(self.cell.method).options

    def context_for(self, X: Any) -> Context:
        """The context of a fit on these rows."""
        return Context(**{**vars(self.context), "n_rows": X.shape[0], "n_features": X.shape[1]})

    def all_rows(self) -> tuple[Sample, Outcome]:
        """Every row, prepared and readable, for tasks without a test part; and an outcome that counts them."""
        outcome = Outcome(training_rows=len(self.sample), test_rows=len(self.sample))
        X = self.preparation(self.sample.X).fit_transform(self.sample.X)
        X, _ = readable(self, outcome, X, X)
        return self.sample.with_X(X), outcome

    def features(
        self, parameters: Mapping[str, Any], sample: Sample, outcome: Outcome, *, unit_rows: bool = False
    ) -> tuple[Any, float]:
        """Features of all rows and the seconds that they took; labels are not given to the map."""
        start = time.perf_counter()
        F = sample.X
        if self.method.has_map:
            some = fitting_rows(self, sample, outcome)
            estimator = self.method.build(self.context_for(some.X), parameters)
            F = fit_transform(estimator, some) if some is sample else fit(estimator, some).transform(sample.X)
        return normalize(F) if unit_rows else F, time.perf_counter() - start


def work_of(
    experiment: Experiment,
    cell: Cell,
    *,
    threads: int,
    load: Callable[[str], Sample],
    prepare: Callable[[Any], Any] | None = None,
) -> Work:
    """All that the evaluation of a cell needs: its method, the context it is built in, and its rows."""
    data, spec, variant = experiment.data_spec(cell.data), experiment.method_spec(cell.method), cell.variant
    method = experiment.method(cell)
    method.check_installed()
    sample = with_side(load(data.name), data)
    if data.classes:
        sample = of_classes(sample, data.classes, data.name)
    if data.views:
        sample = sample.with_views(data.views)
    if data.rows is not None and len(sample) > data.rows:
        least = experiment.task.least_rows_per_class(experiment)
        if sample.adjacency is None:
            groups = experiment.task.groups_of_rows(sample)
            some = stratified_sample(groups, data.rows, experiment.first_seed, at_least=least)
        else:
            some = linked_sample(sample, data.rows, experiment.first_seed, at_least=least)
        sample = sample[some]
    prepared = prepare or partial(make_preparation, scale=data.scale)
    noisy = variant.noise not in ("", "none")
    if noisy:
        # Noise has the range of the scaled values, and every fold a draw of its own.
        scaled = scaler(data.scale, sample.X).fit_transform(sample.X)
        sample = sample.with_X(add_noise(scaled, variant.noise, 1000 * cell.seed + cell.fold))
        prepared = partial(scaler, "none")
    caps = [rows for rows in (method.most_rows, spec.rows, spec.data_rows.get(cell.data)) if rows]
    sizes = {"n_groups": experiment.n_groups, "n_components": experiment.n_components}
    if variant.parameter in sizes:
        sizes[variant.parameter] = variant.value
    context = Context(
        n_rows=len(sample),
        n_features=sample.X.shape[1],
        **sizes,
        seed=cell.seed,
        threads=threads,
        n_classes=sample.n_classes,
        image_shape=data.image_shape if variant.noise != "append" else None,
    )
    return Work(experiment, cell, method, context, sample, prepared, min(caps) if caps else None)


def readable(work: Work, outcome: Outcome, X: Any, X_test: Any) -> tuple[Any, Any]:
    """What the method can read: missing values filled in, sparse rows made dense, where its tags ask for it."""
    to = work.context_for(X)
    takes_sparse = work.method.tags(to).input_tags.sparse
    takes_missing = work.method.takes_missing(to, sparse=sp.issparse(X) and takes_sparse)
    if not takes_missing and (has_missing(X) or has_missing(X_test)):
        imputer = make_imputer()
        X, X_test = imputer.fit_transform(X), imputer.transform(X_test)
        outcome.note("missing values filled with medians")
    if not takes_sparse and sp.issparse(X):
        refuse_beyond_memory(
            DENSE_COPIES * (X.shape[0] + X_test.shape[0]) * X.shape[1] * X.dtype.itemsize,
            f"{capital(work.method.label)} takes no sparse rows, and {X.shape[1]:,} dense columns",
            "leave it out, or take fewer columns or rows",
        )
        X, X_test = X.toarray(), X_test.toarray()
    return X, X_test


def fitting_rows(work: Work, sample: Sample, outcome: Outcome) -> Sample:
    """The rows that a map or a detector is fitted on."""
    keep = fitting_places(work, len(sample))
    if keep is None:
        return sample
    outcome.note(f"fitted on {len(keep):,} of {len(sample):,} rows")
    return sample[keep]


def fitting_places(work: Work, n_rows: int) -> NDArray[np.intp] | None:
    """Which of the rows these are; None where they are all."""
    if work.most_rows is None or n_rows <= work.most_rows:
        return None
    return np.sort(np.random.default_rng(work.context.seed).permutation(n_rows)[: work.most_rows])


def fit(estimator: Any, sample: Sample, y: NDArray | None = None) -> Any:
    """Fits to the sample, with the links and the side information that the estimator asks for."""
    return estimator.fit(sample.X, y, **_extra_inputs(estimator, sample))


def fit_transform(estimator: Any, sample: Sample, y: NDArray | None = None) -> Any:
    return estimator.fit_transform(sample.X, y, **_extra_inputs(estimator, sample))


def _extra_inputs(estimator: Any, sample: Sample) -> dict[str, Any]:
    asked = inspect.signature(estimator.fit).parameters
    return {name: value for name, value in sample.extra_inputs.items() if name in asked}


def best_by_labels(
    work: Work,
    sample: Sample,
    outcome: Outcome,
    *,
    unit_rows: bool,
    measure: Callable[[Any], list[tuple[int, Measure, float]]],
    criterion: Callable[[list[tuple[int, Measure, float]]], float],
    runs: int = 1,
) -> Outcome:
    """Measures the features of every candidate of a grid; the one with the largest criterion counts.

    Labels choose it, as in the papers, which flatters the methods that have a grid.
    """
    candidates = work.method.candidates(work.context)
    best = -np.inf
    for parameters in candidates:
        F, seconds = work.features(parameters, sample, outcome, unit_rows=unit_rows)
        start = time.perf_counter()
        values = measure(F)
        if criterion(values) > best:
            best = criterion(values)
            outcome.values, outcome.chosen = values, dict(parameters)
            outcome.feature_seconds, outcome.model_seconds = seconds, (time.perf_counter() - start) / runs
            outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
    if len(candidates) > 1:
        outcome.note(f"the best of {len(candidates)} combinations of parameters, by the labels")
    return outcome


def stratified_sample(y: NDArray, size: int, seed: int, at_least: int) -> NDArray[np.int64]:
    """About `size` rows: of every class its share, and at least `at_least`."""
    rng = np.random.default_rng(seed)
    keep = []
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        rows = rng.permutation(np.flatnonzero(y == label))
        keep.append(rows[: max(at_least, round(size * count / len(y)))])
    return np.sort(np.concatenate(keep))


def linked_sample(sample: Sample, size: int, seed: int, at_least: int) -> NDArray[np.int64]:
    """About `size` rows of a network: a quarter of them by class, then rows that are linked to those that are there.

    Rows drawn one by one would hardly be linked to each other. Where links lead no further, others are added. Rows
    without labels are one class.
    """
    adjacency = sp.csr_array(sample.adjacency.tocsr())
    rng = np.random.default_rng(seed)
    classes = np.zeros(len(sample)) if sample.y is None else sample.y
    first = stratified_sample(classes, max(1, size // 4), seed, at_least)
    taken = np.zeros(len(sample), dtype=bool)
    taken[first] = True
    while (missing := size - int(taken.sum())) > 0:
        reached = np.unique(adjacency[np.flatnonzero(taken)].indices)
        more = reached[~taken[reached]]
        if not len(more):
            more = np.flatnonzero(~taken)
        taken[rng.permutation(more)[:missing]] = True
    return np.flatnonzero(taken)


def recording_warnings(call: Callable[[], Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    """What a call returns, and its warnings, which are not shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        returned = call()
    return returned, caught


def show_again(caught: list[warnings.WarningMessage], *, but: type[Warning]) -> None:
    """Shows recorded warnings, but for those of one category."""
    for warning in caught:
        if not issubclass(warning.category, but):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def nonzeros(X: Any) -> int:
    return int(X.nnz if sp.issparse(X) else np.count_nonzero(X))

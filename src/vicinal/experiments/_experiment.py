"""What an experiment is: data sets, methods, a protocol and the paper's figures."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._methods import Method, Setting, find_method

QUICK_ROWS, QUICK_FOLDS, QUICK_RUNS, QUICK_TUNING_ROWS = 1000, 2, 5, 500
# Selectors take time that grows with the square of rows, once for every setting of their grids.
QUICK_SELECTION_ROWS, QUICK_SETTINGS = 200, 2


@dataclass(frozen=True)
class DataSpec:
    """A data set and how it is used."""

    name: str
    label: str = ""
    scale: str = "minmax"
    rows: int | None = None
    folds: int | None = None
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class MethodSpec:
    """A method with parameters fixed; `vary` makes one setting of each value.

    What is varied are parameters of the method's map or its size: `n_groups` of any method that grows by groups,
    `n_components` of the others. Methods are ranked among those with the same `among`, a kernel's name for example.
    `rows` is the most that it is fitted on, `data_rows` the same for single data sets, `tuning_rows`
    what its parameters are chosen on there, `unit_rows` scales features
    before k-means or neighbours, `repeats` is less than the experiment's where a method draws little or
    nothing, and `skip` names data sets that it is not run on.
    """

    name: str
    id: str = ""
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    rows: int | None = None
    data_rows: Mapping[str, int] = field(default_factory=dict)
    tuning_rows: Mapping[str, int] = field(default_factory=dict)
    unit_rows: bool = False
    detector: str = "distance"
    among: str = ""
    repeats: int | None = None
    skip: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """The unit of work, and of what a killed run can lose."""

    data: str
    method: str
    setting: str
    seed: int
    fold: int
    protocol: str

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        return self.data, self.method, self.setting, self.seed, self.fold


@dataclass(frozen=True)
class Experiment:
    """A declared experiment.

    Attributes
    ----------
    task : "classification", "clustering", "selection", "outliers", "images" or "kernel"
        "images" only looks at features: how full they are and, in the report, what they look like. "kernel" compares
        their inner products with the kernel that they stand for. "selection" is clustering on columns that were chosen
        without labels.
    folds : int
        Parts of the cross-validation; a data set's own `folds` says how many of them are run.
    repeats : int
        Seeds: other splits, other draws.
    runs : int
        Runs of k-means on the same features.
    features : tuple of int or "auto"
        Numbers of columns that selectors keep; "auto" is their own, of those that have a rule.
    starts : int
        Starts of every run of k-means on chosen columns, of which the best by its own criterion counts.
    unit_rows : bool
        Whether rows are scaled to unit length after columns were selected. In other tasks methods say so themselves.
    tuning_rows, tuning_folds : int
        Parameters are chosen by cross-validation on at most so many rows of the training part.
    noise : tuple of "none", "add", "append", "columns", "rows"
    neighbors : tuple of int
        Neighbours k of the outlier score.
    shown : tuple of str
        What the table shows, where it is not the metrics: "feature_seconds", "model_seconds".
    of : str
        The experiment whose run this is another view of: same cells, same CSV, something else shown.
    paper : mapping method -> data -> metric -> (mean, deviation)
    subject : str
        The method that the paper is about: the report's verdict is on those whose id begins with it.
    """

    name: str
    title: str
    source: str
    task: str
    data: tuple[DataSpec, ...]
    methods: tuple[MethodSpec, ...]
    metrics: tuple[str, ...]
    shown: tuple[str, ...] = ()
    folds: int = 5
    repeats: int = 1
    runs: int = 20
    tuning_rows: int = 3000
    tuning_folds: int = 3
    n_groups: int = 400
    n_components: int = 1000
    noise: tuple[str, ...] = ("none",)
    neighbors: tuple[int, ...] = ()
    features: tuple[int | str, ...] = ()
    starts: int = 1
    unit_rows: bool = True
    paper: Mapping[str, Any] = field(default_factory=dict)
    subject: str = "randlocal"
    remarks: tuple[str, ...] = ()
    first_seed: int = 0
    of: str = ""
    quick: bool = False

    @property
    def run_name(self) -> str:
        """What the CSV of its run is called."""
        return self.of or self.name

    def data_spec(self, name: str) -> DataSpec:
        return next(spec for spec in self.data if spec.name == name)

    def method_spec(self, id: str) -> MethodSpec:
        return next(spec for spec in self.methods if spec.id == id)

    def label(self, id: str) -> str:
        spec = self.method_spec(id)
        return spec.label or find_method(spec.name).label

    def selects(self, id: str) -> bool:
        return find_method(self.method_spec(id).name).selects

    def data_label(self, name: str) -> str:
        return self.data_spec(name).label or name

    @property
    def runs_per_cell(self) -> int:
        return self.runs if self.task in ("clustering", "selection") else 1

    @property
    def most_settings(self) -> int | None:
        """How many settings of a selector's grid are tried, if not all."""
        return QUICK_SETTINGS if self.quick else None

    def measured(self, cell: Cell) -> tuple[str, ...]:
        """The metrics of a cell's rows, with the neighbour k or the number of columns behind an @.

        Where selectors have a grid, "best_" is before what the best setting reaches.
        """
        if self.task == "outliers":
            return tuple(f"auc@{k}" for k in self.neighbors)
        if self.task != "selection":
            return self.metrics
        method = self.method(cell)
        tried = len(method.map_settings(Setting(n_rows=1, n_features=1)))
        kinds = ("", "best_") if tried > 1 else ("",)
        names = itertools.product(method.counts(self.features), kinds, self.metrics)
        return tuple(f"{kind}{metric}@{count}" for count, kind, metric in names)

    def rows_per_cell(self, cell: Cell) -> int:
        return self.runs_per_cell * len(self.measured(cell))

    def method(self, cell: Cell) -> Method:
        """A cell's method with the parameters that are fixed or varied."""
        spec = self.method_spec(cell.method)
        method = find_method(spec.name)
        varied = {name: value for name, value in self.setting(cell).items() if name not in ("noise", "n_groups")}
        if method.size == "n_components":
            varied.pop("n_components", None)
        return method.fixing({**spec.parameters, **varied}, spec.model)

    def settings(self, spec: MethodSpec) -> list[dict[str, Any]]:
        """Every combination of noise and varied parameters; {} where nothing varies."""
        found: list[dict[str, Any]] = []
        variants: list[dict[str, Any]] = [{name: value} for name, values in spec.vary.items() for value in values]
        for noise, variant in itertools.product(self.noise, variants or [{}]):
            found.append({**({"noise": noise} if len(self.noise) > 1 or noise != "none" else {}), **variant})
        return found

    def cells(self) -> list[Cell]:
        """All cells, fold by fold, so that a run that is stopped has whole folds."""
        cells = []
        folds = self.folds if self.task == "classification" else 1
        for repeat, fold in itertools.product(range(self.repeats), range(folds)):
            for data, method in itertools.product(self.data, self.methods):
                if fold >= min(data.folds or folds, folds) or repeat >= (method.repeats or self.repeats):
                    continue
                if data.name in method.skip:
                    continue
                for setting in self.settings(method):
                    protocol = self._protocol(data, method)
                    seed = self.first_seed + repeat
                    cells.append(Cell(data.name, method.id, write_setting(setting), seed, fold, protocol))
        return cells

    def setting(self, cell: Cell) -> dict[str, Any]:
        spec = self.method_spec(cell.method)
        return next(setting for setting in self.settings(spec) if write_setting(setting) == cell.setting)

    def _protocol(self, data: DataSpec, method: MethodSpec) -> str:
        """A short hash of all that a cell's figures depend on, so that figures of another protocol are recognised."""
        told = {
            "data": [data.name, data.scale, data.rows, data.image_shape],
            "method": [
                method.name,
                dict(method.parameters),
                dict(method.model),
                method.rows,
                method.data_rows.get(data.name),
            ],
            "use": [method.unit_rows, method.detector],
            "task": [self.task, self.metrics, self.folds, self.runs, self.neighbors],
            "tuning": [
                method.tuning_rows.get(data.name, self.tuning_rows),
                self.tuning_folds,
                self.n_groups,
                self.n_components,
            ],
            "quick": self.quick,
        }
        if self.task == "selection":
            told["selection"] = [self.features, self.unit_rows, self.starts]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:8]

    def quickened(self) -> Experiment:
        """The same experiment on few rows, folds, runs and settings, with the first half of what is varied."""
        most = QUICK_SELECTION_ROWS if self.task == "selection" else QUICK_ROWS
        data = tuple(replace(spec, rows=min(spec.rows or most, most), folds=None) for spec in self.data)
        methods = tuple(replace(spec, tuning_rows={}, vary=_first_half(spec.vary)) for spec in self.methods)
        return replace(
            self,
            data=data,
            methods=methods,
            folds=min(self.folds, QUICK_FOLDS),
            repeats=min(self.repeats, QUICK_FOLDS),
            runs=min(self.runs, QUICK_RUNS),
            starts=1,
            tuning_rows=min(self.tuning_rows, QUICK_TUNING_ROWS),
            tuning_folds=min(self.tuning_folds, QUICK_FOLDS),
            n_groups=min(max(1, self.n_groups // 2), 200),
            n_components=min(self.n_components, 200),
            quick=True,
        )


def _first_half(vary: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {name: values[: max(1, len(values) // 2)] for name, values in vary.items()}


def write_setting(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())

"""What an experiment is: data sets, methods, a protocol and the paper's figures, read from a short TOML file."""

from __future__ import annotations

import hashlib
import itertools
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from .._validation import suggest
from ._methods import find_method

TASKS = {
    "classification": ("accuracy", "micro_f1", "macro_f1"),
    "clustering": ("accuracy", "nmi", "nmi_geometric"),
    "outliers": ("auc",),
    "images": ("sparsity_ratio",),
    "kernel": ("rms_error", "max_error"),
}
SCALES = ("columns", "matrix", "standard", "none")
NOISE = ("none", "add", "append", "columns", "rows")
SHOWN = ("feature_seconds", "model_seconds")
DETECTORS = ("distance", "values")
LEAST = {"folds": 2, "repeats": 1, "runs": 1, "tuning_rows": 1, "tuning_folds": 2, "n_groups": 1, "n_components": 1}
# By how the types of the fields below begin.
TOML_TYPES = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "tuple": (list, "a list"),
    "Mapping": (dict, "a table"),
}
QUICK_ROWS, QUICK_FOLDS, QUICK_RUNS, QUICK_TUNING_ROWS = 1000, 2, 5, 500


@dataclass(frozen=True)
class DataSpec:
    """A data set and how it is used."""

    name: str
    label: str = ""
    scale: str = "columns"
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
    task : "classification", "clustering", "outliers", "images" or "kernel"
        "images" only looks at features: how full they are and, in the report, what they look like. "kernel" compares
        their inner products with the kernel that they stand for.
    folds : int
        Parts of the cross-validation; a data set's own `folds` says how many of them are run.
    repeats : int
        Seeds: other splits, other draws.
    runs : int
        Runs of k-means on the same features.
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

    def data_label(self, name: str) -> str:
        return self.data_spec(name).label or name

    @property
    def rows_per_cell(self) -> int:
        each = {"clustering": self.runs, "outliers": len(self.neighbors)}.get(self.task, 1)
        return each * len(self.metrics)

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
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:8]

    def quickened(self) -> Experiment:
        """The same experiment on few rows, folds and runs, with the first half of what is varied."""
        data = tuple(replace(spec, rows=min(spec.rows or QUICK_ROWS, QUICK_ROWS), folds=None) for spec in self.data)
        methods = tuple(replace(spec, tuning_rows={}, vary=_first_half(spec.vary)) for spec in self.methods)
        return replace(
            self,
            data=data,
            methods=methods,
            folds=min(self.folds, QUICK_FOLDS),
            repeats=min(self.repeats, QUICK_FOLDS),
            runs=min(self.runs, QUICK_RUNS),
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


def experiment_names() -> list[str]:
    folder = resources.files(__package__) / "papers"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_experiment(name: str) -> Experiment:
    """The experiment of that name, or that a TOML file declares.

    Examples
    --------
    >>> from vicinal.experiments import load_experiment
    >>> load_experiment("randlocal-table3").metrics
    ('micro_f1', 'macro_f1')
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.exists():
            raise FileNotFoundError(f"There is no file {path}.")
        return read_experiment(path.stem, path.read_text(encoding="utf-8"))
    if name not in experiment_names():
        raise ValueError(f"There is no experiment {name!r}; {suggest(name, experiment_names())}")
    return read_experiment(name, (resources.files(__package__) / "papers" / f"{name}.toml").read_text(encoding="utf-8"))


def read_experiment(name: str, text: str) -> Experiment:
    """An experiment from the text of a TOML file; what is wrong with it is said in one sentence."""
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The experiment {name} is not valid TOML: {error}.") from error
    _check_keys(name, "an experiment", told, Experiment, without=("name", "quick"))
    if "of" in told:
        _check_view(name, told)
        view = replace(load_experiment(told["of"]), name=name, **{"paper": {}, "remarks": (), **_frozen(told)})
        _check(view)
        return view
    for needed in ("title", "task", "data", "methods", "metrics"):
        if needed not in told:
            raise ValueError(f"The experiment {name} lacks {needed!r}.")
    data = tuple(_data_spec(name, entry) for entry in told.pop("data"))
    methods = tuple(_method_spec(name, entry) for entry in told.pop("methods"))
    if len({spec.id for spec in methods}) < len(methods):
        raise ValueError(f"The experiment {name} names a method twice; give each an id of its own.")
    told = {key: _frozen(value) for key, value in told.items()}
    experiment = Experiment(name=name, data=data, methods=methods, **{"source": "", **told})
    _check(experiment)
    return experiment


def _data_spec(name: str, entry: str | dict[str, Any]) -> DataSpec:
    told = {"name": entry} if isinstance(entry, str) else entry
    _check_keys(name, "a data set", told, DataSpec)
    spec = DataSpec(**{key: _frozen(value) for key, value in told.items()})
    if spec.scale not in SCALES:
        raise ValueError(f"The experiment {name}: scale must be one of {', '.join(SCALES)}; got {spec.scale!r}.")
    return spec


def _method_spec(name: str, entry: str | dict[str, Any]) -> MethodSpec:
    told = {"name": entry} if isinstance(entry, str) else entry
    _check_keys(name, "a method", told, MethodSpec)
    spec = MethodSpec(**{key: _frozen(value) for key, value in told.items()})
    find_method(spec.name)
    if spec.detector not in DETECTORS:
        raise ValueError(
            f"The experiment {name}: detector must be one of {', '.join(DETECTORS)}; got {spec.detector!r}."
        )
    for key, values in spec.vary.items():
        if not isinstance(values, tuple):
            raise ValueError(f"The experiment {name}: vary needs a list of values of {key!r}; got {values!r}.")
    return replace(spec, id=spec.id or spec.name)


def _check(experiment: Experiment) -> None:
    if experiment.task not in TASKS:
        raise ValueError(
            f"The experiment {experiment.name}: task must be one of {', '.join(TASKS)}; got {experiment.task!r}."
        )
    for metric in experiment.metrics:
        if metric not in TASKS[experiment.task]:
            raise ValueError(
                f"The experiment {experiment.name}: there is no metric {metric!r} for {experiment.task}; "
                f"{suggest(metric, TASKS[experiment.task])}"
            )
    for noise in experiment.noise:
        if noise not in NOISE:
            raise ValueError(f"The experiment {experiment.name}: noise is one of {', '.join(NOISE)}; got {noise!r}.")
    for column in experiment.shown:
        if column not in SHOWN:
            raise ValueError(f"The experiment {experiment.name}: shown is one of {', '.join(SHOWN)}; got {column!r}.")
    for key, least in LEAST.items():
        if getattr(experiment, key) < least:
            raise ValueError(
                f"The experiment {experiment.name}: {key} must be at least {least}; got {getattr(experiment, key)}."
            )
    find_method(experiment.subject)
    if experiment.task == "outliers" and not experiment.neighbors:
        raise ValueError(f"The experiment {experiment.name} needs 'neighbors', the k of its outlier scores.")
    _check_names(experiment)


def _check_names(experiment: Experiment) -> None:
    """What is said about a data set or a method must be about one that the experiment has."""
    data, methods = [spec.name for spec in experiment.data], [spec.id for spec in experiment.methods]
    if len(set(data)) < len(data):
        raise ValueError(f"The experiment {experiment.name} names a data set twice.")
    for method in experiment.paper:
        if method not in methods:
            raise ValueError(
                f"The experiment {experiment.name} has a figure of the paper for {method!r}, which is none of its "
                f"methods; {suggest(method, methods)}"
            )
    told = [*experiment.paper.values(), *(spec.data_rows for spec in experiment.methods)]
    told += [spec.tuning_rows for spec in experiment.methods]
    for name in itertools.chain(*told, *(spec.skip for spec in experiment.methods)):
        if name not in data:
            raise ValueError(
                f"The experiment {experiment.name} says something about {name!r}, which is none of its data sets; "
                f"{suggest(name, data)}"
            )


def _check_view(name: str, told: Mapping[str, Any]) -> None:
    for key in told:
        if key not in ("of", "title", "source", "shown", "paper", "remarks"):
            raise ValueError(f"The experiment {name} shows the run of {told['of']}, which settles {key!r} already.")


def _check_keys(name: str, what: str, told: Any, kind: Any, without: tuple[str, ...] = ()) -> None:
    """Every key is a field, and every value of its type."""
    if not isinstance(told, dict):
        raise ValueError(f"The experiment {name}: {what} is a name or a table; got {told!r}.")
    known = {item.name: str(item.type).split("[")[0].split()[0] for item in fields(kind) if item.name not in without}
    for key, value in told.items():
        if key not in known:
            raise ValueError(f"The experiment {name}: {what} has no {key!r}; {suggest(key, known)}")
        needed, words = TOML_TYPES[known[key]]
        if not isinstance(value, needed) or (isinstance(value, bool) and needed is not bool):
            raise ValueError(f"The experiment {name}: {key} must be {words}; got {value!r}.")
    if kind is not Experiment and "name" not in told:
        raise ValueError(f"The experiment {name}: {what} lacks its name.")


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value

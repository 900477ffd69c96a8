"""Reads declared experiments from short TOML files; what is wrong with one is said in one sentence."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from .._preparation import SCALES
from .._validation import suggest
from ._experiment import DataSpec, Experiment, MethodSpec
from ._methods import find_method, method_names

TASKS = {
    "classification": ("accuracy", "micro_f1", "macro_f1"),
    "clustering": ("accuracy", "nmi", "nmi_geometric"),
    "selection": ("accuracy", "nmi", "nmi_geometric"),
    "outliers": ("auc",),
    "images": ("sparsity_ratio",),
    "kernel": ("rms_error", "max_error"),
}
NOISE = ("none", "add", "append", "columns", "rows")
SHOWN = ("feature_seconds", "model_seconds")
DETECTORS = ("distance", "values")
LEAST = {
    "folds": 2,
    "repeats": 1,
    "runs": 1,
    "starts": 1,
    "tuning_rows": 1,
    "tuning_folds": 2,
    "n_groups": 1,
    "n_components": 1,
}
# By how the types of the fields below begin.
TOML_TYPES = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "bool": (bool, "true or false"),
    "tuple": (list, "a list"),
    "Mapping": (dict, "a table"),
}


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
    if experiment.task == "selection":
        _check_selection(experiment)
    _check_names(experiment)


def _check_selection(experiment: Experiment) -> None:
    """Numbers of columns, and methods that choose so many."""
    if not experiment.features:
        raise ValueError(f"The experiment {experiment.name} needs 'features', the numbers of columns that are kept.")
    for count in experiment.features:
        if count != "auto" and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
            raise ValueError(
                f'The experiment {experiment.name}: features are whole numbers from 1 on, or "auto"; got {count!r}.'
            )
    for spec in experiment.methods:
        method = find_method(spec.name)
        if not method.selects and method.name != "raw":
            known = ", ".join(name for name in method_names() if find_method(name).selects)
            raise ValueError(
                f"The experiment {experiment.name}: {spec.name!r} does not choose columns; take raw, for all of them, "
                f"or one of {known}."
            )
        if not method.counts(experiment.features):
            raise ValueError(
                f"The experiment {experiment.name}: {spec.name!r} does not know how many columns to keep; add a number "
                "to 'features'."
            )
        if spec.unit_rows:
            raise ValueError(
                f"The experiment {experiment.name}: unit_rows is the experiment's, not a method's, where columns are "
                "selected."
            )


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

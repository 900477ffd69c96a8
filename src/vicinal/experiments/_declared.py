"""Reads declared experiments from short TOML files; a mistake in one raises an error of one sentence."""

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
from ._claims import read_claims
from ._experiment import DataSpec, Experiment, MethodSpec
from ._methods import find_method
from ._metric import COSTS
from ._task import Task
from ._toml_keys import check_keys, frozen, is_of, types_of
from .tasks import TASKS

NOISE = ("none", "add", "append", "columns", "rows")
LEAST = {
    "folds": 2,
    "repeats": 1,
    "runs": 1,
    "starts": 1,
    "draws": 1,
    "tuned_draws": 1,
    "top": 1,
    "tuning_rows": 1,
    "tuning_folds": 2,
    "n_groups": 1,
    "n_components": 1,
}


def experiment_names() -> list[str]:
    """The experiments that come with the library.

    Examples
    --------
    >>> from vicinal.experiments import experiment_names
    >>> "randlocal-table3" in experiment_names()
    True
    """
    folder = resources.files(__package__) / "papers"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load_experiment(name: str) -> Experiment:
    """The experiment of that name, or the one that a TOML file declares.

    Parameters
    ----------
    name : str
        One of `experiment_names`, or the path of a file that ends in ".toml".

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from vicinal.experiments import load_experiment
    >>> [metric.label for metric in load_experiment("randlocal-table3").metrics]
    ['micro-F1', 'macro-F1']
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
    """An experiment from the text of a TOML file; a mistake in it raises a ValueError of one sentence.

    Parameters
    ----------
    name : str
        What the experiment is called; its CSV gets the same name.
    text : str
        The text of the file: title, task, metrics, data, methods and more, as CONTRIBUTING.md describes.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from vicinal.experiments import read_experiment
    >>> declared = '''
    ... title = "Does it pay?"
    ... task = "classification"
    ... metrics = ["accuracy"]
    ... data = ["pendigits"]
    ... methods = ["raw", "randlocal"]
    ... '''
    >>> len(read_experiment("mine", declared).cells())
    10
    """
    try:
        declared = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"The experiment {name} is not valid TOML: {error}.") from error
    if "of" in declared:
        return _view(name, declared)
    task = _task(name, declared)
    known = {**types_of(Experiment, without=("name", "quick", "options", "only")), **types_of(task.Options)}
    check_keys(name, "an experiment", declared, known)
    for needed in ("title", "data", "methods", "metrics"):
        if needed not in declared:
            raise ValueError(f"The experiment {name} lacks {needed!r}.")
    data = tuple(_data_spec(name, entry) for entry in declared.pop("data"))
    methods = tuple(_method_spec(name, entry, task) for entry in declared.pop("methods"))
    if len({spec.id for spec in methods}) < len(methods):
        raise ValueError(f"The experiment {name} names a method twice; give each an id of its own.")
    _check_least(name, declared)
    made_here = ("task", "metrics", "shown", "claims")
    options, rest = _divided(
        {key: frozen(value) for key, value in declared.items() if key not in made_here}, task.Options
    )
    experiment = Experiment(
        name=name,
        task=task,
        options=options,
        data=data,
        methods=methods,
        metrics=_metrics(name, task, declared["metrics"]),
        shown=_shown(name, declared.get("shown", [])),
        **{"source": "", **rest},
    )
    _check(experiment)
    return replace(experiment, claims=read_claims(experiment, declared.get("claims", [])))


def _view(name: str, declared: dict[str, Any]) -> Experiment:
    """Another view of a run."""
    known = types_of(Experiment, without=("name", "quick", "options"))
    check_keys(name, "an experiment", {"of": declared["of"]}, known)
    of = load_experiment(declared["of"])
    check_keys(name, "an experiment", declared, {**known, **types_of(of.task.Options)})
    for key in declared:
        if key not in ("of", "title", "source", "subject", "shown", "only", "paper", "paper_data", "claims", "remarks"):
            raise ValueError(f"The experiment {name} shows the run of {declared['of']}, which settles {key!r} already.")
    shown, claims = _shown(name, declared.pop("shown", [])), declared.pop("claims", [])
    only = _only(name, of, declared.pop("only", []))
    given = {"paper": {}, "paper_data": "", "remarks": (), **frozen(declared)}
    view = replace(of, name=name, shown=shown, only=only, claims=(), **given)
    _check(view)
    return replace(view, claims=read_claims(view, claims))


def _task(name: str, declared: Mapping[str, Any]) -> Task:
    if "task" not in declared:
        raise ValueError(f"The experiment {name} lacks 'task'.")
    task = declared["task"]
    if not isinstance(task, str) or task not in TASKS:
        raise ValueError(f"The experiment {name}: task must be one of {', '.join(TASKS)}; got {task!r}.")
    return TASKS[task]


def _metrics(name: str, task: Task, declared: list[str]) -> tuple:
    known = [metric.name for metric in task.metrics]
    for metric in declared:
        if metric not in known:
            raise ValueError(
                f"The experiment {name}: there is no metric {metric!r} for {task.name}; {suggest(str(metric), known)}"
            )
    return tuple(map(task.metric, declared))


def _shown(name: str, declared: list[str]) -> tuple:
    known = {cost.name: cost for cost in COSTS}
    for column in declared:
        if column not in known:
            raise ValueError(f"The experiment {name}: shown is one of {', '.join(known)}; got {column!r}.")
    return tuple(known[column] for column in declared)


def _only(name: str, of: Experiment, declared: list[str]) -> tuple:
    """The measures of a run that another view of it shows."""
    known = {str(measure): measure for cell in of.cells() for measure in of.measures(cell)}
    for measure in declared:
        if measure not in known:
            raise ValueError(
                f"The experiment {name}: only names measures of {of.name}, and {measure!r} is none of them; "
                f"{suggest(str(measure), known)}"
            )
    return tuple(known[measure] for measure in declared)


def _data_spec(name: str, entry: str | dict[str, Any]) -> DataSpec:
    declared = {"name": entry} if isinstance(entry, str) else entry
    check_keys(name, "a data set", declared, types_of(DataSpec), needed="name")
    spec = DataSpec(**frozen(declared))
    if spec.scale not in SCALES:
        raise ValueError(f"The experiment {name}: scale must be one of {', '.join(SCALES)}; got {spec.scale!r}.")
    return spec


def _method_spec(name: str, entry: str | dict[str, Any], task: Task) -> MethodSpec:
    declared = {"name": entry} if isinstance(entry, str) else entry
    known = {**types_of(MethodSpec, without=("options",)), **types_of(task.MethodOptions)}
    check_keys(name, "a method", declared, known, needed="name")
    try:
        options, rest = _divided(frozen(declared), task.MethodOptions)
    except ValueError as error:
        raise ValueError(f"The experiment {name}: {error}") from error
    spec = MethodSpec(**rest, options=options)
    find_method(spec.name)
    for key, values in spec.vary.items():
        if not isinstance(values, tuple):
            raise ValueError(f"The experiment {name}: vary needs a list of values of {key!r}; got {values!r}.")
    return replace(spec, id=spec.id or spec.name)


def _divided(declared: Mapping[str, Any], options: type) -> tuple[Any, dict[str, Any]]:
    """The options of a task, and the rest."""
    names = {item.name for item in fields(options)}
    own = {key: value for key, value in declared.items() if key in names}
    return options(**own), {key: value for key, value in declared.items() if key not in names}


def _check(experiment: Experiment) -> None:
    for noise in experiment.noise:
        if noise not in NOISE:
            raise ValueError(f"The experiment {experiment.name}: noise is one of {', '.join(NOISE)}; got {noise!r}.")
    folds = experiment.task.folds(experiment)
    for spec in experiment.data:
        if spec.folds is not None and folds == 1:
            raise ValueError(
                f"The experiment {experiment.name}: {experiment.task.name} has no folds, but {spec.name} has "
                f"folds = {spec.folds}; leave that out."
            )
    find_method(experiment.subject)
    experiment.task.check(experiment)
    _check_names(experiment)


def _check_least(name: str, declared: Mapping[str, Any]) -> None:
    for key, least in LEAST.items():
        given = declared.get(key, least)
        if any(not is_of(value, int) or value < least for value in (given if isinstance(given, list) else [given])):
            raise ValueError(f"The experiment {name}: {key} must be at least {least}; got {given}.")


def _check_names(experiment: Experiment) -> None:
    """Whatever names a data set or a method must name one that the experiment has."""
    data, methods = [spec.key for spec in experiment.data], [spec.id for spec in experiment.methods]
    if len(set(data)) < len(data):
        raise ValueError(f"The experiment {experiment.name} names a data set twice; give each an id of its own.")
    for method in experiment.paper:
        if method not in methods:
            raise ValueError(
                f"The experiment {experiment.name} has a value of the paper for {method!r}, which is none of its "
                f"methods; {suggest(method, methods)}"
            )
    mentioned = [*experiment.paper.values(), *(spec.data_rows for spec in experiment.methods)]
    for spec in experiment.methods:
        mentioned += [spec.skip, *(value for value in vars(spec.options).values() if isinstance(value, Mapping))]
    for name in itertools.chain(*mentioned):
        if name not in data:
            raise ValueError(
                f"The experiment {experiment.name} says something about {name!r}, which is none of its data sets; "
                f"{suggest(name, data)}"
            )

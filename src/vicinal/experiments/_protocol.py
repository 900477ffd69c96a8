"""A short hash of all that a cell's values depend on, so that values of another protocol are recognised."""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any

from ..datasets import checksum
from ._experiment import Cell, Experiment
from ._method import Context, Method

# Grids may depend on the size of the data; those of this context stand for all.
SOME_CONTEXT = Context(n_rows=1000, n_features=10)
NO_MATTER = ("n_jobs", "random_state", "verbose")
# Parameters that came when there were results already, with the value that leaves all as it was.
CAME_LATER: dict[str, Any] = {"n_levels": 1, "values": "nearness"}
LATER_YET = {"ranks": 0.0, "guide": None, "anchors": "random"}  # of maps within models, too
CAME_LATER |= LATER_YET | {f"features__{name}": value for name, value in LATER_YET.items()}


def protocol_of(experiment: Experiment, cell: Cell) -> str:
    """Data with their checksum, the method with its grids and its estimators' defaults, the task with its options."""
    return _protocol(_Key(experiment, cell.data, cell.method))


class _Key:
    """An experiment, a data set and a method, compared by identity and names: experiments hold dicts."""

    def __init__(self, experiment: Experiment, data: str, method: str):
        self.experiment, self.data, self.method = experiment, data, method
        self._parts = (id(experiment), data, method)

    def __hash__(self) -> int:
        return hash(self._parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._parts == other._parts


@lru_cache(maxsize=1024)
def _protocol(key: _Key) -> str:
    experiment = key.experiment
    data, spec = experiment.data_spec(key.data), experiment.method_spec(key.method)
    method = experiment.method(Cell(data.key, spec.id, experiment.variants(spec)[0], 0, 0))
    covered = {
        "data": [data.name, checksum(data.name), data.scale, data.rows, data.image_shape, *data.views]
        + ([data.side] if data.side else [])
        + ([{"classes": data.classes}] if data.classes else []),
        "method": [spec.name, spec.rows, spec.data_rows.get(data.key), describe_method(method)],
        "task": [
            experiment.task.name,
            [metric.name for metric in experiment.metrics],
            _said(experiment.options, data.key),
        ],
        "use": _said(spec.options, data.key) if spec.options is not None else None,
        "size": [experiment.n_groups, experiment.n_components],
        "quick": experiment.quick,
    }
    return hashlib.sha256(json.dumps(covered, sort_keys=True, default=str).encode()).hexdigest()[:8]


def _said(given_options: Any, data: str) -> dict[str, Any]:
    """Options of a task or of its use of a method: of one that names data sets what it says about this one.

    Options that came when there were results already count where they are not at their default; those of which each
    value makes a condition do not, since results name theirs.
    """
    options = asdict(given_options)
    for item in fields(given_options):
        given = options[item.name]
        if item.metadata.get("makes_conditions"):
            options.pop(item.name)
        elif item.metadata.get("by_data"):
            options.pop(item.name)
            options |= {item.name: given[data]} if data in given else {}
        elif item.metadata.get("came_later") and given == item.default:
            options.pop(item.name)
    return options


def describe_method(method: Method) -> list[Any]:
    """The estimators as they are built, and the grids they are chosen from."""
    fixed = [dict(method.parameters), dict(method.model_parameters), method.most_rows]
    to = SOME_CONTEXT
    try:
        parts = [method.build(to, {})] if method.has_map or method.stands_alone else []
        if not method.stands_alone:
            parts.append(method.build_model(to, {}))
    except ImportError:  # of what it needs; a method that can be described without that is
        return fixed
    if method.needs and any(type(part).__module__.split(".")[0] == method.needs for part in parts):
        return fixed  # as where that is not installed
    return [*fixed, *map(_describe, parts), method.candidates(to), method.model_candidates(to)]


def _describe(estimator: Any) -> Any:
    """All parameters of our own estimators, but for those that came later and leave all as it was; of others those
    that are not at their defaults, which may gain new ones."""
    if hasattr(estimator, "steps"):
        return [_describe(step) for _, step in estimator.steps]
    name = type(estimator).__name__
    if not type(estimator).__module__.startswith("vicinal"):
        own = estimator.get_params(deep=False)
        changed = {key: value for key, value in own.items() if value != _default(estimator, key)}
        return [name, {key: _described(value) for key, value in sorted(changed.items()) if key not in NO_MATTER}]
    parameters = {
        key: repr(value)
        for key, value in sorted(estimator.get_params().items())
        if key not in NO_MATTER and (key not in CAME_LATER or value != CAME_LATER[key])
    }
    return [name, parameters]


def _described(value: Any) -> Any:
    """A parameter that may be an estimator, or a list of them with their names."""
    if isinstance(value, list) and all(isinstance(step, tuple) for step in value):
        return [_described(step) for _, step in value]
    return _describe(value) if hasattr(value, "get_params") else repr(value)


def _default(estimator: Any, parameter: str) -> Any:
    known = inspect.signature(type(estimator)).parameters
    return known[parameter].default if parameter in known else None  # LightGBM takes more than it names

"""The strongest rules of a method that makes rules, in words, for the report of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._page import Cell, Column, Section, Table
from .._preparation import has_missing, is_frame, make_imputer, make_preparation
from .._sample import Sample
from ..learned import RankBoostMap
from ._experiment import Experiment
from ._method import Context, Method, Role
from ._methods import find_method

MOST_RULES = 20
SOME = Context(n_rows=1000, n_features=10)


def comparison_rules(experiment: Experiment, sample: Sample, names: Sequence[str] = ()) -> Section | None:
    """The strongest rules of the first method of a comparison that makes any, fitted to all rows with a label.

    Scales do not matter to rules, so that thresholds are those of the columns as they are in the table.

    Parameters
    ----------
    experiment : Experiment
        What `comparison` gives.
    sample : Sample
        What `comparison_sample` gives.
    names : sequence of str, default=()
        Names of the columns, where the sample has no frame that has them.

    Returns
    -------
    Section or None
        None where no method makes rules, and for more than two classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from vicinal.experiments import comparison, comparison_rules, comparison_sample
    >>> data = load_breast_cancer(as_frame=True)
    >>> sample = comparison_sample(data.data, data.target.to_numpy(), splits=5)
    >>> section = comparison_rules(comparison("cancer", methods=("rankboost",)), sample)
    >>> [cell.text for cell in section.blocks[0].rows[0]][:2]
    ['perimeter error > 4.1025', '-8.88']
    """
    ours = next((method for method in map(find_method, _named(experiment)) if _makes_rules(method)), None)
    if ours is None or sample.y is None or sample.n_classes != 2:
        return None
    if len(sample.labelled) < len(sample):
        sample = sample[sample.labelled]
    X, columns = _readable_columns(sample.X, names)
    to = Context(
        n_rows=X.shape[0],
        n_features=X.shape[1],
        n_groups=experiment.n_groups,
        n_components=experiment.n_components,
        seed=experiment.first_seed,
    )
    estimator = (ours.build_model if ours.role is Role.MODEL else ours.build)(to, {}).fit(X, sample.y)
    ranker = getattr(estimator, "kernel_", estimator)
    ranker = getattr(ranker, "ranker_", ranker)
    rules = ranker.strongest_rules(X, MOST_RULES, input_features=columns)
    heads = (
        Column("rule"),
        Column("weight", "number", hint=f"above 0 where the rule speaks for {_class(sample, 1)}; equal rules summed"),
        Column("rows", "number", hint=f"for which it holds, of {len(sample):,}"),
    )
    rows = tuple(
        (Cell(words), Cell(f"{weight:+.2f}", weight), Cell(f"{count:,}", count)) for words, weight, count in rules
    )
    text = (
        f"{ours.label}, fitted to all rows with a label, adds up the weights of the rules that hold for a row: the "
        f"larger the sum, the more it speaks for {_class(sample, 1)} and against {_class(sample, 0)}."
    )
    return Section("The strongest rules", text, (Table("Rules by weight", heads, rows),)) if rows else None


def _named(experiment: Experiment) -> list[str]:
    return [spec.name for spec in experiment.methods]


def _makes_rules(method: Method) -> bool:
    """Whether its estimator is RankBoost, or has one within."""
    if method.role not in (Role.MODEL, Role.MAP) or not method.installed:
        return False
    estimator = method.build_model(SOME, {}) if method.role is Role.MODEL else method.build(SOME, {})
    known = estimator.get_params(deep=False)
    kernel = known.get("kernel")
    within = "ranker" in known or isinstance(kernel, RankBoostMap) or str(kernel).startswith("rankboost")
    return within or hasattr(estimator, "strongest_rules")


def _readable_columns(X: Any, names: Sequence[str]) -> tuple[Any, NDArray[np.object_]]:
    """Numbers as they are, categories one-hot, missing values filled in; and the names of these columns."""
    if is_frame(X):
        preparation = make_preparation(X).set_params(numbers="passthrough", verbose_feature_names_out=False)
        rows = np.asarray(preparation.fit_transform(X), dtype=np.float64)
        columns = preparation.get_feature_names_out()
    else:
        rows = X
        known = names if len(names) == X.shape[1] else [str(number) for number in range(X.shape[1])]
        columns = np.array([f"column {name}" if name.isdigit() else name for name in known], dtype=object)
    return make_imputer().fit_transform(rows) if has_missing(rows) else rows, columns


def _class(sample: Sample, place: int) -> str:
    assert sample.classes is not None
    return f"class {sample.classes[place]}"

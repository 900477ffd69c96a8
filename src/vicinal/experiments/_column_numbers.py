"""Numbers of columns that selectors keep, as options of the tasks that measure chosen columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._validation import suggest
from ._experiment import Experiment
from ._method import Method, Role
from ._methods import find_method

Number = int | float  # of columns, or the share of them


@dataclass(frozen=True)
class ColumnNumbers:
    """Numbers of columns that are kept.

    Attributes
    ----------
    features : tuple of int, float or "auto"
        Numbers of columns, or shares of them below 1; "auto" is the selectors' own number, of those that have a rule.
    data_features : mapping of data set to tuple of int, float or "auto"
        The same for single data sets, which have fewer columns for example.
    """

    kept: ClassVar[str] = "columns kept"
    features: tuple[Number | str, ...] = ()
    data_features: Mapping[str, tuple[Number | str, ...]] = field(default_factory=dict, metadata={"by_data": True})

    def of(self, data: str) -> tuple[Number | str, ...]:
        """The numbers of columns of one data set."""
        return self.data_features.get(data, self.features)


def fixed_numbers(experiment: Experiment, data: str | None = None) -> list[Number]:
    """The numbers and shares of columns that are given, of one data set or of any, in ascending order if of any."""
    options: ColumnNumbers = experiment.options
    if data is not None:
        return [count for count in options.of(data) if not isinstance(count, str)]
    return sorted({count for spec in experiment.data for count in fixed_numbers(experiment, spec.key)})


def in_words(number: Number | str | None) -> str:
    """A number or share of columns, or all of them."""
    return f"{100 * number:g} %" if isinstance(number, float) else f"{number} columns"


def counts(method: Method, features: Sequence[Number | str]) -> list[Number | str]:
    """For which numbers of columns a method is measured: a selector without a rule has none of its own."""
    if method.role is not Role.SELECTOR:
        return ["all"]
    return [count for count in features if count != "auto" or method.has_rule]


def check_numbers(experiment: Experiment) -> None:
    """Refuses numbers of columns that are none, and methods that have no number to keep."""
    options: ColumnNumbers = experiment.options
    name, data = experiment.name, [spec.key for spec in experiment.data]
    if not options.features:
        raise ValueError(f"The experiment {name} needs 'features', the numbers of columns that are kept.")
    for key, features in options.data_features.items():
        if key not in data:
            raise ValueError(
                f"The experiment {name} has data_features for {key!r}, which is none of its data sets; "
                f"{suggest(key, data)}"
            )
        if not isinstance(features, tuple) or not features:
            raise ValueError(f"The experiment {name}: data_features of {key} must be a list; got {features!r}.")
    for features in (options.features, *options.data_features.values()):
        for count in features:
            if not _is_number(count):
                raise ValueError(
                    f'The experiment {name}: features are whole numbers from 1 on, shares below 1, or "auto"; got '
                    f"{count!r}."
                )
        for spec in experiment.methods:
            if not counts(find_method(spec.name), features):
                raise ValueError(
                    f"The experiment {name}: {spec.name!r} does not know how many columns to keep; add a number to "
                    "'features'."
                )


def _is_number(count: Any) -> bool:
    if isinstance(count, float):
        return 0 < count < 1
    return count == "auto" or (isinstance(count, int) and not isinstance(count, bool) and count >= 1)

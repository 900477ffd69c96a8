"""Labels of which some are missing: -1 marks them, as in scikit-learn's semi-supervised estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from .._validation import UNLABELLED


@dataclass(frozen=True)
class PartialLabels:
    """Which rows have a label, which have none, and what the labels are."""

    labelled: NDArray[np.intp]
    unlabelled: NDArray[np.intp]
    classes: NDArray[Any]
    places: NDArray[np.intp]  # in `classes`, of the labelled rows


def partial_labels(y: ArrayLike, who: str, *, binary: bool = False) -> PartialLabels:
    """Labels of which -1 means none; at least two classes must be left, and just two where `binary`."""
    given = column_or_1d(y, warn=True)
    if given.dtype == object and len({isinstance(label, str) for label in given}) > 1:
        raise ValueError(f"{who} takes labels that are all names or all numbers; -1, for none, goes with numbers.")
    try:
        check_classification_targets(given)
    except ValueError as error:
        raise ValueError(f"{error} {who} learns from classes; it has no use for grades and other numbers.") from error
    has_none = given == UNLABELLED if given.dtype.kind in "if" else np.zeros(len(given), dtype=bool)
    labelled, unlabelled = np.flatnonzero(~has_none), np.flatnonzero(has_none)
    if not len(labelled):
        raise ValueError(f"{who} learns from labels, but all rows are unlabelled: y is -1, which means no label.")
    classes, places = np.unique(given[labelled], return_inverse=True)
    if len(classes) < 2:
        hint = "; -1 marks rows without a label: name the classes 0 and 1, for example" if len(unlabelled) else ""
        raise ValueError(f"{who} needs rows of at least two classes, but y has one class only ({classes[0]!r}){hint}.")
    if binary and len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(given)}: "
            f"{who} takes two classes, and y has {len(classes)}."
        )
    return PartialLabels(labelled, unlabelled, classes, places)

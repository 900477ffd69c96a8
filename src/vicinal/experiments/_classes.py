"""Some classes of a data set, alone or in groups, as the labels of another problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from .._sample import Sample
from .._validation import suggest


def of_classes(sample: Sample, patterns: Sequence[str], data: str) -> Sample:
    """The rows whose class fits one of the patterns, and those without a label.

    A class belongs to the first pattern that fits it, whose number is the new label: ``("comp.*", "*")`` tells all
    classes whose names begin with "comp." from the others.
    """
    if sample.y is None or sample.classes is None:
        raise ValueError(f"{data} has no names of classes, of which {', '.join(patterns)} could be chosen.")
    labels = np.full(len(sample.classes), -2)
    for place, pattern in reversed(list(enumerate(patterns))):
        fits = [fnmatchcase(name, pattern) for name in sample.classes]
        if not any(fits):
            raise ValueError(f"{data} has no class {pattern!r}; {suggest(pattern, list(sample.classes))}")
        labels[fits] = place
    y = np.where(sample.y >= 0, labels[sample.y], -1)
    return replace(sample[y > -2], y=y[y > -2], classes=tuple(patterns))

"""Which rows of a binary problem are trained on, tested on, or left without a label; and labels turned wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._sample import Sample
from .._validation import UNLABELLED

TRAINING, TEST = 0, 1  # as published splits have them
LEAST_OF_A_CLASS = 2
PUBLIC_SHARE, PUBLIC_SEED = 0.3, 0


@dataclass(frozen=True)
class KnownLabels:
    """The share of the training labels that are kept, and the share of these that are flipped."""

    share: float = 1.0
    flipped: float = 0.0


@dataclass(frozen=True)
class Parts:
    """Numbers of the rows of each part, and the labels of the labelled ones, 0 or 1, as methods are given them."""

    labelled: NDArray[np.int64]
    unlabelled: NDArray[np.int64]
    test: NDArray[np.int64]
    labels: NDArray[np.int64]
    test_labels: NDArray[np.int64]

    @property
    def training(self) -> NDArray[np.int64]:
        """Labelled rows, then those without a label."""
        return np.concatenate([self.labelled, self.unlabelled])

    @property
    def given_labels(self) -> NDArray[np.int64]:
        """Labels of the training rows, -1 for those without one."""
        return np.concatenate([self.labels, np.full(len(self.unlabelled), UNLABELLED)])


def draw_parts(
    sample: Sample, known: KnownLabels, seed: int, *, test_share: float, unlabelled_share: float, data: str
) -> Parts:
    """The published split where there is one, otherwise a draw by class.

    Rows without a label are those that the data have; where there are none, `unlabelled_share` of the training rows.
    Of the labels that are left `known.share` are kept, at least two of each class; draws of one seed are nested, fewer
    labels a part of more. Then `known.flipped` of them, as many of each class, are flipped.
    """
    y = binary_labels(sample.y, data)
    training, test = _split(y, sample.split, seed, test_share)
    hidden = np.flatnonzero(y == UNLABELLED)
    draws = np.random.default_rng((seed, 1))
    if not len(hidden):
        training, hidden = _divided(training, y, 1 - unlabelled_share, draws)
    labelled, dropped = _divided(training, y, known.share, draws)
    unlabelled = np.sort(np.concatenate([hidden, dropped]))
    for part, rows in (("training", labelled), ("test", test)):
        if min(np.bincount(y[rows], minlength=2)) < (LEAST_OF_A_CLASS if part == "training" else 1):
            raise ValueError(f"{data} has too few rows of one class in its {part} part; take more rows.")
    labels = flipped(y[labelled], known.flipped, np.random.default_rng((seed, 2)))
    return Parts(labelled, unlabelled, test, labels, y[test])


def binary_labels(y: NDArray | None, data: str) -> NDArray[np.int64]:
    """Labels 0 and 1, and -1 for rows without one; other than two classes are refused."""
    known = np.empty(0) if y is None else np.unique(y[y >= 0])
    if y is None or len(known) != 2:
        raise ValueError(
            f"AUC needs two classes, and {data} has {len(known)}; name two, or two groups of them, by `classes`."
        )
    return np.where(y < 0, UNLABELLED, (y == known[1]).astype(np.int64))


def _split(y: NDArray, split: NDArray | None, seed: int, test_share: float) -> tuple[NDArray, NDArray]:
    """Labelled rows to train on and to test on."""
    has_label = y != UNLABELLED
    if split is not None:
        return np.flatnonzero(has_label & (split == TRAINING)), np.flatnonzero(has_label & (split == TEST))
    return _divided(np.flatnonzero(has_label), y, 1 - test_share, np.random.default_rng((seed, 0)))


def _divided(rows: NDArray, y: NDArray, share: float, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """That share of the rows of each class, but at least two where there are any, and the rest."""
    first, rest = [], []
    for label in (0, 1):
        drawn = rng.permutation(rows[y[rows] == label])
        size = max(LEAST_OF_A_CLASS, round(share * len(drawn)))
        first.append(drawn[:size])
        rest.append(drawn[size:])
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(rest))


def flipped(labels: NDArray, share: float, rng: np.random.Generator) -> NDArray:
    """Labels 0 and 1 of which that share is the other one, alike in both classes."""
    turned = labels.copy()
    for label in (0, 1):
        drawn = rng.permutation(np.flatnonzero(labels == label))
        turned[drawn[: round(share * len(drawn))]] = 1 - label
    return turned


def public_rows(labels: NDArray) -> NDArray[np.bool_]:
    """The 30 % of the test rows, by class, that the challenge's public scores are of; always the same."""
    rng = np.random.default_rng(PUBLIC_SEED)
    some = np.zeros(len(labels), dtype=bool)
    for label in (0, 1):
        drawn = rng.permutation(np.flatnonzero(labels == label))
        some[drawn[: max(1, round(PUBLIC_SHARE * len(drawn)))]] = True
    return some


def in_words(known: KnownLabels, shares: Sequence[float], flips: Sequence[float]) -> str:
    """What is known, as far as it differs from all labels as they are; shares and flips are all that are tried."""
    words = []
    if tuple(shares) != (1.0,):
        words.append("all labels" if known.share == 1 else f"{100 * known.share:g} % of the labels")
    if tuple(flips) != (0.0,):
        words.append("none flipped" if known.flipped == 0 else f"{100 * known.flipped:g} % flipped")
    return " and ".join(words)

"""Quick forests on labels: for the cells of their leaves, and for what they say of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.random import sample_without_replacement

from .._calls import n_threads
from .._validation import UNLABELLED, Matrix

GUIDING_ROWS = 20_000
GUIDING_TREES = 100
COLUMNS_PER_SPLIT = 0.3


def is_continuous(y: NDArray[Any]) -> bool:
    """Whether these are numbers to predict rather than labels."""
    return type_of_target(y).startswith("continuous")


def extra_trees(
    numbers: bool, n_trees: int, rng: np.random.RandomState, n_jobs: int | None, **more: Any
) -> ExtraTreesClassifier | ExtraTreesRegressor:
    """A forest of extremely randomised trees, for numbers or for labels."""
    kind = ExtraTreesRegressor if numbers else ExtraTreesClassifier
    return kind(n_trees, random_state=rng.randint(2**31 - 1), n_jobs=n_threads(n_jobs), **more)


def importances(X: Matrix, y: NDArray[Any], rng: np.random.RandomState, n_jobs: int | None) -> NDArray[np.float64]:
    """How much splits of each column gain in a forest on at most 20,000 rows with a label."""
    labelled = np.flatnonzero(y != UNLABELLED) if y.dtype.kind == "i" else np.arange(len(y))
    if len(labelled) > GUIDING_ROWS:
        labelled = np.sort(labelled[sample_without_replacement(len(labelled), GUIDING_ROWS, random_state=rng)])
    model = extra_trees(
        is_continuous(y), GUIDING_TREES, rng, n_jobs, min_samples_leaf=3, max_features=COLUMNS_PER_SPLIT
    )
    found: NDArray[np.float64] = model.fit(X[labelled], y[labelled]).feature_importances_
    return found

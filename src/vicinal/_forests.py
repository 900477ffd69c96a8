"""Quick forests on labels: for the cells of their leaves, and for what they say of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.random import sample_without_replacement

from ._calls import n_threads
from ._validation import UNLABELLED, Matrix

GUIDING_ROWS = 20_000
GUIDING_TREES = 100
COLUMNS_PER_SPLIT, MANY_COLUMNS = 0.3, 150  # of very many columns splits look at fewer, for time


def is_continuous(y: NDArray[Any]) -> bool:
    """Whether these are numbers to predict rather than labels."""
    return type_of_target(y).startswith("continuous")


def extra_trees(
    numbers: bool, n_trees: int, rng: np.random.RandomState, n_jobs: int | None, **more: Any
) -> ExtraTreesClassifier | ExtraTreesRegressor:
    """A forest of extremely randomised trees, for numbers or for labels."""
    kind = ExtraTreesRegressor if numbers else ExtraTreesClassifier
    return kind(n_trees, random_state=rng.randint(2**31 - 1), n_jobs=n_threads(n_jobs), **more)


def columns_per_split(share: float, n_columns: int) -> int:
    """That share of the columns, or of very many at most 150 or the root of their number."""
    return max(1, min(round(share * n_columns), max(MANY_COLUMNS, int(n_columns**0.5))))


def doubts(X: Matrix, y: NDArray[Any], rng: np.random.RandomState, n_jobs: int | None) -> NDArray[np.float64]:
    """How little trees that have not seen a row agree on its label, or how far off they are, 1 for the most."""
    numbers, labelled = is_continuous(y), _some_labelled(y, rng)
    looked_at = columns_per_split(COLUMNS_PER_SPLIT, X.shape[1])
    model = extra_trees(numbers, GUIDING_TREES, rng, n_jobs, min_samples_leaf=3, max_features=looked_at, bootstrap=True)
    model.set_params(oob_score=True).fit(X[labelled], y[labelled])
    if numbers:
        found = np.abs(model.predict(X) - y)
        found[labelled] = np.abs(model.oob_prediction_ - y[labelled])
    else:
        shares = model.predict_proba(X)
        shares[labelled] = model.oob_decision_function_
        found = 1 - shares.max(axis=1)
    return found / (found.max() or 1.0)


def _some_labelled(y: NDArray[Any], rng: np.random.RandomState) -> NDArray[np.intp]:
    """At most 20,000 rows with a label."""
    labelled = np.flatnonzero(y != UNLABELLED) if y.dtype.kind == "i" else np.arange(len(y))
    if len(labelled) > GUIDING_ROWS:
        labelled = np.sort(labelled[sample_without_replacement(len(labelled), GUIDING_ROWS, random_state=rng)])
    return labelled


def importances(X: Matrix, y: NDArray[Any], rng: np.random.RandomState, n_jobs: int | None) -> NDArray[np.float64]:
    """How much splits of each column gain in a forest on at most 20,000 rows with a label."""
    labelled = _some_labelled(y, rng)
    looked_at = columns_per_split(COLUMNS_PER_SPLIT, X.shape[1])
    model = extra_trees(is_continuous(y), GUIDING_TREES, rng, n_jobs, min_samples_leaf=3, max_features=looked_at)
    found: NDArray[np.float64] = model.fit(X[labelled], y[labelled]).feature_importances_
    return found

"""What groups learn of columns before they choose: ranks of values, and how useful columns are for the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import QuantileTransformer

from .._forests import importances
from .._validation import Matrix

KNOTS = 1000  # quantiles that are kept of a column
RANKED_ROWS = 100_000  # that quantiles are taken from


def fitted_ranker(X: Matrix, rng: np.random.RandomState) -> QuantileTransformer:
    """Turns values into shares of training rows below them, ties counting half; missing ones stay."""
    if sp.issparse(X):
        raise ValueError("Columns by rank need a dense matrix; X is sparse, so ranks must be 0.")
    ranker = QuantileTransformer(
        n_quantiles=min(KNOTS, X.shape[0]), subsample=RANKED_ROWS, random_state=rng.randint(2**31 - 1)
    )
    return ranker.fit(X)


def usefulness(
    guide: Any, X: Matrix, y: ArrayLike | None, rng: np.random.RandomState, n_jobs: int | None
) -> NDArray[np.float64] | None:
    """How useful columns are, 1 for the most useful: what is given, or a forest's importances."""
    if guide is None:
        return None
    if isinstance(guide, str):
        if guide != "forest":
            raise ValueError(f'guide must be None, "forest" or a number for each column; got {guide!r}.')
        if y is None:
            raise ValueError('guide="forest" learns from labels which columns are useful; fit needs y.')
        found = importances(X, np.asarray(y), rng, n_jobs)
        return found / found.max() if found.any() else np.ones_like(found)
    weights = np.asarray(guide, dtype=np.float64)
    if weights.shape != (X.shape[1],):
        raise ValueError(f"guide has the shape {weights.shape}; it needs a number for each of {X.shape[1]} columns.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("guide must have numbers of at least 0, not all of them 0.")
    return weights / weights.max()

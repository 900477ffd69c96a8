"""Uniform noise as the papers make it."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._preparation import extremes


def add_noise(X: Any, kind: str, seed: int) -> Any:
    """Uniform noise.

    "add" and "append": between the least and the largest value, in a tenth as many columns (RandLocal's paper, section
    4.5). "columns" and "rows": a tenth of them replaced, each value by one within its column's range (RULLS' paper,
    section 4.4).
    """
    if kind == "none":
        return X
    rng = np.random.default_rng(seed)
    if kind in ("columns", "rows"):
        return _corrupted(X, kind, rng)
    width = int(np.ceil(0.1 * X.shape[1]))
    noise = rng.uniform(*extremes(X), (X.shape[0], width)).astype(X.dtype)
    if kind == "append":
        return sp.hstack([X, noise], format="csr") if sp.issparse(X) else np.hstack([X, noise])
    columns = rng.choice(X.shape[1], width, replace=False)
    if sp.issparse(X):
        ends = np.arange(0, noise.size + 1, width)
        return X + type(X)((noise.ravel(), np.tile(columns, X.shape[0]), ends), shape=X.shape)
    noisy = X.copy()
    noisy[:, columns] += noise
    return noisy


def _corrupted(X: Any, kind: str, rng: np.random.Generator) -> Any:
    size = X.shape[kind == "columns"]
    places = np.sort(rng.choice(size, int(np.ceil(0.1 * size)), replace=False))
    if sp.issparse(X):
        low, high = (side.toarray().ravel() for side in (X.nanmin(axis=0), X.nanmax(axis=0)))
    else:
        low, high = np.fmin.reduce(X), np.fmax.reduce(X)  # a column without any value has no range, and no warning
    low, high = np.nan_to_num(low), np.nan_to_num(high)
    noisy = X.tolil() if sp.issparse(X) else X.copy()
    if kind == "rows":
        noisy[places] = rng.uniform(low, high, (len(places), X.shape[1]))
    else:
        noisy[:, places] = rng.uniform(low[places], high[places], (X.shape[0], len(places)))
    return noisy.tocsr() if sp.issparse(X) else noisy

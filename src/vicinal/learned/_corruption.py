"""Damage to rows, from which denoising autoencoders learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .._validation import check_choice, check_non_negative

Dense = NDArray[Any]


def corruption(
    kind: str, level: float, X: Dense, batch_size: int, rng: np.random.Generator
) -> Callable[[Dense], Dense]:
    """A function that damages batches of X afresh at every call, in memory that is allocated once.

    Noise is drawn in single precision for double precision, too, so that both see the same damage.
    """
    check_choice("corruption", kind, ("masking", "gaussian"))
    check_non_negative("level", level)
    if kind == "masking" and level >= 1:
        raise ValueError(f"level must be below 1 where corruption='masking', or no entry is left; got {level!r}.")
    noise = np.empty((batch_size, X.shape[1]), dtype=np.float32)
    rows = np.empty((batch_size, X.shape[1]), dtype=X.dtype)

    def masked(clean: Dense) -> Dense:
        n = len(clean)
        rng.random(out=noise[:n], dtype=np.float32)
        return np.multiply(clean, noise[:n] >= level, out=rows[:n])

    if kind == "masking":
        return masked
    deviations = (level * _column_spread(X)).astype(X.dtype)

    def noisy(clean: Dense) -> Dense:
        n = len(clean)
        rng.standard_normal(out=noise[:n], dtype=np.float32)
        np.multiply(noise[:n], deviations, out=rows[:n])
        return np.add(rows[:n], clean, out=rows[:n])

    return noisy


def _column_spread(X: Dense) -> NDArray[np.float64]:
    """Standard deviations of the columns, in blocks of rows: X may be large."""
    mean = X.mean(axis=0, dtype=np.float64)
    squares = np.zeros(X.shape[1])
    for block in gen_batches(len(X), 1024):
        squares += ((X[block] - mean) ** 2).sum(axis=0)
    return np.sqrt(squares / len(X))

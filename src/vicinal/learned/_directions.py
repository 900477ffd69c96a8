"""Few directions of many features: random signs, or directions that know the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import Matrix

Floats = NDArray[np.float64]

ROUNDING = 1e-10  # what is left of a vector, as a share of it, where others span it


def random_signs(n_features: int, n_directions: int, random_state: np.random.RandomState) -> Floats:
    """The binary projection of Achlioptas: squared lengths stay the same on average."""
    return random_state.choice([-1.0, 1.0], (n_features, n_directions)) / np.sqrt(n_directions)


class ClassSums:
    """Sums over labelled rows, block by block, that give the centred rows' X'X and each class' share of their sum."""

    def __init__(self, n_features: int, n_classes: int):
        self.by_class, self.counts = np.zeros((n_features, n_classes)), np.zeros(n_classes)
        self.products: Any = 0.0

    def add(self, features: Matrix, places: NDArray[np.intp]) -> None:
        """Rows with the places of their classes."""
        indicators = np.eye(len(self.counts))[places]
        self.products = self.products + features.T @ features  # stays sparse where rows are
        self.by_class += features.T @ indicators
        self.counts += indicators.sum(axis=0)

    def towards(self) -> Floats:
        return self.by_class - np.outer(self.by_class.sum(axis=1), self.counts / self.counts.sum())

    def covariance(self, vector: Floats) -> Floats:
        total = self.by_class.sum(axis=1)
        return self.products @ vector - total * (total @ vector / self.counts.sum())


def label_directions(towards: Floats, covariance: Callable[[Floats], Floats], n_directions: int) -> Floats:
    """An orthonormal basis of the Krylov space that partial least squares works in.

    Parameters
    ----------
    towards : ndarray of shape (n_features, n_classes)
        The sums of each class' centred rows.
    covariance : callable
        The product of the centred rows' X'X with a vector.
    n_directions : int
        Fewer are returned where the space has no more.

    Returns
    -------
    ndarray of shape (n_features, at most n_directions)
        The first ones point from class to class, each next one is what the covariance makes of a former one.
    """
    # The classes' sums add up to zero, so that one of them says nothing more.
    found, waiting = np.zeros((len(towards), 0)), list(towards[:, 1:].T)
    while waiting and found.shape[1] < n_directions:
        direction = waiting.pop(0)
        length = float(np.linalg.norm(direction))
        for _ in range(2):  # once more takes away what rounding has left
            direction = direction - found @ (found.T @ direction)
        left = float(np.linalg.norm(direction))
        if left <= ROUNDING * length:
            continue
        found = np.column_stack([found, direction / left])
        waiting.append(covariance(found[:, -1]))
    return found

"""Networks of pairs of rows, whose output should be 1 for rows of one class and -1 for others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ._epochs import first_column_weights

Floats = NDArray[Any]
Places = NDArray[np.intp]

LARGEST_SUM = 1e18  # sums of two such are still finite


class _Layers(ABC):
    """Layers of tanh after the first one's sums: `others` are its biases, then weights and biases of each other one."""

    pair_weights: tuple[float, float] = (1.0, 1.0)  # of one class, and of two

    def __init__(self, column_weights: Floats, others: list[Floats]):
        self.column_weights, self.others = column_weights, others

    @property
    def biases(self) -> list[Floats]:
        return [self.others[0], *self.others[2::2]]

    @property
    def weights(self) -> list[Floats]:
        return self.others[1::2]

    def _units(self, sums: Floats) -> list[Floats]:
        """Each layer's units, of rows or pairs whose sums (biases included) at the first layer are given."""
        units = [np.tanh(sums)]
        for weights, biases in zip(self.weights, self.biases[1:], strict=True):
            units.append(np.tanh(units[-1] @ weights + biases))
        return units

    def _back(self, units: list[Floats], slopes: Floats) -> tuple[Floats, list[Floats]]:
        """From slopes by the last layer's units to those by the first one's sums, and by all `others`."""
        others: list[Floats] = []
        for layer in range(len(units) - 1, -1, -1):
            slopes = slopes * (1 - units[layer] ** 2)
            others.insert(0, slopes.sum(axis=0))
            if layer:
                others.insert(0, units[layer - 1].T @ slopes)
                slopes = slopes @ self.weights[layer - 1].T
        return slopes, others

    def _pair_slopes(self, kernel: Floats, classes: Places) -> tuple[float, Floats]:
        """The squared loss of all pairs of different rows (Eq. 10), and its slopes by the kernel.

        Pairs of one class weigh as much in all as pairs of two, where classes are as frequent as in training.
        """
        same = classes[:, np.newaxis] == classes
        weights = np.where(same, *self.pair_weights).astype(kernel.dtype) / max(len(classes) * (len(classes) - 1), 1)
        np.fill_diagonal(weights, 0)
        errors = kernel - np.where(same, 1, -1).astype(kernel.dtype)
        weighted = weights * errors
        return float(np.vdot(weighted, errors)), 2 * weighted

    def balance(self, classes: Places) -> None:
        """Sets the weights of pairs: 1 on average, for as many pairs of one class as of two."""
        shares = np.bincount(classes) / len(classes)
        same = float(shares @ shares)
        self.pair_weights = (0.5 / same, 0.5 / (1 - same))

    @abstractmethod
    def kernel(self, sums: Floats, other_sums: Floats, n_threads: int = 1) -> Floats:
        """Of rows with other rows, by the sums of both."""

    def quality(self, sums: Floats, classes: Places) -> float:
        """The centred alignment with the kernel of the classes."""
        target = np.where(classes[:, np.newaxis] == classes, 1.0, -1.0)
        return _centred_alignment(self.kernel(sums, sums).astype(np.float64), target)


class PairNetwork(_Layers):
    """K(x, x') by one network of both rows: the first layer's sums are a(x) + b(x').

    `column_weights` has those of a side by side with those of b.
    """

    def slopes(self, sums: Floats, classes: Places) -> tuple[float, Floats, list[Floats]]:
        n_rows, n_units = len(sums), sums.shape[1] // 2
        pairs = sums[:, np.newaxis, :n_units] + (sums[:, n_units:] + self.others[0])
        units = self._units(pairs.reshape(n_rows * n_rows, n_units))
        loss, by_kernel = self._pair_slopes(units[-1].reshape(n_rows, n_rows), classes)
        by_pairs, others = self._back(units, by_kernel.reshape(-1, 1))
        by_pairs = by_pairs.reshape(n_rows, n_rows, n_units)
        return loss, np.hstack([by_pairs.sum(axis=1), by_pairs.sum(axis=0)]), others

    def kernel(self, sums: Floats, other_sums: Floats, n_threads: int = 1) -> Floats:
        """Symmetrised: (K(x, x') + K(x', x)) / 2, in single precision."""
        out = np.empty((len(sums), len(other_sums)), dtype=np.float32)
        weights = [np.ascontiguousarray(part, dtype=np.float64) for part in self.weights]
        biases = [np.ascontiguousarray(part, dtype=np.float64) for part in self.biases[1:]]
        if out.size:
            _native.pair_kernel(*self._sides(sums), *self._sides(other_sums), weights, biases, out, n_threads)
        return out

    def _sides(self, sums: Floats) -> tuple[Floats, Floats]:
        n_units, sums = sums.shape[1] // 2, np.clip(sums, -LARGEST_SUM, LARGEST_SUM)
        left, right = sums[:, :n_units] + self.others[0], sums[:, n_units:]
        return np.ascontiguousarray(left, dtype=np.float32), np.ascontiguousarray(right, dtype=np.float32)


class ProductNetwork(_Layers):
    """K(x, x') = sum_s phi_s(x) phi_s(x'), phi the last layer's units over the root of their number."""

    def slopes(self, sums: Floats, classes: Places) -> tuple[float, Floats, list[Floats]]:
        units = self._units(sums + self.others[0])
        n_units = units[-1].shape[1]
        loss, by_kernel = self._pair_slopes(units[-1] @ units[-1].T / n_units, classes)
        return loss, *self._back(units, (by_kernel + by_kernel.T) @ units[-1] / n_units)

    def features(self, sums: Floats) -> Floats:
        units = self._units(np.clip(sums, -LARGEST_SUM, LARGEST_SUM) + self.others[0])[-1]
        units *= units.dtype.type(1 / np.sqrt(units.shape[1]))
        return units

    def kernel(self, sums: Floats, other_sums: Floats, n_threads: int = 1) -> Floats:
        product: Floats = self.features(sums) @ self.features(other_sums).T
        return product


FORMS: dict[str, type[_Layers]] = {"pairs": PairNetwork, "products": ProductNetwork}


def first_network(form: str, n_columns: int, sizes: list[int], dtype: Any, rng: np.random.Generator) -> Any:
    """A network with random weights, of layers of these sizes."""
    n_sums = 2 * sizes[0] if form == "pairs" else sizes[0]
    sizes = [*sizes, 1] if form == "pairs" else sizes
    columns = first_column_weights(n_columns, n_sums, dtype, rng)
    others = [rng.uniform(-0.1, 0.1, sizes[0]).astype(dtype)]
    for n_in, n_out in pairwise(sizes):
        others.append((rng.standard_normal((n_in, n_out)) / np.sqrt(n_in)).astype(dtype))
        others.append(np.zeros(n_out, dtype=dtype))
    return FORMS[form](columns, others)


def _centred_alignment(kernel: Floats, target: Floats) -> float:
    """The cosine between two kernels whose rows have been moved to a mean of 0; 0 where one is zero then."""
    kernel, target = (
        part - part.mean(axis=0) - part.mean(axis=1)[:, np.newaxis] + part.mean() for part in (kernel, target)
    )
    lengths = float(np.linalg.norm(kernel) * np.linalg.norm(target))
    return float(np.vdot(kernel, target)) / lengths if lengths > len(kernel) * np.finfo(float).eps else 0.0

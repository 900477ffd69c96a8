"""Rules of the form "this column is above this threshold, and that one above that": what they say of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .._validation import Matrix

Floats = NDArray[np.float64]
BLOCK_ENTRIES = 2**24  # of rows times rules that are held at a time


@dataclass(frozen=True)
class Rules:
    """One rule per round; a rule of one column has -1 for the second one, and minus infinity for its threshold."""

    columns: NDArray[np.int64]
    thresholds: Floats
    second_columns: NDArray[np.int64]
    second_thresholds: Floats
    weights: Floats

    @cached_property
    def _distinct(self) -> tuple[Rules, NDArray[np.intp]]:
        """Equal rules once, with the sums of their weights, and which of them each round has."""
        parts = self.columns, self.thresholds, self.second_columns, self.second_thresholds
        unique, places = np.unique(np.column_stack(parts).astype(np.float64), axis=0, return_inverse=True)
        places = places.ravel()
        columns, thresholds, second_columns, second_thresholds = unique.T
        weights = np.bincount(places, self.weights, len(unique)).astype(np.float64)
        whole = columns.astype(np.int64), second_columns.astype(np.int64)
        return Rules(whole[0], thresholds, whole[1], second_thresholds, weights), places

    def scores(self, X: Matrix) -> Floats:
        """H(x) = sum_t alpha_t h_t(x) (Eq. 6)."""
        rules, _ = self._distinct
        return np.concatenate([holding @ rules.weights for holding in rules._holding_by_blocks(X, np.float64)])

    def staged_scores(self, X: Matrix) -> Iterator[Floats]:
        """The scores after each round."""
        rules, places = self._distinct
        holding, scores = rules._holding(X, np.float64), np.zeros(X.shape[0])
        for place, weight in zip(places, self.weights, strict=True):
            scores[holding.indices[holding.indptr[place] : holding.indptr[place + 1]]] += weight
            yield scores.copy()

    def features(self, X: Matrix) -> sp.csr_array:
        """alpha_t h_t(x), one column per round (Eq. 9)."""
        rules, places = self._distinct
        parts = []
        for holding in rules._holding_by_blocks(X, X.dtype):
            columns = holding[:, places]
            columns.data *= np.repeat(self.weights, np.diff(columns.indptr)).astype(X.dtype)
            parts.append(sp.csr_array(columns))
        return _below_each_other(parts)

    def by_column(self, X: Matrix) -> sp.csr_array:
        """The sums of alpha_t h_t(x) over the rules of each column that is used."""
        rules, _ = self._distinct
        used, places = np.unique(rules.columns, return_inverse=True)
        n = len(places)
        gathered = sp.csr_array((rules.weights, (np.arange(n), places)), shape=(n, len(used)))
        parts = [sp.csr_array(holding) @ gathered for holding in rules._holding_by_blocks(X, np.float64)]
        return sp.csr_array(_below_each_other(parts).astype(X.dtype))

    def importances(self, n_features: int) -> Floats:
        """Each column's share of the rules' absolute weights, of which the two columns of a rule have half each."""
        amounts, paired = np.abs(self.weights), self.second_columns >= 0
        sums = np.bincount(self.columns, np.where(paired, amounts / 2, amounts), n_features)
        sums += np.bincount(self.second_columns[paired], amounts[paired] / 2, n_features)
        return sums / max(float(sums.sum()), np.finfo(float).tiny)

    def strongest(self, most: int) -> Rules:
        """Equal rules once, with the sums of their weights, those of the largest absolute weights first."""
        rules, _ = self._distinct
        order = np.argsort(-np.abs(rules.weights), kind="stable")[:most]
        first = rules.columns[order], rules.thresholds[order]
        return Rules(*first, rules.second_columns[order], rules.second_thresholds[order], rules.weights[order])

    def counts(self, X: Matrix) -> NDArray[np.int64]:
        """For how many rows each rule holds."""
        parts = (np.diff(holding.indptr) for holding in self._holding_by_blocks(X, np.int8))
        return np.sum(list(parts), axis=0, dtype=np.int64)

    def words(self, names: Sequence[str]) -> list[str]:
        """Each rule as people write it."""
        lines = []
        for column, threshold, second, second_threshold in zip(
            self.columns, self.thresholds, self.second_columns, self.second_thresholds, strict=True
        ):
            line = f"{names[column]} > {threshold:g}"
            lines.append(line if second < 0 else f"{line} and {names[second]} > {second_threshold:g}")
        return lines

    def _holding_by_blocks(self, X: Matrix, dtype: Any) -> Iterator[sp.csc_array]:
        """Blocks of rows, where rules that hold for zeros make their columns dense."""
        second = self.second_thresholds[self.second_columns >= 0]
        stays_sparse = sp.issparse(X) and min(self.thresholds.min(initial=0), second.min(initial=0)) >= 0
        if stays_sparse or X.shape[0] * len(self.columns) <= BLOCK_ENTRIES:
            yield self._holding(X, dtype)
            return
        for rows in gen_batches(X.shape[0], max(1, BLOCK_ENTRIES // len(self.columns))):
            yield self._holding(X[rows], dtype)

    def _holding(self, X: Matrix, dtype: Any) -> sp.csc_array:
        """1 where a rule holds for a row: one column per rule."""
        paired = np.flatnonzero(self.second_columns >= 0)
        both = sp.csc_array(_above(X, self.columns, self.thresholds, dtype))
        if not len(paired):
            return both
        alone = np.flatnonzero(self.second_columns < 0)
        second = _above(X, self.second_columns[paired], self.second_thresholds[paired], dtype)
        parts = sp.hstack([both[:, alone], both[:, paired].multiply(second)], format="csc")
        return sp.csc_array(parts[:, np.argsort(np.concatenate([alone, paired]))])


def _below_each_other(parts: list[sp.csr_array]) -> sp.csr_array:
    return parts[0] if len(parts) == 1 else sp.csr_array(sp.vstack(parts, format="csr"))


def _above(X: Matrix, columns: NDArray[np.int64], thresholds: Floats, dtype: Any) -> sp.csc_array:
    """1 where a column is above a threshold, for each pair of them."""
    if not sp.issparse(X):
        return sp.csc_array((X[:, columns] > thresholds).astype(dtype))
    used, places = np.unique(columns, return_inverse=True)
    taken = sp.csc_array(X[:, used])
    taken.sum_duplicates()
    few, most = np.flatnonzero(thresholds >= 0), np.flatnonzero(thresholds < 0)  # most rows have zeros
    entries = taken[:, places[few]]
    kept = entries.data > np.repeat(thresholds[few], np.diff(entries.indptr))
    starts = np.concatenate([[0], np.cumsum(kept)])[entries.indptr]
    sparse = sp.csc_array((np.ones(starts[-1], dtype), entries.indices[kept], starts), shape=entries.shape)
    if not len(most):
        return sparse
    dense = sp.csc_array((taken[:, places[most]].toarray() > thresholds[most]).astype(dtype))
    return sp.csc_array(sp.hstack([sparse, dense], format="csc")[:, np.argsort(np.concatenate([few, most]))])

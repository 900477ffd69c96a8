"""How likely links and non-links are, if rows that share columns are linked."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from .._validation import Matrix

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

_BLOCK = 2**22  # values of rows held at a time


def sample_non_links(links: Pairs, n_nodes: int, random_state: Any) -> Pairs:
    """As many pairs that are not linked as there are links, or all, uniformly and each at most once.

    `links` has each pair once, the smaller number first, in ascending order.
    """
    row_starts = np.arange(n_nodes) * (2 * n_nodes - np.arange(n_nodes) - 1) // 2  # where pairs (i, i + 1), ... begin
    linked = row_starts[links[:, 0]] + links[:, 1] - links[:, 0] - 1
    n_others = n_nodes * (n_nodes - 1) // 2 - len(links)
    if n_others <= len(links):
        drawn = np.arange(n_others)
    else:
        drawn = sample_without_replacement(n_others, len(links), random_state=check_random_state(random_state))
        drawn = np.sort(drawn).astype(np.int64)
    # The r-th pair that is not linked: r, and one more for each link before it.
    places = drawn + np.searchsorted(linked - np.arange(len(linked)), drawn, side="right")
    first = np.searchsorted(row_starts, places, side="right") - 1
    first = np.minimum(first, n_nodes - 2)
    return np.column_stack([first, places - row_starts[first] + first + 1])


class LinkLikelihood:
    """Minus the logarithm of how likely links and non-links are (thesis, Eq. 4.5), a convex function of s and b.

    A pair is linked with probability 1 / (1 + exp(-x_i' diag(s) x_j - b)).
    """

    def __init__(self, X: Matrix, links: Pairs, non_links: Pairs):
        self.X = X
        self.pairs = np.concatenate([links, non_links])
        self.is_link = np.repeat([1.0, 0.0], [len(links), len(non_links)])
        self.products = self._sparse_products() if sp.issparse(X) else None
        self.transposed = None if self.products is None else sp.csr_array(self.products.T)

    def __call__(self, s: Array, b: float) -> tuple[float, Array, float]:
        """The value, and its slopes in s (4.13) and in b (4.17)."""
        affinities = self.affinities(s) + b
        value = np.logaddexp(0, np.where(self.is_link, -affinities, affinities)).sum()
        excess = expit(affinities) - self.is_link
        return float(value), self._weighted_sums(excess), float(excess.sum())

    def affinities(self, s: Array) -> Array:
        """x_i' diag(s) x_j of every pair (4.1)."""
        if self.products is not None:
            return self.products @ s
        weighted = self.X * s
        found = np.empty(len(self.pairs))
        for block in self._blocks(self.X.shape[1]):
            first, second = self.pairs[block].T
            found[block] = np.einsum("ij,ij->i", weighted[first], self.X[second])
        return found

    def _weighted_sums(self, weights: Array) -> Array:
        """sum of weight * x_ip x_jp over the pairs, for every column p."""
        if self.transposed is not None:
            return self.transposed @ weights
        n = self.X.shape[0]
        between = sp.csr_array(sp.coo_array((weights, tuple(self.pairs.T)), shape=(n, n)))
        return np.einsum("ij,ij->j", self.X, between @ self.X)

    def _sparse_products(self) -> sp.csr_array:
        parts = []
        for block in self._blocks(max(1, self.X.nnz // self.X.shape[0])):
            first, second = self.pairs[block].T
            parts.append(sp.csr_array(self.X[first].multiply(self.X[second])))
        return sp.csr_array(sp.vstack(parts))

    def _blocks(self, values_per_row: int) -> list[slice]:
        step = max(1, _BLOCK // values_per_row)
        return [slice(start, start + step) for start in range(0, len(self.pairs), step)]

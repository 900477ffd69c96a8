"""Each row's softmax distribution over the other rows, and what becomes of it when columns are weighted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import logsumexp
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from .. import _native
from .._magnitudes import unit_rows
from .._validation import Matrix
from ..graphs import nearest_rows

Vector = NDArray[np.float64]

BLOCK_ENTRIES = 2**22  # of dense products at a time: 32 MB
STEP, WIDEST = 3.0, 21.0  # of the logarithm of the scale, while it is looked for; beyond, affinities are rounded


class StochasticNeighbors:
    """Softmax distributions of scaled, weighted affinities between the rows of X.

    The affinity of rows i and j is ``sum_t w_t x_it x_jt`` ("inner"), the same of rows that have been given unit length
    ("cosine"), or ``-sum_t w_t (x_it - x_jt)^2`` ("euclidean"). Of the last, what depends on i alone leaves the softmax
    as it is, so that all are products of rows and a number per row j. CSR rows go through compiled loops, one row of
    products at a time; dense ones through blocks of matrix products. No n x n matrix is ever held.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, D)
    affinity : "inner", "cosine" or "euclidean"
    n_neighbors : int or None
        In place of all other rows, so many nearest ones (by the affinity with all columns) and as many random ones,
        each of which stands for its share of the rest.
    n_threads : int
    random_state : RandomState
        Draws these.
    """

    def __init__(
        self,
        X: Matrix,
        affinity: str,
        n_neighbors: int | None = None,
        n_threads: int = 1,
        random_state: np.random.RandomState | None = None,
    ):
        self.n_rows, self.n_columns = X.shape
        self.euclidean = affinity == "euclidean"
        self.n_threads = n_threads
        self.sparse = sp.issparse(X)
        self.X: Matrix = _canonical(X) if self.sparse else np.ascontiguousarray(X, dtype=np.float64)
        if affinity == "cosine":
            self.X = unit_rows(self.X)
        if self.euclidean and not self.sparse:
            self.X = self.X - self.X.mean(axis=0)  # distances stay, and lose no digits to a far origin
        # What is taken from all others alike changes no softmax of products, but spares digits.
        self.others: Matrix = self.X if self.euclidean or self.sparse else self.X - self.X.mean(axis=0)
        if self.euclidean:
            self.squares = self.X.multiply(self.X).tocsr() if self.sparse else self.X * self.X
        if self.sparse:
            self.rows = _native.sparse_rows(self.X)
        self.candidates, self.n_sampled, self.share = None, 0, 1.0
        if n_neighbors is not None and 2 * n_neighbors < self.n_rows - 1:
            assert random_state is not None
            metric = "euclidean" if self.euclidean else "inner"
            _, found = nearest_rows(self.X, n_neighbors=n_neighbors, metric=metric, n_jobs=n_threads)
            nearest = found.astype(np.int32)
            self.candidates = np.hstack([nearest, _sample_others(nearest, random_state)])
            self.n_sampled, self.share = n_neighbors, (self.n_rows - 1 - n_neighbors) / n_neighbors

    def softmax(self, weights: Vector, scale: float, *, with_gradient: bool) -> tuple[float, float, Vector]:
        """Sums over the rows: of the logarithms of the denominators, of the entropies (in nats), and, if wanted, the
        gradient of the former by the weights."""
        factor, bias = self._as_products(weights)
        if self.sparse:
            gradient, received = np.zeros(self.n_columns), np.zeros(self.n_rows)
            log_totals, entropies = _native.softmax_of_products(
                self.rows,
                factor,
                bias,
                scale,
                self.candidates,
                self.n_sampled,
                self.share,
                gradient if with_gradient else None,
                received if with_gradient else None,
                n_threads=self.n_threads,
            )
        else:
            log_totals, entropies, gradient, received = self._dense_softmax(factor, bias, scale, with_gradient)
        if with_gradient and self.euclidean:
            gradient = 2 * gradient - scale * (self.squares.T @ received)
        return log_totals, entropies, gradient

    def scale_of(self, perplexity: float) -> float:
        """1 / sigma^2 for which the mean entropy of all rows is log(perplexity): (2.6), whose base does not matter.

        Rows that have more equals than that keep them: then it is a little more than the least that is possible.
        """
        ones = np.ones(self.n_columns)

        def entropy(log_scale: float) -> float:
            return self.softmax(ones, np.exp(log_scale), with_gradient=False)[1] / self.n_rows

        middle = -np.log(max(float(row_norms(self.X, squared=True).mean()), 1e-200))
        least, most = entropy(middle + WIDEST), np.log(self.n_rows - 1)
        if most - least < 1e-6:
            return float(np.exp(middle))  # equal rows: every scale gives the same distributions
        wanted = max(np.log(perplexity), least + 0.01 * (most - least))
        low = high = middle
        while entropy(low) <= wanted and low > middle - WIDEST:
            low -= STEP
        while entropy(high) > wanted:
            high += STEP
        return float(np.exp(brentq(lambda log_scale: entropy(log_scale) - wanted, low, high, xtol=1e-6)))

    def _as_products(self, weights: Vector) -> tuple[Vector, Vector | None]:
        return (2 * weights, -(self.squares @ weights)) if self.euclidean else (weights, None)

    def _dense_products(self, factor: Vector, bias: Vector | None) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Products of a block of rows with all rows; those of a row with itself are -inf."""
        for part in gen_batches(self.n_rows, max(1, BLOCK_ENTRIES // self.n_rows)):
            block = (self.X[part] * factor) @ self.others.T
            if bias is not None:
                block += bias
            block[np.arange(block.shape[0]), np.arange(part.start, part.stop)] = -np.inf
            yield part, block

    def _dense_softmax(
        self, factor: Vector, bias: Vector | None, scale: float, with_gradient: bool
    ) -> tuple[float, float, Vector, Vector]:
        log_totals = entropies = 0.0
        gradient, received = np.zeros(self.n_columns), np.zeros(self.n_rows)
        for part, block in self._dense_products(factor, bias):
            others = None if self.candidates is None else self.candidates[part]
            exponents = scale * (block if others is None else np.take_along_axis(block, others, axis=1))
            share = np.ones(exponents.shape[1])
            share[len(share) - self.n_sampled :] = self.share
            highest = exponents.max(axis=1, keepdims=True)
            exponents -= highest  # else what is left of the entropy would cancel
            totals = logsumexp(exponents, axis=1, b=share)
            q = np.exp(exponents - totals[:, None]) * share
            log_totals += float(totals.sum() + highest.sum())
            exponents[np.isneginf(exponents)] = 0
            entropies += float(totals.sum() - np.vdot(q, exponents))
            if not with_gradient:
                continue
            if others is not None:
                block.fill(0)
                np.add.at(block, (np.arange(len(block))[:, None], others), q)  # a row may be drawn twice
                q = block
            gradient += scale * np.einsum("ij,ij->j", q @ self.others, self.X[part])
            received += q.sum(axis=0)
        return log_totals, entropies, gradient, received


class NeighborLoss:
    """KL(p_i || q_i(w)) summed over the rows, plus penalty sum(w): objective (2.7), which is convex.

    Affinities are linear in w, hence ``sum_ij p_ij log(1 / q_ij) = -c'w + sum_i log Z_i(w)``, where c is the gradient
    of the last term at w = 1, where q is p. So p itself is not needed again.
    """

    def __init__(self, neighbors: StochasticNeighbors, scale: float, penalty: float):
        self.neighbors, self.scale, self.penalty = neighbors, scale, penalty
        _, self.entropy, self.linear = neighbors.softmax(np.ones(neighbors.n_columns), scale, with_gradient=True)

    def __call__(self, weights: Vector) -> tuple[float, Vector]:
        log_totals, _, gradient = self.neighbors.softmax(weights, self.scale, with_gradient=True)
        value = log_totals - self.entropy - float(self.linear @ weights) + self.penalty * float(weights.sum())
        return value, gradient - self.linear + self.penalty


def _sample_others(nearest: NDArray[np.int32], random_state: np.random.RandomState) -> NDArray[np.int32]:
    """For every row as many random rows as there are nearest ones, neither one of these nor the row itself."""
    n, k = nearest.shape
    excluded = np.sort(np.hstack([nearest, np.arange(n, dtype=np.int32)[:, None]]), axis=1)
    skipped = excluded - np.arange(k + 1, dtype=np.int32)
    ranks = random_state.randint(n - 1 - k, size=(n, k)).astype(np.int32)
    for i in range(n):
        ranks[i] += np.searchsorted(skipped[i], ranks[i], side="right").astype(np.int32)
    return ranks


def _canonical(X: Matrix) -> Matrix:
    """In double precision, without duplicates and without stored zeros."""
    X = sp.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X

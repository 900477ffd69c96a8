"""How well the Gaussian kernel of weighted columns agrees with a graph between the rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .. import _native
from .._magnitudes import as_doubles
from .._validation import Matrix

Vector = NDArray[np.float64]

BLOCK_ENTRIES = 2**21  # of dense products at a time: 16 MB


class KernelAlignment:
    """The objective (6.14), to be minimised: ``-Tr(H G H K) + penalty sum(s)``, with H = I - 11'/n.

    ``K_ij = exp(-||s * (x_i - x_j)||^2 / bandwidth)``. With ``C = H G H`` and ``M = C * K``, both elementwise, the
    slope (6.15) is ``s_p c_p + penalty`` with the column's coefficient ``c_p = 2 / bandwidth sum_ij M_ij (x_ip -
    x_jp)^2``; and that sum is ``2 (X * X)' r - 2 diag(X' M X)`` with the sums r of the rows of M. Nothing of the size
    rows x rows is held: CSR rows go through compiled loops, a row at a time, dense ones through blocks of products.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_columns)
    graph : csr_array of shape (n, n)
        Symmetric, without edges of a row to itself.
    bandwidth : float
    n_threads : int
    """

    def __init__(self, X: Matrix, graph: sp.csr_array, bandwidth: float, n_threads: int = 1):
        self.n_rows, self.n_columns = X.shape
        self.bandwidth, self.n_threads = bandwidth, n_threads
        self.penalty = 0.0
        self.graph = graph
        self.means = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel() / self.n_rows
        self.mean = float(self.means.mean())
        self.X: Matrix = as_doubles(X)
        self.sparse = sp.issparse(X)
        if self.sparse:
            if not self.X.data.all():
                self.X = self.X.copy()  # what is given is left as it is
                self.X.eliminate_zeros()
            self.rows = _native.sparse_rows(self.X)
            self.squares = self.X.multiply(self.X).tocsr()
        else:
            self.X = self.X - self.X.mean(axis=0)  # distances stay, and lose no digits to a far origin
            self.squares = self.X * self.X

    def __call__(self, s: Vector) -> tuple[float, Vector]:
        alignment, coefficients = self.aligned(s)
        return self.penalty * float(s.sum()) - alignment, s * coefficients + self.penalty

    def aligned(self, s: Vector, *, everywhere: bool = False) -> tuple[float, Vector]:
        """Tr(H G H K), and the coefficients of the columns: of those with s > 0 or, where `everywhere`, of all."""
        weights = s * s
        lengths = self.squares @ weights
        total, received, products = (self._sparse_sums if self.sparse else self._dense_sums)(
            weights, lengths, everywhere
        )
        on_diagonal = self.n_rows * self.mean - 2 * float(self.means.sum())
        coefficients = 4 / self.bandwidth * (self.squares.T @ received - 2 * products)
        if not everywhere:
            coefficients[s == 0] = 0
        return on_diagonal + 2 * total, coefficients

    def _sparse_sums(self, weights: Vector, lengths: Vector, everywhere: bool) -> tuple[float, Vector, Vector]:
        received, products = np.zeros(self.n_rows), np.zeros(self.n_columns)
        total = _native.align_rows(
            self.rows,
            2 * weights,
            -lengths,
            1 / self.bandwidth,
            self.graph.data,
            self.graph.indices,
            self.graph.indptr,
            self.means,
            self.mean,
            everywhere,
            received,
            products,
            n_threads=self.n_threads,
        )
        return total, received, products

    def _dense_sums(self, weights: Vector, lengths: Vector, everywhere: bool) -> tuple[float, Vector, Vector]:
        """Sums over pairs i < j of M, of M at each row, and of M_ij x_ip x_jp."""
        looked_at = np.arange(self.n_columns) if everywhere else np.flatnonzero(weights)
        X = self.X if len(looked_at) == self.n_columns else self.X[:, looked_at]
        total, received, products = 0.0, np.zeros(self.n_rows), np.zeros(self.n_columns)
        for part in gen_batches(self.n_rows, max(1, BLOCK_ENTRIES // self.n_rows)):
            rest = slice(part.start, None)
            M = (2 * X[part] * weights[looked_at]) @ X[rest].T
            M -= lengths[part, None]
            M -= lengths[rest]
            np.exp(np.minimum(M, 0, out=M) / self.bandwidth, out=M)
            M *= self.graph[part, rest].toarray() + (self.mean - self.means[part, None] - self.means[rest])
            M[np.tril_indices(M.shape[0], m=M.shape[1])] = 0
            sums = M.sum(axis=1)
            total += float(sums.sum())
            received[part] += sums
            received[rest] += M.sum(axis=0)
            products[looked_at] += np.einsum("ij,ij->j", M @ X[rest], X[part])
        return total, received, products

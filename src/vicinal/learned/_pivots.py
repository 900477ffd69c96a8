"""Pivots: which rows a kernel is evaluated at, and a basis of what these span."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import MiniBatchKMeans, kmeans_plusplus
from sklearn.metrics import pairwise_distances_argmin

from .._validation import Matrix
from ..expand import HashedProjection

Floats = NDArray[np.float64]

MOST_COLUMNS = 256  # in which rows are clustered; more are hashed to as many, which keeps distances about as they are
ROWS_LOOKED_AT = 256  # of a Gram matrix, for what its Cholesky factor leaves
ROUNDING = 1e-8  # what rounding may leave, as a share of the largest entry


def choose_pivots(rows: Matrix, count: int, how: str, random_state: np.random.RandomState) -> NDArray[np.intp]:
    """Places of `count` different rows: random ones, those of k-means++, or those next to the centres of k-means."""
    if how == "random" or count == rows.shape[0]:
        return np.sort(random_state.permutation(rows.shape[0])[:count])
    points = _few_columns(rows, random_state)
    if how == "k-means++":
        _, places = kmeans_plusplus(points, count, random_state=random_state)
    else:
        centres = MiniBatchKMeans(count, n_init=1, random_state=random_state).fit(points).cluster_centers_
        places = pairwise_distances_argmin(centres, points)
    return _filled_up(np.unique(places), rows.shape[0], count, random_state)


def _few_columns(rows: Matrix, random_state: np.random.RandomState) -> NDArray[Any]:
    if rows.shape[1] > MOST_COLUMNS:
        rows = HashedProjection(MOST_COLUMNS, random_state=random_state).fit_transform(rows)
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def _filled_up(
    places: NDArray[np.intp], n_rows: int, count: int, random_state: np.random.RandomState
) -> NDArray[np.intp]:
    """Duplicates of rows, or centres that share their nearest row, leave some pivots to chance."""
    others = np.setdiff1d(np.arange(n_rows), places)
    return np.sort(np.concatenate([places, random_state.permutation(others)[: count - len(places)]]))


@dataclass(frozen=True)
class CholeskyBasis:
    """Pivots that are linearly independent in the kernel's space, and U with K = U'U among them."""

    places: NDArray[np.intp]  # of these pivots among all
    factor: Floats  # U, upper triangular, of these pivots

    @property
    def rank(self) -> int:
        return len(self.places)

    def inverse(self) -> LinearOperator:
        """U^-1, by which rows of the kernel are multiplied from the right."""

        def forward(v: Floats) -> Floats:
            return scipy.linalg.solve_triangular(self.factor, v)

        def backward(v: Floats) -> Floats:
            return scipy.linalg.solve_triangular(self.factor, v, trans="T")

        return LinearOperator(
            self.factor.shape, matvec=forward, rmatvec=backward, matmat=forward, rmatmat=backward, dtype=np.float64
        )


def cholesky_basis(gram: Floats, tol: float) -> CholeskyBasis:
    """Cholesky's factor with pivoting, which ends where no pivot has more than `tol` of the largest left over.

    The coordinates of a row x are k(x, pivots) U^-1: its image in the kernel's space, projected on the span of the
    pivots' images, in an orthonormal basis of that span. Those of the pivots have the Gram matrix K.
    """
    largest = float(np.diagonal(gram).max(initial=0.0))
    if not largest > 0:
        raise ValueError("The kernel of the pivots is zero, or negative on its diagonal, so that they span nothing.")
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(gram, tol=tol * largest)
    order = order - 1
    whole = np.triu(factor)[:rank]
    _refuse_indefinite(gram, whole[:, np.argsort(order)], (2 * tol + ROUNDING) * largest)
    return CholeskyBasis(order[:rank].astype(np.intp), np.ascontiguousarray(whole[:, :rank]))


def _refuse_indefinite(gram: Floats, factor: Floats, most: float) -> None:
    """Without negative eigenvalues, what is left is nowhere larger than on its diagonal, and not negative there."""
    some = np.random.default_rng(0).permutation(len(gram))[:ROWS_LOOKED_AT]
    left = gram[some] - factor[:, some].T @ factor
    diagonal = np.diagonal(gram) - np.einsum("ij,ij->j", factor, factor)
    if max(np.abs(left).max(), -diagonal.min()) > most:
        raise ValueError(
            "The kernel of the pivots is not positive semidefinite, so that it has no Cholesky factor and cannot be "
            "whitened; take whiten=False, or a kernel that is (of NeuralKernel, form='products')."
        )

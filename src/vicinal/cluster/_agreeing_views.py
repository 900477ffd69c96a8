"""Co-regularised spectral clustering: each view places the rows, and views are drawn towards each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import n_threads
from .._magnitudes import as_doubles, with_squares
from .._memory import refuse_beyond_memory
from .._optim import leading_subspace, products_of_rows
from .._validation import Matrix

Array = NDArray[np.float64]

FORMS = ("pairwise", "centroid")

_SPARE = 4  # columns beyond the wanted ones, with which iterations converge faster
_DENSE_ROWS = 200  # up to here a dense solver costs less than iterations
_DENSE_SHARE = 0.2  # of entries other than 0, from which on dense rows are multiplied faster
_NOTHING = 1e-12  # of the longest row, squared: what rounding leaves of the distance between equal rows


@dataclass
class Agreement:
    """Where views place the rows.

    Attributes
    ----------
    places : list of ndarray of shape (n, c)
        U of each view, orthonormal columns.
    common : ndarray of shape (n, c)
        The centroid U*, or in the pairwise form all U side by side.
    objective : list of float
        What is maximised, after each pass over the views; it never falls but for rounding.
    converged : bool
    """

    places: list[Array]
    common: Array
    objective: list[float]
    converged: bool


def normalized_similarities(views: Sequence[Matrix], bandwidth: float | None) -> list[Array]:
    """N = D^-1/2 S D^-1/2 of each view whose rows are not all alike, with S = exp(-d^2 / (2 bandwidth^2))."""
    n = views[0].shape[0]
    refuse_beyond_memory(
        8 * n * n * (len(views) + 3),
        f"The similarities of all pairs of {n} rows in {len(views)} views",
        "cluster fewer rows, or take k-means on the columns themselves",
    )
    found = []
    for view in views:
        X, scale = with_squares(as_doubles(view))
        squared = _squared_distances(X)
        width = _median_distance(squared) if bandwidth is None else bandwidth / scale
        if not width or not squared.any():
            continue
        with np.errstate(over="ignore", under="ignore"):
            squared /= -2 * width
            squared /= width
            similarity = np.exp(squared, out=squared)
        roots = 1 / np.sqrt(similarity.sum(axis=1))
        similarity *= roots
        similarity *= roots[:, None]
        found.append(similarity)
    return found


def agree(
    similarities: Sequence[Array], n_vectors: int, *, agreement: float, form: str, max_iter: int, tol: float
) -> Agreement:
    """Maximises sum_v Tr(U_v' N_v U_v) + agreement times how alike the spaces of the U_v are, view after view.

    Pairwise, that is ``sum_{v < w} ||U_v' U_w||^2``; with a centroid, ``sum_v ||U_v' U*||^2``. All U start from the
    leading eigenvectors of ``sum_v N_v``: from the views' own ones the maximum that is found is lower, and takes
    hundreds of passes where the agreement outweighs the differences of eigenvalues.
    """
    # Views that are not drawn anywhere are where they should be at once; others may be less sure: they are seen again.
    alone = not agreement or (form == "pairwise" and len(similarities) == 1)
    accuracy = 1e-9 if alone else min(max(tol / 10, 1e-9), 1e-6)
    spaces = [_LeadingSpace(N, n_vectors, accuracy) for N in similarities]
    nowhere = np.empty((len(similarities[0]), 0))
    start, _ = _LeadingSpace(sum(similarities[1:], similarities[0]), n_vectors, accuracy).leading(nowhere)
    places, centroid = [start] * len(spaces), start
    objective = list[float]()
    converged = False
    while len(objective) < max_iter and not converged:
        value = 0.0
        for v, space in enumerate(spaces):
            others = [centroid] if form == "centroid" else [U for w, U in enumerate(places) if w != v]
            drawn = np.hstack([nowhere, *others]) * np.sqrt(agreement)
            places[v], own = space.leading(drawn)
            value += own
        if form == "centroid":
            centroid = np.linalg.svd(np.hstack(places), full_matrices=False)[0][:, :n_vectors]
            alike = sum(np.linalg.norm(U.T @ centroid) ** 2 for U in places)
        else:
            alike = sum(np.linalg.norm(U.T @ V) ** 2 for w, U in enumerate(places) for V in places[:w])
        objective.append(float(value + agreement * alike))
        converged = alone or (len(objective) > 1 and objective[-1] - objective[-2] <= tol * objective[-1])
    return Agreement(places, centroid if form == "centroid" else np.hstack(places), objective, converged)


class _LeadingSpace:
    """The leading eigenvectors of a matrix plus others of low rank, one after the other, each from the last one."""

    def __init__(self, matrix: Array, n_vectors: int, accuracy: float):
        self.matrix, self.n_vectors, self.accuracy = matrix, n_vectors, accuracy
        width = n_vectors + _SPARE
        self.is_small = len(matrix) <= max(_DENSE_ROWS, 4 * width)
        self.last = np.random.default_rng(0).standard_normal((len(matrix), width))

    def leading(self, drawn: Array) -> tuple[Array, float]:
        """U, those of matrix + drawn drawn', and Tr(U' matrix U)."""
        if self.is_small:
            values, vectors = np.linalg.eigh(self.matrix + drawn @ drawn.T)
            values, vectors = values[::-1], vectors[:, ::-1]
        else:
            values, vectors = leading_subspace(
                lambda block: self.matrix @ block + drawn @ (drawn.T @ block),
                self.last,
                self.n_vectors,
                tol=self.accuracy,
            )
            self.last = vectors
        U = vectors[:, : self.n_vectors]
        return U, float(values[: self.n_vectors].sum() - np.linalg.norm(drawn.T @ U) ** 2)


def _squared_distances(X: Matrix) -> Array:
    """Between all rows; exactly 0 between equal ones."""
    if sp.issparse(X) and X.nnz > _DENSE_SHARE * X.shape[0] * X.shape[1]:
        X = X.toarray()
    if not sp.issparse(X):
        X = X - X.mean(axis=0)  # so that less cancels below
    products = products_of_rows(X, n_threads=n_threads(None))
    squares = products.diagonal().copy()
    products *= -2
    products += squares
    products += squares[:, None]
    products[products <= _NOTHING * squares.max()] = 0.0
    return products


def _median_distance(squared: Array) -> float:
    """Of pairs of different rows; where more than half of them are equal, of the pairs that are not."""
    n = len(squared)
    n_pairs = n * (n - 1) // 2
    # Each pair stands there twice, and sorted the diagonal comes first.
    middle = np.partition(squared, [n + n_pairs - 1, n + n_pairs], axis=None)[n + n_pairs - 1 :][:2]
    median = float(np.sqrt(middle).mean())
    return median or (float(np.median(np.sqrt(squared[squared > 0]))) if squared.any() else 0.0)

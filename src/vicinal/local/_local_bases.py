"""Principal directions of many small neighbourhoods, each as a combination of the neighbourhood's own rows.

A neighbourhood of k rows spans at most k - 1 directions, however many columns there are. All of it is read off the
k x k matrix of inner products of the centred rows: the direction of the eigenvector v with the eigenvalue s^2 is the
sum of the rows weighed by v / s.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._robust_basis import robust_basis

Real = NDArray[np.float64]


def centred(rows: Real, present: NDArray[np.bool_], normalize: bool) -> tuple[Real, Real]:
    """Neighbourhoods (b, k, m) around their means, absent rows zero, and the columns' deviations (1: not normalised).

    With `normalize` columns have unit deviation within each neighbourhood (Alg. 2, lines 2 to 5).
    """
    absent = ~present
    share = (present / present.sum(1, keepdims=True))[:, None, :]
    size = np.abs(rows[:, :1])
    rows = rows - rows[:, :1]  # so that columns without differences are zero, not rounded
    rows[absent] = 0
    if normalize:
        size = size + np.abs(rows).max(1, keepdims=True)
    rows -= share @ rows
    rows[absent] = 0
    if not normalize:
        return rows, np.ones((len(rows), 1, 1))
    deviation = np.sqrt(share @ rows**2)
    deviation = np.where(deviation > 1e-12 * size, deviation, 1)
    return rows / deviation, deviation


def principal_coefficients(rows: Real, present: NDArray[np.bool_], variance: float) -> list[Real]:
    """Of each centred neighbourhood, the k x q weights of the directions that explain that share of its variance."""
    k = rows.shape[1]
    eigenvalues, vectors = np.linalg.eigh(rows @ rows.transpose(0, 2, 1))
    eigenvalues, vectors = np.maximum(eigenvalues[:, ::-1], 0), vectors[:, :, ::-1]
    before = np.cumsum(eigenvalues, axis=1) - eigenvalues
    noise = k * np.finfo(np.float64).eps * eigenvalues[:, :1]
    kept = (before < variance * eigenvalues.sum(1, keepdims=True)) & (eigenvalues > noise)
    found = []
    for value, vector, keep, there in zip(eigenvalues, vectors, kept, present, strict=True):
        found.append(_balanced(vector[:, keep] / np.sqrt(value[keep]), there))
    return found


def robust_coefficients(
    rows: Real, present: NDArray[np.bool_], variance: float, seeds: NDArray[np.integer]
) -> list[Real]:
    """The same with ROBPCA's directions, which lie in the span of the rows, too; a seed per neighbourhood."""
    found = []
    for neighborhood, there, seed in zip(rows, present, seeds, strict=True):
        own = neighborhood[there]
        loadings = robust_basis(own, variance, np.random.RandomState(seed)).loadings
        if not loadings.shape[1]:  # most rows are equal
            found += principal_coefficients(neighborhood[None], there[None], variance)
            continue
        weights = np.zeros((rows.shape[1], loadings.shape[1]))
        weights[there] = np.linalg.pinv(own @ own.T, hermitian=True) @ (own @ loadings)
        found.append(_balanced(weights, there))
    return found


def _balanced(weights: Real, there: NDArray[np.bool_]) -> Real:
    """Weights that sum to zero, as they would without rounding: no trace of the rows' mean is left in a direction."""
    return np.where(there[:, None], weights - weights[there].mean(0), 0)


def directions(rows: Real, deviation: Real, weights: list[Real]) -> Real:
    """All directions, one below the other: a point's product with them is its place in the subspaces."""
    return np.vstack([weight.T @ (own / scale) for own, scale, weight in zip(rows, deviation, weights, strict=True)])


def products(rows: Real, deviation: Real, weights: list[Real], points: Real) -> Real:
    """Each neighbourhood's own point (b, m) along its directions, one after the other."""
    along_rows = np.einsum("bkm,bm->bk", rows, points / deviation[:, 0])
    return np.concatenate([along @ weight for along, weight in zip(along_rows, weights, strict=True)])

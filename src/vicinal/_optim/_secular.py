"""Few non-zero rows of coefficients in closed form, where each of them belongs to a regression of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._descent import row_lengths

Matrix = NDArray[np.float64]

_STEPS = 100  # Newton's method needs a few


def shortest_rows(G: Matrix, B: Matrix, penalty: float) -> Matrix:
    """The minimiser V of tr(V G V') - 2 tr(V B') + penalty ||V||_{2,1}.

    With ``G = U'U`` and ``B = X'U`` that is ``||U V' - X||^2 + penalty ||V||_{2,1}`` but for a constant: every row v of
    V is a regression of its own. It is zero where the length of 2 b is at most the penalty; otherwise its length r is
    the root of a function that falls with r, and v follows from it::

        sum_k (2 q_k'b)^2 / (2 g_k r + penalty)^2 = 1,    v = sum_k q_k 2 q_k'b r / (2 g_k r + penalty)

    where g_k and q_k are the eigenvalues and eigenvectors of G.

    Parameters
    ----------
    G : ndarray of shape (c, c)
        Symmetric, without negative eigenvalues. If it has a zero one, B has no part in its direction.
    B : ndarray of shape (D, c)
    penalty : float
        Above 0.

    Returns
    -------
    ndarray of shape (D, c)
    """
    values, vectors = np.linalg.eigh(G)
    extent = values > len(values) * np.finfo(float).eps * values[-1]  # elsewhere B is rounding
    values, slopes = values / penalty, np.where(extent, 2 * B @ vectors, 0.0) / penalty
    V = np.zeros_like(B, dtype=np.float64)
    kept = np.flatnonzero(row_lengths(slopes) > 1)
    if not len(kept) or not values[-1] > 0:
        return V
    values = np.maximum(values, 0.0)
    squares = np.square(slopes[kept])
    # Where all eigenvalues are the largest one this is the root, else the root is beyond: Newton's steps only ascend.
    r = (np.sqrt(squares.sum(axis=1)) - 1) / (2 * values[-1])
    for _ in range(_STEPS):
        below = 2 * values * r[:, None] + 1
        total = (squares / below**2).sum(axis=1)
        # The inverse root of the sum is nearly linear in r, and concave.
        slope = (2 * values * squares / below**3).sum(axis=1) * total**-1.5
        step = (1 - total**-0.5) / np.maximum(slope, 1e-300)
        r = r + np.maximum(step, 0.0)
        if (step <= 1e-14 * r).all():
            break
    V[kept] = (slopes[kept] * (r[:, None] / (2 * values * r[:, None] + 1))) @ vectors.T
    return V

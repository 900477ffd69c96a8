"""Graphs of nearest rows, their Laplacians and what is smooth on them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.utils import check_array

from ._fusion import fuse_graphs, scaled_similarities
from ._magnitudes import unit_rows
from ._nearest import nearest_rows
from ._side_similarity import SideSim, SimilarRow
from ._validation import Matrix, check_choice, check_count, check_positive, check_weights

__all__ = [
    "SideSim",
    "SimilarRow",
    "fuse_graphs",
    "laplacian",
    "leading_eigenvectors",
    "nearest_rows",
    "neighbor_graph",
    "scaled_similarities",
    "smooth_eigenvectors",
]

WEIGHTS = ("binary", "heat", "cosine")

_BLOCK = 2**23  # values of pairs of rows held at a time
_DENSE_ROWS = 1000  # up to here a dense solver is cheap, and sure of eigenvalues that occur several times


def neighbor_graph(
    X: ArrayLike,
    n_neighbors: int = 5,
    *,
    weights: str = "binary",
    bandwidth: float | None = None,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Joins each row to its nearest ones.

    Two rows are joined if either is among the other's `n_neighbors` nearest by Euclidean distance. No row is joined to
    itself. Nothing of the size rows x rows is kept in memory.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    n_neighbors : int, default=5
        What exceeds the other rows is cut.
    weights : {"binary", "heat", "cosine"}, default="binary"
        What an edge of length d weighs: 1; ``exp(-d^2 / bandwidth)``; or the cosine of both rows, at least 0. Edges of
        weight 0 are left out: rows can be left without any.
    bandwidth : float or None, default=None
        For `weights="heat"`; None for the mean squared length of the edges.
    n_jobs : int, default=None
        Threads of the search. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Symmetric weights.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import neighbor_graph
    >>> neighbor_graph(np.array([[0.0], [1.0], [5.0]]), 1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    check_choice("weights", weights, WEIGHTS)
    if bandwidth is not None:
        bandwidth = check_positive("bandwidth", bandwidth)
    rows = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    rows = sp.csr_array(rows) if sp.issparse(rows) else rows
    distances, nearest = nearest_rows(rows, n_neighbors=n_neighbors, n_jobs=n_jobs)
    n, k = nearest.shape
    here, there = np.repeat(np.arange(n), k), nearest.ravel()
    low, high = np.minimum(here, there), np.maximum(here, there)
    _, first = np.unique(low * n + high, return_index=True)
    low, high, lengths = low[first], high[first], distances.ravel()[first]
    if weights == "binary":
        values = np.ones(len(low))
    elif weights == "heat":
        with np.errstate(over="ignore", under="ignore"):
            if bandwidth is None:
                lengths = lengths / (lengths.max() or 1.0)
                bandwidth = np.square(lengths).mean() or 1.0
            values = np.exp(-np.square(lengths) / bandwidth)
    else:
        values = _cosines(rows, low, high)
    kept = values > 0
    low, high, values = low[kept], high[kept], values[kept]
    return sp.csr_array(
        (np.concatenate([values, values]), (np.concatenate([low, high]), np.concatenate([high, low]))), shape=(n, n)
    )


def laplacian(W: Matrix, *, normalized: bool = False) -> sp.csr_array:
    """The Laplacian of a graph.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n, n)
        Symmetric non-negative weights.
    normalized : bool, default=False
        False for ``L = D - W`` with the degrees on the diagonal of D, whose rows sum to 0; True for
        ``D^-1/2 L D^-1/2``. Rows without edges are 0 in both.

    Returns
    -------
    csr_array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import laplacian
    >>> laplacian(np.array([[0.0, 2.0], [2.0, 0.0]])).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    weights = sp.csr_array(check_weights(W))
    degrees = _degrees(weights)
    L = sp.csr_array(sp.diags_array(degrees) - weights)
    if normalized:
        scale = sp.diags_array(_inverse_roots(degrees))
        L = sp.csr_array(scale @ L @ scale)
    return L


def smooth_eigenvectors(W: Matrix, n_vectors: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smoothest functions on a graph: solutions of ``L y = lambda D y`` with the smallest lambda.

    The constant vector, which always solves it with lambda = 0, is left out. A graph of c separate parts has c - 1
    further solutions with lambda = 0; of the many ways to write them this one is taken: the heaviest part (by its sum
    of degrees) against all others, the second heaviest against those that are lighter, and so on.

    Parameters
    ----------
    W : array-like or sparse matrix of shape (n, n)
        Symmetric non-negative weights.
    n_vectors : int
        Less than the number of rows with an edge.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
        Each lambda, between 0 and 2, in ascending order.
    vectors : ndarray of shape (n, n_vectors)
        Each y in a column, with ``y' D y = 1`` and ``1' D y = 0``; its largest entry is positive. Rows without edges
        are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import smooth_eigenvectors
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> values, vectors = smooth_eigenvectors(path, 1)
    >>> values.round(3), vectors.ravel().round(3)
    (array([0.5]), array([ 0.577,  0.289, -0.289, -0.577]))
    """
    weights = sp.csr_array(check_weights(W))
    check_count("n_vectors", n_vectors)
    degrees = _degrees(weights)
    joined = np.flatnonzero(degrees > 0)
    if n_vectors >= len(joined):
        raise ValueError(
            f"{n_vectors} eigenvectors are wanted, but {len(joined)} rows of the graph have an edge, which gives "
            f"{max(len(joined) - 1, 0)} at most; ask for fewer, or join more rows."
        )
    within = weights[joined][:, joined]
    roots = np.sqrt(degrees[joined])
    scale = sp.diags_array(1 / roots)
    _, parts = connected_components(within, directed=False)
    values = np.zeros(n_vectors)
    scaled = _part_contrasts(parts, roots, n_vectors)
    missing = n_vectors - scaled.shape[1]
    if missing:
        values[-missing:], others = _smooth_within_parts(sp.csr_array(scale @ within @ scale), parts, roots, missing)
        scaled = np.hstack([scaled, others])
    vectors = np.zeros((weights.shape[0], n_vectors))
    vectors[joined] = _with_fixed_signs(scaled) / roots[:, None]
    return values, vectors


def leading_eigenvectors(
    S: Matrix, n_vectors: int, *, less: Matrix | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The eigenvectors of a symmetric matrix, or of one less another of low rank, with the largest eigenvalues.

    Neither is made dense, unless they are small.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, n)
        Symmetric.
    n_vectors : int
        At most n.
    less : array-like or sparse matrix of shape (n, rank), default=None
        V in ``S - V V'``. With the degrees over the root of their sum, of a network, that is its modularity.

    Returns
    -------
    values : ndarray of shape (n_vectors,)
        In descending order.
    vectors : ndarray of shape (n, n_vectors)
        Orthonormal, each in a column; its largest entry is positive.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import leading_eigenvectors
    >>> path = np.eye(4, k=1) + np.eye(4, k=-1)
    >>> values, vectors = leading_eigenvectors(path, 1)
    >>> values.round(3), vectors.ravel().round(3)
    (array([1.618]), array([0.372, 0.602, 0.602, 0.372]))
    >>> degrees = path.sum(axis=1)
    >>> leading_eigenvectors(path, 1, less=degrees[:, None] / np.sqrt(degrees.sum()))[1].ravel().round(3)
    array([ 0.602,  0.372, -0.372, -0.602])
    """
    matrix = sp.csr_array(check_array(S, accept_sparse="csr", dtype=np.float64))
    n = check_count("n_vectors", n_vectors)
    if matrix.shape[0] != matrix.shape[1] or n > matrix.shape[0]:
        raise ValueError(f"S must be square with at least {n} rows for as many vectors; its shape is {matrix.shape}.")
    values, vectors = _leading(matrix, less, n)
    return values, _with_fixed_signs(vectors)


def _part_contrasts(parts: NDArray, roots: NDArray, most: int) -> NDArray:
    """Orthonormal null vectors of the normalised Laplacian: each part but the last against the lighter ones."""
    volumes = np.bincount(parts, weights=roots**2)
    # Parts are numbered by their first row, so that the stable order settles ties.
    heaviest_first = np.argsort(-volumes, kind="stable")
    place = np.argsort(heaviest_first)[parts]
    volumes = volumes[heaviest_first]
    lighter = volumes[::-1].cumsum()[::-1] - volumes
    contrasts = np.zeros((len(parts), min(len(volumes) - 1, most)))
    for j in range(contrasts.shape[1]):
        contrasts[place == j, j] = 1 / volumes[j]
        contrasts[place > j, j] = -1 / lighter[j]
        contrasts[:, j] *= roots
        contrasts[:, j] /= np.linalg.norm(contrasts[:, j])
    return contrasts


def _smooth_within_parts(
    similarity: sp.csr_array, parts: NDArray, roots: NDArray, n_vectors: int
) -> tuple[NDArray, NDArray]:
    """The smallest eigenvalues of I - D^-1/2 W D^-1/2 other than one 0 for each part, and their eigenvectors."""
    volumes = np.bincount(parts, weights=roots**2)
    # Eigenvalues lie in [-1, 1]; those of the null vectors move from 1 to -2, beyond all others.
    moved = np.sqrt(3 / volumes[parts]) * roots
    null_vectors = sp.csr_array((moved, (np.arange(len(parts)), parts)), shape=(len(parts), len(volumes)))
    values, vectors = _leading(similarity, null_vectors, n_vectors)
    return np.clip(1 - values, 0, 2), vectors


def _leading(matrix: sp.csr_array, less: Matrix | None, n_vectors: int) -> tuple[NDArray, NDArray]:
    """The largest eigenvalues of matrix - less less' and their eigenvectors."""
    n = matrix.shape[0]
    if n <= _DENSE_ROWS or n_vectors > n // 4:
        dense = -matrix.toarray()
        if less is not None:
            dense += (less @ less.T).toarray() if sp.issparse(less) else less @ less.T
        values, vectors = eigh(dense, subset_by_index=(0, n_vectors - 1), overwrite_a=True, check_finite=False)
        return -values, vectors

    def product(vector: NDArray) -> NDArray:
        found = matrix @ vector.ravel()
        return found if less is None else found - less @ (less.T @ vector.ravel())

    values, vectors = eigsh(
        LinearOperator((n, n), matvec=product, dtype=np.float64),
        k=n_vectors,
        which="LA",
        v0=np.random.default_rng(0).standard_normal(n),
        ncv=min(n, max(4 * n_vectors, 60)),
        tol=1e-10,
        maxiter=100 * n,
    )
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _with_fixed_signs(vectors: NDArray) -> NDArray:
    """The first of the largest entries of each column is made positive; rounding does not decide which is first."""
    sizes = np.abs(vectors)
    first = np.argmax(sizes >= sizes.max(axis=0) * (1 - 1e-6), axis=0)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def _cosines(rows: Matrix, first: NDArray, second: NDArray) -> NDArray[np.float64]:
    """Of pairs of rows, cut to [0, 1]; 0 with a row of zeros."""
    unit = unit_rows(rows)
    cosines = np.empty(len(first))
    for block in _blocks(len(first), rows.shape[1]):
        a, b = unit[first[block]], unit[second[block]]
        cosines[block] = a.multiply(b).sum(axis=1) if sp.issparse(rows) else np.einsum("ij,ij->i", a, b)
    return np.clip(cosines, 0, 1)


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    size = max(1, _BLOCK // n_columns)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _degrees(weights: sp.csr_array) -> NDArray[np.float64]:
    return np.asarray(weights.sum(axis=1), dtype=np.float64).ravel()


def _inverse_roots(degrees: NDArray) -> NDArray:
    return np.divide(1, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)

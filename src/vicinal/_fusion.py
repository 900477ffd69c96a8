"""Graphs of several views made one: cross diffusion, and similarity network fusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_array, gen_batches

from . import _native
from ._calls import n_threads
from ._memory import available_memory
from ._validation import Matrix, check_choice, check_count, check_non_negative, check_positive, check_weights

Floats = NDArray[np.float32]

METHODS = ("cross", "snf")
MOST_ADDED = 1e6  # to the diagonal: beyond, single precision loses what the views say

_BLOCK, _IN_CACHE = 2**22, 2**17  # numbers that are looked at at a time


def fuse_graphs(
    graphs: Sequence[Matrix],
    n_neighbors: int | None = 5,
    *,
    method: str = "cross",
    weights: str = "binary",
    regularization: float = 1.0,
    n_local: int = 20,
    max_iter: int = 20,
    tol: float = 1e-3,
    n_jobs: int | None = None,
) -> sp.csr_array | Floats:
    """Makes one graph of several between the same rows.

    Cross diffusion (thesis, Eq. 6.1 to 6.9): each graph becomes the transition matrix P of a random walk, and each view
    a matrix that starts with it and then, again and again, is walked over by the view's own steps from both sides,
    starting from the mean of the other views' matrices M: ``P M P' + regularization I``. Rows that are near each other
    in several views by way of several others come out near. The mean over the views is symmetric, and each row is
    joined to those with its largest entries. One graph diffuses with itself.

    A row without edges in one graph takes the steps that it has in the others.

    Parameters
    ----------
    graphs : sequence of arrays or sparse matrices of shape (n, n)
        Symmetric non-negative weights, such as those of `neighbor_graph` or, for "snf", of `scaled_similarities`. What
        a row's edge to itself weighs counts for "snf" only.
    n_neighbors : int or None, default=5
        Two rows are joined if either is among the largest `n_neighbors` entries of the other. None returns the whole
        fused matrix.
    method : {"cross", "snf"}, default="cross"
        "snf" is similarity network fusion (Wang et al. 2014), with the numbers that the package snfpy gives as long as
        `tol` does not end it earlier: the
        matrices start as the graphs, with rows that sum to 1; steps lead to the `n_local` most similar rows, and the
        mean's rows are made to sum to 1 in the end.
    weights : {"binary", "fused"}, default="binary"
        What an edge weighs: 1, or the entry of the fused matrix.
    regularization : float, default=1.0
        What is added to the diagonal in each iteration (alpha). The more, the less counts what the matrices started
        with. The thesis has 0.01, which joins slightly fewer rows of a class.
    n_local : int, default=20
        For "snf".
    max_iter : int, default=20
        Iterations at most. More of them spread further: they are as much a part of the method as `regularization`.
    tol : float, default=1e-3
        Ends earlier when the fused matrix, with rows and columns centred, changes by no more than this share of its
        length. Uncentred it has no limit: each iteration adds to it.
    n_jobs : int, default=None
        Threads. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, without edges of a row to itself; where `n_neighbors` is None an array of single precision.

    Notes
    -----
    While it computes, it holds two dense matrices of n x n numbers of single precision for each graph, one more for
    more than two, and refuses what does not fit into memory. Time is in proportion to n^2, the graphs' mean number of
    edges per row and their number.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import fuse_graphs, neighbor_graph
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 3
    >>> views = [rng.normal(size=(3, 4))[labels] + rng.normal(size=(60, 4)) for _ in range(2)]
    >>> graphs = [neighbor_graph(view) for view in views]
    >>> def share_within(graph):
    ...     first, second = graph.nonzero()
    ...     return float((labels[first] == labels[second]).mean())
    >>> share_within(fuse_graphs(graphs)) > max(map(share_within, graphs))
    True
    """
    check_choice("method", method, METHODS)
    check_choice("weights", weights, ("binary", "fused"))
    if check_non_negative("regularization", regularization) > MOST_ADDED:
        raise ValueError(f"regularization must be at most {MOST_ADDED:g}; got {regularization!r}.")
    check_count("max_iter", max_iter)
    check_positive("tol", tol)
    if n_neighbors is not None:
        check_count("n_neighbors", n_neighbors)
    check_count("n_local", n_local)
    checked = _checked_graphs(graphs)
    if method == "snf":
        walks, starts = _local_walks(checked, n_local)
    else:
        walks = fill_empty_rows([transitions(graph) for graph in checked])
        starts = [_dense_mean(walk, walk.T) for walk in walks]
    fused = diffuse(walks, starts, regularization, max_iter, tol, n_threads(n_jobs))
    if method == "snf":
        fused /= np.maximum(fused.sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        fused = np.add(fused, fused.T) * np.float32(0.5)
        np.fill_diagonal(fused, fused.diagonal() + 0.5)
    return fused if n_neighbors is None else cut_to_neighbors(fused, n_neighbors, weights)


def scaled_similarities(
    X: ArrayLike, n_neighbors: int = 20, *, width: float = 0.5, metric: str = "sqeuclidean"
) -> NDArray[np.float64]:
    """Similarities of rows by distances that are scaled to how far their nearest rows are.

    They are what similarity network fusion starts from: the density at distance d of a normal distribution whose
    deviation is `width` times the mean of d and both rows' mean distances to their nearest rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, n_features)
        Often of standardised columns.
    n_neighbors : int, default=20
        The nearest rows (K); at most all others are taken.
    width : float, default=0.5
        Usually 0.3 to 0.8 (mu).
    metric : str, default="sqeuclidean"
        Any of `sklearn.metrics.pairwise_distances`.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.graphs import scaled_similarities
    >>> scaled_similarities(np.array([[0.0], [1.0], [3.0]]), 1).round(2)
    array([[1.2 , 0.11, 0.  ],
           [0.11, 1.2 , 0.01],
           [0.  , 0.01, 0.3 ]])
    """
    k = check_count("n_neighbors", n_neighbors)
    check_positive("width", width)
    rows = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    _refuse_what_does_not_fit(rows.shape[0], 3, 8)
    distances = pairwise_distances(rows, metric=metric)
    np.fill_diagonal(distances, 0)
    tiny = np.spacing(1)
    near = np.empty(len(distances))
    for block in _row_blocks(len(distances)):
        near[block] = np.sort(distances[block], axis=1)[:, 1 : k + 1].mean(axis=1)
    near += tiny
    for block in _row_blocks(len(distances)):
        scale = (near[block, None] + near + distances[block]) / 3
        scale = width * (scale * (scale > tiny) + tiny)
        distances[block] = np.exp(-0.5 * np.square(distances[block] / scale)) / (np.sqrt(2 * np.pi) * scale)
    return (distances + distances.T) / 2


def transitions(graph: Matrix) -> sp.csr_array:
    """Rows that sum to 1, without steps from a row to itself (6.1); rows without edges stay 0."""
    weights = sp.csr_array(graph, dtype=np.float64, copy=True)
    weights.setdiag(0)
    weights.eliminate_zeros()
    return _with_unit_sums(weights)


def fill_empty_rows(walks: Sequence[sp.csr_array]) -> list[sp.csr_array]:
    """Rows without steps get the mean of those that the other views have there."""
    filled = [np.diff(walk.indptr) > 0 for walk in walks]
    if all(has.all() for has in filled):
        return list(walks)
    mean = _with_unit_sums(sp.csr_array(sum(walks[1:], start=walks[0])))
    return [
        sp.csr_array(walk + sp.diags_array((~has).astype(np.float64)) @ mean)
        for walk, has in zip(walks, filled, strict=True)
    ]


def diffuse(
    walks: Sequence[sp.csr_array],
    starts: Sequence[Floats],
    regularization: float,
    max_iter: int,
    tol: float,
    threads: int,
    callback: Callable[[list[Floats]], object] | None = None,
) -> Floats:
    """The mean of the views' matrices after the last iteration (6.6 to 6.9).

    `starts` are symmetric, and so is all that follows: what (6.8) makes of a matrix's symmetric part is the symmetric
    part of what it makes of the matrix.

    Parameters
    ----------
    walks : sequence of csr_array
        One per view.
    starts : sequence of ndarray
        They are overwritten.
    callback : callable
        Called with the matrices of all views after every iteration.
    """
    steps = [(walk.data.astype(np.float32), walk.indices, walk.indptr.astype(walk.indices.dtype)) for walk in walks]
    now, following = list(starts), [np.empty_like(start) for start in starts]
    work = np.empty_like(now[0]) if len(now) > 2 else None
    for _ in range(max_iter):
        for view, (shares, targets, pointers) in enumerate(steps):
            _native.diffuse(shares, targets, pointers, _others(now, view, work), following[view], n_threads=threads)
            np.einsum("ii->i", following[view])[:] += np.float32(regularization)
        change = _centred_change(now, following)
        now, following = following, now
        if callback is not None:
            callback(now)
        if change <= tol:
            break
    return _mean(now, now[0])


def cut_to_neighbors(fused: Floats, n_neighbors: int, weights: str = "binary") -> sp.csr_array:
    """Joins each row to those with its largest entries, the first of equal ones; overwrites the diagonal with 0."""
    n = len(fused)
    k = min(n_neighbors, n - 1)
    np.fill_diagonal(fused, 0)
    kept = []
    for block in _row_blocks(n):
        part = fused[block]
        least = np.partition(part, n - k, axis=1)[:, n - k, None]
        above, equal = part > least, part == least
        room = k - above.sum(axis=1, keepdims=True)
        first, second = np.nonzero((above | (equal & (np.cumsum(equal, axis=1) <= room))) & (part > 0))
        kept.append(np.stack([first + block.start, second]))
    here, there = np.concatenate(kept, axis=1)
    values = np.ones(len(here)) if weights == "binary" else fused[here, there].astype(np.float64)
    graph = sp.csr_array((values, (here, there)), shape=(n, n))
    return sp.csr_array(graph.maximum(graph.T))


def _checked_graphs(graphs: Sequence[Matrix]) -> list[Matrix]:
    given = [] if sp.issparse(graphs) else list(graphs)
    if any(len(np.shape(graph)) != 2 for graph in given) or sp.issparse(graphs):
        raise ValueError("graphs must be a list of matrices, one per view; got something else, such as one matrix.")
    if not given:
        raise ValueError("There are no graphs; give at least one.")
    sizes = [np.shape(graph)[0] for graph in given]
    if len(set(sizes)) > 1:
        raise ValueError(f"The graphs have {', '.join(map(str, sizes))} rows; all must be between the same rows.")
    if sizes[0] < 2:
        raise ValueError("The graphs have one row, which has no others to be joined to; give more.")
    _refuse_what_does_not_fit(sizes[0], 2 * len(given) + (len(given) > 2), 4)
    return [check_weights(graph, f"graphs[{place}]") for place, graph in enumerate(given)]


def _refuse_what_does_not_fit(n: int, n_matrices: int, bytes_per_number: int) -> None:
    needed, available = n_matrices * bytes_per_number * n**2, available_memory()
    if needed > available:
        raise MemoryError(
            f"{n_matrices} matrices of {n} x {n} numbers need {needed / 1e9:.3g} GB of memory, but "
            f"{available / 1e9:.3g} GB are available; take fewer rows."
        )


def _local_walks(graphs: Sequence[Matrix], n_local: int) -> tuple[list[sp.csr_array], list[Floats]]:
    """Of similarities whose rows sum to 1, the largest of each row as steps, and all as starts."""
    walks, starts = [], []
    for graph in graphs:
        similar = graph.toarray() if sp.issparse(graph) else graph.copy()
        similar /= np.maximum(similar.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        similar = (similar + similar.T) / 2
        share = 100 - 100 * min(n_local / len(similar), 1)
        parts = []
        for block in _row_blocks(len(similar)):
            part = similar[block]
            parts.append(sp.csr_array(np.where(part < np.percentile(part, share, axis=1, keepdims=True), 0, part)))
        walks.append(_with_unit_sums(sp.csr_array(sp.vstack(parts, format="csr"))))
        starts.append(similar.astype(np.float32))
    return walks, starts


def _with_unit_sums(walk: sp.csr_array) -> sp.csr_array:
    sums = np.asarray(walk.sum(axis=1)).ravel()
    walk.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(walk.indptr))
    return walk


def _dense_mean(first: sp.csr_array, second: Matrix) -> Floats:
    return sp.csr_array((first + second) / 2, dtype=np.float32).toarray()


def _others(matrices: list[Floats], view: int, work: Floats | None) -> Floats:
    """The mean of all but one; of one, itself."""
    others = [matrix for place, matrix in enumerate(matrices) if place != view] or matrices
    return others[0] if work is None else _mean(others, work)


def _mean(matrices: list[Floats], out: Floats) -> Floats:
    np.copyto(out, matrices[0])
    for matrix in matrices[1:]:
        out += matrix
    out /= len(matrices)
    return out


def _centred_change(before: list[Floats], after: list[Floats]) -> float:
    """The length of H (A - B) H over that of H A H, for the sums A and B of the matrices, with H = I - 11'/n."""
    n = len(before[0])
    lengths, columns = np.zeros(2), np.zeros((2, n))
    for block in _row_blocks(n, _IN_CACHE):
        total, change = after[0][block].copy(), after[0][block] - before[0][block]
        for matrix, earlier in zip(after[1:], before[1:], strict=True):
            total += matrix[block]
            change += matrix[block] - earlier[block]
        for place, part in enumerate((change, total)):
            part -= part.mean(axis=1, keepdims=True)
            columns[place] += part.sum(axis=0)
            lengths[place] += np.square(part, out=part).sum(dtype=np.float64)
    changed, length = np.sqrt(np.maximum(lengths - np.square(columns).sum(axis=1) / n, 0))
    return float(changed / length) if length > 0 else 0.0


def _row_blocks(n: int, n_numbers: int = _BLOCK) -> Iterator[slice]:
    return gen_batches(n, max(1, n_numbers // n))

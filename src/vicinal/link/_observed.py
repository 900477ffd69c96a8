"""Which nodes show their links, and which their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._linked_rows import links_between
from .._magnitudes import as_doubles
from .._validation import Matrix, check_adjacency, check_names_of_rows, checked_rows
from ..network import Network

N_NEIGHBORS = 5  # nearest rows that a row is linked to where there is no network
MOST_NAMED = 10
_DENSE = 0.2  # share of entries from which products are faster with dense rows


@dataclass(frozen=True)
class Observed:
    """Nodes, and what is known of each: its links, its attributes, or both.

    Attributes
    ----------
    links : csr_array of shape (n_nodes, n_nodes)
        1 for every link, in both directions.
    attributes : ndarray, csr_array or None
        In double precision; zeros for nodes that show none.
    linked, attributed : ndarray of bool of shape (n_nodes,)
    names : ndarray of shape (n_nodes,)
    """

    links: sp.csr_array
    attributes: Matrix | None
    linked: NDArray[np.bool_]
    attributed: NDArray[np.bool_]
    names: NDArray

    @property
    def both(self) -> NDArray[np.bool_]:
        return self.linked & self.attributed


def observe(estimator: Any, X: Any, adjacency: Any, attributed: Any) -> Observed:
    """Checks what `fit` is given. X may be None if there is a network."""
    if X is None and adjacency is None:
        raise ValueError("There are neither attributes nor links; give X, adjacency=..., or both.")
    if X is None:
        links = _both_ways(Network(adjacency).adjacency)
        names = _names(adjacency, links.shape[0])
        if attributed is not None:
            raise ValueError("attributed says which rows of X are attributes, but X is None; leave it out.")
        nobody = np.zeros(len(names), dtype=bool)
        return _complete(Observed(links, None, np.diff(links.indptr) > 0, nobody, names))
    check_names_of_rows(X, adjacency)
    rows = checked_rows(estimator, X, ensure_min_samples=2, ensure_all_finite="allow-nan", dtype=np.float64)
    if sp.issparse(rows):
        rows.check_format(full_check=True)
    rows = as_doubles(rows)
    given = None if adjacency is None else check_adjacency(adjacency, rows.shape[0])
    if given is None and np.isnan(rows.data if sp.issparse(rows) else rows).any():
        raise ValueError("X contains NaN; rows of nodes that show no attributes need links: give adjacency=...")
    rows, shown = without_missing(rows, type(estimator).__name__)
    if attributed is not None:
        shown &= check_mask("attributed", attributed, len(shown))
        rows = _only(rows, shown)
    rows = _by_density(rows)
    links = _both_ways(links_between(rows, given, N_NEIGHBORS, symmetric=False))
    return _complete(Observed(links, rows, np.diff(links.indptr) > 0, shown, _names(adjacency, rows.shape[0])))


def _by_density(rows: Matrix) -> Matrix:
    """Sparse if few entries are not zero, whatever was given: sums are then taken in one order."""
    n_nonzero = int(np.count_nonzero(rows.data if sp.issparse(rows) else rows))
    if n_nonzero > _DENSE * rows.shape[0] * rows.shape[1]:
        return rows.toarray() if sp.issparse(rows) else rows
    sparse = as_doubles(sp.csr_array(rows))
    if n_nonzero < sparse.nnz:
        sparse = sparse.copy()
        sparse.eliminate_zeros()
    return sparse


def without_missing(rows: Matrix, who: str) -> tuple[Matrix, NDArray[np.bool_]]:
    """Rows with zeros for those that are wholly missing, and which are not: a row of zeros says nothing, either."""
    entries = rows.data if sp.issparse(rows) else rows
    if np.isnan(entries).any():
        if sp.issparse(rows):
            counts = np.diff(rows.indptr)
            missing = np.add.reduceat(np.append(np.isnan(entries), False), np.minimum(rows.indptr[:-1], len(entries)))
            missing = np.where(counts > 0, missing, 0)
        else:
            counts, missing = np.full(len(rows), rows.shape[1]), np.isnan(rows).sum(axis=1)
        partly = np.flatnonzero((missing > 0) & (missing < counts))
        if len(partly):
            raise ValueError(
                f"{who}: X contains NaN in {len(partly)} row{'s' * (len(partly) > 1)} that also "
                f"ha{'ve' if len(partly) > 1 else 's'} numbers, such as row {partly[0]}; fill them in, or make the "
                "whole row NaN where a node's attributes are not known."
            )
        rows = _only(rows, missing == 0)
    shown = np.diff(rows.indptr) > 0 if sp.issparse(rows) else rows.any(axis=1)
    if sp.issparse(rows):
        shown &= np.asarray(abs(rows).max(axis=1).todense()).ravel() > 0
    return rows, shown


def check_mask(name: str, mask: Any, n_rows: int) -> NDArray[np.bool_]:
    """True or False for each row."""
    given = np.asarray(mask)
    if given.shape != (n_rows,) or given.dtype != bool:
        raise ValueError(
            f"{name} must be True or False for each of the {n_rows} rows of X; its shape is {given.shape} and its type "
            f"{given.dtype}."
        )
    return given


def listed(names: Sequence[Any] | NDArray) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(str(name) for name in names[:MOST_NAMED]) + more


def _complete(found: Observed) -> Observed:
    alone = np.flatnonzero(~(found.linked | found.attributed))
    if len(alone):
        raise ValueError(
            f"{len(alone)} node{'s show' if len(alone) > 1 else ' shows'} neither links nor attributes, so that "
            f"nothing is known of {'them' if len(alone) > 1 else 'it'}: {listed(found.names[alone])}; leave them out."
        )
    return found


def _both_ways(links: sp.csr_array) -> sp.csr_array:
    if not links.nnz:
        raise ValueError("adjacency has no links, so that there is nothing to learn from; give one with links.")
    ones = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
    both = sp.csr_array(ones.maximum(ones.T))
    both.sort_indices()
    return both


def _names(adjacency: Any, count: int) -> NDArray:
    return np.asarray(getattr(adjacency, "names", np.arange(count)))


def _only(rows: Matrix, kept: NDArray[np.bool_]) -> Matrix:
    """The same with zeros in all other rows."""
    if not sp.issparse(rows):
        return np.where(kept[:, None], rows, 0.0)
    taken = np.repeat(kept, np.diff(rows.indptr))
    starts = np.concatenate([[0], np.cumsum(np.where(kept, np.diff(rows.indptr), 0))])
    return sp.csr_array((rows.data[taken], rows.indices[taken], starts), shape=rows.shape)

"""Networks of which some nodes show only links and others only attributes (thesis, section 5.7.2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from .._validation import Matrix, check_names_of_rows, check_share, refuse_other_than_numbers
from ..network import Network
from ._observed import without_missing


@dataclass(frozen=True, eq=False)
class PartiallyObservable:
    """What `make_partially_observable` returns.

    Parameters
    ----------
    nodes : ndarray of int
        The rows of the whole network that are left. All other numbers are of these nodes.
    X : ndarray or csr_array of shape (n_nodes, n_attributes)
        Attributes; of nodes that show none a row of NaN or, where rows are sparse, an empty one.
    network : Network
        The links that are shown.
    attributed : ndarray of bool of shape (n_nodes,)
        Which nodes show attributes.
    link_only, attribute_only : ndarray of int
        The nodes that show links alone, and those that show attributes alone.
    hidden : csr_array of shape (n_link_only, n_attribute_only)
        The links between both kinds, which are to be found: 1 each.
    n_left_out : int
        Nodes that would show neither links nor attributes.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.link import make_partially_observable
    >>> ring = np.roll(np.eye(10), 1, axis=1) + np.roll(np.eye(10), -1, axis=1)
    >>> task = make_partially_observable(ring, np.eye(10), 0.2, random_state=0)
    >>> bool(np.isnan(task.X[task.link_only]).all()), task.network.degrees[task.attribute_only]
    (True, array([0, 0]))
    """

    nodes: NDArray[np.int64]
    X: Matrix
    network: Network
    attributed: NDArray[np.bool_]
    link_only: NDArray[np.int64]
    attribute_only: NDArray[np.int64]
    hidden: sp.csr_array
    n_left_out: int

    @property
    def n_complete(self) -> int:
        """How many nodes show both."""
        return len(self.nodes) - len(self.link_only) - len(self.attribute_only)


def make_partially_observable(
    network: Any, X: Any, share: float = 0.2, *, random_state: Any = None
) -> PartiallyObservable:
    """Hides the links of some nodes and the attributes of others, to see whether the links between both are found.

    Nodes that are drawn lose all their links, so that others may be without links, too. As many nodes as are without
    links then, drawn from those that show both, lose their attributes.

    Parameters
    ----------
    network : array-like, sparse matrix or Network of shape (n_nodes, n_nodes)
        Links count in both directions.
    X : array-like or sparse matrix of shape (n_nodes, n_attributes)
        Attributes. Nodes without any have a row of zeros, or of NaN: they keep their links, and show links alone.
    share : float, default=0.2
        How many nodes lose their links, as a share of all. They are drawn from those that show attributes.
    random_state : int, RandomState instance or None, default=None
        Draws the nodes.

    Returns
    -------
    PartiallyObservable
        Nodes that would show neither links nor attributes are left out.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, 2017, section 5.7.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import AttributeCosine
    >>> from vicinal.link import make_partially_observable
    >>> from vicinal.metrics import pair_auc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((80, 12)) < np.where(np.arange(12) // 3 == np.arange(80)[:, None] % 4, 0.9, 0.1)
    >>> linked = np.triu(rng.random((80, 80)) < 0.3, 1) & (np.subtract.outer(np.arange(80), np.arange(80)) % 4 == 0)
    >>> task = make_partially_observable(linked | linked.T, X, random_state=0)
    >>> len(task.nodes), len(task.link_only), len(task.attribute_only), task.n_complete
    (80, 17, 17, 46)
    >>> model = AttributeCosine().fit(task.X, adjacency=task.network, attributed=task.attributed)
    >>> pair_auc(model.scores_between(task.link_only, task.attribute_only), task.hidden) > 0.8
    True
    """
    if not check_share("share", share) < 1:
        raise ValueError(f"share must be below 1, as some nodes keep their links; got {share!r}.")
    whole = (network if isinstance(network, Network) else Network(network)).undirected()
    rows, shown = _rows(X, whole)
    n_nodes, random = whole.n_nodes, check_random_state(random_state)
    n_drawn = max(1, round(share * n_nodes))
    if n_drawn > shown.sum():
        raise ValueError(
            f"share={share} of {n_nodes} nodes are {n_drawn}, and {shown.sum()} have attributes that they could still "
            "show; take a smaller share."
        )
    keeps = np.ones(n_nodes)
    keeps[random.permutation(np.flatnonzero(shown))[:n_drawn]] = 0
    kept = sp.diags_array(keeps)
    links = sp.csr_array(kept @ whole.adjacency @ kept)
    links.eliminate_zeros()
    linked = np.diff(links.indptr) > 0
    attribute_only, both = np.flatnonzero(shown & ~linked), np.flatnonzero(shown & linked)
    if len(both) <= len(attribute_only):
        raise ValueError(
            f"{len(attribute_only)} of {n_nodes} nodes are without links once {n_drawn} have lost theirs, and as many "
            f"others are to lose their attributes, but {len(both)} show both; take a smaller share."
        )
    attributed = shown.copy()
    attributed[random.permutation(both)[: len(attribute_only)]] = False
    nodes, link_only = np.flatnonzero(linked | shown), np.flatnonzero(linked & ~attributed)
    hidden = sp.csr_array(whole.adjacency[link_only][:, attribute_only] != 0).astype(np.float64)
    return PartiallyObservable(
        nodes=nodes,
        X=_hidden(rows, attributed)[nodes],
        network=Network(links[nodes][:, nodes], names=_names(whole, nodes), directed=False),
        attributed=attributed[nodes],
        link_only=np.searchsorted(nodes, link_only),
        attribute_only=np.searchsorted(nodes, attribute_only),
        hidden=hidden,
        n_left_out=n_nodes - len(nodes),
    )


def _rows(X: Any, network: Network) -> tuple[Matrix, NDArray[np.bool_]]:
    """Checked rows, and which of them are attributes."""
    who = "make_partially_observable"
    refuse_other_than_numbers(X, who)
    check_names_of_rows(X, network)
    rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite="allow-nan")
    if rows.shape[0] != network.n_nodes:
        raise ValueError(
            f"X has {rows.shape[0]} rows, but the network has {network.n_nodes} nodes; give one row for each, in the "
            "same order."
        )
    return without_missing(sp.csr_array(rows) if sp.issparse(rows) else rows, who)


def _names(network: Network, nodes: NDArray[np.int64]) -> NDArray | None:
    """Names of the nodes that are left; those that are but numbered are numbered anew."""
    numbered = network.names.dtype.kind in "iu" and np.array_equal(network.names, np.arange(network.n_nodes))
    return None if numbered else network.names[nodes]


def _hidden(rows: Matrix, attributed: NDArray[np.bool_]) -> Matrix:
    """The same without the attributes of all other nodes."""
    if not sp.issparse(rows):
        return np.where(attributed[:, None], rows, np.asarray(np.nan, dtype=rows.dtype))
    left = sp.csr_array(sp.diags_array(attributed.astype(rows.dtype)) @ rows)
    left.eliminate_zeros()
    return left

"""One network of known links and of links between nodes that are alike (thesis, section 5.7.2.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._validation import check_count
from ..graphs import nearest_rows
from ._observed import Observed

ContentLinks = Any  # "auto" or a number


def combined_network(nodes: Observed, content_links: ContentLinks) -> sp.csr_array:
    """Known links, and links of each node that shows attributes to those that are most like it, by the cosine.

    Parameters
    ----------
    nodes : Observed
    content_links : int or "auto"
        How many; "auto" takes the mean number of links of nodes that have any.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        Symmetric, 1 for every link.
    """
    if content_links == "auto":
        wanted = round(nodes.links.nnz / int(nodes.linked.sum()))
    else:
        wanted = check_count("content_links", content_links, least=0)
    shown = np.flatnonzero(nodes.attributed)
    if nodes.attributes is None or not wanted or len(shown) < 2:
        return nodes.links
    near = nearest_rows(nodes.attributes[shown], n_neighbors=wanted, metric="cosine")[1]
    first, second = np.repeat(shown, near.shape[1]), shown[near.ravel()]
    alike = sp.csr_array((np.ones(len(first)), (first, second)), shape=nodes.links.shape)
    whole = sp.csr_array(nodes.links.maximum(alike).maximum(alike.T))
    whole.sort_indices()
    return whole

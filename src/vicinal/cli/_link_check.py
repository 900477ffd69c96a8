"""How far the recommended links of `vicinal links` can be trusted: links that are hidden, and found again or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from .._calls import watching
from .._words import counted
from ..link import LinkPredictor
from ..network import Network, from_edges, hold_out_links
from ._link_nodes import Nodes
from ._terminal import Steps, telling_warnings

SHARE_OF_LINKS, SHARE_OF_NODES = 0.1, 0.05
FEWEST = 5  # hidden links that are worth a number
PAIRS_PER_LINK, MOST_PAIRS = 10, 200_000
POOR, FAIR, GOOD = 0.6, 0.75, 0.9


@dataclass(frozen=True)
class Check:
    """The AUC with which links that were hidden are told from pairs without a link.

    `newcomers`: the same for nodes all of whose links were hidden, as if they showed attributes alone.
    """

    auc: float
    n_links: int
    newcomers: float | None = None
    n_newcomers: int = 0

    @property
    def least(self) -> float:
        return min(self.auc, self.auc if self.newcomers is None else self.newcomers)

    def sentence(self) -> str:
        words = f"AUC {self.auc:.3f} for {counted(self.n_links, 'hidden link')} against random pairs without one"
        if self.newcomers is not None:
            nodes = counted(self.n_newcomers, "node")
            words += f", {self.newcomers:.3f} for all links of {nodes} that then showed attributes alone"
        return f"{words} (0.5 is chance, 1 perfect)."

    def verdict(self) -> str:
        if self.least < POOR:
            return "That is hardly better than chance: do not rely on them."
        if self.least < FAIR:
            return "That is better than chance, but many of them will be wrong."
        return "That is good." if self.least < GOOD else "That is very good."


def check_by_hidden_links(model: LinkPredictor, nodes: Nodes, *, seed: int, newcomers: bool) -> Check | None:
    """Fits a copy of the model without some links; None where there are too few to hide any."""
    shown = nodes.shown
    random = np.random.RandomState(seed)
    links = nodes.network.links()
    held = _places(nodes.network, hold_out_links(nodes.network, SHARE_OF_LINKS, random_state=seed)[1])
    arrived = np.zeros(nodes.network.n_nodes, dtype=bool)
    both = np.flatnonzero(shown.both)
    if newcomers and len(both) > 1:
        arrived[random.permutation(both)[: max(1, round(SHARE_OF_NODES * len(both)))]] = True
    theirs = arrived[links].any(axis=1)
    hidden = theirs | held
    bare = ~shown.attributed & (np.bincount(links[~hidden].ravel(), minlength=len(arrived)) == 0)
    hidden &= ~bare[links].any(axis=1)  # of whom nothing would be known
    arrived &= np.bincount(links[~hidden].ravel(), minlength=len(arrived)) == 0
    theirs = arrived[links].any(axis=1)
    found, new = links[hidden & ~theirs], links[hidden & theirs]
    if len(found) < FEWEST or hidden.all() or (shown.both.any() and not shown.both[links[~hidden]].any()):
        return None
    left = from_edges(links[~hidden], nodes=nodes.network.n_nodes)
    with telling_warnings(), Steps(total=None, doing="checking by hidden links") as progress, watching(progress.share):
        fitted = clone(model).fit(nodes.X, adjacency=left)
    present = np.flatnonzero(shown.linked & ~arrived)
    auc = _auc(fitted, nodes.network, found, present, random)
    if auc is None:
        return None
    reached = _auc(fitted, nodes.network, new, np.flatnonzero(arrived), random) if len(new) >= FEWEST else None
    return Check(auc, len(found), reached, int(arrived.sum()) if reached is not None else 0)


def _places(network: Network, held: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of a network's links these are."""
    first, second = (ends[:, 0] * network.n_nodes + ends[:, 1] for ends in (network.links(), held))
    return np.isin(first, second)


def _auc(
    model: LinkPredictor, network: Network, links: NDArray, starts: NDArray, random: np.random.RandomState
) -> float | None:
    """Of these links against pairs of one of these nodes and any node that has links."""
    ends = np.flatnonzero(network.degrees > 0)
    count = min(PAIRS_PER_LINK * len(links), MOST_PAIRS)
    pairs = np.column_stack([random.choice(starts, count), random.choice(ends, count)])
    linked = np.asarray(network.adjacency[pairs[:, 0], pairs[:, 1]]).ravel() != 0
    pairs = pairs[~linked & (pairs[:, 0] != pairs[:, 1])]
    if not len(pairs):
        return None
    scores = model.score_pairs(np.concatenate([links, pairs]))
    return float(roc_auc_score(np.arange(len(scores)) < len(links), scores))

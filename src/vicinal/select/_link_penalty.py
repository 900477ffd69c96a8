"""A penalty by links that are held out: how well the columns that it puts first tell them from other pairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._optim import TripletDescent
from .._triplets import Rows, TripletSampler, auc_by_columns
from ..network import Network, hold_out_links
from ._partial_order import Loss

# In units of the mean squared length of x_i * (x_j - x_k).
CANDIDATES = (1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
USUAL: dict[str, float] = {"logistic": 1e-4, "hinge": 3e-4}
SHARES = (64, 32, 16, 8, 4)  # one over the shares of columns whose AUC counts

_HELD_SHARE = 0.2
_FEWEST_LINKS = 50
_TRIPLETS = 5000


def choose_penalty(
    rows: Rows,
    links: sp.csr_array,
    loss: Loss,
    squares: float,
    n_triplets: float,
    average: bool,
    random: np.random.RandomState,
) -> float | None:
    """The candidate with the best mean AUC on held-out links; None where there are too few links to say."""
    network = Network(links)
    if network.n_links < _FEWEST_LINKS:
        return None
    left, held = hold_out_links(network, _HELD_SHARE, random_state=random)
    known = TripletSampler(left.tocsr(), random)
    if not known.n_triplets:
        return None
    triplets = _held_triplets(network, held, random)
    descent = TripletDescent(rows.shape[1], loss, [penalty * squares for penalty in CANDIDATES])
    descent.step(rows.native(), known.draw(max(1, round(n_triplets * left.tocsr().nnz / 2))))
    counts = sorted({max(1, rows.shape[1] // share) for share in SHARES})
    found = []
    for weights in descent.average() if average else descent.last():
        order = np.argsort(-weights, kind="stable")
        found.append(float(np.mean(auc_by_columns(rows, triplets, order, counts))))
    return CANDIDATES[int(np.argmax(found))]


def _held_triplets(network: Network, held: NDArray, random: np.random.RandomState) -> NDArray[np.int32]:
    """Triplets whose links are held out; the third row has no link to the first in the whole network."""
    ends = held if network.directed else np.concatenate([held, held[:, ::-1]])
    links = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=network.shape)
    drawn = TripletSampler(links, random).draw(_TRIPLETS)
    linked = TripletSampler(network.tocsr(), random).no_triplet(drawn[:, 0], drawn[:, 2])
    return drawn[~linked]

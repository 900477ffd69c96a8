"""A penalty by links that are held out: how well the columns that it puts first tell them from other pairs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._edges import is_symmetric
from .._optim import TripletDescent
from .._triplets import Rows, TripletSampler, auc_by_columns
from ..network import Network, hold_out_links
from ._partial_order import Loss

# In units of the mean squared length of x_i * (x_j - x_k).
CANDIDATES = (1e-6, 1e-5, 3e-5, 1e-4, 2e-4, 5e-4, 1e-3, 3e-3)
USUAL: dict[str, float] = {"logistic": 1e-4, "hinge": 2e-4}

BLOCK = 2**21  # triplets drawn at a time
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
    n_columns: int,
    random: np.random.RandomState,
) -> float:
    """The candidate whose best columns have the best AUC on held-out links; the usual one where these are too few.

    `n_columns` is their number. To be taken, another candidate has to be better than the usual one by more than chance.
    """
    network = Network(links)
    if network.n_links < _FEWEST_LINKS:
        return USUAL[loss]
    left, held = hold_out_links(network, _HELD_SHARE, random_state=random)
    known = TripletSampler(left.tocsr(), random)
    if not known.n_triplets:
        return USUAL[loss]
    triplets = _held_triplets(network, held, random)
    if len(triplets) < _FEWEST_LINKS:
        return USUAL[loss]
    descent = TripletDescent(rows.shape[1], loss, [penalty * squares for penalty in CANDIDATES])
    missing = n_steps(n_triplets, left.tocsr())
    while missing > 0:
        descent.step(rows.native(), known.draw(min(missing, BLOCK)))
        missing -= BLOCK
    found = np.array(
        [
            auc_by_columns(rows, triplets, np.argsort(-weights, kind="stable"), [n_columns])[0]
            for weights in (descent.average() if average else descent.last())
        ]
    )
    usual = CANDIDATES.index(USUAL[loss])
    chance = 0.5 / np.sqrt(len(held))
    return CANDIDATES[usual if found[usual] > found.max() - chance else int(np.argmax(found))]


def n_steps(n_triplets: float, links: sp.csr_array) -> int:
    """So many triplets for each link, which counts once if it goes both ways."""
    both_ways = is_symmetric(links)
    return max(1, round(n_triplets * links.nnz / (2 if both_ways else 1)))


def _held_triplets(network: Network, held: NDArray, random: np.random.RandomState) -> NDArray[np.int32]:
    """Triplets whose links are held out; the third row has no link to the first in the whole network."""
    ends = held if network.directed else np.concatenate([held, held[:, ::-1]])
    links = sp.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=network.shape)
    drawn = TripletSampler(links, random).draw(_TRIPLETS)
    linked = TripletSampler(network.tocsr(), random).no_triplet(drawn[:, 0], drawn[:, 2])
    return drawn[~linked]

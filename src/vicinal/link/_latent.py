"""Triplets of linked nodes, and vectors of nodes that put them in order: what NRCL and LinkRanking share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import current_callback, n_threads
from .._optim import LOSSES, LatentTriplets
from .._triplets import Triplets, TripletSampler, are_linked
from .._validation import check_choice, check_count, check_non_negative, check_positive

Matrix = NDArray[np.float64]

_BLOCK = 2**20  # links whose triplets are drawn at a time
_TRIES = 4  # nodes that a link of a new node may be compared with, of which the first that is not linked is
_HELD = 100_000  # triplets on which stochastic steps are judged


@dataclass(frozen=True)
class LatentOptions:
    """What vectors are learned by: see the parameters of `NRCL`."""

    n_components: int
    loss: str
    weight_decay: float
    n_negatives: int
    solver: str
    max_iter: int
    tol: float
    n_epochs: int
    learning_rate: float

    @classmethod
    def of(cls, estimator: Any) -> LatentOptions:
        """The parameters of these names."""
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        check_count("n_components", self.n_components)
        check_choice("loss", self.loss, ("huber", "logistic"))
        check_non_negative("weight_decay", self.weight_decay)
        check_count("n_negatives", self.n_negatives)
        check_choice("solver", self.solver, ("sgd", "lbfgs"))
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        check_count("n_epochs", self.n_epochs)
        check_positive("learning_rate", self.learning_rate)


class LinkTriplets:
    """Draws triplets: every link in both directions, with nodes that its first end is not linked to.

    Parameters
    ----------
    links : csr_array
        Symmetric; every node has a link.
    n_negatives : int
    random : RandomState
    """

    def __init__(self, links: sp.csr_array, n_negatives: int, random: np.random.RandomState):
        self.links, self.n_negatives, self.random = links, n_negatives, random
        self.sampler = TripletSampler(links, random)
        self.pivots = np.repeat(np.arange(links.shape[0], dtype=np.int32), np.diff(links.indptr))
        if not self.sampler.n_triplets:
            raise ValueError(
                "Every node with links is linked to all others that have some, so that no node is nearer to one than "
                "to another; give a network in which some links are missing."
            )

    @property
    def able(self) -> NDArray[np.intp]:
        """Links whose first end is not linked to all others."""
        return np.flatnonzero(self.sampler.n_others[self.pivots] > 0)

    def draw(self, places: NDArray) -> Triplets:
        """The triplets of some links."""
        chosen = np.repeat(places, self.n_negatives)
        pivots = self.pivots[chosen]
        third = self.sampler.thirds(pivots)
        return np.column_stack([pivots, self.links.indices[chosen], third]).astype(np.int32)

    def draw_all(self) -> Triplets:
        return self.draw(self.able)

    def passes(self) -> Iterator[Triplets]:
        """The triplets of all links in an order that is drawn, some at a time."""
        order = self.random.permutation(self.able)
        for start in range(0, len(order), _BLOCK):
            drawn = self.draw(order[start : start + _BLOCK])
            yield drawn[self.random.permutation(len(drawn))] if self.n_negatives > 1 else drawn


def fold_in_triplets(ends: sp.csr_array, links: sp.csr_array, n_negatives: int) -> Triplets:
    """Triplets of new nodes, numbered after the known ones: (new, linked, other) and (linked, new, other).

    What a link is compared with depends on its known end alone, so that a new node's triplets do not depend on which
    others come with it. Nodes that show no links are never the third, since nothing is known of theirs.

    Parameters
    ----------
    ends : csr_array of shape (n_new, n_known)
        The known nodes that each new one is linked to.
    links : csr_array of shape (n_known, n_known)
    n_negatives : int
    """
    n_known, linked = links.shape[0], np.flatnonzero(np.diff(links.indptr) > 0)
    drawn = np.random.RandomState(0).randint(len(linked), size=(n_known, n_negatives * _TRIES))
    known = np.repeat(ends.indices, n_negatives)
    new = np.repeat(np.repeat(np.arange(ends.shape[0]), np.diff(ends.indptr)), n_negatives)
    tried = linked[drawn[ends.indices]].reshape(-1, _TRIES)
    of_new = ~are_linked(ends, new[:, None], tried)
    of_known = ~are_linked(links, known[:, None], tried) & (tried != known[:, None])
    of_known &= np.isin(known, linked)[:, None]
    parts = []
    for first, second, free in ((n_known + new, known, of_new), (known, n_known + new, of_known)):
        third = np.take_along_axis(tried, free.argmax(axis=1)[:, None], axis=1).ravel()
        parts.append(np.column_stack([first, second, third])[free.any(axis=1)])
    return np.concatenate(parts).astype(np.int32)


class StochasticVectors:
    """Vectors in single precision that take a step down the loss of every triplet in turn.

    Parameters
    ----------
    start : ndarray of shape (n_nodes, n_components)
    source : LinkTriplets
    options : LatentOptions
    """

    def __init__(self, start: Matrix, source: LinkTriplets, options: LatentOptions):
        self.vectors = start.astype(np.float32)
        self.squares = np.zeros(len(start), np.float32)
        self.source, self.options = source, options
        # How often a node stands in the triplets of one pass, on average: as either end of a link, or as a third one.
        degrees = np.diff(source.links.indptr)
        self.steps = (2 * degrees + degrees.mean()) * options.n_negatives
        held = source.able[source.random.permutation(len(source.able))[:_HELD]]
        self.held = source.draw(held)
        self.share = len(source.able) / len(held)
        self.judge = LatentTriplets(self.held, len(start), options.loss, n_threads=n_threads(None))

    def run(self, targets: Matrix | None = None, pull: Matrix | None = None) -> None:
        """One pass over all links; a node is pulled to its target with the weight `pull`."""
        zeros = np.zeros(len(self.vectors), np.float32)
        decay = (2 * self.options.weight_decay / self.steps).astype(np.float32)
        force = zeros if pull is None else (2 * pull / self.steps).astype(np.float32)
        goals = None if targets is None else np.ascontiguousarray(targets, dtype=np.float32)
        for triplets in self.source.passes():
            _native.latent_steps(
                self.vectors,
                triplets,
                LOSSES.index(self.options.loss),
                decay,
                force,
                goals,
                self.options.learning_rate,
                self.squares,
                callback=current_callback(),
            )

    def value(self, vectors: Matrix) -> float:
        """The sum over all triplets of their losses and the vectors' decay, by the losses of those that are held."""
        return self.share * self.judge.value(vectors) + self.options.weight_decay * float(np.vdot(vectors, vectors))

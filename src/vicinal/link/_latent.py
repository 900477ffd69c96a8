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
from .._triplets import Triplets, TripletSampler
from .._validation import check_choice, check_count, check_non_negative, check_positive

Matrix = NDArray[np.float64]

_BLOCK = 2**20  # links whose triplets are drawn at a time
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

    def value(self) -> float:
        """The sum over all triplets of their losses and the vectors' decay, by the losses of those that are held."""
        vectors = self.vectors.astype(np.float64)
        return self.share * self.judge.value(vectors) + self.options.weight_decay * float(np.vdot(vectors, vectors))

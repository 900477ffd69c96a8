"""The mathematics of NRCL: vectors of linked nodes that put triplets in order and follow from attributes (Eq. 5.17)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._calls import n_threads
from .._optim import (
    LatentTriplets,
    Solved,
    descend,
    minimize_smooth,
    row_lengths,
    row_sparse_by_shrinking,
    row_sparse_least_squares,
)
from .._validation import Matrix
from ._latent import LatentOptions, LinkTriplets, StochasticVectors

Vectors = NDArray[np.float64]

_REWEIGHTINGS, _REWEIGHTING_TOL = 30, 1e-4
_INNER = 50  # iterations of L-BFGS between two updates of W
_SHRINKINGS, _LAST_SHRINKINGS = 5, 100  # of W, after each pass and after the last one


@dataclass(frozen=True)
class Consensus:
    """What ties vectors to attributes: alpha (||U^s - X^s W||^2 + lambda_a / alpha ||W||_{2,1} + ridge ||W||^2).

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (n_both, n_attributes)
        X^s, the attributes of nodes that show both.
    places : ndarray of shape (n_both,)
        Where these nodes stand among those with links.
    weight : float
        alpha.
    sparsity : float
        lambda_a / alpha.
    ridge : float
        Not in the thesis.
    """

    rows: Matrix
    places: NDArray
    weight: float
    sparsity: float
    ridge: float

    def value(self, U: Vectors, W: Vectors) -> float:
        residual = U[self.places] - self.rows @ W
        costs = self.sparsity * row_lengths(W).sum() + self.ridge * np.vdot(W, W)
        return self.weight * float(np.vdot(residual, residual) + costs)


State = tuple[Vectors, Vectors]  # U, W


def solve_consensus(
    source: LinkTriplets, consensus: Consensus, start: Vectors, options: LatentOptions
) -> Solved[State]:
    """U and W in turn (Algorithm 4): L-BFGS for U, reweighting from a ridge regression for W (Algorithm 5)."""
    triplets = LatentTriplets(source.draw_all(), len(start), options.loss, n_threads=n_threads(None))
    rows, places, decay = consensus.rows, consensus.places, options.weight_decay

    def step(state: State) -> State:
        U, W = state
        targets = rows @ W

        def smooth(U: Vectors) -> tuple[float, Vectors]:
            value, gradient = triplets.value_and_gradient(U)
            residual = U[places] - targets
            gradient += 2 * decay * U
            gradient[places] += 2 * consensus.weight * residual
            return value + decay * float(np.vdot(U, U)) + consensus.weight * float(
                np.vdot(residual, residual)
            ), gradient

        U = minimize_smooth(smooth, U, max_iter=_INNER, tol=0.1 * options.tol).solution
        return U, _coefficients(consensus, U, W)

    def value(state: State) -> float:
        U, W = state
        return triplets.value(U) + decay * float(np.vdot(U, U)) + consensus.value(U, W)

    first = np.zeros((rows.shape[1], start.shape[1]))
    return descend(step, value, (start, first), max_iter=options.max_iter, tol=options.tol)


def _coefficients(consensus: Consensus, U: Vectors, before: Vectors) -> Vectors:
    """The best W for U; the one from before where reweighting, which ends a little early, has no better one."""
    found = row_sparse_least_squares(
        consensus.rows,
        U[consensus.places],
        consensus.sparsity,
        ridge=consensus.ridge,
        max_iter=_REWEIGHTINGS,
        tol=_REWEIGHTING_TOL,
        n_threads=n_threads(None),
    ).solution
    return found if consensus.value(U, found) <= consensus.value(U, before) else before


def step_to_consensus(
    source: LinkTriplets, consensus: Consensus, start: Vectors, options: LatentOptions
) -> Solved[State]:
    """A pass of stochastic steps for U and some shrinking steps for W in turn; ends when the objective, by a fixed
    sample of triplets, falls no more."""
    descent = StochasticVectors(start, source, options)
    pull = np.zeros(len(start))
    pull[consensus.places] = consensus.weight
    targets = np.zeros_like(start)

    def shrunk(U: Vectors, W: Vectors, max_iter: int) -> Vectors:
        rows, goals, sparsity = consensus.rows, U[consensus.places], consensus.sparsity
        return row_sparse_by_shrinking(rows, goals, sparsity, W, ridge=consensus.ridge, max_iter=max_iter).solution

    def step(state: State) -> State:
        descent.run(targets, pull)
        U = descent.vectors.astype(np.float64)
        W = shrunk(U, state[1], _SHRINKINGS)
        targets[consensus.places] = consensus.rows @ W
        return U, W

    def value(state: State) -> float:
        return descent.value(state[0]) + consensus.value(*state)

    first = np.zeros((consensus.rows.shape[1], start.shape[1]))
    found = descend(step, value, (start, first), max_iter=options.n_epochs, tol=options.tol)
    found.converged = True  # so many passes are what was asked for
    U, W = found.solution
    found.solution = U, shrunk(U, W, _LAST_SHRINKINGS)
    found.objective[-1] = min(found.objective[-1], value(found.solution))
    return found


def fold_in(
    triplets: NDArray[np.int32], known: Vectors, n_new: int, pulls: NDArray, targets: Vectors, options: LatentOptions
) -> Vectors:
    """Vectors of new nodes, numbered after the known ones, whose own stay as they are: a convex problem."""
    needed = np.unique(triplets[triplets < len(known)])
    numbers = np.empty(len(known) + n_new, np.int32)
    numbers[needed] = np.arange(len(needed))
    numbers[len(known) :] = len(needed) + np.arange(n_new)
    triplets, known = numbers[triplets], known[needed]
    losses = LatentTriplets(triplets, len(known) + n_new, options.loss, n_threads=n_threads(None))
    decay, weight = options.weight_decay, pulls[:, None]

    def smooth(V: Vectors) -> tuple[float, Vectors]:
        value, gradient = losses.value_and_gradient(np.concatenate([known, V]))
        residual = V - targets
        value += decay * float(np.vdot(V, V)) + float((weight * residual**2).sum())
        return value, gradient[len(known) :] + 2 * decay * V + 2 * weight * residual

    return minimize_smooth(smooth, targets, max_iter=200, tol=1e-8).solution

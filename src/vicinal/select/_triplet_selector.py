"""Selection by stochastic descent over triplets of rows: all but the loss."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from .._calls import one_blas_thread
from .._linked_rows import links_between
from .._magnitudes import as_doubles
from .._optim import TripletDescent
from .._triplets import Rows, Triplets, TripletSampler
from .._validation import Matrix, check_choice, check_count, check_non_negative, check_positive, check_selected_count
from ._base import NetworkSelector, Ranked
from ._link_penalty import BLOCK, choose_penalty, n_steps
from ._partial_order import Loss, PartialOrders, margin_loss

_HELD = 1000  # triplets on which the objective is estimated
_CHECKPOINTS = 10


def _takes_steps(selector: Any) -> bool:
    if selector.solver == "exact":
        raise AttributeError("partial_fit goes on with stochastic steps, but solver='exact'; take 'sgd'.")
    return True


class TripletSelector(NetworkSelector):
    """What PPOP and MMPOP share: all but the loss."""

    _loss: ClassVar[Loss]
    penalty: float | str
    n_triplets: float
    average: bool
    first_step: float
    solver: str
    n_neighbors: int
    max_iter: int
    tol: float
    random_state: Any

    @available_if(_takes_steps)
    def partial_fit(self, X: ArrayLike, y: Any = None, *, adjacency: Any = None) -> Self:
        """Goes on with a network that has grown: more steps from where the last ones ended.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the network as it is now, or of the part of it around what is new; they may be other rows than
            before, with the same columns.
        y : ignored
        adjacency : array-like, sparse matrix or Network of shape (n_samples, n_samples), default=None
            The links between these rows.

        Returns
        -------
        self
        """
        further = self._rank_further if getattr(self, "_descent", None) is not None else None
        return self._fit(X, rank=further, adjacency=adjacency)

    def _rank(self, X: Matrix, adjacency: sp.csr_array | None) -> Ranked:
        self._check()
        random = check_random_state(self.random_state)
        X, links, sampler = with_triplets(X, adjacency, self.n_neighbors, random)
        self._random = random
        rows, held = self._held(X, sampler)
        self.penalty_ = 0.0
        squares = float(rows.margins(held, np.empty((0, X.shape[1])))[1].mean()) if len(held) else 0.0
        self._descent: TripletDescent | None = None
        if not squares:  # linked rows have no column in common, nor have others
            return Ranked(np.zeros(X.shape[1]), [float(margin_loss(self._loss, np.zeros(1))[0][0])])
        self.penalty_ = self._choose(rows, links, squares, random)
        penalty = self.penalty_ * squares
        if self.solver == "exact":
            with one_blas_thread():  # by which sums do not depend on the number of threads
                found = PartialOrders(X, links, self._loss, penalty).solve(max_iter=self.max_iter, tol=self.tol)
            return Ranked.by(found, found.solution)
        self._descent = TripletDescent(X.shape[1], self._loss, [penalty], self.first_step / squares)
        return self._descend(self._descent, rows, links, sampler, held)

    def _rank_further(self, X: Matrix, adjacency: sp.csr_array | None) -> Ranked:
        self._check()
        X, links, sampler = with_triplets(X, adjacency, self.n_neighbors, self._random)
        rows, held = self._held(X, sampler)
        descent = self._descent = copy.deepcopy(self._descent)  # a failure leaves the former one as it was
        assert descent is not None
        earlier = [] if self._history is None else self._history.tolist()
        ranked = self._descend(descent, rows, links, sampler, held)
        ranked.objective = earlier + (ranked.objective or [])
        return ranked

    def _check(self) -> None:
        check_choice("solver", self.solver, ("sgd", "exact"))
        check_positive("n_triplets", self.n_triplets)
        check_positive("first_step", self.first_step)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)
        if isinstance(self.penalty, str):
            check_choice("penalty", self.penalty, ("auto",))
        elif not check_non_negative("penalty", self.penalty) and self.solver == "exact":
            raise ValueError("solver='exact' needs a penalty above 0: without one there may be no minimum.")

    def _held(self, X: Matrix, sampler: TripletSampler) -> tuple[Rows, Triplets]:
        """X for the compiled part, and the triplets on which the objective is estimated."""
        return Rows.of(X), sampler.draw(_HELD if sampler.n_triplets else 0)

    def _choose(self, rows: Rows, links: sp.csr_array, squares: float, random: np.random.RandomState) -> float:
        if not isinstance(self.penalty, str):
            return float(self.penalty)
        wanted = check_selected_count(self.n_features_to_select, rows.shape[1], has_rule=False)
        assert wanted is not None
        return choose_penalty(rows, links, self._loss, squares, self.n_triplets, self.average, wanted, random)

    def _descend(
        self, descent: TripletDescent, rows: Rows, links: sp.csr_array, sampler: TripletSampler, held: Triplets
    ) -> Ranked:
        count = n_steps(self.n_triplets, links) if sampler.n_triplets else 0
        objective: list[float] = []
        marks = np.unique(np.linspace(0, count, _CHECKPOINTS + 1).round().astype(int))[1:]
        taken = 0
        for mark in marks:
            while taken < mark:
                size = int(min(mark - taken, BLOCK))
                descent.step(rows.native(), sampler.draw(size))
                taken += size
            weights = self._weights(descent)
            losses = margin_loss(self._loss, rows.margins(held, weights[None, :])[0])[0]
            objective.append(float(losses.mean() + descent.penalties[0] / 2 * np.square(weights).sum()))
        return Ranked(self._weights(descent), objective, max(1, descent.n_steps))

    def _weights(self, descent: TripletDescent) -> NDArray[np.float64]:
        return (descent.average() if self.average else descent.last())[0]


def with_triplets(
    X: Matrix, adjacency: sp.csr_array | None, n_neighbors: int, random: np.random.RandomState | None = None
) -> tuple[sp.csr_array, sp.csr_array, TripletSampler]:
    """X as CSR, the links between its rows, and what draws triplets of them."""
    links = links_between(X, adjacency, n_neighbors, symmetric=False)
    sampler = TripletSampler(links, random)
    if not sampler.n_triplets and adjacency is not None:
        raise ValueError(
            "Every row with links is linked to all other rows, so that no row is nearer to one than to another; give "
            "a network in which some links are missing."
        )
    return sp.csr_array(as_doubles(X)), links, sampler

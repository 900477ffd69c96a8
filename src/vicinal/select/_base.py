"""What all selectors share: scores once, then any number of features without another fit."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._calls import limited_threads
from .._hetero import HeteroNetwork, check_side
from .._messages import warn_not_converged
from .._optim import Solved
from .._validation import (
    Matrix,
    all_or_nothing,
    check_adjacency,
    check_names_of_rows,
    check_selected_count,
    checked_rows,
    refuse_other_than_numbers,
)

# What a method may look at besides X: how each is checked against the number of rows, and what `_rank` gets of it.
INPUTS: dict[str, Callable[[Any, int], Any]] = {"adjacency": check_adjacency, "side": check_side}


@dataclass
class Ranked:
    """What a method found out about the columns.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        One finite number per column, higher is better. Columns that cannot be told apart have equal scores.
    objective : list of float or None
        Values of what was minimised, one per iteration and the last one that of the solution; None for methods that
        score columns one by one: their objective is the sum of the selected columns' scores.
    n_iter : int
    n_auto : int, list of int or None
        How many columns the method's own rule keeps, or how many of each view; None for methods without a rule.
    n_most : int or None
        `fit` keeps no more columns than these, whatever is asked for; None for no limit.
    converged : bool
        Where False, `fit` warns, with the next three.
    steps : str
        What iterations are called.
    detail : str
        What is known about the solution.
    cure : str
        What to do.
    """

    scores: NDArray[np.float64]
    objective: list[float] | None = None
    n_iter: int = 1
    n_auto: int | list[int] | None = None
    n_most: int | None = None
    converged: bool = True
    steps: str = "iterations"
    detail: str = ""
    cure: str = "raise max_iter or tol"

    @classmethod
    def by(cls, found: Solved, scores: NDArray[np.float64], **more: Any) -> Self:
        """Scores that a solver's answer gave; `more` are further attributes."""
        return cls(scores, found.objective, found.n_iter, converged=found.converged, **more)


class FeatureSelector(SelectorMixin, BaseEstimator):
    """Base of the selectors: they rank all columns, and any number of them can be kept.

    A method has `n_features_to_select` among its parameters and implements `_rank`, which returns a `Ranked`. One that
    looks at more than X has a `fit` that names what it takes, like that of `NetworkSelector`: what is known by name in
    `INPUTS` has then been checked when `_rank` gets it.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.select import FeatureSelector, MaximumVariance
    >>> isinstance(MaximumVariance(), FeatureSelector)
    True
    >>> selector = MaximumVariance(1).fit(np.array([[0.0, 5.0, 1.0], [0.1, -5.0, 1.0], [0.2, 4.0, 2.0]]))
    >>> selector.ranking_
    array([3, 1, 2])
    >>> selector.with_n_features(2).get_support(indices=True)
    array([1, 2])
    """

    n_features_to_select: int | float | str

    @abstractmethod
    def _rank(self, X: Matrix, *args: Any, **inputs: Any) -> Ranked:
        """Scores of the columns of X, a float array or CSR matrix that has been checked; may set attributes.

        Methods without further inputs have X alone, others each of theirs as an argument, None where it is not given.
        """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Ranks the columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
            Labels are never read.

        Returns
        -------
        self
        """
        return self._fit(X)

    @all_or_nothing
    def _fit(self, X: ArrayLike, *, rank: Callable[..., Ranked] | None = None, **inputs: Any) -> Self:
        """Ranks by `_rank`, or by another method that goes on from an earlier fit to columns of the same names."""
        rows: Matrix = checked_rows(self, X, ensure_min_samples=2, ensure_min_features=1, reset=rank is None)
        if sp.issparse(rows):
            rows.check_format(full_check=True)  # indices that point nowhere would be followed all the same
        self._read_columns()
        self._counts(self.n_features_to_select)
        for name, given in inputs.items():
            check_names_of_rows(X, given, name)
            inputs[name] = None if given is None else INPUTS[name](given, rows.shape[0])
        try:
            with limited_threads(getattr(self, "n_jobs", None)):
                ranked = (rank or self._rank)(rows, **inputs)
        except np.linalg.LinAlgError as error:
            raise ValueError(self._unreadable(rows)) from error
        self.scores_ = np.asarray(ranked.scores, dtype=np.float64)
        if not np.isfinite(self.scores_).all():
            raise ValueError(self._unreadable(rows))
        if not ranked.converged:
            warn_not_converged(self, ranked.n_iter, steps=ranked.steps, detail=ranked.detail, cure=ranked.cure)
        self.ranking_ = _ranks(-self.scores_, self._places())
        self.n_iter_ = ranked.n_iter
        if self._has_rule:
            assert ranked.n_auto is not None
            self.n_auto_ = ranked.n_auto
        self._history = None if ranked.objective is None else np.asarray(ranked.objective, dtype=np.float64)
        self._cut(ranked.n_most)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """The columns of X that are kept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        array or sparse matrix of shape (n_samples, number of columns that are kept)
        """
        check_is_fitted(self)
        refuse_other_than_numbers(X, type(self).__name__)
        return super().transform(X)

    def with_n_features(self, n_features_to_select: int | float | str) -> Self:
        """The same selector with another number of features kept; nothing is fitted again.

        Parameters
        ----------
        n_features_to_select : int, float, "auto" or "all"

        Returns
        -------
        FeatureSelector
            A fitted copy; this one is left as it is.
        """
        check_is_fitted(self)
        self._counts(n_features_to_select)
        other = copy.copy(self)
        other.n_features_to_select = n_features_to_select
        other._cut()
        return other

    def _unreadable(self, X: Matrix) -> str:
        largest = np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)
        return (
            f"{type(self).__name__} cannot compute with the columns of X, whose values go up to {largest:.3g}; bring "
            "them to a common scale around 0 first."
        )

    # Whether the method knows how many features to keep: n_features_to_select="auto".
    _has_rule = False

    def _read_columns(self) -> None:
        """Learns of the columns of X what `_rivals` and `_counts` need."""

    def _rivals(self) -> list[NDArray[np.intp]]:
        """Columns that compete with each other: all of them, or for selectors of several views those of each."""
        return [np.arange(self.n_features_in_)]

    def _counts(self, wanted: Any) -> list[int | None]:
        """How many of each group of rivals are kept; None where the method's own rule says."""
        return [check_selected_count(wanted, self.n_features_in_, has_rule=self._has_rule)]

    def _places(self) -> NDArray[np.intp]:
        """The rank of each column among its rivals."""
        places = np.empty(self.n_features_in_, dtype=np.intp)
        for columns in self._rivals():
            places[columns] = _ranks(-self.scores_[columns])
        return places

    def _cut(self, most: int | None = None) -> None:
        counts = self._counts(self.n_features_to_select)
        by_rule = np.broadcast_to(self.n_auto_, len(counts)) if self._has_rule else counts
        places = self._places()
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        for columns, wanted, auto in zip(self._rivals(), counts, by_rule, strict=True):
            n_kept = auto if wanted is None else wanted
            self.support_[columns] = places[columns] <= (n_kept if most is None else min(n_kept, most))
        self.objective_ = self.scores_[self.support_].sum(keepdims=True) if self._history is None else self._history

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _ranks(*keys: NDArray[Any]) -> NDArray[np.intp]:
    """From 1 on by the last key, ties by the one before it, then in the order of columns."""
    ranks = np.empty(len(keys[0]), dtype=np.intp)
    ranks[np.lexsort(keys)] = np.arange(1, len(ranks) + 1)
    return ranks


class NetworkSelector(FeatureSelector):
    """Base of the selectors that look at a network between the rows: they implement ``_rank(X, adjacency)``."""

    def fit(self, X: ArrayLike, y: Any = None, *, adjacency: Any = None) -> Self:
        """Ranks the columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
            Labels are never read.
        adjacency : array-like, sparse matrix or Network of shape (n_samples, n_samples), default=None
            The weight of the link from each row of X to each other one, 0 where there is none; how much links weigh is
            not looked at. Cross-validation can slice a `vicinal.network.Network`, but not a matrix. None links each row
            to its nearest rows.

        Returns
        -------
        self
        """
        if adjacency is None and hasattr(y, "tocsr"):
            raise ValueError("A network was given as y, which is never read; give it by name: fit(X, adjacency=...).")
        return self._fit(X, adjacency=adjacency)


class SideSelector(FeatureSelector):
    """Base of the selectors that look at side information about the rows: they implement ``_rank(X, side)``."""

    def fit(self, X: ArrayLike, y: Any = None, *, side: HeteroNetwork | None = None) -> Self:
        """Ranks the columns of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
            Labels are never read.
        side : HeteroNetwork, default=None
            Side information, whose target nodes are the rows of X in their order. None links each row to its nearest
            rows.

        Returns
        -------
        self
        """
        if side is None and isinstance(y, HeteroNetwork):
            raise ValueError("Side information was given as y, which is never read; give it by name: fit(X, side=...).")
        return self._fit(X, side=side)

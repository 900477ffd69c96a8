"""What RUFS and RSFS share: pseudo labels, and coefficients that predict them, found together."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._calls import one_blas_thread
from .._magnitudes import as_doubles
from .._messages import warn
from .._optim import Solved, descend, minimize_in_box, row_lengths
from .._validation import Matrix, check_count, check_non_negative
from .._views import as_slice, take_columns
from ._base import FeatureSelector, Ranked
from ._columns import check_cluster_count, telling, varying

Array = NDArray[np.float64]

_STEPS = 60  # of L-BFGS in a round
_MEMORY = 20
_COEFFICIENT_SMOOTHING = 1e-4  # of a coefficient that turns a row of usual length into a label of 1
_COUNTS = 10.0  # times the smoothing: below it a column is out


class LabelObjective(ABC):
    """A smooth function of pseudo labels F >= 0 and coefficients W, both divided by `label_size`.

    With ``F'F = I`` labels are of the size ``sqrt(c / n)``; here they are of the size 1, like class indicators, and the
    constraint is ``(c / n) F'F = I``, kept by a penalty. Lengths of coefficients are smoothed by
    `coefficient_smoothing`.
    """

    label_size: float
    coefficient_smoothing: float | Array

    @abstractmethod
    def __call__(self, F: Array, W: Array) -> tuple[float, Array, Array]:
        """The value, and its gradient by F and by W."""

    @abstractmethod
    def curvature(self, F: Array, W: Array) -> tuple[Array, Array]:
        """About the second derivatives by an entry of each row of F and of W."""

    @abstractmethod
    def update(self, F: Array) -> None:
        """Improves what the objective holds beside F and W, if anything, for these labels."""


class ViewObjective(LabelObjective):
    """An objective of one matrix X and a Laplacian L of its rows."""

    def __init__(self, X: Matrix, L: sp.csr_array, n_clusters: int):
        self.X, self.L = X, L
        self.label_size = np.sqrt(n_clusters / X.shape[0])
        self.squares = X.power(2) if sp.issparse(X) else X**2
        self.squared_rows = np.asarray(self.squares.sum(axis=1)).ravel()
        self.usual_length = np.sqrt(self.squared_rows.mean()) or 1.0
        self.coefficient_smoothing = _COEFFICIENT_SMOOTHING / self.usual_length

    def coefficient_lengths(self, W: Array) -> Array:
        return smooth_lengths(np.einsum("ij,ij->i", W, W), self.coefficient_smoothing)

    def away_from_orthogonal(self, F: Array) -> Array:
        return self.label_size**2 * (F.T @ F) - np.eye(F.shape[1])


class SharedLabels(LabelObjective):
    """The mean of the views' objectives, which have the labels in common; each has its own of the rows of W."""

    def __init__(self, objectives: list[ViewObjective], columns: list[NDArray[np.intp]], n_columns: int):
        self.objectives, self.columns = objectives, [as_slice(own) for own in columns]
        self.label_size = objectives[0].label_size
        self.coefficient_smoothing = np.zeros(n_columns)
        for one, own in zip(objectives, self.columns, strict=True):
            self.coefficient_smoothing[own] = one.coefficient_smoothing

    def __call__(self, F: Array, W: Array) -> tuple[float, Array, Array]:
        parts = [one(F, W[own]) for one, own in zip(self.objectives, self.columns, strict=True)]
        value, by_labels = np.mean([part[0] for part in parts]), np.mean([part[1] for part in parts], axis=0)
        return float(value), by_labels, self._in_order(W, [part[2] for part in parts])

    def curvature(self, F: Array, W: Array) -> tuple[Array, Array]:
        parts = [one.curvature(F, W[own]) for one, own in zip(self.objectives, self.columns, strict=True)]
        by_labels = np.mean([part[0] for part in parts], axis=0)
        return by_labels, self._in_order(W[:, 0], [part[1] for part in parts])

    def update(self, F: Array) -> None:
        for one in self.objectives:
            one.update(F)

    def _in_order(self, like: Array, parts: list[Array]) -> Array:
        whole = np.zeros_like(like)
        for own, part in zip(self.columns, parts, strict=True):
            whole[own] = part / len(parts)
        return whole


def smooth_lengths(squared: Array, smoothing: float | Array) -> Array:
    """sqrt(squared + smoothing^2), where rounding may have put a square below 0."""
    return np.sqrt(np.maximum(squared, 0.0) + smoothing**2)


def learn(
    objective: LabelObjective, F: Array, W: Array, kept: NDArray[np.bool_], *, max_iter: int, tol: float
) -> Solved[tuple[Array, Array]]:
    """F and W, downhill in rounds until one gains less than `tol` of the objective, which never rises.

    A round takes some steps of L-BFGS, with variables scaled by the curvature at its beginning: coefficients of columns
    that are on their way out get ever smaller steps. That is what reweighting does, without a matrix of rows or of
    columns to factorise. Coefficients of columns that are not `kept` stay 0.
    """
    lower = np.repeat([0.0, -np.inf], [F.size, W.size])

    def one_round(state: tuple[Array, Array]) -> tuple[Array, Array]:
        objective.update(state[0])
        scaled = _Scaled(objective, *state, kept)
        start = scaled.variables(*state)
        found = minimize_in_box(scaled, start, lower, np.inf, tol=0, max_iter=_STEPS, memory=_MEMORY)
        return scaled.parts(found.solution)

    return descend(one_round, lambda state: objective(*state)[0], (F, W), max_iter=max_iter, tol=tol)


class _Scaled:
    """An objective as a function of one vector, whose curvature is about 1 near F and W."""

    def __init__(self, objective: LabelObjective, F: Array, W: Array, kept: NDArray[np.bool_]):
        self.objective = objective
        self.shapes = F.shape, W.shape
        by_labels, by_coefficients = objective.curvature(F, W)
        self.labels = 1 / np.sqrt(by_labels)[:, None]
        self.coefficients = np.zeros((len(W), 1))
        kept = kept & (by_coefficients > 0)
        self.coefficients[kept, 0] = 1 / np.sqrt(by_coefficients[kept])

    def variables(self, F: Array, W: Array) -> Array:
        kept = self.coefficients > 0
        return np.concatenate(
            [(F / self.labels).ravel(), np.divide(W, self.coefficients, out=np.zeros_like(W), where=kept).ravel()]
        )

    def parts(self, x: Array) -> tuple[Array, Array]:
        size = self.shapes[0][0] * self.shapes[0][1]
        return x[:size].reshape(self.shapes[0]) * self.labels, x[size:].reshape(self.shapes[1]) * self.coefficients

    def __call__(self, x: Array) -> tuple[float, Array]:
        value, by_labels, by_coefficients = self.objective(*self.parts(x))
        return value, np.concatenate([(by_labels * self.labels).ravel(), (by_coefficients * self.coefficients).ravel()])


def start_labels(X: Matrix, n_clusters: int, random_state: Any) -> Array:
    """Indicators of k-means clusters, + 0.2, with a mean square of 1 / n_clusters in each column."""
    n = X.shape[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters: some stay empty
        kmeans = KMeans(n_clusters, n_init=10, random_state=check_random_state(random_state))
        clusters = kmeans.fit(_with_short_indices(X)).labels_
    F = np.full((n, n_clusters), 0.2)
    F[np.arange(n), clusters] += 1
    return F / np.sqrt(n_clusters * (F**2).mean(axis=0))


def _with_short_indices(X: Matrix) -> Matrix:
    """X with indices of 32 bits, which scikit-learn's k-means asks for."""
    if not sp.issparse(X) or X.indices.dtype == np.int32:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def start_coefficients(X: Matrix, F: Array, kept: NDArray[np.bool_]) -> Array:
    """X'F of the columns that are kept, of the length that predicts F best."""
    W = (X.T @ F) * kept[:, None]
    predicted = X @ W
    squared = np.vdot(predicted, predicted)
    return W * (np.vdot(predicted, F) / squared) if squared > 0 else W


class LabelLearner(FeatureSelector):
    """Base of the selectors that learn labels and coefficients together; they say what the objective is."""

    n_clusters: int
    n_neighbors: int
    sparsity: float
    max_iter: int
    tol: float
    random_state: Any

    @abstractmethod
    def _weights(self, X: Matrix) -> dict[str, float]:
        """The terms' weights for `_objective`; refuses wrong ones, and rows that the method cannot take."""

    @abstractmethod
    def _objective(self, X: Matrix, F: Array, **weights: float) -> ViewObjective:
        """What is minimised for one view, where labels start from F."""

    def _rank(self, X: Matrix) -> Ranked:
        weights = self._weights(X)
        n_clusters = check_cluster_count(self.n_clusters, X.shape[0])
        check_count("n_neighbors", self.n_neighbors)
        max_iter, tol = check_count("max_iter", self.max_iter), check_non_negative("tol", self.tol)
        X = as_doubles(X)
        kept = varying(X)
        F = start_labels(X, n_clusters, self.random_state)
        columns = telling(self._rivals(), kept)
        W = np.zeros((X.shape[1], n_clusters))
        with one_blas_thread():
            views = [take_columns(X, own) for own in columns]
            for own, view in zip(columns, views, strict=True):
                W[own] = start_coefficients(view, F, kept[own])
            objective = SharedLabels([self._objective(view, F, **weights) for view in views], columns, X.shape[1])
            learned = learn(objective, F, W, kept, max_iter=max_iter, tol=tol)
        self.pseudo_labels_, self.coef_ = (objective.label_size * part for part in learned.solution)
        lengths = row_lengths(self.coef_)
        if kept.any() and (lengths <= _COUNTS * objective.label_size * objective.coefficient_smoothing).all():
            warn(
                f"With sparsity={self.sparsity} no column keeps a coefficient; columns are ranked by how near they "
                "come to one: lower sparsity."
            )
        return Ranked.by(learned, lengths, steps="rounds")

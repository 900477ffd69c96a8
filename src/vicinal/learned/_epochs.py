"""Epochs of small steps over labelled rows, for networks whose first layer has weights per column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._calls import current_callback, one_blas_thread
from .._validation import Matrix, canonical, check_count, check_non_negative, check_positive

Floats = NDArray[Any]
Places = NDArray[np.intp]

FIRST_WEIGHTS = 0.01  # deviation of the columns' weights at first: what is not learned is not heard
LEAST_STEPS = 200  # that are waited for a better epoch: of few rows, ten epochs are hardly any
SMALLEST = 1e-30  # of a step's divisor: where all gradients have been zero, nothing moves


def generator(random_state: Any) -> np.random.Generator:
    """Unlike RandomState, it draws single precision."""
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def first_column_weights(n_columns: int, n_sums: int, dtype: Any, rng: np.random.Generator) -> Floats:
    """Drawn in single precision and then made `dtype`, so that rows of both number types begin alike."""
    weights = rng.standard_normal((n_columns, n_sums), dtype=np.float32)
    weights *= np.float32(FIRST_WEIGHTS)
    return weights.astype(dtype, copy=False)


class Network(Protocol):
    """What is trained: weights of columns, by which rows are multiplied first, and all that follows."""

    column_weights: Floats
    others: list[Floats]

    def slopes(self, sums: Floats, classes: Places) -> tuple[float, Floats, list[Floats]]:
        """The loss of some rows, and its gradients by their sums and by the other weights."""

    def quality(self, sums: Floats, classes: Places) -> float:
        """How well it does on rows that it did not learn from; higher is better."""


@dataclass(frozen=True)
class Schedule:
    """How many steps there are, and how large they are."""

    learning_rate: float
    weight_decay: float
    batch_size: int
    n_epochs: int
    n_epochs_no_change: int
    tol: float
    least_batch: int = 1


def checked_schedule(model: Any, least_batch: int = 1) -> Schedule:
    """The parameters of training that estimators share."""
    rate, decay = check_positive("learning_rate", model.learning_rate), model.weight_decay
    if not rate * check_non_negative("weight_decay", decay) < 1:
        raise ValueError(
            f"learning_rate times weight_decay must be below 1, or weights change their signs; got {rate:g} and "
            f"{decay:g}."
        )
    return Schedule(
        rate,
        float(decay),
        check_count("batch_size", model.batch_size, least=least_batch),
        check_count("n_epochs", model.n_epochs),
        check_count("n_epochs_no_change", model.n_epochs_no_change),
        check_non_negative("tol", model.tol),
        least_batch,
    )


@dataclass
class History:
    """The mean loss of each epoch's batches as met, and the quality on held-out rows after it."""

    losses: list[float] = field(default_factory=list)
    qualities: list[float] = field(default_factory=list)

    best: int = 0

    def note(self, quality: float, tol: float) -> None:
        """Adds the quality after an epoch, which is the best one if it betters the best so far by more than `tol`."""
        self.qualities.append(quality)
        if quality > self.qualities[self.best] + tol:
            self.best = len(self.qualities) - 1

    @property
    def since_best(self) -> int:
        return max(len(self.qualities) - 1 - self.best, 0)


class Batches:
    """Some of the rows at a time, with the columns that they have."""

    def __init__(self, rows: Matrix):
        self.rows = rows
        if sp.issparse(rows):
            self.seen = np.zeros(rows.shape[1], dtype=bool)
            self.place = np.empty(rows.shape[1], dtype=np.int32)

    def take(self, places: Places) -> tuple[Matrix, Places | slice]:
        """The rows, as a matrix of only the columns where they have entries, and which columns these are."""
        batch = self.rows[places]
        if not sp.issparse(batch):
            has_entries = batch.any(axis=0)
            return (batch, slice(None)) if has_entries.all() else (batch[:, has_entries], np.flatnonzero(has_entries))
        self.seen[batch.indices] = True
        columns = np.flatnonzero(self.seen)
        self.seen[columns] = False
        self.place[columns] = np.arange(len(columns), dtype=np.int32)
        shape = (len(places), len(columns))
        return sp.csr_matrix((batch.data, self.place[batch.indices], batch.indptr), shape=shape), columns


class AdaptiveSteps:
    """Steps against gradients, divided by the root of the sum of all their squares so far (Adagrad).

    A column has one such sum for all its weights, and so has each array of other weights. A column moves and shrinks
    only when a row of the batch has it, so that a step costs what the entries of its rows cost.
    """

    def __init__(self, network: Network, schedule: Schedule):
        self.network, self.schedule = network, schedule
        weights = network.column_weights
        self.column_squares = np.zeros((len(weights), 1), dtype=weights.dtype)
        self.squares = [np.zeros((), dtype=other.dtype) for other in network.others]

    def take(self, batch: Matrix, columns: Places | slice, classes: Places) -> float:
        """One step; the loss before it."""
        network, rate = self.network, self.schedule.learning_rate
        shrunk = 1 - rate * self.schedule.weight_decay
        weights = network.column_weights[columns]
        loss, slopes, others = network.slopes(batch @ weights, classes)
        gradient = batch.T @ slopes
        squares = self.column_squares[columns] + np.einsum("ij,ij->i", gradient, gradient)[:, np.newaxis]
        self.column_squares[columns] = squares
        gradient *= rate / np.maximum(np.sqrt(squares), SMALLEST)
        weights = weights * shrunk
        weights -= gradient
        network.column_weights[columns] = weights
        for other, total, slope in zip(network.others, self.squares, others, strict=True):
            total += np.vdot(slope, slope)
            if other.ndim > 1:  # biases do not shrink
                other *= shrunk
            other -= slope * (rate / np.maximum(np.sqrt(total), SMALLEST))
        return loss


def train(
    network: Network,
    rows: Matrix,
    classes: Places,
    held_out: Places,
    schedule: Schedule,
    rng: np.random.Generator,
) -> History:
    """Trains the network in place on all rows but the held-out ones; it ends as it was after its best epoch."""
    learned = np.setdiff1d(np.arange(rows.shape[0]), held_out)
    left_out, batches, history = rows[held_out], Batches(rows), History()
    steps, best = AdaptiveSteps(network, schedule), _copies(network) if len(held_out) else []
    n_batches = max(1, min(-(-len(learned) // schedule.batch_size), len(learned) // schedule.least_batch))
    tell = current_callback()
    with one_blas_thread():  # the products are thin
        for epoch in range(schedule.n_epochs):
            losses = []
            for batch in np.array_split(rng.permutation(learned), n_batches):
                part, columns = batches.take(batch)
                losses.append(steps.take(part, columns, classes[batch]))
            history.losses.append(float(np.mean(losses)))
            if tell is not None:
                tell((epoch + 1) / schedule.n_epochs)
            if len(held_out):
                quality = network.quality(left_out @ network.column_weights, classes[held_out])
                history.note(quality, schedule.tol)
                if history.since_best == 0:
                    best = _copies(network)
                elif history.since_best >= max(schedule.n_epochs_no_change, LEAST_STEPS / n_batches):
                    break
    if best and history.since_best:
        network.column_weights, *network.others = best
    return history


def _copies(network: Network) -> list[Floats]:
    return [network.column_weights.copy(), *(other.copy() for other in network.others)]


def held_out_rows(classes: Places, share: Any, rng: np.random.Generator, *, most: int | None = None) -> Places:
    """A share of each class, but at most so many rows in all; none unless they are of two classes and can be spared."""
    if share is None:
        return np.empty(0, dtype=np.intp)
    if not isinstance(share, float | np.floating) or not 0 < share < 1:
        raise ValueError(f"validation_fraction must be a share above 0 and below 1, or None; got {share!r}.")
    share = min(float(share), (most or len(classes)) / len(classes))
    drawn = [
        rng.permutation(np.flatnonzero(classes == place))[: min(round(share * count), count - 1)]
        for place, count in enumerate(np.bincount(classes))
    ]
    is_enough = sum(len(part) > 0 for part in drawn) >= 2
    return np.sort(np.concatenate(drawn)) if is_enough else np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Prepared:
    """Rows as they are trained on: of a mean squared length of 1, and without columns that no row has."""

    rows: Matrix
    columns: Places
    scale: float
    n_columns: int

    def spread(self, weights: Floats) -> Floats:
        """Weights of these columns as weights of all columns, for rows of any length."""
        if len(self.columns) == self.n_columns:
            return weights * weights.dtype.type(self.scale)
        found = np.zeros((self.n_columns, weights.shape[1]), dtype=weights.dtype)
        found[self.columns] = weights * weights.dtype.type(self.scale)
        return found


def prepared(rows: Matrix) -> Prepared:
    n_columns, is_sparse, rows = rows.shape[1], sp.issparse(rows), canonical(rows)
    if is_sparse and not rows.data.all():
        rows = rows.copy()
        rows.eliminate_zeros()
    entries = (rows.data if is_sparse else rows.ravel()).astype(np.float64, copy=False)
    total = float(np.vdot(entries, entries))
    scale = float(np.sqrt(rows.shape[0] / total)) if total else 1.0
    columns = np.unique(rows.indices) if is_sparse else np.flatnonzero(rows.any(axis=0))
    if not len(columns):
        columns = np.zeros(1, dtype=np.intp)
    if is_sparse:
        place = np.zeros(n_columns, dtype=np.int32)
        place[columns] = np.arange(len(columns), dtype=np.int32)
        data = rows.data * rows.dtype.type(scale)
        rows = sp.csr_matrix((data, place[rows.indices], rows.indptr), shape=(rows.shape[0], len(columns)))
    else:
        rows = rows[:, columns] * rows.dtype.type(scale)
    return Prepared(rows, columns, scale, n_columns)

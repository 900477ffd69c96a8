"""One linear problem for the compiled solver: rows, outputs, weights; what comes back, with its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import current_callback, n_threads
from .._magnitudes import largest_magnitude
from .._validation import Matrix, canonical
from ._coded_rows import CodedRows
from ._newton import NewtonProblem

CLASSIFICATION = ("squared_hinge", "hinge", "logistic")
LOSSES = (*CLASSIFICATION, "huber")
MOST_LANES = 8  # outputs whose weights lie side by side
NARROW = 100  # columns up to which Newton's steps, where the loss has derivatives, beat dual ones
LARGEST_LENGTH = 1e30  # squared, of all rows together, up to which single precision is trusted


@dataclass(frozen=True)
class Outputs:
    """What a linear model is fitted to: classes against the rest, or numbers.

    `factors` has two numbers per output, by which the weights of rows of its class and of all other rows are
    multiplied. `counts` orders the outputs: those with many rows are solved together.
    """

    factors: NDArray[np.float64]
    counts: NDArray[np.float64]
    labels: NDArray[np.int32] | None = None
    targets: NDArray[np.float64] | None = None

    def of(self, c: int, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Targets of output c, -1 and 1 for classes, and what each row's loss weighs there."""
        if self.targets is not None:
            return self.targets[:, c], weights
        targets = np.where(self.labels == c, 1.0, -1.0)
        return targets, weights * np.where(targets > 0, self.factors[0, c], self.factors[1, c])

    def take(self, rows: NDArray[np.integer]) -> Outputs:
        """Those of some rows."""
        labels = None if self.labels is None else self.labels[rows]
        return Outputs(self.factors, self.counts, labels, None if self.targets is None else self.targets[rows])


@dataclass(frozen=True)
class Solved:
    """Sums of the duals times their rows, with the intercepts', both objectives, and where the solver ended."""

    sums: NDArray[np.float64]
    duals: NDArray[Any]
    primal: float
    dual: float
    n_iter: int
    l1: float = 0.0

    @property
    def coefficients(self) -> NDArray[np.float64]:
        """The weights: sums that are nearer to zero by `l1`, but for the intercepts'."""
        if self.l1 == 0:
            return self.sums
        weights = np.sign(self.sums) * np.maximum(np.abs(self.sums) - self.l1, 0)
        weights[:, -1] = self.sums[:, -1]
        return weights

    @property
    def gap(self) -> float:
        """How far the primal objective may be above the optimum, as a share of it."""
        return max(0.0, self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


def solve(
    rows: Matrix | CodedRows,
    outputs: Outputs,
    weights: NDArray[np.float64],
    *,
    loss: str,
    knee: float = np.inf,
    constant: float,
    tol: float,
    max_iter: int,
    seed: int,
    duals: NDArray[Any] | None = None,
    l1: float = 0.0,
    base: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> Solved:
    """Minimises ``|w|^2 / 2 + l1 |w|_1 + sum of weights times losses`` for each output, to a relative gap of `tol`.

    With a `base`, the sums that other rows left, those rows' dual variables stay as they are: what is minimised is then
    the step away from the base's weights, and the losses of these rows.
    """
    smooth = loss != "hinge" and l1 == 0 and base is None
    if smooth and rows.shape[1] <= NARROW and rows.shape[0] > rows.shape[1]:
        problem = NewtonProblem(rows.to_csr() if isinstance(rows, CodedRows) else rows, constant, loss, knee)
        return _by_newton(problem, outputs, weights, duals, tol, max_iter)
    single, native = native_rows(rows)
    n_rows, n_columns = rows.shape
    n_outputs = len(outputs.counts)
    dtype = np.float32 if single else np.float64
    known: Any = np.zeros((n_rows, n_outputs), dtype) if duals is None else np.array(duals, dtype, order="C")
    order, starts = batches(outputs.counts)
    sums = np.empty((n_outputs, n_columns + 1))
    reports = np.empty((len(starts) - 1, 3))
    _native.fit_linear(
        native,
        LOSSES.index(loss),
        float(knee),
        float(constant),
        outputs.labels,
        outputs.targets,
        np.ascontiguousarray(weights, dtype=np.float64),
        np.ascontiguousarray(outputs.factors),
        order,
        starts,
        float(tol),
        int(max_iter),
        seed,
        known,
        sums,
        reports,
        float(l1),
        None if base is None else np.ascontiguousarray(base, dtype=np.float64),
        n_threads(n_jobs),
        current_callback(),
    )
    primal, dual, _ = reports.sum(axis=0)
    return Solved(sums, known, float(primal), float(dual), int(reports[:, 2].max()), l1)


def _by_newton(
    problem: NewtonProblem,
    outputs: Outputs,
    weights: NDArray[np.float64],
    duals: NDArray[Any] | None,
    tol: float,
    max_iter: int,
) -> Solved:
    n_outputs = len(outputs.counts)
    found = []
    for c in range(n_outputs):
        targets, caps = outputs.of(c, weights)
        start = np.zeros(problem.rows.shape[1]) if duals is None else problem.rows.T @ duals[:, c].astype(np.float64)
        found.append(problem.minimise(start, targets, caps, tol, max_iter))
    coefficients, known, primals, gaps, n_iters = zip(*found, strict=True)
    primal = float(sum(primals))
    return Solved(np.stack(coefficients), np.stack(known, axis=1), primal, primal - float(sum(gaps)), int(max(n_iters)))


def batches(counts: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Outputs in batches that threads take one at a time: which outputs, and where each batch starts.

    The largest classes, up to four of them with half of the rows, come first: most rows matter to them, while rows
    sleep through most passes of a batch of small classes.
    """
    order = np.argsort(-counts, kind="stable").astype(np.int32)
    if len(order) <= 2:
        return order, np.array([0, len(order)], dtype=np.int32)
    shares = np.cumsum(counts[order]) / max(counts.sum(), 1e-300)
    first = int(np.clip(np.searchsorted(shares, 0.5) + 1, 2, min(4, len(order) - 1)))
    starts = [0, *range(first, len(order), MOST_LANES), len(order)]
    return order, np.array(starts, dtype=np.int32)


def native_rows(rows: Matrix | CodedRows) -> tuple[bool, Any]:
    """Whether single precision does, and the rows as the compiled part takes them."""
    if isinstance(rows, CodedRows):
        return True, rows.native()
    if sp.issparse(rows):
        rows = canonical(rows)
        values = np.ascontiguousarray(rows.data)
        parts = rows.indices.astype(np.int32, copy=False), rows.indptr.astype(np.int64, copy=False)
        return _is_single(values), (values, *map(np.ascontiguousarray, parts), rows.shape[1])
    values = np.ascontiguousarray(rows).ravel().reshape(rows.shape)  # of one column, strides may be anything
    return _is_single(values), values


def _is_single(values: NDArray[Any]) -> bool:
    if values.dtype != np.float32:
        return False
    return largest_magnitude(values) ** 2 * max(1, values.size) < LARGEST_LENGTH

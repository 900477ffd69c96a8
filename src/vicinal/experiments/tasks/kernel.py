"""Kernels: how far inner products of features stray from the kernel that a map stands for."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel
from sklearn.utils import gen_batches

from ..._page import Section
from ..._sample import Sample
from ...expand import GaussianProjection, HashedProjection, RBFMap, gamma_from_scale
from ...expand.kernels import Gaussian
from .._curves import kernel_errors
from .._experiment import Experiment
from .._method import Role
from .._metric import Measure, Metric
from .._summary import Summary
from .._task import Task
from .._verdicts import kernel_verdict
from .._work import Outcome, Work, nonzeros

PAIRS = 2000
BLOCK = 16  # pairs whose small Gram matrix is computed for its diagonal
GIVEN_GAMMA = (RBFMap, RBFSampler, Nystroem, PolynomialCountSketch)  # whose defaults differ

ERRORS: dict[str, Callable[[NDArray], float]] = {
    "rms_error": lambda errors: float(np.sqrt(np.mean(errors**2))),
    "max_error": lambda errors: float(np.abs(errors).max()),
}


class Kernel(Task):
    name = "kernel"
    metrics = (
        Metric("rms_error", "root mean square error", "low", "error", high=float("inf")),
        Metric("max_error", "largest error", "low", "error", high=float("inf")),
    )
    roles = (Role.MAP,)

    def evaluate(self, work: Work) -> Outcome:
        """Errors over random pairs of rows, of a map that is fitted on all rows.

        An error is divided by sqrt(K(x, x) K(y, y)), which is 1 for shift-invariant kernels and |x| |y| for the plain
        inner product, so that one scale serves all kernels.
        """
        sample, outcome = work.all_rows()
        X = sample.X
        start = time.perf_counter()
        features_map = work.method.build(work.context, {})
        if isinstance(features_map, GIVEN_GAMMA) and "gamma" not in work.method.parameters:
            features_map.set_params(gamma=gamma_from_scale(X))
        F = features_map.fit_transform(X)
        outcome.feature_seconds = time.perf_counter() - start
        kernel = kernel_of(features_map)
        first, second = random_pairs(X.shape[0], work.context.seed)
        X, F = X.astype(np.float64), F.astype(np.float64)
        of_pairs = partial(values_of_pairs, kernel, X)
        lengths = np.sqrt(of_pairs(first, first) * of_pairs(second, second))
        errors = values_of_pairs(linear_kernel, F, first, second) - of_pairs(first, second)
        # A row of zeros, whose inner products are 0 before and after, has no length to compare them with.
        errors /= np.where(lengths > 0, lengths, 1.0)
        outcome.values = [(0, Measure(metric), ERRORS[metric.name](errors)) for metric in work.experiment.metrics]
        outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
        return outcome

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        return (
            (
                "Protocol",
                "inner products of features of random pairs of rows, against the kernel; maps fitted on all rows",
            ),
            ("Intervals and tests", f"95 %, over {experiment.repeats} draws of map and pairs"),
        )

    def quick_size(self, experiment: Experiment) -> str:
        return f"{experiment.repeats} draws, few features"

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        return kernel_verdict(experiment, summaries)

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        metrics = dict.fromkeys(summary.measure.metric for summary in summaries)
        return (*(kernel_errors(experiment, summaries, metric) for metric in metrics), tables)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        return None  # dense features look alike


def kernel_of(features_map: Any) -> Callable[..., NDArray]:
    """The kernel that a fitted map stands for, as a function of two sets of rows."""
    if isinstance(features_map, RBFMap):
        return Gaussian(features_map.gamma_)
    if isinstance(features_map, RBFSampler | Nystroem):
        return Gaussian(features_map.gamma)
    if isinstance(features_map, PolynomialCountSketch):
        return partial(
            polynomial_kernel, degree=features_map.degree, gamma=features_map.gamma, coef0=features_map.coef0
        )
    if isinstance(features_map, GaussianProjection | HashedProjection):
        return linear_kernel
    if not callable(getattr(features_map, "kernel_", None)):
        raise ValueError(f"{type(features_map).__name__} stands for no kernel that its features could stray from.")
    return features_map.kernel_


def random_pairs(n_rows: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and, for each, another one."""
    if n_rows < 2:
        raise ValueError(f"Pairs of rows need at least two rows; there is {n_rows}.")
    rng = np.random.default_rng(seed)
    first = rng.integers(n_rows, size=PAIRS)
    return first, (first + rng.integers(1, n_rows, size=PAIRS)) % n_rows


def values_of_pairs(
    kernel: Callable[..., NDArray], X: Any, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    return np.concatenate(
        [np.diagonal(kernel(X[first[block]], X[second[block]])) for block in gen_batches(len(first), BLOCK)]
    )

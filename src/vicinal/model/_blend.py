"""Scores of several models added up: weights of at least 0 by which unseen rows are predicted best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

Scores = NDArray[np.float64]  # of shape (n_rows, n_outputs): one output for numbers and for two classes

PENALTY = 5.0  # of squared weights, over the number of rows: where scores say the same, they share


@dataclass(frozen=True)
class Blend:
    """``sum of weights[m] * scores[m] + biases``: a number, the log odds of two classes, or those of several."""

    weights: NDArray[np.float64]
    biases: NDArray[np.float64]

    def combined(self, scores: Sequence[Scores]) -> Scores:
        """The sum for some rows."""
        total = np.tile(self.biases, (len(scores[0]), 1))
        for weight, part in zip(self.weights, scores, strict=True):
            total += weight * part
        return total


def probabilities(combined: Scores) -> Scores:
    """What combined scores say of the classes, of which there are at least two."""
    if combined.shape[1] > 1:
        return softmax(combined, axis=1)
    chances = expit(combined)
    return np.hstack([1 - chances, chances])


def loss_and_slopes(combined: Scores, targets: NDArray, is_number: bool) -> tuple[NDArray[np.float64], Scores]:
    """Of each row half the squared error, or minus the log of its class's probability, and the derivatives."""
    if is_number:
        apart = combined - targets[:, None]
        return apart[:, 0] ** 2 / 2, apart
    if combined.shape[1] == 1:
        signs = np.where(targets > 0, 1.0, -1.0)
        margins = signs * combined[:, 0]
        return np.logaddexp(0, -margins), (-signs * expit(-margins))[:, None]
    logs = log_softmax(combined, axis=1)
    slopes = np.exp(logs)
    rows = np.arange(len(targets))
    slopes[rows, targets] -= 1
    return -logs[rows, targets], slopes


def fit_blend(scores: Sequence[Scores], targets: NDArray, weights: NDArray[np.float64], *, is_number: bool) -> Blend:
    """The blend of least loss on rows that none of the models has learned from."""
    spreads = np.array([max(float(part.std()), 1e-12) for part in scores])
    stacked = np.stack([part / spread for part, spread in zip(scores, spreads, strict=True)])
    shares, penalty = weights / weights.sum(), PENALTY / len(targets)
    n_parts, n_outputs = len(stacked), stacked.shape[2]

    def objective(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        factors, biases = values[:n_parts], values[n_parts:]
        # Sums of NumPy's own: those of BLAS may depend on where in memory arrays lie, and so on threads.
        combined = sum(factor * part for factor, part in zip(factors, stacked, strict=True)) + biases
        losses, slopes = loss_and_slopes(combined, targets, is_number)
        slopes = slopes * shares[:, None]
        loss = float((shares * losses).sum()) + penalty / 2 * float((factors * factors).sum())
        by_part = np.array([(part * slopes).sum() for part in stacked])
        return loss, np.concatenate([by_part + penalty * factors, slopes.sum(axis=0)])

    start = np.concatenate([np.full(n_parts, 1 / n_parts), np.zeros(n_outputs)])
    bounds = [(0, None)] * n_parts + [(None, None)] * n_outputs
    found = minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 500})
    # Digits beyond these are those of the optimiser's products, which may depend on threads.
    return Blend(_rounded(found.x[:n_parts] / spreads), _rounded(found.x[n_parts:]))


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([float(f"{value:.9g}") for value in values])


def mean_loss(blend: Blend, scores: Sequence[Scores], targets: NDArray, weights: NDArray, *, is_number: bool) -> float:
    """What the blend loses on rows."""
    losses, _ = loss_and_slopes(blend.combined(scores), targets, is_number)
    return float(weights @ losses / weights.sum())


def shares_of(blend: Blend, scores: Sequence[Scores]) -> NDArray[np.float64]:
    """What part of the sum's spread comes from each model."""
    amounts = blend.weights * [max(float(part.std()), 1e-12) for part in scores]
    return amounts / max(float(amounts.sum()), 1e-300)


def score_of(combined: Scores, targets: NDArray, weights: NDArray, *, is_number: bool) -> float:
    """The share of rows whose class is predicted, or of the variance of numbers."""
    if is_number:
        center = np.average(targets, weights=weights)
        left, all_of_it = weights @ (combined[:, 0] - targets) ** 2, weights @ (targets - center) ** 2
        return 1 - float(left / max(all_of_it, 1e-300))
    predicted = combined[:, 0] > 0 if combined.shape[1] == 1 else combined.argmax(axis=1)
    return float(weights @ (predicted == targets) / weights.sum())

"""The feature methods that `compare` knows, each with the parameters that are chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.svm import SVC, LinearSVC

from ..local import RandLocal

C_GRID = [0.01, 0.1, 1.0, 10.0]
MOST_KERNEL_ROWS = 20_000


@dataclass(frozen=True)
class Setting:
    """What a feature map may depend on besides its own parameters."""

    n_rows: int
    n_groups: int
    n_components: int
    seed: int
    n_jobs: int | None


@dataclass(frozen=True)
class Method:
    """A feature map in front of the linear SVM or, without a map, a model of its own."""

    name: str
    make_map: Callable[[Setting], BaseEstimator] | None = None
    make_model: Callable[[int], BaseEstimator] = lambda seed: LinearSVC(random_state=seed)
    map_grid: dict[str, list[Any]] = field(default_factory=dict)
    model_grid: dict[str, list[Any]] = field(default_factory=lambda: {"C": C_GRID})
    takes_missing: bool = False
    most_rows: int | None = None


def gamma_grid(n_features: int) -> list[float]:
    """Around 1 / n_features, where the Gaussian kernel on standardised columns is neither flat nor a spike."""
    return list(np.array([0.1, 0.3, 1.0, 3.0, 10.0]) / n_features)


def methods(n_features: int) -> list[Method]:
    gammas = gamma_grid(n_features)
    return [
        Method("raw features"),
        Method(
            "RBF kernel SVM",
            make_model=lambda seed: SVC(cache_size=1000),
            model_grid={"C": [1.0, 10.0, 100.0], "gamma": gammas},
            most_rows=MOST_KERNEL_ROWS,
        ),
        Method(
            "random Fourier",
            lambda to: RBFSampler(n_components=to.n_components, random_state=to.seed),
            map_grid={"gamma": gammas},
        ),
        Method(
            "Nystroem",
            lambda to: Nystroem(n_components=min(to.n_components, to.n_rows), random_state=to.seed),
            map_grid={"gamma": gammas},
        ),
        Method(
            "RandLocal",
            lambda to: RandLocal(to.n_groups, random_state=to.seed, n_jobs=to.n_jobs),
            takes_missing=True,
        ),
    ]

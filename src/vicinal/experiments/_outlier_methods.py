"""Detectors of outliers: ours, scikit-learn's, and those of PyOD with scikit-learn's convention."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.utils import Tags

from ..outlier import LocalOutlierDetector, NeighborOutlierDetector
from ._method import Context, Method, Role

PYOD = {"iforest": "IForest", "inne": "INNE", "knn": "KNN", "lof": "LOF", "ecod": "ECOD", "copod": "COPOD"}


class PyODDetector(OutlierMixin, BaseEstimator):
    """One of PyOD's detectors, whose scores are turned round: the lower, the stranger.

    `kind` is the name of its module, `parameters` are those that are not as PyOD has them. What it makes of the rows
    that it was fitted on is in `fitted_scores_`: to some detectors, the same rows are others when they are asked again.
    """

    def __init__(
        self,
        kind: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ):
        self.kind = kind
        self.parameters = parameters
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any = None) -> PyODDetector:
        make = _ready(self.kind)
        ours = {"random_state": self.random_state, "n_jobs": self.n_jobs or 1}
        known = {name: value for name, value in ours.items() if name in signature(make).parameters}
        self.detector_ = make(**known, **(self.parameters or {})).fit(X)
        self.fitted_scores_ = -self.detector_.decision_scores_
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        return -self.detector_.decision_function(X)


@cache
def _ready(kind: str) -> Any:
    """The class, used once: some are compiled then, which would take longer than a fit."""
    found = getattr(import_module(f"pyod.models.{kind}"), PYOD[kind])
    found().fit(np.random.default_rng(0).standard_normal((30, 2), dtype=np.float32))
    return found


def _pyod(kind: str, label: str) -> Method:
    def make(to: Context) -> PyODDetector:
        with suppress(ImportError):  # here, so that the seconds of a fit are its own
            _ready(kind)
        return PyODDetector(kind, random_state=to.seed, n_jobs=to.threads)

    return Method(f"pyod-{kind}", label, Role.DETECTOR, make, needs="pyod")


DETECTORS: tuple[Method, ...] = (
    Method(
        "local-outliers",
        "LocalOutlierDetector",
        Role.DETECTOR,
        lambda to: LocalOutlierDetector(random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "neighbor-outliers",
        "NeighborOutlierDetector",
        Role.DETECTOR,
        lambda to: NeighborOutlierDetector(random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "isolation-forest",
        "isolation forest",
        Role.DETECTOR,
        lambda to: IsolationForest(n_estimators=200, random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "lof",
        "local outlier factor",
        Role.DETECTOR,
        lambda to: LocalOutlierFactor(novelty=True, n_jobs=to.threads),
    ),
    _pyod("iforest", "isolation forest (PyOD)"),
    _pyod("inne", "INNE (PyOD)"),
    _pyod("knn", "k-th neighbour (PyOD)"),
    _pyod("lof", "local outlier factor (PyOD)"),
    _pyod("ecod", "ECOD (PyOD)"),
    _pyod("copod", "COPOD (PyOD)"),
)

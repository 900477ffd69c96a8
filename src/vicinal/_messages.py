"""Warnings of estimators, which point at the line that called the package."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

_PACKAGE = __name__.partition(".")[0]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns the code that called the package, however deep within the package this is called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_not_converged(
    estimator: Any, n_iter: int, *, steps: str = "iterations", detail: str = "", cure: str = "raise max_iter or tol"
) -> None:
    """Says that a solver ended before it met its tolerance, and what to do about it."""
    detail = f": {detail}" if detail else ""
    warn(f"{type(estimator).__name__} did not converge in {n_iter} {steps}{detail}; {cure}.", ConvergenceWarning)

"""Whether a file has the columns that a saved model was fitted on."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def check_columns(pipeline: Any, X: Any, file: Path, model: Path | None) -> None:
    """Frames are matched by column name, in any order; matrices by their number of columns."""
    from .._preparation import is_frame

    first = pipeline[0]
    names = getattr(first, "feature_names_in_", None)
    if (names is not None) != is_frame(X):
        kind = "named columns" if names is not None else "a matrix without column names"
        raise ValueError(f"{model} was fitted on {kind}; {file.name} is of the other kind.")
    if names is not None:
        lacking = [name for name in names if name not in X.columns]
        if lacking:
            raise ValueError(f"{file.name} lacks columns that {model} was fitted on: {', '.join(lacking)}.")
    elif X.shape[1] != first.n_features_in_:
        raise ValueError(f"{file.name} has {X.shape[1]} columns; {model} was fitted on {first.n_features_in_}.")

"""What is said of a fitted LocalClassifier or LocalRegressor, and of its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from .._files import Table

SAID = {
    "local": "cells around anchors",
    "leaves": "leaves of a forest, weighed anew",
    "forest": "a forest",
    "boosted": "boosted trees",
    "columns": "columns and ranks",
    "kernel": "a Gaussian kernel",
}
_UNSAID = ("part", "seed", "weight", "bias")


def parts_table(model: Any) -> RichTable:
    """The parts of a model, what they count, and the settings in which they differ from the defaults."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    from ..model import part_defaults

    table = RichTable(box=box.SIMPLE_HEAD)
    table.add_column("part")
    table.add_column("share", justify="right")
    table.add_column("settings", overflow="fold")
    parts = model.chosen_["parts"]
    shares = np.full(len(parts), 1 / len(parts)) if model.shares_ is None else model.shares_
    for part, share in zip(parts, shares, strict=True):
        usual = part_defaults(part["part"])
        own = {name: value for name, value in part.items() if name not in _UNSAID and value != usual.get(name)}
        text = ", ".join(f"{name}={_short(value)}" for name, value in own.items())
        table.add_row(SAID[part["part"]], f"{share:.0%}", escape(text or "the usual ones"))
    return table


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def quality(model: Any) -> str:
    """How good the model is on rows that it had not learned from."""
    score = model.validation_score_
    if score is None:
        return "Too little was tried to say how good the model is."
    if hasattr(model, "classes_"):
        return f"Accuracy on rows held out while choosing: {score:.1%}."
    return f"R2 on rows held out while choosing: {score:.3f}."


def compared(model: Any, table: Table, columns: dict[str, Any]) -> str:
    """How many of the target's values are as predicted, where the file has them; otherwise nothing."""
    name = getattr(model, "target_name_", "")
    given = table.frame[name].to_numpy() if table.frame is not None and name in table.frame.columns else None
    given = table.y if given is None and table.target == name else given
    if given is None:
        return ""
    predicted = next(iter(columns.values()))
    if hasattr(model, "classes_"):
        known = np.array([value is not None and value == value for value in given.tolist()])
        right = given.astype(str)[known] == predicted.astype(str)[known]
        return f"The file has {name!r}: {right.mean():.1%} of {known.sum():,} rows are predicted as it says."
    numbers = np.asarray(given, dtype=float)
    known = np.isfinite(numbers)
    error = np.sqrt(np.mean((numbers[known] - predicted[known]) ** 2))
    return f"The file has {name!r}: predictions are off by {error:.4g} (root mean square, {known.sum():,} rows)."

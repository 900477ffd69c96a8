"""Tables as pandas or polars frames, whichever is wanted and installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from .._optional import need
from .._validation import check_choice

FRAMES = (None, "pandas", "polars")


def check_frame(frame: str | None) -> None:
    check_choice("frame", frame, FRAMES)


def _is_installed(package: str) -> bool:
    try:
        import_module(package)
    except ImportError:
        return False
    return True


def as_frame(columns: Mapping[str, Any], frame: str | None) -> Any:
    """The columns as a frame; None stands for pandas, or for polars where only that is installed."""
    if frame is None:
        frame = next(filter(_is_installed, ("pandas", "polars")), "pandas")
    package = need(frame, "to make tables of explanations", install=frame)
    return package.DataFrame({name: values for name, values in columns.items() if values is not None})

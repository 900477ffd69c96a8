"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Target = Annotated[
    str | None,
    Parameter(help="Column to predict; in NPZ files the array (default y), in NPY files the column's number."),
]
Drop = Annotated[
    tuple[str, ...],
    Parameter(negative=(), show_default=False, help="Column to leave out; may be repeated."),
]
Jobs = Annotated[int | None, Parameter(help="Threads; all cores by default.")]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OptionalOutput = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Report = Annotated[Path | None, Parameter(help="Write an HTML report to this file.")]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Force = Annotated[bool, Parameter(negative=(), show_default=False, help="Overwrite files that exist.")]


def check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    return jobs


def image_shape(text: str | None) -> tuple[int, ...] | None:
    """What --image-shape says: 28x28 or 32x32x3 as a tuple."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image-shape must be like 28x28 or 32x32x3; got {text!r}.") from None

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
CellJobs = Annotated[
    int | None,
    Parameter(
        name="--jobs",
        help="Methods and splits that run at the same time and share the cores; as many as cores by default.",
    ),
]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
OptionalOutput = Annotated[Path | None, Parameter(name=["--output", "-o"])]
Report = Annotated[Path | None, Parameter(help="Write an HTML report to this file.")]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Force = Annotated[bool, Parameter(negative=(), show_default=False, help="Overwrite files that exist.")]


def check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise ValueError("--jobs must be a number of at least 1, or -1 for all cores; got 0.")
    return jobs


def share_cores(jobs: int | None, n_cells: int) -> tuple[int, int]:
    """How many cells of an experiment run at a time, and the threads of each.

    `jobs` is what --jobs says: a number of cells, all cores if it is missing or -1, all but one if it is -2.
    """
    import joblib

    from .._calls import n_threads

    cores = joblib.cpu_count()
    workers = min(cores if jobs is None else n_threads(check_jobs(jobs)), max(1, n_cells))
    return workers, max(1, cores // workers)


def image_shape(text: str | None) -> tuple[int, ...] | None:
    """What --image-shape says: 28x28 or 32x32x3 as a tuple."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image-shape must be like 28x28 or 32x32x3; got {text!r}.") from None

"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Target = Annotated[
    str | None,
    Parameter(help="Column to predict; in NPZ files the array (default y), in NPY files the column's number."),
]
Drop = Annotated[tuple[str, ...], Parameter(help="Column to leave out; may be repeated.")]
Jobs = Annotated[int | None, Parameter(help="Threads; all cores by default.")]
Report = Annotated[Path | None, Parameter(help="Write an HTML report to this file.")]
Force = Annotated[bool, Parameter(negative=(), help="Overwrite files that exist.")]


def check_jobs(jobs: int | None) -> None:
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")

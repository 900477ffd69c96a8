"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

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


def made(kind: Callable[..., Any], method: str, given: Mapping[str, Any], parameters: Mapping[str, str]) -> Any:
    """The method with the options that were given, which are not None; one that it does not have is refused.

    `parameters` are the names of the parameters that options stand for.
    """
    given = {option: value for option, value in given.items() if value is not None}
    known = inspect.signature(kind).parameters
    for option in given:
        if parameters[option] not in known:
            others = [name for name, parameter in parameters.items() if parameter in known]
            takes = f"of these options it takes {', '.join(others)}" if others else "it takes none of these options"
            raise ValueError(f"The method {method} has no {option}; {takes}. Leave {option} out.")
    values = {parameters[option]: value for option, value in given.items()}
    if "random_state" in known:
        values.setdefault("random_state", 0)
    return kind(**values)


def check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise ValueError("--jobs must be a number of at least 1, or -1 for all cores; got 0.")
    return jobs


def image_shape(text: str | None) -> tuple[int, ...] | None:
    """What --image-shape says: 28x28 or 32x32x3 as a tuple."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image-shape must be like 28x28 or 32x32x3; got {text!r}.") from None

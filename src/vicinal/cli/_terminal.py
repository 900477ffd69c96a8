"""Results on standard output; notes, warnings and progress on standard error.

A console is made whenever something is printed, so that it follows `sys.stdout`, `sys.stderr` and COLUMNS.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import sys
import time
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from ..experiments import Cell


def _stdout() -> Console:
    return Console(highlight=False, emoji=False)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, emoji=False)


def width() -> int:
    """Letters in a line of standard output."""
    return _stdout().width


def show(table: Any) -> None:
    """A table or a chart."""
    _stdout().print(table)


def say(text: str, *, wrap: bool = True) -> None:
    """A sentence about the result; without wrapping, paths stay whole and can be copied."""
    _stdout().print(text, markup=False, soft_wrap=not wrap)


def note(text: str) -> None:
    """A sentence about what is going on."""
    _stderr().print(text, markup=False)


def warn(text: str, *, wrap: bool = True) -> None:
    _stderr().print(text, style="yellow", markup=False, soft_wrap=not wrap)


@contextlib.contextmanager
def telling_warnings() -> Iterator[None]:
    """What the library warns of within it is said afterwards, each sentence once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for sentence in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        warn(f"vicinal: {sentence}", wrap=False)


def refuse(text: str) -> None:
    """Why a command could not do what it was asked to."""
    _stderr().print(f"vicinal: {text}", style="bold red", markup=False, soft_wrap=True)


class Steps:
    """Progress: a bar on a terminal, plain lines elsewhere. Without a total the bar only shows that work goes on."""

    def __init__(self, total: int | None, doing: str = ""):
        self._total = total
        self._doing = doing
        self._bar: Progress | None = None

    def __enter__(self) -> Steps:
        console = _stderr()
        if console.is_terminal:
            columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
            self._bar = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._doing, total=self._total)
        return self

    def cell(self, cell: Cell, event: str) -> None:
        """A cell of an experiment was kept from an earlier run, has started, is done, or could not be run."""
        name = str(cell)
        if self._bar is not None:
            self._bar.update(self._task, description=name, advance=0 if event == "started" else 1)
            if event not in ("started", "kept", "done"):
                self._bar.console.print(f"{name}: {event}", markup=False)
        elif event not in ("started", "kept"):
            note(f"{name}: {event}")

    def share(self, done: float) -> None:
        """How much of the work is done, from 0 to 1."""
        if self._bar is not None:
            self._bar.update(self._task, total=1, completed=done)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def command_line() -> str:
    """The command as it was typed."""
    return shlex.join(["vicinal", *sys.argv[1:]])


def facts(threads: str) -> tuple[tuple[str, str], ...]:
    """What a report says about the machine and the software that made it; `threads` says how many methods had."""
    import sklearn

    from vicinal import __version__

    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {threads}"
    versions = f"vicinal {__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}"
    return (("Machine", machine), ("Versions", versions), ("Date", time.strftime("%Y-%m-%d %H:%M")))

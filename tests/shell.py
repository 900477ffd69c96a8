"""Runs of the command line, as a person at a shell has them."""

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from unittest import mock

from vicinal.cli import main

WIDTH = 80


@dataclass
class Run:
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    returncode: int


def vicinal(*arguments, check=True, env=None):
    """Calls the entry point in this process: 80 columns wide, without a terminal."""
    out, err = io.StringIO(), io.StringIO()
    arguments = [str(argument) for argument in arguments]
    environment = {"COLUMNS": str(WIDTH), **(env or {})}
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["vicinal", *arguments]),
        mock.patch.dict(os.environ, environment),
    ):
        code = _exit_code(err)
    run = Run(out.getvalue(), err.getvalue(), code)
    assert run.returncode == 0 or not check, run.stdout + run.stderr
    return run


def _exit_code(err):
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):  # as the interpreter does
            print(end.code, file=err)
            return 1
        return end.code or 0
    return 0


def refused(*arguments, run=vicinal, **options):
    """The one sentence that a command ends with, on one line."""
    ended = run(*arguments, check=False, **options)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    return " ".join(ended.stderr.split())


def in_a_process(*arguments, check=True, **options):
    """Starts the command in a process of its own."""
    command = [sys.executable, "-m", "vicinal.cli", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0 or not check, run.stderr
    return run

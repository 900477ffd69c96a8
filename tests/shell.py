"""Runs of the command line, as a person at a shell has them."""

import subprocess
import sys


def vicinal(*arguments, check=True, **options):
    command = [sys.executable, "-m", "vicinal.cli", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0 or not check, run.stderr
    return run


def refused(*arguments, **options):
    run = vicinal(*arguments, check=False, **options)
    assert run.returncode == 1, run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    return " ".join(run.stderr.split())

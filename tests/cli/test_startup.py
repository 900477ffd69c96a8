"""What the command line imports before it answers, and real processes: the entry point, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from shell import in_a_process, refused, vicinal

from vicinal import __version__
from vicinal.cli import COMMANDS, overview

HEAVY = {"sklearn", "scipy", "numpy", "polars", "joblib", "jinja2", "skops"}
IMPORTS = """
import json, sys
from vicinal.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


def imports(*arguments):
    run = subprocess.run([sys.executable, "-c", IMPORTS, *arguments], capture_output=True, text=True, check=True)
    return run.stdout, set(json.loads(run.stderr))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        (),
        *((name, "--help") for name in COMMANDS if name != "select"),  # which lists the registered selectors
        ("data", "fetch", "--help"),
    ],
    ids=" ".join,
)
def test_help_and_version_import_no_more_than_they_need(arguments):
    shown, modules = imports(*arguments)
    assert shown
    assert not modules & HEAVY
    if len(arguments) < 2:
        assert not modules & {"cyclopts", "rich"}


def test_the_entry_point():
    assert in_a_process("--version").stdout == f"vicinal {__version__}\n"
    script = Path(sys.executable).with_name("vicinal")
    if not script.exists():
        pytest.skip("the package's script is not beside this interpreter")
    assert subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout.split() == [
        "vicinal",
        __version__,
    ]


@pytest.mark.parametrize("flag", ["--help", "-h", None])
def test_the_overview_names_every_command(flag):
    shown = vicinal(*filter(None, [flag])).stdout
    for name, about in COMMANDS.items():
        assert f"  {name}" in shown
        assert about in " ".join(shown.split())


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_overview_fits_the_terminal(width):
    assert max(map(len, overview(width).splitlines())) <= max(width, 40)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command(name):
    shown = vicinal(name, "--help").stdout
    assert COMMANDS[name] in " ".join(shown.split())  # one wording in both places
    assert max(map(len, shown.splitlines())) <= 80
    assert "--empty" not in shown
    assert "--no-" not in shown.replace("--no-check", "")


def test_unknown_words_get_a_suggestion():
    run = vicinal("comparee", "x.csv", check=False)
    assert run.returncode == 2
    assert 'Did you mean "compare"?' in run.stderr
    run = vicinal("select", "x.csv", "--pernalty", 1, check=False)
    assert run.returncode == 2
    assert "--penalty" in run.stderr
    run = vicinal("select", "x.csv", "-m", "mfcs", check=False)
    assert run.returncode == 2
    assert "mcfs" in run.stderr


def test_ctrl_c_ends_with_a_sentence(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "x.npz", X=rng.standard_normal((2000, 20)), y=rng.integers(0, 2, 2000))
    command = [sys.executable, "-m", "vicinal.cli", "compare", str(tmp_path / "x.npz"), "-m", "randlocal"]
    process = subprocess.Popen([*command, "--groups", "300000"], stderr=subprocess.PIPE, text=True)
    assert "2,000 rows" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert told.strip().splitlines()[-1] == "vicinal: interrupted."


def test_a_missing_package_is_named(tmp_path):
    """A finder that knows no polars stands in for an installation without the extra."""
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'polars':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
    )
    message = refused("select", tmp_path / "x.csv", run=in_a_process, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert message == "vicinal: polars is needed to read tables, and it is not installed: pip install 'vicinal[cli]'"

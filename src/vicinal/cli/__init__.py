"""The command line: arguments in, library calls, tables out.

A command's module is imported when it is called, and what the command works with when it runs, so that help and version
appear at once.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Any

ABOUT = "Sparse, local features from neighbourhoods. Files: CSV, TSV, Parquet, NPY, NPZ, LIBSVM, by their ending."
COMMANDS = {  # what each one does; its function has the same name in the module of the same name
    "compare": "Which features pay on your data?",
    "fit": "Learn to predict a column from the others, with settings that choose themselves.",
    "predict": "Predict a column of a table by a saved model.",
    "cluster": "Which rows belong together, and what tells them apart? No labels are needed.",
    "select": "Which columns are worth keeping? No labels are needed.",
    "links": "Which nodes of a network should be linked? Also those that show only links, or only attributes.",
    "outliers": "Which rows are strange, and why? No labels are needed.",
    "transform": "Write RandLocal features of a table: fitted on it, or by a saved model.",
    "explain": "Why does a saved model say this of a row? Training rows and columns, with their shares.",
    "reproduce": "Do the published results hold? Run a paper's table or figure anew.",
    "data": "Data sets by name: list the known ones, and fetch them.",
}
VERSION_FLAGS, HELP_FLAGS = ("--version",), ("--help", "-h")
INTERRUPTED = 130  # what shells expect after Ctrl-C


def main(arguments: list[str] | None = None) -> None:
    """Runs a command; what is wrong with its input is said in one sentence."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in HELP_FLAGS:
        print(overview(shutil.get_terminal_size().columns))
    elif arguments[0] in VERSION_FLAGS:
        from vicinal import __version__

        print(f"vicinal {__version__}")
    else:
        _run(arguments)


def _run(arguments: list[str]) -> None:
    try:
        make_app()(arguments)
    except KeyboardInterrupt:
        print("vicinal: interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except ImportError as error:
        if error.name is None or error.name.split(".")[0] == __package__.split(".")[0]:
            raise
        sys.exit(f"vicinal: {error}" if "pip install" in str(error) else _lacking(error.name))
    except (ValueError, OSError, MemoryError) as error:
        from ._terminal import refuse

        refuse(str(error) or type(error).__name__)
        sys.exit(1)


def _lacking(package: str) -> str:
    return f"vicinal: the command line needs {package}, which is not installed: pip install 'vicinal[cli]'"


def make_app() -> Any:
    """The parser of all commands, each of which it imports when it is called."""
    from cyclopts import App

    app = App(
        name="vicinal",
        help=ABOUT,
        help_flags=HELP_FLAGS,
        version_flags=(),
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name in COMMANDS:
        app.command(f"{__name__}.{name}:{name}", name=name)
    return app


def overview(width: int) -> str:
    """The commands, one line each or more where the terminal is narrow."""
    width = max(width, 40)
    margin = max(map(len, COMMANDS)) + 4
    lines = ["Usage: vicinal COMMAND [OPTIONS]", "", *textwrap.wrap(ABOUT, width), "", "Commands:"]
    for name, about in COMMANDS.items():
        lines += textwrap.wrap(about, width, initial_indent=f"  {name}".ljust(margin), subsequent_indent=" " * margin)
    more = "vicinal COMMAND --help shows the options of a command, vicinal --version the version."
    return "\n".join([*lines, "", *textwrap.wrap(more, width)])

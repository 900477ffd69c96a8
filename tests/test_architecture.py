"""What the layout promises, read from the source: who imports whom, how long things are, what stands twice."""

import ast
import inspect
import re
from collections import defaultdict
from enum import Enum
from functools import cache
from pathlib import Path

import pytest
from estimators import public_classes, public_modules
from source_lines import code_lines, repeated_runs

ROOT = Path(__file__).parents[1] / "src" / "vicinal"
FILES = sorted(ROOT.rglob("*.py"))
COMPILED = sorted(path for path in ROOT.rglob("*") if path.suffix in (".cpp", ".hpp"))
SOURCES = sorted(path for path in ROOT.rglob("*") if path.suffix in (".py", ".cpp", ".hpp", ".js", ".css", ".html"))

# From the lowest box to the highest. Private modules of the root that are not named here are shared by all.
BOXES = [
    {"_native", "_optim"},
    {"_calls", "_validation", "_writing"},
    {"graphs", "network", "views"},
    {"_linked_rows"},
    {"local", "expand", "learned", "select", "link", "cluster"},
    {"outlier", "model"},
    {"vicinal"},  # the public names, and the version
    {"metrics", "datasets", "explain", "_files", "_models"},
    {"experiments"},
    {"report"},
    {"cli"},
]
SHARED = 1
LONGEST_FILE, LONGEST_FUNCTION, LONGEST_RUN = 400, 60, 5
# Words of their own by now: scikit-learn's gamma of a kernel, and epsilon and delta, an error and the chance of more.
GREEK = re.compile(
    "alpha|beta|zeta|eta|theta|iota|kappa|lambda?|lam|mu|nu|xi|omicron|pi|rho|sigma|tau|upsilon|phi|chi|psi|omega"
)


def module_name(path):
    parts = ("vicinal", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def refuse(found):
    """All of it, one to a line, where an assertion would show the first few."""
    if found:
        pytest.fail("\n".join(map(str, found)), pytrace=False)


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports(source, module, is_package, known):
    """(line, imported module or module.name) of each import of the package's own modules, also those in functions."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "vicinal")
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            if origin.split(".")[0] == "vicinal":
                yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            depth = len(name) - len(name.lstrip("."))
            base = package.split(".")[: len(package.split(".")) - depth + 1] if depth else []
            name = ".".join([*base, name.lstrip(".")])
            if name in known:
                yield node.lineno, name


def as_module(name, known):
    """The module that holds an imported name."""
    return name if name in known else name.rpartition(".")[0]


def box(module):
    part = module.split(".")[1] if "." in module else "vicinal"
    found = [place for place, names in enumerate(BOXES) if part in names]
    if not found and part.startswith("_"):
        return SHARED
    assert found, f"{module} is in no box: give it a place in BOXES"
    return found[0]


def package_of(module):
    """The folder below the root that a module is in; None for what lies at the root."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or (len(parts) == 2 and MODULES.get(module, ROOT).name == "__init__.py") else None


@cache
def all_imports():
    return [
        (module, f"{path.relative_to(ROOT)}:{line}", name)
        for module, path in MODULES.items()
        for line, name in imports(parsed(path), module, path.name == "__init__.py", MODULES)
    ]


def upward(edges, known):
    return [f"{place} imports {name}" for module, place, name in edges if box(as_module(name, known)) > box(module)]


def test_no_box_imports_a_higher_one():
    refuse(upward(all_imports(), MODULES))


def private_imports(edges):
    """Imports of what begins with an underscore from another folder, or from another module of the root."""
    found = []
    for module, place, name in edges:
        target = as_module(name, MODULES)
        own = {module, *([f"vicinal.{package_of(module)}"] if package_of(module) else [])}
        if any(target == prefix or target.startswith(f"{prefix}.") for prefix in own):
            continue
        inner = target.split(".")[2:] + ([] if name == target else [name.rpartition(".")[2]])
        if any(part.startswith("_") and not part.startswith("__") for part in inner):
            found.append(f"{place} imports {name}")
    return found


def test_no_package_imports_what_is_private_to_another():
    refuse(private_imports(all_imports()))


def run_at_import(source):
    """Lines of the imports that run when the module itself is imported: not those of functions, nor those for types."""
    waiting, lines = list(source.body), set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            lines.add(node.lineno)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt | ast.ExceptHandler)]
    return lines


def test_what_runs_at_import():
    code = "import a\nif TYPE_CHECKING:\n  import b\nelse:\n  import c\ntry:\n  import d\nexcept E:\n  import e\n"
    assert run_at_import(ast.parse(code + "class F:\n  import f\n  def g():\n    import g\n")) == {1, 5, 7, 9, 11}


def cycles(edges):
    """Modules that can be reached from themselves."""
    after = defaultdict(set)
    for module, _, name in edges:
        after[module].add(as_module(name, MODULES))

    def reached(start):
        seen, waiting = set(), list(after[start])
        while waiting:
            module = waiting.pop()
            if module not in seen:
                seen.add(module)
                waiting.extend(after[module])
        return seen

    return sorted(module for module in list(after) if module in reached(module))


def test_no_module_imports_itself_by_way_of_others():
    running = {module: run_at_import(parsed(path)) for module, path in MODULES.items()}
    refuse(cycles([edge for edge in all_imports() if int(edge[1].rpartition(":")[2]) in running[edge[0]]]))


@pytest.mark.parametrize(
    ("module", "code", "finder", "found"),
    [
        ("vicinal.graphs", "def f():\n    from .select import SNFS", lambda e: upward(e, MODULES), True),
        ("vicinal.select._spec", "from ..graphs import laplacian", lambda e: upward(e, MODULES), False),
        (
            "vicinal.graphs",
            "importlib.import_module('vicinal.select')",
            lambda e: upward(e, MODULES),
            True,
        ),
        ("vicinal.cluster", "from .select._base import FeatureSelector", private_imports, True),
        ("vicinal.cluster", "from vicinal.graphs import _blocks", private_imports, True),
        ("vicinal.cluster", "from . import _native\nfrom ._calls import n_threads", private_imports, False),
        ("vicinal.graphs", "from . import graphs", cycles, True),
    ],
)
def test_what_is_forbidden_would_be_found(module, code, finder, found):
    edges = [(module, f"line {line}", name) for line, name in imports(ast.parse(code), module, False, MODULES)]
    assert edges
    assert bool(finder(edges)) == found


SPEAKS = re.compile(
    r"\b(std::cout|std::cerr|printf|fprintf|PyErr_Warn\w*|PyErr_WarnEx|random_device|mt19937\w*|rand)\b"
)


def test_solvers_and_kernels_are_pure():
    """No warning, no printing, no random numbers, nothing of scikit-learn's estimators."""
    found = []
    for path in (path for path in FILES if path.relative_to(ROOT).parts[0] in ("_native", "_optim")):
        for node in ast.walk(parsed(path)):
            names = {getattr(node, "id", None), getattr(node, "attr", None)}
            if isinstance(node, ast.Import | ast.ImportFrom):
                names |= {part for alias in node.names for part in alias.name.split(".")}
                names |= set((getattr(node, "module", None) or "").split("."))
            bad = names & {"warnings", "warn", "print", "random", "logging", "check_random_state", "sklearn"}
            found += [f"{path.relative_to(ROOT)}:{node.lineno} uses {name}" for name in sorted(bad)]
    for path in COMPILED:
        for number, line in code_lines(path):
            found += [f"{path.relative_to(ROOT)}:{number} uses {word}" for word in SPEAKS.findall(line)]
    refuse(found)


def test_no_file_is_too_long():
    sizes = {path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    refuse([f"{name}: {size} lines" for name, size in sizes.items() if size > LONGEST_FILE])


def function_sizes(source):
    """(line, name, lines without those of the docstring) of each function."""
    for node in ast.walk(source):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
            yield node.lineno, node.name, node.end_lineno - node.lineno + 1 - docstring


def test_no_function_is_too_long():
    refuse(
        [
            f"{path.relative_to(ROOT)}:{line} {name}: {size} lines"
            for path in FILES
            for line, name, size in function_sizes(parsed(path))
            if size > LONGEST_FUNCTION
        ]
    )
    assert list(function_sizes(ast.parse('def f():\n    """Two\n    lines."""\n    return 1\n'))) == [(1, "f", 2)]


def test_no_code_stands_twice():
    runs = repeated_runs(
        {str(path.relative_to(ROOT)): code_lines(path) for path in [*FILES, *COMPILED]}, LONGEST_RUN + 1
    )
    refuse([f"{first} ~ {second}, {length} lines" for first, second, length in runs])


def test_code_that_stands_twice_would_be_found(tmp_path):
    body = "".join(f"    x{line} = {line}  # comment {{0}}\n" for line in range(6))
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text("import os\n\ndef f():\n" + body.format("a"))
    second.write_text('"""Words."""\ndef g():\n    """More."""\n' + body.format("b").replace("x3", "\n    x3"))
    files = {"a.py": code_lines(first), "b.py": code_lines(second)}
    assert repeated_runs(files, 6) == [("a.py:4", "b.py:4", 6)]
    assert repeated_runs(files, 7) == []
    assert repeated_runs({"a.py": files["a.py"][1:] * 3}, 6) == [("a.py:4", "a.py:4", 12), ("a.py:4", "a.py:4", 6)]


def public_names():
    for module in public_modules():
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{module.__name__}.{name}", value


def documented(text):
    """The names in a numpydoc section of parameters or attributes."""
    names = set()
    for section in re.findall(
        r"^(?:Other )?(?:Parameters|Attributes)\n-+\n((?:.*\n?)*?)(?=^\S.*\n-{3,}$|\Z)", text, re.M
    ):
        for line in re.findall(r"^(\*{0,2}\w[\w, *]*?)\s*(?::.*)?$", section, re.M):
            names |= {name.strip(" *") for name in line.split(",")}
    return names


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in public_names()])
def test_public_names_have_a_docstring_with_an_example(value):
    text = inspect.getdoc(value) or ""
    assert value.__doc__
    assert re.search(r"^Examples\n-{8}\n(.*\n)*?\s*>>> ", text + "\n", re.M), "no section Examples with a line of >>>"
    is_choice = inspect.isclass(value) and issubclass(value, Enum)  # its members are named, never made
    given = {name for name in inspect.signature(value).parameters if not name.startswith("_") and not is_choice}
    assert given - documented(text) == set()


@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_parameters_are_words(kind):
    assert [name for name in kind._get_param_names() if any(map(GREEK.fullmatch, name.split("_")))] == []

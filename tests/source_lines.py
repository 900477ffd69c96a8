"""Lines of code as a reader compares them: without indentation, comments, docstrings, imports and lone brackets.

Nor do the parameters of constructors count, whose names scikit-learn wants in the signature of each class and in one
assignment each, whatever its siblings have, nor lists of public names, which a package has again of its folders.
"""

import ast
import io
import re
import tokenize
from collections import defaultdict


def code_lines(path):
    """(number, text) of each line of code in a Python or C++ file."""
    text = path.read_text(encoding="utf-8")
    return python_lines(text) if path.suffix == ".py" else compiled_lines(text)


def python_lines(text):
    passed_over = set()
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        is_names = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        if is_text or is_names or isinstance(node, ast.Import | ast.ImportFrom):
            passed_over |= set(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            passed_over |= set(range(node.lineno, node.body[0].lineno))
            passed_over |= {line.lineno for line in node.body if _keeps_a_parameter(line)}
    comments = {
        token.start[0]: token.start[1]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    lines = enumerate(text.splitlines(), 1)
    return _with_words((number, line[: comments.get(number)]) for number, line in lines if number not in passed_over)


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _keeps_a_parameter(line):
    """``self.name = name``"""
    return isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == f"self.{ast.unparse(line.value)}"


def compiled_lines(text):
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    lines = ((number, line.split("//")[0]) for number, line in enumerate(text.splitlines(), 1))
    return _with_words((number, line) for number, line in lines if not line.startswith("#"))


def _with_words(lines):
    folded = ((number, " ".join(line.split())) for number, line in lines)
    return [(number, line) for number, line in folded if re.search(r"\w", line)]


def repeated_runs(files, least):
    """(place, place, length) of each run of at least `least` equal lines in two places that do not overlap.

    `files` are lists of (number, text) by name.
    """
    places = defaultdict(list)
    for name, lines in files.items():
        for start in range(len(lines) - least + 1):
            places[tuple(text for _, text in lines[start : start + least])].append((name, start))
    pairs = {
        (first, second)
        for same in places.values()
        for position, first in enumerate(same)
        for second in same[position + 1 :]
        if first[0] != second[0] or second[1] - first[1] >= least
    }
    runs = []
    for first, second in sorted(pairs):
        if (_moved(first, -1), _moved(second, -1)) in pairs:
            continue  # in the midst of a longer run
        length = least
        while (_moved(first, length - least + 1), _moved(second, length - least + 1)) in pairs:
            length += 1
        runs.append((_place(files, first), _place(files, second), length))
    return runs


def _moved(place, steps):
    return place[0], place[1] + steps


def _place(files, place):
    name, start = place
    return f"{name}:{files[name][start][0]}"

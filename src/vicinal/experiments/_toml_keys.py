"""Keys of TOML tables against the fields of dataclasses: a mistake raises an error of one sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from .._validation import suggest

# By a word of a field's type.
TOML_TYPES: dict[str, tuple[Any, str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "tuple": (list, "a list"),
    "Mapping": (dict, "a table"),
    "Task": (str, "a text"),
}


def types_of(kind: Any, without: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """The fields of a dataclass, with the words of their types that TOML has, too."""
    return {item.name: _words_of(item.type) for item in fields(kind) if item.name not in without}


def _words_of(annotation: Any) -> tuple[str, ...]:
    """Types are texts in modules that put off their evaluation, and classes elsewhere."""
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    while (outer := re.sub(r"\[[^\[\]]*\]", "", text)) != text:
        text = outer
    words = (word.strip().rpartition(".")[2] for word in text.split("|"))
    return tuple(word for word in words if word in TOML_TYPES)


def check_keys(name: str, what: str, declared: Any, known: Mapping[str, tuple[str, ...]], needed: str = "") -> None:
    """Every key is a field, and every value of its type."""
    if not isinstance(declared, dict):
        raise ValueError(f"The experiment {name}: {what} is a name or a table; got {declared!r}.")
    for key, value in declared.items():
        if key not in known:
            raise ValueError(f"The experiment {name}: {what} has no {key!r}; {suggest(key, known)}")
        kinds = [TOML_TYPES[word] for word in known[key]]
        if kinds and not any(is_of(value, kind) for kind, _ in kinds):
            words = " or ".join(words for _, words in kinds)
            raise ValueError(f"The experiment {name}: {key} must be {words}; got {value!r}.")
    if needed and needed not in declared:
        raise ValueError(f"The experiment {name}: {what} lacks its {needed}.")


def is_of(value: Any, kind: Any) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(frozen, value))
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return value

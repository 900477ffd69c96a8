"""Packages that only some parts need: imported when they are needed, with a sentence that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def need(package: str, purpose: str, *, install: str = "vicinal[cli]") -> Any:
    """The package; where it is not installed, the error says what for it is needed and what to install.

    >>> need("json", "to read models").loads("[1]")
    [1]
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        name = package.partition(".")[0]
        if (error.name or "").partition(".")[0] != name:
            raise  # something else is missing, which that package needs
        message = f"{name} is needed {purpose}, and it is not installed: pip install '{install}'"
        raise ModuleNotFoundError(message, name=name) from None

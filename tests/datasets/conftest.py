import dataclasses
import os

import pytest

from vicinal.datasets import _load as loading
from vicinal.datasets._catalog import entries

_REAL = os.environ.get("VICINAL_DATA")


@pytest.fixture
def real_folder():
    """The VICINAL_DATA of whoever runs the tests."""
    if not _REAL:
        pytest.skip("VICINAL_DATA is not set: this test needs real data")
    return _REAL


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder VICINAL_DATA, and a cache that is not there yet."""
    for name in ("tabular", "hetero"):
        (tmp_path / "data" / name).mkdir(parents=True)
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "data"


@pytest.fixture
def cache(folder):
    return folder.parent / "cache"


@pytest.fixture
def known(monkeypatch):
    """Puts an entry into the catalogue; what is not named is that of spambase."""

    def put(**changes):
        entry = dataclasses.replace(entries()["spambase"], **changes)
        monkeypatch.setattr(loading, "entries", lambda: {**entries(), entry.name: entry})

    return put

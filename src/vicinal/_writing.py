"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path, *, force: bool) -> Iterator[Path]:
    """A file beside `path` that takes its place once it is whole; whatever goes wrong, nothing half-written is left."""
    check_free(path, force=force)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {error.strerror}.") from error
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        with open(beside, "rb+") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(0o666 & ~mask)
        beside.replace(path)
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)


def check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise FileExistsError(f"{path} exists; write elsewhere or add --force.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")

"""Data that many processes read: written once by the one that loaded them, mapped into memory by the others."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from types import TracebackType

import joblib

from .._sample import Sample


class Shelf:
    """A temporary folder of samples by name. It can be handed to other processes, which read what was put on it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vicinal-")
        self.path = Path(self._folder.name)

    def put(self, name: str, sample: Sample) -> None:
        """Large arrays go to files of their own form, which `take` maps without reading them."""
        try:
            joblib.dump(sample, self._file(name))
        except OSError as error:
            raise OSError(
                f"{name} could not be written to {self.path} for the processes that work on it ({error.strerror}); "
                "make room there, or name another folder by the environment variable TMPDIR."
            ) from error

    def take(self, name: str) -> Sample:
        return _mapped(self._file(name))

    def __contains__(self, name: str) -> bool:
        return self._file(name).exists()

    def _file(self, name: str) -> Path:
        return self.path / f"{name.replace('/', '_')}.joblib"

    def __getstate__(self) -> dict[str, Path]:
        return {"path": self.path}  # only the process that made the folder removes it

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()


@lru_cache(maxsize=1)
def _mapped(file: Path) -> Sample:
    return joblib.load(file, mmap_mode="r")

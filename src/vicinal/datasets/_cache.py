"""Where the files of data sets lie, their checksums, and how they are written so that none is ever incomplete."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDERS = ("tabular", "hetero", "regression")
OF_FRAMES = "mixed"  # the folder of CSV files, whose last column is the target
_A_DAY = 86400.0


def data_folder() -> Path | None:
    """The user's own folder of data, if the environment variable VICINAL_DATA names one."""
    named = os.environ.get("VICINAL_DATA")
    return Path(named).expanduser() if named else None


def cache_folder() -> Path:
    """VICINAL_CACHE, or else `vicinal` in the folder of the user's caches."""
    named = os.environ.get("VICINAL_CACHE")
    if named:
        return Path(named).expanduser()
    caches = os.environ.get("XDG_CACHE_HOME")
    return (Path(caches) if caches else Path.home() / ".cache") / "vicinal"


def cached_path(name: str) -> Path:
    return cache_folder() / f"{name}.npz"


def places(name: str) -> list[Path]:
    """The files that may hold the data set, in the order in which they are looked for."""
    own = data_folder()
    arrays = [own / folder / f"{name}.npz" for folder in FOLDERS] if own else []
    return [*arrays, *([own / OF_FRAMES / f"{name}.csv"] if own else []), cached_path(name)]


def path_of(name: str) -> Path | None:
    """The file that holds a data set, if it is on this machine.

    Parameters
    ----------
    name : str
        Name of a data set, also of one that only the folder VICINAL_DATA knows.

    Returns
    -------
    path : Path or None
        ``tabular/NAME.npz``, ``hetero/NAME.npz``, ``regression/NAME.npz`` or ``mixed/NAME.csv`` in the folder
        VICINAL_DATA, or else the file in the cache.

    Examples
    --------
    >>> from vicinal.datasets import path_of
    >>> path_of("no_such_data") is None
    True
    """
    if not is_plain(name):
        return None
    return next((path for path in places(name) if path.is_file()), None)


def is_plain(name: object) -> bool:
    """Whether a name is a plain file name, and no path that leads elsewhere."""
    return isinstance(name, str) and re.fullmatch(r"\w[\w.-]*", name) is not None


def names_on_disk() -> set[str]:
    """Data sets of the folder VICINAL_DATA and of the cache."""
    own = data_folder()
    found = [*cache_folder().glob("*.npz")]
    if own:
        found += [
            *(own / OF_FRAMES).glob("*.csv"),
            *(path for folder in FOLDERS for path in (own / folder).glob("*.npz")),
        ]
    return {path.stem for path in found if is_plain(path.stem)}


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded_sha256(path: Path) -> str | None:
    """The checksum that was noted beside a cached file when it was stored."""
    try:
        return _record(path).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None


def check_cached(path: Path, sha256: str) -> None:
    if recorded_sha256(path) not in (None, sha256):
        raise ValueError(
            f"{path} is damaged: it is not the file that was stored; delete it or run "
            f"`vicinal data fetch {path.stem} --force`."
        )


@contextlib.contextmanager
def workplace(name: str) -> Iterator[Path]:
    """A hidden folder in the cache for whatever a fetch needs; it is gone afterwards, whatever happens.

    What a process that was killed left behind is removed a day later.
    """
    folder = cache_folder()
    prefix = f".{name}.fetch-"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{prefix}*"):
            if time.time() - left.stat().st_mtime > _A_DAY:
                shutil.rmtree(left, ignore_errors=True)
        place = tempfile.TemporaryDirectory(prefix=prefix, dir=folder)
    except OSError as error:
        raise OSError(
            f"The cache {folder} cannot be written to ({error.strerror}); name another folder in VICINAL_CACHE."
        ) from error
    with place as made:
        yield Path(made)


def store(arrays: Mapping[str, NDArray], name: str, work: Path) -> Path:
    """Writes arrays to the cache: whole in `work` first, then renamed.

    The checksum is noted before the file appears, and equal arrays make equal bytes: so a kill between the two, or two
    processes that store the same data, never leave a file beside the checksum of another.
    """
    path = cached_path(name)
    beside, record = work / path.name, work / _record(path).name
    try:
        _write_npz(beside, arrays)
        record.write_text(sha256_of(beside) + "\n", encoding="ascii")
        for file in (beside, record):
            with file.open("rb+") as opened:
                os.fsync(opened.fileno())
        path.unlink(missing_ok=True)
        record.replace(_record(path))
        beside.replace(path)
    except OSError as error:
        raise OSError(f"{path} was not written: {error.strerror}.") from error
    return path


def _write_npz(path: Path, arrays: Mapping[str, NDArray]) -> None:
    """Writes what np.savez_compressed would, but without the time of day."""
    with zipfile.ZipFile(path, "w") as archive:
        for key, array in arrays.items():
            member = zipfile.ZipInfo(f"{key}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")

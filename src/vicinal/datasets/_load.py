"""Finds, reads and fetches data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from sklearn.utils import Bunch

from .._sample import Sample
from .._validation import suggest
from ._cache import (
    OF_FRAMES,
    cached_path,
    check_cached,
    data_folder,
    names_on_disk,
    path_of,
    places,
    recorded_sha256,
    sha256_of,
    store,
    workplace,
)
from ._catalog import Dataset, entries
from ._fetch import Unreachable, fetch_arrays, source_of
from ._read import read


def load(name: str) -> Sample:
    """Loads a data set by its name.

    It is looked for in the folder that the environment variable VICINAL_DATA names (``tabular/NAME.npz``, then the same
    in ``hetero`` and ``regression``, then ``mixed/NAME.csv``, whose last column is the target; any file of that form
    will do, whether the catalogue knows it or not), then in the cache (the folder VICINAL_CACHE, or
    ``~/.cache/vicinal``), and finally it is fetched from its public source and kept in the cache. Files are never
    unpickled.

    Parameters
    ----------
    name : str
        Name of the data set; `catalog` lists those that are known.

    Returns
    -------
    data : Sample
        With ``X``, ``y``, ``adjacency``, ``views``, ``side``, ``names``, ``classes`` and ``split`` as far as the file
        has them; ``side`` is a `vicinal.network.HeteroNetwork`. Its ``about`` has these fields, which are None where
        they do not apply:

        - ``name``, ``description``, ``source``, ``licence``, ``stand_in_for``: what the catalogue says of it.
        - ``extras`` : dict, every other array of the file.
        - ``unread`` : list of the arrays that were left out because reading them would need pickle.
        - ``path``, ``sha256`` : the file and its checksum.
        - ``verified`` : bool, whether the checksum is the one that the catalogue gives or, in the cache, the one noted
          when the file was fetched. None where there is nothing to compare with.

    See Also
    --------
    fetch : Fetches a data set into the cache.

    Examples
    --------
    >>> from vicinal.datasets import load
    >>> data = load("mnist")  # doctest: +SKIP
    >>> load("mnits")
    Traceback (most recent call last):
        ...
    ValueError: There is no data set 'mnits'; did you mean 'mnist' or 'fashion_mnist'?
    """
    path = path_of(name) or fetch(name)
    entry = entries().get(name)
    sha256 = sha256_of(path)
    sample, rest = read(path, entry.relations if entry else None)
    about = Bunch(
        name=name,
        verified=_verified(entry, path, sha256),
        description=entry.description if entry else None,
        source=entry.source if entry else None,
        licence=entry.licence if entry else None,
        stand_in_for=entry.stand_in_for if entry else None,
        path=path,
        sha256=sha256,
        **rest,
    )
    return replace(sample, about=about)


def checksum(name: str) -> str:
    """The checksum of a data set: of its file where there is one here, otherwise what the catalogue says.

    What was fetched and compared with the catalogue's checksum of its values is what the catalogue says, whether the
    cache has it or not.

    Parameters
    ----------
    name : str
        A name of the catalogue, or of a file in the folder VICINAL_DATA.

    Returns
    -------
    str
        Empty where neither is known.

    Examples
    --------
    >>> from vicinal.datasets import checksum
    >>> len(checksum("mnist"))
    64
    """
    path, entry = path_of(name), entries().get(name)
    compared = entry is not None and entry.content is not None and path == cached_path(name)
    if path is not None and not compared:
        status = path.stat()
        return _file_checksum(path, status.st_mtime_ns, status.st_size)
    return (entry.sha256 or entry.content or "") if entry else ""


@cache
def _file_checksum(path: Path, changed: int, size: int) -> str:
    return sha256_of(path)


def fetch(name: str, force: bool = False, callback: Callable[[str], None] | None = None) -> Path:
    """Fetches a data set from its public source into the cache.

    What is fetched must have the shape and the classes that the catalogue states. It is stored in one go: a fetch that
    fails or is killed leaves no file.

    Parameters
    ----------
    name : str
        Name of a data set of the catalogue.
    force : bool, default=False
        Whether to fetch what the cache already has.
    callback : callable, default=None
        Called with a short text at every step.

    Returns
    -------
    path : Path
        The file in the cache.

    Examples
    --------
    >>> from vicinal.datasets import fetch
    >>> fetch("spambase")  # doctest: +SKIP
    PosixPath('/home/me/.cache/vicinal/spambase.npz')
    """
    entry = _known(name)
    path = cached_path(name)
    if path.is_file() and not force:
        check_cached(path, sha256_of(path))
        return path
    if not entry.fetchable:
        raise FileNotFoundError(
            f"{_looked_for(entry)}; it cannot be fetched automatically: get it from {entry.source} and put it into the "
            f"folder {entry.folder} of VICINAL_DATA."
        )
    say = callback or (lambda step: None)
    with workplace(name) as work:
        say(f"fetching {name} from {source_of(entry)}")
        try:
            arrays = fetch_arrays(entry, work)
        except Unreachable as error:
            raise ConnectionError(
                f"{_looked_for(entry)}, and {source_of(entry)} could not be reached ({error}); try again later, or "
                f"get it from {entry.source} and put it into the folder {entry.folder} of VICINAL_DATA."
            ) from error
        say(f"storing {path}")
        return store(arrays, name, work)


def _known(name: str) -> Dataset:
    if not isinstance(name, str) or name not in entries():
        own = path_of(name)
        if own is not None:
            raise ValueError(f"{name!r} cannot be fetched: the catalogue does not know it, only {own} is there.")
        hint = suggest(str(name), sorted({*entries(), *names_on_disk()}))
        raise ValueError(f"There is no data set {name!r}; {hint}{'' if hint.endswith('?') else '.'}")
    return entries()[name]


def _looked_for(entry: Dataset) -> str:
    own = data_folder()
    folders = ", ".join(map(str, filter(None, (own and own / entry.folder, cached_path(entry.name).parent))))
    unset = "" if own else " (VICINAL_DATA is not set)"
    file = places(entry.name)[-2 if own and entry.folder == OF_FRAMES else -1].name
    return f"{file} was looked for in {folders}{unset}"


def _verified(entry: Dataset | None, path: Path, sha256: str) -> bool | None:
    recorded = recorded_sha256(path) if path == cached_path(path.stem) else None
    if recorded is not None:
        check_cached(path, sha256)
        return True
    return None if entry is None or entry.sha256 is None else entry.sha256 == sha256

"""The data sets that are known by name, as catalog.toml declares them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Dataset:
    """What is known of a data set before it is read.

    Attributes
    ----------
    name, description, source, licence : str
        Its name, one sentence on what it holds, where it comes from, and the terms of its use.
    folder : {"tabular", "hetero", "regression", "mixed"}
        Where in the folder VICINAL_DATA its file belongs.
    shape : (int, int)
        Rows and columns; where there are several views, the columns of all of them.
    sha256 : str or None
        Checksum of the file NAME.npz in the folder VICINAL_DATA, where data are handed round in such a file.
    class_counts : dict of int to int, or None
        Rows of each label; -1 stands for rows without one. None where there are no labels.
    nonzeros : int or None
        Stored values, where the data are sparse.
    views : tuple of int
        Columns of each view; empty where there is only one.
    edges : int or None
        Links, where the rows form a network.
    relations : dict of str to str
        What relates two types of nodes, by their names in the file, ``"paper_author"`` for example, where the file has
        no word for it.
    stand_in_for : str or None
        The data that this set takes the place of because they are not available.
    openml : int or None
        Number of the data set at OpenML, where it can be fetched from there.
    fetcher : str or None
        Another way to fetch it.
    content : str or None
        Checksum of X and y, where the source is known to give exactly those of the file.
    dtype, train_rows, inlier, drop
        How what is fetched takes its final form: number type of X; how many first rows are the training part; which
        label is no outlier; which columns are left out.

    Examples
    --------
    >>> from vicinal.datasets import Dataset
    >>> mine = Dataset("mine", "tabular", "Ten rows of two columns.", (10, 2), source="my own", licence="CC0")
    >>> mine.shape, mine.fetchable
    ((10, 2), False)
    """

    name: str
    folder: str
    description: str
    shape: tuple[int, int]
    source: str
    licence: str
    sha256: str | None = None
    class_counts: dict[int, int] | None = field(default=None, hash=False)
    nonzeros: int | None = None
    views: tuple[int, ...] = ()
    edges: int | None = None
    relations: dict[str, str] = field(default_factory=dict, hash=False)
    stand_in_for: str | None = None
    openml: int | None = None
    fetcher: str | None = None
    content: str | None = None
    dtype: str = "float32"
    train_rows: int | None = None
    inlier: int | None = None
    drop: tuple[str, ...] = ()

    @property
    def fetchable(self) -> bool:
        """Whether `fetch` knows a public source."""
        return self.openml is not None or self.fetcher is not None


def catalog() -> tuple[Dataset, ...]:
    """All data sets that are known by name.

    Returns
    -------
    entries : tuple of Dataset

    Examples
    --------
    >>> from vicinal.datasets import catalog
    >>> {entry.name: entry.shape for entry in catalog() if entry.fetcher == "covtype"}
    {'covtype': (581012, 54)}
    """
    return tuple(entries().values())


@cache
def entries() -> dict[str, Dataset]:
    declared = tomllib.loads((files(__package__) / "catalog.toml").read_text(encoding="utf-8"))
    return {name: _entry(name, table) for name, table in declared.items()}


def _entry(name: str, table: dict) -> Dataset:
    counts, lowest = table.pop("counts", None), table.pop("lowest_label", 0)
    lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
    class_counts = None if counts is None else dict(enumerate(counts, start=lowest))
    return Dataset(name=name, class_counts=class_counts, **{**table, **lists})

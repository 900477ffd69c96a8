"""What methods are given: rows with their labels, links, views and side information, as one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from ._preparation import take_rows
from ._validation import UNLABELLED, suggest
from ._views import take_columns

# What an estimator's `fit` may ask for beside X and y, by the names of its arguments.
EXTRA_INPUTS = ("adjacency", "side")


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows and all that belongs to them; indexing with rows gives the part of every field that belongs to these rows.

    Parameters
    ----------
    X : ndarray, CSR matrix or data frame of shape (n_rows, n_columns)
        Several views stand side by side.
    y : ndarray of shape (n_rows,), default=None
        Labels; -1 marks rows without one.
    adjacency : CSR matrix or network of shape (n_rows, n_rows), default=None
        Links between rows. Rows of it give the subgraph that they induce.
    views : mapping of str to slice, default=None
        The columns of each view.
    side : HeteroNetwork, default=None
        Side information about the rows, which are its target nodes. It is indexed by rows.
    names : tuple of str, default=None
        Names of the columns.
    classes : tuple of str, default=None
        Names of the labels 0, 1, ...
    split : ndarray of shape (n_rows,), default=None
        0 for training rows, 1 for test rows, 2 for rows without labels, where the data are published with a split.
    about : Bunch
        Where the data come from, and whatever else the file holds; it is the same for every part.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from vicinal.datasets import Sample
    >>> ring = sp.csr_array(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    >>> part = Sample(np.arange(8).reshape(4, 2), y=np.array([0, 0, 1, 1]), adjacency=ring)[[0, 1, 2]]
    >>> part.y, part.adjacency.nnz
    (array([0, 0, 1]), 4)
    """

    X: Any
    y: NDArray | None = None
    adjacency: Any = None
    views: Mapping[str, slice] | None = None
    side: Any = None
    names: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    split: NDArray | None = None
    about: Bunch = field(default_factory=Bunch)

    def __post_init__(self) -> None:
        n_rows, n_columns = self.X.shape
        for name, values in (("y", self.y), ("split", self.split)):
            if values is not None and len(values) != n_rows:
                raise ValueError(f"{name} has {len(values)} values for {n_rows} rows of X; give one for each row.")
        if self.adjacency is not None and tuple(self.adjacency.shape) != (n_rows, n_rows):
            shape = " x ".join(map(str, self.adjacency.shape))
            raise ValueError(f"The adjacency is {shape} for {n_rows} rows of X; it needs a row and a column for each.")
        if self.side is not None and self.side.shape[0] != n_rows:
            raise ValueError(
                f"side is about {self.side.shape[0]} rows, and X has {n_rows}; it needs each row of X once."
            )
        if self.names is not None and len(self.names) != n_columns:
            raise ValueError(f"There are {len(self.names)} names for {n_columns} columns of X; give one for each.")

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getitem__(self, rows: ArrayLike) -> Sample:
        index = np.asarray(rows)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        return replace(
            self,
            X=take_rows(self.X, index),
            y=None if self.y is None else self.y[index],
            adjacency=None if self.adjacency is None else _induced(self.adjacency, index),
            side=None if self.side is None else self.side[index],
            split=None if self.split is None else self.split[index],
        )

    def with_X(self, X: Any) -> Sample:
        """The same rows with other columns, whose names and views are no longer known."""
        same = X.shape[1] == self.X.shape[1]
        return replace(self, X=X, names=self.names if same else None, views=self.views if same else None)

    def with_views(self, names: Sequence[str]) -> Sample:
        """The same rows with the columns of some views only, in that order."""
        known = self.views or {}
        for name in names:
            if name not in known:
                if not known:
                    raise ValueError(f"There is no view {name!r}: the columns are not divided into views.")
                raise ValueError(f"There is no view {name!r}; {suggest(name, known)}")
        places = np.concatenate([np.arange(self.X.shape[1])[known[name]] for name in names])
        ends = np.cumsum([0, *(known[name].stop - known[name].start for name in names)]).tolist()
        return replace(
            self,
            X=take_columns(self.X, places),
            names=None if self.names is None else tuple(self.names[place] for place in places),
            views={name: slice(*ends[k : k + 2]) for k, name in enumerate(names)},
        )

    @property
    def n_classes(self) -> int:
        return 0 if self.y is None else len(np.unique(self.y[self.labelled]))

    @property
    def labelled(self) -> NDArray[np.intp]:
        """The rows that have a label."""
        if self.y is None:
            return np.zeros(0, dtype=np.intp)
        is_single = self.y.ndim == 1 and self.y.dtype.kind in "if"
        return np.flatnonzero(self.y != UNLABELLED) if is_single else np.arange(len(self))

    @property
    def extra_inputs(self) -> dict[str, Any]:
        """What there is beside X and y, by the names of the arguments of `fit` that take it."""
        return {name: getattr(self, name) for name in EXTRA_INPUTS if getattr(self, name) is not None}


def _induced(adjacency: Any, index: NDArray) -> Any:
    """A network gives its subgraph itself; rows of a matrix are not square."""
    return adjacency[index][:, index] if sp.issparse(adjacency) else adjacency[index]

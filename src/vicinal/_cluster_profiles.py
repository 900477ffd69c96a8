"""What tells clusters apart, in the columns of the table itself: means of numbers, shares of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._preparation import Frame, categorical_columns, is_frame
from ._validation import Matrix
from ._words import short_number

MISSING = "missing"
_NOTHING = 1e-9  # of a column's largest value: what rounding leaves of a deviation


@dataclass(frozen=True)
class Trait:
    """A column, or a category of one, in a cluster and in all others.

    `difference` is that of the two means, in standard deviations of the column; for a category the column is 1 where
    rows have it and 0 elsewhere, so that both can be compared.
    """

    column: str
    category: str | None
    inside: float
    outside: float
    difference: float

    @property
    def name(self) -> str:
        return self.column if self.category is None else f"{self.column} = {self.category}"

    def show(self, value: float) -> str:
        return short_number(value) if self.category is None else f"{100 * value:.0f} %"

    def sentence(self) -> str:
        return f"{self.name} {self.show(self.inside)} (others {self.show(self.outside)})"


@dataclass(frozen=True)
class Profile:
    """A cluster: its rows, those nearest to its center first, and its traits, the most telling first."""

    rows: NDArray[np.int64]
    traits: tuple[Trait, ...]

    def telling(self, least: float, most: int) -> list[Trait]:
        """At most so many traits, of at least so many standard deviations, one of each column."""
        first = {trait.column: trait for trait in reversed(self.traits)}
        told = [trait for trait in self.traits if first[trait.column] is trait]
        return [trait for trait in told[:most] if abs(trait.difference) >= least]


def profiles(
    X: Frame | Matrix, names: Sequence[str], clusters: NDArray[np.integer], distances: NDArray[np.floating]
) -> list[Profile]:
    """A profile of each cluster, from 0; `distances` are those of the rows from their clusters' centers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 5.0], [1.2, 9.0], [7.0, 6.0], [7.2, 8.0]])
    >>> first, second = profiles(X, ["size", "age"], np.array([0, 0, 1, 1]), np.array([0.2, 0.1, 0.3, 0.4]))
    >>> first.rows.tolist(), first.traits[0].sentence()
    ([1, 0], 'size 1.1 (others 7.1)')
    """
    values, heads = _as_numbers(X, names)
    inside, outside, deviations = _means(values, clusters)
    differences = np.divide(inside - outside, deviations, out=np.zeros_like(inside), where=deviations > 0)
    differences = np.nan_to_num(differences)
    found = []
    for cluster in range(len(inside)):
        rows = np.flatnonzero(clusters == cluster)
        order = np.argsort(-np.abs(differences[cluster]), kind="stable")
        traits = tuple(
            Trait(*heads[j], *(float(part[cluster, j]) for part in (inside, outside, differences)))
            for j in order
            if deviations[j] > 0
        )
        found.append(Profile(rows[np.argsort(distances[rows], kind="stable")], traits))
    return found


def most_telling_columns(found: Sequence[Profile], most: int) -> list[str]:
    """The columns with the largest differences of any cluster."""
    largest: dict[str, float] = {}
    for profile in found:
        for trait in profile.traits:
            largest[trait.column] = max(largest.get(trait.column, 0.0), abs(trait.difference))
    return sorted(largest, key=lambda column: -largest[column])[:most]


def _as_numbers(X: Frame | Matrix, names: Sequence[str]) -> tuple[Matrix, list[tuple[str, str | None]]]:
    """Numbers as they are and a column of 0 and 1 for each category, with the names of column and category."""
    if not is_frame(X):
        return X, [(name, None) for name in names]
    categorical = set(categorical_columns(X))
    columns: list[NDArray[Any]] = []
    heads: list[tuple[str, str | None]] = []
    for name in X.columns:
        values = np.asarray(X[name].to_numpy())
        if name not in categorical:
            columns.append(values.astype(np.float64))
            heads.append((name, None))
            continue
        texts = np.array([value if isinstance(value, str) else MISSING for value in values.tolist()])
        for category in np.unique(texts):
            columns.append(texts == category)
            heads.append((name, str(category)))
    return np.column_stack(columns).astype(np.float64), heads


def _means(
    values: Matrix, clusters: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Of each cluster and column: the means within and without, and the columns' deviations; missing values aside."""
    n_rows, n_clusters = values.shape[0], int(clusters.max()) + 1
    members = sp.csr_array((np.ones(n_rows), (clusters, np.arange(n_rows))), shape=(n_clusters, n_rows))
    if sp.issparse(values):
        missing, known = values.astype(np.float64), values.astype(np.float64)
        missing.data = np.isnan(values.data).astype(np.float64)
        known.data = np.nan_to_num(known.data)
        sums = np.asarray((members @ known).todense())
        counts = members.sum(axis=1).reshape(-1, 1) - np.asarray((members @ missing).todense())
        squares = np.asarray(known.multiply(known).sum(axis=0)).ravel()
    else:
        values = np.asarray(values, dtype=np.float64)
        here = ~np.isnan(values)
        known = np.where(here, values, 0.0)
        sums, counts = members @ known, members @ here.astype(np.float64)
        squares = (known**2).sum(axis=0)
    total, count = sums.sum(axis=0), counts.sum(axis=0)
    means = total / np.maximum(count, 1)
    variances = squares / np.maximum(count, 1) - means**2
    deviations = np.sqrt(np.where(variances > _NOTHING * squares / np.maximum(count, 1), variances, 0.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / counts, (total - sums) / (count - counts), deviations

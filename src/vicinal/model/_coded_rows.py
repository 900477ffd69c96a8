"""Rows of local features as codes: which column of each group, in as few bytes as hold it, and a byte for its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import canonical

LEVELS = 255  # of values, per group; zero stands for no entry
WIDTHS = ((2**8, np.uint8), (2**16, np.uint16), (2**31, np.int32))


@dataclass(frozen=True)
class CodedRows:
    """Rows with one entry in each of several groups of columns; a group may stand several times.

    Groups are in three runs, by the width of their codes: `codes` has an array of bytes, one of two bytes and one of
    four, of shape (n_rows, groups of that width). The value of group g of row i is ``scales[g] * levels[i, g]``.
    """

    codes: tuple[NDArray[np.integer], ...]
    levels: NDArray[np.uint8]
    first_columns: NDArray[np.int32]
    sizes: NDArray[np.int32]
    scales: NDArray[np.float32]
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.levels), self.n_columns

    @property
    def nbytes(self) -> int:
        """Memory of codes and values."""
        return sum(part.nbytes for part in self.codes) + self.levels.nbytes

    def scaled(self, factor: float) -> CodedRows:
        """The same rows, times a number."""
        scales = (self.scales * factor).astype(np.float32)
        return CodedRows(self.codes, self.levels, self.first_columns, self.sizes, scales, self.n_columns)

    def take(self, rows: NDArray[np.integer]) -> CodedRows:
        """Some of the rows."""
        codes = tuple(part[rows] for part in self.codes)
        return CodedRows(codes, self.levels[rows], self.first_columns, self.sizes, self.scales, self.n_columns)

    def mean_squared_length(self) -> float:
        sums = np.zeros(len(self.scales))
        for start in range(0, len(self.levels), 4096):
            sums += np.square(self.levels[start : start + 4096], dtype=np.float32).sum(axis=0, dtype=np.float64)
        return float(sums @ np.square(self.scales, dtype=np.float64)) / max(1, len(self.levels))

    def to_csr(self) -> sp.csr_array:
        """The same rows as CSR, entries of value zero left out."""
        columns = np.hstack([part.astype(np.int32) for part in self.codes]) + self.first_columns
        values = self.levels.astype(np.float32) * self.scales
        starts = np.arange(len(self.levels) + 1) * len(self.scales)
        matrix = sp.csr_array((values.ravel(), columns.ravel(), starts), shape=self.shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def native(self) -> tuple[Any, ...]:
        """As the compiled part takes it."""
        return (*self.codes, self.levels, self.first_columns, self.sizes, self.scales, self.n_columns)


class CodedRowsBuilder:
    """Codes of rows that come as blocks of CSR rows with at most `n_per_group` entries, none negative, in each group.

    The columns of group g are ``pointers[g]`` to ``pointers[g + 1]``.
    """

    def __init__(self, pointers: NDArray[np.integer], n_rows: int, n_per_group: int = 1):
        self.pointers, self.n_per_group = pointers, n_per_group
        groups = np.repeat(np.arange(len(pointers) - 1), n_per_group)
        widths = np.searchsorted([limit for limit, _ in WIDTHS], np.diff(pointers)[groups])
        self.order = np.argsort(widths, kind="stable")
        self.groups = groups[self.order]
        counts = np.bincount(widths, minlength=len(WIDTHS))
        self.bounds = np.r_[0, np.cumsum(counts)]
        self.codes = tuple(np.zeros((n_rows, k), dtype) for k, (_, dtype) in zip(counts, WIDTHS, strict=True))
        self.levels = np.zeros((n_rows, len(groups)), np.uint8)
        self.highest: list[tuple[slice, NDArray[np.float32]]] = []

    def add(self, block: Any) -> None:
        """The next rows."""
        start = self.highest[-1][0].stop if self.highest else 0
        rows = slice(start, start + block.shape[0])
        codes, values = self._in_order(canonical(block))
        highest = values.max(axis=0, initial=0)
        self.levels[rows] = np.rint(values * (LEVELS / np.where(highest > 0, highest, 1)))
        for part, first, last in zip(self.codes, self.bounds, self.bounds[1:], strict=False):
            part[rows] = codes[:, first:last]
        self.highest.append((rows, highest))

    def finished(self) -> CodedRows:
        """All rows, their values rounded to shares of the highest of their group."""
        highest = np.max([most for _, most in self.highest], axis=0)
        for rows, most in self.highest:
            if (most < highest).any():
                self.levels[rows] = np.rint(self.levels[rows] * (most / np.where(highest > 0, highest, 1)))
        first_columns = self.pointers[self.groups].astype(np.int32)
        sizes = np.diff(self.pointers)[self.groups].astype(np.int32)
        return CodedRows(self.codes, self.levels, first_columns, sizes, highest / LEVELS, int(self.pointers[-1]))

    def _in_order(self, block: Any) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Codes and values of a block, groups in the order of the result."""
        n_rows, n_entries = block.shape[0], len(self.groups)
        if block.shape[1] != self.pointers[-1]:
            raise ValueError(
                f"These rows have {block.shape[1]} columns, but the groups have {self.pointers[-1]}: they belong to "
                "another map."
            )
        columns, values = block.indices, block.data
        if (np.diff(block.indptr) != n_entries).any():  # some rows lack some groups
            columns = np.repeat(self.pointers[:-1], self.n_per_group)
            columns = np.broadcast_to(columns, (n_rows, n_entries)).astype(block.indices.dtype).ravel()
            places = self._places(block)
            columns[places], values = block.indices, np.zeros(n_rows * n_entries, np.float32)
            values[places] = block.data
        if values.min(initial=0) < 0:
            raise ValueError("Values of local features must be at least 0 to be coded.")
        codes = columns.reshape(n_rows, n_entries)[:, self.order] - self.pointers[self.groups]
        if (codes < 0).any() or (codes >= np.diff(self.pointers)[self.groups]).any():
            raise ValueError(f"A row has other than {self.n_per_group} entries in a group: it cannot be coded.")
        return codes, values.reshape(n_rows, n_entries)[:, self.order].astype(np.float32, copy=False)

    def _places(self, block: Any) -> NDArray[np.int64]:
        """Where each entry goes in an array of shape (rows, groups, entries per group)."""
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
        groups = np.searchsorted(self.pointers, block.indices, side="right") - 1
        runs = rows * (len(self.pointers) - 1) + groups
        rank = np.arange(len(runs)) - np.searchsorted(runs, runs)
        if rank.max(initial=0) >= self.n_per_group:
            raise ValueError(f"A row has more than {self.n_per_group} entries in a group: it cannot be coded.")
        return runs * self.n_per_group + rank

"""Products of relations along meta-paths, in the cheapest order, each part once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._hetero import HeteroNetwork
from ._memory import refuse_beyond_memory
from ._metapaths import MetaPath, Step, turned

Steps = tuple[Step, ...]

_BYTES = 12  # of an entry of CSR: its value and its column


class Halves(NamedTuple):
    """Two factors of the matrix of numbers of paths; `right` is None where `left` is all of it."""

    left: sp.csr_array
    right: sp.csr_array | None

    def rows(self, rows: slice | NDArray) -> sp.csr_array:
        return self.left[rows] if self.right is None else self.left[rows] @ self.right

    def row_sums(self) -> NDArray[np.float64]:
        """How many paths begin at each row."""
        ends = np.ones(self.left.shape[1]) if self.right is None else self.right.sum(axis=1)
        return self.left @ ends

    def transposed(self) -> Halves:
        if self.right is None:
            return Halves(sp.csr_array(self.left.T), None)
        return Halves(sp.csr_array(self.right.T), sp.csr_array(self.left.T))


class _Plan(NamedTuple):
    """What making a product costs, in multiplications, and after which step it is cut; 0 where it is a relation."""

    cost: float
    cut: int


class PathProducts:
    """What relations of a network make, one after the other.

    The number of entries of a product is estimated from the number of paths that begin or end at each node, as if they
    led to nodes at random; the order of products is the cheapest by these estimates. Parts that several paths share, or
    that one path walks back, are made once.
    """

    def __init__(self, side: HeteroNetwork):
        self.side, self.mutual = side, side.mutual
        self._made: dict[Steps, sp.csr_array] = {}
        self._plan = lru_cache(maxsize=None)(self._cheapest)
        self._rows = lru_cache(maxsize=None)(self._entries_of_rows)

    def halves(self, path: MetaPath) -> list[Halves]:
        """The factors of the numbers of paths from row to row; those of the way back, too, where it is another one."""
        found = self._halves(path.steps)
        return [found] if path.symmetric else [found, found.transposed()]

    def check_memory(self, paths: Iterable[MetaPath]) -> None:
        """Refuses, before anything is made, products that would not fit into memory together."""
        sizes: dict[Steps, int] = {}
        for path in paths:
            for part in self._parts(path.steps)[1:]:
                if self._back(part) not in sizes:
                    sizes[part] = int(2 * _BYTES * self._rows(part).sum())  # it is kept walked back, too
                largest = max(sizes, key=lambda steps: sizes[steps])
                shape = f"{self._size(largest[0].start):,} x {self._size(largest[-1].end):,}"
                refuse_beyond_memory(
                    sum(sizes.values()),
                    f"Parts of the meta-paths up to {path}, the largest of them {self._words(largest)}, {shape},",
                    "leave this meta-path out, or lower max_length",
                )

    def entries_of_rows(self, path: MetaPath) -> NDArray[np.float64]:
        """About how many rows each row is led to."""
        entries = self._rows(path.steps)
        return entries if path.symmetric else entries + self._rows(self._back(path.steps))

    def _halves(self, steps: Steps) -> Halves:
        cut = self._plan(steps).cut
        return (
            Halves(self._product(steps[:cut]), self._product(steps[cut:]))
            if cut
            else Halves(self._product(steps), None)
        )

    def _product(self, steps: Steps) -> sp.csr_array:
        if steps not in self._made:
            back = self._back(steps)
            if back in self._made:
                made = sp.csr_array(self._made[back].T)
            elif len(steps) == 1:
                made = self.side.links(steps[0])
            else:
                left, right = self._halves(steps)
                made = sp.csr_array(left @ right)
            self._made[steps] = made
        return self._made[steps]

    def _parts(self, steps: Steps) -> list[Steps]:
        """The products that a path needs, the path itself first, relations left out."""
        cut = self._plan(steps).cut
        return [steps, *self._parts(steps[:cut]), *self._parts(steps[cut:])] if cut else []

    def _cheapest(self, steps: Steps) -> _Plan:
        if len(steps) == 1:
            return _Plan(0.0, 0)
        return min(_Plan(self._cost(steps[:cut], steps[cut:]), cut) for cut in range(1, len(steps)))

    def _cost(self, left: Steps, right: Steps) -> float:
        meeting = float(self._rows(self._back(left)) @ self._rows(right))
        both = self._plan(left).cost + (0.0 if right == self._back(left) else self._plan(right).cost)
        return both + meeting

    def _entries_of_rows(self, steps: Steps) -> NDArray[np.float64]:
        """Estimated from the number of paths: n cells, of which each path fills one at random."""
        paths = np.ones(self._size(steps[-1].end))
        for step in reversed(steps):
            links = self.side.relations[step.relation]
            pattern = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), shape=links.shape)
            paths = paths @ pattern if step.back else pattern @ paths
        if len(steps) == 1:
            return paths
        cells = self._size(steps[-1].end)
        return -cells * np.expm1(-paths / cells)

    def _size(self, kind: str) -> int:
        return len(self.side.names[kind])

    def _back(self, steps: Steps) -> Steps:
        return tuple(turned(step, self.mutual) for step in steps[::-1])

    def _words(self, steps: Steps) -> str:
        return str(MetaPath(steps, self.mutual))

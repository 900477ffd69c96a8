"""Relations as the NPZ files of data sets hold them: pairs of numbers of nodes, and how many nodes each type has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._hetero import HeteroNetwork
from ._validation import Matrix

NAMELESS = "to"  # what a relation is called that has no name of its own


class Unfit(ValueError):
    """What is wrong with the arrays of a file."""


def holds_relations(path: Path) -> bool:
    """Whether a file is an NPZ file with relations."""
    if path.suffix.lower() != ".npz":
        return False
    with np.load(path, allow_pickle=False) as file:
        return any(name.startswith("rel_") for name in file.files)


def read_side(path: Path) -> HeteroNetwork:
    """The side information of an NPZ file; a relation that has no name in it is called "to"."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files if re.fullmatch(r"target|(rel_|n_).*|.*_ids", name)}
    lacking = "relations, arrays rel_SOURCE_TARGET" if not _relations(arrays) else "an array 'target'"
    if not _relations(arrays) or "target" not in arrays:
        raise ValueError(f"{path.name} lacks {lacking}, so that it holds no side information; name a TOML file.")
    try:
        return take_side(arrays)
    except Unfit as error:
        raise ValueError(f"{path.name} has no relations that can be read: {error}.") from None


def take_side(arrays: dict[str, NDArray], words: Mapping[str, str] = MappingProxyType({})) -> HeteroNetwork:
    """The network of the relations in `arrays`, which are taken out of them; `words` are names of those without one.

    Pairs within a type whose first number is always the smaller one say nothing of a direction, so that these links
    lead both ways.
    """
    target = str(arrays.pop("target"))
    counted = [
        key for key in arrays if key.startswith("n_") and arrays[key].size == 1 and arrays[key].dtype.kind in "iu"
    ]
    counts = {key.removeprefix("n_"): int(arrays.pop(key).item()) for key in counted}
    if target not in counts:
        raise Unfit(f"its target {target!r} is none of its types of nodes, which are {listed(list(counts))}")
    relations = {}
    for name in _relations(arrays):
        source, end, word = _ends(name.removeprefix("rel_"), counts)
        links = ones(arrays.pop(name), (counts[source], counts[end]), name)
        one_way = source != end or sp.tril(links).nnz
        key = source, word or words.get(name.removeprefix("rel_"), NAMELESS), end
        relations[key] = binary(links if one_way else links + links.T)
    related = dict.fromkeys(kind for source, _, end in relations for kind in (source, end))
    ids = {kind: arrays.pop(f"{kind}_ids") for kind in related if f"{kind}_ids" in arrays}
    try:
        return HeteroNetwork(relations, target=target, names=ids)
    except ValueError as error:
        raise Unfit(str(error).removesuffix(".")) from error


def _relations(arrays: Mapping[str, NDArray]) -> list[str]:
    return [name for name in arrays if name.startswith("rel_")]


def _ends(relation: str, counts: dict[str, int]) -> tuple[str, str, str | None]:
    """The two types of a relation, and its name where it has one."""
    for source in counts:
        for target in counts:
            match = re.fullmatch(rf"{re.escape(source)}_{re.escape(target)}(?:_(\w+))?", relation)
            if match:
                return source, target, match[1]
    raise Unfit(f"the relation 'rel_{relation}' must name two of its types of nodes, which are {listed(list(counts))}")


def ones(pairs: NDArray, shape: tuple[int, int], name: str) -> Matrix:
    """A matrix with the number of times that each pair stands in an array."""
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise Unfit(f"{name!r} must hold pairs of row numbers, but is of type {pairs.dtype} and shape {pairs.shape}")
    if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= shape).any()):
        raise Unfit(f"{name!r} has numbers outside of its {shape[0]} x {shape[1]} nodes")
    return sp.csr_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape)


def binary(links: Matrix) -> Matrix:
    links = sp.csr_matrix(links)
    links.sort_indices()
    links.data[:] = 1.0
    return links


def listed(values: list[Any], most: int = 8) -> str:
    shown = ", ".join(map(str, values[:most]))
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"

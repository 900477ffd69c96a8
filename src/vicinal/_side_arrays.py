"""Relations as the NPZ files of data sets hold them: pairs of numbers of nodes, and how many nodes each type has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
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
    """The side information of an NPZ file, the types without names; a relation without one is called "to".

    Pairs within a type whose first number is always the smaller one say nothing of a direction, so that these links
    lead both ways.
    """
    with np.load(path, allow_pickle=False) as file:
        wanted = [name for name in file.files if name == "target" or name.startswith(("rel_", "n_"))]
        arrays = {name: file[name] for name in wanted}
    try:
        relations, _, target = take_relations(arrays)
    except Unfit as error:
        raise ValueError(f"{path.name} has no relations that can be read: {error}.") from None
    if relations is None or target is None:
        lacking = "relations, arrays rel_SOURCE_TARGET" if relations is None else "an array 'target'"
        raise ValueError(f"{path.name} lacks {lacking}, so that it holds no side information; name a TOML file.")
    return side_of(relations, target)


def side_of(relations: Mapping[tuple[str, ...], Matrix], target: str) -> HeteroNetwork:
    """A network of relations by (source, target) or (source, target, name)."""
    named: dict[tuple[str, str, str], Any] = {}
    for (source, end, *name), links in relations.items():
        one_way = source != end or sp.tril(links).nnz
        named[source, name[0] if name else NAMELESS, end] = links if one_way else binary(links + links.T)
    return HeteroNetwork(named, target=target)


def take_relations(
    arrays: dict[str, NDArray],
) -> tuple[dict[tuple[str, ...], Matrix] | None, dict[str, int] | None, str | None]:
    """Relations by (source, target), or by (source, target, kind) where their names have a third part."""
    named = [key for key in arrays if key.startswith("rel_")]
    if not named:
        return None, None, None
    counted = [
        key for key in arrays if key.startswith("n_") and arrays[key].size == 1 and arrays[key].dtype.kind in "iu"
    ]
    counts = {key.removeprefix("n_"): int(arrays.pop(key).item()) for key in counted}
    relations = {}
    for name in named:
        key = _ends(name.removeprefix("rel_"), counts)
        relations[key] = binary(ones(arrays.pop(name), (counts[key[0]], counts[key[1]]), name))
    target = str(arrays.pop("target")) if "target" in arrays else None
    if target is not None and target not in counts:
        raise Unfit(f"its target {target!r} is none of its types of nodes, which are {listed(list(counts))}")
    return relations, counts, target


def _ends(relation: str, counts: dict[str, int]) -> tuple[str, ...]:
    for source in counts:
        for target in counts:
            match = re.fullmatch(rf"{re.escape(source)}_{re.escape(target)}(?:_(\w+))?", relation)
            if match:
                return (source, target) if match[1] is None else (source, target, match[1])
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

"""Pictures beside a CSV: arrays and words in one NPZ file, so that a report needs neither the data nor a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._page import FeatureImage, FeatureImages, Section, Voronoi, VoronoiPanel
from .._writing import replacing

KINDS = {kind.__name__: kind for kind in (FeatureImage, FeatureImages, Section, Voronoi, VoronoiPanel)}


def picture_path(results: Path) -> Path:
    return results.with_suffix(".pictures.npz")


def write_pictures(path: Path, section: Section) -> None:
    """A section with its pictures; it appears whole or not at all."""
    arrays: list[NDArray] = []
    words = json.dumps(_plain(section, arrays))
    with replacing(path, force=True) as beside, beside.open("wb") as stream:
        contents: dict[str, Any] = {f"array{k}": array for k, array in enumerate(arrays)}
        np.savez_compressed(stream, words=np.array(words), **contents)


def read_pictures(path: Path) -> Section:
    with np.load(path, allow_pickle=False) as file:
        return _record(json.loads(str(file["words"])), file)


def _plain(value: Any, arrays: list[NDArray]) -> Any:
    """Records as dicts with their kind, arrays as their number."""
    if type(value).__name__ in KINDS:
        fields = {name: _plain(item, arrays) for name, item in vars(value).items()}
        return {"kind": type(value).__name__, "fields": fields}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1}
    return [_plain(item, arrays) for item in value] if isinstance(value, tuple | list) else value


def _record(value: Any, file: Any) -> Any:
    if isinstance(value, dict) and "array" in value:
        return file[f"array{value['array']}"]
    if isinstance(value, dict):
        return KINDS[value["kind"]](**{name: _record(item, file) for name, item in value["fields"].items()})
    return tuple(_record(item, file) for item in value) if isinstance(value, list) else value

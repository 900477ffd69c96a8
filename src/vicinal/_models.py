"""Models on disk, saved by skops, which runs no code of a file that it loads."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from . import link
from ._files import first_line
from ._optional import need
from ._preparation import RangeScaler, Unscaled
from ._writing import replacing
from .link import LinkPredictor
from .local import ForestCells, RandLocal, SampledLandmarks
from .model import LocalClassifier, LocalLinearClassifier, LocalLinearRegressor, LocalRegressor
from .outlier import LocalOutlierDetector

_KINDS: list[type] = [
    *(RandLocal, SampledLandmarks, ForestCells, LocalOutlierDetector, RangeScaler, Unscaled),
    *(LocalClassifier, LocalRegressor, LocalLinearClassifier, LocalLinearRegressor),
    *(kind for kind in vars(link).values() if isinstance(kind, type)),
]
# What a saved model may contain beyond what skops trusts by itself.
TRUSTED = (
    *(f"{kind.__module__}.{kind.__name__}" for kind in _KINDS),
    "vicinal.model._maps.ColumnsAndRanks",
    "vicinal.model._maps.KernelAtRows",
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "scipy.sparse._csr.csr_matrix",
    "scipy.sparse._csr.csr_array",
)


def save_model(path: Path, model: Any, *, force: bool) -> None:
    skops = need("skops.io", "to save models")
    with replacing(path, force=force) as beside:
        skops.dump(model, beside)


def load_model(path: Path) -> Pipeline:
    """A model of `vicinal transform`."""
    model = _load(path)
    if not isinstance(model, Pipeline) or not isinstance(model[-1], RandLocal):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that `vicinal transform` saved.")
    return model


def load_pipeline(path: Path) -> Pipeline:
    """A pipeline with anything after its map: one that `skops.io.dump` or `vicinal transform` saved."""
    model = _load(path)
    if not isinstance(model, Pipeline):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, not a pipeline; save one with skops.io.dump, such as "
            "make_pipeline(StandardScaler(), RandLocal(), LinearSVC()).fit(X, y)."
        )
    return model


def load_predictor(path: Path) -> LocalClassifier | LocalRegressor:
    """A model of `vicinal fit`."""
    model = _load(path)
    if not isinstance(model, LocalClassifier | LocalRegressor):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that `vicinal fit` saved.")
    return model


def load_detector(path: Path) -> Pipeline:
    """A model of `vicinal outliers`, or another pipeline that ends in a LocalOutlierDetector."""
    model = _load(path)
    if not isinstance(model, Pipeline) or not isinstance(model[-1], LocalOutlierDetector) or len(model) < 2:
        held = type(model[-1] if isinstance(model, Pipeline) else model).__name__
        raise ValueError(f"{path} holds a {held}, not a model that `vicinal outliers` saved.")
    return model


def load_link_model(path: Path) -> LinkPredictor:
    """A model of `vicinal links`."""
    model = _load(path)
    if not isinstance(model, LinkPredictor) or not hasattr(model, "names_"):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that `vicinal links` saved.")
    return model


def _load(path: Path) -> Any:
    """What `save_model` saved. Types that it should not contain are refused, never loaded."""
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    skops = need("skops.io", "to load models")
    try:
        strangers = set(skops.get_untrusted_types(file=path)) - set(TRUSTED)
        if strangers:
            raise ValueError(f"{path} contains what a model of vicinal does not: {', '.join(sorted(strangers))}.")
        return skops.load(path, trusted=list(TRUSTED))
    except (zipfile.BadZipFile, zlib.error, json.JSONDecodeError, KeyError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a whole model file of vicinal: {first_line(error)}") from error

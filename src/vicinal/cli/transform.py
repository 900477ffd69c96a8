"""The command `vicinal transform`: RandLocal features of a file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Parameter

from ._arguments import Drop, Force, Jobs, Output, Target, check_jobs, image_shape

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal transform` takes.

    Parameters
    ----------
    output
        Where the features go: .npz (SciPy's sparse format) or .svm, .libsvm, .svmlight.
    model
        A saved model to apply; nothing is fitted then.
    save_model
        Where to save the fitted model (.skops).
    groups
        Groups, which is the number of non-zeros per row (default 400).
    neighbors
        Nearest anchors per group (default 1).
    task
        What the features are for (default supervised).
    metric
        Distance (default euclidean).
    subspace
        How a group's columns are drawn (default random).
    image_shape
        HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, where subspace is image.
    norm
        l2 scales rows to unit length (default none).
    seed
        Fixes all draws (default 0).
    """

    output: Output
    target: Target = None
    drop: Drop = ()
    model: Path | None = None
    save_model: Path | None = None
    groups: int | None = None
    neighbors: int | None = None
    task: Literal["supervised", "unsupervised"] | None = None
    metric: Literal["euclidean", "manhattan", "cosine"] | None = None
    subspace: Literal["random", "correlated", "image"] | None = None
    image_shape: str | None = None
    norm: Literal["l2", "none"] | None = None
    seed: int | None = None
    jobs: Jobs = None
    force: Force = False


def transform(file: Path, /, *, options: Options) -> None:
    """Write RandLocal features of a table: fitted on it, or by a saved model.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .. import _files
    from .._calls import watching
    from .._models import load_model, save_model
    from .._preparation import check_table, describe_columns
    from ._saved_columns import check_columns
    from ._terminal import Steps, note

    parameters = _parameters(options)
    _check_outputs(options)
    pipeline = load_model(options.model) if options.model is not None else None
    n_columns = pipeline[0].n_features_in_ if pipeline is not None else None
    table = _files.read_table(file, target=options.target, drop=options.drop, n_columns=n_columns)
    start = time.perf_counter()
    X = check_table(table.X)
    with Steps(total=1, doing="nearest anchors") as progress, watching(progress.share):
        if pipeline is None:
            pipeline, features = _fitted(X, parameters, options.jobs)
        else:
            check_columns(pipeline, X, file, options.model)
            pipeline[-1].n_jobs = options.jobs
            features = pipeline.transform(X)
    seconds = time.perf_counter() - start
    _files.write_features(options.output, features, table.y, force=options.force)
    if options.save_model is not None:
        pipeline[-1].n_jobs = None
        save_model(options.save_model, pipeline, force=options.force)
    note(
        f"{file.name}: {features.shape[0]:,} rows; {describe_columns(table.X)}. {features.shape[1]:,} features, "
        f"{features.nnz / features.shape[0]:.0f} non-zeros per row, in {seconds:.1f} s: {options.output}"
    )


def _parameters(options: Options) -> dict[str, Any]:
    """RandLocal's parameters that were given."""
    parameters: dict[str, Any] = {
        "n_groups": options.groups,
        "n_neighbors": options.neighbors,
        "task": options.task,
        "metric": options.metric,
        "subspace": options.subspace,
        "image_shape": image_shape(options.image_shape),
        "norm": options.norm,
        "random_state": options.seed,
    }
    parameters = {name: value for name, value in parameters.items() if value is not None}
    if options.model is not None and (parameters or options.save_model):
        raise ValueError("A saved model brings its own parameters: leave out the others beside --model.")
    if parameters.get("norm") == "none":
        parameters["norm"] = None
    return parameters


def _check_outputs(options: Options) -> None:
    from .. import _files
    from .._writing import check_free

    _files.check_feature_file(options.output)
    for path in (options.output, options.save_model):
        if path is not None:
            check_free(path, force=options.force)
    check_jobs(options.jobs)


def _fitted(X: Any, parameters: dict[str, Any], jobs: int | None) -> tuple[Pipeline, Any]:
    from sklearn.pipeline import make_pipeline

    from .._preparation import make_preparation
    from ..local import RandLocal

    pipeline = make_pipeline(make_preparation(X), RandLocal(**{"random_state": 0, **parameters}, n_jobs=jobs))
    return pipeline, pipeline.fit_transform(X)

"""The command `vicinal fit`: a model of a file's target, saved for `vicinal predict`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ._arguments import Drop, Force, Jobs, Target, check_jobs, image_shape

FEW_VALUES = 20  # whole numbers with at most so many different ones are classes


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal fit` takes.

    Parameters
    ----------
    save_model
        Where the fitted model goes (.skops).
    task
        Whether the target is a class or a number. By default text, truth values and whole numbers of at most 20
        different values are classes.
    budget
        Time for the fit, such as 90s, 5m or 1h; where it is short, fewer settings are tried.
    image_shape
        HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, if rows are images.
    seed
        Fixes all draws.
    """

    save_model: Path
    target: Target = None
    drop: Drop = ()
    task: Annotated[Literal["classes", "numbers"] | None, Parameter(show_default=False)] = None
    budget: str = "5m"
    image_shape: str | None = None
    seed: int = 0
    jobs: Jobs = None
    force: Force = False


def fit(file: Path, /, *, options: Options) -> None:
    """Learn to predict a column from the others, with settings that choose themselves.

    The model is a LocalClassifier, or of numbers a LocalRegressor: cells around anchors, leaves of trees, a kernel and
    plain columns, tried on rows that they have not learned from.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._calls import watching
    from .._files import read_table
    from .._models import save_model
    from .._preparation import describe_columns
    from ._model_tables import parts_table, quality
    from ._terminal import Steps, note, say, show, telling_warnings

    _check(options)
    table = read_table(file, target=options.target, drop=options.drop, need_target=True)
    assert table.y is not None
    classes = options.task == "classes" or (options.task is None and is_class(table.y))
    model = _model(classes, options)
    kind = "its classes" if classes else "a number"
    note(f"{file.name}: {table.X.shape[0]:,} rows; {describe_columns(table.X)}; target {table.target!r}, {kind}.")
    start = time.perf_counter()
    with telling_warnings(), Steps(total=1, doing="choosing and fitting") as progress, watching(progress.share):
        model.fit(table.X, table.y.astype(str) if table.y.dtype == object else table.y)
    seconds = time.perf_counter() - start
    model.target_name_ = table.target
    model.n_jobs = None
    save_model(options.save_model, model, force=options.force)
    show(parts_table(model))
    say(f"{quality(model)} Fitted in {seconds:.1f} s: {options.save_model}", wrap=False)


def is_class(y: Any) -> bool:
    """Whether a target looks like a class rather than a number.

    >>> import numpy as np
    >>> [is_class(np.array(y)) for y in (["a", "b"], [1.5, 2.0], [1.0, 2.0], range(50))]
    [True, False, True, False]
    """
    import numpy as np

    if y.dtype.kind not in "iuf":
        return True
    values = np.unique(y)
    return len(values) <= FEW_VALUES and bool((values == np.round(values)).all())


def _check(options: Options) -> None:
    """Refuses what can be refused before the file is read."""
    from .._validation import check_count
    from .._writing import check_free
    from ..model import seconds_of

    check_jobs(options.jobs)
    check_count("--seed", options.seed, least=0)
    seconds_of(options.budget)
    if options.save_model.suffix != ".skops":
        raise ValueError(f"Models are saved as .skops; {options.save_model.name} ends otherwise.")
    check_free(options.save_model, force=options.force)


def _model(classes: bool, options: Options) -> Any:
    from ..model import LocalClassifier, LocalRegressor

    return (LocalClassifier if classes else LocalRegressor)(
        budget=options.budget,
        image_shape=image_shape(options.image_shape),
        random_state=options.seed,
        n_jobs=options.jobs,
    )

"""The command `vicinal predict`: what a saved model says of a file's rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from ._arguments import Drop, Flag, Force, Jobs, Output, check_jobs

MOST_CLASSES = 100  # whose probabilities are written


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal predict` takes.

    Parameters
    ----------
    model
        A model that `vicinal fit` saved.
    output
        Where the rows go, in their order, with what is predicted: .csv, .tsv or .parquet.
    probabilities
        Write a column with the probability of each class, too.
    """

    model: Path
    output: Output
    drop: Drop = ()
    probabilities: Flag = False
    jobs: Jobs = None
    force: Force = False


def predict(file: Path, /, *, options: Options) -> None:
    """Predict a column of a table by a saved model.

    If the table has that column, what is predicted is compared with it.

    Parameters
    ----------
    file
        A table with the columns that the model was fitted on; others are carried over.
    """
    from .._files import check_frame_file, read_table, write_frame
    from .._models import load_predictor
    from .._writing import check_free
    from ._model_tables import compared
    from ._saved_columns import check_columns
    from ._scored_rows import rows_with
    from ._terminal import note, say

    check_jobs(options.jobs)
    check_frame_file(options.output)
    check_free(options.output, force=options.force)
    model = load_predictor(options.model)
    if options.probabilities and not hasattr(model, "predict_proba"):
        raise ValueError(f"{options.model} predicts numbers, which have no --probabilities.")
    table = read_table(file, drop=options.drop, whole_target=False, n_columns=model.n_features_in_)
    check_columns([model], table.X, file, options.model)
    names = getattr(model, "feature_names_in_", None)
    X = table.X if names is None else table.X.select(list(names))
    start = time.perf_counter()
    model.n_jobs = options.jobs
    columns = _predicted(model, X, probabilities=options.probabilities)
    seconds = time.perf_counter() - start
    rows, left_out = rows_with(table, columns)
    write_frame(options.output, rows, force=options.force)
    if left_out:
        note(f"{options.output.name} has the rows' numbers and predictions, without their {left_out:,} columns.")
    told = f"{file.name}: {X.shape[0]:,} rows predicted in {seconds:.1f} s: {options.output}"
    say("\n".join(filter(None, (compared(model, table, columns), told))), wrap=False)


def _predicted(model: Any, X: Any, *, probabilities: bool) -> dict[str, Any]:
    """The columns that are added, by their names."""
    name = f"predicted_{model.target_name_}" if getattr(model, "target_name_", "") else "predicted"
    if not probabilities:
        return {name: model.predict(X)}
    if len(model.classes_) > MOST_CLASSES:
        raise ValueError(
            f"The model knows {len(model.classes_):,} classes; --probabilities writes at most {MOST_CLASSES} columns."
        )
    chances = model.predict_proba(X)
    shares = {f"probability_{label}": part for label, part in zip(model.classes_.tolist(), chances.T, strict=True)}
    return {name: model.classes_[chances.argmax(axis=1)], **shares}

"""The command `vicinal explain`: the reasons for what a saved model says of a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ._arguments import Drop

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from .._files import Table

WIDEST = 100


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal explain` takes.

    Parameters
    ----------
    row
        Which row of the table, counted from 0, as pandas does.
    class_
        The class to explain (default: the predicted one); of a model of several numbers, which of them, from 0.
    training
        The table that the model was fitted on, to show the classes of its rows; needs --target.
    target
        The column of that table with the classes; in NPZ files the array (default y), in NPY files the column's number.
    """

    row: int
    class_: Annotated[str | None, Parameter(name="--class")] = None
    training: Path | None = None
    target: str | None = None
    drop: Drop = ()


def explain(model: Path, file: Path, /, *, options: Options) -> None:
    """Why does a saved model say this of a row? Training rows and columns, with their shares.

    A model is made in Python: skops.io.dump(make_pipeline(StandardScaler(), RandLocal(), LinearSVC()).fit(X, y),
    "model.skops"), with any linear model in place of LinearSVC. Of a model without one, as `vicinal transform` saves,
    the training rows that the row is nearest to are shown; of one that `vicinal outliers` saved, what makes the row
    strange.

    Parameters
    ----------
    model
        The saved model (.skops).
    file
        A table with the columns that the model was fitted on; others are ignored where columns have names.
    """
    import numpy as np

    from .. import _files
    from .._models import load_pipeline
    from .._preparation import check_table, take_rows
    from ..explain import explain as explained
    from ._terminal import say, width

    if options.target is not None and options.training is None:
        raise ValueError("--target is a column of the table that the model was fitted on; name that with --training.")
    pipeline = load_pipeline(model)
    table = _files.read_table(file, drop=options.drop, n_columns=getattr(pipeline, "n_features_in_", None))
    n_rows = table.X.shape[0]
    if not 0 <= options.row < n_rows:
        raise ValueError(f"{file.name} has {n_rows:,} rows, counted from 0: --row {options.row} is not one of them.")
    y_train = _labels(options)
    rows = check_table(take_rows(_matched(pipeline, table, file, model), [options.row]))
    explanation = explained(
        pipeline, rows, class_=_class(pipeline, options.class_), y_train=y_train, column_names=_names(pipeline, table)
    )
    say(replace(explanation, rows=np.array([options.row])).to_text(min(width(), WIDEST)), wrap=False)


def _matched(pipeline: Pipeline, table: Table, file: Path, model: Path) -> Any:
    """The table's columns as the model knows them: by their names, or by their number where it knows no names."""
    from .._preparation import is_frame

    names = getattr(pipeline, "feature_names_in_", None)
    if names is not None:
        if not is_frame(table.X):
            raise ValueError(f"{model} was fitted on named columns; those of {file.name} have no names.")
        lacking = [name for name in names if name not in table.X.columns]
        if lacking:
            raise ValueError(f"{file.name} lacks columns that {model} was fitted on: {', '.join(lacking)}.")
        return table.X[list(names)]
    n_columns = getattr(pipeline, "n_features_in_", table.X.shape[1])
    if table.X.shape[1] != n_columns:
        raise ValueError(
            f"{file.name} has {table.X.shape[1]} columns; {model} was fitted on {n_columns}. "
            "Leave out columns that it does not know with --drop."
        )
    return table.X.to_numpy() if is_frame(table.X) else table.X


def _names(pipeline: Pipeline, table: Table) -> list[str] | None:
    """The file's names, where the model has none; those that are the columns' numbers are no names."""
    known = hasattr(pipeline, "feature_names_in_") or table.names == [str(j) for j in range(len(table.names))]
    return None if known else table.names


def _labels(options: Options) -> Any:
    from .. import _files

    if options.training is None:
        return None
    return _files.read_table(options.training, target=options.target, need_target=True).y


def _class(pipeline: Pipeline, text: str | None) -> Any:
    """The class that is written like that; of a model that predicts numbers, the number of one of them."""
    if text is None:
        return None
    classes = getattr(pipeline, "classes_", None)
    if classes is None:
        if not text.isdigit():
            raise ValueError(f"The model predicts numbers and knows no class {text!r}; leave out --class.")
        return int(text)
    return next((label for label in classes.tolist() if str(label) == text), text)

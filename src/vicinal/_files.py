"""Tables and models on disk: read by their ending, written beside and then renamed."""

from __future__ import annotations

import contextlib
import csv
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.pipeline import Pipeline

from ._validation import Matrix
from ._writing import replacing
from .local import RandLocal

LIBSVM = (".svm", ".libsvm", ".svmlight")
# What a saved model may contain beyond what skops trusts by itself.
TRUSTED = ("vicinal.local._randlocal.RandLocal", "scipy.sparse._csr.csr_matrix")


@dataclass
class Table:
    """Rows to learn from: a frame with named columns, a matrix or a sparse matrix; and the target if there is one."""

    X: pl.DataFrame | Matrix
    y: NDArray | None = None
    target: str = ""


def read_table(
    path: Path,
    *,
    target: str | None = None,
    drop: tuple[str, ...] = (),
    need_target: bool = False,
    n_columns: int | None = None,
) -> Table:
    """Reads CSV, TSV, Parquet, NPY, NPZ and LIBSVM files by their ending.

    Parameters
    ----------
    path, target, drop
        The file, the column (or array) to predict, and columns to leave out.
    need_target
        Whether a table without a target is refused.
    n_columns
        Columns of a LIBSVM file, which names only those that are not zero.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty.")
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise ValueError(f"{path.name} ends in {suffix!r}; known are {', '.join(sorted(_READERS))}.")
    try:
        table = _READERS[suffix](path, target, drop)
    except (pl.exceptions.PolarsError, zipfile.BadZipFile, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as {suffix}: {_first_line(error)}") from error
    if need_target and table.y is None:
        raise ValueError(f"{path.name} has no target; name its column with --target.")
    if suffix in LIBSVM and n_columns is not None and table.X.shape[1] < n_columns:
        sparse: Any = table.X
        sparse.resize(table.X.shape[0], n_columns)
    if table.X.shape[0] == 0:
        raise ValueError(f"{path} has no rows.")
    if table.X.shape[1] == 0:
        raise ValueError(f"{path} has no columns besides the target.")
    if table.y is not None:
        _check_target(table)
    return table


def _read_frame(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    if path.suffix.lower() == ".parquet":
        frame = pl.read_parquet(path, glob=False)
    else:
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        try:
            frame = pl.read_csv(
                path, separator=separator, infer_schema_length=None, null_values=["", "NA", "NaN", "nan"], glob=False
            )
        except pl.exceptions.PolarsError:
            _check_rows(path, separator)
            raise
        if frame.width and frame[:, -1].null_count():  # polars fills up rows that end too early
            _check_rows(path, separator)
    for column in (*drop, *([target] if target is not None else [])):
        if column not in frame.columns:
            raise ValueError(f"{path.name} has no column {column!r}; its columns are {_listed(frame.columns)}.")
    if target is None:
        return Table(frame.drop(drop))
    y = frame[target]
    return Table(frame.drop([target, *drop]), y.to_numpy() if y.dtype.is_numeric() else _as_objects(y), target)


def _check_rows(path: Path, separator: str) -> None:
    """Refuses the first row that has not as many fields as the header, with its line number."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.reader(file, delimiter=separator, strict=True)
        try:
            width = len(next(reader))
            for row in reader:
                if row and len(row) != width:
                    raise ValueError(
                        f"{path}, line {reader.line_num}: {len(row)} field{'s' * (len(row) != 1)}, but the header has "
                        f"{width}; repair or remove that row."
                    )
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}; repair or remove that row.") from error


def _read_npy(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    with _whole_arrays(path):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    X = _as_matrix(array, path)
    if target is None:
        return Table(_without(X, drop, path))
    column = _column_number(target, X.shape[1], path)
    return Table(_without(X, (*drop, str(column)), path), np.array(X[:, column]), f"column {column}")


def _read_npz(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    with _whole_arrays(path), np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    name = target or "y"
    if target is not None and target not in arrays:
        raise ValueError(f"{path.name} has no array {target!r}; its arrays are {_listed(list(arrays))}.")
    if {"data", "indices", "indptr", "shape"} <= arrays.keys():
        with _whole_arrays(path):
            kind = sp.csc_matrix if arrays.get("format", np.array(b"csr")).item() == b"csc" else sp.csr_matrix
            X = kind((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
            X.check_format(full_check=True)
            X = X.tocsr()
    elif "X" in arrays:
        X = _as_matrix(arrays["X"], path)
    else:
        raise ValueError(
            f"{path.name} has neither an array 'X' nor the parts of a CSR matrix; "
            f"its arrays are {_listed(list(arrays))}."
        )
    y = arrays.get(name)
    if y is not None and y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: {name!r} has the shape {y.shape}, but X has {X.shape[0]} rows.")
    return Table(_without(X, drop, path), y, name if y is not None else "")


def _read_libsvm(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    if target is not None:
        raise ValueError(f"In {path.name}, as in any LIBSVM file, each row starts with the target; leave out --target.")
    X, y = load_svmlight_file(str(path))
    return Table(_without(X, drop, path), y, "label")


_READERS: dict[str, Callable[[Path, str | None, tuple[str, ...]], Table]] = {
    ".csv": _read_frame,
    ".tsv": _read_frame,
    ".parquet": _read_frame,
    ".npy": _read_npy,
    ".npz": _read_npz,
    **dict.fromkeys(LIBSVM, _read_libsvm),
}


def _check_target(table: Table) -> None:
    y = table.y
    assert y is not None
    missing = np.isnan(y) if y.dtype.kind == "f" else np.array([value is None for value in y])
    if missing.any():
        raise ValueError(
            f"The target {table.target!r} is missing in {missing.sum()} of {len(y)} rows, the first of them row "
            f"{np.flatnonzero(missing)[0] + 1}; fill it in or remove those rows."
        )


@contextlib.contextmanager
def _whole_arrays(path: Path) -> Iterator[None]:
    """A damaged file can raise almost anything, from the depths of NumPy, zip and zlib."""
    try:
        yield
    except Exception as error:
        raise ValueError(f"{path} is not a whole file of NumPy arrays.") from error


def _as_objects(column: pl.Series) -> NDArray:
    return np.array(column.cast(pl.String).to_list(), dtype=object)


def _as_matrix(X: NDArray, path: Path) -> NDArray:
    if X.ndim != 2:
        raise ValueError(f"{path.name} must hold a matrix (rows x columns); its array has {X.ndim} dimension(s).")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path.name} must hold numbers; its array is of type {X.dtype}.")
    return X


def _column_number(name: str, n_columns: int, path: Path) -> int:
    try:
        number = int(name)
    except ValueError:
        number = n_columns
    if not -n_columns <= number < n_columns:
        raise ValueError(f"{path.name} has no column {name!r}; its columns are numbered from 0 to {n_columns - 1}.")
    return number % n_columns


def _without(X: Any, drop: tuple[str, ...], path: Path) -> Any:
    if not drop:
        return X
    gone = {_column_number(name, X.shape[1], path) for name in drop}
    return X[:, [j for j in range(X.shape[1]) if j not in gone]]


def _listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".") + "."


def check_feature_file(path: Path) -> None:
    if path.suffix.lower() not in (".npz", *LIBSVM):
        raise ValueError(
            f"Features are sparse: {path.name} must end in .npz (SciPy's format) or {', '.join(LIBSVM)}, "
            f"not {path.suffix!r}."
        )


def write_features(path: Path, features: sp.csr_matrix, y: NDArray | None, *, force: bool) -> None:
    """CSR features as SciPy's NPZ (with the target, if any, as the array y) or as LIBSVM text."""
    check_feature_file(path)
    with replacing(path, force=force) as beside:
        if path.suffix.lower() == ".npz":
            arrays = {"data": features.data, "indices": features.indices, "indptr": features.indptr}
            if y is not None:
                arrays["y"] = y.astype(str) if y.dtype == object else y
            with beside.open("wb") as file:  # given a name, savez would add an ending of its own
                np.savez(file, format=np.array(b"csr"), shape=np.array(features.shape), **arrays)
        else:
            if y is not None and y.dtype.kind not in "biuf":
                raise ValueError("LIBSVM files hold numbers only, but the target is text; write .npz instead.")
            labels = np.zeros(features.shape[0]) if y is None else y
            dump_svmlight_file(features, labels, str(beside), zero_based=False)


def save_model(path: Path, model: Any, *, force: bool) -> None:
    import skops.io  # takes most of a second

    with replacing(path, force=force) as beside:
        skops.io.dump(model, beside)


def load_model(path: Path) -> Any:
    """A model saved by `save_model`. Types that it should not contain are refused, never loaded."""
    import skops.io

    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    try:
        strangers = set(skops.io.get_untrusted_types(file=path)) - set(TRUSTED)
        if strangers:
            raise ValueError(f"{path} contains what a model of vicinal does not: {', '.join(sorted(strangers))}.")
        model = skops.io.load(path, trusted=list(TRUSTED))
    except (zipfile.BadZipFile, zlib.error, json.JSONDecodeError, KeyError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a whole model file of vicinal: {_first_line(error)}") from error
    if not isinstance(model, Pipeline) or not isinstance(model[-1], RandLocal):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model that `vicinal transform` saved.")
    return model

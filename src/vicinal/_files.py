"""Tables on disk: read by their ending, written beside and then renamed."""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from ._optional import need
from ._preparation import is_frame
from ._validation import Matrix
from ._writing import replacing

if TYPE_CHECKING:
    import polars as pl

LIBSVM = (".svm", ".libsvm", ".svmlight")
FRAMES = (".csv", ".tsv", ".parquet")
TABLES = (*FRAMES, ".npz")
CSR_PARTS = ("data", "indices", "indptr", "shape")
COLUMN_NAMES = ("columns", "feature_names", "terms")  # arrays of an NPZ file that name the columns; we write the first
ROW_NAMES = "names"  # the array of an NPZ file that names the rows


@dataclass
class Table:
    """Rows to learn from: a frame with named columns, a matrix or a sparse matrix; and the target if there is one.

    `names` are the names of the columns of X, or their numbers where the file has no names; `row_names` those of the
    rows, where an NPZ file has them. `frame` is the frame as it was read, with the target in its own type. `views` are
    the columns of each view, where an NPZ file has several.
    """

    X: pl.DataFrame | Matrix
    y: NDArray | None = None
    target: str = ""
    names: list[str] = field(default_factory=list)
    frame: pl.DataFrame | None = None
    row_names: list[str] = field(default_factory=list)
    views: dict[str, NDArray[np.intp]] = field(default_factory=dict)


def read_table(
    path: Path,
    *,
    target: str | None = None,
    drop: tuple[str, ...] = (),
    need_target: bool = False,
    whole_target: bool = True,
    n_columns: int | None = None,
) -> Table:
    """Reads CSV, TSV, Parquet, NPY, NPZ and LIBSVM files by their ending.

    Parameters
    ----------
    path, target, drop
        The file, the column (or array) to predict, and columns to leave out.
    need_target
        Whether a table without a target is refused.
    whole_target
        Whether a target that is missing in some rows is refused.
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
    except UnicodeDecodeError as error:
        raise _unreadable(path, error) from error
    if need_target and table.y is None:
        raise ValueError(f"{path.name} has no target; name its column with --target.")
    if suffix in LIBSVM and n_columns is not None and table.X.shape[1] < n_columns:
        sparse: Any = table.X
        sparse.resize(table.X.shape[0], n_columns)
    if table.X.shape[0] == 0:
        raise ValueError(f"{path} has no rows.")
    if table.X.shape[1] == 0:
        raise ValueError(f"{path} has no columns besides the target.")
    if table.y is not None and whole_target:
        _check_target(table)
    return table


def _read_frame(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    pl = need("polars", "to read tables")
    try:
        frame = pl.read_parquet(path, glob=False) if path.suffix.lower() == ".parquet" else _read_csv(path, pl)
    except pl.exceptions.PolarsError as error:
        raise _unreadable(path, error) from error
    for column in (*drop, *([target] if target is not None else [])):
        if column not in frame.columns:
            raise ValueError(f"{path.name} has no column {column!r}; its columns are {listed(frame.columns)}.")
    if target is None:
        X = frame.drop(drop)
        return Table(X, names=X.columns, frame=frame)
    X, y = frame.drop([target, *drop]), frame[target]
    return Table(X, y.to_numpy() if y.dtype.is_numeric() else _as_objects(y), target, X.columns, frame)


def _read_csv(path: Path, pl: Any) -> pl.DataFrame:
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
    return frame


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
        return _as_table(X, None, "", _numbers(X), drop, path)
    column = _column_number(target, _numbers(X), path)
    return _as_table(X, np.array(X[:, column]), f"column {column}", _numbers(X), (*drop, str(column)), path)


def _read_npz(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    with _whole_arrays(path), np.load(path, allow_pickle=False) as file:
        given = list(file.files)
        prefix = next((start for start in ("", "X_") if {start + part for part in CSR_PARTS} <= set(given)), None)
        parts = [] if prefix is None else [prefix + part for part in CSR_PARTS]
        arrays = {name: file[name] for name in ("X", "format", *parts, target or "y") if name in given}
        labels = [_text_array(file, name) for name in COLUMN_NAMES if name in given]
        row_names = _text_array(file, ROW_NAMES, "Uiu") if ROW_NAMES in given else []
    name = target or "y"
    if target is not None and target not in arrays:
        raise ValueError(f"{path.name} has no array {target!r}; its arrays are {listed(given)}.")
    if prefix is not None:
        with _whole_arrays(path):
            kind = sp.csc_matrix if arrays.get("format", np.array(b"csr")).item() == b"csc" else sp.csr_matrix
            X = _csr({part: arrays[prefix + part] for part in CSR_PARTS}, kind)
    elif "X" in arrays:
        X = _as_matrix(arrays["X"], path)
    elif views := sorted(int(found[1]) for array in given if (found := re.fullmatch(r"view(\d+)_indptr", array))):
        return _read_views(path, views, target, drop)
    else:
        raise ValueError(
            f"{path.name} has neither an array 'X' nor the parts of a CSR matrix; its arrays are {listed(given)}."
        )
    y = arrays.get(name)
    if y is not None and y.shape != X.shape[:1]:
        raise ValueError(f"{path.name}: {name!r} has the shape {y.shape}, but X has {X.shape[0]} rows.")
    names = next((names for names in labels if len(set(names)) == len(names) == X.shape[1]), _numbers(X))
    table = _as_table(X, y, name if y is not None else "", names, drop, path)
    table.row_names = row_names if len(row_names) == X.shape[0] else []
    return table


def _read_views(path: Path, numbers: Sequence[int], target: str | None, drop: tuple[str, ...]) -> Table:
    """A file of several CSR matrices with the same rows, as data sets have them: view1_data, view1_indices, ..."""
    with _whole_arrays(path), np.load(path, allow_pickle=False) as file:
        matrices = [_csr({part: file[f"view{k}_{part}"] for part in CSR_PARTS}) for k in numbers]
        X = sp.hstack(matrices, format="csr")
        views = _text_array(file, "view_names") if "view_names" in file.files else []
        terms = [_text_array(file, f"view{k}_terms") if f"view{k}_terms" in file.files else [] for k in numbers]
        y = file[target or "y"] if (target or "y") in file.files else None
    if len(views) != len(numbers):
        views = [f"view{k}" for k in numbers]
    names = [f"{view}:{term}" for view, own in zip(views, terms, strict=True) for term in own]
    names = names if len(set(names)) == len(names) == X.shape[1] else _numbers(X)
    table = _as_table(X, y, (target or "y") if y is not None else "", names, drop, path)
    owners = dict(zip(names, np.repeat(views, [matrix.shape[1] for matrix in matrices]).tolist(), strict=True))
    of_left = np.array([owners[name] for name in table.names])
    table.views = {view: np.flatnonzero(of_left == view) for view in views if view in of_left}
    return table


def _csr(arrays: Mapping[str, NDArray], kind: Any = sp.csr_matrix) -> sp.csr_matrix:
    data, indices, indptr, shape = (arrays[part] for part in CSR_PARTS)
    X = kind((data, indices, indptr), shape=tuple(shape))
    X.check_format(full_check=True)
    return X.tocsr()


def _read_libsvm(path: Path, target: str | None, drop: tuple[str, ...]) -> Table:
    if target is not None:
        raise ValueError(f"In {path.name}, as in any LIBSVM file, each row starts with the target; leave out --target.")
    X, y = load_svmlight_file(str(path))
    return _as_table(X, y, "label", _numbers(X), drop, path)


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
    import polars as pl

    return np.array(column.cast(pl.String).to_list(), dtype=object)


def _as_matrix(X: NDArray, path: Path) -> NDArray:
    if X.ndim != 2:
        raise ValueError(f"{path.name} must hold a matrix (rows x columns); its array has {X.ndim} dimension(s).")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path.name} must hold numbers; its array is of type {X.dtype}.")
    return X


def _text_array(file: Any, name: str, kinds: str = "U") -> list[str]:
    """An array of names; nothing if it is of another kind, or one that only pickle could read: it could run code."""
    try:
        array = file[name]
    except ValueError:
        return []
    return array.astype(str).tolist() if array.ndim == 1 and array.dtype.kind in kinds else []


def _numbers(X: Matrix) -> list[str]:
    return [str(number) for number in range(X.shape[1])]


def _column_number(name: str, names: list[str], path: Path) -> int:
    if name in names:
        return names.index(name)
    try:
        number = int(name)
    except ValueError:
        number = len(names)
    if not -len(names) <= number < len(names):
        raise ValueError(f"{path.name} has no column {name!r}; its columns are numbered from 0 to {len(names) - 1}.")
    return number % len(names)


def _as_table(X: Any, y: NDArray | None, target: str, names: list[str], drop: tuple[str, ...], path: Path) -> Table:
    """A table of the columns of a matrix that are not dropped."""
    if not drop:
        return Table(X, y, target, names)
    gone = {_column_number(name, names, path) for name in drop}
    kept = [j for j in range(X.shape[1]) if j not in gone]
    return Table(X[:, kept], y, target, [names[j] for j in kept])


def listed(names: list[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _unreadable(path: Path, error: Exception) -> ValueError:
    return ValueError(f"{path} cannot be read as {path.suffix.lower()}: {first_line(error)}")


def first_line(error: BaseException) -> str:
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
            _write_npz(beside, features, y)
        else:
            if y is not None and y.dtype.kind not in "biuf":
                raise ValueError("LIBSVM files hold numbers only, but the target is text; write .npz instead.")
            labels = np.zeros(features.shape[0]) if y is None else y
            dump_svmlight_file(features, labels, str(beside), zero_based=False)


def _write_npz(path: Path, X: Matrix, y: NDArray | None, **arrays: Any) -> None:
    """A matrix, or a CSR matrix as SciPy writes it, with the target, if any, as the array y."""
    if sp.issparse(X):
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        arrays |= {"format": np.array(b"csr"), "shape": np.array(X.shape)}
    else:
        arrays["X"] = X
    if y is not None:
        arrays["y"] = np.array(["" if value is None else str(value) for value in y]) if y.dtype == object else y
    with path.open("wb") as file:  # given a name, savez would add an ending of its own
        np.savez(file, **arrays)


def check_table_file(path: Path) -> None:
    if path.suffix.lower() not in TABLES:
        raise ValueError(f"Columns are written as {', '.join(TABLES)}; {path.name} ends in {path.suffix!r}.")


def write_columns(path: Path, table: Table, support: NDArray[np.bool_], *, force: bool) -> None:
    """Some columns of a table as they are in its file, in their order, and the target after them.

    Sparse columns stay sparse in NPZ files, where the array `columns` holds the names and `y` the target.
    """
    check_table_file(path)
    names = [name for name, kept in zip(table.names, support, strict=True) if kept]
    suffix = path.suffix.lower()
    frame = _chosen_frame(table, names, support) if suffix != ".npz" else None
    with replacing(path, force=force) as beside:
        if frame is None:
            X: Any = table.X.select(names).to_numpy() if is_frame(table.X) else table.X[:, support]
            _write_npz(beside, X, table.y, columns=np.array(names))
        else:
            _write_frame(beside, frame)


def check_frame_file(path: Path) -> None:
    if path.suffix.lower() not in FRAMES:
        raise ValueError(f"Rows are written as {', '.join(FRAMES)}; {path.name} ends in {path.suffix!r}.")


def write_frame(path: Path, columns: Mapping[str, Any], *, force: bool) -> None:
    """Columns of equal length, by their names."""
    check_frame_file(path)
    frame = need("polars", "to write tables").DataFrame(columns)
    with replacing(path, force=force) as beside:
        _write_frame(beside, frame)


def _write_frame(path: Path, frame: pl.DataFrame) -> None:
    if path.suffix.lower() == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")


def _chosen_frame(table: Table, names: list[str], support: NDArray[np.bool_]) -> pl.DataFrame:
    if table.frame is not None:
        return table.frame.select(*names, *([table.target] if table.target else []))
    pl = need("polars", "to write tables")
    X: Any = table.X[:, support]
    frame = pl.DataFrame(X.toarray() if sp.issparse(X) else np.asarray(X), schema=names, orient="row")
    target = table.target
    while target in names:
        target += "_"
    return frame if table.y is None else frame.with_columns(pl.Series(target, table.y))

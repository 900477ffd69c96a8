"""Public sources of data sets, and how what they hold takes the form of the files in VICINAL_DATA.

Labels in increasing order become the labels of the catalogue (madelon's 1 and 2, or dexter's -1 and 1, become 0 and 1;
covtype keeps 1 to 7). In outlier sets one class is the inlier and gets 0, all others get 1, and the classes themselves
are kept as ``y_class`` or ``attack``. Columns of words become numbers by the words' alphabetical order, and missing
values NaN. X has the number type that the catalogue states. Splits are kept where the order of the source shows them.
"""

from __future__ import annotations

import bz2
import hashlib
import http.client
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import (
    fetch_covtype,
    fetch_kddcup99,
    fetch_openml,
    load_breast_cancer,
    load_iris,
    load_svmlight_files,
)
from sklearn.utils import Bunch

from .._validation import Matrix
from ._catalog import Dataset

Arrays = dict[str, NDArray]

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
TIMEOUT = 60.0


class Unreachable(OSError):
    """The source did not answer."""


def source_of(entry: Dataset) -> str:
    if entry.fetcher == "ijcnn1":
        return "the LIBSVM data page"
    if entry.fetcher in _BUNDLED:
        return "scikit-learn, which includes it"
    return f"OpenML (data set {entry.openml})" if entry.openml else "the source that scikit-learn fetches from"


def fetch_arrays(entry: Dataset, work: Path) -> Arrays:
    """The arrays of a data set from its public source, checked; downloads go to the folder `work`."""
    with _one_sentence(entry):
        arrays = _SOURCES[entry.fetcher or "openml"](entry, work)
    _check(entry, arrays)
    return arrays


@contextmanager
def _one_sentence(entry: Dataset) -> Iterator[None]:
    """scikit-learn's warnings about retries are left out, and its many errors become one of three."""
    try:
        with warnings.catch_warnings():
            for message in ("A network error occurred", "Retry", "Invalid cache", "Downloaded file could"):
                warnings.filterwarnings("ignore", message=message)
            yield
    except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise Unreachable(_reason(error)) from error
    except MemoryError:
        raise
    except Exception as error:  # beside ValueError: those of gzip, zlib and the ARFF parser
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(f"{entry.name} could not be stored: {error.strerror}.") from error
        raise ValueError(
            f"{entry.name} from {source_of(entry)} was refused, and nothing stored: {_first_line(error)}"
        ) from error


def _from_openml(entry: Dataset, work: Path) -> Arrays:
    has_frames = _has_pandas() and entry.nonzeros is None
    if entry.drop and not has_frames:
        raise ValueError("reading its columns of text needs pandas; install it.")
    bunch = fetch_openml(
        data_id=entry.openml,
        data_home=str(work),
        as_frame=has_frames,
        parser="pandas" if has_frames else "liac-arff",
        # types as pandas finds them: the categories that scikit-learn asks for are not words in every version of pandas
        read_csv_kwargs={"dtype": None} if has_frames else None,
    )
    arrays: Arrays = {}
    if entry.nonzeros is None:
        names = [name for name in bunch.feature_names if name not in entry.drop]
        columns = _columns(bunch, names)
        arrays["X"] = np.empty((len(bunch.target), len(names)), dtype=entry.dtype)
        for j, (name, values) in enumerate(zip(names, columns, strict=True)):
            if values.dtype.kind not in "biuf":
                values, levels = _codes(values)
                if levels is not None:
                    arrays[f"levels_{name}"] = levels
            arrays["X"][:, j] = _as_type(values, entry)
        arrays["feature_names"] = np.array(names, dtype=str)
    else:
        X = sp.csr_matrix(bunch.data)
        X.eliminate_zeros()
        X.sort_indices()
        arrays = {"data": _as_type(X.data, entry), "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    labels = np.array([float(str(label).strip("'")) for label in bunch.target])
    if entry.inlier is not None:
        arrays["y_class"] = labels.astype(np.int64)
        labels = labels != entry.inlier
    lowest = min(entry.class_counts or {0: 0})
    arrays["y"] = np.unique(labels, return_inverse=True)[1].astype(np.int64) + lowest
    if entry.train_rows is not None:
        arrays["split"] = (np.arange(len(labels)) >= entry.train_rows).astype(np.uint8)
    return arrays


def _columns(bunch: Bunch, names: list[str]) -> Iterator[NDArray]:
    """The named columns as numbers, or as words with None for those that are missing; with pandas and without."""
    for name in names:
        if hasattr(bunch.data, "columns"):
            column = bunch.data[name]
            if column.dtype.kind in "biuf":
                yield column.to_numpy(dtype=float, na_value=np.nan)
            else:
                yield column.astype(object).where(column.notna(), None).to_numpy()
        else:
            values = bunch.data[:, bunch.feature_names.index(name)]
            levels = (bunch.categories or {}).get(name)
            yield values if levels is None else np.array([None if v != v else levels[int(v)] for v in values], object)


def _codes(words: NDArray) -> tuple[NDArray, NDArray | None]:
    """Numbers for words, and the words in the order of their numbers; words that are numbers stand for themselves."""
    present = np.array([word is not None for word in words])
    levels, codes = np.unique(np.char.strip(words[present].astype(str), "'"), return_inverse=True)
    numbers = np.full(len(words), np.nan)
    try:
        numbers[present] = levels.astype(float)[codes]
        return numbers, None
    except ValueError:
        numbers[present] = codes
        return numbers, levels


def _from_covtype(entry: Dataset, work: Path) -> Arrays:
    bunch = fetch_covtype(data_home=str(work))
    names = np.array(bunch.feature_names, dtype=str)
    return {"X": _as_type(bunch.data, entry), "y": bunch.target.astype(np.int64), "feature_names": names}


def _from_kdd99(entry: Dataset, work: Path) -> Arrays:
    """All connections. The codes of words come from all of them, so that both sets of this source share them."""
    bunch = fetch_kddcup99(subset=None, percent10=True, data_home=str(work))
    columns, levels = [], {}
    for name, values in zip(bunch.feature_names, bunch.data.T, strict=True):
        if isinstance(values[0], bytes | str):
            values, words = _codes(_text(values))
            if words is not None:
                levels[f"levels_{name}"] = words
        columns.append(_as_type(values.astype(float), entry))
    classes, y = np.unique(np.char.rstrip(_text(bunch.target).astype(str), "."), return_inverse=True)
    names = np.array(bunch.feature_names, dtype=str)
    return {"X": np.column_stack(columns), "y": y, "classes": classes, "feature_names": names, **levels}


def _from_kdd99_sa(entry: Dataset, work: Path) -> Arrays:
    arrays = _from_kdd99(entry, work)
    attack, normal = arrays["y"], int(np.flatnonzero(arrays["classes"] == "normal")[0])
    rows = sa_rows(attack == normal)
    y = (attack[rows] != normal).astype(np.int64)
    return {**arrays, "X": arrays["X"][rows], "y": y, "attack": attack[rows]}


def sa_rows(is_normal: NDArray) -> NDArray:
    """Rows of scikit-learn's subset SA with random_state=0: all normal ones, then attacks drawn with replacement."""
    attacks = np.flatnonzero(~is_normal)
    drawn = np.random.RandomState(0).randint(0, len(attacks), 3377)
    return np.concatenate([np.flatnonzero(is_normal), attacks[drawn]])


def _from_libsvm_ijcnn1(entry: Dataset, work: Path) -> Arrays:
    """The training part, then the test part."""
    parts = []
    for name in ("ijcnn1.bz2", "ijcnn1.t.bz2"):
        with urlopen(f"{LIBSVM}/binary/{name}", timeout=TIMEOUT) as answer:
            parts.append(io.BytesIO(bz2.decompress(answer.read())))
    X, y, X_test, y_test = load_svmlight_files(parts, n_features=entry.shape[1])
    split = np.repeat([0, 1], [len(y), len(y_test)]).astype(np.uint8)
    labels = (np.concatenate([y, y_test]) > 0).astype(np.int64)
    return {"X": _as_type(sp.vstack([X, X_test]).toarray(), entry), "y": labels, "split": split}


def _from_scikit_learn(entry: Dataset, work: Path) -> Arrays:
    """A data set that is a part of scikit-learn: nothing is downloaded."""
    bunch = _BUNDLED[str(entry.fetcher)]()
    return {
        "X": _as_type(bunch.data, entry),
        "y": bunch.target.astype(np.int64),
        "feature_names": np.array(bunch.feature_names, dtype=str),
        "classes": np.array(bunch.target_names, dtype=str),
    }


_BUNDLED: dict[str, Callable[[], Bunch]] = {"breast_cancer": load_breast_cancer, "iris": load_iris}
_SOURCES: dict[str, Callable[[Dataset, Path], Arrays]] = {
    "openml": _from_openml,
    "covtype": _from_covtype,
    "ijcnn1": _from_libsvm_ijcnn1,
    "kdd99_10pct": _from_kdd99,
    "kdd99_sa": _from_kdd99_sa,
    **dict.fromkeys(_BUNDLED, _from_scikit_learn),
}


def _check(entry: Dataset, arrays: Arrays) -> None:
    found: Any = tuple(int(side) for side in arrays["shape"]) if "shape" in arrays else arrays["X"].shape
    labels, counts = np.unique(arrays["y"], return_counts=True)
    _compare(entry, "rows and columns", found, entry.shape)
    if entry.nonzeros is not None:
        _compare(entry, "non-zeros", len(arrays["data"]), entry.nonzeros)
    if entry.content is not None:
        _compare(entry, "values", content_hash(arrays), entry.content)
    _compare(entry, "rows per class", dict(zip(labels.tolist(), counts.tolist(), strict=True)), entry.class_counts)


def content_hash(arrays: Arrays) -> str:
    """A checksum of X and y themselves, whatever file they come from."""
    parts = (np.ascontiguousarray(arrays["X"]), arrays["y"].astype("<i8"))
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


def _compare(entry: Dataset, what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise ValueError(
            f"{entry.name} from {source_of(entry)} was refused, and nothing stored: its {what} are {found}, not "
            f"{expected}."
        )


def _as_type(values: Matrix, entry: Dataset) -> NDArray:
    """The values as the entry's number type, which must hold them: whole numbers stay what they are."""
    with np.errstate(invalid="ignore"):
        converted = np.asarray(values).astype(entry.dtype)
    if converted.dtype.kind in "iu" and not np.array_equal(converted, values):
        raise ValueError(f"it has values that are not of the type {entry.dtype}.")
    return converted


def _text(values: NDArray) -> NDArray:
    return np.array([value.decode() if isinstance(value, bytes) else value for value in values], dtype=object)


def _has_pandas() -> bool:
    return find_spec("pandas") is not None


def _reason(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return _first_line(reason).rstrip(".")


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

"""Checks of parameters and inputs that scikit-learn does not have, each with one clear sentence."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from functools import wraps
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

UNLABELLED = -1  # the label of rows that have none, as in scikit-learn's semi-supervised estimators
SMALLEST_SQUARED = 1e-150  # the square of which a double still holds with all its digits

Matrix = Any  # an ndarray of two dimensions or a CSR matrix: SciPy's types say too little to be of help


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A method that, if it fails, leaves the estimator as it was."""

    @wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded


def checked_rows(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Rows as an estimator takes them: scikit-learn's `validate_data`, and one sentence for columns without numbers.

    By default CSR is accepted and numbers become float64, unless they are float32. Where dtype="numeric", all types of
    numbers that the compiled part reads are kept.
    """
    accepted = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)} | options
    refuse_other_than_numbers(X, type(estimator).__name__)
    checked = validate_data(estimator, X, y, **accepted)
    return as_numbers(checked) if accepted["dtype"] == "numeric" else checked


def canonical(rows: Matrix) -> Matrix:
    """CSR rows with sorted entries, one for each place; what is given stays as it is."""
    if sp.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def refuse_other_than_numbers(X: Any, who: str) -> None:
    """One sentence that names the columns of a frame, an array or a list that hold text, dates or other objects."""
    if sp.issparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "biufc":
        return
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    found = _other_columns_of_frame(X) if is_frame else _other_columns_of_array(X)
    if found:
        named = ", ".join(f"column {name!r} ({what})" for name, (what, _) in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        error = found[0][1][1]
        raise error(
            f"{who} needs numbers, but X has something else in {named}{more}; encode such columns as numbers first, "
            "for example with sklearn.preprocessing.OneHotEncoder, or leave them out."
        )


Strange = tuple[str, type[Exception]]  # what a column holds in place of numbers, and the exception for it


def _other_columns_of_frame(X: Any) -> list[tuple[Any, Strange]]:
    """Of pandas, polars and frames like them; columns are looked into unless their type is one of numbers."""
    found = []
    for place, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        is_numeric = getattr(dtype, "is_numeric", None)  # of polars
        if is_numeric() if is_numeric else getattr(dtype, "kind", "O") in "biufc":
            continue
        column = X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]
        strange = _other_than_numbers(np.asarray(column))
        if strange:
            found.append((name, strange))
    return found


def _other_columns_of_array(X: Any) -> list[tuple[Any, Strange]]:
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "OSUMm":
        return []  # scikit-learn has a sentence for it
    if not isinstance(X, np.ndarray):
        values = np.asarray(X, dtype=object)  # NumPy makes text of all columns of a list where one is text
    strange = ((place, _other_than_numbers(values[:, place])) for place in range(values.shape[1]))
    return [(place, what) for place, what in strange if what]


def _other_than_numbers(values: NDArray[Any]) -> Strange | None:
    """None if all values of the column are numbers or missing."""
    if values.dtype.kind in "Mm":
        return "dates or times", ValueError
    first_of_type = {type(value): value for value in reversed(values.astype(object).tolist())}
    for kind, value in first_of_type.items():
        if issubclass(kind, Real | np.number | np.bool_ | Decimal | type(None)):
            continue
        if issubclass(kind, str | bytes):
            return f"text, such as {value!r}", ValueError
        if issubclass(kind, date | time | timedelta | np.datetime64 | np.timedelta64):
            return "dates or times", ValueError
        try:
            float(value)
        except (TypeError, ValueError) as error:
            return str(error), type(error)
    return None


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}.")


def check_count(name: str, value: Any, *, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not _is_count(value) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def check_non_negative(name: str, value: Any) -> float:
    if not (_is_count(value) or _is_fraction(value)) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number of at least 0; got {value!r}.")
    return float(value)


def check_positive(name: str, value: Any) -> float:
    if not (_is_count(value) or _is_fraction(value)) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a number above 0; got {value!r}.")
    return float(value)


def check_share(name: str, value: Any, *, or_zero: bool = False) -> float:
    """A share above 0, up to all of it."""
    if not (_is_count(value) or _is_fraction(value)) or not 0 <= value <= 1 or not (or_zero or value):
        least = "of at least 0" if or_zero else "above 0"
        raise ValueError(f"{name} must be a share {least} and up to 1.0; got {value!r}.")
    return float(value)


def check_count_range(name: str, value: Any, *, least: int = 1, or_auto: bool = False) -> tuple[int, int]:
    """A whole number, or a pair (lowest, highest) of them."""
    low, high = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    if not (_is_count(low) and _is_count(high)) or not least <= low <= high:
        auto = ", or 'auto'" if or_auto else ""
        raise ValueError(
            f"{name} must be a whole number of at least {least} or a pair (lowest, highest) of them{auto}; got "
            f"{value!r}."
        )
    return int(low), int(high)


def check_feature_count(name: str, value: Any, n_features: int, *, or_auto: bool = False) -> int:
    """A whole number of features, or a share of them; what exceeds them is cut."""
    if _is_count(value) and value >= 1:
        return min(int(value), n_features)
    if _is_fraction(value) and 0 < value <= 1:
        return max(1, int(np.ceil(value * n_features)))
    auto = ", or 'auto'" if or_auto else ""
    raise ValueError(
        f"{name} must be a whole number of at least 1, or a share of the columns above 0 and up to 1.0{auto}; got "
        f"{value!r}."
    )


def check_selected_count(value: Any, n_features: int, *, has_rule: bool, owner: str = "X") -> int | None:
    """How many of the features of its owner a selector keeps; None if its own rule says."""
    if has_rule and isinstance(value, str) and value == "auto":
        return None
    if isinstance(value, str) and value == "all":
        return n_features
    if _is_fraction(value) and 0 < value <= 1:
        return max(1, int(np.ceil(value * n_features - 1e-9)))  # 0.07 of 100 are 7, whatever rounding says
    if not _is_count(value) or value < 1:
        auto = "'auto' " if has_rule else ""
        raise ValueError(
            "n_features_to_select must be a whole number of at least 1, a share of the columns above 0 and up to 1.0, "
            f"{auto}or 'all'; got {value!r}."
        )
    if value > n_features:
        raise ValueError(
            f"n_features_to_select={value}, but {owner} has {n_features} feature{'s' * (n_features != 1)}; ask for "
            "fewer, or for 'all'."
        )
    return int(value)


def check_adjacency(adjacency: Any, n_rows: int) -> sp.csr_array:
    """A network over the rows of X as CSR: one row and one column for each, whatever holds them.

    Objects other than arrays and sparse matrices have `shape` and `tocsr()`.
    """
    if isinstance(adjacency, str | Path):
        name = repr(str(adjacency))
        raise ValueError(f"adjacency is a name; read the file by vicinal.network.from_edges({name}, nodes=...).")
    if hasattr(adjacency, "nodes") and hasattr(adjacency, "edges"):
        raise ValueError("adjacency is a graph of networkx; give vicinal.network.from_networkx(graph, nodelist).")
    given = adjacency.tocsr() if hasattr(adjacency, "tocsr") else adjacency
    shape = given.shape if hasattr(given, "shape") else np.shape(given)
    needed = f"it needs a row and a column for each of them, {n_rows} x {n_rows}"
    if len(shape) != 2 or shape[0] != n_rows:
        edges = " A list of edges becomes a network by vicinal.network.from_edges." if shape[1:] in ((2,), (3,)) else ""
        raise ValueError(
            f"adjacency has the shape {tuple(shape)}, but X has {n_rows} rows; {needed}, in the order of X.{edges}"
        )
    if shape[1] != n_rows:
        raise ValueError(
            f"adjacency has {shape[0]} rows but {shape[1]} columns, as if rows alone had been taken, and X has "
            f"{n_rows} rows; {needed}: take A[rows][:, rows] of a matrix A or, for cross-validation, which takes rows "
            "alone, pass vicinal.network.Network(A), whose [rows] is the network between them."
        )
    checked = sp.csr_array(check_array(given, accept_sparse="csr", dtype=np.float64, input_name="adjacency"))
    checked.check_format(full_check=True)  # indices that point nowhere would be followed all the same
    if not checked.has_canonical_format or not checked.data.all():
        checked = checked.copy()
        checked.sum_duplicates()
        checked.eliminate_zeros()
    if (checked.data < 0).any():
        raise ValueError(
            f"adjacency has negative weights, down to {checked.data.min():.3g}; links have weights above 0: leave "
            "such links out, or take their absolute value."
        )
    loops = np.flatnonzero(checked.diagonal())
    if len(loops):
        several = "s" * (len(loops) > 1)
        raise ValueError(
            f"adjacency links {len(loops)} row{several} to {'themselves' if several else 'itself'}, such as row "
            f"{loops[0]}; set its diagonal to 0."
        )
    return checked


def check_weights(W: Any, name: str = "W") -> Matrix:
    """The symmetric, non-negative weights of a graph, dense or CSR."""
    weights = check_array(W, accept_sparse="csr", dtype=np.float64, input_name=name)
    if weights.shape[0] != weights.shape[1]:
        raise ValueError(
            f"{name} must have as many columns as rows, one of each per node; its shape is {weights.shape}."
        )
    values = weights.data if sp.issparse(weights) else weights
    if values.size and values.min() < 0:
        raise ValueError(f"{name} has negative weights; a graph's weights must be at least 0.")
    if abs(weights - weights.T).max() > 1e-10 * values.max(initial=0.0):
        raise ValueError(f"{name} must be symmetric; take (W + W.T) / 2 of a directed graph.")
    return weights


def check_names_of_rows(X: Any, network: Any, what: str = "adjacency") -> None:
    """Refuses a network whose nodes have other names than the rows of a frame, or the same in another order.

    Names count if both are text: numbers are as likely the places of rows.
    """
    index, names = getattr(X, "index", None), getattr(network, "names", None)
    names = names[network.target] if isinstance(names, Mapping) else names  # those of the type that rows are
    if names is None or not hasattr(X, "columns") or index is None or len(index) != len(names):
        return
    rows = np.asarray(index)
    if names.dtype.kind != "U" or not all(isinstance(row, str) for row in rows.tolist()):
        return
    differ = np.flatnonzero(rows.astype(str) != names)
    if len(differ):
        place = int(differ[0])
        cure = "from_edges(edges, nodes=X.index)" if what == "adjacency" else f"{what}[order]"
        raise ValueError(
            f"The nodes of {what} are not the rows of X: row {place} is {str(rows[place])!r} in X and "
            f"{str(names[place])!r} in {what}, {len(differ)} of {len(rows)} rows differ; bring them into one order, "
            f"for example by {cure}."
        )


def check_feature_range(name: str, value: Any, n_features: int) -> tuple[int, int]:
    """A pair (lowest, highest) of whole numbers or of shares of the features; what exceeds the features is cut."""
    message = (
        f"{name} must be a pair (lowest, highest) of whole numbers of at least 1, or of shares above 0 and up to 1.0; "
        f"got {value!r}."
    )
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ValueError(message)
    bounds = []
    for bound in value:
        if _is_count(bound) and bound >= 1:
            bounds.append(min(int(bound), n_features))
        elif _is_fraction(bound) and 0 < bound <= 1:
            bounds.append(max(1, int(np.ceil(bound * n_features))))
        else:
            raise ValueError(message)
    if bounds[0] > bounds[1]:
        raise ValueError(message)
    return bounds[0], bounds[1]


def check_image_shape(image_shape: Any, n_features: int) -> tuple[int, int, int]:
    """(height, width) or (height, width, channels), as (height, width, channels)."""
    is_sequence = isinstance(image_shape, tuple | list)
    if (
        not is_sequence
        or len(image_shape) not in (2, 3)
        or not all(_is_count(side) and side > 0 for side in image_shape)
    ):
        raise ValueError(
            "image_shape must be (height, width) or (height, width, channels) where subspace='image'; "
            f"got {image_shape!r}."
        )
    height, width, channels = (*image_shape, 1)[:3]
    if height * width * channels != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {height * width * channels} pixels but X has {n_features} features."
        )
    return int(height), int(width), int(channels)


def as_numbers(X: Matrix) -> Matrix:
    """X with a number type that the kernel reads; only rare types are copied."""
    if X.dtype == object:
        return X.astype(np.float64)
    if X.dtype == bool:
        if sp.issparse(X):
            return X.astype(np.uint8)
        return X.view(np.uint8)
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        return X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
    if not X.dtype.isnative:
        return X.astype(X.dtype.newbyteorder("="))
    if not sp.issparse(X) and any(stride % X.itemsize for stride in X.strides):
        return np.ascontiguousarray(X)  # a field of packed records
    return X


def suggest(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known ones or, if none is near, some of them.

    >>> suggest("mnits", ["covtype", "fashion_mnist", "mnist"])
    "did you mean 'mnist' or 'fashion_mnist'?"
    >>> suggest("zzz", ["a", "b", "c", "d"])
    'known are a, b, c and 1 more'
    """
    names = list(known)
    by_folded = {name.casefold(): name for name in names}
    folded = word.casefold()
    near = difflib.get_close_matches(folded, by_folded, n=3)
    parts = [part for part in (folded, *near[:1]) if len(part) > 1]
    near += [name for name in by_folded if name not in near and any(part in name for part in parts)]
    if near:
        return f"did you mean {' or '.join(repr(by_folded[name]) for name in near[:3])}?"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"known are {', '.join(names[:3])}{more}" if names else "none are known"


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_fraction(value: Any) -> bool:
    return isinstance(value, float | np.floating)


def refuse_extreme_values(name: str, rows: Matrix) -> None:
    """Refuses rows whose squares or the sums of them are beyond their number type, or all vanish."""
    entries = rows.data if sp.issparse(rows) else rows
    largest = float(np.abs(entries).max(initial=0.0))
    high = 1e-4 * float(np.sqrt(np.finfo(rows.dtype).max))
    if largest and not SMALLEST_SQUARED < largest < high:
        raise ValueError(
            f"Values of X go up to {largest:.3g}, whose squares {name} cannot hold in {rows.dtype}; scale X first, for "
            "example with sklearn.preprocessing.StandardScaler."
        )

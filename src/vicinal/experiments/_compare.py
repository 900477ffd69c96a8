"""`compare`: every feature method on the same split, its parameters chosen on the training part alone."""

from __future__ import annotations

import itertools
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split

from ._methods import Method, Setting, methods
from ._prepare import check_table, make_preparation

TUNING_ROWS = 3000
FOLDS = 3


@dataclass(frozen=True)
class Result:
    """One method's row of the table."""

    method: str
    accuracy: float
    feature_seconds: float
    model_seconds: float
    nonzeros_per_row: float
    chosen: dict[str, Any]
    notes: tuple[str, ...] = ()


def compare(
    X: Any,
    y: NDArray,
    *,
    n_groups: int = 400,
    n_components: int = 1000,
    test_size: float = 0.25,
    random_state: int = 0,
    n_jobs: int | None = None,
    callback: Callable[[str, Result | None], None] = lambda method, result: None,
) -> list[Result]:
    """Accuracy and cost of feature methods in front of the same linear SVM.

    The table is split once, by class. Columns are prepared (`make_preparation`) on the training part. Every method's
    parameters, the SVM's C included, are chosen by 3-fold cross-validation on at most 3,000 rows of the training part;
    the method is then fitted on all of it and scored on the rest.

    Parameters
    ----------
    X : polars DataFrame, ndarray or CSR matrix
    y : ndarray of class labels
    n_groups : int, default=400
        Groups of RandLocal.
    n_components : int, default=1000
        Columns of random Fourier features and of Nystroem.
    test_size : float, default=0.25
        Share of the rows to test on.
    random_state : int, default=0
    n_jobs : int, default=None
        Threads of RandLocal.
    callback : callable, default does nothing
        Called as ``callback(name, None)`` before and ``callback(name, result)`` after each method.

    Returns
    -------
    list of Result

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import compare
    >>> results = compare(*load_iris(return_X_y=True), n_groups=100, n_components=50)
    >>> [result.method for result in results]
    ['raw features', 'RBF kernel SVM', 'random Fourier', 'Nystroem', 'RandLocal']
    """
    y = _classes(y, test_size)
    X = check_table(X)
    rows = np.arange(len(y))
    training, test = train_test_split(rows, test_size=test_size, stratify=y, random_state=random_state)
    preparation = make_preparation(X)
    X_training, X_test = preparation.fit_transform(X[training]), preparation.transform(X[test])
    setting = Setting(
        n_rows=len(training), n_groups=n_groups, n_components=n_components, seed=random_state, n_jobs=n_jobs
    )
    results = []
    for method in methods(X_training.shape[1]):
        callback(method.name, None)
        results.append(_run(method, setting, X_training, y[training], X_test, y[test]))
        callback(method.name, results[-1])
    return results


def _classes(y: NDArray, test_size: float) -> NDArray:
    if y.dtype.kind == "f" and not np.equal(y, np.round(y)).all():
        raise ValueError("The target has fractions; compare needs classes.")
    counts = Counter(y.tolist())
    if len(counts) < 2:
        raise ValueError(f"The target has one class only ({next(iter(counts))!r}); there is nothing to tell apart.")
    label, rarest = min(counts.items(), key=lambda item: item[1])
    # Every class needs a row to test on and one for every fold of the cross-validation.
    needed = max(FOLDS + 1, int(np.ceil(FOLDS / (1 - test_size))))
    if rarest < needed:
        raise ValueError(
            f"Class {label!r} has {rarest} row{'s' * (rarest != 1)}; at least {needed} are needed to split and "
            "cross-validate. Merge or remove it."
        )
    return np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]


def _run(method: Method, setting: Setting, X: Any, y: NDArray, X_test: Any, y_test: NDArray) -> Result:
    notes = []
    if not method.takes_missing and _has_missing(X, X_test):
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        X, X_test = imputer.fit_transform(X), imputer.transform(X_test)
        notes.append("missing values filled with medians")
    if method.most_rows is not None and len(y) > method.most_rows:
        keep = _stratified_sample(y, method.most_rows, setting.seed)
        X, y = X[keep], y[keep]
        notes.append(f"fitted on {method.most_rows:,} rows")

    map_parameters, model_parameters = _choose(method, setting, X, y)
    start = time.perf_counter()
    X, X_test = _map(method, setting, map_parameters, X, X_test)
    fitted_map = time.perf_counter()
    model = method.make_model(setting.seed).set_params(**model_parameters)
    if not _fit(model, X, y):
        notes.append("the SVM did not converge")
    accuracy = model.score(X_test, y_test)
    done = time.perf_counter()
    return Result(
        method=method.name,
        accuracy=float(accuracy),
        feature_seconds=fitted_map - start if method.make_map else 0.0,
        model_seconds=done - fitted_map,
        nonzeros_per_row=_nonzeros(X_test) / X_test.shape[0],
        chosen={**map_parameters, **model_parameters},
        notes=tuple(notes),
    )


def _map(method: Method, setting: Setting, parameters: dict[str, Any], X: Any, X_test: Any) -> tuple[Any, Any]:
    if method.make_map is None:
        return X, X_test
    features_map = method.make_map(replace(setting, n_rows=X.shape[0])).set_params(**parameters)
    return features_map.fit_transform(X), features_map.transform(X_test)


def _choose(method: Method, setting: Setting, X: Any, y: NDArray) -> tuple[dict[str, Any], dict[str, Any]]:
    """The grid's best parameters by cross-validation; each map is fitted once per fold and shared by all models."""
    seed = setting.seed
    if len(y) > TUNING_ROWS:
        keep = _stratified_sample(y, TUNING_ROWS, seed)
        X, y = X[keep], y[keep]
    scores: Counter[int] = Counter()
    map_settings, model_settings = _settings(method.map_grid), _settings(method.model_grid)
    grid = list(itertools.product(range(len(map_settings)), range(len(model_settings))))
    for training, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y):
        for i, map_parameters in enumerate(map_settings):
            F, F_test = _map(method, setting, map_parameters, X[training], X[test])
            for j, parameters in enumerate(model_settings):
                model = clone(method.make_model(seed)).set_params(**parameters)
                _fit(model, F, y[training])
                scores[grid.index((i, j))] += model.score(F_test, y[test])
    i, j = grid[max(scores, key=lambda place: (scores[place], -place))]
    return map_settings[i], model_settings[j]


def _stratified_sample(y: NDArray, size: int, seed: int) -> NDArray[np.int64]:
    """About `size` rows: of every class its share, and at least one row per fold."""
    rng = np.random.default_rng(seed)
    keep = []
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        rows = rng.permutation(np.flatnonzero(y == label))
        keep.append(rows[: max(FOLDS, round(size * count / len(y)))])
    return np.sort(np.concatenate(keep))


def _settings(grid: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _fit(model: Any, X: Any, y: NDArray) -> bool:
    """Fits; whether the solver converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)


def _has_missing(*matrices: Any) -> bool:
    return any(np.isnan(X.data if sp.issparse(X) else X).any() for X in matrices)


def _nonzeros(X: Any) -> int:
    return int(X.nnz if sp.issparse(X) else np.count_nonzero(X))

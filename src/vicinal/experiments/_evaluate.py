"""One cell of an experiment: data in, figures out. Everything is chosen and fitted without the test part."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, normalized_mutual_info_score, roc_auc_score
from sklearn.model_selection import ParameterGrid, StratifiedKFold
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler, normalize
from sklearn.svm import LinearSVC

from ..cluster import repeated_kmeans
from ..graphs import nearest_rows
from ..metrics import clustering_accuracy, normalized_mutual_information, sparsity_ratio
from ._methods import Method, Setting
from ._noise import extremes

CLASSIFICATION: dict[str, Callable[[NDArray, NDArray], float]] = {
    "accuracy": lambda y, predicted: float(np.mean(y == predicted)),
    "micro_f1": lambda y, predicted: f1_score(y, predicted, average="micro"),
    "macro_f1": lambda y, predicted: f1_score(y, predicted, average="macro"),
}
CLUSTERING: dict[str, Callable[[NDArray, NDArray], float]] = {
    "accuracy": clustering_accuracy,
    "nmi": normalized_mutual_information,
    "nmi_geometric": partial(normalized_mutual_info_score, average_method="geometric"),
}


@dataclass
class Outcome:
    """A cell's figures, (fold, metric, value) each, and what they cost.

    `by_metric` has fields that differ from metric to metric.
    """

    values: list[tuple[int, str, float]] = field(default_factory=list)
    feature_seconds: float = 0.0
    model_seconds: float = 0.0
    tuning_seconds: float = 0.0
    training_rows: int = 0
    test_rows: int = 0
    nonzeros_per_row: float = 0.0
    chosen: dict[str, Any] = field(default_factory=dict)
    by_metric: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Protocol:
    """How one method is run on one data set."""

    setting: Setting
    preparation: Callable[[Any], Any]
    folds: int = 5
    fold: int = 0
    tuning_rows: int = 3000
    tuning_folds: int = 3
    most_rows: int | None = None
    metrics: tuple[str, ...] = ("accuracy",)


def classify(method: Method, protocol: Protocol, X: Any, y: NDArray) -> Outcome:
    """Trains on all parts but one and predicts that one; a method's parameters come from the training part alone."""
    to = protocol.setting
    outcome = Outcome()
    check_folds(y, protocol.folds)
    parts = StratifiedKFold(protocol.folds, shuffle=True, random_state=to.seed).split(np.zeros(len(y)), y)
    training, test = next(part for number, part in enumerate(parts) if number == protocol.fold)
    preparation = protocol.preparation(X)
    X, X_test = preparation.fit_transform(X[training]), preparation.transform(X[test])
    y, y_test = y[training], y[test]
    X, X_test = readable(method, outcome, X, X_test)
    to = replace(to, n_features=X.shape[1])  # categories have become columns
    protocol = replace(protocol, setting=to)
    X, y = _capped(protocol, outcome, X, y)

    start = time.perf_counter()
    map_parameters, model_parameters = choose(method, protocol, X, y)
    outcome.tuning_seconds = time.perf_counter() - start
    F, F_test, outcome.feature_seconds = _features(method, to, map_parameters, X, X_test)
    start = time.perf_counter()
    model = method.build_model(_sized(to, X), model_parameters)
    if not _fit(_for_shape(model, F), F, y):
        outcome.notes.append("the SVM stopped before it converged")
    predicted = model.predict(F_test)
    outcome.model_seconds = time.perf_counter() - start
    outcome.values = [(protocol.fold, metric, CLASSIFICATION[metric](y_test, predicted)) for metric in protocol.metrics]
    outcome.training_rows, outcome.test_rows = len(y), len(y_test)
    outcome.nonzeros_per_row = nonzeros(F_test) / F_test.shape[0]
    outcome.chosen = {**map_parameters, **model_parameters}
    return outcome


def cluster(method: Method, protocol: Protocol, X: Any, y: NDArray, *, runs: int, unit_rows: bool) -> Outcome:
    """k-means on the features of all rows, `runs` times.

    Of a method's grid the setting with the best mean of the first metric counts, by the labels: the paper's way, which
    flatters the methods that have a grid.
    """
    to = protocol.setting
    outcome = Outcome(training_rows=len(y), test_rows=len(y))
    X = protocol.preparation(X).fit_transform(X)
    X, _ = readable(method, outcome, X, X)
    settings = method.map_settings(to)
    best = -np.inf
    for parameters in settings:
        F, seconds = _all_features(method, protocol, parameters, X, outcome, unit_rows)
        start = time.perf_counter()
        values = []
        for run, labels in enumerate(repeated_kmeans(F, len(np.unique(y)), n_runs=runs, unit_rows=False)):
            values += [(run, metric, float(CLUSTERING[metric](y, labels))) for metric in protocol.metrics]
        first = float(np.mean([value for _, metric, value in values if metric == protocol.metrics[0]]))
        if first > best:
            best = first
            outcome.values, outcome.chosen = values, dict(parameters)
            outcome.feature_seconds, outcome.model_seconds = seconds, (time.perf_counter() - start) / runs
            outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
    if len(settings) > 1:
        outcome.notes.append(f"the best of {len(settings)} settings, by the labels")
    return outcome


def find_outliers(
    method: Method,
    protocol: Protocol,
    X: Any,
    y: NDArray,
    *,
    neighbors: tuple[int, ...],
    unit_rows: bool,
    detector: str,
) -> Outcome:
    """AUC of the distance to the k-th neighbour in feature space, or of small values (`detector="values"`)."""
    to = protocol.setting
    outcome = Outcome(training_rows=len(y), test_rows=len(y))
    X = protocol.preparation(X).fit_transform(X)
    X, _ = readable(method, outcome, X, X)
    outliers = y == 1
    settings = method.map_settings(to)
    best = -np.inf
    for parameters in settings:
        F, seconds = _all_features(method, protocol, parameters, X, outcome, unit_rows)
        start = time.perf_counter()
        if detector == "values":
            scores = np.repeat(-np.asarray(F.sum(axis=1)).reshape(-1, 1), len(neighbors), axis=1)
        else:
            distances, _ = nearest_rows(F, n_neighbors=max(neighbors), n_jobs=to.threads)
            scores = distances[:, np.minimum(neighbors, distances.shape[1]) - 1]
        aucs = [float(roc_auc_score(outliers, column)) for column in scores.T]
        if np.mean(aucs) > best:
            best = float(np.mean(aucs))
            outcome.values = [(0, f"auc@{k}", auc) for k, auc in zip(neighbors, aucs, strict=True)]
            outcome.chosen = dict(parameters)
            outcome.feature_seconds, outcome.model_seconds = seconds, time.perf_counter() - start
            outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
    if len(settings) > 1:
        outcome.notes.append(f"the best of {len(settings)} settings, by the labels")
    return outcome


def picture(method: Method, protocol: Protocol, X: Any, y: NDArray) -> tuple[Any, Outcome]:
    """The features of all rows, to be looked at, and how full they are."""
    outcome = Outcome(training_rows=len(y), test_rows=len(y))
    X = protocol.preparation(X).fit_transform(X)
    X, _ = readable(method, outcome, X, X)
    F, outcome.feature_seconds = _all_features(method, protocol, {}, X, outcome, unit_rows=False)
    outcome.values = [(0, "sparsity_ratio", sparsity_ratio(F))]
    outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
    return F, outcome


def choose(method: Method, protocol: Protocol, X: Any, y: NDArray) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters by cross-validation: first the map's, before a model in the middle of its grid, then the model's."""
    to = _sized(protocol.setting, X)
    map_settings, model_settings = method.map_settings(to), list(ParameterGrid(method.model_grid(to)))
    if len(y) > protocol.tuning_rows:
        keep = stratified_sample(y, protocol.tuning_rows, to.seed, at_least=protocol.tuning_folds)
        X, y = X[keep], y[keep]
    if len(map_settings) > 1:
        middle = model_settings[len(model_settings) // 2 : len(model_settings) // 2 + 1]
        map_settings = [map_settings[_scores(method, protocol, map_settings, middle, X, y)[:, 0].argmax()]]
    if len(model_settings) > 1:
        model_settings = [model_settings[_scores(method, protocol, map_settings, model_settings, X, y)[0].argmax()]]
    return map_settings[0], model_settings[0]


def _scores(
    method: Method,
    protocol: Protocol,
    map_settings: list[dict[str, Any]],
    model_settings: list[dict[str, Any]],
    X: Any,
    y: NDArray,
) -> NDArray[np.float64]:
    """Summed accuracy of every map before every model; each map is fitted once per fold."""
    to = protocol.setting
    scores = np.zeros((len(map_settings), len(model_settings)))
    check_folds(y, protocol.tuning_folds, "to choose parameters by cross-validation inside the training part")
    folds = StratifiedKFold(protocol.tuning_folds, shuffle=True, random_state=to.seed)
    for training, test in folds.split(np.zeros(len(y)), y):
        for i, map_parameters in enumerate(map_settings):
            F, F_test, _ = _features(method, to, map_parameters, X[training], X[test])
            for j, parameters in enumerate(model_settings):
                model = _for_shape(method.build_model(_sized(to, F), parameters), F)
                _fit(model, F, y[training])
                scores[i, j] += model.score(F_test, y[test])
    return scores


def check_folds(y: NDArray, folds: int, purpose: str = "to cross-validate") -> None:
    values, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        rarest, count = values[counts.argmin()], int(counts.min())
        raise ValueError(
            f"Class {rarest.item()!r} has {count} row{'s' * (count != 1)}; {folds} are needed {purpose} in {folds} "
            "folds. Merge or remove it, or take fewer folds."
        )


def scaler(kind: str, X: Any) -> Any:
    """Each column to [0, 1], the whole matrix by its range, standardised columns, TF-IDF, or nothing; CSR stays sparse.

    TF-IDF makes weights of words and rows of unit length out of counts.
    """
    if kind == "none":
        return _Unscaled()
    if kind == "tfidf":
        if (least := extremes(X)[0]) < 0:
            raise ValueError(f"TF-IDF needs counts of words; the least value is {least:g}. Take another scale.")
        return TfidfTransformer()
    if kind == "matrix":
        return _DivideByRange()
    if sp.issparse(X):
        return MaxAbsScaler()
    return StandardScaler() if kind == "standard" else MinMaxScaler()


class _Unscaled:
    """Numbers as they are, with a fraction."""

    def fit_transform(self, X: Any) -> Any:
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        return X.astype(np.float32) if X.dtype.kind in "biu" else X


class _DivideByRange(_Unscaled):
    """Divides by the range of the training rows' values, 0 included."""

    def fit_transform(self, X: Any) -> Any:
        low, high = extremes(X)
        self.by = max(max(high, 0.0) - min(low, 0.0), 1e-12)
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        X = super().transform(X)
        return (X / X.dtype.type(self.by)).astype(X.dtype, copy=False)  # CSR would become double


def stratified_sample(y: NDArray, size: int, seed: int, at_least: int) -> NDArray[np.int64]:
    """About `size` rows: of every class its share, and at least so many."""
    rng = np.random.default_rng(seed)
    keep = []
    for label, count in zip(*np.unique(y, return_counts=True), strict=True):
        rows = rng.permutation(np.flatnonzero(y == label))
        keep.append(rows[: max(at_least, round(size * count / len(y)))])
    return np.sort(np.concatenate(keep))


def readable(method: Method, outcome: Outcome, X: Any, X_test: Any) -> tuple[Any, Any]:
    """What the method can read: missing values filled in, sparse rows made dense, where it needs that."""
    if not method.takes_missing and any(
        np.isnan(part.data if sp.issparse(part) else part).any() for part in (X, X_test)
    ):
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        X, X_test = imputer.fit_transform(X), imputer.transform(X_test)
        outcome.notes.append("missing values filled with medians")
    if not method.takes_sparse and sp.issparse(X):
        X, X_test = X.toarray(), X_test.toarray()
    return X, X_test


def _capped(protocol: Protocol, outcome: Outcome, X: Any, y: NDArray) -> tuple[Any, NDArray]:
    if protocol.most_rows is None or len(y) <= protocol.most_rows:
        return X, y
    keep = stratified_sample(y, protocol.most_rows, protocol.setting.seed, at_least=protocol.tuning_folds)
    outcome.notes.append(f"fitted on {len(keep):,} of {len(y):,} rows")
    return X[keep], y[keep]


def _sized(to: Setting, X: Any) -> Setting:
    return replace(to, n_rows=X.shape[0])


def _features(
    method: Method, to: Setting, parameters: Mapping[str, Any], X: Any, X_test: Any
) -> tuple[Any, Any, float]:
    """Features of both parts, divided by the training rows' mean length, so that one grid of C serves all maps."""
    seconds = 0.0
    if method.make_map is not None:
        start = time.perf_counter()
        features_map = method.build_map(_sized(to, X), parameters)
        X, X_test = features_map.fit_transform(X), features_map.transform(X_test)
        seconds = time.perf_counter() - start
    elif not isinstance(method.make_model(to), LinearSVC):
        return X, X_test, 0.0
    length = _mean_length(X)
    return X * (1 / length), X_test * (1 / length), seconds


def _all_features(
    method: Method, protocol: Protocol, parameters: Mapping[str, Any], X: Any, outcome: Outcome, unit_rows: bool
) -> tuple[Any, float]:
    """Features of all rows; a map that cannot be fitted on so many is fitted on a part of them."""
    start = time.perf_counter()
    F = X
    if method.make_map is not None:
        some = fitting_rows(protocol, X, outcome)
        if some is not X:
            F = method.build_map(_sized(protocol.setting, some), parameters).fit(some).transform(X)
        else:
            F = method.build_map(_sized(protocol.setting, X), parameters).fit_transform(X)
    if unit_rows:
        F = normalize(F)
    return F, time.perf_counter() - start


def fitting_rows(protocol: Protocol, X: Any, outcome: Outcome) -> Any:
    """The rows that a map is fitted on, where these are not all."""
    if protocol.most_rows is None or X.shape[0] <= protocol.most_rows:
        return X
    keep = np.sort(np.random.default_rng(protocol.setting.seed).permutation(X.shape[0])[: protocol.most_rows])
    note = f"map fitted on {len(keep):,} of {X.shape[0]:,} rows"
    if note not in outcome.notes:
        outcome.notes.append(note)
    return X[keep]


def _for_shape(model: Any, F: Any) -> Any:
    """liblinear's primal solver is the faster one for few dense columns, its dual one for many sparse ones."""
    return model.set_params(dual=sp.issparse(F) or F.shape[0] < F.shape[1]) if isinstance(model, LinearSVC) else model


def _fit(model: Any, X: Any, y: NDArray) -> bool:
    """Fits; whether the solver converged."""
    _, told = listening(lambda: model.fit(X, y))
    pass_on(told, but=ConvergenceWarning)
    return not any(issubclass(warning.category, ConvergenceWarning) for warning in told)


def listening(call: Callable[[], Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    """What a call returns, and its warnings, which nobody else hears."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        returned = call()
    return returned, told


def pass_on(told: list[warnings.WarningMessage], *, but: type[Warning]) -> None:
    for warning in told:
        if not issubclass(warning.category, but):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _mean_length(X: Any) -> float:
    squares = X.multiply(X) if sp.issparse(X) else np.einsum("ij,ij->i", X, X)
    lengths = np.sqrt(np.asarray(squares.sum(axis=1) if sp.issparse(X) else squares, dtype=np.float64))
    return float(lengths.mean()) or 1.0


def nonzeros(X: Any) -> int:
    return int(X.nnz if sp.issparse(X) else np.count_nonzero(X))

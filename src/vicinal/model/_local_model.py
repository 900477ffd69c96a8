"""What LocalClassifier and LocalRegressor share: rows as users have them, choosing, fitting and adding up."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.utils import Tags, check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight, _check_y, check_is_fitted, validate_data

from .._calls import current_callback, n_threads, one_blas_thread, watching
from .._messages import warn
from .._preparation import categorical_columns, check_table, is_frame, make_preparation, scaler, usual_scale
from .._validation import Matrix, check_choice, checked_rows
from ._blend import Blend, fit_blend, mean_loss, score_of, shares_of
from ._choosing import Clock, choose
from ._family import Settings, checked_family, completed, scores_of
from ._sizes import held_back, sized
from ._trials import Problem

SCALES = ("auto", "standard", "minmax", "matrix", "none", "tfidf")
LEAST_SECONDS = 1.0  # in which anything can be chosen
LEAST_ROWS = 10
PAPER = {"part": "local", "n_groups": 400, "n_neighbors": 1, "n_anchors": (32, 1024), "weight": 1.0}
FARTHEST, FARTHEST_GIVEN = 1e18, 1e100  # of scaled and of given values, beyond which they are cut
BLOCK = 65536  # rows that are predicted at a time
_BUDGET = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smh])\s*")


class LocalModel(BaseEstimator):
    """Parts that are linear models over cells, chosen on rows that they have not learned from, and added up."""

    parts: Sequence[Mapping[str, Any]] | None
    family: Sequence[str] | None
    budget: str | float | None
    scale: str
    image_shape: tuple[int, ...] | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not _is_named(self.parts, "boosted")
        tags.input_tags.allow_nan = True
        return tags

    def _checked_y(self, y: Any, *, numeric: bool) -> NDArray[Any]:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        found: NDArray[Any] = _check_y(y, multi_output=False, y_numeric=numeric, estimator=self)
        return found

    def _fit_rows(self, X: Any) -> Matrix:
        """Learns how rows are prepared: scaled, and categories of frames as columns of their own."""
        check_choice("scale", self.scale, SCALES)
        self.takes_frames_ = bool(is_frame(X) and categorical_columns(X))
        if self.takes_frames_:
            validate_data(self, X, reset=True, skip_check_array=True)
            table = check_table(X)
            self.preparation_ = make_preparation(table, "standard" if self.scale == "auto" else self.scale)
        else:
            table = checked_rows(self, X, reset=True, ensure_all_finite="allow-nan", ensure_min_samples=2)
            table = _bounded(table, FARTHEST_GIVEN)
            auto = "matrix" if self.image_shape is not None else usual_scale(table)
            self.preparation_ = scaler(auto if self.scale == "auto" else self.scale, table)
        if not sp.issparse(table):
            # Distances with missing values take many times as long; that they were missing is a column of its own.
            filled = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
            self.preparation_ = make_pipeline(self.preparation_, filled)
        return _single(self.preparation_.fit_transform(table))

    def _rows(self, X: Any) -> Matrix:
        """Rows as parts see them."""
        check_is_fitted(self)
        if not self.takes_frames_:
            rows = checked_rows(self, X, reset=False, ensure_all_finite="allow-nan")
            return _single(self.preparation_.transform(_bounded(rows, FARTHEST_GIVEN)))
        if not is_frame(X):
            raise ValueError(
                f"This {type(self).__name__} was fitted on a data frame with columns of text; give it such a frame."
            )
        validate_data(self, X, reset=False, skip_check_array=True)
        return _single(self.preparation_.transform(check_table(X)))

    def _learn(
        self, X: Any, targets: NDArray[Any], factors: NDArray[np.float64], n_classes: int, sample_weight: Any
    ) -> None:
        """Chooses parts, fits them, and finds what each of them counts."""
        budget = seconds_of(self.budget)
        fixed = None if self.parts is None else [completed(part) for part in self.parts]
        if fixed is not None and not fixed:
            raise ValueError("parts is empty; give at least one part, or None to have them chosen.")
        clock = Clock(budget, current_callback())
        with watching(None):  # searches within parts are small steps of this one
            learned, unseen = self._problems(X, targets, factors, n_classes, sample_weight, fixed)
            self._fit_parts(learned, unseen, self._settled(learned, fixed, budget), clock)
        clock.tell(1.0)

    def _problems(
        self,
        X: Any,
        targets: NDArray[Any],
        factors: NDArray[np.float64],
        n_classes: int,
        sample_weight: Any,
        fixed: list[Settings] | None,
    ) -> tuple[Problem, Problem | None]:
        """Rows to learn from and, where there are many, rows that are held back; no other copy of them is left."""
        family = checked_family(self.family)
        check_consistent_length(X, targets)
        rows = self._fit_rows(X)
        if sp.issparse(rows) and _is_named(fixed, "boosted"):
            raise ValueError("Boosted trees need dense rows, and X is sparse; leave out the part 'boosted'.")
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True) * factors
        some = np.flatnonzero(weights)
        problem = Problem(rows, targets, weights, n_classes, self.image_shape, family)
        problem = problem if len(some) == len(weights) else problem.take(some)
        if len(problem.counts()) < 2 and n_classes:
            raise ValueError(f"{type(self).__name__} needs rows of at least two classes with weights above 0.")
        apart = held_back(problem, check_random_state(self.random_state))
        return (problem, None) if apart is None else (problem.take(apart[0]), problem.take(apart[1]))

    def _settled(self, problem: Problem, fixed: list[Settings] | None, budget: float) -> list[Settings] | None:
        """Parts as they are given, or the paper's where nothing can be chosen."""
        if fixed is not None:
            return fixed
        few = len(problem.targets) < LEAST_ROWS or (problem.n_classes == 2 and problem.counts().min() < 3)
        if budget >= LEAST_SECONDS and not few:
            return None
        why = "these rows are too few" if few else f"a budget of {budget:g} s is too small"
        warn(f"{why} to choose by, so {type(self).__name__} takes the defaults of RandLocal, as the paper has them.")
        neighbors = min(1, len(problem.targets) - 1)
        return [completed({**PAPER, "n_neighbors": neighbors})]

    def _fit_parts(self, learned: Problem, unseen: Problem | None, fixed: list[Settings] | None, clock: Clock) -> None:
        rng = check_random_state(self.random_state)
        if fixed is not None and all(settings["weight"] is not None for settings in fixed):
            settings, blend, loss, score, shares = fixed, None, None, None, None
        else:
            choice = choose(learned, clock, rng, fixed)
            settings, blend, loss = choice.parts, choice.blend, choice.loss
            score, shares = choice.score, choice.shares
            if fixed is None and unseen is not None:
                settings = sized(choice, learned, clock.left, n_threads(None))
        with warnings.catch_warnings():
            # Parts are judged on held-out rows as they are, with passes that are as few there as here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.models_ = learned.all_fitted(settings)
        if blend is None:
            blend = Blend(
                np.array([part["weight"] for part in settings], dtype=np.float64),
                np.sum([np.broadcast_to(part["bias"], learned.n_outputs) for part in settings], axis=0, dtype=float),
            )
        elif unseen is not None:
            scores = [scores_of(model, unseen.X, learned.n_classes) for model in self.models_]
            blend = fit_blend(scores, unseen.targets, unseen.weights, is_number=learned.is_number)
            loss = mean_loss(blend, scores, unseen.targets, unseen.weights, is_number=learned.is_number)
            score = score_of(blend.combined(scores), unseen.targets, unseen.weights, is_number=learned.is_number)
            shares = shares_of(blend, scores)
        if fixed is None and shares is not None:  # what has no weight is not worth its memory
            kept = np.flatnonzero(blend.weights > 0) if blend.weights.any() else np.arange(1)
            self.models_, settings = [self.models_[place] for place in kept], [settings[place] for place in kept]
            blend, shares = Blend(blend.weights[kept], blend.biases), shares[kept]
        self.weights_, self.biases_, self.shares_ = blend.weights, blend.biases, shares
        self.validation_loss_, self.validation_score_ = loss, score
        self.chosen_ = {"parts": _told(settings, blend)}

    def _combined(self, X: ArrayLike) -> NDArray[np.float64]:
        rows, blend = self._rows(X), Blend(self.weights_, self.biases_)
        n_classes = len(getattr(self, "classes_", ()))
        blocks = [rows[start : start + BLOCK] for start in range(0, rows.shape[0], BLOCK)]
        with one_blas_thread():  # products are thin, and their bits the same on any number of threads
            return np.concatenate(
                [blend.combined([scores_of(model, block, n_classes) for model in self.models_]) for block in blocks]
            )


def _is_named(parts: Any, kind: str) -> bool:
    return any(isinstance(part, Mapping) and part.get("part") == kind for part in parts or ())


def seconds_of(budget: str | float | None) -> float:
    """The seconds that a budget of `LocalClassifier` stands for.

    Parameters
    ----------
    budget : str, float or None
        Text such as "90s", "5m" or "2h", a number of seconds, or None for all the time there is.

    Returns
    -------
    float

    Examples
    --------
    >>> from vicinal.model import seconds_of
    >>> seconds_of("1.5m"), seconds_of(None)
    (90.0, inf)
    """
    if budget is None:
        return np.inf
    if isinstance(budget, str):
        found = _BUDGET.fullmatch(budget)
        if found:
            return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]
    elif not isinstance(budget, bool) and np.isreal(budget) and np.ndim(budget) == 0 and budget > 0:
        return float(budget)
    raise ValueError(f'budget must be like "90s", "5m" or "2h", a number of seconds, or None; got {budget!r}.')


def _single(rows: Any) -> Matrix:
    """Single precision, dense or CSR; missing values of CSR rows, which trees do not take there, become 0."""
    rows = _bounded(rows, FARTHEST)
    if not sp.issparse(rows):
        return np.ascontiguousarray(rows, dtype=np.float32)
    found = sp.csr_array(rows, dtype=np.float32)
    found.data = np.nan_to_num(found.data, nan=0.0)
    return found


def _bounded(rows: Any, most: float) -> Any:
    """Values beyond a bound cut at it, so that their squares are numbers; a copy only where there are any."""
    values = rows.data if sp.issparse(rows) else rows
    beyond_reach = values.dtype.kind != "f" or most > float(np.finfo(values.dtype).max)
    if beyond_reach or not (np.abs(values) > most).any():  # which missing values are not
        return rows
    if not sp.issparse(rows):
        return np.clip(rows, -most, most)
    rows = rows.copy()
    rows.data = np.clip(values, -most, most)
    return rows


def _told(settings: list[Settings], blend: Blend) -> list[Settings]:
    """Settings that give the same model again: with weights, and the biases beside the first part's."""
    bias = blend.biases.tolist() if len(blend.biases) > 1 else float(blend.biases[0])
    return [
        {**part, "weight": float(weight), "bias": bias if place == 0 else 0.0}
        for place, (part, weight) in enumerate(zip(settings, blend.weights, strict=True))
    ]

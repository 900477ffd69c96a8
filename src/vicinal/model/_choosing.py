"""Which parts a local model is made of: many are tried on few rows, the better ones on more, the best are blended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._calls import side_by_side
from .._forests import columns_per_split
from ._blend import Blend, fit_blend, mean_loss, score_of, shares_of
from ._family import LINEAR, Settings, completed
from ._sizes import MOST_ROWS
from ._trials import Fold, Problem, Trials, folds_of

SCREENING_ROWS = 6000  # that settings of anchors are compared on
SCREENING_SIZES = {"n_groups": 40, "n_trees": 50, "max_iter": 50, "n_rows": 300}
SCREENING_SHARE = 0.35  # of the budget
MOST_OF_PART = {"local": 2, "forest": 1, "leaves": 1, "boosted": 1, "columns": 1, "kernel": 1}  # settings that go on
TOO_MUCH = 1.5  # times the least loss: trees that lose as much are not worth their time
ENOUGH_ROWS = 3000  # that settings are judged by
MOST_PARTS = 6
LEAST_SHARE = 0.02  # of the blend, which a part must have to be kept
WIDE = 200  # columns from which trees look at few of them for a split
VERY_WIDE = 2000  # columns of sparse rows, of words mostly, from which groups see few, the most useful ones
C_VALUES = {
    "local": (0.1, 1.0, 10.0),
    "columns": (0.03, 0.3, 3.0),
    "leaves": (0.1, 1.0, 10.0),
    "kernel": (1.0, 10.0, 100.0),
}
C_VALUES_OF_NUMBERS = {
    "local": (1.0, 10.0, 100.0),
    "columns": (1.0, 100.0),
    "leaves": (1.0, 10.0),
    "kernel": (1.0, 10.0, 100.0),
}
FEW_ROWS = 5000  # up to which kernels look at more rows, and trees have fewer leaves
MOST_KERNEL_ROWS = 50_000  # beyond which kernels would take too much memory, and cells do as well


class Clock:
    """What is left of a budget of seconds; the share of the work that is done goes to a callback."""

    def __init__(self, budget: float, callback: Callable[[float], object] | None = None):
        self.budget, self.callback, self.start = budget, callback, time.monotonic()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.start

    @property
    def left(self) -> float:
        return self.budget - self.elapsed

    def tell(self, share: float) -> None:
        if self.callback is not None:
            self.callback(share)


class Tried(NamedTuple):
    """Settings, their scores of rows that they have not learned from, and the seconds of a fit, per row."""

    settings: Settings
    scores: NDArray[np.float64]
    seconds: float


@dataclass
class Choice:
    """Parts with their settings, how to blend them, and what was seen on the way."""

    parts: list[Settings]
    blend: Blend
    loss: float
    score: float
    seconds: list[float]  # that each part took to be fitted, per row
    shares: NDArray[np.float64]  # of the blend


def local_candidates(problem: Problem) -> list[Settings]:
    """Settings of groups of anchors, from the usual to the unusual."""
    n_columns = problem.X.shape[1]
    soft, several = {"n_neighbors": 10}, {"n_neighbors": 5}
    found: list[Settings]
    if sp.issparse(problem.X) and n_columns > VERY_WIDE:
        few = {**several, "feature_range": (20, 200)}
        found = [{**few, "guide": 1.0}, {**few, "guide": 0.5}]
    elif sp.issparse(problem.X):
        found = [several, {**several, "guide": 1.0}, {**several, "metric": "cosine"}, {**several, "guide": 2.0}]
    else:
        found = [
            {**soft, "ranks": 0.5},
            {**several, "guide": 1.0},
            soft,
            {**soft, "guide": 1.0, "ranks": 1.0},
            {**several, "guide": 2.0},
            {**soft, "ranks": 1.0},
            {**several, "metric": "manhattan"},
            {"n_neighbors": 20},
        ]
        if n_columns >= 8:
            found += [{**soft, "feature_range": (0.05, 0.4)}, {**soft, "subspace": "correlated"}]
    if problem.image_shape is not None:
        image = {"subspace": "image"}
        found = [
            {**several, **image, "feature_range": (0.02, 0.25), "metric": "cosine"},
            {**soft, **image, "feature_range": (0.05, 0.5), "metric": "cosine"},
            {**several, **image},
            {**several, "subspace": "correlated"},
        ]
    return [{"part": "local", **settings} for settings in found]


def other_candidates(problem: Problem) -> list[Settings]:
    """Settings of forests, of their leaves, of plain columns and of boosted trees."""
    n_rows, n_columns = problem.X.shape
    wide = n_columns > WIDE
    shares = ("sqrt", columns_per_split(0.3, n_columns)) if wide else ("sqrt", 0.3, 1.0)
    kernel = {"part": "kernel", "n_rows": 2000 if n_rows <= FEW_ROWS else 1000}
    kernels: list[Settings] = [{**kernel, "sharpness": sharpness} for sharpness in (1.0, 0.3, 3.0)]
    kernels = kernels if n_rows <= MOST_KERNEL_ROWS else []
    if sp.issparse(problem.X) and n_columns > VERY_WIDE:
        return [{"part": "columns"}, *kernels, {"part": "forest", "max_features": "sqrt", "n_trees": 60}]
    forests: list[Settings] = [{"part": "forest", "max_features": share} for share in shares]
    leaves = {"part": "leaves", "max_features": columns_per_split(0.3, n_columns) if wide else 0.5}
    boosted: list[Settings] = []
    if not sp.issparse(problem.X) and n_columns * max(1, problem.n_classes) <= 2000:
        few = {"max_leaf_nodes": 15} if n_rows < FEW_ROWS else {}
        boosted = [{"part": "boosted", **few}, {"part": "boosted", "learning_rate": 0.05, "max_leaf_nodes": 8}]
    first = [{"part": "columns"}, forests[-1], *kernels[:1], *boosted[:1], leaves]
    return [*first, *forests[:-1], *kernels[1:], *boosted[1:]]


def choose(problem: Problem, clock: Clock, rng: np.random.RandomState, fixed: Sequence[Settings] | None) -> Choice:
    """Parts of least loss on rows that they have not learned from; of `fixed` ones, how to blend them."""
    candidates = _candidates(problem, rng) if fixed is None else list(fixed)
    problem = _sampled(problem, MOST_ROWS, rng)
    n_rows = len(problem.targets)
    folds = _enough(folds_of(problem, 5 if n_rows < ENOUGH_ROWS else 3, rng))
    if fixed is None:
        candidates = _screened(problem, candidates, clock, rng)
    trials = Trials(problem, folds)
    seconds: list[float] = []

    def tried(place: int) -> Tried | None:
        """Nothing where time would run out."""
        settings = candidates[place]
        if fixed is None and place and clock.left < max(seconds, default=0.0):
            return None
        start = time.monotonic()
        ((_, scores),) = trials.scores(settings, [settings.get("C", 1.0)])
        seconds.append(time.monotonic() - start)
        clock.tell(0.3 + 0.5 * len(seconds) / len(candidates))
        return Tried(settings, scores, seconds[-1] / sum(len(train) for train, _ in folds))

    known = [found for found in side_by_side(tried, range(len(candidates))) if found is not None]
    return _blended(known, trials, problem.is_number, prune=fixed is None)


def _sampled(problem: Problem, most: int, rng: np.random.RandomState) -> Problem:
    n_rows = len(problem.targets)
    if n_rows <= most:
        return problem
    n_parts = -(-n_rows // most)
    return problem.take(folds_of(problem, n_parts, rng)[0][1])


def _enough(folds: list[Fold]) -> list[Fold]:
    """As many folds as it takes to test on enough rows."""
    needed = -(-ENOUGH_ROWS // len(folds[0][1]))
    return folds[: max(1, needed)]


def _seeded(settings: Settings, rng: np.random.RandomState) -> Settings:
    return completed({**settings, "seed": int(rng.randint(2**31 - 1))})


def _values_of_C(settings: Settings, problem: Problem) -> tuple[float, ...]:
    if settings["part"] not in LINEAR:
        return (1.0,)
    return (C_VALUES_OF_NUMBERS if problem.is_number else C_VALUES)[settings["part"]]


def _own_loss(scores: NDArray[np.float64], trials: Trials, is_number: bool) -> float:
    blend = fit_blend([scores], trials.targets, trials.weights, is_number=is_number)
    return mean_loss(blend, [scores], trials.targets, trials.weights, is_number=is_number)


def _candidates(problem: Problem, rng: np.random.RandomState) -> list[Settings]:
    # In turns: where time is short, few are tried, and these should be of all kinds.
    pairs = zip_longest(other_candidates(problem), local_candidates(problem))
    known = [settings for pair in pairs for settings in pair if settings is not None]
    found = [_seeded(settings, rng) for settings in known if settings["part"] in problem.family]
    if not found:
        raise ValueError("No part of this family takes these rows: boosted trees need dense ones and fewer columns.")
    return found


def _screened(problem: Problem, candidates: list[Settings], clock: Clock, rng: np.random.RandomState) -> list[Settings]:
    """The settings that do best with few groups, trees and rows, the best first."""
    few = _sampled(problem, SCREENING_ROWS, rng)
    trials = Trials(few, folds_of(few, 3, rng)[:1])
    done: list[int] = []

    def least_loss(place: int) -> float:
        """Of all values of C, the best of which is kept."""
        settings = candidates[place]
        if place > 1 and clock.elapsed > SCREENING_SHARE * clock.budget:
            return np.inf
        small = {name: min(size, settings[name]) for name, size in SCREENING_SIZES.items() if name in settings}
        tried = trials.scores({**settings, **small}, _values_of_C(settings, problem))
        losses = [_own_loss(scores, trials, few.is_number) for _, scores in tried]
        best = int(np.argmin(losses))
        if settings["part"] in LINEAR:
            settings["C"] = tried[best][0]["C"]
        done.append(place)
        clock.tell(0.3 * len(done) / len(candidates))
        return losses[best]

    losses = side_by_side(least_loss, range(len(candidates)))
    ranked = sorted((found, place) for place, found in enumerate(losses) if np.isfinite(found))
    return [candidates[place] for place in _kept(candidates, ranked)]


def _kept(candidates: Sequence[Settings], ranked: Sequence[tuple[float, int]]) -> list[int]:
    """The best settings of each part, a guided one and one that is not among those of anchors."""
    least, kept = ranked[0][0], []
    of_part: dict[str, list[int]] = {}
    for loss, place in ranked:
        part, earlier = candidates[place]["part"], of_part.setdefault(candidates[place]["part"], [])
        if part == "local":
            alike = [bool(candidates[other]["guide"]) for other in earlier]
            lacking = len(earlier) == MOST_OF_PART[part] - 1 and len(set(alike)) == 1
            if len(earlier) >= MOST_OF_PART[part] or (lacking and bool(candidates[place]["guide"]) == alike[0]):
                continue
        elif len(earlier) >= MOST_OF_PART[part] or (loss > TOO_MUCH * least and part in ("forest", "boosted")):
            continue
        earlier.append(place)
        kept.append(place)
    return kept


def _blended(tried: Sequence[Tried], trials: Trials, is_number: bool, *, prune: bool) -> Choice:
    """The tried parts blended, without those that add next to nothing."""
    kept = list(tried)
    given: Any = {"targets": trials.targets, "weights": trials.weights, "is_number": is_number}
    while True:
        scores = [part.scores for part in kept]
        blend = fit_blend(scores, **given)
        shares = shares_of(blend, scores)
        enough = len(kept) <= MOST_PARTS and (shares >= LEAST_SHARE).all()
        if not prune or len(kept) == 1 or enough:
            break
        kept.pop(int(np.argmin(shares)))
    return Choice(
        [part.settings for part in kept],
        blend,
        mean_loss(blend, scores, **given),
        score_of(blend.combined(scores), **given),
        [part.seconds for part in kept],
        shares,
    )

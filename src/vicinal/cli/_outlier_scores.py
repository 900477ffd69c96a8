"""Scores of a table's rows and the reasons for the highest: what `vicinal outliers` shows, writes and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table
from sklearn.pipeline import Pipeline, make_pipeline

from .._preparation import make_preparation, take_rows
from .._words import counted
from ..explain import OutlierExplanation, explain_outliers
from ..outlier import LocalOutlierDetector, cross_fitted_p_values

LEAST_ROWS = 4
MOST_REASONS, LEAST_SHARE = 3, 0.1  # columns that are named for each row, and what they add to its score
WIDEST_COLUMN, WIDEST_VALUE = 30, 12  # letters in a table
COUNTING = "Rows are counted from 0."


@dataclass(frozen=True)
class Reason:
    """A column that makes a row strange: the row's value, that of the nearest normal row, its share of the score."""

    column: str
    value: str
    normal: str
    share: float

    def __str__(self) -> str:
        normal = f" ({self.normal})" if self.normal else ""
        return f"{self.column} {self.value or 'missing'}{normal}"


@dataclass(frozen=True)
class ScoredRows:
    """Scores, p-values and outliers of all rows, by which rule they are called so, and the reasons of the strangest."""

    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    outliers: NDArray[np.bool_]
    threshold: float
    fdr: float | None
    by_model: bool
    n_held_out: int
    reasons: OutlierExplanation

    @property
    def order(self) -> NDArray[np.intp]:
        """Rows from the strangest on."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def columns(self) -> dict[str, Any]:
        return {"score": self.scores, "p_value": self.p_values, "outlier": self.outliers}

    def verdict(self) -> str:
        n_outliers, n_rows = int(self.outliers.sum()), len(self.scores)
        found = f"{n_outliers:,} of {counted(n_rows, 'row')} {'is an outlier' if n_outliers == 1 else 'are outliers'}"
        if self.fdr is None:
            return f"{found}: score above {self.threshold:.2f}."
        return f"{found}, with a share of false alarms of {self.fdr:g} at most to be expected."

    def remark(self) -> str:
        """What a bound on false alarms could not find; "" where there is nothing to say."""
        least, n_rows = 1 / (1 + self.n_held_out), len(self.scores)
        if self.fdr is None or self.outliers.any() or least <= self.fdr / n_rows:
            return ""
        return (
            f"The model held out {counted(self.n_held_out, 'row')}, so that no p-value is below {least:.2g}: with "
            f"fewer than {ceil(least * n_rows / self.fdr):,} rows as strange as that, none is called an outlier. Fit "
            "the model on more rows, or score fewer."
        )

    def named(self, place: int) -> list[Reason]:
        """The columns that add most to the score of the row at that place of the order."""
        by_column = self.reasons.column_scores[place]
        shares = by_column / max(by_column.sum(), 1e-300)
        best = np.argsort(-by_column, kind="stable")[:MOST_REASONS].tolist()
        top = [j for j in best if shares[j] >= LEAST_SHARE] or best[:1]
        names = self.reasons.column_names
        return [
            Reason(names[j], self.reasons.value(j, place), self.reasons.normal_value(j, place), float(shares[j]))
            for j in top
        ]


def fit_detector(X: Any, *, contamination: float | None, seed: int, jobs: int | None) -> tuple[Pipeline, NDArray[Any]]:
    """A detector fitted on all rows, and p-values of these by detectors that have not seen them."""
    detector = LocalOutlierDetector(
        contamination="auto" if contamination is None else contamination, random_state=seed, n_jobs=jobs
    )
    pipeline = make_pipeline(make_preparation(X), detector)
    p_values = cross_fitted_p_values(pipeline, X, random_state=seed)
    return pipeline.fit(X), p_values


def score_rows(
    pipeline: Pipeline, X: Any, p_values: NDArray[Any] | None, names: Sequence[str], *, fdr: float | None, top: int
) -> ScoredRows:
    """Scores of all rows, and reasons for at least the first `top` of them; p-values by the model if not given."""
    detector = pipeline[-1]
    rows = pipeline[:-1].transform(X)
    scores = -detector.score_samples(rows)
    by_model = p_values is None
    p_values = detector.p_values(rows) if p_values is None else p_values
    outliers = detector.predict(rows, fdr=fdr) == -1
    places = np.argsort(-scores, kind="stable")[:top]
    own_names = [f"column {name}" if name.isdigit() else name for name in names]
    known = hasattr(pipeline[0], "feature_names_in_")
    reasons = explain_outliers(pipeline, take_rows(X, places), column_names=None if known else own_names)
    reasons = replace(reasons, rows=places, p_values=p_values[places], outliers=outliers[places])
    n_held_out = len(detector.calibration_scores_)
    return ScoredRows(scores, p_values, outliers, -float(detector.offset_), fdr, by_model, n_held_out, reasons)


def outlier_table(found: ScoredRows, top: int) -> Table:
    """The strangest rows, with a line below those that are outliers."""
    table = Table(title="The strangest rows", title_justify="left")
    for name in ("row", "score", "p-value"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("of column", no_wrap=True)
    for name in ("value", "normal row"):
        table.add_column(name, justify="right", no_wrap=True)
    shown = min(top, len(found.reasons))
    for place in range(shown):
        row = found.reasons.rows[place]
        named = found.named(place)
        table.add_row(
            f"{row}",
            f"{found.scores[row]:.2f}",
            f"{found.p_values[row]:.2g}",
            "\n".join(f"{100 * reason.share:.0f} %" for reason in named),
            _lines((reason.column for reason in named), WIDEST_COLUMN),
            _lines((reason.value for reason in named), WIDEST_VALUE),
            _lines((reason.normal for reason in named), WIDEST_VALUE),
            style="" if found.outliers[row] else "dim",
            end_section=place + 1 < shown and found.outliers[row] != found.outliers[found.reasons.rows[place + 1]],
        )
    return table


def _lines(texts: Iterable[str], widest: int) -> str:
    """One line for each; long ones are cut, so that lines of one row stay side by side."""
    cut = (text if len(text) <= widest else f"{text[: widest - 1]}\N{HORIZONTAL ELLIPSIS}" for text in texts)
    return escape("\n".join(cut))

"""What `vicinal select` does with a table: the method that was asked for, numbers as it sees them, ranks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _files
from .._calls import watching
from .._preparation import (
    categorical_columns,
    check_table,
    describe_scale,
    has_missing,
    is_frame,
    make_imputer,
    scaler,
    usual_scale,
)
from .._validation import Matrix
from ..select import SELECTORS, FeatureSelector
from ._arguments import made
from ._score_tables import score_chart, score_table
from ._side import without_side
from ._terminal import Steps, note, show, telling_warnings, warn, width

# The parameters that options stand for.
PARAMETERS = {
    "--clusters": "n_clusters",
    "--neighbors": "n_neighbors",
    "--perplexity": "perplexity",
    "--penalty": "penalty",
    "--metapath": "metapaths",
    "--aggregation": "aggregation",
    "--seed": "random_state",
    "--jobs": "n_jobs",
}
SNFS_ON_TABLES = (
    "snfs keeps the neighbours that all columns make together, and standardised noise has as large a part in them as "
    "any other column: for such tables laplacian-score is the safer method."
)


def make_selector(method: str, given: Mapping[str, Any]) -> FeatureSelector:
    """The method with the options that were given, which are not None; one that it does not have is refused."""
    return made(SELECTORS[method].kind, method, given, PARAMETERS)


def parse_features(text: str | None, method: str) -> Any:
    """What -k says: a number of columns, a share of them, "auto" or "all", or one of these for each view by its name.

    Without it, the method's default.
    """
    if text is not None and "=" in text:
        parts = [part.partition("=") for part in text.split(",")]
        named = [view.strip() for view, _, _ in parts]
        if len(set(named)) < len(named):
            raise ValueError(f"-k names a view twice; give one number for each. Got {text!r}.")
        return {view.strip(): parse_features(wanted.strip(), method) for view, _, wanted in parts}
    if text is None:
        return "auto" if SELECTORS[method].has_rule else 0.5
    if text == "auto" and not SELECTORS[method].has_rule:
        raise ValueError(
            f"The method {method} has no rule for how many columns to keep; say it with -k: a number, a share such as "
            "0.1, or all."
        )
    if text in ("auto", "all"):
        return text
    wanted: int | float = 0
    for kind in (float, int):
        try:
            wanted = kind(text)
        except ValueError:
            continue
    if not (0 < wanted <= 1 if isinstance(wanted, float) else wanted >= 1):
        raise ValueError(
            "-k must be a whole number of at least 1, a share of the columns above 0 and up to 1.0, auto or all; "
            f"got {text!r}."
        )
    return wanted


def check_number(wanted: Any, n_columns: int, file: Path) -> None:
    if isinstance(wanted, Mapping):
        raise ValueError(f"-k names the views {_files.listed(list(wanted))}; say with --views what these are.")
    if isinstance(wanted, int) and wanted > n_columns:
        columns = f"{n_columns} column{'s' * (n_columns != 1)}"
        raise ValueError(f"{file.name} has {columns} to choose from, but -k asks for {wanted}; ask for fewer, or all.")


def as_numbers(table: _files.Table, *, linked: bool = False) -> Matrix:
    """The columns as floats; what is no number is refused. `linked`: rows have links, and perhaps a column of names."""
    if is_frame(table.X):
        others = categorical_columns(table.X)
        if others:
            names = _files.listed(others)
            subject, them = (f"Columns {names} are", "them") if len(others) > 1 else (f"Column {names} is", "it")
            raise ValueError(
                f"{subject} not numeric, and only numbers can be ranked: leave {them} out with --drop, or carry one "
                f"over as --target{', or name rows by one with --nodes' if linked else ''}."
            )
        return check_table(table.X).to_numpy()
    X = check_table(table.X)
    if sp.issparse(X) and has_missing(X):
        raise ValueError("The sparse matrix has missing values; fill them in, or remove those rows.")
    return X


def scaled(X: Matrix, scale: str, method: str) -> tuple[Matrix, str, str]:
    """X as the method will see it, the scale that was used, and what was done in words."""
    words = ""
    if has_missing(X):
        X = make_imputer().fit_transform(X)
        words = ", missing values filled with medians"
    if scale == "auto":
        scale = usual_scale(X)
        if SELECTORS[method].reads_links and scale == "tfidf":
            scale = "none"  # words that linked rows share count, however common they are
        scale = SELECTORS[method].scale if scale == "standard" else scale
    if scale == "standard" and method == "maximum-variance":
        raise ValueError(
            "Standardised columns all vary alike, so maximum-variance cannot choose among them; take --scale minmax or "
            "none."
        )
    if scale == "standard" and sp.issparse(X):
        raise ValueError("To standardise a sparse file would fill its zeros; take --scale tfidf, minmax or none.")
    done = describe_scale(scale, sparse=sp.issparse(X)) + words
    return scaler(scale, X).fit_transform(X), scale, done


def rank(
    selector: FeatureSelector, X: Matrix, *, scale: str, method: str, file: Path, inputs: Mapping[str, Any]
) -> tuple[float, Matrix]:
    """Fits the selector; how many seconds that took, and what it saw. `inputs` are what it looks at beside X."""
    n_rows, n_columns = X.shape
    X, scale, done = scaled(X, scale, method)
    note(f"{file.name}: {n_rows:,} rows; {n_columns:,} columns, {done}; {method}.")
    if method == "snfs" and scale == "standard":
        warn(SNFS_ON_TABLES)
    if not inputs and SELECTORS[method].reads_links:
        warn(f"{method} looks at links between rows, and none are given: nearest rows stand in for them. See --links.")
    if not inputs and SELECTORS[method].reads_side:
        warn(without_side(method, file))
    start = time.perf_counter()
    with telling_warnings(), Steps(total=None, doing="ranking columns") as progress, watching(progress.share):
        selector.fit(X, **inputs)
    return time.perf_counter() - start, X


def show_ranking(selector: Any, names: Sequence[str], top: int) -> None:
    scores, best = ranked(selector, names)
    n_kept = int(selector.support_.sum())
    if top:
        show(score_table(best[:top], scores[:top], n_kept))
    show(score_chart(scores, n_kept, own_number(selector), width()))


def own_number(selector: Any) -> int | None:
    """How many columns the method itself would keep, where it has a rule; of one view, if it looks at several."""
    n_auto = getattr(selector, "n_auto_", None)
    return n_auto[0] if isinstance(n_auto, list) else n_auto


def ranked(selector: Any, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Scores and names of all columns, the best first."""
    order = np.argsort(selector.ranking_)
    return selector.scores_[order], [names[j] for j in order]

"""The command `vicinal select`: which columns of a file are worth keeping, when there are no labels."""

from __future__ import annotations

import inspect
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp
from cyclopts import Parameter
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from . import _files
from ._arguments import Drop, Force, Jobs, check_jobs
from ._calls import watching
from ._terminal import Steps, score_chart, score_table, stderr, stdout
from ._validation import Matrix, check_count
from ._writing import check_free
from .experiments import check_table
from .report._score_curve import check_plot_file, write_score_curve
from .select import SELECTORS, FeatureSelector

if TYPE_CHECKING:
    Method = str
else:
    Method = Literal[tuple(SELECTORS)]
Scale = Literal["auto", "none", "standard", "minmax", "tfidf"]
# The parameters that options stand for.
PARAMETERS = {
    "--clusters": "n_clusters",
    "--neighbors": "n_neighbors",
    "--perplexity": "perplexity",
    "--penalty": "penalty",
    "--seed": "random_state",
    "--jobs": "n_jobs",
}
SCALED = {
    "none": "as they are",
    "standard": "standardised",
    "minmax": "scaled to [0, 1]",
    "tfidf": "weighted by TF-IDF",
}
SNFS_ON_TABLES = (
    "snfs keeps the neighbours that all columns make together, and standardised noise has as large a part in them as "
    "any other column: for such tables laplacian-score is the safer method."
)


def select_columns(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    method: Annotated[Method, Parameter(name=["--method", "-m"])] = "snfs",
    features: Annotated[str, Parameter(name=["--features", "-k"])] = "auto",
    target: Annotated[
        str | None,
        Parameter(help="Column that is never looked at, only carried over; in NPZ files the array (default y)."),
    ] = None,
    drop: Drop = (),
    scale: Scale = "auto",
    clusters: int | None = None,
    neighbors: int | None = None,
    perplexity: float | None = None,
    penalty: float | Literal["auto"] | None = None,
    seed: int | None = None,
    jobs: Jobs = None,
    top: int = 20,
    plot: Path | None = None,
    force: Force = False,
) -> None:
    """Which columns are worth keeping? No labels are needed.

    Ranks the numeric columns of a table, shows the best ones and the curve of all scores, and writes the chosen columns
    as they are in the file.

    Parameters
    ----------
    file
        The table, one row per example.
    output
        Where the chosen columns go, in their order and the target last: .csv, .tsv, .parquet or .npz. Without it
        nothing is written.
    method
        How columns are ranked. snfs is for many sparse columns such as words; for tables of few columns, some of them
        noise, laplacian-score and spec are safer.
    features
        How many to keep: a number, a share such as 0.1, all, or auto, which snfs alone can decide.
    scale
        What the method sees of the numbers. auto: sparse counts weighted by TF-IDF, other sparse numbers as they are,
        tables standardised, or scaled to [0, 1] for maximum-variance, since standardised columns all vary alike, and
        for rufs, which takes no negative numbers.
    clusters
        Pseudo classes (mcfs, udfs, ndfs, rufs, rsfs).
    neighbors
        Nearest rows of each row that are looked at (snfs: all rows by default).
    perplexity
        About how many neighbours of each row are to be kept (snfs).
    penalty
        What each column costs (snfs): the larger, the fewer columns are kept. auto finds one by which as many are kept
        as -k says.
    seed
        Fixes all draws.
    top
        How many of the best columns to show.
    plot
        Write the curve of scores to this file: .svg or .html.
    """
    check_jobs(jobs)
    for option, value, least in (("--clusters", clusters, 1), ("--neighbors", neighbors, 1), ("--seed", seed, 0)):
        if value is not None:
            check_count(option, value, least=least)
    check_count("--top", top, least=0)
    given = {
        "--clusters": clusters,
        "--neighbors": neighbors,
        "--perplexity": perplexity,
        "--penalty": penalty,
        "--seed": seed,
        "--jobs": jobs,
    }
    selector = make_selector(method, {option: value for option, value in given.items() if value is not None})
    wanted = parse_features(features, method)
    if penalty == wanted == "auto":
        raise ValueError("To find a penalty, --penalty auto needs the number of columns to keep: say it with -k.")
    if output is not None:
        _files.check_table_file(output)
        check_free(output, force=force)
    if plot is not None:
        check_plot_file(plot)
        check_free(plot, force=force)
    table = _files.read_table(file, target=target, drop=drop, whole_target=False)
    X = as_numbers(table)
    n_rows, n_columns = X.shape
    if isinstance(wanted, int) and wanted > n_columns:
        columns = f"{n_columns} column{'s' * (n_columns != 1)}"
        raise ValueError(f"{file.name} has {columns} to choose from, but -k asks for {wanted}; ask for fewer, or all.")
    X, used, how = scaled(X, scale, method)
    stderr.print(f"{file.name}: {n_rows:,} rows; {n_columns:,} columns, {how}; {method}.", markup=False)
    if method == "snfs" and used == "standard":
        stderr.print(SNFS_ON_TABLES, style="yellow", markup=False)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Steps(total=None, doing="ranking columns") as progress, watching(progress.share):
            selector.set_params(n_features_to_select=wanted).fit(X)
    seconds = time.perf_counter() - start
    for sentence in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning)):
        stderr.print(f"vicinal: {sentence}", style="yellow", markup=False, soft_wrap=True)

    n_kept = int(selector.support_.sum())
    n_auto = getattr(selector, "n_auto_", None)
    order = np.argsort(selector.ranking_)
    scores, names = selector.scores_[order], [table.names[j] for j in order]
    if top:
        stdout.print(score_table(names[:top], scores[:top], n_kept))
    stdout.print(score_chart(scores, n_kept, n_auto, stdout.width))
    if plot is not None:
        title = f"{file.name}: scores of {n_columns:,} columns by {method}"
        write_score_curve(plot, scores, names, n_kept, n_auto, title=title, force=force)
    if output is not None:
        if not n_kept:
            raise ValueError(f"No column is kept, so {output} is not written; say with -k how many you want.")
        _files.write_columns(output, table, selector.support_, force=force)
    places = [f"{path}" for path in (output, plot) if path is not None]
    summary = f"{n_rows:,} rows; {n_kept:,} of {n_columns:,} columns kept, ranked in {seconds:.1f} s"
    stdout.print(f"{summary}{': ' if places else '.'}{', '.join(places)}", markup=False, soft_wrap=True)


def make_selector(method: str, options: dict[str, Any]) -> FeatureSelector:
    """The method with the options that were given; one that it does not have is refused."""
    kind = SELECTORS[method].kind
    known = inspect.signature(kind).parameters
    for option in options:
        if PARAMETERS[option] not in known:
            others = [name for name, parameter in PARAMETERS.items() if parameter in known]
            takes = f"of its kind it takes {', '.join(others)}" if others else "it takes no option of its kind"
            raise ValueError(f"The method {method} has no {option}; {takes}. Leave {option} out.")
    settings = {PARAMETERS[option]: value for option, value in options.items()}
    if "random_state" in known:
        settings.setdefault("random_state", 0)
    return kind(**settings)


def parse_features(text: str, method: str) -> int | float | str:
    """What -k says: a number of columns, a share of them, "auto" or "all"."""
    if text == "auto" and not SELECTORS[method].has_rule:
        raise ValueError(
            f"The method {method} has no rule for how many columns to keep; say it with -k: a number, a share such as "
            "0.1, or all."
        )
    if text in ("auto", "all"):
        return text
    wanted: int | float = 0
    try:
        wanted = int(text)
    except ValueError:
        try:
            wanted = float(text)
        except ValueError:
            wanted = 0
    if not (0 < wanted <= 1 if isinstance(wanted, float) else wanted >= 1):
        raise ValueError(
            "-k must be a whole number of at least 1, a share of the columns above 0 and up to 1.0, auto or all; "
            f"got {text!r}."
        )
    return wanted


def as_numbers(table: _files.Table) -> Matrix:
    """The columns as floats; what is no number is refused."""
    if isinstance(table.X, pl.DataFrame):
        numeric = {name for name, kind in table.X.schema.items() if kind.is_numeric() or kind in (pl.Boolean, pl.Null)}
        others = [name for name in table.names if name not in numeric]
        if others:
            names = _files.listed(others)
            subject = f"Columns {names} are" if len(others) > 1 else f"Column {names} is"
            raise ValueError(
                f"{subject} not numeric, and only numbers can be ranked: leave them out with --drop, or carry one over "
                "as --target."
            )
        return check_table(table.X).to_numpy()
    X = check_table(table.X)
    if sp.issparse(X) and np.isnan(X.data).any():
        raise ValueError("The sparse matrix has missing values; fill them in, or remove those rows.")
    return X


def scaled(X: Matrix, scale: str, method: str) -> tuple[Matrix, str, str]:
    """X as the method is to see it, the scale that was used, and what was done in words."""
    words = ""
    if not sp.issparse(X) and np.isnan(X).any():
        X = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X)
        words = ", missing values taken for medians"
    if scale == "auto":
        scale = _usual_scale(X, method)
    if scale == "standard" and method == "maximum-variance":
        raise ValueError(
            "Standardised columns all vary alike, so maximum-variance cannot choose among them; take --scale minmax or "
            "none."
        )
    if scale == "standard" and sp.issparse(X):
        raise ValueError("To standardise a sparse file would fill its zeros; take --scale tfidf, minmax or none.")
    if scale == "tfidf":
        if _values(X).min(initial=0) < 0:
            raise ValueError("TF-IDF is for counts, but there are negative numbers; take another --scale.")
        X = TfidfTransformer().fit_transform(X)
    elif scale == "standard":
        X = StandardScaler().fit_transform(X)
    elif scale == "minmax":
        X = MaxAbsScaler().fit_transform(X) if sp.issparse(X) else MinMaxScaler().fit_transform(X)
    done = "divided by their largest value" if sp.issparse(X) and scale == "minmax" else SCALED[scale]
    return X, scale, done + words


def _usual_scale(X: Matrix, method: str) -> str:
    if not sp.issparse(X):
        return SELECTORS[method].scale
    values = _values(X)
    return "tfidf" if values.min(initial=0) >= 0 and (values == np.floor(values)).all() else "none"


def _values(X: Matrix) -> Any:
    return X.data if sp.issparse(X) else X

"""The command `vicinal select`: which columns of a file are worth keeping, when there are no labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..select import SELECTORS
from ._arguments import Drop, Force, Jobs, OptionalOutput, check_jobs

if TYPE_CHECKING:
    Method = str
else:
    Method = Literal[tuple(SELECTORS)]
Scale = Literal["auto", "none", "standard", "minmax", "matrix", "tfidf"]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal select` takes.

    Parameters
    ----------
    output
        Where the chosen columns go, in their order and the target last: .csv, .tsv, .parquet or .npz. Without it
        nothing is written.
    method
        How columns are ranked. snfs is for many sparse columns such as words; for tables of few columns, some of them
        noise, laplacian-score and spec are safer.
    features
        How many to keep: a number, a share such as 0.1, all, or auto, which snfs alone can decide.
    target
        Column that is never looked at, only carried over; in NPZ files the array (default y).
    scale
        What the method sees of the numbers. auto: sparse counts weighted by TF-IDF, other sparse numbers as they are,
        tables standardised, or scaled to [0, 1] for maximum-variance, since standardised columns all vary alike, and
        for rufs, which takes no negative numbers. minmax: every column to [0, 1]. matrix: all divided by one number.
    clusters
        Pseudo classes (mcfs, udfs, ndfs, rufs, rsfs).
    neighbors
        Nearest rows of each row that are looked at (snfs: all rows by default).
    perplexity
        About how many neighbours each row should keep (snfs).
    penalty
        What each column costs (snfs): the larger, the fewer columns are kept. auto finds one that keeps as many as -k
        says.
    seed
        Fixes all draws.
    top
        How many of the best columns to show.
    plot
        Write the curve of scores to this file: .svg or .html.
    """

    output: OptionalOutput = None
    method: Annotated[Method, Parameter(name=["--method", "-m"])] = "snfs"
    features: Annotated[str, Parameter(name=["--features", "-k"])] = "auto"
    target: str | None = None
    drop: Drop = ()
    scale: Scale = "auto"
    clusters: int | None = None
    neighbors: int | None = None
    perplexity: float | None = None
    penalty: float | Literal["auto"] | None = None
    seed: int | None = None
    jobs: Jobs = None
    top: int = 20
    plot: Path | None = None
    force: Force = False


DEFAULTS = Options()


def select(file: Path, /, *, options: Options = DEFAULTS) -> None:
    """Which columns are worth keeping? No labels are needed.

    Ranks the numeric columns of a table, shows the best ones and the curve of all scores, and writes the chosen columns
    as they are in the file.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._files import read_table
    from ._ranking import as_numbers, check_number, parse_features, rank, requested_selector, show_ranking, write_files

    _check(options)
    selector = requested_selector(options)
    wanted = parse_features(options.features, options.method)
    if options.penalty == wanted == "auto":
        raise ValueError("To find a penalty, --penalty auto needs the number of columns to keep: say it with -k.")
    table = read_table(file, target=options.target, drop=options.drop, whole_target=False)
    X = as_numbers(table)
    check_number(wanted, X.shape[1], file)
    seconds = rank(selector.set_params(n_features_to_select=wanted), X, file, options)
    show_ranking(selector, table.names, options.top)
    write_files(selector, table, file, options)
    _summarise(X.shape, int(selector.support_.sum()), seconds, options)


def _check(options: Options) -> None:
    """Refuses what can be refused before the file is read."""
    from .._files import check_table_file
    from .._validation import check_count
    from .._writing import check_free
    from ..report import check_plot_file

    check_jobs(options.jobs)
    counts = (("--clusters", options.clusters, 1), ("--neighbors", options.neighbors, 1), ("--seed", options.seed, 0))
    for option, value, least in counts:
        if value is not None:
            check_count(option, value, least=least)
    check_count("--top", options.top, least=0)
    for path, check_ending in ((options.output, check_table_file), (options.plot, check_plot_file)):
        if path is not None:
            check_ending(path)
            check_free(path, force=options.force)


def _summarise(shape: tuple[int, int], n_kept: int, seconds: float, options: Options) -> None:
    from ._terminal import say

    places = ", ".join(str(path) for path in (options.output, options.plot) if path is not None)
    summary = f"{shape[0]:,} rows; {n_kept:,} of {shape[1]:,} columns kept, ranked in {seconds:.1f} s"
    say(f"{summary}: {places}" if places else f"{summary}.", wrap=False)

"""The command `vicinal cluster`: which rows of a file belong together, and what tells them apart."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ._arguments import Drop, Force, Jobs, OptionalOutput, Report, check_jobs

if TYPE_CHECKING:
    from .._files import Table
    from ._clustering import Clustering


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal cluster` takes.

    Parameters
    ----------
    clusters
        How many to make. By default as many as the data suggest, which is said.
    max_clusters
        The most that the data may suggest.
    output
        Where the rows go, with a column that has the number of each row's cluster, the largest being 1: .csv, .tsv or
        .parquet. Without it nothing is written.
    target
        Column that is never looked at, only carried over; in NPZ files the array (default y).
    scale
        What becomes of numbers: every column with mean 0 and deviation 1 (standard), to [0, 1] (minmax), or as it is
        (none), which is right where all columns have one unit, as pixels have. Categories become columns of 0 and 1.
    metric
        Distance between rows; cosine for counts of words.
    groups
        Groups of anchors: more of them give steadier clusters, and take longer.
    seed
        Fixes all draws.
    """

    clusters: Annotated[int | None, Parameter(name=["--clusters", "-k"])] = None
    max_clusters: int = 20
    output: OptionalOutput = None
    report: Report = None
    target: str | None = None
    drop: Drop = ()
    scale: Literal["standard", "minmax", "none"] = "standard"
    metric: Literal["euclidean", "manhattan", "cosine"] = "euclidean"
    groups: int = 200
    seed: int = 0
    jobs: Jobs = None
    force: Force = False


DEFAULTS = Options()


def cluster(file: Path, /, *, options: Options = DEFAULTS) -> None:
    """Which rows belong together, and what tells them apart? No labels are needed.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._files import read_table
    from .._preparation import check_table, describe_columns
    from ._cluster_table import cluster_table
    from ._clustering import find_clusters
    from ._terminal import Steps, note, say, show

    _check(options)
    table = read_table(file, target=options.target, drop=options.drop, whole_target=False)
    X = check_table(table.X)
    start = time.perf_counter()
    with Steps(total=1, doing="nearest anchors") as progress:
        found = find_clusters(X, table.names, _model(options), scale=options.scale, progress=progress.share)
    seconds = time.perf_counter() - start
    note(f"{file.name}: {X.shape[0]:,} rows; {describe_columns(X, options.scale)}.")
    show(cluster_table(found))
    if options.clusters is None:
        say(found.suggestion())
    _write(found, table, file, options)
    _summarise(found, seconds, options)


def _check(options: Options) -> None:
    """Refuses what can be refused before the file is read."""
    from .._files import check_frame_file
    from .._validation import check_count
    from .._writing import check_free

    check_jobs(options.jobs)
    if options.clusters is not None:
        check_count("-k", options.clusters, least=2)
    counts = (("--max-clusters", options.max_clusters, 2), ("--groups", options.groups, 1), ("--seed", options.seed, 0))
    for option, value, least in counts:
        check_count(option, value, least=least)
    if options.output is not None:
        check_frame_file(options.output)
    for path in (options.output, options.report):
        if path is not None:
            check_free(path, force=options.force)


def _model(options: Options) -> Any:
    from ..cluster import LocalSpectralClustering

    return LocalSpectralClustering(
        "auto" if options.clusters is None else options.clusters,
        max_clusters=options.max_clusters,
        metric=options.metric,
        n_groups=options.groups,
        random_state=options.seed,
        n_jobs=options.jobs,
    )


def _write(found: Clustering, table: Table, file: Path, options: Options) -> None:
    """The rows with their clusters, and the report, where they are asked for."""
    from .._calls import n_threads
    from .._files import write_frame
    from .._words import counted
    from ..report import write_report
    from ._cluster_page import cluster_page
    from ._scored_rows import rows_with
    from ._terminal import command_line, facts, note

    if options.output is not None:
        columns, left_out = rows_with(table, {"cluster": found.numbers}, first_row=1)
        write_frame(options.output, columns, force=options.force)
        if left_out:
            note(f"{options.output.name} has the rows' numbers and clusters, without their {left_out:,} columns.")
    if options.report is not None:
        threads = counted(n_threads(options.jobs), "thread")
        page = cluster_page(file.name, found, command=command_line(), facts=facts(threads))
        write_report(options.report, page, force=options.force)


def _summarise(found: Clustering, seconds: float, options: Options) -> None:
    from ._terminal import say

    places = ", ".join(str(path) for path in (options.output, options.report) if path is not None)
    summary = f"{len(found.numbers):,} rows in {len(found.profiles)} clusters, in {seconds:.1f} s"
    say(f"{summary}: {places}" if places else f"{summary}.", wrap=False)

"""The command `vicinal outliers`: which rows of a file are strange, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from ._arguments import Drop, Force, Jobs, OptionalOutput, Report, check_jobs

if TYPE_CHECKING:
    from .._files import Table
    from ._outlier_scores import ScoredRows


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal outliers` takes.

    Parameters
    ----------
    output
        Where the rows go, in their order, with their score, p-value and whether they are outliers: .csv, .tsv or
        .parquet. Without it nothing is written.
    target
        Column that is never looked at, only carried over; in NPZ files the array (default y).
    contamination
        Share of rows to call outliers, up to 0.5. By default those are called so whose score is above 2, as strange as
        one row in a hundred.
    fdr
        In place of a threshold, the share of false alarms among the rows that are called outliers, such as 0.05. It
        needs a model that was fitted on normal rows.
    model
        A saved model that scores the rows; nothing is fitted then.
    save_model
        Where to save the fitted model (.skops).
    top
        How many of the strangest rows to show.
    seed
        Fixes all draws (default 0).
    """

    output: OptionalOutput = None
    report: Report = None
    target: str | None = None
    drop: Drop = ()
    contamination: float | None = None
    fdr: float | None = None
    model: Path | None = None
    save_model: Path | None = None
    top: int = 10
    seed: int | None = None
    jobs: Jobs = None
    force: Force = False


DEFAULTS = Options()


def outliers(file: Path, /, *, options: Options = DEFAULTS) -> None:
    """Which rows are strange, and why? No labels are needed.

    A score of 1 is that of a row stranger than nine in ten, 2 that of one stranger than 99 in a hundred, and so on. A
    p-value is the share of rows at least as strange, among rows that the model has not seen: those held out when a
    saved model was fitted, or else, by a model of the other half, those of the row's own half of the file.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._files import read_table
    from .._models import load_detector
    from .._preparation import check_table, describe_columns
    from ._outlier_scores import COUNTING, outlier_table
    from ._terminal import note, say, show, warn

    _check(options)
    pipeline = load_detector(options.model) if options.model is not None else None
    n_columns = pipeline[0].n_features_in_ if pipeline is not None else None
    table = read_table(file, target=options.target, drop=options.drop, whole_target=False, n_columns=n_columns)
    X = check_table(table.X)
    done = describe_columns(X) if pipeline is None else f"scored by {options.model}"
    note(f"{file.name}: {X.shape[0]:,} rows; {done}.")
    start = time.perf_counter()
    pipeline, found = _scored(pipeline, X, table, file, options)
    seconds = time.perf_counter() - start
    if options.top:
        show(outlier_table(found, options.top))
        say(COUNTING)
    if remark := found.remark():
        warn(remark)
    _write(pipeline, found, table, file, options)
    places = (options.output, options.report, options.save_model)
    written = ", ".join(str(path) for path in places if path is not None)
    verdict = f"{found.verdict().removesuffix('.')}. Scored in {seconds:.1f} s"
    say(f"{verdict}: {written}" if written else f"{verdict}.", wrap=False)


def _check(options: Options) -> None:
    """Refuses what can be refused before the file is read."""
    from .._files import check_frame_file
    from .._validation import check_count, check_share
    from .._writing import check_free

    check_jobs(options.jobs)
    check_count("--top", options.top, least=0)
    if options.seed is not None:
        check_count("--seed", options.seed, least=0)
    share = options.contamination
    if share is not None and not 0 < share <= 0.5:
        raise ValueError(f"--contamination must be a share above 0 and up to 0.5; got {share}.")
    if options.fdr is not None:
        check_share("--fdr", options.fdr)
        if share is not None:
            raise ValueError("--contamination and --fdr are two rules for the same thing: leave out one of them.")
        if options.model is None:
            raise ValueError(
                "--fdr needs a --model that was fitted on normal rows: rows of one file, compared with each other, "
                "show no more strange ones than there must be. Use --contamination, or a model that --save-model saved."
            )
    if options.model is not None and (options.seed, share, options.save_model) != (None, None, None):
        raise ValueError(
            "A saved model brings its own threshold and draws: leave out --contamination, --seed and --save-model."
        )
    if options.output is not None:
        check_frame_file(options.output)
    for path in (options.output, options.report, options.save_model):
        if path is not None:
            check_free(path, force=options.force)


def _scored(pipeline: Any, X: Any, table: Table, file: Path, options: Options) -> tuple[Any, ScoredRows]:
    from ._outlier_page import MOST_ROWS
    from ._outlier_scores import LEAST_ROWS, fit_detector, score_rows
    from ._saved_columns import check_columns
    from ._terminal import Steps

    if pipeline is not None:
        check_columns(pipeline, X, file, options.model)
        pipeline[-1].n_jobs = options.jobs
    elif X.shape[0] < LEAST_ROWS:
        raise ValueError(f"{file.name} has too few rows to compare: {X.shape[0]}; at least {LEAST_ROWS} are needed.")
    p_values = None
    with Steps(total=None, doing="nearest anchors"):
        if pipeline is None:
            share, seed = options.contamination, options.seed or 0
            pipeline, p_values = fit_detector(X, contamination=share, seed=seed, jobs=options.jobs)
        top = max(options.top, 1, MOST_ROWS if options.report is not None else 0)
        return pipeline, score_rows(pipeline, X, p_values, table.names, fdr=options.fdr, top=top)


def _write(pipeline: Any, found: ScoredRows, table: Table, file: Path, options: Options) -> None:
    """The rows with their scores, the report and the model, where they are asked for."""
    from .._calls import n_threads
    from .._files import write_frame
    from .._models import save_model
    from .._words import counted
    from ..report import write_report
    from ._outlier_page import outlier_page
    from ._scored_rows import rows_with
    from ._terminal import command_line, facts, note

    if options.output is not None:
        columns, left_out = rows_with(table, found.columns)
        write_frame(options.output, columns, force=options.force)
        if left_out:
            note(f"{options.output.name} has the rows' numbers and scores, without their {left_out:,} columns.")
    if options.report is not None:
        threads = counted(n_threads(options.jobs), "thread")
        page = outlier_page(file.name, found, top=options.top, command=command_line(), facts=facts(threads))
        write_report(options.report, page, force=options.force)
    if options.save_model is not None:
        pipeline[-1].n_jobs = None
        save_model(options.save_model, pipeline, force=options.force)

"""The command `vicinal compare`: feature methods on a table of the user's."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ._arguments import CellJobs, Drop, Force, Report, Target, check_jobs, image_shape, share_cores

if TYPE_CHECKING:
    from .._files import Table
    from ..experiments import Experiment, Figure


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal compare` takes.

    Parameters
    ----------
    methods
        A method to run; may be repeated. Default: all that are quick and installed.
    groups
        RandLocal's groups, which is its number of non-zeros per row.
    components
        Columns of the dense maps: random Fourier features, Nystroem, polynomial sketch.
    splits
        Parts of the cross-validation; each is the test part once.
    image_shape
        HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, if rows are images; the method randlocal-tuned makes use of it.
    seed
        Fixes splits and all draws.
    """

    target: Target = None
    drop: Drop = ()
    methods: Annotated[tuple[str, ...], Parameter(name=["--method", "-m"], negative=(), show_default=False)] = ()
    groups: int = 400
    components: int = 1000
    splits: int = 5
    image_shape: str | None = None
    seed: int = 0
    jobs: CellJobs = None
    report: Report = None
    force: Force = False


DEFAULTS = Options()


def compare(file: Path, /, *, options: Options = DEFAULTS) -> None:
    """Which features pay on your data?

    Raw columns, kernel approximations, random trees and RandLocal, each followed by the same linear SVM, beside a tuned
    RBF kernel SVM and gradient boosting. Parameters are chosen on the training parts alone.

    Parameters
    ----------
    file
        The table, one row per example.
    """
    from .._files import read_table
    from .._preparation import check_table, describe_columns
    from ..experiments import check_classes, compare_file, summarise
    from ._terminal import Steps, note

    experiment = _experiment(file, options)
    table = read_table(file, target=options.target, drop=options.drop, need_target=True)
    assert table.y is not None
    check_classes(table.y, options.splits)
    table.X = check_table(table.X)
    columns = describe_columns(table.X)
    data = f"{file.name}: {table.X.shape[0]:,} rows; {columns}; target {table.target!r}."
    note(data)
    cells = experiment.cells()
    workers, threads = share_cores(options.jobs, len(cells))
    with Steps(total=len(cells)) as progress:
        rows = compare_file(
            experiment,
            file,
            target=options.target,
            drop=options.drop,
            jobs=workers,
            threads=threads,
            callback=progress.cell,
        )
    figures = summarise(experiment, rows)
    _show(figures, f"{file.name}, {options.splits} splits of {table.X.shape[0]:,} rows", columns, threads)
    if options.report is not None:
        _write_report(options.report, experiment, figures, table, data, threads, options)


def _experiment(file: Path, options: Options) -> Experiment:
    """What the options declare, once they are known to be in order."""
    from .._validation import check_count
    from .._writing import check_free
    from ..experiments import comparison

    check_count("--groups", options.groups)
    check_count("--components", options.components)
    check_count("--splits", options.splits, least=2)
    check_jobs(options.jobs)
    if options.report is not None:
        check_free(options.report, force=options.force)
    return comparison(
        file.name,
        methods=options.methods,
        n_groups=options.groups,
        n_components=options.components,
        splits=options.splits,
        seed=options.seed,
        image_shape=image_shape(options.image_shape),
        curve=options.report is not None,
    )


def _show(figures: list[Figure], title: str, columns: str, threads: int) -> None:
    from rich.markup import escape

    from ..report import comparison_verdict
    from ._result_tables import comparison_table
    from ._terminal import say, show

    methods = [figure for figure in figures if not figure.setting]
    show(comparison_table(methods, escape(title)))
    say(" ".join(comparison_verdict(methods)))
    say(f"Columns: {columns}, on the training part. {threads} thread{'s' * (threads > 1)} per method.")
    say("Chosen by cross-validation inside the training part, split by split:")
    for figure in methods:
        parameters = " | ".join(map(_parameters, figure.chosen))
        say("; ".join([f"  {figure.label}: {parameters or 'nothing'}", *figure.notes]))


def _parameters(text: str) -> str:
    """Chosen parameters, which the results have as JSON, for readers."""
    return ", ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in json.loads(text).items()
    )


def _write_report(
    path: Path,
    experiment: Experiment,
    figures: list[Figure],
    table: Table,
    data: str,
    threads: int,
    options: Options,
) -> None:
    import numpy as np

    from .._preparation import make_preparation
    from ..experiments import check_classes
    from ..report import comparison_page, write_report
    from ._terminal import command_line, facts, say

    y: Any = table.y
    names = np.unique(y.astype(str) if y.dtype == object else y)
    page = comparison_page(
        experiment,
        figures,
        X=make_preparation(table.X).fit_transform(table.X),
        y=check_classes(y, options.splits),
        class_names=tuple(map(str, names)),
        command=command_line(),
        facts=(("Data", data), *facts(threads)),
    )
    write_report(path, page, force=options.force)
    say(f"The report: {path.resolve()}", wrap=False)

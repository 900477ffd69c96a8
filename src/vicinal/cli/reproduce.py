"""The command `vicinal reproduce`: a paper's table or figure, run anew."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ._arguments import CellJobs, Flag, Force, Output, Report, check_jobs

if TYPE_CHECKING:
    from .._page import Section
    from ..experiments import Experiment, Result


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What `vicinal reproduce` takes.

    Parameters
    ----------
    quick
        Few rows, folds and groups: ends within minutes and shows that everything works; not the paper's values.
    output
        The folder of the CSVs, one per experiment.
    fresh
        Begin anew, even where the CSV of an earlier run is there.
    """

    quick: Flag = False
    output: Output = Path("vicinal-results")
    report: Report = None
    jobs: CellJobs = None
    fresh: Flag = False
    force: Force = False


Names = Annotated[tuple[str, ...], Parameter(show_default=False)]
DEFAULTS = Options()


def reproduce(names: Names = (), /, *, options: Options = DEFAULTS) -> None:
    """Do the published results hold? Run a paper's table or figure anew.

    A run that was stopped continues where it was: finished parts are in its CSV. Without a name, or with the name list,
    it lists what there is.

    Parameters
    ----------
    names
        Experiments, or TOML files that declare one.
    """
    from .._writing import check_free
    from ..experiments import load_experiment
    from ._result_tables import experiment_table
    from ._terminal import show

    if not names or [name.lower() for name in names] == ["list"]:
        show(experiment_table())
        return
    check_jobs(options.jobs)
    experiments = [load_experiment(name) for name in names]
    if options.report is not None:
        if len(experiments) > 1:
            raise ValueError("A report shows one experiment; name one at a time beside --report.")
        check_free(options.report, force=options.force)
    options.output.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        _run(experiment.quickened() if options.quick else experiment, options)


def _run(experiment: Experiment, options: Options) -> None:
    from ..experiments import quick_warning, run, run_pictures
    from ._terminal import Steps, note, warn

    path = options.output / f"{experiment.run_name}{'-quick' * options.quick}.csv"
    if warning := quick_warning(experiment):
        warn(warning)
    try:
        with Steps(total=len(experiment.cells())) as progress:
            results = run(experiment, path, fresh=options.fresh, jobs=options.jobs, callback=progress.cell)
            pictures = run_pictures(experiment, path) if options.report is not None else None
    except KeyboardInterrupt:
        note(f"Finished parts are in {path}; the same command continues from there.")
        raise
    _show(experiment, results, pictures, path, options)


def _show(
    experiment: Experiment, results: list[Result], pictures: Section | None, path: Path, options: Options
) -> None:
    from ..experiments import experiment_page, summarise, threads_of
    from ..report import write_report
    from ._result_tables import section_tables
    from ._terminal import command_line, facts, say, show

    page = experiment_page(
        experiment,
        summarise(experiment, results),
        command=command_line(),
        facts=facts(threads_of(results)),
        pictures=pictures,
    )
    for table in section_tables(page.sections):
        show(table)
    for sentence in (page.warning, *page.verdict, *page.notes):
        if sentence:
            say(sentence)
    say(f"Every repeat: {path.resolve()}", wrap=False)
    if options.report is not None:
        write_report(options.report, page, force=options.force)
        say(f"The report: {options.report.resolve()}", wrap=False)

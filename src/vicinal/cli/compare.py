"""The command `vicinal compare`: feature methods on a table of the user's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .._words import capital
from ._arguments import CellJobs, Drop, Force, Report, Target, check_jobs, image_shape

if TYPE_CHECKING:
    from .._sample import Sample
    from ..experiments import Experiment, Summary


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
    unlabelled
        What the target says of rows without a label. They are never tested on; methods that can learn from such rows
        are given them, others do not see them. -1 beside two classes is such a value by itself where a method that
        tells only two classes apart is among the methods.
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
    unlabelled: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
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
    from .._preparation import describe_columns
    from ..experiments import comparison_sample, run_comparison, summarise, threads_of
    from ._terminal import Steps, facts, note

    experiment = _experiment(file, options)
    table = read_table(file, target=options.target, drop=options.drop, need_target=True)
    assert table.y is not None
    unlabelled = options.unlabelled or _unlabelled(table.y, experiment)
    sample = comparison_sample(table.X, table.y, options.splits, unlabelled=unlabelled)
    columns = describe_columns(sample.X)
    data = f"{file.name}: {len(sample):,} rows; {columns}; target {table.target!r}."
    if said := _of_unlabelled(sample, experiment):
        data = f"{data} {said}"
    note(data)
    with Steps(total=len(experiment.cells())) as progress:
        results = run_comparison(experiment, sample, jobs=options.jobs, callback=progress.cell)
    summaries, threads = summarise(experiment, results), threads_of(results)
    _show(summaries, f"{file.name}, {options.splits} splits of {len(sample.labelled):,} rows", columns, threads)
    _recommend(summaries, file, options)
    if options.report is not None:
        told = (("Data", data), *facts(threads))
        _write_report(options.report, experiment, summaries, sample, table.names, told, options)


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


def _unlabelled(y: Any, experiment: Experiment) -> str | None:
    """-1 beside two classes stands for no label where a method could not tell three classes apart."""
    from ..experiments import find_method

    if y.dtype.kind not in "if" or len(classes := set(y.tolist())) != 3 or -1 not in classes:
        return None
    return "-1" if any(find_method(spec.name).only_two_classes for spec in experiment.methods) else None


def _of_unlabelled(sample: Sample, experiment: Experiment) -> str:
    """What is done with rows that have no label, or look as if they had none."""
    from ..experiments import find_method

    missing = len(sample) - len(sample.labelled)
    if not missing:
        looks_so = len(sample.classes or ()) > 2 and "-1" in (sample.classes or ())
        return "Rows with the target -1 are taken for a class; --unlabelled -1 says they have no label." * looks_so
    methods = map(find_method, dict.fromkeys(spec.name for spec in experiment.methods))
    able = [method.label for method in methods if method.takes_unlabelled]
    named = " and ".join(filter(None, [", ".join(able[:-1]), *able[-1:]]))
    who = f"only {named} learn{'s' * (len(able) == 1)} from them" if able else "no method learns from them"
    return f"{missing:,} rows have no label: they are never tested on, and {who}."


def _show(summaries: list[Summary], title: str, columns: str, threads: str) -> None:
    from rich.markup import escape

    from ..experiments import comparison_verdict
    from ._result_tables import comparison_table
    from ._terminal import say, show

    methods = [summary for summary in summaries if not summary.variant]
    show(comparison_table(methods, escape(title)))
    say(" ".join(comparison_verdict(methods)))
    say(f"Columns: {columns}, on the training part. {capital(threads)}.")
    say("Chosen by cross-validation inside the training part, split by split:")
    for summary in methods:
        parameters = " | ".join(map(_parameters, summary.chosen))
        say("; ".join([f"  {summary.label}: {parameters or 'nothing'}", *summary.notes]))


def _recommend(summaries: list[Summary], file: Path, options: Options) -> None:
    """How to have the model of our own, where it is ahead."""
    import shlex

    from ._terminal import say

    known = [summary for summary in summaries if summary.n and not summary.variant]
    if known and max(known, key=lambda summary: summary.mean).method == "local-model":
        target = ["--target", options.target] if options.target is not None else []
        say(f"To have that model: {shlex.join(['vicinal', 'fit', str(file), *target, '--save-model', 'model.skops'])}")


def _parameters(chosen: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in chosen.items()
    )


def _write_report(
    path: Path,
    experiment: Experiment,
    summaries: list[Summary],
    sample: Sample,
    names: Sequence[str],
    facts: tuple[tuple[str, str], ...],
    options: Options,
) -> None:
    from ..experiments import comparison_page, comparison_pictures, comparison_rules
    from ..report import write_report
    from ._terminal import command_line, say

    page = comparison_page(
        experiment,
        summaries,
        command=command_line(),
        facts=facts,
        rules=comparison_rules(experiment, sample, names),
        pictures=comparison_pictures(experiment, sample),
    )
    write_report(path, page, force=options.force)
    say(f"The report: {path.resolve()}", wrap=False)

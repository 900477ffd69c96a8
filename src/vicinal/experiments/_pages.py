"""The pages of reports: of an experiment, and of a comparison on the user's own table."""

from __future__ import annotations

from collections.abc import Sequence

from .._page import Cell, Column, Page, Section, Table
from .._words import capital, human_seconds
from ._claims import claim_section
from ._curves import lines, time_chart
from ._experiment import Experiment
from ._results import Result
from ._summary import Summary
from ._tables import NOTHING, result_cell
from ._verdicts import quick_warning, verdict

Facts = tuple[tuple[str, str], ...]


def experiment_page(
    experiment: Experiment, summaries: list[Summary], *, command: str, facts: Facts, pictures: Section | None = None
) -> Page:
    """The report of an experiment, from its summary alone.

    Parameters
    ----------
    experiment : Experiment
    summaries : list of Summary
        What `vicinal.experiments.summarise` gives.
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Machine, versions, date.
    pictures : Section, default=None
        What `vicinal.experiments.run_pictures` gives.

    Returns
    -------
    Page

    Examples
    --------
    >>> from vicinal.experiments import experiment_page, load_experiment
    >>> experiment_page(load_experiment("randlocal-table3"), [], command="", facts=()).verdict
    ('No method could be run.',)
    """
    return Page(
        title=experiment.title,
        subtitle=experiment.source,
        verdict=verdict(experiment, summaries),
        warning=quick_warning(experiment),
        sections=experiment_sections(experiment, summaries, pictures),
        command=command,
        facts=(*experiment.task.protocol(experiment), *facts),
        notes=experiment.remarks,
    )


def experiment_sections(
    experiment: Experiment, summaries: list[Summary], pictures: Section | None = None
) -> tuple[Section, ...]:
    """What the paper says, what the task shows, its tables, and pictures; sections with nothing to see are left out."""
    task = experiment.task
    known = any(summary.n for summary in summaries)
    tables = Section("The results", task.tables_text(experiment, summaries), task.tables(experiment, summaries))
    shown = task.sections(experiment, summaries, tables) if known and not experiment.shown else (tables,)
    drawn = () if pictures is None else (pictures,)
    sections = (*drawn, *shown) if task.pictures_first else (*shown, *drawn)
    sections = (claim_section(experiment, summaries), *sections)
    return tuple(section for section in sections if section.blocks)


def threads_of(results: Sequence[Result]) -> str:
    """How many threads a method had, in words, according to the results.

    Parameters
    ----------
    results : sequence of Result
        What `run` or `run_comparison` gives.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal.experiments import Measure, Metric, Result, Variant, threads_of
    >>> result = Result("mine", "iris", "raw", Variant(), 0, 0, Measure(Metric("nmi", "NMI")), 0.7, threads=2)
    >>> threads_of([result])
    '2 threads per method'
    """
    numbers = sorted({result.threads for result in results if result.threads is not None})
    return f"{' or '.join(map(str, numbers)) or 'no'} thread{'s' * (numbers != [1])} per method"


def comparison_page(
    experiment: Experiment,
    summaries: list[Summary],
    *,
    command: str,
    facts: Facts,
    rules: Section | None = None,
    pictures: Section | None = None,
) -> Page:
    """The report of `vicinal compare`.

    Parameters
    ----------
    experiment : Experiment
        What `vicinal.experiments.comparison` gives.
    summaries : list of Summary
        What `vicinal.experiments.summarise` gives.
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Data, machine, versions, date.
    rules : Section, default=None
        What `vicinal.experiments.comparison_rules` gives.
    pictures : Section, default=None
        What `vicinal.experiments.comparison_pictures` gives.

    Returns
    -------
    Page

    Examples
    --------
    >>> from vicinal.experiments import comparison, comparison_page
    >>> comparison_page(comparison("iris.csv"), [], command="", facts=()).title
    'Which features pay on iris.csv?'
    """
    methods = [summary for summary in summaries if not summary.variant]
    sections = [
        Section(
            "The comparison",
            "Feature maps stand before the same linear SVM; kernel SVM and boosting are models of their own. "
            "Parameters were chosen on the training parts alone.",
            (comparison_table(methods), time_chart("Accuracy against time", "accuracy", methods)),
        ),
        *_group_curve(experiment, summaries),
        *(section for section in (rules, pictures) if section is not None),
    ]
    return Page(
        title=experiment.title,
        subtitle=dict(facts).get("Data", ""),
        verdict=comparison_verdict(methods),
        sections=tuple(sections),
        command=command,
        facts=(*experiment.task.protocol(experiment), *facts),
        notes=tuple(f"{summary.label}: {'; '.join(summary.notes)}" for summary in methods if summary.notes),
    )


def _group_curve(experiment: Experiment, summaries: list[Summary]) -> list[Section]:
    fewer = [summary for summary in summaries if summary.variant.parameter == "n_groups"]
    whole = next((s for s in summaries if s.method == "randlocal" and not s.variant), None)
    if not fewer or whole is None:
        return []
    curve = lines(
        "Accuracy over the number of groups",
        "groups",
        "accuracy",
        [*fewer, whole],
        name=lambda summary: "RandLocal",
        x=lambda summary: float(summary.variant.value if summary.variant else experiment.n_groups),
        x_log=True,
    )
    text = "Groups are non-zeros per row: time and memory grow with them in proportion."
    return [Section("How many groups?", text, (curve,))]


def comparison_verdict(summaries: list[Summary]) -> tuple[str, ...]:
    """The best method, those that are as good, and whether RandLocal pays, in sentences.

    Parameters
    ----------
    summaries : list of Summary
        One per method, as `compare` gives them.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import compare, comparison_verdict
    >>> (summary,) = compare(*load_iris(return_X_y=True), methods=("raw",), splits=2)
    >>> comparison_verdict([replace(summary, mean=0.95, feature_seconds=0.0, model_seconds=0.002)])
    ('Raw features is ahead at 95.0%, in 2 ms.',)
    """
    known = [summary for summary in summaries if summary.n]
    if not known:
        return ("No method could be run.",)
    best = max(known, key=lambda summary: summary.mean)
    sentences = [f"{capital(best.label)} is ahead at {best.mean:.1%}, in {human_seconds(best.seconds)}."]
    tied = [summary for summary in known if summary.tied]
    if tied:
        tied.sort(key=lambda summary: -summary.mean)
        names = ", ".join(f"{summary.label} ({summary.mean:.1%})" for summary in tied[:4])
        more = f" and {len(tied) - 4} more" if len(tied) > 4 else ""
        sentences.append(f"Not significantly worse: {names}{more}.")
    fastest = min((best, *tied), key=lambda summary: summary.seconds)
    if fastest is not best:
        sentences.append(f"The quickest of these is {fastest.label}, in {human_seconds(fastest.seconds)}.")
    ours = next((summary for summary in known if summary.ours), None)
    raw = next((summary for summary in known if summary.method == "raw"), None)
    if ours is not None and raw is not None and ours is not best:
        gain = ours.mean - raw.mean
        pays = f"{gain:+.1%} beside raw features" if abs(gain) >= 0.0005 else "no more than raw features"
        sentences.append(f"{ours.label}: {ours.mean:.1%}, {pays}, in {human_seconds(ours.seconds)}.")
    return tuple(sentences)


def comparison_table(summaries: list[Summary]) -> Table:
    columns = (
        Column("features"),
        Column("accuracy", "number", "high", "mean over the splits; 95 % interval"),
        Column("time for features", "number", "low", "to learn and compute them, training and test rows"),
        Column("time for model", "number", "low", "to fit and to predict"),
        Column("non-zeros per row", "number"),
        Column("peak memory", "number", "low", "of the whole process"),
    )
    rows = []
    cells: tuple[Cell, ...]
    for summary in summaries:
        if summary.n:
            features = human_seconds(summary.feature_seconds) if summary.feature_seconds else NOTHING
            has_peak = summary.peak_memory_mb == summary.peak_memory_mb
            cells = (
                result_cell(summary),
                Cell(features, summary.feature_seconds or None),
                Cell(human_seconds(summary.model_seconds), summary.model_seconds),
                Cell(f"{summary.nonzeros_per_row:,.0f}", summary.nonzeros_per_row),
                Cell(f"{summary.peak_memory_mb:,.0f} MB", summary.peak_memory_mb) if has_peak else Cell(NOTHING),
            )
        else:
            cells = (result_cell(summary), *[Cell(NOTHING)] * 4)
        rows.append((Cell(summary.label), *cells))
    return Table("Accuracy and cost", columns, tuple(rows))

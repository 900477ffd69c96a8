"""What experiments say in words, for the terminal and the report alike."""

from __future__ import annotations

from collections import Counter

from .._words import counted, human_seconds
from ._claims import claim_sentences
from ._experiment import Experiment
from ._metric import FEATURE_SECONDS, Metric
from ._summary import Summary
from ._tables import column_label

NEARLY = 0.01  # of accuracy: what a quicker method may lack
MOST_LOSSES = 6


def quick_warning(experiment: Experiment) -> str | None:
    """The sentences that warn of a quick run, and say how small it is.

    Parameters
    ----------
    experiment : Experiment
        The experiment that was run.

    Returns
    -------
    str or None
        None where the run is no quick one.

    Examples
    --------
    >>> from vicinal.experiments import load_experiment, quick_warning
    >>> experiment = load_experiment("randlocal-table3")
    >>> quick_warning(experiment) is None
    True
    >>> quick_warning(experiment.quickened()).split(". ")[0]
    'Quick run: at most 1,000 rows of each data set, 2 folds, 200 groups'
    """
    if not experiment.quick:
        return None
    rows = max(spec.rows or 0 for spec in experiment.data)
    return (
        f"Quick run: at most {rows:,} rows of each data set, {experiment.task.quick_size(experiment)}. "
        "It shows that everything works; its values are not those of the experiment. Run it without --quick for them."
    )


def verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """The outcome of an experiment in sentences, the first of which is the headline.

    Parameters
    ----------
    experiment : Experiment
        The experiment that was run.
    summaries : list of Summary
        What `summarise` gives.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from vicinal.experiments import Measure, Result, comparison, summarise, verdict
    >>> experiment = comparison("iris", methods=("raw", "randlocal"))
    >>> accuracy, scores = Measure(experiment.metrics[0]), {"raw": 0.90, "randlocal": 0.93}
    >>> results = [
    ...     Result("compare", "iris", cell.method, cell.variant, cell.seed, cell.fold, accuracy, scores[cell.method])
    ...     for cell in experiment.cells()
    ... ]
    >>> verdict(experiment, summarise(experiment, results))
    ('By accuracy, RandLocal is the best in 1 of 1 comparisons.',)
    """
    if not any(summary.n for summary in summaries):
        return ("No method could be run.",)
    task = experiment.task
    sentences = (task.time_verdict if experiment.shown else task.verdict)(experiment, summaries)
    sentences = (*sentences, *claim_sentences(experiment, summaries))
    return sentences or (f"{len(summaries)} results.",)


def contest_verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """Where the paper's own method leads by the first metric, where another does, and the paper's values."""
    metric = summaries[0].measure.metric
    contests: dict[tuple, list[Summary]] = {}
    for summary in summaries:
        if summary.measure.metric == metric and summary.n:
            contests.setdefault((summary.data, summary.variant, summary.measure), []).append(summary)
    contested = [members for members in contests.values() if len(members) > 1 and any(s.ours for s in members)]
    won = [members for members in contested if any(s.best and s.ours for s in members)]
    lost = [members for members in contested if members not in won]
    sentences = []
    if contested:
        share = f"{len(won) or 'none'} of {len(contested)}"
        sentences.append(f"By {metric.label}, {experiment.subject_label} is the best in {share} comparisons.")
    if lost and len(lost) <= MOST_LOSSES:
        losses = "; ".join(_loss(experiment, members) for members in lost)
        sentences.append(f"{'Elsewhere' if won else 'The best'}: {losses}.")
    return (*sentences, *paper_sentences(experiment, summaries))


def _loss(experiment: Experiment, members: list[Summary]) -> str:
    best = next((s for s in members if s.best), members[0])
    ours = max((s for s in members if s.ours), key=lambda s: s.measure.metric.sign * s.mean)
    near = " (not significantly less)" if ours.tied else ""
    place = column_label(experiment, best)
    return f"{place}, {best.label} {best.shown}, {experiment.subject_label} {ours.shown}{near}"


def paper_sentences(experiment: Experiment, summaries: list[Summary]) -> list[str]:
    """How the subject's values compare with those that its paper reports."""
    beside = [summary for summary in summaries if summary.ours and summary.from_paper is not None and summary.n]
    if not beside:
        return []

    def lead(summary: Summary) -> float:
        return summary.measure.metric.sign * (summary.from_paper or 0)

    reached = [summary for summary in beside if lead(summary) >= 0]
    worst = min(beside, key=lead)
    label, verb = experiment.subject_label, "is" if len(reached) == 1 else "are"
    sentence = f"Of the paper's {counted(len(beside), f'{label} value')}, {len(reached)} {verb} reached or beaten"
    if lead(worst) < 0:
        sentence += (
            f"; the furthest below is {worst.measure.metric.label} on {column_label(experiment, worst)}, "
            f"{worst.shown} against {worst.paper:.4f}"
        )
    return [sentence + "."]


def kernel_verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """Who strays least from each kernel at the largest size that all of its maps have, then the subject's kernel."""
    metric = summaries[0].measure.metric
    contests: dict[str, dict[str, dict[str, list[Summary]]]] = {}
    for summary in summaries:
        if summary.measure.metric == metric and summary.n:
            by_variant = contests.setdefault(experiment.method_spec(summary.method).among, {})
            by_variant.setdefault(str(summary.variant), {}).setdefault(summary.data, []).append(summary)
    sentences, details = [], []
    for among, by_variant in contests.items():
        most = max(len(members) for by_data in by_variant.values() for members in by_data.values())
        if most == 1:
            continue
        variant, by_data = [
            (variant, by_data) for variant, by_data in by_variant.items() if max(map(len, by_data.values())) == most
        ][-1]
        ranked = {data: sorted(members, key=lambda s: s.mean) for data, members in by_data.items()}
        leaders = Counter(members[0].label for members in ranked.values())
        led = " and ".join(f"{label} on {count} of {len(ranked)} data sets" for label, count in leaders.most_common())
        place = ", ".join(filter(None, (among, variant)))
        sentences.append(f"{place}: the smallest {metric.label} has {led}.")
        if any(summary.ours for members in ranked.values() for summary in members):
            details += [
                f"{experiment.data_label(data)}: {'; '.join(f'{s.label} {s.shown}' for s in members)}."
                for data, members in ranked.items()
            ]
    return (*sentences, *details)


def cost_verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """For each data set the best method, and the quickest one that is nearly as good."""
    metric = summaries[0].measure.metric
    sentences = []
    for spec in experiment.data:
        known = [s for s in summaries if s.data == spec.key and s.measure.metric == metric and s.n]
        if not known:
            continue
        best = max(known, key=lambda s: s.mean)
        quickest = min((s for s in known if s.mean >= best.mean - NEARLY), key=lambda s: s.seconds)
        sentence = f"{experiment.data_label(spec.key)}: {_with_cost(best)} is ahead"
        if quickest is not best:
            sentence += f"; within one point of it, the quickest is {_with_cost(quickest)}"
        sentences.append(sentence + ".")
    return tuple(sentences)


def _with_cost(summary: Summary) -> str:
    variant = f" ({summary.variant})" if summary.variant else ""
    return f"{summary.label}{variant}, {summary.mean:.1%} in {human_seconds(summary.seconds)}"


def time_verdict(
    experiment: Experiment, summaries: list[Summary], data: str, cost: Metric, methods: tuple[str, ...] = ()
) -> str:
    """Times of the methods on one data set, of all or of those named."""
    own = [s for s in summaries if s.data == data and s.measure.metric == cost and s.n and (methods or s.mean > 0)]
    return ", ".join(
        f"{experiment.label(s.method)} {human_seconds(s.mean)}" for s in own if not methods or s.method in methods
    )


def longest_fit_verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """Times of one fit on the data set where fits take longest."""
    longest = max((summary for summary in summaries if summary.n), key=lambda summary: summary.mean)
    times = time_verdict(experiment, summaries, longest.data, FEATURE_SECONDS)
    return (f"One fit on {experiment.data_label(longest.data)}, where fits take longest: {times}.",)

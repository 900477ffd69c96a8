"""The tables and sentences of the selection task."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from .._page import Table
from .._words import capital, listed
from ._column_numbers import in_words
from ._experiment import Experiment
from ._metric import Metric
from ._ranks import Contest, Entry, entry_label, mean_ranks
from ._summary import Summary
from ._tables import by_data_set, metrics_of, protocols_of, selection_cell, table, with_protocol
from ._verdicts import paper_sentences

OWN_NUMBER = "own number"
NO_SELECTION = "without selection"  # the same where no selector has a number of its own


def selection_tables(experiment: Experiment, summaries: list[Summary]) -> list[Table]:
    """A table per metric, way of k-means and data set: selectors and what varies down, numbers of columns across."""
    tables = []
    none_has_a_rule = not any(summary.measure.at == "auto" for summary in summaries)
    own_number = NO_SELECTION if none_has_a_rule else OWN_NUMBER

    def column_of(summary: Summary) -> str:
        at = summary.measure.at
        return in_words(at) if isinstance(at, int | float) else own_number

    for metric, protocol in itertools.product(metrics_of(summaries), protocols_of(summaries)):
        own = [s for s in summaries if (s.measure.metric, s.measure.protocol) == (metric, protocol)]
        for data, members in by_data_set(experiment, own):
            caption = with_protocol(f"{capital(metric.label)} by {experiment.options.kept}, {data}", protocol)
            how: dict[str, Any] = {"variant_of": lambda s: str(s.variant), "cell_of": selection_cell}
            tables.append(table(caption, metric, members, column_of, last=own_number, **how))
    return tables


def selection_verdict(experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
    """How the subject ranks, and where another method is better; or what its parameters change.

    Of several ways in which k-means was run the first is told in full, of the others the ranks.
    """
    metric = summaries[0].measure.metric
    main, *others = protocols_of(summaries)
    own = [s for s in summaries if (s.measure.metric, s.measure.protocol) == (metric, main) and s.n]
    contests = mean_ranks(experiment, summaries, metric, main)
    overall = next((contest for contest in contests if contest.count is None), None)
    if overall is None:
        return (*_varied_verdict(experiment, own, metric), *paper_sentences(experiment, summaries))
    in_other_ways = [
        f"With {protocol.label}: {sentence[0].lower()}{sentence[1:]}"
        for protocol in others
        if protocol is not None
        for contest in mean_ranks(experiment, summaries, metric, protocol)
        if contest.count is None
        for sentence in _rank_sentences(experiment, contest)[:1]
    ]
    first, *rest = _rank_sentences(experiment, overall) or [""]
    return (
        *filter(None, [first if main is None or not first else f"{first[:-1]} ({main.label})."]),
        *rest,
        *_fixed_sentences(experiment, [contest for contest in contests if contest is not overall]),
        *_label_sentences(experiment, overall, own),
        *in_other_ways,
        *paper_sentences(experiment, summaries),
    )


def _rank_sentences(experiment: Experiment, contest: Contest) -> list[str]:
    ours = [entry for entry in contest.ranks if entry.method.startswith(experiment.subject)]
    if not ours:
        return []
    entry = min(ours, key=lambda entry: contest.ranks[entry])
    ahead, behind = _standing(experiment, contest, entry)
    label = experiment.label(entry.method)
    over = f"over {len(contest.scores)} data set{'s' * (len(contest.scores) != 1)}"
    sentence = f"By {contest.metric.label}, {label} has a mean rank of {contest.ranks[entry]:.2f} {over}, "
    level = [e for e, rank in contest.ranks.items() if rank == contest.ranks[entry] and e != entry]
    if ahead:
        sentence += f"behind {listed(ahead)}."
    elif level:
        rivals = listed([entry_label(experiment, e) for e in level])
        sentence += f"level with {rivals}, the best of {len(contest.ranks)}."
    else:
        sentence += f"the best of {len(contest.ranks)}{f'; next is {behind[0]}' if behind else ''}."
    numbers = [str(number) for number in experiment.options.features if number != "auto"]
    elsewhere = ", or those that smaller data sets have" if experiment.options.data_features else ""
    grids = "the median of their grids" if experiment.options.grids else "their default parameters"
    median = f"with {grids}, averaged over {listed(numbers, most=9)} columns{elsewhere}"
    how = f"Selectors take part {median}"
    if entry.own_number:
        how = f"{label} takes part with its own number of columns, the others {median}"
    lost = []
    for data, scores in contest.scores.items():
        best = contest.best(data)
        if contest.metric.sign * (scores[best] - scores[entry]) > 0:
            both = f"{entry_label(experiment, best)} {scores[best]:.4f}, {label} {scores[entry]:.4f}"
            lost.append(f"{experiment.data_label(data)} ({both})")
    where = f"it is not the best on {'; '.join(lost)}" if lost else "it is the best on every data set"
    return [sentence, f"{how}; {where}."]


def _standing(experiment: Experiment, contest: Contest, entry: Entry) -> tuple[list[str], list[str]]:
    """Entries of other methods with a better mean rank, and those behind."""
    ranks = contest.ranks
    others = sorted((e for e in ranks if e.method != entry.method), key=lambda e: ranks[e])
    named = [(ranks[e], f"{entry_label(experiment, e)} ({ranks[e]:.2f})") for e in others]
    ahead = [text for rank, text in named if rank < ranks[entry]]
    return ahead, [text for rank, text in named if rank >= ranks[entry]]


def _fixed_sentences(experiment: Experiment, contests: list[Contest]) -> list[str]:
    """The subject at the same number of columns as the others."""
    led, lost, label = [], [], ""
    for contest in contests:
        ours = [e for e in contest.ranks if e.method.startswith(experiment.subject) and not e.own_number]
        if ours:
            ahead, label = _standing(experiment, contest, ours[0])[0], experiment.label(ours[0].method)
            number = str(contest.count) if isinstance(contest.count, int) else in_words(contest.count)
            mine = f"{number} (mean rank {contest.ranks[ours[0]]:.2f}"
            if ahead:
                lost.append(f"{mine}; ahead: {listed(ahead)})")
            else:
                led.append(number)
    if not label:
        return []
    parts = [f"leads with {listed(led)}"] * bool(led) + [f"does not lead with {'; '.join(lost)}"] * bool(lost)
    return [f"With the same number of columns for all, {label} {'; it '.join(parts)}."]


def _label_sentences(experiment: Experiment, contest: Contest, summaries: list[Summary]) -> list[str]:
    """Where the best of a grid, which only labels show, is above the subject."""
    above, sign = [], contest.metric.sign
    for data, scores in contest.scores.items():
        own = [score for e, score in scores.items() if e.method.startswith(experiment.subject)]
        ours = max(own, key=lambda score: sign * score, default=None)
        rivals = [s.by_labels for s in summaries if s.data == data and not s.ours and s.by_labels is not None]
        best = max((rival for rival in rivals if rival.n), key=lambda rival: sign * rival.mean, default=None)
        if ours is not None and best is not None and sign * (best.mean - ours) > 0:
            place = f"{best.label} with {experiment.task.place(replace(best.measure, protocol=None))}, {best.mean:.4f}"
            above.append(f"{experiment.data_label(data)} ({place})")
    if not above:
        return []
    subject = experiment.subject_label
    return [f"Had labels chosen parameters and numbers of columns, {subject} would be beaten on {'; '.join(above)}."]


def _varied_verdict(experiment: Experiment, summaries: list[Summary], metric: Metric) -> list[str]:
    sentences = []
    for data, members in by_data_set(experiment, summaries):
        ours = [summary for summary in members if summary.variant and summary.ours]
        whole = next((summary for summary in members if summary.measure.at == "all"), None)
        for parameter in dict.fromkeys(summary.variant.parameter for summary in ours):
            varied = [summary for summary in ours if summary.variant.parameter == parameter]
            low, high = (pick(varied, key=lambda summary: summary.mean) for pick in (min, max))
            sentence = f"{data}: {metric.label} between {low.shown} ({low.variant}) and {high.shown} ({high.variant})"
            if whole is not None:
                above = sum(metric.sign * (summary.mean - whole.mean) > 0 for summary in varied)
                better = "above" if metric.sign > 0 else "below"
                sentence += f", {better} all columns ({whole.shown}) in {above or 'none'} of {len(varied)} cases"
            sentences.append(sentence + ".")
    return sentences

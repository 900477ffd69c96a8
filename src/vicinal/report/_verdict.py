"""What an experiment says in words: its verdict, and the names that its figures go by."""

from __future__ import annotations

from collections import Counter

from ..experiments import LOWER_IS_BETTER, Contest, Entry, Experiment, Figure, entry_label, find_method, mean_ranks
from ._scales import human_seconds

METRIC_NAMES = {
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "accuracy": "accuracy",
    "nmi": "NMI",
    "nmi_geometric": "NMI (geometric mean)",
    "auc": "AUC",
    "sparsity_ratio": "sparsity ratio",
    "rms_error": "root mean square error",
    "max_error": "largest error",
    "feature_seconds": "time for features",
    "model_seconds": "time for the linear SVM",
}
OWN_NUMBER = "own number"
NEARLY = 0.01  # of accuracy: what a quicker method may lack


def quick_warning(experiment: Experiment) -> str | None:
    if not experiment.quick:
        return None
    rows = max(spec.rows or 0 for spec in experiment.data)
    size = f"{experiment.folds} folds, {experiment.n_groups} group{'s' * (experiment.n_groups != 1)}"
    if experiment.task == "kernel":
        size = f"{experiment.repeats} draws, few features"
    if experiment.task == "selection":
        size = f"{experiment.runs} runs of k-means, {experiment.most_settings} settings of each grid"
    return (
        f"Quick run: at most {rows:,} rows of each data set, {size}. "
        "It shows that everything works; its figures are not those of the experiment. Run it without --quick for them."
    )


def verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    """The outcome in words: where the paper's own method leads, and how it stands to the paper's figures."""
    first = metric_family(figures[0])
    subject = find_method(experiment.subject).label
    if experiment.shown:
        return _time_verdict(experiment, figures)
    if experiment.task == "images":
        return _image_verdict(figures)
    if experiment.task == "kernel":
        return _kernel_verdict(experiment, figures)
    if experiment.task == "selection":
        return _selection_verdict(experiment, figures) or (f"{len(figures)} figures.",)
    if sizes_differ(experiment):
        return _cost_verdict(experiment, figures)
    contests: dict[tuple[str, str, str], list[Figure]] = {}
    for figure in figures:
        if metric_family(figure) == first and figure.n:
            contests.setdefault((figure.data, figure.setting, figure.metric), []).append(figure)
    sentences = []
    contested = [figs for figs in contests.values() if len(figs) > 1 and any(figure.ours for figure in figs)]
    won = [figs for figs in contested if any(figure.best and figure.ours for figure in figs)]
    if contested:
        share = f"{len(won) or 'none'} of {len(contested)}"
        sentences.append(f"By {METRIC_NAMES[first]}, {subject} has the best figure in {share} comparisons.")
        lost = [figs for figs in contested if figs not in won]
        if lost and len(lost) <= 6:
            told = []
            for figs in lost:
                best = next(figure for figure in figs if figure.best)
                ours = max((figure for figure in figs if figure.ours), key=lambda figure: figure.mean)
                place = column_label(experiment, best)
                near = " (not significantly less)" if ours.tied else ""
                told.append(f"{place}, {best.label} {show(best)}, {subject} {show(ours)}{near}")
            sentences.append(("Elsewhere: " if won else "The best: ") + "; ".join(told) + ".")
    sentences += _beside_the_paper(experiment, figures)
    return tuple(sentences) or (f"{len(figures)} figures.",)


def _beside_the_paper(experiment: Experiment, figures: list[Figure]) -> list[str]:
    beside = [figure for figure in figures if figure.ours and figure.from_paper is not None and figure.n]
    if not beside:
        return []
    subject = find_method(experiment.subject).label
    reached = [figure for figure in beside if (figure.from_paper or 0) >= 0]
    worst = min(beside, key=lambda figure: figure.from_paper or 0)
    sentence = f"Of the paper's {len(beside)} {subject} figures, {len(reached)} are reached or beaten"
    if worst.from_paper is not None and worst.from_paper < 0:
        sentence += (
            f"; the furthest below is {METRIC_NAMES[metric_family(worst)]} on {column_label(experiment, worst)}, "
            f"{show(worst)} against {worst.paper:.4f}"
        )
    return [sentence + "."]


def _selection_verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    """How the subject ranks, and where another method is better; or what its parameters change."""
    metric = metric_family(figures[0])
    own = [figure for figure in figures if metric_family(figure) == metric and figure.n]
    contests = mean_ranks(experiment, figures, metric)
    overall = next((contest for contest in contests if contest.count is None), None)
    if overall is None:
        return (*_varied_verdict(experiment, own), *_beside_the_paper(experiment, figures))
    return (
        *_rank_sentences(experiment, overall),
        *_fixed_sentences(experiment, [contest for contest in contests if contest is not overall]),
        *_label_sentences(experiment, overall, own),
        *_beside_the_paper(experiment, figures),
    )


def _rank_sentences(experiment: Experiment, contest: Contest) -> list[str]:
    ours = [entry for entry in contest.ranks if entry.method.startswith(experiment.subject)]
    if not ours:
        return []
    entry = min(ours, key=lambda entry: contest.ranks[entry])
    ahead, behind = _standing(experiment, contest, entry)
    label = experiment.label(entry.method)
    over = f"over {len(contest.scores)} data set{'s' * (len(contest.scores) != 1)}"
    sentence = f"By {METRIC_NAMES[contest.metric]}, {label} has a mean rank of {contest.ranks[entry]:.2f} {over}, "
    level = [e for e, rank in contest.ranks.items() if rank == contest.ranks[entry] and e != entry]
    if ahead:
        sentence += f"behind {_some(ahead)}."
    elif level:
        sentence += (
            f"level with {_some([entry_label(experiment, e) for e in level])}, the best of {len(contest.ranks)}."
        )
    else:
        sentence += f"the best of {len(contest.ranks)}{f'; next is {behind[0]}' if behind else ''}."
    counts = _some([str(number) for number in experiment.features if number != "auto"], most=9)
    how = f"Selectors are there at the median of their grids, averaged over {counts} columns"
    if entry.own_number:
        how = f"{label} is there at its own number of columns, the others a{how.removeprefix('Selectors are there a')}"
    lost = []
    for data, scores in contest.scores.items():
        best = contest.best(data)
        if scores[best] > scores[entry]:
            told = f"{entry_label(experiment, best)} {scores[best]:.4f}, {label} {scores[entry]:.4f}"
            lost.append(f"{experiment.data_label(data)} ({told})")
    where = f"it is not the best on {'; '.join(lost)}" if lost else "it is the best on every data set"
    return [sentence, f"{how}; {where}."]


def _some(names: list[str], most: int = 3) -> str:
    """Names in a sentence, the last ones as a number where there are many."""
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _standing(experiment: Experiment, contest: Contest, entry: Entry) -> tuple[list[str], list[str]]:
    """Entries of other methods with a better mean rank, and those behind."""
    ranks = contest.ranks
    others = sorted((e for e in ranks if e.method != entry.method), key=lambda e: ranks[e])
    told = [(ranks[e], f"{entry_label(experiment, e)} ({ranks[e]:.2f})") for e in others]
    ahead = [text for rank, text in told if rank < ranks[entry]]
    return ahead, [text for rank, text in told if rank >= ranks[entry]]


def _fixed_sentences(experiment: Experiment, contests: list[Contest]) -> list[str]:
    """The subject at the same number of columns as the others."""
    led, lost, label = [], [], ""
    for contest in contests:
        ours = [e for e in contest.ranks if e.method.startswith(experiment.subject) and not e.own_number]
        if ours:
            ahead, label = _standing(experiment, contest, ours[0])[0], experiment.label(ours[0].method)
            mine = f"{contest.count} (mean rank {contest.ranks[ours[0]]:.2f}"
            if ahead:
                lost.append(f"{mine}; ahead: {_some(ahead)})")
            else:
                led.append(str(contest.count))
    if not label:
        return []
    parts = [f"leads with {_some(led)}"] * bool(led) + [f"does not lead with {'; '.join(lost)}"] * bool(lost)
    return [f"With the same number of columns for all, {label} {'; it '.join(parts)}."]


def _label_sentences(experiment: Experiment, contest: Contest, figures: list[Figure]) -> list[str]:
    """Where a grid's best setting, which labels had to tell, is above the subject."""
    above = []
    for data, scores in contest.scores.items():
        ours = max((score for e, score in scores.items() if e.method.startswith(experiment.subject)), default=None)
        told = [f.by_labels for f in figures if f.data == data and not f.ours and f.by_labels is not None]
        best = max((f for f in told if f.n), key=lambda figure: figure.mean, default=None)
        if ours is not None and best is not None and best.mean > ours:
            count = best.metric.split("@")[1]
            above.append(f"{experiment.data_label(data)} ({best.label} with {count} columns, {best.mean:.4f})")
    if not above:
        return []
    subject = find_method(experiment.subject).label
    return [f"Had labels chosen settings and numbers of columns, {subject} would be beaten on {'; '.join(above)}."]


def _varied_verdict(experiment: Experiment, figures: list[Figure]) -> list[str]:
    sentences = []
    for spec in experiment.data:
        varied = [f for f in figures if f.data == spec.name and f.setting and f.ours]
        whole = next((f for f in figures if f.data == spec.name and f.metric.endswith("@all")), None)
        if not varied:
            continue
        low, high = (pick(varied, key=lambda figure: figure.mean) for pick in (min, max))
        sentence = (
            f"{experiment.data_label(spec.name)}: {METRIC_NAMES[metric_family(low)]} between {show(low)} "
            f"({low.setting}) and {show(high)} ({high.setting})"
        )
        if whole is not None:
            above = sum(figure.mean > whole.mean for figure in varied)
            sentence += f", above all columns ({show(whole)}) in {above or 'none'} of {len(varied)} settings"
        sentences.append(sentence + ".")
    return sentences


def _image_verdict(figures: list[Figure]) -> tuple[str, ...]:
    told = [figure for figure in figures if figure.n]
    shares = "; ".join(f"{figure.label} {show(figure)}" for figure in told)
    differences = [abs(figure.from_paper) for figure in told if figure.from_paper is not None]
    sentences = (f"Sparsity ratios, the share of entries that are not zero: {shares}.",)
    if not differences:
        return sentences
    return (*sentences, f"The paper's {len(differences)} figures differ from these by at most {max(differences):.4f}.")


def _kernel_verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    """Who strays least from each kernel at the largest size that all of its maps have, then the subject's kernel."""
    first = metric_family(figures[0])
    contests: dict[str, dict[str, dict[str, list[Figure]]]] = {}
    for figure in figures:
        if figure.metric == first and figure.n:
            among = experiment.method_spec(figure.method).among
            by_data = contests.setdefault(among, {}).setdefault(figure.setting, {})
            by_data.setdefault(figure.data, []).append(figure)
    sentences, details = [], []
    for among, by_setting in contests.items():
        most = max(len(members) for by_data in by_setting.values() for members in by_data.values())
        if most == 1:
            continue
        setting, by_data = [
            (setting, by_data) for setting, by_data in by_setting.items() if max(map(len, by_data.values())) == most
        ][-1]
        ranked = {data: sorted(members, key=lambda figure: figure.mean) for data, members in by_data.items()}
        leaders = Counter(members[0].label for members in ranked.values())
        led = " and ".join(f"{label} on {count} of {len(ranked)} data sets" for label, count in leaders.most_common())
        place = ", ".join(filter(None, (among, setting)))
        sentences.append(f"{place}: the smallest {METRIC_NAMES[first]} has {led}.")
        if any(figure.ours for members in ranked.values() for figure in members):
            details += [
                f"{experiment.data_label(data)}: {'; '.join(f'{f.label} {show(f)}' for f in members)}."
                for data, members in ranked.items()
            ]
    return (*sentences, *details) or (f"{len(figures)} figures.",)


def _cost_verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    """For each data set the best figure, and the quickest one that is nearly as good."""
    first = metric_family(figures[0])
    sentences = []
    for spec in experiment.data:
        told = [f for f in figures if f.data == spec.name and f.metric == first and f.n]
        if not told:
            continue
        best = max(told, key=lambda figure: figure.mean)
        quickest = min((f for f in told if f.mean >= best.mean - NEARLY), key=lambda figure: figure.seconds)
        sentence = f"{experiment.data_label(spec.name)}: {_with_cost(best)} is ahead"
        if quickest is not best:
            sentence += f"; within one point of it, the quickest is {_with_cost(quickest)}"
        sentences.append(sentence + ".")
    return tuple(sentences) or (f"{len(figures)} figures.",)


def _with_cost(figure: Figure) -> str:
    setting = f" ({figure.setting})" if figure.setting else ""
    return f"{figure.label}{setting}, {figure.mean:.1%} in {human_seconds(figure.seconds)}"


def sizes_differ(experiment: Experiment) -> bool:
    """Whether methods vary different parameters, so that only what they cost compares them all."""
    varied = {frozenset(spec.vary) for spec in experiment.methods if spec.vary}
    return experiment.task == "classification" and len(varied) > 1


def _time_verdict(experiment: Experiment, figures: list[Figure]) -> tuple[str, ...]:
    largest = experiment.data[-1].name
    if experiment.task == "selection":
        largest = max(experiment.data, key=lambda spec: _most_seconds(figures, spec.name)).name
    seconds = {(figure.method, figure.metric): figure.mean for figure in figures if figure.data == largest and figure.n}
    told = [
        f"{experiment.label(method)} {human_seconds(value)}"
        for (method, metric), value in seconds.items()
        if metric == "feature_seconds" and value > 0
    ]
    models = [
        f"{experiment.label(method)} {human_seconds(value)}"
        for (method, metric), value in seconds.items()
        if metric == "model_seconds" and method in ("raw", experiment.subject)
    ]
    place = experiment.data_label(largest)
    if experiment.task == "selection":
        return (f"One fit on {place}, where fits take longest: {', '.join(told)}.",)
    return (f"Features of {place}: {', '.join(told)}.", f"The linear SVM on {place}: {', '.join(models)}.")


def _most_seconds(figures: list[Figure], data: str) -> float:
    return max((figure.mean for figure in figures if figure.data == data and figure.n), default=0.0)


def metric_family(figure: Figure) -> str:
    return figure.metric.split("@")[0]


def column_label(experiment: Experiment, figure: Figure) -> str:
    parts = [experiment.data_label(figure.data)]
    if figure.setting:
        parts.append(figure.setting)
    if experiment.task == "selection" and "@" in figure.metric:
        parts.append(count_label(figure))
    elif "@" in figure.metric:
        parts.append("k = " + figure.metric.split("@")[1])
    return ", ".join(parts)


def count_label(figure: Figure) -> str:
    """How many columns a figure of a selector is about."""
    count = figure.metric.split("@")[1]
    return f"{count} columns" if count.isdigit() else OWN_NUMBER


def show(figure: Figure) -> str:
    if not figure.n:
        return "–"
    if figure.metric.endswith("_seconds"):
        return human_seconds(figure.mean)
    return f"{figure.mean:.3g}" if figure.metric in LOWER_IS_BETTER else f"{figure.mean:.4f}"

"""What an experiment says in words: its verdict, and the names that its figures go by."""

from __future__ import annotations

from collections import Counter

from ..experiments import LOWER_IS_BETTER, Experiment, Figure, find_method
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
NEARLY = 0.01  # of accuracy: what a quicker method may lack


def quick_warning(experiment: Experiment) -> str | None:
    if not experiment.quick:
        return None
    rows = max(spec.rows or 0 for spec in experiment.data)
    size = f"{experiment.folds} folds, {experiment.n_groups} group{'s' * (experiment.n_groups != 1)}"
    if experiment.task == "kernel":
        size = f"{experiment.repeats} draws, few features"
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
    beside = [figure for figure in figures if figure.ours and figure.from_paper is not None and figure.n]
    if beside:
        reached = [figure for figure in beside if (figure.from_paper or 0) >= 0]
        worst = min(beside, key=lambda figure: figure.from_paper or 0)
        sentence = f"Of the paper's {len(beside)} {subject} figures, {len(reached)} are reached or beaten"
        if worst.from_paper is not None and worst.from_paper < 0:
            sentence += (
                f"; the furthest below is {METRIC_NAMES[metric_family(worst)]} on {column_label(experiment, worst)}, "
                f"{show(worst)} against {worst.paper:.4f}"
            )
        sentences.append(sentence + ".")
    return tuple(sentences) or (f"{len(figures)} figures.",)


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
    return (f"Features of {place}: {', '.join(told)}.", f"The linear SVM on {place}: {', '.join(models)}.")


def metric_family(figure: Figure) -> str:
    return figure.metric.split("@")[0]


def column_label(experiment: Experiment, figure: Figure) -> str:
    parts = [experiment.data_label(figure.data)]
    if figure.setting:
        parts.append(figure.setting)
    if "@" in figure.metric:
        parts.append("k = " + figure.metric.split("@")[1])
    return ", ".join(parts)


def show(figure: Figure) -> str:
    if not figure.n:
        return "–"
    if figure.metric.endswith("_seconds"):
        return human_seconds(figure.mean)
    return f"{figure.mean:.3g}" if figure.metric in LOWER_IS_BETTER else f"{figure.mean:.4f}"

"""From results to summaries: means, intervals, ties, and what is beside them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from vicinal.experiments import load_experiment, read_experiment, summarise
from vicinal.experiments._results import failed_results

TOML = """
title = "t"
task = "classification"
metrics = ["accuracy"]
folds = 5
data = ["iris", "wine"]
methods = ["raw", "randlocal", { name = "trees", label = "Trees" }]

[paper.randlocal]
iris = { accuracy = [0.91, 0.01] }
"""
SCORES = {
    "raw": [0.80, 0.82, 0.81, 0.83, 0.79],
    "randlocal": [0.93, 0.95, 0.94, 0.96, 0.92],
    "trees": [0.92, 0.96, 0.93, 0.96, 0.92],
}


def experiment(text=TOML, *, folds=5, **changes):
    declared = read_experiment("test", text)
    return replace(declared, options=replace(declared.options, folds=folds), **changes)


def results_of(declared, values, **shared):
    """A result for every cell that `values(cell, measure, run)` has a number for."""
    costs = {"feature_seconds": 1.5, "model_seconds": 0.5, "training_rows": 120}
    results = []
    for cell in declared.cells():
        for planned in failed_results(declared, cell, ""):
            value = values(cell, planned.measure, planned.fold - cell.fold)
            if value is not None:
                results.append(replace(planned, value=value, **{"notes": "", **costs, **shared}))
    return results


def by_method(summaries, data="iris", metric="accuracy", variant=""):
    return {
        summary.method: summary
        for summary in summaries
        if (summary.data, str(summary.measure), str(summary.variant)) == (data, metric, variant)
    }


def scores(cell, measure, run):
    return SCORES[cell.method][cell.fold]


def test_means_and_what_they_cost():
    summaries = summarise(experiment(), results_of(experiment(), scores))
    assert [(summary.data, summary.method) for summary in summaries] == [
        (data, method) for data in ("iris", "wine") for method in ("raw", "randlocal", "trees")
    ]
    raw = by_method(summaries)["raw"]
    assert raw.mean == pytest.approx(0.81)
    assert raw.deviation == pytest.approx(np.std(SCORES["raw"]))
    assert (raw.n, raw.planned, raw.training_rows) == (5, 5, 120)
    assert (raw.feature_seconds, raw.model_seconds, raw.seconds) == (1.5, 0.5, 2.0)
    assert by_method(summaries)["trees"].label == "Trees"
    assert raw.label == "raw features"


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_intervals_allow_for_shared_rows(folds):
    """Nadeau and Bengio: s^2 (1 / k + n_test / n_train), with n_test / n_train = 1 / (folds - 1)."""
    declared = experiment(folds=folds)
    values = np.linspace(0.6, 0.7, folds)
    summary = summarise(declared, results_of(declared, lambda cell, measure, run: values[cell.fold]))[0]
    error = np.sqrt(values.var(ddof=1) * (1 / folds + 1 / (folds - 1)))
    margin = scipy.stats.t.ppf(0.975, folds - 1) * error
    assert (summary.low, summary.high) == (
        pytest.approx(values.mean() - margin, abs=1e-5),
        pytest.approx(values.mean() + margin, abs=1e-5),
    )


def test_folds_of_a_part_of_the_plan_keep_the_overlap_of_all_folds():
    """Three of five folds: three values, but training parts of four fifths."""
    declared = experiment(TOML.replace('"iris"', '{ name = "iris", folds = 3 }'))
    summary = by_method(summarise(declared, results_of(declared, scores)))["raw"]
    values = np.array(SCORES["raw"][:3])
    margin = scipy.stats.t.ppf(0.975, 2) * np.sqrt(values.var(ddof=1) * (1 / 3 + 1 / 4))
    assert (summary.n, summary.planned) == (3, 3)
    assert summary.high - summary.mean == pytest.approx(margin, abs=1e-5)


def test_intervals_of_scores_stay_between_0_and_1():
    near = {"raw": [0.0, 0.0, 0.2, 0.0, 0.1], "randlocal": [1.0, 0.9, 1.0, 1.0, 0.9], "trees": [0.5] * 5}
    summaries = by_method(
        summarise(experiment(), results_of(experiment(), lambda cell, m, r: near[cell.method][cell.fold]))
    )
    assert summaries["raw"].low == 0
    assert summaries["randlocal"].high == 1
    assert (summaries["trees"].low, summaries["trees"].high) == (0.5, 0.5)


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_values_have_no_interval_and_no_test(n):
    results = results_of(experiment(), lambda cell, measure, run: scores(cell, measure, run) if cell.fold < n else None)
    summaries = by_method(summarise(experiment(), results))
    for summary in summaries.values():
        assert np.isnan(summary.low)
        assert np.isnan(summary.high)
        assert summary.p_value is None
        assert not summary.tied
        assert (summary.n, summary.planned) == (n, 5)
    assert summaries["randlocal"].best


def test_best_and_tied_by_the_paired_corrected_test():
    summaries = by_method(summarise(experiment(), results_of(experiment(), scores)))
    assert [method for method, summary in summaries.items() if summary.best] == ["randlocal"]
    assert summaries["randlocal"].p_value is None
    assert [method for method, summary in summaries.items() if summary.tied] == ["trees"]
    differences = np.subtract(SCORES["randlocal"], SCORES["trees"])
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 5 + 1 / 4))
    assert summaries["trees"].p_value == pytest.approx(2 * scipy.stats.t.sf(t, 4), rel=1e-4)
    assert summaries["raw"].p_value < 1e-6


def test_pairs_are_folds_whatever_the_order_of_rows(rng):
    results = results_of(experiment(), scores)
    in_order = by_method(summarise(experiment(), results))
    summaries = by_method(summarise(experiment(), [results[i] for i in rng.permutation(len(results))]))
    for method, summary in summaries.items():
        assert summary.p_value == pytest.approx(in_order[method].p_value)


def test_a_fold_that_one_method_lacks_is_left_out_of_its_test():
    results = [
        result for result in results_of(experiment(), scores) if not (result.method == "trees" and result.fold == 1)
    ]
    summaries = by_method(summarise(experiment(), results))
    differences = np.delete(np.subtract(SCORES["randlocal"], SCORES["trees"]), 1)
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 4 + 1 / 4))
    assert summaries["trees"].p_value == pytest.approx(2 * scipy.stats.t.sf(abs(t), 3), rel=1e-4)
    assert (summaries["trees"].n, summaries["trees"].planned) == (4, 5)


def test_one_method_alone_is_not_the_best():
    results = [result for result in results_of(experiment(), scores) if result.method == "raw"]
    assert not any(summary.best for summary in summarise(experiment(), results))


KERNEL = """
title = "t"
task = "kernel"
metrics = ["rms_error", "max_error"]
repeats = 5
data = ["iris"]
methods = [
    { name = "fourier", among = "Gaussian" },
    { name = "nystroem", among = "Gaussian" },
    { name = "polynomial", among = "polynomial" },
    { name = "polynomial", id = "other", among = "polynomial" },
]
"""


def test_the_lowest_error_is_the_best_of_those_it_is_ranked_among():
    errors = {"fourier": 0.3, "nystroem": 0.2, "polynomial": 0.01, "other": 1.7}
    declared = read_experiment("test", KERNEL)
    values = results_of(declared, lambda cell, measure, run: errors[cell.method] + 0.01 * cell.seed)
    for metric in declared.metrics:
        summaries = by_method(summarise(declared, values), metric=metric.name)
        assert [method for method, summary in summaries.items() if summary.best] == ["nystroem", "polynomial"]
        assert summaries["fourier"].p_value < 1e-6
        assert summaries["other"].p_value < 1e-6
        assert summaries["other"].high > summaries["other"].mean > 1.7  # an error may be above 1
        assert 0 <= summaries["polynomial"].low < summaries["polynomial"].mean


def test_the_papers_figure_is_beside_ours_but_not_beside_a_quick_run():
    summaries = summarise(experiment(), results_of(experiment(), scores))
    ours = by_method(summaries)["randlocal"]
    assert ours.paper == 0.91
    assert ours.from_paper == pytest.approx(0.94 - 0.91)
    assert by_method(summaries)["raw"].paper is None
    assert by_method(summaries)["raw"].from_paper is None
    assert by_method(summaries, data="wine")["randlocal"].paper is None
    quick = experiment().quickened()
    assert all(summary.paper is None for summary in summarise(quick, results_of(quick, scores)))


def test_the_papers_values_of_variants():
    declared = load_experiment("randlocal-table7")
    summaries = summarise(declared, results_of(declared, lambda cell, measure, run: 0.9))
    papers = {
        str(summary.variant): summary.paper
        for summary in summaries
        if (summary.data, summary.method) == ("mnist", "sdae")
    }
    assert papers == {"noise=none": None, "noise=add": 0.8554, "noise=append": 0.8361}
    assert {(summary.data, summary.planned) for summary in summaries} == {
        (data.name, data.folds) for data in declared.data if data.folds is not None
    }


@pytest.mark.parametrize("name", ["randlocal-table3", "randlocal-table5-6", "randlocal-table7", "randlocal-times"])
def test_all_the_papers_figures_find_their_place(name):
    declared = load_experiment(name)
    summaries = summarise(declared, results_of(declared, lambda cell, measure, run: 0.9))
    reported = [value for method in declared.paper.values() for data in method.values() for value in data.values()]
    assert sorted(summary.paper for summary in summaries if summary.paper) == sorted(value[0] for value in reported)


def test_cells_that_failed_are_nan_and_say_why():
    reason = "LightGBM needs the package lightgbm; install it with pip."
    results = results_of(experiment(), lambda cell, *_: None if cell.method == "trees" else scores(cell, *_))
    for cell in experiment().cells():
        if cell.method == "trees":
            results += failed_results(experiment(), cell, reason)
    summaries = by_method(summarise(experiment(), results))
    assert np.isnan(summaries["trees"].mean)
    assert np.isnan(summaries["trees"].seconds)
    assert (summaries["trees"].n, summaries["trees"].training_rows) == (0, 0)
    assert summaries["trees"].notes == (f"not run: {reason}",)
    assert not summaries["trees"].best
    assert not summaries["trees"].tied
    assert summaries["randlocal"].best


def test_one_failed_fold_leaves_the_mean_of_the_others_and_a_note():
    declared = experiment()
    results = [result for result in results_of(declared, scores) if not (result.method == "raw" and result.fold == 0)]
    results = failed_results(declared, declared.cells()[0], "too much; too little") + results
    raw = by_method(summarise(declared, results))["raw"]
    assert raw.mean == pytest.approx(np.mean(SCORES["raw"][1:]))
    assert (raw.n, raw.planned, raw.training_rows) == (4, 5, 120)
    assert raw.notes == ("not run: too much; too little",)


def test_notes_and_choices_are_kept_once_each():
    results = results_of(experiment(), scores, notes="fitted on 40 of 80 results; the SVM stopped", chosen={"C": 1.0})
    summary = summarise(experiment(), results)[0]
    assert summary.notes == ("fitted on 40 of 80 results", "the SVM stopped")
    assert summary.chosen == ({"C": 1.0},)


CLUSTERING = """
title = "t"
task = "clustering"
metrics = ["accuracy", "nmi"]
runs = 8
data = ["iris"]
methods = ["raw", "randlocal"]
"""


def test_runs_of_k_means_need_no_correction():
    declared = read_experiment("test", CLUSTERING)
    values = np.linspace(0.5, 0.7, 8)
    results = results_of(declared, lambda cell, measure, run: values[run] - 0.1 * (measure.metric.name == "nmi"))
    summaries = summarise(declared, results)
    accuracy, nmi = (by_method(summaries, metric=metric.name)["raw"] for metric in declared.metrics)
    assert (accuracy.mean, nmi.mean) == (pytest.approx(0.6), pytest.approx(0.5))
    assert (accuracy.n, accuracy.planned) == (8, 8)
    margin = scipy.stats.t.ppf(0.975, 7) * values.std(ddof=1) / np.sqrt(8)
    assert accuracy.high - accuracy.mean == pytest.approx(margin, abs=1e-5)


def test_repeats_of_a_method_are_what_is_planned_of_it():
    declared = load_experiment("randlocal-figure4")
    summaries = summarise(declared, results_of(declared, lambda cell, measure, run: 0.8))
    planned = {summary.method: (summary.n, summary.planned) for summary in summaries}
    assert (planned["raw"], planned["dae"], planned["randlocal"]) == ((1, 1), (2, 2), (5, 5))
    assert {str(summary.measure) for summary in summaries} == {f"auc@{k}" for k in declared.options.neighbors}


class TestSeconds:
    """Another view of a run: what it cost in place of how good it was."""

    def figures(self):
        declared = load_experiment("randlocal-times")
        results = [
            replace(result, feature_seconds=0.0 if result.method == "raw" else 3.0, model_seconds=10.0 + result.fold)
            for result in results_of(declared, lambda cell, measure, run: 0.9)
        ]
        return declared, summarise(declared, results)

    def test_each_is_there_once(self):
        declared, summaries = self.figures()
        keys = [(summary.data, summary.method, str(summary.measure)) for summary in summaries]
        assert len(set(keys)) == len(keys)
        assert {metric for _, _, metric in keys} == {"feature_seconds", "model_seconds"}
        assert len(keys) == 2 * len({(cell.data, cell.method) for cell in declared.cells()})

    def test_the_quickest_is_the_best_and_seconds_may_exceed_1(self):
        _, summaries = self.figures()
        features = by_method(summaries, data="ijcnn1", metric="feature_seconds")
        assert [method for method, summary in features.items() if summary.best] == ["raw"]
        model = by_method(summaries, data="ijcnn1", metric="model_seconds")["raw"]
        assert (model.mean, model.n, model.planned, model.paper) == (12, 5, 5, 2.29)
        assert model.high > 12

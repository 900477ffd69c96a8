"""From rows to figures: means, intervals, ties, and what is beside them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from vicinal.experiments import load_experiment, read_experiment, summarise
from vicinal.experiments._results import cell_rows
from vicinal.experiments._runner import failed_rows

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


def experiment(text=TOML, **changes):
    return replace(read_experiment("test", text), **changes)


def rows_of(declared, values, **shared):
    """A row for every cell that `values(cell, metric, run)` has a number for."""
    rows = []
    runs = declared.runs if declared.task == "clustering" else 1
    metrics = [f"auc@{k}" for k in declared.neighbors] or declared.metrics
    for cell in declared.cells():
        told = [(run or cell.fold, metric, values(cell, metric, run)) for run in range(runs) for metric in metrics]
        told = [(fold, metric, f"{value:.6f}") for fold, metric, value in told if value is not None]
        rows += cell_rows(
            declared, cell, told, {"feature_seconds": "1.5", "model_seconds": "0.5", "training_rows": "120"} | shared
        )
    return rows


def by_method(figures, data="iris", metric="accuracy", setting=""):
    return {
        figure.method: figure
        for figure in figures
        if (figure.data, figure.metric, figure.setting) == (data, metric, setting)
    }


def scores(cell, metric, run):
    return SCORES[cell.method][cell.fold]


def test_means_and_what_they_cost():
    figures = summarise(experiment(), rows_of(experiment(), scores))
    assert [(figure.data, figure.method) for figure in figures] == [
        (data, method) for data in ("iris", "wine") for method in ("raw", "randlocal", "trees")
    ]
    raw = by_method(figures)["raw"]
    assert raw.mean == pytest.approx(0.81)
    assert raw.deviation == pytest.approx(np.std(SCORES["raw"]))
    assert (raw.n, raw.planned, raw.training_rows) == (5, 5, 120)
    assert (raw.feature_seconds, raw.model_seconds, raw.seconds) == (1.5, 0.5, 2.0)
    assert by_method(figures)["trees"].label == "Trees"
    assert raw.label == "raw features"


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_intervals_allow_for_shared_rows(folds):
    """Nadeau and Bengio: s^2 (1 / k + n_test / n_train), with n_test / n_train = 1 / (folds - 1)."""
    declared = experiment(folds=folds)
    values = np.linspace(0.6, 0.7, folds)
    figure = summarise(declared, rows_of(declared, lambda cell, metric, run: values[cell.fold]))[0]
    error = np.sqrt(values.var(ddof=1) * (1 / folds + 1 / (folds - 1)))
    margin = scipy.stats.t.ppf(0.975, folds - 1) * error
    assert (figure.low, figure.high) == (
        pytest.approx(values.mean() - margin, abs=1e-5),
        pytest.approx(values.mean() + margin, abs=1e-5),
    )


def test_folds_of_a_part_of_the_plan_keep_the_overlap_of_all_folds():
    """Three of five folds: three values, but training parts of four fifths."""
    declared = experiment(TOML.replace('"iris"', '{ name = "iris", folds = 3 }'))
    figure = by_method(summarise(declared, rows_of(declared, scores)))["raw"]
    values = np.array(SCORES["raw"][:3])
    margin = scipy.stats.t.ppf(0.975, 2) * np.sqrt(values.var(ddof=1) * (1 / 3 + 1 / 4))
    assert (figure.n, figure.planned) == (3, 3)
    assert figure.high - figure.mean == pytest.approx(margin, abs=1e-5)


def test_intervals_of_scores_stay_between_0_and_1():
    near = {"raw": [0.0, 0.0, 0.2, 0.0, 0.1], "randlocal": [1.0, 0.9, 1.0, 1.0, 0.9], "trees": [0.5] * 5}
    figures = by_method(summarise(experiment(), rows_of(experiment(), lambda cell, m, r: near[cell.method][cell.fold])))
    assert figures["raw"].low == 0
    assert figures["randlocal"].high == 1
    assert (figures["trees"].low, figures["trees"].high) == (0.5, 0.5)


@pytest.mark.parametrize("n", [1, 2])
def test_fewer_than_three_values_have_no_interval_and_no_test(n):
    rows = rows_of(experiment(), lambda cell, metric, run: scores(cell, metric, run) if cell.fold < n else None)
    figures = by_method(summarise(experiment(), rows))
    for figure in figures.values():
        assert np.isnan(figure.low)
        assert np.isnan(figure.high)
        assert figure.p_value is None
        assert not figure.tied
        assert (figure.n, figure.planned) == (n, 5)
    assert figures["randlocal"].best


def test_best_and_tied_by_the_paired_corrected_test():
    figures = by_method(summarise(experiment(), rows_of(experiment(), scores)))
    assert [method for method, figure in figures.items() if figure.best] == ["randlocal"]
    assert figures["randlocal"].p_value is None
    assert [method for method, figure in figures.items() if figure.tied] == ["trees"]
    differences = np.subtract(SCORES["randlocal"], SCORES["trees"])
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 5 + 1 / 4))
    assert figures["trees"].p_value == pytest.approx(2 * scipy.stats.t.sf(t, 4), rel=1e-4)
    assert figures["raw"].p_value < 1e-6


def test_pairs_are_folds_whatever_the_order_of_rows(rng):
    rows = rows_of(experiment(), scores)
    in_order = by_method(summarise(experiment(), rows))
    figures = by_method(summarise(experiment(), [rows[i] for i in rng.permutation(len(rows))]))
    for method, figure in figures.items():
        assert figure.p_value == pytest.approx(in_order[method].p_value)


def test_a_fold_that_one_method_lacks_is_left_out_of_its_test():
    rows = [row for row in rows_of(experiment(), scores) if not (row["method"] == "trees" and row["fold"] == "1")]
    figures = by_method(summarise(experiment(), rows))
    differences = np.delete(np.subtract(SCORES["randlocal"], SCORES["trees"]), 1)
    t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / 4 + 1 / 4))
    assert figures["trees"].p_value == pytest.approx(2 * scipy.stats.t.sf(abs(t), 3), rel=1e-4)
    assert (figures["trees"].n, figures["trees"].planned) == (4, 5)


def test_one_method_alone_is_not_the_best():
    rows = [row for row in rows_of(experiment(), scores) if row["method"] == "raw"]
    assert not any(figure.best for figure in summarise(experiment(), rows))


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
    values = rows_of(declared, lambda cell, metric, run: errors[cell.method] + 0.01 * cell.seed)
    for metric in declared.metrics:
        figures = by_method(summarise(declared, values), metric=metric)
        assert [method for method, figure in figures.items() if figure.best] == ["nystroem", "polynomial"]
        assert figures["fourier"].p_value < 1e-6
        assert figures["other"].p_value < 1e-6
        assert figures["other"].high > figures["other"].mean > 1.7  # an error may be above 1
        assert 0 <= figures["polynomial"].low < figures["polynomial"].mean


def test_the_papers_figure_is_beside_ours_but_not_beside_a_quick_run():
    figures = summarise(experiment(), rows_of(experiment(), scores))
    ours = by_method(figures)["randlocal"]
    assert ours.paper == 0.91
    assert ours.from_paper == pytest.approx(0.94 - 0.91)
    assert by_method(figures)["raw"].paper is None
    assert by_method(figures)["raw"].from_paper is None
    assert by_method(figures, data="wine")["randlocal"].paper is None
    quick = experiment().quickened()
    assert all(figure.paper is None for figure in summarise(quick, rows_of(quick, scores)))


def test_the_papers_figures_of_settings():
    declared = load_experiment("randlocal-table7")
    figures = summarise(declared, rows_of(declared, lambda cell, metric, run: 0.9))
    papers = {figure.setting: figure.paper for figure in figures if (figure.data, figure.method) == ("mnist", "sdae")}
    assert papers == {"noise=none": None, "noise=add": 0.8554, "noise=append": 0.8361}
    assert {(figure.data, figure.planned) for figure in figures} == {
        (data.name, data.folds) for data in declared.data if data.folds is not None
    }


@pytest.mark.parametrize("name", ["randlocal-table3", "randlocal-table5-6", "randlocal-table7", "randlocal-times"])
def test_all_the_papers_figures_find_their_place(name):
    declared = load_experiment(name)
    figures = summarise(declared, rows_of(declared, lambda cell, metric, run: 0.9))
    told = [figure for method in declared.paper.values() for data in method.values() for figure in data.values()]
    assert sorted(figure.paper for figure in figures if figure.paper) == sorted(value[0] for value in told)


def test_cells_that_failed_are_nan_and_say_why():
    reason = "LightGBM needs the package lightgbm; install it with pip."
    rows = rows_of(experiment(), lambda cell, *_: None if cell.method == "trees" else scores(cell, *_))
    for cell in experiment().cells():
        if cell.method == "trees":
            rows += failed_rows(experiment(), cell, reason)
    figures = by_method(summarise(experiment(), rows))
    assert np.isnan(figures["trees"].mean)
    assert np.isnan(figures["trees"].seconds)
    assert (figures["trees"].n, figures["trees"].training_rows) == (0, 0)
    assert figures["trees"].notes == (f"not run: {reason}",)
    assert not figures["trees"].best
    assert not figures["trees"].tied
    assert figures["randlocal"].best


def test_one_failed_fold_leaves_the_mean_of_the_others_and_a_note():
    declared = experiment()
    rows = [row for row in rows_of(declared, scores) if not (row["method"] == "raw" and row["fold"] == "0")]
    rows = failed_rows(declared, declared.cells()[0], "too much; too little") + rows
    raw = by_method(summarise(declared, rows))["raw"]
    assert raw.mean == pytest.approx(np.mean(SCORES["raw"][1:]))
    assert (raw.n, raw.planned, raw.training_rows) == (4, 5, 120)
    assert raw.notes == ("not run: too much; too little",)


def test_notes_and_choices_are_told_once_each():
    rows = rows_of(experiment(), scores, notes="fitted on 40 of 80 rows; the SVM stopped", chosen='{"C": 1.0}')
    figure = summarise(experiment(), rows)[0]
    assert figure.notes == ("fitted on 40 of 80 rows", "the SVM stopped")
    assert figure.chosen == ('{"C": 1.0}',)


def test_runs_of_k_means_need_no_correction():
    declared = experiment(task="clustering", metrics=("accuracy", "nmi"), runs=8)
    values = np.linspace(0.5, 0.7, 8)
    rows = rows_of(declared, lambda cell, metric, run: values[run] - 0.1 * (metric == "nmi"))
    figures = summarise(declared, rows)
    accuracy, nmi = (by_method(figures, metric=metric)["raw"] for metric in declared.metrics)
    assert (accuracy.mean, nmi.mean) == (pytest.approx(0.6), pytest.approx(0.5))
    assert (accuracy.n, accuracy.planned) == (8, 8)
    margin = scipy.stats.t.ppf(0.975, 7) * values.std(ddof=1) / np.sqrt(8)
    assert accuracy.high - accuracy.mean == pytest.approx(margin, abs=1e-5)


def test_repeats_of_a_method_are_what_is_planned_of_it():
    declared = load_experiment("randlocal-figure4")
    figures = summarise(declared, rows_of(declared, lambda cell, metric, run: 0.8))
    planned = {figure.method: (figure.n, figure.planned) for figure in figures}
    assert (planned["raw"], planned["dae"], planned["randlocal"]) == ((1, 1), (2, 2), (5, 5))
    assert {figure.metric for figure in figures} == {f"auc@{k}" for k in declared.neighbors}


class TestSeconds:
    """Another view of a run: what it cost in place of how good it was."""

    def figures(self):
        declared = load_experiment("randlocal-times")
        rows = rows_of(declared, lambda cell, metric, run: 0.9)
        for row in rows:
            row["feature_seconds"] = "0" if row["method"] == "raw" else "3"
            row["model_seconds"] = str(10 + int(row["fold"]))
        return declared, summarise(declared, rows)

    def test_each_is_told_once(self):
        declared, figures = self.figures()
        keys = [(figure.data, figure.method, figure.metric) for figure in figures]
        assert len(set(keys)) == len(keys)
        assert {metric for _, _, metric in keys} == {"feature_seconds", "model_seconds"}
        assert len(keys) == 2 * len({(cell.data, cell.method) for cell in declared.cells()})

    def test_the_quickest_is_the_best_and_seconds_may_exceed_1(self):
        _, figures = self.figures()
        features = by_method(figures, data="ijcnn1", metric="feature_seconds")
        assert [method for method, figure in features.items() if figure.best] == ["raw"]
        model = by_method(figures, data="ijcnn1", metric="model_seconds")["raw"]
        assert (model.mean, model.n, model.planned, model.paper) == (12, 5, 5, 2.29)
        assert model.high > 12

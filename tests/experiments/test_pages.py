"""Pages made of results: what every experiment and every comparison says about itself."""

import numpy as np
import pytest
from report.results import results_of
from sklearn.datasets import load_iris

from vicinal import datasets
from vicinal.experiments import (
    comparison,
    comparison_page,
    comparison_pictures,
    comparison_sample,
    comparison_verdict,
    experiment_names,
    experiment_page,
    load_experiment,
    summarise,
    verdict,
)
from vicinal.report import render


def page_of(experiment, **more):
    return experiment_page(experiment, summarise(experiment, results_of(experiment, **more)), command="again", facts=())


@pytest.mark.parametrize("name", experiment_names())
def test_every_experiment_has_a_page(name):
    experiment = load_experiment(name)
    text = render(page_of(experiment))
    assert experiment.source.split(",")[0] in text
    for spec in experiment.data:
        assert (spec.label or spec.name) in text
    assert "<svg" in text or experiment.shown
    assert all(len(remark) > 20 for remark in experiment.remarks)


def test_a_quick_run_says_so_and_shows_no_figures_of_the_paper():
    experiment = load_experiment("randlocal-table3").quickened()
    page = page_of(experiment)
    assert page.warning.startswith("Quick run: at most 1,000 rows of each data set, 2 folds")
    cells = [
        cell for section in page.sections for block in section.blocks if hasattr(block, "rows") for cell in block.rows
    ]
    assert not any("paper" in getattr(cell, "detail", "") for row in cells if isinstance(row, tuple) for cell in row)


def test_figures_stand_beside_those_of_the_paper():
    experiment = load_experiment("randlocal-table3")
    summaries = summarise(experiment, results_of(experiment))
    summary = next(f for f in summaries if (f.data, f.method, str(f.measure)) == ("ijcnn1", "randlocal", "micro_f1"))
    assert f"paper 0.9884 ({summary.mean - 0.9884:+.4f})" in render(page_of(experiment))
    sentences = " ".join(verdict(experiment, summaries))
    assert "Of the paper's 6 RandLocal values, 0 are reached or beaten" in sentences


def test_what_could_not_be_run_is_named():
    text = render(page_of(load_experiment("randlocal-table3"), fail=("rbf-svm",)))
    assert "not run: too large" in text


def test_the_verdict_is_on_the_papers_own_method():
    experiment = load_experiment("rulls-table2")
    summaries = summarise(experiment, results_of(experiment))
    assert {summary.method for summary in summaries if summary.ours} == {"rulls"}
    first, *others = verdict(experiment, summaries)
    best = sum(summary.best and summary.method == "rulls" for summary in summaries)
    assert first == f"By accuracy, RULLS is the best in {best or 'none'} of 6 comparisons."
    assert "Of the paper's 5 RULLS values, 0 are reached or beaten" in others[-1]


def test_methods_that_share_a_varied_parameter_are_lines_of_one_chart():
    experiment = load_experiment("rulls-figure3")
    summaries = summarise(experiment, results_of(experiment))
    page = page_of(experiment)
    curves, tables = (section.blocks for section in page.sections)
    assert len(curves) == len(tables) == len(experiment.data)
    for chart, table in zip(curves, tables, strict=True):
        assert [series.label for series in chart.series] == [
            experiment.label(spec.id) for spec in experiment.methods[2:]
        ]
        assert [series.label for series in chart.series if series.highlight] == ["RULLS (PCA)"]
        assert {series.x for series in chart.series} == {(1.0, 10.0, 50.0, 100.0)}
        assert [name for name, _ in chart.reference] == ["raw features", "RBF kernel SVM, tuned"]
        assert [column.label for column in table.columns[1:]] == [
            "not varied",
            *(f"n_groups={number}" for number in (1, 10, 50, 100)),
        ]
    raw = next(f for f in summaries if (f.method, f.data) == ("raw", experiment.data[0].name))
    assert curves[0].reference[0][1] == raw.mean
    assert verdict(experiment, summaries)[0].endswith("of 20 comparisons.")  # those that RULLS is part of


def test_errors_have_log_axes_and_the_line_of_the_theory():
    experiment = load_experiment("expand-kernel-error")
    summaries = summarise(experiment, results_of(experiment))
    first, second, tables = page_of(experiment).sections
    assert [section.title.split(" over")[0] for section in (first, second)] == [
        "Root mean square error",
        "Largest error",
    ]
    assert len(first.blocks) == 2 * len(experiment.data)
    for number, chart in enumerate(first.blocks):
        assert chart.x_log
        assert chart.y_log
        *curves, falling = chart.series
        assert falling.guide
        assert falling.y == tuple(1 / m**0.5 for m in falling.x)
        assert falling.x == (64, 128, 256, 512, 1024, 2048, 4096)
        assert [curve.highlight for curve in curves] == [label == 1 and number % 2 == 0 for label in range(len(curves))]
    assert "Gaussian kernel" in first.blocks[0].title
    assert "other kernels" in first.blocks[1].title
    for table in tables.blocks:
        assert {column.better for column in table.columns[1:]} == {"low"}
    gaussian = [spec.id for spec in experiment.methods if spec.among == "Gaussian kernel"]
    place = ("n_components=2048", "rms_error", "pendigits")
    own = [f for f in summaries if f.method in gaussian and (str(f.variant), str(f.measure), f.data) == place]
    best = min(own, key=lambda summary: summary.mean)
    assert best.best
    sentences = verdict(experiment, summaries)
    assert sentences[0].startswith("Gaussian kernel, n_components=2048: the smallest root mean square error has ")
    assert best.label in sentences[0]
    assert sentences[1].startswith("inner product, n_components=512: ")
    assert sentences[2].startswith(f"Pendigits: {best.label} {best.mean:.3g}; ")
    assert len(sentences) == 2 + len(experiment.data)


def test_methods_of_different_sizes_are_compared_by_what_they_cost():
    experiment = load_experiment("expand-accuracy")
    summaries = summarise(experiment, results_of(experiment))
    costs, tables = page_of(experiment).sections
    assert len(costs.blocks) == len(tables.blocks) == len(experiment.data)
    chart = costs.blocks[0]
    assert chart.x_seconds
    assert [series.label for series in chart.series] == [experiment.label(spec.id) for spec in experiment.methods]
    local = chart.series[-1]
    own = sorted((f for f in summaries if (f.data, f.method) == ("ijcnn1", "randlocal")), key=lambda f: f.seconds)
    assert local.x == tuple(f.seconds for f in own)
    assert local.names == tuple(str(f.variant) for f in own)
    sentences = verdict(experiment, summaries)
    assert len(sentences) == len(experiment.data)
    best = max((f for f in summaries if f.data == "ijcnn1"), key=lambda f: f.mean)
    assert sentences[0].startswith(f"IJCNN: {best.label}")
    near = [f for f in summaries if f.data == "ijcnn1" and f.mean >= best.mean - 0.01]
    quickest = min(near, key=lambda f: f.seconds)
    assert quickest.label in sentences[0]
    assert ("within one point" in sentences[0]) == (quickest is not best)


def test_dense_maps_have_no_pictures():
    experiment = load_experiment("expand-accuracy")
    assert experiment.task.pictures(experiment, lambda name: pytest.fail("data were loaded")) is None


def test_images_have_no_best():
    experiment = load_experiment("rulls-figure4")
    summaries = summarise(experiment, results_of(experiment))
    assert not any(summary.best or summary.tied for summary in summaries)
    [section] = page_of(experiment).sections
    assert [column.better for column in section.blocks[0].columns] == [None, None]
    sentences = verdict(experiment, summaries)
    assert all(f"{experiment.label(summary.method)} {summary.mean:.4f}" in sentences[0] for summary in summaries)
    assert sentences[1].startswith("The paper's 4 values differ from these by at most 0.")
    assert (
        len(verdict(experiment.quickened(), summarise(experiment.quickened(), results_of(experiment.quickened())))) == 1
    )


def test_pictures_of_the_subject(real_data):
    real_data("japanese_vowels")
    experiment = load_experiment("rulls-table2")
    section = experiment.task.pictures(experiment, datasets.load)
    [image] = section.blocks
    assert image.title == "RULLS (PCA), rows sorted by class"
    assert [label for label, _, _ in image.boundaries] == [str(speaker) for speaker in range(1, 10)]
    assert section.text.startswith("Japanese Vowels: ")


def test_times_say_who_is_quick():
    experiment = load_experiment("randlocal-times")
    first, second = verdict(experiment, summarise(experiment, results_of(experiment)))
    assert first.startswith("Features of COVTYPE:")
    assert "RandLocal" in second


class TestComparison:
    def summaries(self, curve=True):
        experiment = comparison("iris.csv", n_groups=40, curve=curve)
        return experiment, summarise(experiment, results_of(experiment))

    def test_page(self):
        experiment, summaries = self.summaries()
        X, y = load_iris(return_X_y=True)
        pictures = comparison_pictures(experiment, comparison_sample(X, y, 5))
        page = comparison_page(experiment, summaries, command="again", facts=(("Data", "iris"),), pictures=pictures)
        text = render(page)
        for wanted in ("Accuracy and cost", "Accuracy against time", "number of groups", "Sparsity ratio", "anchors"):
            assert wanted in text

    def test_verdict_names_the_best_and_those_as_good(self):
        _, summaries = self.summaries(curve=False)
        best = max(summaries, key=lambda summary: summary.mean)
        sentences = comparison_verdict(summaries)
        assert sentences[0].lower().startswith(f"{best.label} is ahead at {best.mean:.1%}".lower())
        tied = [summary for summary in summaries if summary.tied]
        assert all(summary.p_value >= 0.05 for summary in tied)
        assert bool(tied) == any(sentence.startswith("Not significantly worse") for sentence in sentences)

    def test_nothing_could_be_run(self):
        experiment = comparison("x", methods=("raw",))
        summaries = summarise(experiment, results_of(experiment, fail=("raw",)))
        assert np.isnan(summaries[0].mean)
        assert comparison_verdict(summaries) == ("No method could be run.",)

"""Pages made of results: what every experiment and every comparison says about itself."""

import numpy as np
import pytest
from report.results import rows_of
from sklearn.datasets import load_iris

from vicinal.experiments import comparison, experiment_names, load_experiment, summarise
from vicinal.report import comparison_page, comparison_verdict, experiment_page, render, verdict


def page_of(experiment, **more):
    return experiment_page(experiment, summarise(experiment, rows_of(experiment, **more)), command="again", facts=())


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
    figures = summarise(experiment, rows_of(experiment))
    figure = next(f for f in figures if (f.data, f.method, f.metric) == ("ijcnn1", "randlocal", "micro_f1"))
    assert f"paper 0.9884 ({figure.mean - 0.9884:+.4f})" in render(page_of(experiment))
    sentences = " ".join(verdict(experiment, figures))
    assert "Of the paper's 6 RandLocal figures, 0 are reached or beaten" in sentences


def test_what_could_not_be_run_is_told():
    text = render(page_of(load_experiment("randlocal-table3"), fail=("rbf-svm",)))
    assert "not run: too large" in text


def test_times_say_who_is_quick():
    experiment = load_experiment("randlocal-times")
    first, second = verdict(experiment, summarise(experiment, rows_of(experiment)))
    assert first.startswith("Features of COVTYPE:")
    assert "RandLocal" in second


class TestComparison:
    def figures(self, curve=True):
        experiment = comparison("iris.csv", n_groups=40, curve=curve)
        return experiment, summarise(experiment, rows_of(experiment))

    def test_page(self):
        experiment, figures = self.figures()
        X, y = load_iris(return_X_y=True)
        page = comparison_page(
            experiment, figures, X=X, y=y, class_names=("a", "b", "c"), command="again", facts=(("Data", "iris"),)
        )
        text = render(page)
        for wanted in ("Accuracy and cost", "Accuracy against time", "number of groups", "Sparsity ratio", "anchors"):
            assert wanted in text

    def test_verdict_names_the_best_and_those_as_good(self):
        _, figures = self.figures(curve=False)
        best = max(figures, key=lambda figure: figure.mean)
        sentences = comparison_verdict(figures)
        assert sentences[0].lower().startswith(f"{best.label} is ahead at {best.mean:.1%}".lower())
        tied = [figure for figure in figures if figure.tied]
        assert all(figure.p_value >= 0.05 for figure in tied)
        assert bool(tied) == any(sentence.startswith("Not significantly worse") for sentence in sentences)

    def test_nothing_could_be_run(self):
        experiment = comparison("x", methods=("raw",))
        figures = summarise(experiment, rows_of(experiment, fail=("raw",)))
        assert np.isnan(figures[0].mean)
        assert comparison_verdict(figures) == ("No method could be run.",)

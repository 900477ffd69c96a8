"""Tables of many data sets: means and mean ranks over those that every method has."""

import pytest

from vicinal.experiments import Measure, Result, read_experiment, summarise
from vicinal.experiments._race_tables import race_ranks, race_tables

DECLARED = """
title = "Who is ahead?"
task = "classification"
metrics = ["accuracy", "log_loss"]
folds = 2
data = ["a", "b", "c", "d", "e"]
methods = ["raw", "extra-trees", "logistic"]
"""
SCORES = {
    "raw": [0.5, 0.6, 0.7, 0.9, None],
    "extra-trees": [0.6, 0.5, 0.8, 0.7, 0.9],
    "logistic": [0.4, 0.6, 0.9, 0.8, 0.3],
}


@pytest.fixture
def found():
    experiment = read_experiment("mine", DECLARED)
    results = []
    for cell in experiment.cells():
        value = SCORES[cell.method]["abcde".index(cell.data)]
        for measure in experiment.measures(cell):
            given = value if value is None or measure.metric.name == "accuracy" else 1 - value
            results.append(Result("mine", cell.data, cell.method, cell.variant, 0, cell.fold, measure, given))
    return experiment, summarise(experiment, results)


def test_ranks_are_over_the_data_that_all_methods_have(found):
    experiment, summaries = found
    ranks, n_data = race_ranks(summaries, experiment.metrics[0])
    assert n_data == 4
    assert ranks["raw features"] == pytest.approx((2 + 1.5 + 3 + 1) / 4)
    assert ranks["extra trees"] == pytest.approx((1 + 3 + 2 + 3) / 4)


def test_tables_have_data_down_and_methods_across_in_their_order(found):
    experiment, summaries = found
    accuracy, loss, seconds = race_tables(experiment, summaries)
    assert experiment.task.tables(experiment, summaries)[0] == accuracy
    assert [column.label for column in accuracy.columns] == [
        "data",
        "raw features",
        "extra trees",
        "logistic regression",
    ]
    assert [row[0].text for row in accuracy.rows] == ["a", "b", "c", "d", "e", "mean of 4", "mean rank"]
    assert [cell.text for cell in accuracy.rows[-2][1:]] == ["0.6750", "0.6500", "0.6750"]
    assert accuracy.rows[4][1].text == "\N{EN DASH}"
    assert "over the 4 data sets" in accuracy.caption
    # A linear SVM gives no probabilities: it is not in the table of the log loss.
    assert [column.label for column in loss.columns[1:]] == ["extra trees", "logistic regression"]
    assert Measure(experiment.metrics[1]) not in experiment.measures(experiment.cells()[0])
    assert len(seconds.rows) == 3


def test_other_experiments_keep_their_tables(found):
    experiment = read_experiment("mine", DECLARED.replace('["a", "b", "c", "d", "e"]', '["a", "b"]'))
    summaries = [summary for summary in found[1] if summary.data in "ab"]
    assert experiment.task.tables(experiment, summaries)[0].columns[0].label == "method"

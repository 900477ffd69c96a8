"""A task of one's own: registered from outside, declared, run in processes, resumed, summarised and rendered."""

import numpy as np
import pytest
from experiments.toy_task import Toy, ToyOptions

from vicinal.experiments import (
    TASKS,
    experiment_page,
    load_experiment,
    read_experiment,
    read_results,
    register,
    run,
    run_pictures,
    summarise,
    verdict,
)
from vicinal.report import render

DECLARED = """
title = "Can it be regressed?"
task = "toy"
metrics = ["r2", "rms"]
ridge = 0.1
repeats = 3
n_groups = 50
data = [{ name = "waves", label = "Two waves" }]
methods = ["raw", "randlocal"]

[paper.randlocal]
waves = { r2 = [0.5] }
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The task is known for as long as a test runs; its data are where VICINAL_DATA says."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 2))
    (tmp_path / "tabular").mkdir()
    np.savez(tmp_path / "tabular" / "waves.npz", X=X, y=np.round(4 * np.sin(X[:, 0])).astype(int) + 4)
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path))
    monkeypatch.setitem(TASKS, "toy", None)  # so that it is gone afterwards
    del TASKS["toy"]
    (tmp_path / "mine.toml").write_text(DECLARED, encoding="utf-8")
    return register(Toy())


def test_from_the_declaration_to_the_page(toy, tmp_path):
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    assert experiment.task is toy
    assert experiment.options == ToyOptions(share=0.5, ridge=0.1)
    path, events = tmp_path / "mine.csv", []
    results = run(experiment, path, callback=lambda cell, event: events.append((cell.method, cell.seed, event)))
    assert [event for event in events if event[2] == "started"] == [
        (method, seed, "started") for seed in range(3) for method in ("raw", "randlocal")
    ]
    assert len(results) == 2 * 3 * 2
    assert all(result.training_rows == result.test_rows == 150 for result in results)
    # What was written is read back.
    assert [str(result.measure) for result in read_results(path, experiment)] == ["r2", "rms"] * 6

    summaries = summarise(experiment, results)
    by_place = {(summary.method, summary.measure.metric.name): summary for summary in summaries}
    assert by_place["randlocal", "r2"].mean > 0.8 > by_place["raw", "r2"].mean
    assert by_place["randlocal", "r2"].best
    assert by_place["randlocal", "rms"].best  # the lower one
    assert by_place["randlocal", "r2"].n == by_place["randlocal", "r2"].planned == 3
    assert by_place["randlocal", "r2"].paper == 0.5

    told = verdict(experiment, summaries)
    assert told[0] == "By R², RandLocal is the best in 1 of 1 comparisons."
    assert told[1] == "Of the paper's 1 RandLocal value, 1 is reached or beaten."
    page = experiment_page(experiment, summaries, command="again", facts=(), pictures=run_pictures(experiment, path))
    text = render(page)
    assert page.facts == (("Protocol", "ridge regression on 50% of the rows"),)
    for words in ("Can it be regressed?", "Two waves", by_place["randlocal", "rms"].shown, "paper 0.5000", told[0]):
        assert words in text


def test_it_is_resumed_where_it_was_stopped(toy, tmp_path):
    experiment = load_experiment(str(tmp_path / "mine.toml"))
    path, events = tmp_path / "mine.csv", []
    whole = run(experiment, path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:4]) + "mine,wav")  # a header, a whole cell, half a cell and half a line
    again = run(experiment, path, callback=lambda cell, event: events.append(event))
    assert [result.value for result in again] == pytest.approx([result.value for result in whole], rel=1e-5)
    assert events.count("kept") == 1
    assert events.count("done") == 5


def test_its_options_are_part_of_the_protocol(toy, tmp_path):
    path = tmp_path / "mine.csv"
    run(read_experiment("mine", DECLARED.replace('"raw", ', "")), path)
    other = read_experiment("mine", DECLARED.replace('"raw", ', "").replace("ridge = 0.1", "ridge = 0.2"))
    with pytest.raises(ValueError, match=r"6 results of another protocol than mine has now, the first of them waves"):
        run(other, path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ridge = 0.1", "rigde = 0.1", "an experiment has no 'rigde'; did you mean 'ridge'"),
        ("ridge = 0.1", 'ridge = "much"', "ridge must be a number; got 'much'"),
        ('"r2", "rms"', '"r3"', "there is no metric 'r3' for toy"),
        ('["raw", ', '["raw", "boosting", ', "'boosting' predicts labels, which toy has no use for"),
    ],
    ids=["key", "type", "metric", "role"],
)
def test_mistakes_are_refused_as_those_in_other_tasks(toy, old, new, message):
    with pytest.raises(ValueError, match=message):
        read_experiment("mine", DECLARED.replace(old, new))


def test_it_is_gone_when_it_is_not_registered():
    assert "toy" not in TASKS
    with pytest.raises(ValueError, match=r"task must be one of classification, .*; got 'toy'"):
        read_experiment("mine", DECLARED)

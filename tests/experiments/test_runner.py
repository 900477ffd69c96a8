"""The runner: killed runs continue to the same CSV, and nothing but whole cells is ever counted."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from vicinal import datasets
from vicinal.experiments import (
    experiment_page,
    load_experiment,
    read_experiment,
    read_results,
    run,
    run_pictures,
    summarise,
)
from vicinal.experiments._results import ResultFile
from vicinal.experiments._runner import share_cores
from vicinal.report import render

DECLARED = """
title = "A small one"
task = "classification"
metrics = ["accuracy", "macro_f1"]
folds = 3
tuning_rows = 60
n_groups = 20
data = [{ name = "blobs", scale = "standard" }, { name = "rings" }]
methods = [
    "raw",
    { name = "randlocal", model = { C = 1.0 } },
    { name = "randlocal", id = "few", vary = { n_groups = [2, 5] } },
]
"""
# A run as a process of its own, which says what it does.
SCRIPT = """
import sys
from pathlib import Path
from vicinal.experiments import load_experiment, run

if __name__ == "__main__":
    experiment = load_experiment(sys.argv[1])
    run(experiment, Path(sys.argv[2]), callback=lambda cell, event: print(event, flush=True))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two small data sets where VICINAL_DATA says, and the experiment as a file."""
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    (tmp_path / "tabular").mkdir()
    np.savez(tmp_path / "tabular" / "blobs.npz", X=rng.standard_normal((150, 4)) + y[:, None], y=y)
    angle, radius = rng.uniform(0, 6.28, 150), 1 + y + 0.2 * rng.standard_normal(150)
    np.savez(tmp_path / "tabular" / "rings.npz", X=np.c_[radius * np.cos(angle), radius * np.sin(angle)], y=y)
    (tmp_path / "small.toml").write_text(DECLARED)
    monkeypatch.setenv("VICINAL_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def small(folder):
    return load_experiment(str(folder / "small.toml"))


def without_costs(result):
    """A result but for what depends on the machine, and on the state of the source at that moment."""
    costs = ("feature_seconds", "model_seconds", "tuning_seconds", "peak_memory_mb", "threads")
    return replace(result, versions={}, **dict.fromkeys(costs))


def kept_values(path, experiment):
    return [without_costs(result) for result in read_results(path, experiment)]


def command(folder):
    script = folder / "script.py"
    script.write_text(SCRIPT)
    return [sys.executable, str(script), str(folder / "small.toml"), str(folder / "small.csv")]


def test_a_killed_run_continues_to_the_same_csv(folder, small):
    path = folder / "small.csv"
    run(small, path)
    whole = kept_values(path, small)
    assert len(whole) == 2 * 3 * 4 * 2  # data, folds, methods with their variants, metrics
    path.unlink()

    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert _wait_for(lambda: path.exists() and path.read_text().count("\n") >= 8)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = path.read_text().count("\n") - 1
    assert 7 <= kept < len(whole)
    with path.open("a") as file:  # what a write that was cut short would leave
        file.write("small,blobs,raw,,0,2,accu")

    again = subprocess.run(command(folder), check=True, capture_output=True, text=True).stdout.split()
    assert kept_values(path, small) == whole
    # Two results per cell: finished cells are not run again.
    assert again.count("kept") == kept // 2
    assert again.count("done") == len(whole) // 2 - kept // 2


def test_children_end_with_a_killed_run(folder):
    text = DECLARED.replace("tuning_rows = 60", "tuning_rows = 3000").replace("n_groups = 20", "n_groups = 300000")
    (folder / "small.toml").write_text(text)
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = _wait_for(lambda: _descendants(process.pid))
    assert children
    process.kill()
    process.wait()
    assert _wait_for(lambda: not any(_alive(child) for child in children))


def test_threads_and_cells_at_a_time_do_not_change_values(folder, small):
    one = run(small, folder / "one.csv", jobs=1)
    two = run(small, folder / "two.csv", jobs=2)
    assert list(map(without_costs, one)) == list(map(without_costs, two))
    assert {result.threads for result in one} == {share_cores(1, len(small.cells()))[1]}
    assert all(result.peak_memory_mb > 10 for result in one)
    assert all(result.versions[name] for result in one for name in ("scikit_learn", "numpy", "vicinal"))


def test_all_cores_may_be_asked_for_by_minus_one(folder, small):
    experiment = replace(small, methods=small.methods[:1], data=small.data[:1])
    results = run(experiment, folder / "small.csv", jobs=-1)
    assert len(results) == 3 * 2
    assert all(result.value is not None for result in results)


@pytest.mark.parametrize(("jobs", "n_cells"), [(None, 100), (-1, 100), (1, 100), (2, 1), (-1, 0), (500, 3)], ids=str)
def test_cells_at_a_time_share_the_cores(jobs, n_cells):
    cores = share_cores(1, 1)[1]
    workers, threads = share_cores(jobs, n_cells)
    wanted = cores if jobs in (None, -1) else jobs
    assert workers == min(wanted, max(1, n_cells))
    assert 1 <= threads == max(1, cores // workers)


def test_groups_can_be_varied_for_all_that_have_them(folder):
    """Iterations of landmarks are groups, too: one name for both."""
    varied = "vary = { n_groups = [2, 5] }"
    declared = f"""
        title = "Few and more"
        task = "classification"
        metrics = ["accuracy"]
        folds = 2
        data = ["blobs"]
        methods = [{{ name = "randlocal", {varied} }}, {{ name = "projected-landmarks", {varied} }}]
    """
    results = run(read_experiment("few", declared), folder / "few.csv")
    sizes = {(result.method, str(result.variant)): result.nonzeros_per_row for result in results}
    assert sizes == {
        ("randlocal", "n_groups=2"): 2,
        ("randlocal", "n_groups=5"): 5,
        ("projected-landmarks", "n_groups=2"): 20,
        ("projected-landmarks", "n_groups=5"): 50,
    }


def test_a_second_report_needs_no_data(folder, monkeypatch):
    declared = """
        title = "Two looks"
        task = "images"
        metrics = ["sparsity_ratio"]
        subject = "sampled-landmarks"
        n_groups = 1
        data = [{ name = "blobs", label = "Three blobs" }]
        methods = [
            { name = "randlocal", parameters = { n_anchors = 30 } },
            { name = "sampled-landmarks", parameters = { n_landmarks = 30, n_nearest = 6 } },
        ]
        [paper.randlocal]
        blobs = { sparsity_ratio = [0.03] }
    """
    experiment, path = read_experiment("looks", declared), folder / "looks.csv"

    def report():
        results = run(experiment, path)
        pictures = run_pictures(experiment, path)
        page = experiment_page(experiment, summarise(experiment, results), command="", facts=(), pictures=pictures)
        return [(result.method, f"{result.value:.6f}") for result in results], render(page)

    values, text = report()
    assert values == [("randlocal", "0.033333"), ("sampled-landmarks", "0.200000")]
    assert "RandLocal 0.0333; sampled landmarks 0.2000" in text
    assert text.count('<img style="--rows:150"') == 2
    for words in ("Features of Three blobs", "sparsity ratio 0.0333", "sparsity ratio 0.2", "paper 0.0300 (+0.0033)"):
        assert words in text

    monkeypatch.setattr(datasets, "load", lambda name: pytest.fail(f"{name} was loaded"))
    assert report()[1] == text


def test_a_cell_that_fails_says_why_and_is_tried_again(folder):
    declared = DECLARED.replace('"raw",', '{ name = "rbf-map", parameters = { max_memory = 1000 } },')
    experiment = read_experiment("small", declared)
    events = []
    results = run(experiment, folder / "small.csv", callback=lambda cell, event: events.append((cell.method, event)))
    failed = [result for result in results if result.method == "rbf-map"]
    assert len(failed) == 2 * 3 * 2
    assert all(result.value is None and "memory" in result.notes for result in failed)
    assert any(method == "rbf-map" and "memory" in event for method, event in events)
    file = ResultFile.open(folder / "small.csv", experiment)
    assert not any(cell.method == "rbf-map" for cell in file.done())
    assert len(file.done()) == 2 * 3 * 3


def test_results_of_another_version_or_protocol_are_refused(folder, small):
    path = folder / "small.csv"
    run(small, path)
    other = read_experiment("small", DECLARED.replace("n_groups = 20", "n_groups = 21"))
    with pytest.raises(ValueError, match=r"results of another protocol than small has now.*--fresh"):
        run(other, path)
    assert len(run(other, path, fresh=True)) == 48

    text = path.read_text()
    path.write_text(text.replace("peak_memory_mb,", "", 1))
    with pytest.raises(ValueError, match="not a result file of this version of vicinal"):
        run(small, path)
    lines = text.splitlines()
    path.write_text("\n".join([*lines[:3], "broken,row", *lines[3:]]) + "\n")
    with pytest.raises(ValueError, match=r"small.csv, line 4: not a row of 24 values"):
        run(small, path)


def test_half_a_cell_is_run_again(folder, small):
    path = folder / "small.csv"
    run(small, path)
    whole = kept_values(path, small)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")  # one of two metrics is there
    run(small, path)
    assert kept_values(path, small) == whole


def test_a_full_disk_keeps_what_was_there(folder, small):
    """A file size limit stands in for a full disk."""
    path = folder / "small.csv"
    run(small, path)
    before = path.read_text()
    limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *command(folder)]
    refused = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert path.read_text() == before


def test_missing_data_are_named_before_anything_runs(folder, monkeypatch):
    monkeypatch.setenv("VICINAL_CACHE", str(folder / "cache"))
    experiment = read_experiment("small", DECLARED.replace('"blobs"', '"blobz"'))
    with pytest.raises(ValueError, match=r"There is no data set 'blobz'; did you mean 'blobs'\?"):
        run(experiment, folder / "small.csv")


def _wait_for(condition, seconds=120):
    deadline = time.time() + seconds
    while time.time() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    return False


def _descendants(pid):
    """The processes that compute: children of the fork server (Linux)."""
    listing = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listing.splitlines()[1:]]
    children = [child for child, parent in parents if parent == pid]
    return [child for child, parent in parents if parent in children]


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

"""The runner: killed runs continue to the same CSV, and nothing but whole cells is ever counted."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from vicinal.experiments import load_experiment, read_experiment, read_results, run
from vicinal.experiments._results import FIELDS, ResultFile

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
SAME = [name for name in FIELDS if "seconds" not in name and name not in ("peak_memory_mb", "threads")]


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


def figures(path):
    return [{name: row[name] for name in SAME} for row in read_results(path)]


def command(folder, *more):
    return [sys.executable, "-m", "vicinal.cli", "reproduce", str(folder / "small.toml"), "-o", str(folder), *more]


def test_a_killed_run_continues_to_the_same_csv(folder):
    subprocess.run(command(folder), check=True, capture_output=True)
    path = folder / "small.csv"
    whole = figures(path)
    assert len(whole) == 2 * 3 * 4 * 2  # data, folds, methods with their settings, metrics
    path.unlink()

    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 60
    while time.time() < deadline and (not path.exists() or path.read_text().count("\n") < 8):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = path.read_text().count("\n") - 1
    assert 7 <= kept < len(whole)
    with path.open("a") as file:  # what a write that was cut short would leave
        file.write("small,blobs,raw,,0,2,accu")

    again = subprocess.run(command(folder), check=True, capture_output=True, text=True)
    assert figures(path) == whole
    computed = again.stderr.count(": done")
    assert computed <= len(whole) // 2 - kept // 2  # two rows per cell: finished cells are not run again
    assert "Every repeat" in again.stdout


def test_children_end_with_a_killed_run(folder):
    text = DECLARED.replace("tuning_rows = 60", "tuning_rows = 3000").replace("n_groups = 20", "n_groups = 300000")
    (folder / "small.toml").write_text(text)
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = _wait_for(lambda: _descendants(process.pid))
    process.kill()
    process.wait()
    assert _wait_for(lambda: not any(_alive(child) for child in children))


def test_threads_and_cells_at_a_time_do_not_change_figures(folder):
    experiment = load_experiment(str(folder / "small.toml"))
    one = run(experiment, folder / "one.csv", jobs=1)
    two = run(experiment, folder / "two.csv", jobs=2)
    assert [[row[name] for name in SAME] for row in one] == [[row[name] for name in SAME] for row in two]
    assert {row["threads"] for row in one} == {str(os.cpu_count())}
    assert all(float(row["peak_memory_mb"]) > 10 for row in one)
    assert all(row["scikit_learn"] and row["numpy"] and row["vicinal"] for row in one)


def test_a_cell_that_fails_is_told_and_tried_again(folder):
    declared = DECLARED.replace('"raw",', '{ name = "rbf-map", parameters = { max_memory = 1000 } },')
    experiment = read_experiment("small", declared)
    events = []
    rows = run(experiment, folder / "small.csv", callback=lambda cell, event: events.append((cell.method, event)))
    failed = [row for row in rows if row["method"] == "rbf-map"]
    assert len(failed) == 2 * 3 * 2
    assert all(row["value"] == "" and "memory" in row["notes"] for row in failed)
    assert any(method == "rbf-map" and "memory" in event for method, event in events)
    file = ResultFile.open(folder / "small.csv", experiment)
    assert not any(key[1] == "rbf-map" for key in file.done())
    assert len(file.done()) == 2 * 3 * 3


def test_results_of_another_version_or_protocol_are_refused(folder):
    experiment = load_experiment(str(folder / "small.toml"))
    path = folder / "small.csv"
    run(experiment, path)
    other = read_experiment("small", DECLARED.replace("n_groups = 20", "n_groups = 21"))
    with pytest.raises(ValueError, match=r"results of another protocol than small has now.*--fresh"):
        run(other, path)
    assert len(run(other, path, fresh=True)) == 48

    text = path.read_text()
    path.write_text(text.replace("peak_memory_mb,", "", 1))
    with pytest.raises(ValueError, match="not a result file of this version of vicinal"):
        run(experiment, path)
    lines = text.splitlines()
    path.write_text("\n".join([*lines[:3], "broken,row", *lines[3:]]) + "\n")
    with pytest.raises(ValueError, match=r"small.csv, line 4: not a row of 24 values"):
        run(experiment, path)


def test_half_a_cell_is_run_again(folder):
    experiment = load_experiment(str(folder / "small.toml"))
    path = folder / "small.csv"
    run(experiment, path)
    whole = figures(path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")  # one of two metrics is there
    run(experiment, path)
    assert figures(path) == whole


def test_a_full_disk_keeps_what_was_there(folder):
    """A file size limit stands in for a full disk."""
    subprocess.run(command(folder), check=True, capture_output=True)
    path = folder / "small.csv"
    before = path.read_text()
    limited = ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *command(folder)]
    refused = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert path.read_text() == before


def test_missing_data_are_told_before_anything_runs(folder, monkeypatch):
    monkeypatch.setenv("VICINAL_CACHE", str(folder / "cache"))
    experiment = read_experiment("small", DECLARED.replace('"blobs"', '"blobz"'))
    with pytest.raises(ValueError, match=r"There is no data set 'blobz'; did you mean 'blobs'\?"):
        run(experiment, folder / "small.csv")


def _wait_for(condition, seconds=20):
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

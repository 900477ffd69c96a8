"""The runner: killed runs continue to the same CSV, and nothing but whole cells is ever counted."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from vicinal.experiments import cell_features, load_experiment, read_experiment, read_results, run
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
    rows = run(read_experiment("few", declared), folder / "few.csv")
    sizes = {(row["method"], row["setting"]): float(row["nonzeros_per_row"]) for row in rows}
    assert sizes == {
        ("randlocal", "n_groups=2"): 2,
        ("randlocal", "n_groups=5"): 5,
        ("projected-landmarks", "n_groups=2"): 20,
        ("projected-landmarks", "n_groups=5"): 50,
    }


def test_features_as_images_from_the_command_to_the_report(folder):
    (folder / "small.toml").write_text("""
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
    """)
    told = subprocess.run(
        command(folder, "--report", str(folder / "report.html")), check=True, capture_output=True, text=True
    ).stdout
    assert [(row["method"], row["value"]) for row in read_results(folder / "small.csv")] == [
        ("randlocal", "0.033333"),
        ("sampled-landmarks", "0.200000"),
    ]
    assert "RandLocal 0.0333; sampled landmarks 0.2000" in " ".join(told.split())
    page = (folder / "report.html").read_text()
    assert page.count('<img style="--rows:150"') == 2
    for words in ("Features of Three blobs", "sparsity ratio 0.0333", "sparsity ratio 0.2", "paper 0.0300 (+0.0033)"):
        assert words in page
    again = load_experiment(str(folder / "small.toml"))
    features, y = cell_features(again, again.cells()[1])
    assert features.shape == (150, 30)
    np.testing.assert_array_equal(y, np.arange(150) % 3)


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

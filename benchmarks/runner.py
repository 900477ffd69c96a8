"""What the experiments' runner adds to the time of what it runs: one start, and a process and a CSV row per cell."""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from _machine import record
from sklearn.datasets import load_digits

CELLS = 6
DECLARED = """
title = "Digits"
task = "classification"
metrics = ["accuracy"]
folds = {folds}
data = [{{ name = "digits", scale = "matrix" }}]
methods = [{{ name = "{method}", model = {{ C = {C} }} }}]
"""


def measure(method: str, folds: int, C: str) -> tuple[float, float]:
    """Seconds by the runner, one cell at a time, and of the same cells called one after the other."""
    from vicinal.experiments import read_experiment, run
    from vicinal.experiments._runner import evaluate_cell

    experiment = read_experiment("digits", DECLARED.format(method=method, folds=folds, C=C))
    start = time.perf_counter()
    for cell in experiment.cells():
        evaluate_cell(experiment, cell, threads=os.cpu_count() or 1)
    direct = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run(experiment, Path(folder, "digits.csv"), jobs=1)
        return time.perf_counter() - start, direct


def table3() -> tuple[int, float]:
    """How many cells the committed run of Table 3 has, and the seconds that they worked."""
    from vicinal.experiments import load_experiment, read_results

    path = Path(__file__).parents[1] / "experiments" / "results" / "randlocal-table3.csv"
    experiment = load_experiment("randlocal-table3")
    cells = {
        result.cell(experiment): sum((result.feature_seconds, result.model_seconds, result.tuning_seconds))
        for result in read_results(path, experiment)
        if result.value is not None
    }
    return len(cells), sum(cells.values())


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        digits = load_digits()
        Path(folder, "tabular").mkdir()
        np.savez(Path(folder, "tabular", "digits.npz"), X=digits.data, y=digits.target)
        os.environ["VICINAL_DATA"] = folder
        empty, none = measure("raw", 2, "0.001")
        many, few = measure("raw", 40, "0.001")
        runner, direct = measure("rbf-svm", CELLS, "1.0")
    per_cell = ((many - few) - (empty - none)) / 38
    start = empty - none - 2 * per_cell
    cells, seconds = table3()
    share = (start + cells * per_cell) / seconds
    record(
        "Runner",
        [
            f"A start costs {start:.1f} s once, a cell {1000 * per_cell:.0f} ms. {CELLS} cells of "
            f"{direct / CELLS:.1f} s each took {runner:.1f} s by the runner and {direct:.1f} s in a plain loop: "
            f"{runner / direct - 1:+.1%}. The {cells} cells of Table 3 of the RandLocal paper, {seconds / 60:.0f} "
            f"minutes of one core, make that {share:.1%}.",
        ],
    )


if __name__ == "__main__":
    main()

"""Detectors of outliers on two large tables: seconds and memory to fit and to score all rows, and how well they do.

Every figure comes from a process of its own.
"""

import argparse
import importlib
import importlib.util
import json
import os
from collections.abc import Callable

import numpy as np
from _machine import child, peak_memory, record, timed
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import minmax_scale

from vicinal import datasets

DATA = {"kdd99_http": "HTTP, 567,498 x 3", "aloi_outlier": "ALOI, 49,534 x 27"}
OURS = "vicinal.outlier"  # joins the table as soon as the package has it
PEERS = {  # each a job, the package that it needs, and what the job is given before the data
    "isolation forest (scikit-learn)": ("isolation_forest", "sklearn"),
    "isolation forest (PyOD)": ("pyod", "pyod", "iforest.IForest", {"n_jobs": 2, "random_state": 0}),
    "INNE (PyOD)": ("pyod", "pyod", "inne.INNE", {"random_state": 0}),
    "ECOD (PyOD)": ("pyod", "pyod", "ecod.ECOD", {}),
    "COPOD (PyOD)": ("pyod", "pyod", "copod.COPOD", {}),
    "local outlier factor (scikit-learn)": ("lof", "sklearn"),
}
SLOW = {"local outlier factor (scikit-learn)": ("kdd99_http",)}  # and the tables that it is left out of


def rows(data: str, quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows in [0, 1], and which are outliers."""
    if quick:
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(size=(2000, 5)), rng.normal(scale=4, size=(40, 5))])
        return minmax_scale(X.astype(np.float32)), np.repeat([0, 1], [2000, 40])
    sample = datasets.load(data)
    return minmax_scale(sample.X.astype(np.float32)), sample.y


def figures(scores_of: Callable[[np.ndarray], np.ndarray], data: str, quick: bool) -> dict:
    """`scores_of` fits and scores, the higher, the stranger."""
    X, y = rows(data, quick)
    scores_of(X[:100])  # loads what is only imported when it is used
    (scores, seconds), memory = peak_memory(lambda: timed(lambda: scores_of(X)))
    return {
        "seconds": seconds,
        "GB": memory / 1e9,
        "AUC": roc_auc_score(y, scores),
        "average precision": average_precision_score(y, scores),
    }


def job_ours(data: str, quick: bool) -> dict:
    make = importlib.import_module(OURS).LocalOutlierDetector
    return figures(lambda X: -make(random_state=0, n_jobs=2).fit(X).score_samples(X), data, quick)


def job_isolation_forest(data: str, quick: bool) -> dict:
    return figures(lambda X: -IsolationForest(random_state=0, n_jobs=2).fit(X).score_samples(X), data, quick)


def job_lof(data: str, quick: bool) -> dict:
    return figures(lambda X: -LocalOutlierFactor(n_jobs=2).fit(X).negative_outlier_factor_, data, quick)


def job_pyod(name: str, parameters: dict, data: str, quick: bool) -> dict:
    """PyOD scores the fitted rows within its fit; a second fit of the same detector may remember the first one."""
    module, _, kind = name.partition(".")
    make = getattr(importlib.import_module(f"pyod.models.{module}"), kind)
    return figures(lambda X: make(**parameters).fit(X).decision_scores_, data, quick)


def table(data: str, quick: bool) -> list[str]:
    head = "made rows" if quick else DATA[data]
    lines = [f"| {head} | seconds | GB beside the rows | AUC | average precision |", "|---|--:|--:|--:|--:|"]
    methods = {"LocalOutlierDetector": ("ours", OURS), **PEERS}
    for label, (job, package, *arguments) in methods.items():
        if (data in SLOW.get(label, ()) and not quick) or not importlib.util.find_spec(package):
            continue
        found = child(__file__, job, *arguments, data, quick)
        lines.append(
            f"| {label} | failed | | | |"
            if "failed" in found
            else f"| {label} | {found['seconds']:.2f} | {found['GB']:.2f} | {found['AUC']:.4f} "
            f"| {found['average precision']:.4f} |"
        )
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small made data; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    if not options.quick and not os.environ.get("VICINAL_DATA"):
        return print("The tables need the folder VICINAL_DATA; --quick runs on made data.")
    lines = ["Fit and scores of all rows, with two threads where a detector takes them; reading data is not timed.", ""]
    for data in list(DATA)[: 1 if options.quick else None]:
        lines += table(data, options.quick)
    print("\n".join(lines)) if options.quick else record("Outliers", lines[:-1])


if __name__ == "__main__":
    main()

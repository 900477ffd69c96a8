"""LocalClassifier from a table to a model, all choices included: seconds, memory and test F1; a grid search beside it.

Every figure comes from a process of its own.
"""

import argparse
import json
import os
import time

import numpy as np
from _machine import child, peak_memory, record
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from vicinal import LocalClassifier, datasets

WHOLE = {"covtype": {}, "mnist": {"image_shape": (28, 28)}, "ijcnn1": {}}
FEW = ("covtype", "ijcnn1", "pendigits")
FEW_ROWS, MOST_TEST_ROWS = 5600, 5000


def rows_of(name: str, n_rows: int | None) -> tuple:
    """Training rows, test rows, their classes; the published split of MNIST, the first of five folds of others."""
    if name == "made rows":
        X, y = make_classification(1500, 8, n_informative=5, n_classes=3, random_state=0)
    else:
        sample = datasets.load(name)
        X, y = sample.X.astype(np.float32), sample.y
    if n_rows is not None:
        X, X_test, y, y_test = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=0)
        return X, X_test[:MOST_TEST_ROWS], y, y_test[:MOST_TEST_ROWS]
    training, test = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    if name == "mnist":
        training, test = np.flatnonzero(sample.split == 0), np.flatnonzero(sample.split == 1)
    return X[training], X[test], y[training], y[test]


def job_whole(name: str) -> dict:
    X, X_test, y, y_test = rows_of(name, None)
    model = LocalClassifier(**WHOLE.get(name, {}), random_state=0)
    start = time.perf_counter()
    _, memory = peak_memory(lambda: model.fit(X, y))
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    predicted = model.predict(X_test)
    return {
        "rows": len(X),
        "MB": X.nbytes / 1e6,
        "seconds": seconds,
        "more MB": memory / 1e6,
        "rows per second": len(X_test) / (time.perf_counter() - start),
        "micro": f1_score(y_test, predicted, average="micro"),
        "macro": f1_score(y_test, predicted, average="macro"),
        "parts": ", ".join(part["part"] for part in model.chosen_["parts"]),
    }


def job_few(name: str, n_rows: int) -> dict:
    """Beside nine settings of an RBF kernel SVM, five folds of each, one process and two."""
    X, X_test, y, y_test = rows_of(name, n_rows)
    start = time.perf_counter()
    model = LocalClassifier(random_state=0).fit(X, y)
    found = {"ours": time.perf_counter() - start, "our score": model.score(X_test, y_test)}
    widths = [factor / X.shape[1] for factor in (0.1, 1, 10)]
    for n_jobs in (1, 2):
        machine = make_pipeline(StandardScaler(), SVC())
        grid = GridSearchCV(machine, {"svc__C": [1, 10, 100], "svc__gamma": widths}, n_jobs=n_jobs)
        start = time.perf_counter()
        found["score"] = grid.fit(X, y).score(X_test, y_test)
        found[f"grid, {n_jobs}"] = time.perf_counter() - start
    return found


def whole(names: list[str]) -> list[str]:
    lines = [
        "| data | training rows | input, MB | fit, s | memory beyond input, MB | rows predicted per second | micro-F1 "
        "| macro-F1 | parts |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for name in names:
        found = child(__file__, "whole", name)
        lines.append(
            f"| {name} | {found['rows']:,} | {found['MB']:.0f} | {found['seconds']:.0f} | {found['more MB']:.0f} "
            f"| {found['rows per second']:,.0f} | {found['micro']:.4f} | {found['macro']:.4f} | {found['parts']} |"
        )
    return lines


def few(names: list[str], n_rows: int) -> list[str]:
    lines = [
        f"{n_rows:,} rows, nine settings of an RBF kernel SVM in five folds beside the whole fit:",
        "",
        "| data | ours, s | grid, one process, s | two, s | our accuracy | the grid's |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in names:
        found = child(__file__, "few", name, n_rows)
        lines.append(
            f"| {name} | {found['ours']:.1f} | {found['grid, 1']:.1f} | {found['grid, 2']:.1f} "
            f"| {found['our score']:.4f} | {found['score']:.4f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small made data; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    if options.quick:
        return print("\n".join([*whole(["made rows"]), "", *few(["made rows"], 1000)]))
    if not os.environ.get("VICINAL_DATA"):
        return print("The tables need the folder VICINAL_DATA; --quick runs on made data.")
    about = (
        "`LocalClassifier(random_state=0)`, two threads; of MNIST with `image_shape`. All choices are part of a fit."
    )
    record("LocalClassifier", [about, "", *whole(list(WHOLE)), "", *few(list(FEW), FEW_ROWS)])


if __name__ == "__main__":
    main()

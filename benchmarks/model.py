"""Linear models on local features and on words: seconds, memory and test F1 beside those of scikit-learn.

Every figure comes from a process of its own. Features are made once and kept below build/; making them is not timed,
but for the rows that say so.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _machine import child, peak_memory, record
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, normalize
from sklearn.svm import LinearSVC

from vicinal import LocalLinearClassifier, RandLocal, datasets

KEPT = Path(__file__).parents[1] / "build" / "bench-model"
TASKS = {  # the data set, rows to learn from (None: all), groups (None: rows as they are), C
    "ijcnn1": ("ijcnn1", None, 400, 10.0),
    "covtype-100k": ("covtype", 100_000, 400, 10.0),
    "covtype": ("covtype", None, 400, 10.0),
    "news20": ("news20_bydate", None, None, 1.0),
}
QUICK = {"quick": ("made rows", 2000, 50, 10.0)}
MODELS = {
    "LocalLinearClassifier": "ours(n_jobs=2)",
    "the same, one thread": "ours(n_jobs=1)",
    "the same, gap 0.1": "ours(n_jobs=2, tol=0.1)",
    "the same, gap 0.1, one thread": "ours(n_jobs=1, tol=0.1)",
    "the same, gap 1e-4": "ours(n_jobs=2, tol=1e-4)",
    "the same, logistic": "ours(n_jobs=2, loss='logistic')",
    "LinearSVC (dual)": "LinearSVC(C=C, dual=True, random_state=0)",
    "LinearSVC (primal)": "LinearSVC(C=C, dual=False, random_state=0)",
    "LogisticRegression (L-BFGS)": "LogisticRegression(C=C)",
    "SGDClassifier": "SGDClassifier(alpha=1 / (C * n_rows), n_jobs=2, random_state=0)",
}
GROWTH = {"LocalLinearClassifier, gap 0.1": "ours(n_jobs=1, tol=0.1)", "LinearSVC (dual)": MODELS["LinearSVC (dual)"]}
PATH = (0.01, 0.1, 1.0, 10.0)
SLOW = {"covtype": ("LinearSVC (dual)", "LogisticRegression (L-BFGS)")}


def raw(task: str) -> tuple:
    """Training rows, test rows, their classes."""
    name, n_rows, groups, _ = (TASKS | QUICK)[task]
    if task in QUICK:
        X, y = make_classification(3000, 10, n_informative=6, n_classes=4, random_state=0)
    else:
        sample = datasets.load(name)
        X, y = sample.X, sample.y
    if sp.issparse(X):
        X = normalize(sp.csr_matrix(X, dtype=np.float32))
    split = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    if groups is not None:
        scale = MinMaxScaler().fit(split[0])
        split[:2] = [scale.transform(rows).astype(np.float32) for rows in split[:2]]
    return split[0][:n_rows], split[1], split[2][:n_rows], split[3]


def job_features(task: str) -> dict:
    """Makes the matrices that linear models are given, rows of a mean squared length of 1."""
    X, X_test, y, y_test = raw(task)
    groups = (TASKS | QUICK)[task][2]
    if groups is not None:
        local = RandLocal(groups, random_state=0, n_jobs=2)
        X, X_test = local.fit_transform(X), local.transform(X_test)
        factor = np.float32(1 / np.sqrt(np.dot(X.data, X.data) / X.shape[0]))
        X.data *= factor
        X_test.data *= factor
    KEPT.mkdir(parents=True, exist_ok=True)
    sp.save_npz(KEPT / f"{task}-train.npz", X, compressed=False)
    sp.save_npz(KEPT / f"{task}-test.npz", X_test, compressed=False)
    np.savez(KEPT / f"{task}-labels.npz", y=y, y_test=y_test)
    return {"columns": X.shape[1], "GB": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e9}


def figures(model, X, y, X_test, y_test) -> dict:
    def fit() -> tuple[float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a peer that did not converge is part of the comparison
            model.fit(X, y)
        return time.perf_counter() - wall, time.process_time() - cpu

    (wall, cpu), memory = peak_memory(fit)
    start = time.perf_counter()
    predicted = model.predict(X_test)
    return {
        "seconds": wall,
        "cpu": cpu,
        "GB": memory / 1e9,
        "micro": f1_score(y_test, predicted, average="micro"),
        "macro": f1_score(y_test, predicted, average="macro"),
        "rows per second": X_test.shape[0] / (time.perf_counter() - start),
    }


def kept(task: str) -> tuple:
    """What job_features left: training rows, test rows, their classes."""
    X, X_test = (sp.load_npz(KEPT / f"{task}-{part}.npz") for part in ("train", "test"))
    labels = np.load(KEPT / f"{task}-labels.npz", allow_pickle=True)
    return X, X_test, labels["y"], labels["y_test"]


def job_linear(task: str, make: str, share: float = 1.0) -> dict:
    X, X_test, y, y_test = kept(task)
    n_rows, C = round(share * X.shape[0]), (TASKS | QUICK)[task][3]
    X, y = X[:n_rows], y[:n_rows]
    kinds = {kind.__name__: kind for kind in (LinearSVC, LogisticRegression, SGDClassifier)}
    ours = lambda **options: LocalLinearClassifier(C=C, random_state=0, **options)  # noqa: E731
    model = eval(make, {"C": C, "n_rows": X.shape[0], "ours": ours, **kinds})
    return figures(model, X, y, X_test, y_test)


def job_codes(task: str, tol: float) -> dict:
    """One thread on the codes of local features, which are not timed; GB are those of codes and model."""
    X, X_test, y, y_test = raw(task)
    _, _, groups, C = (TASKS | QUICK)[task]
    local = RandLocal(groups, random_state=0, n_jobs=2)
    model = LocalLinearClassifier(local, C=C, tol=tol, random_state=0, n_jobs=1)
    model._prepared = model._fitted_rows(X, y)
    found = figures(model, X, y, X_test, y_test)
    return found | {"GB": found["GB"] + model._prepared[0].nbytes / 1e9}


def job_path(task: str) -> dict:
    """CPU seconds of a whole path of C, and of its last value alone."""
    X, _, y, _ = kept(task)
    seconds = []
    for values in (PATH, PATH[-1:]):
        start = time.process_time()
        LocalLinearClassifier(tol=0.1, random_state=0, n_jobs=1).path(X, y, values)
        seconds.append(time.process_time() - start)
    return {"path": seconds[0], "last": seconds[1]}


def job_fused(task: str) -> dict:
    """From rows to a model and to predictions, without a matrix of features."""
    X, X_test, y, y_test = raw(task)
    _, _, groups, C = (TASKS | QUICK)[task]
    local = RandLocal(groups, random_state=0, n_jobs=2)
    return figures(LocalLinearClassifier(local, C=C, random_state=0, n_jobs=2), X, y, X_test, y_test)


def job_trees(task: str) -> dict:
    X, X_test, y, y_test = raw(task)
    return figures(ExtraTreesClassifier(50, n_jobs=2, random_state=0), X, y, X_test, y_test)


def table(task: str) -> list[str]:
    made = child(__file__, "features", task)
    if "failed" in made:
        return [f"{task}: the features could not be made.", ""]
    lines = [
        f"| {task}: {made['columns']:,} columns, CSR of {made['GB']:.2f} GB | seconds | CPU seconds "
        "| GB beside the rows | micro-F1 | macro-F1 | rows predicted per second |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    jobs = [(label, "linear", task, make) for label, make in MODELS.items() if label not in SLOW.get(task, ())]
    if (TASKS | QUICK)[task][2] is not None:
        jobs += [(f"on codes, gap {tol:g}, one thread", "codes", task, tol) for tol in (0.01, 0.1, 0.2)]
        jobs += [("RandLocal and model in one, features included", "fused", task)]
        jobs += [("ExtraTrees, 50 trees, on the table", "trees", task)]
    for label, job, *arguments in jobs:
        found = child(__file__, job, *arguments)
        lines.append(
            f"| {label} | failed | | | | | |"
            if "failed" in found
            else f"| {label} | {found['seconds']:.2f} | {found['cpu']:.2f} | {found['GB']:.2f} | {found['micro']:.4f} "
            f"| {found['macro']:.4f} | {found['rows per second']:,.0f} |"
        )
    return [*lines, "", *growth(task), ""]


def growth(task: str) -> list[str]:
    """How CPU seconds grow with the rows, and what a path of C costs beside its last value."""
    lines = []
    for label, make in GROWTH.items():
        if label in SLOW.get(task, ()):
            continue
        times = {share: child(__file__, "linear", task, make, share)["cpu"] for share in (0.25, 0.5, 1.0)}
        shown = ", ".join(f"{seconds:.2f} with {share:g}" for share, seconds in times.items())
        lines.append(f"- CPU seconds by share of the rows, {label}: {shown}")
    path = child(__file__, "path", task)
    values = f"{len(PATH)} values of C up to {PATH[-1]:g}"
    return [*lines, f"- CPU seconds of {values}: {path['path']:.2f}; of the last alone: {path['last']:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small made data; nothing is written to RESULTS.md")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS), help="default: all")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    if not options.quick and not os.environ.get("VICINAL_DATA"):
        return print("The tables need the folder VICINAL_DATA; --quick runs on made data.")
    for task in QUICK if options.quick else options.tasks:
        lines = ["Fits with two threads where a model takes them, and predictions of the test rows.", "", *table(task)]
        print("\n".join(lines)) if options.quick else record(f"Linear models, {task}", lines[:-1])


if __name__ == "__main__":
    main()

"""Learned kernels on film reviews: RankBoost beside logistic regression and LightGBM, and features made of kernels.

Every figure comes from a process of its own.
"""

import argparse
import importlib.util
import json
import os

import numpy as np
import scipy.sparse as sp
from _machine import child, highest_memory, record, timed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from vicinal import LearnedKernelFeatures, RankBoost, RankBoostMap, datasets

REVIEWS = "imdb_uni_bi"
QUERY_ROWS = 1000  # LightGBM compares all pairs of rows of a query


def made(n_rows: int) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of words that grow rare as those of texts do, some of which one class has more often."""
    rng = np.random.default_rng(0)
    means = 10 / np.arange(1, 20_001) ** 0.9
    y = rng.integers(0, 2, n_rows)
    lean = np.where(rng.random(len(means)) < 0.1, rng.uniform(0.5, 2, len(means)), 1.0)
    blocks = [sp.csr_array(rng.poisson(means * (lean if label else 1))) for label in y]
    return sp.csr_array(sp.vstack(blocks, format="csr")), y


def parts(quick: bool) -> tuple:
    """Training rows and labels, test rows and labels."""
    if quick:
        X, y = made(1000)
        return X[:600], y[:600], X[600:], y[600:]
    sample = datasets.load(REVIEWS)
    train, test = np.flatnonzero(sample.split == 0), np.flatnonzero(sample.split == 1)
    return sample.X[train], sample.y[train], sample.X[test], sample.y[test]


def figures(model: object, quick: bool) -> dict:
    X, y, X_test, y_test = parts(quick)
    before = highest_memory()
    _, seconds = timed(lambda: model.fit(X, y))
    answer = getattr(model, "decision_function", None) or (lambda rows: model.predict_proba(rows)[:, 1])
    return {
        "seconds": seconds,
        "GB": highest_memory(),
        "GB with the data alone": before,
        "AUC": roc_auc_score(y_test, answer(X_test)),
    }


ORIGINAL = {"step": "third-method", "learning_rate": 1.0, "column_share": 1.0}


def job_rankboost(rankers: str, n_rounds: int, original: bool, quick: bool) -> dict:
    given = ORIGINAL if original else {}
    return figures(RankBoost(n_rounds, rankers=rankers, random_state=0, n_jobs=2, **given), quick)


def job_logistic(penalty: float, l1_ratio: float, quick: bool) -> dict:
    return figures(LogisticRegression(C=penalty, l1_ratio=l1_ratio, solver="liblinear", random_state=0), quick)


def job_lightgbm(objective: str, quick: bool) -> dict:
    """As it comes, or by its objective for ranking, of which all rows are one query; cut where a query is too long."""
    from lightgbm import LGBMClassifier, LGBMRanker

    given = {"n_estimators": 500, "learning_rate": 0.1, "num_leaves": 63, "n_jobs": 2, "random_state": 0, "verbose": -1}
    X, y, X_test, y_test = parts(quick)
    X, X_test = sp.csr_matrix(X, dtype=np.float32), sp.csr_matrix(X_test, dtype=np.float32)
    if objective == "binary":
        model = LGBMClassifier(**given)
        _, seconds = timed(lambda: model.fit(X, y))
        scores = model.predict_proba(X_test)[:, 1]
    else:
        order = np.random.default_rng(0).permutation(len(y))
        queries = [len(part) for part in np.array_split(order, max(1, len(y) // QUERY_ROWS))]
        model = LGBMRanker(**given)
        _, seconds = timed(lambda: model.fit(X[order], y[order], group=queries))
        scores = model.predict(X_test)
    return {"seconds": seconds, "GB": highest_memory(), "AUC": roc_auc_score(y_test, scores)}


def job_map(n_rounds: int, quick: bool) -> dict:
    X, y, X_test, _ = parts(quick)
    model = RankBoostMap(RankBoost(n_rounds, random_state=0), n_jobs=2).fit(X, y)
    rows = X_test if quick else datasets.load(REVIEWS).X
    features, seconds = timed(lambda: model.transform(rows))
    return {"seconds": seconds, "GB": highest_memory(), "rows": features.shape[0]}


def job_chain(kernel: str, layers: list | None, n_pivots: int, quick: bool) -> dict:
    """A hundred features and the linear SVM: seconds of `fit`, and of the transform of all rows."""
    X, y, X_test, y_test = parts(quick)
    rows, labels = X, y
    if not quick:
        sample = datasets.load(REVIEWS)
        known = sample.split != 1
        rows, labels = sample.X[known], sample.y[known]
    model = LearnedKernelFeatures(
        kernel, hidden_layers=layers, n_pivots=min(n_pivots, len(labels)), n_rounds=5000, random_state=0, n_jobs=2
    )
    _, seconds = timed(lambda: model.fit(rows, labels))
    everyone = X_test if quick else sample.X
    _, transform_seconds = timed(lambda: model.transform(everyone))
    F, F_test = model.transform(X), model.transform(X_test)
    length = np.linalg.norm(F, axis=1).mean()
    svm = LinearSVC(C=1.0, loss="hinge", tol=0.01, max_iter=5000, random_state=0).fit(F / length, y)
    return {
        "seconds": seconds,
        "transform": transform_seconds,
        "rows": everyone.shape[0],
        "GB": highest_memory(),
        "AUC": roc_auc_score(y_test, svm.decision_function(F_test / length)),
    }


def line(label: str, found: dict) -> str:
    if "failed" in found:
        return f"| {label} | failed | | |"
    auc = f"{found['AUC']:.4f}" if "AUC" in found else ""
    return f"| {label} | {found['seconds']:.1f} | {found['GB']:.2f} | {auc} |"


def table(quick: bool) -> list[str]:
    what = "made counts of words" if quick else "film reviews, 20,000 x 685,316"
    lines = [f"| {what} | seconds | peak GB | AUC of test rows |", "|---|--:|--:|--:|"]
    rounds = {"stumps": [50, 200], "grids": [50]} if quick else {"stumps": [2000, 5000], "grids": [1000, 5000]}
    for original, rankers in ((True, "stumps"), (True, "grids"), (False, "stumps"), (False, "grids")):
        for count in rounds[rankers][: 1 if original and rankers == "grids" else None]:
            found = child(__file__, "rankboost", rankers, count, original, quick)
            lines.append(line(f"RankBoost{', as published' * original}, {count:,} rounds of {rankers}", found))
    for penalty, l1_ratio in ((0.22, 1), (1.0, 1), (1.0, 0)):
        found = child(__file__, "logistic", penalty, l1_ratio, quick)
        lines.append(line(f"logistic regression, {'l1' if l1_ratio else 'l2'} (liblinear), C={penalty}", found))
    if importlib.util.find_spec("lightgbm"):
        for objective, words in (("binary", "binary"), ("ranking", f"LambdaRank, queries of {QUERY_ROWS:,} rows")):
            found = child(__file__, "lightgbm", objective, quick)
            lines.append(line(f"LightGBM, {words}, 500 trees of 63 leaves", found))
    return [*lines, "", *chains(quick, rounds["stumps"][-1])]


def chains(quick: bool, n_rounds: int) -> list[str]:
    """What 100 features cost and hold."""
    lines = ["| | seconds of fit | of transform | rows | peak GB | AUC of test rows |", "|---|--:|--:|--:|--:|--:|"]
    found = child(__file__, "map", n_rounds, quick)
    lines.append(
        f"| RankBoostMap, {n_rounds:,} rules | | {found['seconds']:.1f} | {found['rows']:,} | {found['GB']:.2f} | |"
    )
    jobs = [("rankboost-stumps", None), ("rankboost-grids", None), ("neural-products", [20])]
    for kernel, layers in [*jobs, *(("neural", layers) for layers in ([5], [20, 20], [100, 10]))]:
        found = child(__file__, "chain", kernel, layers, 5000, quick)
        name = (
            f"LearnedKernelFeatures, {kernel}{'' if layers is None else ' ' + '-'.join(map(str, layers))}, 5,000 pivots"
        )
        lines.append(
            f"| {name} | {found['seconds']:.1f} | {found['transform']:.1f} | {found['rows']:,} | {found['GB']:.2f} "
            f"| {found['AUC']:.4f} |"
            if "failed" not in found
            else f"| {name} | failed | | | | |"
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
    if not options.quick and not os.environ.get("VICINAL_DATA"):
        return print("The film reviews need the folder VICINAL_DATA; --quick runs on made data.")
    lines = ["Making and reading data is not timed.", "", *table(options.quick)]
    print("\n".join(lines)) if options.quick else record("Learned kernels", lines)


if __name__ == "__main__":
    main()

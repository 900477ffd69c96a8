"""Learned rules: RankBoost on film reviews, beside an l1 logistic regression and, where it is installed, LightGBM.

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

from vicinal import RankBoost, RankBoostMap, datasets

REVIEWS = "imdb_uni_bi"


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


def job_rankboost(rankers: str, n_rounds: int, quick: bool) -> dict:
    return figures(RankBoost(n_rounds, rankers=rankers, n_jobs=2), quick)


def job_l1(penalty: float, quick: bool) -> dict:
    return figures(LogisticRegression(C=penalty, l1_ratio=1, solver="liblinear", random_state=0), quick)


def job_lightgbm(quick: bool) -> dict:
    from lightgbm import LGBMClassifier

    return figures(LGBMClassifier(n_jobs=2, random_state=0, verbose=-1), quick)


def job_map(n_rounds: int, quick: bool) -> dict:
    X, y, X_test, _ = parts(quick)
    model = RankBoostMap(RankBoost(n_rounds), n_jobs=2).fit(X, y)
    rows = X_test if quick else datasets.load(REVIEWS).X
    features, seconds = timed(lambda: model.transform(rows))
    return {"seconds": seconds, "GB": highest_memory(), "rows": features.shape[0]}


def line(label: str, found: dict) -> str:
    if "failed" in found:
        return f"| {label} | failed | | |"
    auc = f"{found['AUC']:.4f}" if "AUC" in found else ""
    return f"| {label} | {found['seconds']:.1f} | {found['GB']:.2f} | {auc} |"


def table(quick: bool) -> list[str]:
    what = "made counts of words" if quick else "film reviews, 20,000 x 685,316"
    lines = [f"| {what} | seconds | peak GB | AUC of test rows |", "|---|--:|--:|--:|"]
    rounds = {"stumps": [50, 200], "grids": [50]} if quick else {"stumps": [2000, 5000], "grids": [1000, 2000]}
    for rankers, counts in rounds.items():
        for count in counts:
            found = child(__file__, "rankboost", rankers, count, quick)
            lines.append(line(f"RankBoost, {count:,} rounds of {rankers}", found))
    for penalty in (0.1, 0.22, 1.0):
        lines.append(line(f"l1 logistic regression (liblinear), C={penalty}", child(__file__, "l1", penalty, quick)))
    if importlib.util.find_spec("lightgbm"):
        lines.append(line("LightGBM, as it comes", child(__file__, "lightgbm", quick)))
    found = child(__file__, "map", rounds["stumps"][-1], quick)
    lines.append(line(f"RankBoostMap of {found.get('rows', 0):,} rows, {rounds['stumps'][-1]:,} rules", found))
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
    print("\n".join(lines)) if options.quick else record("Learned rules", lines)


if __name__ == "__main__":
    main()

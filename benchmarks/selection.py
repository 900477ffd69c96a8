"""Feature selection on text: SNFS beside scipy, all methods beside skfeature and ITMO_FS, and growth with the entries.

Every figure comes from a process of its own. (Named select.py, this file would hide Python's own module of that name
from all scripts of this folder.)
"""

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from _machine import best_of, peak_memory, record
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer

from vicinal import datasets, select
from vicinal._optim import box_gap, minimize_in_box
from vicinal.graphs import neighbor_graph
from vicinal.select._stochastic_neighbors import NeighborLoss, StochasticNeighbors

TOLERANCE = 1e-4  # SNFS's default
PENALTY = 1e-3  # likewise, per row
PEER_BYTES = 8 * 2**30
METHODS = ("MaximumVariance", "LaplacianScore", "SPEC", "MCFS", "UDFS", "NDFS", "RUFS", "RSFS")
SKFEATURE = {
    "LaplacianScore": "similarity_based.lap_score",
    "SPEC": "similarity_based.SPEC",
    **{name: f"sparse_learning_based.{name}" for name in ("MCFS", "UDFS", "NDFS")},
}
ITMO = {"SPEC": {}, "MCFS": {"scheme": "heat"}, "UDFS": {"c": 5}, "NDFS": {"c": 5}}  # MCFS's default is misspelt


def text(name: str, rows: float = 1.0) -> sp.csr_matrix:
    """TF-IDF rows of unit length; a share or a number of them, by chance."""
    X = datasets.load(name).X.astype(np.float64)
    X = X[np.random.default_rng(0).permutation(X.shape[0])[: int(rows * X.shape[0]) if rows <= 1 else rows]]
    if name == "imdb_uni_bi":
        documents = np.bincount(X.indices, minlength=X.shape[1])
        X = X[:, (documents >= 0.002 * X.shape[0]) & (documents <= 0.1 * X.shape[0])]
    return TfidfTransformer().fit_transform(X)


def clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def seconds_since(start: np.ndarray) -> str:
    return "{:.2f} ({:.2f})".format(*(clocks() - start))


def measured(run) -> tuple[object, dict]:
    start = clocks()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result, memory = peak_memory(run)
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in told)
    return result, {"s (CPU)": seconds_since(start), "extra MB": memory / 1e6, "converged": converged}


class PlainLoss:
    """SNFS's objective as one would write it with dense arrays."""

    def __init__(self, X: sp.csr_matrix, scale: float, penalty: float):
        self.X, self.scale, self.penalty = X.toarray(), scale, penalty
        P, log_totals = self.neighbors(np.ones(X.shape[1]))
        self.linear = scale * np.einsum("ij,ij->j", P @ self.X, self.X)
        self.entropy = log_totals - self.linear.sum()

    def neighbors(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        A = self.scale * (self.X * weights) @ self.X.T
        np.fill_diagonal(A, -np.inf)
        log_totals = logsumexp(A, axis=1, keepdims=True)
        return np.exp(A - log_totals), float(log_totals.sum())

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        Q, log_totals = self.neighbors(weights)
        gradient = self.scale * np.einsum("ij,ij->j", Q @ self.X, self.X)
        value = log_totals - self.entropy - self.linear @ weights + self.penalty * weights.sum()
        return value, gradient - self.linear + self.penalty


def job_minimizer(name: str, way: str, scale: float, most: float) -> dict:
    """Until the gap is small enough, or scipy's time is up; preparations do not count."""
    X = text(name)
    kind, source = (PlainLoss, X) if way == "plain" else (NeighborLoss, StochasticNeighbors(X, "inner", None, 2))
    loss = kind(source, scale, PENALTY * X.shape[0])
    seen: list[tuple[float, float]] = []
    ones, start = np.ones(X.shape[1]), clocks()

    def watched(weights):
        value, gradient = loss(weights)
        seen.append((box_gap(weights, gradient, 0, 1) / value, value))
        if way != "ours" and (seen[-1][0] <= TOLERANCE or (clocks() - start)[0] > most):
            raise TimeoutError
        return value, gradient

    try:
        if way == "ours":
            minimize_in_box(watched, ones, tol=TOLERANCE, max_iter=1000)
        else:
            options = {"maxiter": 10**6, "maxfun": 10**6, "ftol": 0, "gtol": 0}
            minimize(watched, ones, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * len(ones), options=options)
    except TimeoutError:
        pass
    gap, value = min(seen)
    return {"s (CPU)": seconds_since(start), "evaluations": len(seen), "objective": value, "gap": gap}


def job_snfs(name: str, rows: float, n_neighbors: int | None, exact: str | None) -> dict:
    """A fit; the exact one is kept in a file, by which the others are judged."""
    X = text(name, rows)
    model, figures = measured(lambda: select.SNFS(n_neighbors=n_neighbors, random_state=0, n_jobs=2).fit(X))
    objective = model.objective_[-1]
    figures |= {"peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9, "shape": X.shape}
    figures |= {"iterations": model.n_iter_, "objective": objective, "gap": model.gap_ / objective}
    figures |= {"kept": model.n_auto_, "scale": model.scale_}
    if exact and n_neighbors is None:
        np.savez(exact, kept=model.support_, scale=model.scale_, objective=objective)
    elif exact:
        with np.load(exact) as best:
            loss = NeighborLoss(StochasticNeighbors(X, "inner", None, 2), float(best["scale"]), PENALTY * X.shape[0])
            figures["above the minimum"] = loss(model.weights_)[0] / float(best["objective"]) - 1
            figures["Jaccard"] = (model.support_ & best["kept"]).sum() / (model.support_ | best["kept"]).sum()
    return figures


def job_method(name: str, library: str, method: str) -> dict:
    X = text(name)
    if library == "vicinal":
        kind = getattr(select, method)
        given = {"n_clusters": 5, "random_state": 0}
        model = kind(**{key: value for key, value in given.items() if key in kind().get_params()})
        return measured(lambda: model.fit(X))[1] | {"iterations": model.n_iter_}
    resource.setrlimit(resource.RLIMIT_AS, (PEER_BYTES, PEER_BYTES))
    if library == "skfeature":
        module = importlib.import_module(f"skfeature.function.{SKFEATURE[method]}")
        run = getattr(module, SKFEATURE[method].split(".")[1].lower())
        return measured(lambda: run(X.toarray(), n_clusters=5, n_selected_features=50))[1]
    peer = getattr(importlib.import_module("ITMO_FS.filters.sparse"), method)(50, **ITMO[method])
    no_labels = [np.full(X.shape[0], None)] if method == "SPEC" else []  # it fails on None itself
    return measured(lambda: peer.run(X.toarray(), *no_labels))[1]


def job_growth(name: str, rows: float) -> dict:
    """Seconds of the graph, and of scoring with a graph that is there."""
    X = text(name, rows)
    W, figures = measured(lambda: neighbor_graph(X, 5, weights="heat"))
    figures["entries"] = X.nnz
    for kind in (select.LaplacianScore, select.SPEC):
        with patch.object(sys.modules[kind.__module__], "neighbor_graph", lambda *_, **__: W):
            figures[kind.__name__] = best_of(lambda kind=kind: kind().fit(X), at_least=3, most=20)
    return figures


def work_off(job: str, arguments: dict) -> None:
    try:
        figures = globals()[f"job_{job}"](**arguments)
    except Exception as error:
        figures = {"failed": "MemoryError" if isinstance(error, MemoryError) else type(error).__name__}
    print("\n" + json.dumps(figures, default=float))


def child(job: str, limit: float = 3600, **arguments) -> dict:
    """What job_... returns in a process of its own with two threads; or, as `failed`, why there is nothing."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "2")
    command = [sys.executable, __file__, "--job", json.dumps([job, arguments])]
    try:
        done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, timeout=limit)
        figures = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"failed": "killed"}
    except subprocess.TimeoutExpired:
        figures = {"failed": f"more than {limit:g} s"}
    print(job, *arguments.values(), figures, file=sys.stderr, flush=True)
    return figures


FORMS = {"s (CPU)": "", "extra MB": ",.0f", "peak GB": ".2f", "objective": ",.2f", "gap": ".1e", "Jaccard": ".3f"}
FORMS |= {"above the minimum": ".3%", "kept": ",", "evaluations": ",", "iterations": ""}


def cells(figures: dict, *names: str) -> str:
    shown = [f"{figures[name]:{FORMS[name]}}" if name in figures else "" for name in names]
    return " | ".join([figures.get("failed", shown[0]), *shown[1:]])


def table(head: list[str], rows: list[str]) -> list[str]:
    return [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1), *(f"| {row} |" for row in rows), ""]


def fit_lines(fits: list[tuple[str, int | None, dict]]) -> list[str]:
    names = ("s (CPU)", "extra MB", "peak GB", "iterations", "objective", "gap", "kept", "above the minimum", "Jaccard")
    rows = []
    for name, n_neighbors, figures in fits:
        size = "{:,} x {:,}".format(*figures.get("shape", (0, 0)))
        rows.append(f"{name}, {size} | {n_neighbors or 'all'} | {cells(figures, *names)}")
    return table(["SNFS", "neighbours", *names], rows)


def snfs_lines(small: str, large: str, limit: float) -> list[str]:
    fits = []
    with tempfile.TemporaryDirectory() as folder:
        for name, n_neighbors in [(small, k) for k in (None, 20, 50, 100)] + [(large, None), (large, 100)]:
            exact = os.path.join(folder, f"{name}.npz")
            fits.append((name, n_neighbors, child("snfs", name=name, rows=1.0, n_neighbors=n_neighbors, exact=exact)))
    lines = fit_lines(fits)
    ways = {"ours": "projected L-BFGS", "scipy": "scipy's L-BFGS-B", "plain": "scipy's L-BFGS-B, dense NumPy function"}
    names, rows = ("s (CPU)", "evaluations", "objective", "gap"), []
    for way, label in ways.items():
        figures = child("minimizer", name=small, way=way, scale=fits[0][2].get("scale", 1.0), most=limit)
        rows.append(f"{label} | {cells(figures, *names)}")
    return lines + table([f"minimising SNFS's objective, {small}", *names], rows)


def method_lines(name: str, limit: float) -> list[str]:
    rows = []
    for method in METHODS:
        ours = child("method", name=name, library="vicinal", method=method)
        if ours.get("converged") is False:
            ours["iterations"] = f"{ours['iterations']}, not converged"
        row = f"{method} | {cells(ours, 's (CPU)', 'extra MB', 'iterations')}"
        for library, known in (("skfeature", SKFEATURE), ("ITMO_FS", ITMO)):
            theirs = child("method", limit, name=name, library=library, method=method) if method in known else {}
            row += f" | {cells(theirs, 's (CPU)', 'extra MB')}"
        rows.append(row)
    return table([name, "s (CPU)", "extra MB", "iterations", "skfeature", "extra MB", "ITMO_FS", "extra MB"], rows)


def growth_lines(name: str) -> list[str]:
    fits = [child("growth", name=name, rows=share) for share in (0.25, 0.5, 1.0)]
    keys, rows = ("entries", "LaplacianScore", "SPEC"), []
    for before, now in zip([{}, *fits], fits, strict=False):
        grown = {key: f" ({now[key] / before[key]:.2f}x)" if key in before and key in now else "" for key in keys}
        shown = [f"{now[key]:{',' if key == 'entries' else '.3f'}}{grown[key]}" for key in keys if key in now]
        rows.append(" | ".join([*shown[:1], cells(now, "s (CPU)"), *shown[1:]]))
    return table([f"{name}, entries", "graph, s (CPU)", "LaplacianScore after it, s", "SPEC after it, s"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data; nothing is written to RESULTS.md")
    parser.add_argument("--limit", type=float, default=120, help="seconds for peers (default: 120)")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        return work_off(*options.job)
    if not os.environ.get("VICINAL_DATA"):
        return print("Nothing measured: VICINAL_DATA must name the folder with the text data.", file=sys.stderr)
    small, large, n_rows = "text_bbc", "text_tdt2_full", 50_000
    if options.quick:
        small, large, n_rows = "text_bbcsport", "text_tdt2_1500", 4_000
    lines = [
        "TF-IDF rows of unit length, 2 threads, defaults and 5 clusters; seconds, and CPU seconds of all threads. "
        "Peers get dense rows and are asked for 50 columns. 'gap': how far above the minimum the objective can be, as "
        "a share of it; 'above the minimum': by how much the weights miss the exact objective's; 'Jaccard': of the "
        "kept columns with the exact fit's.",
        "",
        *snfs_lines(small, large, options.limit),
        *(line for name in dict.fromkeys((small, "text_bbcsport")) for line in method_lines(name, options.limit)),
        *growth_lines(large)[:-1],
    ]
    print("\n".join(lines)) if options.quick else record("Selection", lines)
    many = [("imdb_uni_bi", 50, child("snfs", name="imdb_uni_bi", rows=n_rows, n_neighbors=50, exact=None))]
    lines = ["TF-IDF rows of words in 0.2% to 10% of the reviews, 2 threads.", "", *fit_lines(many)[:-1]]
    print("\n".join(lines)) if options.quick else record("Selection, many rows", lines)


if __name__ == "__main__":
    main()

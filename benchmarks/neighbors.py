"""Nearest rows beside scikit-learn's brute force and faiss' flat index, which all return the same rows."""

import argparse
import time
from collections.abc import Callable

import faiss
import numpy as np
import scipy.sparse as sp
from _machine import peak_memory, record, sgemm_peak
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from vicinal import datasets
from vicinal.graphs import nearest_rows

THREADS = 2
K = 10


def clocks() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def in_turns(runs: dict[str, Callable[[], object]], turns: int) -> dict[str, np.ndarray]:
    """Seconds and CPU seconds of each, turns x 2: what disturbs one turn disturbs all of it."""
    times: dict[str, list[np.ndarray]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            start = clocks()
            run()
            times[name].append(clocks() - start)
    return {name: np.array(values) for name, values in times.items()}


def rows_of(title: str, times: dict[str, np.ndarray]) -> list[str]:
    ours = times["nearest_rows"]
    lines = []
    for name, values in times.items():
        seconds, cpu = np.median(values, axis=0)
        least, least_cpu = np.min(values, axis=0)
        ratios = np.median(values / ours, axis=0)
        lines.append(
            f"| {title} | {name} | {seconds:.2f} ({cpu:.2f}) | {least:.2f} ({least_cpu:.2f}) | "
            f"{ratios[0]:.1f} ({ratios[1]:.1f}) |"
        )
    return lines


def brute(X, queries, metric: str = "euclidean") -> Callable[[], object]:
    search = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=metric, n_jobs=THREADS).fit(X)
    return lambda: search.kneighbors(queries)


def dense(shape: tuple[int, int], dtype: type, metric: str, queries: int, turns: int) -> list[str]:
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    Q = X[:queries]
    runs: dict[str, Callable[[], object]] = {
        "nearest_rows": lambda: nearest_rows(Q, X, n_neighbors=K, metric=metric, n_jobs=THREADS)
    }
    if dtype is np.float32:
        flat = {"euclidean": faiss.IndexFlatL2, "inner": faiss.IndexFlatIP}[metric](shape[1])
        flat.add(X)
        runs["faiss, flat"] = lambda: flat.search(Q, K)
    if metric == "euclidean":
        runs["scikit-learn, brute force"] = brute(X, Q)
    title = f"{len(Q):,} among {shape[0]:,} x {shape[1]} {np.dtype(dtype).name}, {metric}"
    return rows_of(title, in_turns(runs, turns))


def text() -> sp.csr_matrix:
    return TfidfTransformer().fit_transform(datasets.load("text_tdt2_full").X).astype(np.float32)


def sparse(turns: int) -> list[str]:
    X = text()
    lines = []
    for metric in ("cosine", "euclidean"):
        runs = {
            "nearest_rows": lambda metric=metric: nearest_rows(X, n_neighbors=K, metric=metric, n_jobs=THREADS),
            "nearest_rows, one thread": lambda metric=metric: nearest_rows(X, n_neighbors=K, metric=metric, n_jobs=1),
            "scikit-learn, brute force": brute(X, None, metric),
        }
        lines += rows_of(f"TDT2, {X.shape[0]:,} x {X.shape[1]:,} CSR, {metric}", in_turns(runs, turns))
    return lines


def many_rows() -> str:
    """What a recommendation for 10,000 nodes among a million takes."""
    Y = np.random.default_rng(0).standard_normal((1_000_000, 64)).astype(np.float32)
    start = clocks()
    _, memory = peak_memory(
        lambda: nearest_rows(
            Y[:10_000], Y, n_neighbors=K, metric="inner", exclude_self=np.arange(10_000), n_jobs=THREADS
        )
    )
    seconds, cpu = clocks() - start
    return (
        f"- 10,000 rows among 1,000,000 x 64 float32, inner: {seconds:.1f} s (CPU {cpu:.1f} s), {memory / 2**20:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--queries", type=int, default=100_000, help="of dense rows, at most")
    options = parser.parse_args()
    queries, turns = options.queries, options.turns
    faiss.omp_set_num_threads(THREADS)
    with threadpool_limits(THREADS):
        lines = [
            f"k = {K}, {THREADS} threads, {turns} turns; seconds, and CPU seconds of all "
            "threads. 'times ours': the median over the turns. "
            f"NumPy's sgemm makes {sgemm_peak() / 1e9:.0f} GFLOP/s.",
            "",
            "| rows, metric | search | s (CPU), median | least | times ours (CPU) |",
            "|---|---|--:|--:|--:|",
            *dense((100_000, 100), np.float32, "euclidean", queries, turns),
            *dense((100_000, 100), np.float32, "inner", queries, turns),
            *dense((100_000, 100), np.float64, "euclidean", queries, turns),
            *dense((30_000, 784), np.float32, "euclidean", queries, turns),
            *sparse(turns),
            "",
            many_rows(),
        ]
    record("Nearest rows", lines)


if __name__ == "__main__":
    main()

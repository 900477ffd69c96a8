"""Expansions: what a hashed projection of text costs and keeps, beside scikit-learn's sparse random projection."""

import os
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from _machine import peak_memory, record
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection
from sklearn.utils.extmath import row_norms

from vicinal import datasets
from vicinal.expand import HashedProjection

N_COMPONENTS = 1024
N_TURNS = 7
N_PAIRS = 100_000


def text() -> tuple[sp.csr_matrix, str]:
    """Word counts of newsgroups, float32, rows of unit length; or random ones of that shape and number of entries."""
    if os.environ.get("VICINAL_DATA"):
        return normalize(datasets.load("news20_bydate").X.astype(np.float32)), "news20_bydate"
    rng = np.random.default_rng(0)
    indptr = np.arange(0, 18_846 * 293 + 1, 293)
    columns = (335_861 * rng.random(indptr[-1]) ** 4).astype(np.int32)
    counts = rng.geometric(0.5, indptr[-1]).astype(np.float32)
    X = sp.csr_matrix((counts, columns, indptr), shape=(18_846, 335_861))
    X.sum_duplicates()
    return normalize(X), "random words in the shape of news20_bydate"


def by_turns(runs: dict[str, Callable[[], object]]) -> dict[str, np.ndarray]:
    """Seconds of every run, by turns: the machine's speed changes within seconds."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(N_TURNS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: np.array(times) for name, times in seconds.items()}


def errors(X: sp.csr_matrix, Z: np.ndarray | sp.csr_matrix) -> tuple[float, float]:
    """Root mean squared error of all squared lengths, and of inner products of random pairs of rows."""
    Z = Z.toarray() if sp.issparse(Z) else Z
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, X.shape[0], (2, N_PAIRS))
    lengths = row_norms(Z, squared=True) - row_norms(X, squared=True)
    exact = np.asarray(X[first].multiply(X[second]).sum(axis=1)).ravel()
    products = np.concatenate(
        [np.einsum("ij,ij->i", Z[first[i : i + 5000]], Z[second[i : i + 5000]]) for i in range(0, N_PAIRS, 5000)]
    )
    return float(np.sqrt(np.mean(lengths**2))), float(np.sqrt(np.mean((products - exact) ** 2)))


def spread(X: sp.csr_matrix, factor: int) -> sp.csr_matrix:
    """The same entries among `factor` times as many columns."""
    return sp.csr_matrix((X.data, X.indices * np.int32(factor), X.indptr), shape=(X.shape[0], X.shape[1] * factor))


def beyond_output(run: Callable[[], np.ndarray]) -> float:
    """Megabytes at the highest, without the result."""
    out, memory = peak_memory(run)
    return max(memory - out.nbytes, 0) / 1e6


def hashing_lines() -> list[str]:
    X, label = text()
    models = {
        "SparseRandomProjection": SparseRandomProjection(N_COMPONENTS, random_state=0),
        "SparseRandomProjection, dense output": SparseRandomProjection(N_COMPONENTS, dense_output=True, random_state=0),
        "HashedProjection": HashedProjection(N_COMPONENTS, random_state=0, n_jobs=2),
        "HashedProjection, one thread": HashedProjection(N_COMPONENTS, random_state=0, n_jobs=1),
        "HashedProjection, n_blocks=8": HashedProjection(N_COMPONENTS, n_blocks=8, random_state=0, n_jobs=2),
        "HashedProjection, n_blocks=1": HashedProjection(N_COMPONENTS, n_blocks=1, random_state=0, n_jobs=2),
    }
    seconds = by_turns({name: lambda model=model: model.fit_transform(X) for name, model in models.items()})
    theirs = [name for name in models if name.startswith("Sparse")]
    fastest = np.minimum(*(seconds[name] for name in theirs))
    lines = [
        f"Hashed projections: {label}, {X.shape[0]:,} rows x {X.shape[1]:,} columns, {X.nnz:,} entries, float32, rows of "
        f"unit length, to {N_COMPONENTS:,} columns; fit and transform, {N_TURNS} turns, 2 threads. Errors are root mean "
        f"squares over all squared lengths and over inner products of {N_PAIRS:,} random pairs.",
        "",
        "| | s, median | s, least | times faster, median of turns | error of lengths | of inner products |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, model in models.items():
        lengths, products = errors(X, model.fit_transform(X))
        lines.append(
            f"| {name} | {np.median(seconds[name]):.2f} | {seconds[name].min():.2f} | "
            f"{np.median(fastest / seconds[name]):.1f} | {lengths:.4f} | {products:.4f} |"
        )
    stored = models["SparseRandomProjection"].components_
    hashed, wide = models["HashedProjection"], spread(X, 1000)
    memory = [beyond_output(lambda rows=rows: hashed.fit_transform(rows)) for rows in (X, wide)]
    lines += [
        "",
        f"- HashedProjection has {hashed.n_blocks_} blocks; times faster are against the faster one of both of "
        "scikit-learn's in the same turn",
        f"- memory beyond the output: {memory[0]:.0f} MB for {X.shape[1]:,} columns, {memory[1]:.0f} MB for "
        f"{wide.shape[1]:,}; SparseRandomProjection stores {(stored.data.nbytes + stored.indices.nbytes) / 1e6:.0f} MB "
        "for the former, and more with every column",
    ]
    return lines


SECTIONS = (hashing_lines,)


def main() -> None:
    lines: list[str] = []
    for section in SECTIONS:
        lines += [*([""] if lines else []), *section()]
    record("Expansions", lines)


if __name__ == "__main__":
    main()

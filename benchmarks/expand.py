"""Expansions: what random maps cost and how far they stray, beside scikit-learn's."""

import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp
from _machine import data_set, peak_memory, record
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import normalize
from sklearn.random_projection import SparseRandomProjection
from sklearn.utils.extmath import row_norms

from vicinal import datasets
from vicinal.expand import HashedProjection, RandomFourierFeatures

N_COMPONENTS = 1024
N_TURNS = 7
N_PAIRS = 100_000
FORMS = ("iid", "orthogonal", "hadamard")


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
        f"Hashed projections: {label}, {X.shape[0]:,} rows x {X.shape[1]:,} columns, {X.nnz:,} entries, float32, rows "
        f"of unit length, to {N_COMPONENTS:,} columns; fit and transform, {N_TURNS} turns, 2 threads. Errors are root "
        f"mean squares over all squared lengths and over inner products of {N_PAIRS:,} random pairs.",
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


def fourier_lines() -> list[str]:
    """Random Fourier features beside RBFSampler, by turns; and how far the forms stray from the kernel."""
    X, label = data_set("mnist", (10_000, 784))
    X = np.ascontiguousarray(X[:10_000], dtype=np.float32) / 255
    gamma, size = 0.02, 8192
    maps = {
        "RBFSampler": RBFSampler(gamma=gamma, n_components=size, random_state=0),
        **{
            f"RandomFourierFeatures, {form}": RandomFourierFeatures(size, gamma=gamma, frequencies=form, random_state=0)
            for form in FORMS
        },
    }
    lines = [
        f"Random Fourier features: {label}, {X.shape[0]:,} rows x {X.shape[1]} columns to {size:,} features, "
        f"2 threads, medians of {N_TURNS} turns; how many times faster than RBFSampler:",
        "",
        "| | float32, s | | float64, s | |",
        "|---|--:|--:|--:|--:|",
    ]
    seconds = {}
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        fitted = {name: clone(kind).fit(rows) for name, kind in maps.items()}
        for name, times in by_turns({name: partial(kind.transform, rows) for name, kind in fitted.items()}).items():
            seconds[name, dtype] = float(np.median(times))
    for name in maps:
        cells = [
            f"{seconds[name, dtype]:.2f} | {seconds['RBFSampler', dtype] / seconds[name, dtype]:.1f}x"
            for dtype in (np.float32, np.float64)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "Root mean square error of inner products, median width, 20 seeds; for the others as a share of the "
        "independent draws'. There are two features per frequency: with fewer frequencies than columns there is less "
        "to be gained by making them orthogonal.",
        "",
        "| columns | features | independent | orthogonal | Hadamard | RBFSampler |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    rng = np.random.default_rng(0)
    for n_columns, n_features in ((20, 512), (64, 512), (256, 512), (784, 512), (784, 3136)):
        rows = X[:200] if n_columns == 784 else rng.standard_normal((200, n_columns))
        errors = {form: stray(rows, form, n_features) for form in (*FORMS, "RBFSampler")}
        cells = [f"{errors[form] / errors['iid']:.2f}" for form in errors]
        cells[0] = f"{errors['iid']:.4f}"
        lines.append(f"| {n_columns} | {n_features:,} | {' | '.join(cells)} |")
    return lines


def stray(X: np.ndarray, form: str, n_features: int) -> float:
    errors = []
    for seed in range(20):
        pairs = RandomFourierFeatures(2, gamma="median", frequencies="iid", random_state=seed).fit(X)
        kernel = pairs.kernel_
        if form == "RBFSampler":
            waves = RBFSampler(gamma=kernel.gamma, n_components=n_features, random_state=seed).fit_transform(X)
        else:
            waves = RandomFourierFeatures(n_features, kernel=kernel, frequencies=form, random_state=seed).fit_transform(
                X
            )
        errors.append(np.mean((waves @ waves.T - kernel(X)) ** 2))
    return float(np.sqrt(np.mean(errors)))


SECTIONS = (fourier_lines, hashing_lines)


def main() -> None:
    lines: list[str] = []
    for section in SECTIONS:
        lines += [*([""] if lines else []), *section()]
    record("Expansions", lines)


if __name__ == "__main__":
    main()

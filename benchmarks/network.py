"""Feature selection on networks: all methods on real networks, growth with the links, and a network of 10^6 nodes.

Every figure comes from a process of its own.
"""

import argparse
import json
import os
import resource
import time
import warnings

import numpy as np
import scipy.sparse as sp
from _machine import best_of, child, record

from vicinal import datasets, select
from vicinal._calls import n_threads
from vicinal._optim import TripletDescent
from vicinal._triplets import Rows, TripletSampler
from vicinal.select._partial_order import mean_differences

METHODS = ("SPOP", "PPOP", "MMPOP", "GFS", "LUFS", "UDFS", "LaplacianScore")
NAMES = {"LaplacianScore": "laplacian-score"}
NETWORKS = {"net_citeseer": "Citeseer", "net_cora": "Cora", "net_wiki": "Wiki"}


def made_links(rng: np.random.Generator, n_nodes: int, n_links: int) -> sp.csr_array:
    """Half of the links lead to nodes with near numbers, half anywhere."""
    first = rng.integers(n_nodes, size=n_links, dtype=np.int32)
    near = (first + rng.integers(1, 200, size=n_links, dtype=np.int32)) % n_nodes
    second = np.where(rng.random(n_links) < 0.5, near, (first + 1 + rng.integers(n_nodes - 2, size=n_links)) % n_nodes)
    half = sp.coo_array((np.ones(n_links, np.float32), (first, second)), shape=(n_nodes, n_nodes))
    whole = sp.csr_array(half + half.T)
    whole.data[:] = 1
    return whole


def made(n_nodes: int, n_links: int, n_columns: int, per_row: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Binary rows of about `per_row` words, some common and most rare; links within groups of nodes and at random."""
    rng = np.random.default_rng(0)
    columns = (n_columns * rng.random((n_nodes, per_row), dtype=np.float32) ** 2).astype(np.int32)
    starts = np.arange(0, n_nodes * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_array((np.ones(columns.size, np.float32), columns.ravel(), starts), shape=(n_nodes, n_columns))
    X.sum_duplicates()
    X.data[:] = 1
    A = made_links(rng, n_nodes, n_links)
    return X, A


def fitted(method: str, X: sp.csr_array, A: sp.csr_array, n_classes: int) -> dict:
    kind = getattr(select, method)
    given = {"random_state": 0} if method in ("PPOP", "MMPOP", "GFS", "LUFS") else {}
    given |= {"n_clusters": n_classes} if method in ("UDFS", "LUFS") else {}
    links = {"adjacency": A} if select.SELECTORS[NAMES.get(method, method.lower())].reads_links else {}

    def fit() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(200, **given).fit(X, **links)

    start = time.perf_counter()
    fit()
    first = time.perf_counter() - start
    return {"seconds": first if first > 5 else min(first, best_of(fit, at_least=1.0))}


def job_real(name: str, method: str) -> dict:
    sample = datasets.load(name)
    return fitted(method, sp.csr_array(sample.X, dtype=np.float64), sample.adjacency, sample.n_classes)


def job_spop(name: str) -> dict:
    """The closed form, and 2 |E| steps of stochastic descent."""
    sample = datasets.load(name)
    rows, links = Rows.of(sp.csr_array(sample.X, dtype=np.float64)), sp.csr_array(sample.adjacency)
    exact = best_of(lambda: mean_differences(rows, links, n_threads(None)), at_least=1.0)

    def descend() -> None:
        sampler = TripletSampler(links, np.random.RandomState(0))
        TripletDescent(rows.shape[1], "identity", [1.0]).step(rows.native(), sampler.draw(links.nnz))

    return {"closed": exact, "steps": best_of(descend, at_least=1.0)}


def job_large(method: str, size: list[int]) -> dict:
    X, A = made(*size)
    before = time.perf_counter()
    kind = getattr(select, method)
    (kind(200) if method == "SPOP" else kind(200, random_state=0)).fit(X, adjacency=A)
    seconds = time.perf_counter() - before
    return {
        "seconds": seconds,
        "links": A.nnz // 2,
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "data GB": (X.data.nbytes + X.indices.nbytes + A.data.nbytes + A.indices.nbytes) / 2**30,
    }


def shown(figures: dict, name: str = "seconds") -> str:
    return f"{figures[name]:.3f}" if name in figures else "failed"


def real_lines(methods: tuple[str, ...], networks: dict[str, str]) -> list[str]:
    found = {name: {method: child(__file__, "real", name, method) for method in methods} for name in networks}
    lines = [f"| seconds of a fit | {' | '.join(methods)} | LUFS over MMPOP |", "|---|" + "--:|" * (len(methods) + 1)]
    for name, label in networks.items():
        cells = [shown(found[name][method]) for method in methods]
        lufs, mmpop = found[name].get("LUFS", {}), found[name].get("MMPOP", {})
        ratio = f"{lufs['seconds'] / mmpop['seconds']:,.0f}x" if "seconds" in lufs and "seconds" in mmpop else ""
        lines.append(f"| {label} | {' | '.join(cells)} | {ratio} |")
    lines += ["", "| SPOP, seconds | closed form | 2 steps per link |", "|---|--:|--:|"]
    for name, label in networks.items():
        figures = child(__file__, "spop", name)
        lines.append(f"| {label} | {shown(figures, 'closed')} | {shown(figures, 'steps')} |")
    return lines


def large_lines(sizes: list[list[int]]) -> list[str]:
    lines = ["| made network | method | seconds | peak GB | data GB |", "|---|---|--:|--:|--:|"]
    for size in sizes:
        for method in ("SPOP", "PPOP", "MMPOP"):
            figures = child(__file__, "large", method, size)
            label = f"{size[0]:,} nodes, {figures.get('links', size[1]):,} links, {size[2]:,} columns"
            memory = f"{figures['peak GB']:.2f} | {figures['data GB']:.2f}" if "links" in figures else " | "
            lines.append(f"| {label} | {method} | {shown(figures)} | {memory} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one network; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    quarters = [[250_000 * part, 2_500_000 * part, 100_000, 50] for part in (1, 2, 4)]
    lines = [
        "Defaults, 200 columns, as many clusters as classes, 2 threads; making a network is not timed.",
        "",
    ]
    if os.environ.get("VICINAL_DATA"):
        lines += [*real_lines(METHODS, dict(list(NETWORKS.items())[: 1 if options.quick else 3])), ""]
    lines += large_lines([[20_000, 200_000, 10_000, 50]] if options.quick else quarters)
    print("\n".join(lines)) if options.quick else record("Networks", lines)


if __name__ == "__main__":
    main()

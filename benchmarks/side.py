"""Side information: SideSim and SideFS on real networks and on a made one, beside plain products by SciPy.

Every figure comes from a process of its own.
"""

import argparse
import json
import os

import numpy as np
import scipy.sparse as sp
from _machine import child, highest_memory, record, timed
from sklearn.feature_extraction.text import TfidfTransformer

from vicinal import SideFS, datasets
from vicinal.graphs import SideSim
from vicinal.network import HeteroNetwork

REAL = {
    "hin_acm": "ACM, 4,019 papers",
    "hin_dblp4057": "DBLP, 4,057 authors",
    "hin_hetionet_compound": "Hetionet, 1,552 compounds",
}
SIDE_EFFECTS = ("compound", "causes", "sideeffect")  # labels elsewhere


def made(n_targets: int, n_others: int, n_links: int) -> HeteroNetwork:
    """Papers with 20 links to authors, terms and venues, some of which many papers have; the rest between these."""
    rng = np.random.default_rng(0)
    sizes = {"author": n_others // 2, "term": n_others // 4, "venue": n_others // 4}

    def links(first: int, second: int, count: int) -> sp.csr_array:
        ends = rng.integers(first, size=count), (second * rng.random(count) ** 2).astype(np.int64)
        matrix = sp.csr_array((np.ones(count), ends), shape=(first, second))
        matrix.data[:] = 1
        return matrix

    relations = {
        ("paper", "has", kind): links(n_targets, size, share * n_targets)
        for (kind, size), share in zip(sizes.items(), (4, 15, 1), strict=True)
    }
    rest = (n_links - 20 * n_targets) // 2
    relations["author", "uses", "term"] = links(sizes["author"], sizes["term"], rest)
    relations["term", "at", "venue"] = links(sizes["term"], sizes["venue"], rest)
    return HeteroNetwork(relations, target="paper")


def plain_graph(side: HeteroNetwork, max_length: int) -> sp.csr_array:
    """Micro aggregation as one would write it: all products whole, from left to right, then the ten largest."""
    counts = sp.csr_array(side.shape)
    for path in side.metapaths(max_length):
        product = side.links(path.steps[0])
        for step in path.steps[1:]:
            product = product @ side.links(step)
        counts = counts + (product if path.symmetric else product + product.T)
    begin = counts.sum(axis=1)
    pairs = counts.tocoo()
    near = sp.csr_array((2 * pairs.data / (begin[pairs.row] + begin[pairs.col]), (pairs.row, pairs.col)), side.shape)
    sums = near.sum(axis=1)
    over = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    shares = sp.diags_array(over) @ near
    both = sp.csr_array((shares + shares.T) / 2)
    both.setdiag(0)
    both.eliminate_zeros()
    rows = []
    for row in range(both.shape[0]):
        entries = slice(both.indptr[row], both.indptr[row + 1])
        kept = np.argsort(-both.data[entries], kind="stable")[:10]
        rows.append(both.indices[entries][kept])
    ends = np.repeat(np.arange(len(rows)), [len(kept) for kept in rows]), np.concatenate(rows)
    directed = sp.csr_array((np.ones(len(ends[0])), ends), shape=side.shape)
    return directed.maximum(directed.T)


def real(name: str) -> tuple[datasets.Sample, HeteroNetwork]:
    sample = datasets.load(name)
    return sample, sample.side.without(SIDE_EFFECTS) if SIDE_EFFECTS in sample.side.relations else sample.side


def job_graph(name: str, aggregation: str) -> dict:
    _, side = real(name)
    sim, seconds = timed(lambda: SideSim(side, aggregation=aggregation))
    graph, more = timed(lambda: sim.neighbor_graph(random_state=0))
    return {"seconds": seconds + more, "GB": highest_memory(), "paths": len(sim.metapaths), "links": graph.nnz // 2}


def job_plain(name: str) -> dict:
    _, side = real(name)
    graph, seconds = timed(lambda: plain_graph(side, 4))
    return {"seconds": seconds, "GB": highest_memory(), "links": graph.nnz // 2}


def job_select(name: str) -> dict:
    sample, side = real(name)
    X = sp.csr_array(TfidfTransformer().fit_transform(sample.X))
    selector, seconds = timed(lambda: SideFS(200, random_state=0).fit(X, side=side))
    return {"seconds": seconds, "GB": highest_memory(), "turns": selector.n_iter_}


def job_made(size: list[int]) -> dict:
    side = made(*size)
    graph, seconds = timed(lambda: SideSim(side, max_length=2).neighbor_graph(random_state=0))
    return {"seconds": seconds, "GB": highest_memory(), "links": graph.nnz // 2}


def job_made_plain(size: list[int]) -> dict:
    side = made(*size)
    graph, seconds = timed(lambda: plain_graph(side, 2))
    return {"seconds": seconds, "GB": highest_memory(), "links": graph.nnz // 2}


def line(label: str, figures: dict) -> str:
    if "failed" in figures:
        return f"| {label} | failed | |"
    return f"| {label} | {figures['seconds']:.2f} | {figures['GB']:.2f} |"


def real_lines() -> list[str]:
    lines = ["| all meta-paths of at most 4 relations | seconds | peak GB |", "|---|--:|--:|"]
    for name, label in REAL.items():
        micro, macro = (child(__file__, "graph", name, aggregation) for aggregation in ("micro", "macro"))
        paths = f"{label}, {micro.get('paths')} meta-paths"
        lines += [line(f"{paths}, SideSim, micro", micro), line(f"{paths}, SideSim, macro", macro)]
        lines.append(line(f"{paths}, whole products by SciPy, micro", child(__file__, "plain", name)))
        lines.append(line(f"{label}, SideFS with its SideSim", child(__file__, "select", name)))
    return lines


def made_lines(size: list[int]) -> list[str]:
    n_targets, n_others, n_links = size
    label = f"{n_targets + n_others:,} nodes, {n_links:,} links, {n_targets:,} targets with about 20 each"
    return [
        f"| made network: {label}; paths of two relations | seconds | peak GB |",
        "|---|--:|--:|",
        line("SideSim's graph of ten neighbours", child(__file__, "made", size)),
        line("whole products by SciPy", child(__file__, "made_plain", size)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    lines = ["Making and reading data is not timed.", ""]
    if os.environ.get("VICINAL_DATA"):
        lines += [*real_lines(), ""]
    lines += made_lines([2000, 18_000, 400_000] if options.quick else [100_000, 900_000, 20_000_000])
    print("\n".join(lines)) if options.quick else record("Side information", lines)


if __name__ == "__main__":
    main()

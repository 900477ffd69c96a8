"""Link prediction: skip-gram beside gensim's on the same walks, NRCL, steps on a large network, and recommending."""

import argparse
import os
import resource
import time
import warnings

import numpy as np
from _machine import record
from network import made_links
from sklearn.metrics import roc_auc_score

from vicinal import NRCL, LinkRanking, datasets
from vicinal.link._walks import random_walks, skip_gram
from vicinal.network import hold_out_links

WALK_LENGTH, WINDOW, NEGATIVES, COMPONENTS = 40, 10, 5, 128


def cosine_auc(vectors: np.ndarray, linked: np.ndarray, others: np.ndarray) -> float:
    """How well the cosine of two nodes' vectors tells links from other pairs."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    cosines = [np.einsum("ij,ij->i", unit[pairs[:, 0]], unit[pairs[:, 1]]) for pairs in (linked, others)]
    return float(roc_auc_score(np.repeat([1, 0], [len(linked), len(others)]), np.concatenate(cosines)))


def by_gensim(walks: np.ndarray, n_nodes: int, n_threads: int) -> tuple[np.ndarray, float]:
    """Vectors, and the seconds of learning alone: gensim wants words, which is not timed."""
    from gensim.models import Word2Vec

    sentences = [[str(node) for node in walk if node >= 0] for walk in walks.tolist()]
    model = Word2Vec(
        sg=1,
        hs=0,
        negative=NEGATIVES,
        window=WINDOW,
        vector_size=COMPONENTS,
        workers=n_threads,
        min_count=0,
        seed=0,
    )
    model.build_vocab(sentences)
    start = time.perf_counter()
    model.train(sentences, total_examples=model.corpus_count, epochs=1)
    seconds = time.perf_counter() - start
    return np.stack([model.wv[str(node)] for node in range(n_nodes)]), seconds


def by_vicinal(walks: np.ndarray, n_nodes: int, n_threads: int) -> tuple[np.ndarray, float]:
    options = {"n_components": COMPONENTS, "window": WINDOW, "n_negatives": NEGATIVES}
    start = time.perf_counter()
    vectors = skip_gram(walks, n_nodes, **options, n_threads=n_threads)
    return vectors, time.perf_counter() - start


def walk_lines(name: str, label: str, counts: tuple[int, ...]) -> list[str]:
    """Of the links, a tenth is held out; pairs of nodes drawn at random are what they are told from."""
    network, held = hold_out_links(datasets.load(name).adjacency, random_state=0)
    n_nodes = network.n_nodes
    others = np.random.default_rng(0).integers(n_nodes, size=held.shape)
    lines = [
        f"Skip-gram on {label}: {n_nodes:,} nodes, {WALK_LENGTH} nodes per walk, a window of {WINDOW}, {NEGATIVES} "
        f"negatives, {COMPONENTS} components, one epoch; gensim and vicinal read the same walks. The AUC is that of a "
        "tenth of the links, held out, beside pairs at random.",
        "",
        "| walks per node | walking | vicinal, 1 thread | 2 threads | gensim, 2 threads | times as fast | "
        "AUC of vicinal | of gensim |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for count in counts:
        random = np.random.RandomState(0)
        first = np.concatenate([random.permutation(n_nodes) for _ in range(count)])
        start = time.perf_counter()
        walks = random_walks(network.adjacency, first, WALK_LENGTH, seed=0, n_threads=2)
        walking = time.perf_counter() - start
        (_, alone), (ours, together) = (by_vicinal(walks, n_nodes, threads) for threads in (1, 2))
        theirs, peer = by_gensim(walks, n_nodes, 2)
        quality = [cosine_auc(vectors, held, others) for vectors in (ours, theirs)]
        lines.append(
            f"| {count} | {walking:.2f} s | {alone:.1f} s | {together:.1f} s | {peer:.1f} s | {peer / together:.1f}x | "
            f"{quality[0]:.4f} | {quality[1]:.4f} |"
        )
    return lines


def timed(call) -> tuple[float, float, float]:
    """Seconds by the clock, of the processor, and the process's peak of memory in GB."""
    clock, own = time.perf_counter(), time.process_time()
    call()
    return (
        time.perf_counter() - clock,
        time.process_time() - own,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    )


def large_lines(n_nodes: int, n_links: int, n_queries: int) -> list[str]:
    """Before the others: memory is the peak of the process."""
    network = made_links(np.random.default_rng(0), n_nodes, n_links)
    model = LinkRanking(64, n_epochs=1, n_negatives=1, random_state=0, n_jobs=2)
    lines = ["| made network, 64 components | seconds | processor | peak GB |", "|---|--:|--:|--:|"]
    size = f"{n_nodes:,} nodes, {network.nnz // 2:,} links"
    clock, own, memory = timed(lambda: model.fit(None, adjacency=network))
    lines.append(f"| one epoch, links in both directions: {size} | {clock:.1f} | {own:.1f} | {memory:.2f} |")
    clock, own, memory = timed(lambda: model.recommend(np.arange(n_queries), top=10))
    lines.append(f"| the best ten for {n_queries:,} nodes among {n_nodes:,} | {clock:.1f} | {own:.1f} | {memory:.2f} |")
    return lines


def nrcl_lines(name: str, label: str) -> list[str]:
    sample = datasets.load(name)
    lines = [f"| MM-NRCL on {label} | seconds | processor | peak GB | turns or passes |", "|---|--:|--:|--:|--:|"]
    ways = {
        "lbfgs, known links alone": {"solver": "lbfgs", "content_links": 0},
        "sgd, known links alone": {"content_links": 0},
        "sgd, links to like nodes beside": {},
    }
    for way, parameters in ways.items():
        model = NRCL(**parameters, random_state=0, n_jobs=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it converges
            clock, own, memory = timed(lambda model=model: model.fit(sample.X, adjacency=sample.adjacency))
        lines.append(f"| {way} | {clock:.1f} | {own:.1f} | {memory:.2f} | {model.n_iter_} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small networks; nothing is written to RESULTS.md")
    options = parser.parse_args()
    if not os.environ.get("VICINAL_DATA"):
        return print("VICINAL_DATA is not set: this benchmark needs real networks")
    size = (10_000, 100_000, 100) if options.quick else (1_000_000, 10_000_000, 10_000)
    lines = nrcl_lines(*(("net_cora", "Cora") if options.quick else ("net_pubmed", "PubMed")))
    lines += ["", *large_lines(*size), "", *walk_lines("net_pubmed", "PubMed", (2,) if options.quick else (10,))]
    print("\n".join(lines)) if options.quick else record("Links", lines)


if __name__ == "__main__":
    main()

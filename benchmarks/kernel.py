"""The nearest-anchor kernel beside its peers, in one run: rows x (m features, r anchors), float32.

Every peer gets the group's features as a contiguous matrix of its own, so that its time is the search alone.
A ratio above 1 says how many times longer the peer takes.
"""

import argparse
import itertools
from functools import partial

import faiss
import numpy as np
from _machine import best_of, record, sgemm_peak
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin_min

from vicinal import _native

FEATURES = (1, 2, 4, 11, 27, 100, 390)
ANCHORS = (32, 64, 286, 1000)


def ours(x, r, n_threads=2, use_index=True):
    n, m = x.shape
    columns, values = np.empty((n, 1), np.int32), np.empty((n, 1), np.float32)
    groups = _native.AnchorGroups(
        x[:r],
        anchor_ptr=np.array([0, r]),
        rows=np.arange(r, dtype=np.int32),
        feature_ptr=np.array([0, m]),
        features=np.arange(m, dtype=np.int32),
    )
    _native.nearest(x, groups, columns, values, mean_distances=np.zeros(1), n_threads=n_threads, use_index=use_index)
    return columns[:, 0]


def by_numpy(x, r):
    anchors = x[:r]
    scores = x @ anchors.T
    scores *= -2
    scores += (anchors * anchors).sum(1)
    return scores.argmin(1)


def by_faiss(x, r):
    index = faiss.IndexFlatL2(x.shape[1])
    index.add(x[:r])
    return index.search(x, 1)[1][:, 0]


def by_argmin(x, r):
    return pairwise_distances_argmin_min(x, x[:r])[0]


def by_kmeans(x, r):
    model = KMeans(r, init=x[:r], n_init=1, max_iter=1)
    model.cluster_centers_, model._n_threads, model.n_features_in_ = x[:r].copy(), 2, x.shape[1]
    return model.predict(x)


PEERS = {"numpy": by_numpy, "faiss": by_faiss, "argmin_min": by_argmin, "KMeans": by_kmeans}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    parser.add_argument("--anchors", type=int, nargs="+", default=ANCHORS)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    faiss.omp_set_num_threads(options.threads)
    peak = sgemm_peak()
    lines = [
        f"{options.threads} threads; sgemm peak {peak / 1e9:.0f} GFLOP/s. Columns of peers: their time over ours. "
        "'scan' is our own kernel without its index for one or two features.",
        "",
        "| n | m | r | ours, ms | of sgemm peak | scan | " + " | ".join(PEERS) + " |",
        "|--:" * (6 + len(PEERS)) + "|",
    ]
    ratios = []
    for n, m, r in itertools.product(options.rows, options.features, options.anchors):
        x = np.random.default_rng(m).standard_normal((n, m), dtype=np.float32)
        own = best_of(partial(ours, x, r, options.threads))
        scan = best_of(partial(ours, x, r, options.threads, use_index=False))
        ratio = []
        for peer in PEERS.values():
            agree = np.mean(peer(x[:2000], r) == ours(x[:2000], r))
            assert agree > 0.9, f"{peer.__name__} and ours differ in {1 - agree:.1%} of the rows"
            ratio.append(best_of(partial(peer, x, r)) / own)
        ratios.append(ratio)
        share = 2 * n * m * r / own / peak
        lines.append(
            f"| {n} | {m} | {r} | {own * 1e3:.2f} | {share:.0%} | {scan / own:.1f} | "
            + " | ".join(f"{value:.1f}" for value in ratio)
            + " |"
        )
        print(lines[-1], flush=True)
    mean = np.exp(np.log(ratios).mean(0))
    least = np.min(ratios, axis=0)
    lines += [
        "",
        "Geometric mean: " + ", ".join(f"{name} {value:.1f}x" for name, value in zip(PEERS, mean, strict=True)) + ".",
        "Least: " + ", ".join(f"{name} {value:.1f}x" for name, value in zip(PEERS, least, strict=True)) + ".",
    ]
    record("Kernel", lines)


if __name__ == "__main__":
    main()

"""Small networks of side information, and a plain way to count paths."""

import numpy as np
from hypothesis import strategies as st

from vicinal.network import HeteroNetwork

SCHEMAS = [
    [("a", "to", "b")],
    [("a", "r", "b"), ("a", "s", "b")],
    [("a", "to", "b"), ("b", "to", "c")],
    [("b", "by", "a"), ("b", "at", "c"), ("c", "in", "d")],
    [("a", "knows", "a"), ("a", "has", "b")],
    [("a", "has", "b"), ("b", "knows", "b"), ("b", "cites", "b")],
    [("a", "r", "b"), ("c", "s", "b"), ("a", "t", "c")],
]


@st.composite
def networks(draw, most=5):
    """Of at most four types, with weighted and missing links; "knows" leads both ways."""
    relations = draw(st.sampled_from(SCHEMAS))
    kinds = dict.fromkeys(kind for source, _, target in relations for kind in (source, target))
    sizes = {kind: draw(st.integers(1, most)) for kind in kinds}
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    links = {}
    for key in relations:
        shape = sizes[key[0]], sizes[key[2]]
        matrix = rng.integers(1, 4, size=shape) * (rng.random(shape) < 0.4)
        links[key] = np.maximum(matrix, matrix.T) if key[1] == "knows" else matrix
    return HeteroNetwork(links, target="a")


def count_paths(network, path):
    """The weights of all paths from row to row, one path after the other."""

    def walk(node, steps):
        if not steps:
            yield node, 1.0
            return
        links = network.links(steps[0])
        for other, weight in enumerate(links[[node]].toarray()[0]):
            if weight:
                for end, rest in walk(other, steps[1:]):
                    yield end, weight * rest

    counts = np.zeros(network.shape)
    for row in range(len(network)):
        for end, weight in walk(row, path.steps):
            counts[row, end] += weight
    return counts if path.symmetric else counts + counts.T


def brute_similarities(network, paths, weights, aggregation):
    """Equations 7.1 to 7.3 as they stand."""
    counts = np.array([count_paths(network, path) for path in paths])
    begin = counts.sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        if aggregation == "micro":
            C, o = np.tensordot(weights, counts, 1), weights @ begin
            return np.nan_to_num(2 * C / (o[:, None] + o))
        single = np.nan_to_num(2 * counts / (begin[:, :, None] + begin[:, None, :]))
    return np.tensordot(weights, single, 1)

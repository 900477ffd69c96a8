"""Plain versions of what is learned by negative sampling, and small networks."""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit


def plain_step(x, y, input_counts, output_counts, rate):
    """Where inputs and outputs are after one step, in double precision."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    labels = np.zeros(len(y))
    labels[0] = 1
    slopes = input_counts[:, None] * output_counts * (labels - expit(x @ y.T))
    return x + rate * slopes @ y, y + rate * slopes.T @ x


def loss(x, y, input_counts, output_counts):
    """Of contexts with a centre, the first output, and negatives."""
    signs = np.ones(len(y))
    signs[0] = -1
    return float(input_counts @ np.logaddexp(0, signs * (x @ y.T)) @ output_counts)


def cliques(size=6):
    """Two groups of nodes that are all linked, and one link between the groups."""
    adjacency = np.kron(np.eye(2), np.ones((size, size))) - np.eye(2 * size)
    adjacency[size - 1, size] = adjacency[size, size - 1] = 1
    return sp.csr_array(adjacency)


def separation(vectors):
    """The least cosine within two groups of rows of equal size, and the largest between them.

    The two nodes that join the groups are left out.
    """
    size = len(vectors) // 2
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    groups = unit[: size - 1], unit[size + 1 :]
    return min((group @ group.T).min() for group in groups), (groups[0] @ groups[1].T).max()

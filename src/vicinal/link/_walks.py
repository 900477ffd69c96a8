"""Random walks on a network, and vectors of nodes that are learned from them or from links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _native
from .._calls import current_callback

Walks = NDArray[np.int32]
Rows = NDArray[np.float32]

_ROW_STEP, _LINE = 32, 64  # the compiled part reads rows of so many numbers, from whole lines of the cache
_NOISE_POWER = 0.75  # of frequencies, by which negatives are drawn
_PARTS, _MANY = 4, 1000  # into which nodes are dealt, so that as many threads have rows of their own, and from how many
_LAST_RATE = 1e-4  # of the rate of the first step, that of the last one


def random_walks(
    network: sp.csr_array, first: NDArray, walk_length: int, seed: int, *, offset: int = 0, n_threads: int = 1
) -> Walks:
    """Walks along links, which are drawn in proportion to their weights.

    Parameters
    ----------
    network : csr_array of shape (n_nodes, n_nodes)
    first : ndarray of shape (n_walks,)
        The node at which each walk begins.
    walk_length : int
        Nodes of a walk.
    seed : int
    offset : int
        The number of the first walk. A walk is a function of the network, the seed and its number.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_walks, walk_length)
        What follows a node without links is -1.
    """
    walks = np.empty((len(first), walk_length), np.int32)
    starts = np.ascontiguousarray(first, dtype=np.int32)
    _native.random_walks(_links(network), starts, walks, seed, offset=offset, n_threads=n_threads)
    return walks


def visits(walks: Walks, n_nodes: int) -> NDArray[np.int64]:
    """How often each node is visited."""
    return np.bincount(walks[walks >= 0], minlength=n_nodes)


class SkipGram:
    """Vectors of nodes that tell which nodes are near in walks, by skip-gram with negative sampling.

    The two vectors x of a context and y of a centre go up ``log s(x . y)``, and up ``log s(-x . z)`` for the vectors z
    of negatives, where s is the logistic function. Each centre has a reach drawn from 1 to `window`, and negatives that
    its contexts share, drawn in proportion to the visits of nodes to the power 0.75.

    Parameters
    ----------
    visits : ndarray of shape (n_nodes,)
    n_components, window, n_negatives : int
    learning_rate : float
        It falls linearly to next to nothing over all steps.
    seed : int
    """

    def __init__(
        self,
        visits: NDArray,
        *,
        n_components: int,
        window: int,
        n_negatives: int,
        learning_rate: float,
        seed: int,
    ):
        self.window, self.n_negatives, self.learning_rate, self.seed = window, n_negatives, learning_rate, seed
        self.n_components = n_components
        self.inputs = small_rows(len(visits), n_components, seed)
        self.outputs = empty_rows(len(visits), n_components)
        self.noise = np.asarray(visits, dtype=np.float64) ** _NOISE_POWER

    def learn(self, walks: Walks, first: int, total: int, *, n_threads: int = 1) -> None:
        """Steps over walks, the first of which has the number `first` among `total` walks that will be learned from."""
        first_rate, last_rate = (self._rate(number / total) for number in (first, first + len(walks)))
        _native.skip_gram(
            walks,
            self.inputs,
            self.outputs,
            self.noise,
            self.window,
            self.n_negatives,
            first_rate,
            last_rate,
            self.seed,
            offset=first,
            n_parts=_PARTS if len(self.noise) >= _MANY else 1,
            n_threads=n_threads,
            callback=current_callback(),
        )

    def _rate(self, share: float) -> float:
        return self.learning_rate * (1 - share * (1 - _LAST_RATE))

    @property
    def vectors(self) -> Rows:
        """Those of nodes as contexts."""
        return self.inputs[:, : self.n_components].copy()


def skip_gram(
    walks: Walks,
    n_nodes: int,
    *,
    n_components: int = 128,
    window: int = 10,
    n_negatives: int = 5,
    learning_rate: float = 0.025,
    n_epochs: int = 1,
    seed: int = 0,
    n_threads: int = 1,
) -> Rows:
    """Vectors of nodes from walks that are all there.

    Parameters
    ----------
    walks : ndarray of shape (n_walks, walk_length)
    n_nodes : int
    n_components, window, n_negatives, learning_rate, seed
        See `SkipGram`.
    n_epochs : int
        How often each walk is learned from.
    n_threads : int

    Returns
    -------
    ndarray of shape (n_nodes, n_components)
    """
    model = SkipGram(
        visits(walks, n_nodes),
        n_components=n_components,
        window=window,
        n_negatives=n_negatives,
        learning_rate=learning_rate,
        seed=seed,
    )
    for epoch in range(n_epochs):
        model.learn(walks, epoch * len(walks), n_epochs * len(walks), n_threads=n_threads)
    return model.vectors


def line(
    network: sp.csr_array,
    orders: Sequence[int],
    *,
    n_components: int,
    n_samples: int,
    n_negatives: int = 5,
    learning_rate: float = 0.025,
    seed: int = 0,
    n_threads: int = 1,
) -> list[Rows]:
    """Vectors of nodes that tell linked nodes from others, for each of several orders of proximity.

    Parameters
    ----------
    network : csr_array of shape (n_nodes, n_nodes)
    orders : sequence of {1, 2}
        In the first order, the vectors of linked nodes are alike. In the second order, nodes that are linked to the
        same nodes have vectors that are alike: the second node of a link has another vector than the first one.
    n_components : int
        Of each order.
    n_samples : int
        Links that are drawn in proportion to their weights, with a step each.
    n_negatives : int
        Per link, drawn in proportion to the sums of weights of nodes' links to the power 0.75.
    learning_rate : float
        It falls linearly to next to nothing over all steps.
    seed, n_threads : int

    Returns
    -------
    list of ndarray of shape (n_nodes, n_components)
    """
    n_nodes = network.shape[0]
    inputs = [small_rows(n_nodes, n_components, seed + order) for order in orders]
    outputs = [
        rows if order == 1 else empty_rows(n_nodes, n_components) for order, rows in zip(orders, inputs, strict=True)
    ]
    _native.link_steps(
        _links(network),
        list(zip(inputs, outputs, strict=True)),
        n_samples if network.nnz else 0,
        n_negatives,
        learning_rate,
        learning_rate * _LAST_RATE,
        seed,
        n_threads=n_threads,
        callback=current_callback(),
    )
    return [rows[:, :n_components].copy() for rows in inputs]


def small_rows(n_nodes: int, n_components: int, seed: int) -> Rows:
    """Uniform numbers within 1 / sqrt(n_components) of 0.

    Steps multiply rows by each other, so that from numbers near to 0, as word2vec begins with, the first of them lead
    nowhere.
    """
    rows = empty_rows(n_nodes, n_components)
    drawn = np.random.default_rng(seed).random((n_nodes, n_components), dtype=np.float32)
    rows[:, :n_components] = (2 * drawn - 1) / np.float32(n_components**0.5)
    return rows


def empty_rows(n_nodes: int, n_components: int) -> Rows:
    """Zeros, as many as the compiled part wants; those after n_components stay so."""
    width = -(-n_components // _ROW_STEP) * _ROW_STEP
    numbers = np.zeros(n_nodes * width + _LINE // 4, np.float32)
    skipped = -numbers.ctypes.data % _LINE // 4
    return numbers[skipped : skipped + n_nodes * width].reshape(n_nodes, width)


def _links(network: sp.csr_array) -> tuple[NDArray, NDArray, NDArray[np.float64] | None]:
    """As the compiled part takes them: (targets, starts, weights), and None where all weights are equal."""
    starts = network.indptr.astype(network.indices.dtype, copy=False)
    even = not network.nnz or network.data.min() == network.data.max()
    return network.indices, starts, None if even else np.ascontiguousarray(network.data, dtype=np.float64)

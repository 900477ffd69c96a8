from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A 2-D array, or (data, indices, indptr, n_columns) of a CSR matrix.
Matrix = NDArray[np.generic] | tuple[NDArray[np.generic], NDArray[np.integer], NDArray[np.integer], int]

instruction_set: str
available_instruction_sets: list[str]

class AnchorGroups:
    def __init__(
        self,
        table: Matrix,
        anchor_ptr: NDArray[np.int64],
        rows: NDArray[np.int32],
        feature_ptr: NDArray[np.int64],
        features: NDArray[np.int32],
        center: NDArray[np.float64] | None = None,
        scale: float = 1.0,
        metric: int = 0,
        fingerprints: NDArray[np.uint64] | None = None,
        directions: NDArray[np.floating] | None = None,
        coarse_ptr: NDArray[np.int64] | None = None,
        cell_ptr: NDArray[np.int64] | None = None,
        coarse_rows: NDArray[np.int32] | None = None,
    ) -> None: ...

class LandmarkSubspaces:
    def __init__(
        self,
        table: Matrix,
        direction_ptr: NDArray[np.int64],
        own: NDArray[np.float64],
        drawn_ptr: NDArray[np.int64],
        drawn: NDArray[np.int32],
        neighbors: NDArray[np.int32] | None = None,
        coefficients: NDArray[np.floating] | None = None,
        center: NDArray[np.float64] | None = None,
        scale: float = 1.0,
        metric: int = 0,
    ) -> None: ...

def nearest(
    x: Matrix,
    groups: AnchorGroups,
    columns: NDArray[np.integer],
    values: NDArray[np.floating],
    mean_distances: NDArray[np.float64] | None = None,
    epsilon: float = 0.0,
    unit_rows: bool = False,
    n_neighbors: int = 1,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    use_index: bool = True,
    row_means: bool = False,
    sum_distances: bool = True,
    widths: NDArray[np.float64] | None = None,
    isa: str = "",
) -> tuple[list[float], list[int], int]: ...
def nearest_in_subspaces(
    x: Matrix,
    subspaces: LandmarkSubspaces,
    columns: NDArray[np.integer],
    values: NDArray[np.floating],
    epsilon: float = 0.0,
    n_nearest: int = 1,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def project(
    x: Matrix,
    directions: NDArray[np.floating],
    out: NDArray[np.floating],
    center: NDArray[np.float64] | None = None,
    scale: float = 1.0,
    n_threads: int = 1,
    isa: str = "",
) -> None: ...
def fourier_features(
    x: Matrix,
    out: NDArray[np.floating],
    frequencies: NDArray[np.floating] | None = None,
    factors: NDArray[np.floating] | None = None,
    scale: float = 1.0,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def hash_rows(
    x: Matrix,
    out: NDArray[np.floating],
    seed: int,
    n_blocks: int,
    with_signs: bool = True,
    n_threads: int = 1,
    isa: str = "",
) -> None: ...
def sum_distances(
    x: Matrix,
    groups: AnchorGroups,
    single: bool,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> tuple[list[float], list[int], int]: ...
def score_cells(
    x: Matrix,
    groups: AnchorGroups,
    mean_distances: NDArray[np.float64],
    sums: NDArray[np.float64],
    emptiness: NDArray[np.float64] | None = None,
    nearness: NDArray[np.float64] | None = None,
    single: bool = True,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def finish(
    columns: NDArray[np.integer],
    values: NDArray[np.floating],
    n_groups: int,
    mean_distances: NDArray[np.float64],
    epsilon: float,
    unit_rows: bool,
    n_threads: int,
    widths: NDArray[np.float64] | None = None,
) -> None: ...
def drop_missing(columns: NDArray[np.integer], values: NDArray[np.floating], indptr: NDArray[np.int64]) -> None: ...
def fingerprints(x: Matrix, out: NDArray[np.uint64]) -> None: ...

class SparseRows:
    def __init__(
        self,
        row_values: NDArray[np.float64],
        row_columns: NDArray[np.integer],
        row_starts: NDArray[np.integer],
        column_values: NDArray[np.float64],
        column_rows: NDArray[np.integer],
        column_starts: NDArray[np.integer],
    ) -> None: ...

def softmax_of_products(
    rows: SparseRows,
    weights: NDArray[np.float64],
    bias: NDArray[np.float64] | None = None,
    scale: float = 1.0,
    candidates: NDArray[np.int32] | None = None,
    n_sampled: int = 0,
    share: float = 1.0,
    gradient: NDArray[np.float64] | None = None,
    received: NDArray[np.float64] | None = None,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> tuple[float, float]: ...
def products_of_rows(
    rows: SparseRows, weights: NDArray[np.float64], out: NDArray[np.float64], n_threads: int = 1
) -> None: ...
def nearest_rows(
    x: Matrix,
    y: Matrix,
    distances: NDArray[np.float64],
    rows: NDArray[np.int64],
    metric: int = 0,
    own: NDArray[np.int64] | None = None,
    center: NDArray[np.float64] | None = None,
    scale: float = 1.0,
    panel_rows: int = 0,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def triplet_steps(
    rows: tuple[Any, ...],
    triplets: NDArray[np.int32],
    loss: int,
    directions: NDArray[np.float64],
    corrections: NDArray[np.float64],
    state: NDArray[np.float64],
    penalties: NDArray[np.float64],
    first_step: float = 1.0,
) -> None: ...
def triplet_margins(
    rows: tuple[Any, ...],
    triplets: NDArray[np.int32],
    weights: NDArray[np.float64],
    margins: NDArray[np.float64],
    squares: NDArray[np.float64],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def link_products(
    rows: tuple[Any, ...],
    targets: NDArray,
    starts: NDArray,
    sums: NDArray[np.float64],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def are_linked(
    targets: NDArray, starts: NDArray, first: NDArray[np.int32], second: NDArray[np.int32], out: NDArray[np.uint8]
) -> None: ...
def alias_table(weights: NDArray[np.float64], out: NDArray[np.uint32]) -> None: ...
def random_walks(
    network: tuple[NDArray, NDArray, NDArray[np.float64] | None],
    first: NDArray[np.int32],
    out: NDArray[np.int32],
    seed: int,
    offset: int = 0,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def sampled_step(
    inputs: NDArray[np.float32],
    outputs: NDArray[np.float32],
    input_counts: NDArray[np.float32],
    output_counts: NDArray[np.float32],
    rate: float,
    isa: str = "",
) -> None: ...
def skip_gram(
    nodes: NDArray[np.int32],
    inputs: NDArray[np.float32],
    outputs: NDArray[np.float32],
    noise: NDArray[np.float64],
    window: int,
    n_negatives: int,
    first_rate: float,
    last_rate: float,
    seed: int,
    offset: int = 0,
    n_parts: int = 1,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def link_steps(
    network: tuple[NDArray, NDArray, NDArray[np.float64] | None],
    rows: list[tuple[NDArray[np.float32], NDArray[np.float32]]],
    n_samples: int,
    n_negatives: int,
    first_rate: float,
    last_rate: float,
    seed: int,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def latent_losses(
    vectors: NDArray[np.float64],
    triplets: NDArray[np.int32],
    loss: int,
    values: NDArray[np.float64],
    slopes: NDArray[np.float64],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def latent_gradient(
    vectors: NDArray[np.float64],
    triplets: NDArray[np.int32],
    slopes: NDArray[np.float64],
    places: NDArray[np.int64],
    starts: NDArray[np.int64],
    out: NDArray[np.float64],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def latent_steps(
    vectors: NDArray[np.float32],
    triplets: NDArray[np.int32],
    loss: int,
    decay: NDArray[np.float32],
    pull: NDArray[np.float32],
    targets: NDArray[np.float32] | None,
    step: float,
    squares: NDArray[np.float32],
    callback: Callable[[float], object] | None = None,
) -> None: ...
def diffuse(
    shares: NDArray[np.float32],
    targets: NDArray[Any],
    starts: NDArray[Any],
    between: NDArray[np.float32],
    out: NDArray[np.float32],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
) -> None: ...
def align_rows(
    rows: SparseRows,
    weights: NDArray[np.float64],
    bias: NDArray[np.float64],
    scale: float,
    link_weights: NDArray[np.float64],
    targets: NDArray[Any],
    starts: NDArray[Any],
    means: NDArray[np.float64],
    mean: float,
    everywhere: bool,
    received: NDArray[np.float64],
    products: NDArray[np.float64],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> float: ...

class Stumps:
    def __init__(
        self,
        values: NDArray[np.float64],
        rows: NDArray[Any],
        starts: NDArray[Any],
        n_rows: int,
        by_rows: bool = False,
        n_threads: int = 1,
        callback: Callable[[float], object] | None = None,
        parts: NDArray[np.int32] | None = None,
        n_parts: int = 1,
    ) -> None: ...
    def best(
        self,
        pulls: NDArray[np.float64],
        n_first: int,
        out: NDArray[np.uint8],
        n_threads: int = 1,
        callback: Callable[[float], object] | None = None,
        part: int = 0,
    ) -> tuple[int, float, int, float, float]: ...
    @property
    def n_evaluated(self) -> int: ...

def pair_kernel(
    left: NDArray[np.float32],
    right: NDArray[np.float32],
    other_left: NDArray[np.float32],
    other_right: NDArray[np.float32],
    weights: list[NDArray[np.float64]],
    biases: list[NDArray[np.float64]],
    out: NDArray[np.float32],
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...
def ordered_pairs(
    scores: NDArray[np.float64], grades: NDArray[np.float64], ranks: NDArray[np.int32], weights: NDArray[np.float64]
) -> float: ...
def fit_linear(
    rows: Any,
    loss: int,
    knee: float,
    constant: float,
    labels: NDArray[np.int32] | None,
    targets: NDArray[np.float64] | None,
    weights: NDArray[np.float64],
    factors: NDArray[np.float64],
    outputs: NDArray[np.int32],
    batch_starts: NDArray[np.int32],
    tol: float,
    max_epochs: int,
    seed: int,
    duals: NDArray[np.float32] | NDArray[np.float64],
    sums: NDArray[np.float64],
    reports: NDArray[np.float64],
    shrink: float = 0.0,
    base: NDArray[np.float64] | None = None,
    n_threads: int = 1,
    callback: Callable[[float], object] | None = None,
    isa: str = "",
) -> None: ...

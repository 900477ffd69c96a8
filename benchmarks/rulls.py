"""RULLS on Fashion-MNIST: both ways of measuring distances in local subspaces, what fitting costs, and memory."""

import copy
import time
from types import MethodType

import numpy as np
from _machine import best_of, data_set, peak_memory, record, sgemm_peak

from vicinal import RULLS, ProjectedLandmarks, SampledLandmarks

SHAPE = (70_000, 784)
TRAINING = 56_000
VARIANTS = (ProjectedLandmarks, SampledLandmarks)
COMPARED = 6_000  # rows on which both ways are timed


def timed(run):
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def fit_transform(kind, X: np.ndarray) -> float:
    return timed(lambda: kind(random_state=0, n_jobs=2).fit_transform(X))[1]


def standardised(X: np.ndarray) -> np.ndarray:
    X = X - X.mean(0)
    return X / np.where(X.std(0) > 0, X.std(0), 1)


def state_bytes(model) -> int:
    return sum(value.nbytes for value in vars(model).values() if isinstance(value, np.ndarray))


def direct_rate(model, X: np.ndarray, n_iterations: int = 10, n_turns: int = 11) -> tuple[float, float]:
    """Operations per second of the direct way and of sgemm, by turns: the machine's speed changes within seconds.

    The directions of the first iterations are written out before.
    """
    few = copy.copy(model)
    few.landmark_ptr_ = model.landmark_ptr_[: n_iterations + 1]
    used, few.landmark_rows_ = np.unique(model.landmark_rows_[: few.landmark_ptr_[-1]], return_inverse=True)
    few.landmark_rows_ = few.landmark_rows_.astype(np.int32)
    few.directions_ = model._written_out(used)
    few.direction_ptr_ = np.concatenate([[0], np.cumsum(np.diff(model.direction_ptr_)[used])])
    few.own_ = np.concatenate([model.own_[model.direction_ptr_[p] : model.direction_ptr_[p + 1]] for p in used])
    square = np.random.default_rng(0).standard_normal((2048, 2048), dtype=np.float32)
    seconds = [(timed(lambda: few.transform(X))[1], timed(lambda: square @ square)[1]) for _ in range(n_turns)]
    ours, sgemm = np.median(seconds, axis=0)
    return 2.0 * few.directions_.size * len(X) / ours, 2.0 * square.size * len(square) / sgemm


def fit_in_parts(model, X) -> dict[str, float]:
    """Fits the model; how long neighbourhoods took, how long their bases, and all of it."""
    seconds = {}

    def watched(name):
        plain = getattr(model, name)

        def run(self, *args, **kwargs):
            result, seconds[name] = timed(lambda: plain(*args, **kwargs))
            return result

        setattr(model, name, MethodType(run, model))

    for name in ("_neighborhoods", "_in_batches"):
        watched(name)
    _, seconds["all"] = timed(lambda: model.fit(X))
    for name in ("_neighborhoods", "_in_batches"):
        delattr(model, name)
    return seconds


def main() -> None:
    peak = sgemm_peak()
    X, label = data_set("fashion_mnist", SHAPE)
    X = standardised(X)[np.random.default_rng(0).permutation(len(X))]
    training, compared = X[:TRAINING], X[-COMPARED:]
    model = RULLS(random_state=0, n_jobs=2)
    fit, fit_memory = peak_memory(lambda: fit_in_parts(model, training))
    n_directions = int(model.direction_ptr_[-1])
    by_directions = 2.0 * n_directions * X.shape[1]
    by_products = 2.0 * (model.rows_.size + n_directions * model.neighbors_.shape[1])
    drawn = np.diff(model.direction_ptr_)[model.landmark_rows_].sum()

    out, memory = peak_memory(lambda: model.transform(compared))
    memory -= out.data.nbytes + out.indices.nbytes + out.indptr.nbytes
    del out
    products = best_of(lambda: model.transform(compared))
    rate, beside = direct_rate(model, compared)
    _, directions = timed(lambda: model._transform(compared, by_directions=True))
    whole = products * len(X) / COMPARED
    lines = [
        f"{label}, {TRAINING:,} training rows x {X.shape[1]} columns, float32, standardised, T = 100, 2 threads: "
        f"{len(model.landmark_rows_):,} landmarks, {len(model.landmark_samples_):,} of them different, "
        f"{np.diff(model.direction_ptr_).mean():.1f} directions each. sgemm peak in this run: {peak / 1e9:.0f} "
        "GFLOP/s.",
        "",
        f"| transform of {COMPARED:,} rows | million operations per row | s | GFLOP/s | of sgemm |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, operations, seconds in [
        ("every landmark's directions, written out in each call", 2.0 * drawn * X.shape[1], directions),
        ("products with the rows of all neighbourhoods", by_products, products),
    ]:
        reached = operations * COMPARED / seconds
        lines.append(
            f"| {name} | {operations / 1e6:.0f} | {seconds:.1f} | {reached / 1e9:.0f} | {reached / peak:.0%} |"
        )
    lines += [
        "",
        f"- directions that are written out before are worked off at {rate / 1e9:.0f} GFLOP/s, {rate / beside:.0%} of "
        f"sgemm (10 iterations; medians of 11 turns each; sgemm {beside / 1e9:.0f})",
        f"- products are {directions / products:.1f} times faster (by operations {by_directions / by_products:.1f} "
        f"times, were every landmark's directions used once)",
        f"- fit {fit['all']:.1f} s, of which neighbours {fit['_neighborhoods']:.1f} s and local bases "
        f"{fit['_in_batches']:.1f} s; transform of all {len(X):,} rows would take {whole:.0f} s: the bases "
        f"are {fit['_in_batches'] / (fit['all'] + whole):.0%} of the whole",
        f"- fitted state {state_bytes(model) / 1e6:.0f} MB beside {training.nbytes / 1e6:.0f} MB of training data; "
        f"dense directions would be {n_directions * X.shape[1] * 4 / 1e6:,.0f} MB",
        f"- extra memory: fit {max(fit_memory - state_bytes(model), 0) / 1e6:.0f} MB beyond the state, transform "
        f"{max(memory, 0) / 1e6:.0f} MB beyond the output",
        "",
        "Growth of transform with the rows, by products: "
        + ", ".join(
            f"{n:,}: {best_of(lambda n=n: model.transform(compared[:n]), at_least=1):.2f} s" for n in (1500, 3000, 6000)
        ),
        "",
        f"The variants, T = 100, fit and transform of {COMPARED:,} rows: "
        + ", ".join(f"{kind.__name__} {fit_transform(kind, compared):.1f} s" for kind in VARIANTS),
    ]
    record("RULLS", lines)


if __name__ == "__main__":
    main()

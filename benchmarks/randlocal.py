"""RandLocal as a whole: seconds and memory on three data sets, how they grow, and the peers at equal output size."""

import time

import numpy as np
from _machine import best_of, data_set, peak_memory, record, sgemm_peak
from ikpykit.kernel import IsoKernel
from sklearn.kernel_approximation import Nystroem, RBFSampler

from vicinal import RandLocal

SHAPES = {"ijcnn1": (141_691, 22), "mnist": (70_000, 784), "covtype": (581_012, 54)}


def seconds(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def operations(model, n_rows: int) -> float:
    """Multiplications and additions of all distances by expanded squares."""
    return 2.0 * n_rows * float(np.diff(model.anchor_ptr_) @ np.diff(model.feature_ptr_))


def on_data_sets(peak: float) -> list[str]:
    lines = [
        "`RandLocal(n_groups=400, random_state=0).fit_transform`, float32, 2 threads. 'sgemm' is the time of the same "
        f"floating-point operations at this machine's sgemm peak ({peak / 1e9:.0f} GFLOP/s). Memory is the peak beyond "
        "input, fitted anchors and output.",
        "",
        "| data | rows x columns | fit_transform, s | over sgemm | transform, s | extra memory, MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, shape in SHAPES.items():
        X, label = data_set(name, shape)
        model = RandLocal(random_state=0, n_jobs=2)
        start = time.perf_counter()
        out, memory = peak_memory(lambda: model.fit_transform(X))  # noqa: B023
        fit_transform = time.perf_counter() - start
        memory -= model.anchors_.nbytes + out.data.nbytes + out.indices.nbytes + out.indptr.nbytes
        del out
        again = seconds(lambda: model.transform(X))  # noqa: B023
        ratio = fit_transform / (operations(model, len(X)) / peak)
        lines.append(
            f"| {label} | {len(X):,} x {X.shape[1]} | {fit_transform:.1f} | {ratio:.2f} | {again:.1f} | "
            f"{max(memory, 0) / 1e6:.0f} |"
        )
        print(lines[-1], flush=True)
    return lines


def growth() -> list[str]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80_000, 64), dtype=np.float32)
    lines = ["", "Growth of fit_transform: 20,000 rows, 32 columns, T = 100, 2 threads, and one of them changed.", ""]
    base = {"n": 20_000, "d": 32, "T": 100, "threads": 2}
    columns = {"n": [20_000, 40_000, 80_000], "d": [16, 32, 64], "T": [50, 100, 200], "threads": [1, 2]}
    for name, values in columns.items():
        cells = []
        for value in values:
            at = {**base, name: value}
            part = np.ascontiguousarray(X[: at["n"], : at["d"]])
            model = RandLocal(at["T"], n_anchors=286, feature_range=(0.5, 0.5), random_state=0, n_jobs=at["threads"])
            cells.append((value, best_of(lambda: model.fit_transform(part), at_least=2)))  # noqa: B023
        lines.append(f"- {name}: " + ", ".join(f"{value}: {time_ * 1e3:.0f} ms" for value, time_ in cells))
        print(lines[-1], flush=True)
    return lines


def peers() -> list[str]:
    lines = [
        "",
        "Peers at equal output size, 400 non-zeros per row; 10,000 rows. IsoKernel (aNNE): 400 estimators of 256 "
        "anchors, as RandLocal here. A ratio above 1 says how many times longer the peer takes.",
        "",
        "| data | RandLocal, s | IsoKernel | Nystroem | RBFSampler |",
        "|---|--:|--:|--:|--:|",
    ]
    for name in ("ijcnn1", "mnist"):
        X, label = data_set(name, SHAPES[name])
        X = X[np.random.default_rng(0).permutation(len(X))[:10_000]]
        own = best_of(lambda: RandLocal(400, n_anchors=256, random_state=0).fit_transform(X), at_least=3)  # noqa: B023
        others = [
            IsoKernel(method="anne", n_estimators=400, max_samples=256, random_state=0),
            Nystroem(n_components=400, random_state=0),
            RBFSampler(n_components=400, random_state=0),
        ]
        ratios = [seconds(lambda: peer.fit_transform(X)) / own for peer in others]  # noqa: B023
        lines.append(f"| {label} | {own:.2f} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    lines = on_data_sets(sgemm_peak()) + growth() + peers()
    record("RandLocal", lines)


if __name__ == "__main__":
    main()

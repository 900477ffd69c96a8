"""Two levels of anchors beside one: seconds, memory and how they grow with the number of anchors.

Every figure comes from a process of its own.
"""

import argparse
import json
import time

import numpy as np
from _machine import child, data_set, peak_memory, record

from vicinal import RandLocal

ONE_LEVEL = 512
TWO_LEVELS = (2_048, 8_192, 28_700, 58_300)


def processor_seconds(run) -> float:
    """The least of two runs, of all threads together: what other work on the machine does not change."""
    times = []
    for _ in range(2):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def rows(quick: bool) -> tuple[np.ndarray, str, int]:
    """Rows, what they are called, and how many groups are measured on them."""
    if quick:
        return np.random.default_rng(0).random((20_000, 20), dtype=np.float32), "random rows", 5
    return *data_set("covtype", (581_012, 54)), 40


def job_figures(n_anchors: int, n_levels: int, quick: bool) -> dict:
    X, _, n_groups = rows(quick)
    model = RandLocal(n_groups, n_anchors=n_anchors, n_levels=n_levels, random_state=0, n_jobs=2)
    out, memory = peak_memory(lambda: model.fit_transform(X))
    kept = (model.anchors_, model.anchor_rows_, model.fingerprints_, out.data, out.indices, out.indptr)
    memory -= sum(part.nbytes for part in kept)
    del out, kept
    return {
        "fit_transform": processor_seconds(lambda: model.fit_transform(X)),
        "transform": processor_seconds(lambda: model.transform(X)),
        "MB": max(memory, 0) / 1e6,
        "anchors": model.anchor_ptr_[-1] / n_groups,
    }


def table(quick: bool) -> list[str]:
    X, label, n_groups = rows(quick)
    lines = [
        f"`RandLocal(n_groups={n_groups}, random_state=0)` on {label} ({len(X):,} x {X.shape[1]}, float32), 2 threads. "
        "Seconds are the processor's, of both threads together; a ratio is to one level. Anchors are those per group "
        "that are left once equal ones count once; memory is the peak beyond input, anchors and output.",
        "",
        "| levels | anchors drawn | anchors | fit_transform, s | ratio | transform, s | ratio | extra memory, MB |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    one = child(__file__, "figures", ONE_LEVEL, 1, quick)
    two = {n_anchors: child(__file__, "figures", n_anchors, 2, quick) for n_anchors in TWO_LEVELS}
    for levels, n_anchors, found in [(1, ONE_LEVEL, one), *((2, *item) for item in two.items())]:
        lines.append(
            f"| {levels} | {n_anchors:,} | {found['anchors']:,.0f} | {found['fit_transform']:.1f} | "
            f"{found['fit_transform'] / one['fit_transform']:.2f} | {found['transform']:.1f} | "
            f"{found['transform'] / one['transform']:.2f} | {found['MB']:.0f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few random rows; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    lines = table(options.quick)
    print("\n".join(lines)) if options.quick else record("Two levels of anchors", lines)


if __name__ == "__main__":
    main()

"""Several views: CDMA-FS on BBC Sport and on made texts, and cross diffusion beside snfpy, where that is installed.

Every figure comes from a process of its own.
"""

import argparse
import json
import os
from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp
from _machine import child, highest_memory, record, timed

from vicinal import CDMAFS, datasets
from vicinal.graphs import fuse_graphs, neighbor_graph, scaled_similarities
from vicinal.views import stack_views


def made_texts(n_rows: int, n_columns: int, density: float) -> tuple[sp.csr_array, dict[str, slice]]:
    """Two views of ten topics; somewhat less than half of a row's words are among the 4 % that its topic owns."""
    rng = np.random.default_rng(0)
    topics, own = rng.integers(10, size=n_rows), n_columns // 25
    n_own = int(0.44 * density * n_columns)

    def view() -> sp.csr_array:
        rest = sp.random_array((n_rows, n_columns), density=0.6 * density, format="csr", rng=rng)
        words = rng.integers(own, size=(n_rows, n_own)) + own * topics[:, None]
        rows = np.repeat(np.arange(n_rows), n_own)
        return sp.csr_array(rest + sp.csr_array((np.ones(words.size), (rows, words.ravel())), shape=rest.shape))

    return stack_views([view(), view()])


def job_sport(penalty: float | str) -> dict:
    sample = datasets.load("mv_bbcsport2")
    wanted = 400 if penalty == "auto" else "auto"
    selector, seconds = timed(lambda: CDMAFS(wanted, views=sample.views, penalty=penalty).fit(sample.X))
    return {"seconds": seconds, "peak GB": highest_memory(), "whole": list(selector.n_auto_)}


def job_made(n_rows: int, n_columns: int) -> dict:
    X, views = made_texts(n_rows, n_columns, 0.01)
    selector, seconds = timed(lambda: CDMAFS(400, views=views).fit(X))
    return {"seconds": seconds, "peak GB": highest_memory(), "whole": list(selector.n_auto_)}


def job_cross(n_rows: int) -> dict:
    X, views = made_texts(n_rows, 2000, 0.01)
    graphs = [neighbor_graph(X[:, columns]) for columns in views.values()]
    return {"seconds": timed(lambda: fuse_graphs(graphs, tol=1e-9))[1], "peak GB": highest_memory()}


def similarities(n_rows: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [scaled_similarities(rng.standard_normal((n_rows, 10))) for _ in range(2)]


def job_snf(n_rows: int) -> dict:
    given = similarities(n_rows)
    return {"seconds": timed(lambda: fuse_graphs(given, None, method="snf", tol=1e-9))[1], "peak GB": highest_memory()}


def job_snfpy(n_rows: int) -> dict:
    import snf.compute

    if "force_all_finite" not in snf.compute.check_array.__code__.co_varnames:  # its name in older scikit-learn
        snf.compute.check_array = lambda given, **_: np.array(given, dtype=float)
    given = similarities(n_rows)
    fused, seconds = timed(lambda: snf.snf(given, K=20, t=20))
    ours = fuse_graphs(given, None, method="snf", tol=1e-9)
    return {"seconds": seconds, "peak GB": highest_memory(), "difference": float(np.abs(ours - fused).max())}


def line(label: str, figures: dict) -> str:
    if "failed" in figures:
        return f"| {label} | failed | |"
    return f"| {label} | {figures['seconds']:.2f} | {figures['peak GB']:.2f} |"


def selector_lines(quick: bool) -> list[str]:
    lines = ["| CDMA-FS | seconds | peak GB |", "|---|--:|--:|"]
    if os.environ.get("VICINAL_DATA"):
        lines.append(line("BBC Sport, 544 x (3,183 + 3,203), one penalty", child(__file__, "sport", 0.1)))
        lines.append(line("BBC Sport, search to 400 columns per view", child(__file__, "sport", "auto")))
    n_rows, n_columns = (1000, 1000) if quick else (10_000, 5000)
    label = f"made texts, {n_rows:,} x (2 x {n_columns:,}), 1 % non-zero, search to 400 per view"
    return [*lines, line(label, child(__file__, "made", n_rows, n_columns))]


def fusion_lines(quick: bool) -> list[str]:
    n_rows = 1000 if quick else 5000
    lines = [f"| two views, {n_rows:,} rows, 20 iterations | seconds | peak GB |", "|---|--:|--:|"]
    lines.append(line("cross diffusion of graphs with 5 neighbours", child(__file__, "cross", n_rows)))
    ours = child(__file__, "snf", n_rows)
    lines.append(line("similarity network fusion, 20 neighbours", ours))
    if find_spec("snf") is None:
        return [*lines, "", "snfpy is not installed."]
    theirs = child(__file__, "snfpy", n_rows)
    lines.append(line("the same by snfpy", theirs))
    if "seconds" in theirs and "seconds" in ours:
        ratio = f"{theirs['seconds'] / ours['seconds']:.0f}x"
        lines += ["", f"snfpy takes {ratio} as long; the largest difference of an entry is {theirs['difference']:.1e}."]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data; nothing is written to RESULTS.md")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        job, arguments = options.job
        return print("\n" + json.dumps(globals()[f"job_{job}"](*arguments), default=float))
    lines = ["Defaults, 2 threads; making data and similarities is not timed.", ""]
    lines += [*selector_lines(options.quick), "", *fusion_lines(options.quick)]
    print("\n".join(lines)) if options.quick else record("Views", lines)


if __name__ == "__main__":
    main()

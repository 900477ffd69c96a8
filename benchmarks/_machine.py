"""What the benchmarks share: the machine, its sgemm peak, fair timing, and where results are written."""

import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import vicinal
from vicinal import _native

RESULTS = Path(__file__).with_name("RESULTS.md")


def describe() -> str:
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, vicinal {vicinal.__version__} ({_native.instruction_set})"
    )


def best_of(run: Callable[[], object], *, at_least: float = 0.3, most: int = 7) -> float:
    """The shortest of several runs, in seconds: on a shared machine the least disturbed one."""
    times: list[float] = []
    while len(times) < 2 or (sum(times) < at_least and len(times) < most):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def sgemm_peak(size: int = 2048) -> float:
    """Operations per second of NumPy's float32 matrix product, all threads."""
    a = np.random.default_rng(0).standard_normal((size, size), dtype=np.float32)
    return 2 * size**3 / best_of(lambda: a @ a, at_least=1.0, most=20)


def peak_memory(run: Callable[[], object]) -> tuple[object, int]:
    """The result of run() and how far the process's own memory rose above its start, at the highest (Linux)."""

    def own() -> int:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

    done, before = threading.Event(), own()
    peak = [before]

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], own())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = run()
    finally:
        done.set()
        watcher.join()
    return result, peak[0] - before


def timed(run: Callable[[], object]) -> tuple[object, float]:
    """The result of run() and the seconds that it took."""
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def highest_memory() -> float:
    """The most GB that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def child(script: str, job: str, *arguments: object) -> dict:
    """What the script's job_... returns in a process of its own with two threads; or, as `failed`, its last words."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "2")
    command = [sys.executable, script, "--job", json.dumps([job, arguments])]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True)
    figures = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr[-300:]}
    print(job, *arguments, figures, file=sys.stderr, flush=True)
    return figures


def data_set(name: str, shape: tuple[int, int]) -> tuple[np.ndarray, str]:
    """A real data set's rows as float32 in [0, 1], from the folder VICINAL_DATA, or random ones of its shape."""
    path = Path(os.environ.get("VICINAL_DATA", ""), "tabular", f"{name}.npz")
    if path.exists():
        with np.load(path) as file:
            X = file["X"].astype(np.float32)
        X -= X.min(0)
        return X / np.maximum(X.max(0), 1), name
    return np.random.default_rng(0).random(shape, dtype=np.float32), f"random rows in the shape of {name}"


def record(title: str, lines: list[str]) -> None:
    """Replaces the section of that title in RESULTS.md."""
    text = RESULTS.read_text() if RESULTS.exists() else "# Benchmark results\n\nMade by `make bench`.\n"
    head, _, rest = text.partition(f"\n## {title}\n")
    _, separator, tail = rest.partition("\n## ")
    body = "\n".join(["", f"## {title}", "", describe(), "", *lines, ""])
    RESULTS.write_text(head.rstrip("\n") + "\n" + body + (separator + tail if separator else ""))
    print("\n".join(lines))
    print(f"written to {RESULTS.name}", file=sys.stderr)

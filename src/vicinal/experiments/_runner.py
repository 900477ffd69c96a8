"""Runs an experiment's cells, each in a process of its own: parallel, resumable, with its peak memory measured."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from .. import __version__, datasets
from .._preparation import scaler
from ._evaluate import Outcome, Protocol, classify, cluster, find_outliers, picture, stratified_sample
from ._experiment import Cell, Experiment
from ._kernel_error import kernel_error
from ._methods import Method, Setting
from ._noise import add_noise
from ._results import ResultFile, Row, cell_rows
from ._selection import select

Source = Callable[[str], tuple[Any, NDArray]]
Callback = Callable[[Cell, str], None]


def run(
    experiment: Experiment,
    path: Path,
    *,
    fresh: bool = False,
    jobs: int | None = None,
    callback: Callback = lambda cell, event: None,
) -> list[Row]:
    """Runs what is left of an experiment and returns all rows of its CSV.

    Parameters
    ----------
    experiment : Experiment
    path : Path
        The CSV. Cells that it holds are not run again; every finished cell is added at once, so that a killed run loses
        at most the cells that were running.
    fresh : bool, default=False
        Begin anew, whatever `path` holds.
    jobs : int, default=None
        Cells at a time; as many as there are cores by default. Threads share the cores among the cells.
    callback : callable, default does nothing
        Called as ``callback(cell, "kept")`` for every cell that is there already, then as ``callback(cell, "started")``
        and ``callback(cell, "done")`` or, where a cell could not be run, ``callback(cell, reason)``.

    Returns
    -------
    list of dict
    """
    results = ResultFile.open(path, experiment, fresh=fresh)
    done = results.done()
    waiting = deque(cell for cell in experiment.cells() if cell.key not in done)
    for name in dict.fromkeys(cell.data for cell in waiting):
        if datasets.path_of(name) is None:
            datasets.fetch(name)
    for cell in experiment.cells():
        if cell.key in done:
            callback(cell, "kept")
    cores = os.cpu_count() or 1
    jobs = min(jobs or cores, max(1, len(waiting)))
    work = partial(run_cell, experiment, threads=max(1, cores // jobs))
    for cell, event, rows in run_cells(work, waiting, jobs, partial(failed_rows, experiment)):
        if rows:
            results.add(rows)
        callback(cell, event)
    results.write()
    return results.rows


def run_cells(
    work: Callable[[Cell], list[Row]],
    waiting: deque[Cell],
    jobs: int,
    refuse: Callable[[Cell, str], list[Row]],
) -> Iterator[tuple[Cell, str, list[Row]]]:
    """Yields (cell, "started", []) and then (cell, "done" or the reason why not, rows)."""
    # A server without threads forks a child per cell: it starts in milliseconds and its peak memory is its own.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    running: dict[Connection, tuple[Cell, Any, Connection]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                cell = waiting.popleft()
                answer, give = context.Pipe(duplex=False)
                listen, alive = context.Pipe(duplex=False)
                child = context.Process(target=_child, args=(work, cell, give, listen), daemon=True)
                child.start()
                give.close()
                listen.close()
                running[answer] = (cell, child, alive)
                yield cell, "started", []
            for ready in wait(list(running)):
                answer = next(connection for connection in running if connection is ready)
                cell, child, _ = running.pop(answer)
                try:
                    event, rows = answer.recv()
                except EOFError:
                    child.join()
                    event, rows = f"its process ended with code {child.exitcode} (out of memory?)", []
                child.join()
                yield cell, event, rows or refuse(cell, event)
    finally:
        for _, child, _ in running.values():
            child.terminate()


def _child(work: Callable[[Cell], list[Row]], cell: Cell, answer: Connection, listen: Connection) -> None:
    threading.Thread(target=_end_with_parent, args=(listen,), daemon=True).start()
    try:
        rows = work(cell)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        answer.send(("done", [row | {"peak_memory_mb": f"{peak:.0f}"} for row in rows]))
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        answer.send((str(error) or type(error).__name__, []))


def _end_with_parent(listen: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        listen.recv()
    os._exit(1)


def run_cell(
    experiment: Experiment,
    cell: Cell,
    *,
    threads: int,
    load: Source | None = None,
    prepare: Callable[[Any], Any] | None = None,
) -> list[Row]:
    """The rows of one cell, computed here and now."""
    with threadpool_limits(threads):
        outcome = _outcome(experiment, cell, threads, load or load_rows, prepare)
    digits = ".6g" if experiment.task == "kernel" else ".6f"  # errors may be small
    values = [(fold, metric, f"{value:{digits}}") for fold, metric, value in outcome.values]
    shared = {
        "feature_seconds": f"{outcome.feature_seconds:.3f}",
        "model_seconds": f"{outcome.model_seconds:.3f}",
        "tuning_seconds": f"{outcome.tuning_seconds:.3f}",
        "threads": str(threads),
        "training_rows": str(outcome.training_rows),
        "test_rows": str(outcome.test_rows),
        **_written({"nonzeros_per_row": outcome.nonzeros_per_row, "chosen": outcome.chosen}),
        "notes": "; ".join(outcome.notes),
        **_versions(),
    }
    rows = cell_rows(experiment, cell, values, shared)
    return [row | _written(outcome.by_metric.get(row["metric"], {})) for row in rows]


def _written(told: Mapping[str, Any]) -> Row:
    """Fields that a cell's figures share, or that belong to one metric, as the CSV has them."""
    written = {}
    if "nonzeros_per_row" in told:
        written["nonzeros_per_row"] = f"{told['nonzeros_per_row']:.1f}"
    if "chosen" in told:
        written["chosen"] = json.dumps(told["chosen"]) if told["chosen"] else ""
    return written


def failed_rows(experiment: Experiment, cell: Cell, reason: str) -> list[Row]:
    """A cell that could not be run has rows, too: without values, with the reason."""
    runs = range(cell.fold, cell.fold + experiment.runs_per_cell)
    values = [(run, metric, "") for run in runs for metric in experiment.measured(cell)]
    return cell_rows(experiment, cell, values, {"notes": f"not run: {reason}", **_versions()})


def _outcome(
    experiment: Experiment, cell: Cell, threads: int, load: Source, prepare: Callable[[Any], Any] | None
) -> Outcome:
    spec = experiment.method_spec(cell.method)
    method, protocol, X, y = _task(experiment, cell, threads, load, prepare)
    if experiment.task == "classification":
        return classify(method, protocol, X, y)
    if experiment.task == "clustering":
        return cluster(method, protocol, X, y, runs=experiment.runs, unit_rows=spec.unit_rows)
    if experiment.task == "selection":
        return select(
            method,
            protocol,
            X,
            y,
            features=experiment.features,
            runs=experiment.runs,
            starts=experiment.starts,
            unit_rows=experiment.unit_rows,
            most_settings=experiment.most_settings,
        )
    if experiment.task == "images":
        return picture(method, protocol, X, y)[1]
    if experiment.task == "kernel":
        return kernel_error(method, protocol, X, y)
    return find_outliers(
        method, protocol, X, y, neighbors=experiment.neighbors, unit_rows=spec.unit_rows, detector=spec.detector
    )


def cell_features(experiment: Experiment, cell: Cell) -> tuple[Any, NDArray]:
    """The features that a cell is about, of all its rows, and their labels."""
    method, protocol, X, y = _task(experiment, cell, 1, load_rows, None)
    return picture(method, protocol, X, y)[0], y


def _task(
    experiment: Experiment, cell: Cell, threads: int, load: Source, prepare: Callable[[Any], Any] | None
) -> tuple[Method, Protocol, Any, NDArray]:
    """What a cell is made of: a method, how it is run, and the rows."""
    data, spec = experiment.data_spec(cell.data), experiment.method_spec(cell.method)
    varied = experiment.setting(cell)
    noise = varied.get("noise", "none")
    method = experiment.method(cell)
    if not method.installed:
        raise ValueError(f"{method.label} needs the package {method.needs}; install it with pip.")
    X, y = load(cell.data)
    if data.rows is not None and len(y) > data.rows:
        keep = stratified_sample(
            y, data.rows, experiment.first_seed, at_least=max(experiment.folds, 2 * experiment.tuning_folds)
        )
        X, y = X[keep], y[keep]
    preparation = prepare or partial(scaler, data.scale)
    if noise != "none":
        # Noise has the range of the scaled values, and every fold a draw of its own.
        X = add_noise(scaler(data.scale, X).fit_transform(X), noise, 1000 * cell.seed + cell.fold)
        preparation = partial(scaler, "none")
    caps = [rows for rows in (method.most_rows, spec.rows, spec.data_rows.get(cell.data)) if rows]
    protocol = Protocol(
        setting=Setting(
            n_rows=X.shape[0],
            n_features=X.shape[1],
            n_groups=varied.get("n_groups", experiment.n_groups),
            n_components=varied.get("n_components", experiment.n_components),
            seed=cell.seed,
            threads=threads,
            n_classes=len(np.unique(y)),
            image_shape=data.image_shape if noise != "append" else None,
        ),
        preparation=preparation,
        folds=experiment.folds,
        fold=cell.fold,
        tuning_rows=spec.tuning_rows.get(cell.data, experiment.tuning_rows),
        tuning_folds=experiment.tuning_folds,
        most_rows=min(caps) if caps else None,
        metrics=experiment.metrics,
    )
    return method, protocol, X, y


@lru_cache(maxsize=1)
def load_rows(name: str) -> tuple[Any, NDArray]:
    """A data set's labelled rows, in single precision."""
    bunch = datasets.load(name)
    labelled = bunch.y >= 0
    X, y = (bunch.X, bunch.y) if labelled.all() else (bunch.X[labelled], bunch.y[labelled])
    return X.astype(np.float32), y


@cache
def _versions() -> Row:
    return {
        "vicinal": __version__,
        "commit": _commit(),
        "scikit_learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def _commit() -> str:
    """The commit of the source that runs, with a plus if it was changed since; nothing outside a clone."""
    folder = Path(__file__).parent
    if not (folder.parents[2] / ".git").exists():
        return ""
    told = []
    for command in (["rev-parse", "--short=10", "HEAD"], ["status", "--porcelain", "--", str(folder.parents[1])]):
        git = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, check=False)
        if git.returncode:
            return ""
        told.append(git.stdout.strip())
    return told[0] + "+" * bool(told[1])

"""Runs an experiment's cells, each in a process of its own: parallel, resumable, with its peak memory measured."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

from .. import __version__, datasets
from .._calls import limited_threads, n_threads
from .._page import Section
from .._preparation import check_table, is_frame
from .._sample import Sample
from ._experiment import Cell, Experiment
from ._picture_file import picture_path, read_pictures, write_pictures
from ._results import Result, ResultFile, failed_results, read_results, results_of, stamped, with_memory
from ._shelf import Shelf
from ._work import work_of

Load = Callable[[str], Sample]
Callback = Callable[[Cell, str], None]


def run(
    experiment: Experiment,
    path: Path,
    *,
    fresh: bool = False,
    jobs: int | None = None,
    callback: Callback = lambda cell, event: None,
) -> list[Result]:
    """Runs what is left of an experiment and returns all results of its CSV.

    Parameters
    ----------
    experiment : Experiment
        What `load_experiment` gives.
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
    list of Result

    Examples
    --------
    >>> from pathlib import Path
    >>> from vicinal.experiments import load_experiment, run, summarise, verdict
    >>> experiment = load_experiment("randlocal-table3").quickened()
    >>> results = run(experiment, Path("quick.csv"))  # doctest: +SKIP
    >>> verdict(experiment, summarise(experiment, results))  # doctest: +SKIP
    """
    file = ResultFile.open(path, experiment, fresh=fresh)
    done = file.done()
    cells = experiment.cells()
    waiting = deque(cell for cell in cells if cell not in done)
    for name in dict.fromkeys(experiment.data_spec(cell.data).name for cell in waiting):
        if datasets.path_of(name) is None:
            datasets.fetch(name)
    for cell in cells:
        if cell in done:
            callback(cell, "kept")
    workers, threads = share_cores(jobs, len(waiting))
    with Shelf() as shelf:

        def shelve(cell: Cell) -> None:
            name = experiment.data_spec(cell.data).name
            if name not in shelf:
                shelf.put(name, load_sample(name, experiment.task.all_rows))

        work = partial(evaluate_cell, experiment, threads=threads, load=shelf.take)
        refuse = partial(failed_results, experiment)
        for cell, event, results in run_cells(work, waiting, workers, refuse, before=shelve):
            if results:
                # The children may have been started while data were in another folder: they stamp nothing.
                file.add(stamped(experiment, results, versions()))
            callback(cell, event)
    file.write()
    return read_results(path, experiment)  # rounded as a run that continues finds them


def run_pictures(experiment: Experiment, path: Path) -> Section | None:
    """The pictures of an experiment: those beside its CSV or, if there are none yet, made and put there.

    Parameters
    ----------
    experiment : Experiment
        The experiment that was run.
    path : Path
        Its CSV; the file of the pictures has the same name but for the ending.

    Returns
    -------
    Section or None
        None where the task has no pictures.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vicinal.experiments import load_experiment, run_pictures
    >>> section = run_pictures(load_experiment("rulls-figure4"), Path("rulls-figure4.csv"))  # doctest: +SKIP
    >>> run_pictures(load_experiment("thesis-table3"), Path("thesis-table3.csv")) is None  # columns look as before
    True
    """
    beside = picture_path(path)
    if not beside.exists():
        section = experiment.task.pictures(experiment, load_sample)
        if section is None:
            return None
        write_pictures(beside, section)
    return read_pictures(beside)


def share_cores(jobs: int | None, n_cells: int) -> tuple[int, int]:
    """Cells at a time, and threads of each; -1 is all cores, as elsewhere."""
    cores = joblib.cpu_count()
    workers = min(cores if jobs is None else n_threads(jobs), max(1, n_cells))
    return workers, max(1, cores // workers)


def run_cells(
    work: Callable[[Cell], list[Result]],
    waiting: deque[Cell],
    workers: int,
    refuse: Callable[[Cell, str], list[Result]],
    before: Callable[[Cell], None] = lambda cell: None,
) -> Iterator[tuple[Cell, str, list[Result]]]:
    """Yields (cell, "started", []) and then (cell, "done" or the reason why not, results).

    `before` is called here, before the cell's process starts.
    """
    # A server without threads forks a child per cell: it starts in milliseconds and its peak memory is its own.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", f"{__package__}._preload"])
    running: dict[Connection, tuple[Cell, Any, Connection]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                cell = waiting.popleft()
                before(cell)
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
                    event, results = answer.recv()
                except EOFError:
                    child.join()
                    event, results = f"its process ended with code {child.exitcode} (out of memory?)", []
                child.join()
                yield cell, event, results or refuse(cell, event)
    finally:
        for _, child, _ in running.values():
            child.terminate()


def _child(work: Callable[[Cell], list[Result]], cell: Cell, answer: Connection, listen: Connection) -> None:
    threading.Thread(target=_end_with_parent, args=(listen,), daemon=True).start()
    try:
        results = work(cell)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        answer.send(("done", with_memory(results, peak)))
    except (ValueError, OSError, MemoryError, RuntimeError) as error:
        answer.send((str(error) or type(error).__name__, []))
    answer.close()
    os._exit(0)  # nothing is left to do, and to take the interpreter down takes longer than to fork it


def _end_with_parent(listen: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        listen.recv()
    os._exit(1)


def evaluate_cell(
    experiment: Experiment,
    cell: Cell,
    *,
    threads: int,
    load: Load | None = None,
    prepare: Callable[[Any], Any] | None = None,
) -> list[Result]:
    """What comes out of one cell, computed in this process."""
    with limited_threads(threads):
        load = load or partial(load_sample, all_rows=experiment.task.all_rows)
        work = work_of(experiment, cell, threads=threads, load=load, prepare=prepare)
        outcome = experiment.task.evaluate(work)
    return results_of(experiment, cell, outcome, threads=threads)


def run_cell(experiment: Experiment, cell: Cell, **how: Any) -> list[Result]:
    """The results of one cell as its CSV has them; `how` is what `evaluate_cell` takes."""
    return stamped(experiment, evaluate_cell(experiment, cell, **how), versions())


@lru_cache(maxsize=1)
def load_sample(name: str, all_rows: bool = False) -> Sample:
    """A data set's labelled rows, or all of them, in single precision."""
    sample = datasets.load(name)
    if not all_rows and sample.y is not None and not (sample.y >= 0).all():
        sample = sample[sample.y >= 0]
    return sample.with_X(check_table(sample.X) if is_frame(sample.X) else sample.X.astype(np.float32))


@cache
def versions() -> dict[str, str]:
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
    answers = []
    for command in (["rev-parse", "--short=10", "HEAD"], ["status", "--porcelain", "--", str(folder.parents[1])]):
        git = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, check=False)
        if git.returncode:
            return ""
        answers.append(git.stdout.strip())
    return answers[0] + "+" * bool(answers[1])

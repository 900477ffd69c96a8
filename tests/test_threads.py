"""n_jobs=1 means one thread: of the compiled part, of BLAS and of OpenMP."""

import inspect
import os
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

import vicinal
from vicinal._calls import limited_threads, n_threads, one_blas_thread

TASKS = Path("/proc/self/task")
NEXT_TO_NOTHING = 1e-3  # seconds of a thread that only wakes up
SINGLE = {"MaximumVariance", "PolynomialMap", "SubsetProductMap"}  # they have no threads at all
LOOKS = 4  # that see a thread which is there for long
FEW_CALLS = [{"part": part, "weight": 1.0} for part in ("local", "forest", "kernel")]
FAST = {
    "LocalClassifier": {"parts": FEW_CALLS},
    "LocalRegressor": {"parts": FEW_CALLS},
    "DenoisingAutoencoder": {"n_epochs": 1},
    "StackedDenoisingAutoencoder": {"n_epochs": 1},
    "DeepWalk": {"n_walks": 1},
    "LINE": {"n_samples": 10},
    "GaussianProjection": {"n_components": 100},
    "HashedProjection": {"n_components": 512},
    "RandLocal": {"n_groups": 100},
    "RULLS": {"n_iterations": 10},
    "NeuralKernel": {"n_epochs": 2},
    "NeuralReduction": {"n_epochs": 2},
    "RankBoost": {"n_rounds": 20},
    "UDFS": {"max_iter": 3},
    "NDFS": {"max_iter": 3},
    "RUFS": {"max_iter": 1},
    "RSFS": {"max_iter": 1},
    "MVFS": {"max_iter": 3},
    "MVUFS": {"max_iter": 1},
    "SNFS": {"max_iter": 3},
}
TWO_CLASSES = {"LearnedKernelFeatures", "RankBoost", "RankBoostMap"}
FEW_COLUMNS = {"HermiteMap": 15, "SubsetProductMap": 10}
METHODS = ("transform", "inverse_transform", "decision_function", "apply", "score_distances")

linux_only = pytest.mark.skipif(not TASKS.exists(), reason="threads are counted in /proc")


def estimators():
    kinds = (getattr(vicinal, name) for name in vicinal.__all__)
    return [kind for kind in kinds if inspect.isclass(kind)]


def seconds_of_tasks():
    """By the scheduler's own count, of every thread that lives."""
    seconds = {}
    for task in TASKS.iterdir():
        try:
            seconds[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            continue
    return seconds


def other_threads(work):
    """What runs beside the caller: the most threads at once that begin and end within `work`, and the seconds that
    threads spent which are there before or afterwards, like those that BLAS keeps."""
    here = threading.get_native_id()
    before, settled = seconds_of_tasks(), False
    while not settled:  # threads of pools spin for some hundredths of a second after work
        time.sleep(0.1)
        now = seconds_of_tasks()
        settled = all(now[task] - before.get(task, 0) < 1e-4 for task in now if task != here)
        before = now
    seen, ended = [], threading.Event()

    def watch():
        seen.append({threading.get_native_id()})
        while not ended.is_set():
            seen.append({int(name) for name in os.listdir(TASKS)})
            time.sleep(5e-4)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        after = seconds_of_tasks()
        ended.set()
        watcher.join()
    own = {here} | seen[0]
    lasting = (before.keys() | after.keys()) - own
    spent = sum(after[task] - before.get(task, 0) for task in lasting if task in after)
    at_once = [len(tasks - lasting - own) for tasks in seen[1:]]
    # Of calls that follow each other, a look or two may see both the thread that ends and the one that begins.
    return max((min(at_once[k : k + LOOKS]) for k in range(max(1, len(at_once) - LOOKS + 1))), default=0), spent


def always_other_threads(work, tries=4):
    """The least of several tries: threads of the tests' own machinery may be busy in one, those of BLAS are in all."""
    found = [other_threads(work)]
    while len(found) < tries and (found[-1][0] > 1 or found[-1][1] >= NEXT_TO_NOTHING):
        found.append(other_threads(work))
    return tuple(map(min, zip(*found, strict=True)))


def work_of(kind, n_jobs, X, y):
    """All that an estimator computes, as a function."""
    known = inspect.signature(kind).parameters
    options = {"random_state": 0, "n_jobs": n_jobs} | FAST.get(kind.__name__, {})
    estimator = kind(**{key: value for key, value in options.items() if key in known})
    X = X[:, : FEW_COLUMNS.get(kind.__name__, X.shape[1])]

    def work():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(X, y % 2 if kind.__name__ in TWO_CLASSES else y)
            for name in METHODS:
                if hasattr(estimator, name):
                    given = estimator.transform(X) if name == "inverse_transform" else X
                    getattr(estimator, name)(given)

    return work


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    return rng.random((900, 60)), rng.integers(0, 6, 900)


@linux_only
@pytest.mark.parametrize("kind", estimators(), ids=lambda kind: kind.__name__)
def test_one_job_is_one_thread(kind, table):
    assert ("n_jobs" in inspect.signature(kind).parameters) is (kind.__name__ not in SINGLE)
    at_once, seconds = always_other_threads(work_of(kind, 1, *table))
    assert at_once <= 1  # the compiled part works in a thread while the caller listens for Ctrl-C
    assert seconds < NEXT_TO_NOTHING


@linux_only
@pytest.mark.parametrize("kind", [vicinal.NDFS, vicinal.UDFS, vicinal.SNFS], ids=lambda kind: kind.__name__)
def test_one_job_is_one_thread_for_sparse_rows(kind, table):
    X, y = table
    at_once, seconds = always_other_threads(work_of(kind, 1, sp.csr_array(X * (X > 0.8)), y))
    assert at_once <= 1
    assert seconds < NEXT_TO_NOTHING


@linux_only
@pytest.mark.skipif(len(getattr(os, "sched_getaffinity", lambda _: [0])(0)) < 2, reason="there is one processor")
def test_more_jobs_are_seen(table):
    """What the tests above would see, if there were more threads."""
    assert max(other_threads(work_of(vicinal.RandLocal, 3, *table))[0] for _ in range(5)) == 3
    if max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1) > 1:
        assert max(other_threads(work_of(vicinal.RBFMap, 2, *table))[1] for _ in range(5)) > NEXT_TO_NOTHING


def pool_sizes():
    return {pool["prefix"]: pool["num_threads"] for pool in threadpool_info()}


def test_limits_hold_within_and_go_afterwards():
    before = pool_sizes()
    with limited_threads(1):
        assert set(pool_sizes().values()) == {1}
        assert n_threads(None) == 1
        assert n_threads(3) == 3
        with limited_threads(None):
            assert n_threads(None) == 1
    assert pool_sizes() == before
    with pytest.raises(ZeroDivisionError), limited_threads(1):
        raise ZeroDivisionError
    assert pool_sizes() == before


def test_limits_that_begin_and_end_in_any_order():
    """Of two calls in two Python threads the first one ends first: the second stays limited until it ends."""
    before = pool_sizes()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert set(blas) == {1}
    second.__exit__(None, None, None)
    assert pool_sizes() == before


def test_numbers_of_jobs_that_make_no_sense(table):
    for kind in estimators():
        if kind.__name__ not in SINGLE:
            with pytest.raises(ValueError, match="n_jobs must be a number of threads, or -1 for all cores; got 0"):
                kind(n_jobs=0).fit(*table)

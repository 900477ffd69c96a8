"""What all tests share: threads, marks, a source of random numbers, real data.

Two workers on two cores leave one thread to each, so that BLAS and OpenMP get one, as does what is called with
``n_jobs=None``. A test of threads asks for them by number. The variables count only before NumPy is imported; worker
processes inherit them.
"""

import os
import signal
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

# The same examples each time, and none that fails because a machine is busy.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

TESTS = Path(__file__).parent
# A job in the background of a shell ignores Ctrl-C, and so would the tests of it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The tests of the compiled part alone run on every instruction set anyway.
NUMERICAL = ("test_graphs.py", "test_cluster.py", "test_local_spectral.py")
NUMERICAL_FOLDERS = ("expand", "link", "local", "model", "optim", "outlier", "select")
# Those whose subject is computed by loops that are compiled once per instruction set.
NATIVE = (
    "test_alignment.py",
    "test_cdma.py",
    "test_cluster.py",
    "test_deepwalk.py",
    "test_fourier.py",
    "test_graphs.py",
    "test_hashing.py",
    "test_line.py",
    "test_local_spectral.py",
    "test_neural_kernel.py",
    "test_row_sparse.py",
    "test_snfs.py",
    "test_walks.py",
)
NATIVE_FOLDERS = ("local", "model")


def pytest_ignore_collect(collection_path, config):
    """Files without a test that has the wanted mark are not even imported."""
    belongs = {"kernels": _is_numerical, "native": _is_native}.get(config.getoption("markexpr"))
    if belongs and collection_path.name.startswith("test_") and not belongs(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items):
    """Whatever computes, doctests included, is marked `kernels`, and perhaps `native`, unless slow or portable."""
    for item in items:
        if any(item.get_closest_marker(mark) for mark in ("slow", "portable")):
            continue
        if _is_numerical(item.path):
            item.add_marker(pytest.mark.kernels)
        if _is_native(item.path):
            item.add_marker(pytest.mark.native)


def _is_numerical(path):
    return _is_of(path, NUMERICAL, NUMERICAL_FOLDERS)


def _is_native(path):
    return _is_of(path, NATIVE, NATIVE_FOLDERS)


def _is_of(path, names, folders):
    if not path.is_relative_to(TESTS):
        return True  # a doctest
    place = path.relative_to(TESTS)
    return place.name in names or place.parts[0] in folders


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def real_data():
    """Loads a data set of the folder VICINAL_DATA as (X, y, split)."""

    def load(name):
        folder = os.environ.get("VICINAL_DATA")
        if not folder:
            pytest.skip("VICINAL_DATA is not set: this test needs real data")
        path = Path(folder, "tabular", f"{name}.npz")
        if not path.exists():
            pytest.skip(f"{path.name} is not in VICINAL_DATA")
        with np.load(path) as data:
            return data["X"], data["y"], data.get("split")

    return load

"""What calls of the compiled part share: threads by number, number types, rows that are safe to read, progress."""

import threading

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import RandLocal
from vicinal._calls import as_native, current_callback, kernel_dtype, n_threads, watching


def test_threads_by_number(monkeypatch):
    cores = joblib.cpu_count()
    assert [n_threads(1), n_threads(3), n_threads(np.int64(2))] == [1, 3, 2]
    assert [n_threads(-1), n_threads(-cores), n_threads(-cores - 5)] == [cores, 1, 1]
    for limit, expected in [("1", 1), ("100000", cores), ("", cores), ("0", cores), ("many", cores)]:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert n_threads(None) == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert n_threads(3) == 3


@pytest.mark.parametrize("bad", [0, True, 1.0, "2"])
def test_what_is_no_number_of_threads(bad):
    with pytest.raises(ValueError, match="n_jobs must be a number of threads, or -1 for all cores; got"):
        n_threads(bad)


def test_single_precision_for_what_it_holds_exactly():
    single = [dtype for dtype in ("bool", "i1", "u1", "i2", "u2", "f2", "f4") if kernel_dtype(np.dtype(dtype)) == "f4"]
    double = [dtype for dtype in ("i4", "u4", "i8", "u8", "f8") if kernel_dtype(np.dtype(dtype)) == "f8"]
    assert len(single) == 7
    assert len(double) == 5


def test_sparse_rows_are_sorted_and_summed_and_the_given_ones_stay():
    messy = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    data, indices, starts, width = as_native(messy)
    assert (data.tolist(), indices.tolist(), starts.tolist(), width) == ([2.0, 5.0], [0, 2], [0, 2], 3)
    assert messy.data.tolist() == [1.0, 2.0, 4.0]
    dense = np.eye(2)
    assert as_native(dense) is dense


@pytest.mark.parametrize("index", [3, -1])
def test_indices_that_point_nowhere_are_refused(index):
    broken = sp.csr_array((np.array([1.0]), np.array([0]), np.array([0, 1])), shape=(1, 3))
    broken.indices[0] = index
    with pytest.raises(ValueError, match=r"index|indices"):
        as_native(broken)


def test_indices_and_starts_have_one_type():
    rows = sp.csr_array(np.eye(3))
    rows.indptr = rows.indptr.astype(np.int64)
    _, indices, starts, _ = as_native(rows)
    assert indices.dtype == starts.dtype


def test_progress_goes_to_who_watches_and_to_nobody_else(rng):
    X = rng.standard_normal((2000, 5))
    model = RandLocal(50, random_state=0).fit(X)
    shares = []
    with watching(shares.append):
        model.transform(X)
        inner = []
        with watching(inner.append):
            model.transform(X)
        assert current_callback() == shares.append
    assert current_callback() is None
    model.transform(X)
    for found in (shares, inner):  # quick work may end before it is asked how far it is
        assert found == sorted(found)
        assert all(0 <= share <= 1 for share in found)


def test_each_thread_is_watched_by_itself():
    seen = []
    with watching(print):
        thread = threading.Thread(target=lambda: seen.append(current_callback()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_an_error_ends_watching():
    with pytest.raises(KeyError), watching(print):
        raise KeyError
    assert current_callback() is None

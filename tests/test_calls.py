"""What calls of the compiled part share."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from vicinal._calls import as_native, current_callback, kernel_dtype, n_threads, watching


def test_callbacks_are_nested_and_forgotten():
    assert current_callback() is None
    with watching(print):
        with watching(len):
            assert current_callback() is len
        assert current_callback() is print

    def fail():
        with watching(print):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert current_callback() is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [("f4", "f4"), ("i2", "f4"), ("u1", "f4"), ("?", "f4"), ("i4", "f8"), ("i8", "f8"), ("f8", "f8")],
)
def test_numbers_are_computed_with_in_a_type_that_holds_them(given, kept):
    assert kernel_dtype(np.dtype(given)) == np.dtype(kept)


def test_threads(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [n_threads(jobs) for jobs in (None, 1, 20, -1, -2, -50)] == [8, 1, 20, 8, 7, 1]
    for limit, threads in (("3", 3), ("30", 8), ("0", 8), ("2,1", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
        assert n_threads(None) == threads
        assert n_threads(5) == 5
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match=r"n_jobs must be a number of threads, or -1 for all cores; got "):
            n_threads(wrong)


def test_rows_for_the_kernel():
    X = np.eye(2)
    assert as_native(X) is X
    doubled = sp.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    data, indices, indptr, width = as_native(doubled)
    assert (data.tolist(), indices.tolist(), indptr.tolist(), width) == ([3.0], [1], [0, 1], 3)
    assert doubled.nnz == 2  # the caller's matrix stays as it is
    doubled.indices[0] = 7
    with pytest.raises(ValueError, match="indices"):
        as_native(doubled)

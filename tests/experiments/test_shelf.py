"""The shelf: what is taken equals what was put, in this process and in others."""

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.datasets import Sample
from vicinal.experiments._shelf import Shelf


@pytest.fixture
def shelf():
    with Shelf() as made:
        yield made


def check_same(taken, given):
    for name in ("y", "split"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(given, name))
    assert (taken.names, taken.classes, taken.views) == (given.names, given.classes, given.views)
    assert type(taken.X) is type(given.X) or isinstance(taken.X, np.memmap)


@pytest.mark.parametrize("size", [3, 2000])
def test_dense_rows(shelf, rng, size):
    given = Sample(
        rng.normal(size=(size, 40)).astype(np.float32), np.arange(size) % 3, names=tuple(map(str, range(40)))
    )
    shelf.put("dense", given)
    taken = shelf.take("dense")
    np.testing.assert_array_equal(taken.X, given.X)
    assert taken.X.dtype == np.float32
    check_same(taken, given)
    # A large array is mapped, not read.
    assert size < 100 or isinstance(taken.X, np.memmap)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows_and_links(shelf, rng, kind):
    X = kind(sp.random(300, 50, 0.2, random_state=0, format="csr"))
    links = kind(sp.random(300, 300, 0.05, random_state=1, format="csr"))
    given = Sample(X, np.arange(300), adjacency=links, views={"all": slice(0, 50)}, split=np.zeros(300))
    shelf.put("sparse", given)
    taken = shelf.take("sparse")
    assert (taken.X != X).nnz == (taken.adjacency != links).nnz == 0
    check_same(taken, given)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames(shelf, package):
    frames = pytest.importorskip(package)
    given = Sample(frames.DataFrame({"size": [1.5, 2.5, None], "colour": ["red", "blue", "red"]}), np.arange(3))
    shelf.put("frame", given)
    taken = shelf.take("frame")
    assert taken.X.equals(given.X)
    check_same(taken, given)


def test_names_with_slashes_and_what_is_not_there(shelf):
    assert "a/table.csv" not in shelf
    shelf.put("a/table.csv", Sample(np.eye(2)))
    assert "a/table.csv" in shelf
    assert shelf.take("a/table.csv").X.tolist() == [[1, 0], [0, 1]]


def test_it_is_gone_with_its_maker_and_not_with_a_copy(rng):
    import pickle

    with Shelf() as shelf:
        shelf.put("rows", Sample(rng.normal(size=(5, 2))))
        copy = pickle.loads(pickle.dumps(shelf))
        path = copy.path
        del copy
        assert "rows" in shelf
    assert not path.exists()


def test_no_room_is_said_in_one_sentence(tmp_path):
    """A limit of the size of files stands in for a full disk."""
    script = """
import numpy as np
from vicinal.datasets import Sample
from vicinal.experiments._shelf import Shelf
with Shelf() as shelf:
    try:
        shelf.put("rows", Sample(np.ones((1000, 1000))))
    except OSError as error:
        print(error)
    print(len(list(shelf.path.iterdir())))
"""
    command = ["bash", "-c", 'trap "" XFSZ; ulimit -f 100; exec "$@"', "bash", sys.executable, "-c", script]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
    assert told[0].startswith(f"rows could not be written to {tmp_path}/vicinal-")
    assert told[0].endswith("make room there, or name another folder by the environment variable TMPDIR.")
    assert len(told) == 2

"""Samples: rows of every field, subgraphs that rows induce, frames, and fields that do not fit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from vicinal.datasets import Sample


class Side:
    """Side information that is indexed by rows, as a network is that gives its own subgraph."""

    def __init__(self, rows):
        self.rows = np.asarray(rows)
        self.shape = (len(self.rows), len(self.rows))

    def __getitem__(self, rows):
        return Side(self.rows[rows])


@pytest.fixture
def whole(rng):
    links = sp.random(6, 6, 0.5, random_state=0, format="csr")
    return Sample(
        rng.normal(size=(6, 4)),
        np.array([0, 1, 2, 0, 1, 2]),
        adjacency=sp.csr_array(links + links.T),
        views={"first": slice(0, 1), "second": slice(1, 4)},
        side=Side(np.arange(6)),
        names=("a", "b", "c", "d"),
        classes=("x", "y", "z"),
        split=np.array([0, 0, 1, 1, 2, 2]),
        about=Bunch(name="made"),
    )


@pytest.mark.parametrize(
    ("rows", "index"),
    [
        ([4, 0, 2], [4, 0, 2]),
        (np.array([False, True, False, True, True, False]), [1, 3, 4]),
        (np.array([5, 5, 1]), [5, 5, 1]),
        ([], []),
    ],
    ids=["numbers", "truths", "repeated", "none"],
)
def test_rows_of_every_field(whole, rows, index):
    index = np.array(index, dtype=int)
    part = whole[np.asarray(rows, dtype=None if len(rows) else int)]
    assert len(part) == len(index)
    np.testing.assert_array_equal(part.X, whole.X[index])
    np.testing.assert_array_equal(part.y, whole.y[index])
    np.testing.assert_array_equal(part.split, whole.split[index])
    np.testing.assert_array_equal(part.side.rows, index)
    np.testing.assert_array_equal(part.adjacency.toarray(), whole.adjacency.toarray()[np.ix_(index, index)])
    for same in ("views", "names", "classes", "about"):
        assert getattr(part, same) is getattr(whole, same)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows_and_links_keep_their_type(kind, rng):
    X = kind(sp.random(8, 5, 0.4, random_state=0, format="csr"))
    part = Sample(X, adjacency=kind(np.ones((8, 8))))[[1, 6]]
    assert isinstance(part.X, kind)
    assert isinstance(part.adjacency, kind)
    assert part.adjacency.shape == (2, 2)
    np.testing.assert_array_equal(part.X.toarray(), X.toarray()[[1, 6]])


def test_a_network_gives_its_subgraph_itself():
    part = Sample(np.eye(5), adjacency=Side(np.arange(5)))[[3, 1]]
    assert part.adjacency.rows.tolist() == [3, 1]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames(package):
    frames = pytest.importorskip(package)
    frame = frames.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "green"]})
    part = Sample(frame, np.arange(3))[[2, 0]]
    assert isinstance(part.X, frames.DataFrame)
    assert list(part.X["colour"]) == ["green", "red"]
    assert part.y.tolist() == [2, 0]


def test_other_columns_have_no_names_unless_they_are_as_many(whole):
    same, fewer = whole.with_X(whole.X * 2), whole.with_X(whole.X[:, :3])
    assert (same.names, same.views) == (whole.names, whole.views)
    assert (fewer.names, fewer.views) == (None, None)
    assert fewer.adjacency is whole.adjacency


def test_what_there_is_beside_rows_and_labels(whole):
    assert list(whole.extra_inputs) == ["adjacency", "side"]
    assert Sample(np.eye(2)).extra_inputs == {}
    assert (whole.n_classes, Sample(np.eye(2)).n_classes) == (3, 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"y": np.arange(2)}, "y has 2 values for 3 rows of X; give one for each row"),
        ({"split": np.arange(4)}, "split has 4 values for 3 rows of X"),
        ({"adjacency": sp.csr_array(np.eye(2))}, "The adjacency is 2 x 2 for 3 rows of X"),
        ({"adjacency": sp.csr_array(np.ones((3, 2)))}, "The adjacency is 3 x 2 for 3 rows of X"),
        ({"side": Side(np.arange(2))}, "side is about 2 rows, and X has 3; it needs each row of X once"),
        ({"names": ("a",)}, "There are 1 names for 3 columns of X"),
    ],
    ids=["y", "split", "other rows", "not square", "side", "names"],
)
def test_fields_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Sample(np.eye(3), **fields)


def test_rows_with_a_label():
    assert list(Sample(np.eye(3), np.array([0, -1, 1])).labelled) == [0, 2]
    assert Sample(np.eye(3), np.array([0, -1, 1])).n_classes == 2
    assert list(Sample(np.eye(3), np.array(["a", "-1", "b"])).labelled) == [0, 1, 2]  # words are all labels
    assert list(Sample(np.eye(3)).labelled) == []

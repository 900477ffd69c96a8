"""Relations that NPZ files hold: their names and directions, and what is refused."""

import numpy as np
import pytest

from vicinal._side_arrays import holds_relations, read_side

COUNTS = {"n_paper": np.array(3), "n_author": np.array(2), "target": np.array("paper")}


def written(path, **arrays):
    np.savez(path / "web.npz", X=np.eye(3), **arrays)
    return path / "web.npz"


def test_relations_have_names_and_directions(tmp_path):
    relations = {
        "rel_paper_author": np.array([[0, 1], [2, 0], [2, 0]]),
        "rel_paper_paper": np.array([[0, 1], [1, 2]]),  # without a direction
        "rel_paper_paper_cites": np.array([[1, 0], [1, 2]]),
    }
    network = read_side(written(tmp_path, **COUNTS, **relations))
    links = {"-".join(key): matrix.toarray().tolist() for key, matrix in network.relations.items()}
    assert links == {
        "paper-to-author": [[0, 1], [0, 0], [1, 0]],
        "paper-to-paper": [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
        "paper-cites-paper": [[0, 0, 0], [1, 0, 1], [0, 0, 0]],
    }
    assert network.target == "paper"


def test_which_files_hold_relations(tmp_path):
    assert holds_relations(written(tmp_path, rel_a_b=np.zeros((0, 2), int)))
    assert not holds_relations(written(tmp_path))
    assert not holds_relations(tmp_path / "table.csv")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({}, "web.npz lacks relations, arrays rel_SOURCE_TARGET, so that it holds no side information; name a TOML"),
        (
            {"n_a": np.array(1), "rel_a_a": np.zeros((1, 2), int)},
            "web.npz lacks an array 'target', so that it holds no side information",
        ),
        ({**COUNTS, "rel_paper_venue": np.zeros((1, 2), int)}, "'rel_paper_venue' must name two of its types of nodes"),
        (
            {**COUNTS, "rel_paper_author": np.array([[0, 2]])},
            "'rel_paper_author' has numbers outside of its 3 x 2 nodes",
        ),
    ],
)
def test_what_is_refused(tmp_path, arrays, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_side(written(tmp_path, **arrays))

"""Pictures beside a CSV: what is read is what was written."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from vicinal import RandLocal
from vicinal.experiments import feature_image, voronoi_cells
from vicinal.experiments._picture_file import picture_path, read_pictures, write_pictures
from vicinal.report import FeatureImages, Page, Section, render


@pytest.fixture
def section():
    X, y = load_iris(return_X_y=True)
    image = feature_image(RandLocal(10, random_state=0).fit_transform(X), y, title="RandLocal, “quoted” – ½")
    cells = voronoi_cells(X, y, n_anchors=(4, 16))
    return Section("What it looks like", "A text.", (image, FeatureImages("Both", (image, image), "Twice."), cells))


def check_same(read, written):
    assert type(read) is type(written)
    for name, value in vars(written).items():
        found = getattr(read, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found, value)
            assert found.dtype == value.dtype
        elif isinstance(value, tuple) and value and hasattr(value[0], "__dataclass_fields__"):
            for one, other in zip(found, value, strict=True):
                check_same(one, other)
        else:
            assert found == value


def test_what_is_read_is_what_was_written(section, tmp_path):
    path = picture_path(tmp_path / "some.csv")
    write_pictures(path, section)
    assert [file.name for file in tmp_path.iterdir()] == ["some.pictures.npz"]
    read = read_pictures(path)
    check_same(read, section)
    assert render(Page("t", sections=(read,))) == render(Page("t", sections=(section,)))


def test_written_anew(section, tmp_path):
    path = tmp_path / "some.pictures.npz"
    write_pictures(path, section)
    write_pictures(path, Section("Empty"))
    assert read_pictures(path) == Section("Empty")

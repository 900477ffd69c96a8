import numpy as np
import pytest

from vicinal.learned._labels import partial_labels


def test_minus_one_marks_rows_without_a_label():
    labels = partial_labels([3, -1, 1, 3, -1], "It")
    assert labels.labelled.tolist() == [0, 2, 3]
    assert labels.unlabelled.tolist() == [1, 4]
    assert labels.classes[labels.places].tolist() == [3, 1, 3]


def test_names_are_all_labels():
    assert partial_labels(np.array(["-1", "b"], dtype=object), "It").classes.tolist() == ["-1", "b"]


@pytest.mark.parametrize(
    ("y", "binary", "message"),
    [
        ([-1, -1], False, "all rows are unlabelled"),
        ([2, 2], False, "one class only"),
        ([-1, 1, 1, -1], False, "-1 marks rows without a label"),
        ([0, 1, 2], True, "takes two classes, and y has 3"),
        ([0.5, 1.5], False, "Unknown label type"),
    ],
)
def test_what_is_refused(y, binary, message):
    with pytest.raises(ValueError, match=message):
        partial_labels(y, "It", binary=binary)

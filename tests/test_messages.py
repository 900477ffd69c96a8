"""Warnings point at the line that called the package."""

from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

import vicinal
from vicinal import NDFS, SNFS


def test_warnings_point_at_the_caller_however_deep_they_come_from(rng):
    X = rng.normal(size=(30, 6))
    with pytest.warns(
        ConvergenceWarning, match="^NDFS did not converge in 1 reweightings; raise max_iter or tol.$"
    ) as caught:
        NDFS(n_clusters=2, max_iter=1, random_state=0).fit(X)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(UserWarning, match="leaves no column") as caught:
        SNFS(penalty=1e3).fit_transform(X)
    assert not Path(caught[0].filename).is_relative_to(Path(vicinal.__file__).parent)

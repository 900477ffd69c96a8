import os
from pathlib import Path

import numpy as np
import pytest


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

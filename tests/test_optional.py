"""Parts that need no optional package work without any, and the others say what to install."""

import subprocess
import sys
import textwrap

import pytest

from vicinal._optional import need

WITHOUT = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("cyclopts", "jinja2", "markupsafe", "matplotlib", "polars", "rich", "skops"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
"""


def run_without(code):
    script = WITHOUT + textwrap.dedent(code)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_experiments_on_arrays_and_pandas_frames():
    shown = run_without(
        """
        import numpy as np
        import pandas as pd
        from sklearn.datasets import load_iris
        from vicinal.experiments import compare, load_experiment

        X, y = load_iris(return_X_y=True)
        frame = pd.DataFrame(X).assign(colour=np.array(["red", "green"])[np.arange(150) % 2])
        for table in (X, frame):
            (figure,) = compare(table, y, methods=("raw",), splits=2)
            assert 0.9 < figure.mean <= 1, figure
        print(load_experiment("randlocal-table3").name)
        """
    )
    assert shown == "randlocal-table3"


def test_files_that_need_a_package_say_so(tmp_path):
    (tmp_path / "x.csv").write_text("a\\n1\\n")
    shown = run_without(
        f"""
        from pathlib import Path
        import numpy as np
        from vicinal import RandLocal, _files, _models

        folder = Path({str(tmp_path)!r})
        np.save(folder / "x.npy", np.eye(3))
        assert _files.read_table(folder / "x.npy").X.shape == (3, 3)
        calls = (
            lambda: _files.read_table(folder / "x.csv"),
            lambda: _models.save_model(folder / "m.skops", RandLocal(), force=False),
            lambda: _files.write_columns(
                folder / "o.csv", _files.read_table(folder / "x.npy"), np.array([True, False, True]), force=False
            ),
        )
        for call in calls:
            try:
                call()
            except ModuleNotFoundError as error:
                print(error.name, error)
        """
    )
    says = "and it is not installed: pip install 'vicinal[cli]'"
    assert shown.splitlines() == [
        f"polars polars is needed to read tables, {says}",
        f"skops skops is needed to save models, {says}",
        f"polars polars is needed to write tables, {says}",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv", "x.npy"]


def test_explanations_need_no_package_but_for_tables_and_pictures():
    shown = run_without(
        """
        import sys
        import numpy as np
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from vicinal import RandLocal
        from vicinal.explain import explain, plot_explanation

        rows = np.random.default_rng(0).uniform(size=(40, 3))
        explanation = explain(make_pipeline(RandLocal(5, random_state=0), Ridge()).fit(rows, rows[:, 0]), rows[:1])
        assert str(explanation).startswith("Row 0: predicted value")
        sys.modules["pandas"] = None
        for call in (lambda: explanation.anchors, lambda: plot_explanation(explanation)):
            try:
                call()
            except ModuleNotFoundError as error:
                print(error)
        """
    )
    assert shown.splitlines() == [
        "pandas is needed to make tables of explanations, and it is not installed: pip install 'pandas'",
        "matplotlib is needed to draw explanations, and it is not installed: pip install 'vicinal[plot]'",
    ]


def test_what_a_package_itself_lacks_is_not_blamed_on_it(tmp_path, monkeypatch):
    (tmp_path / "needy.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_package'"):
        need("needy", "for this test")
    with pytest.raises(ModuleNotFoundError, match=r"^no_such_one is needed for this test, and it is not installed"):
        need("no_such_one.part", "for this test")

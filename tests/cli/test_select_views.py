"""The command `vicinal select --views`: columns of each view, what each contributes, one sentence for what fails."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import vicinal

PLANTED = ["w_0", "w_1", "w_2", "w_3", "w_4", "w_5", "t_0", "t_1", "t_2"]


@pytest.fixture(scope="module")
def columns():
    """Two views that know three topics by their first columns, and the topics."""
    rng = np.random.default_rng(0)
    topic = np.arange(120) % 3
    made = {f"w_{j}": rng.poisson(0.5 + 6 * (j < 6) * (topic == j % 3)) for j in range(20)}
    made |= {f"t_{j}": rng.poisson(0.5 + 8 * (j < 3) * (topic == j % 3)) for j in range(12)}
    return {**made, "topic": topic}


@pytest.fixture
def posts(tmp_path, columns):
    pl.DataFrame(columns).write_csv(tmp_path / "posts.csv")
    return tmp_path / "posts.csv"


@pytest.fixture
def views_file(tmp_path, columns):
    """The same as data sets have it: a matrix for each view."""
    arrays = {"view_names": np.array(["text", "tags"]), "y": columns["topic"]}
    for place, start in enumerate(("w_", "t_"), start=1):
        X = sp.csr_array(np.column_stack([v for name, v in columns.items() if name.startswith(start)]).astype(float))
        arrays |= {f"view{place}_{part}": getattr(X, part) for part in ("data", "indices", "indptr")}
        arrays[f"view{place}_shape"] = np.array(X.shape)
    np.savez(tmp_path / "views.npz", **arrays)
    return tmp_path / "views.npz"


def refused(*arguments):
    run = vicinal("select", *arguments, check=False)
    assert run.returncode == 1
    return " ".join(run.stderr.split())


@pytest.mark.parametrize("method", ["cdma", "mvfs", "mvufs", "laplacian-score"])
def test_planted_columns_of_each_view_are_kept(posts, tmp_path, method):
    chosen = tmp_path / "chosen.csv"
    views = ("--views", "text:w_*,tags:t_*", "-k", "text=6,tags=3")
    clusters = ("--clusters", "3") if method in ("mvfs", "mvufs") else ()
    run = vicinal("select", posts, "--target", "topic", "-m", method, *views, *clusters, "-o", chosen)
    assert pl.read_csv(chosen).columns == [*PLANTED, "topic"]
    assert "What each view contributes" in run.stdout
    assert ("edges shared" in run.stdout) == (method == "cdma")
    assert max(map(len, run.stdout.splitlines())) <= max(80, len(str(chosen)) + 80)
    assert "9 of 32 columns kept" in run.stdout


def test_views_by_number_are_the_same_as_by_name(posts, tmp_path):
    for name, views in (("names", "text:w_*,tags:t_*"), ("numbers", "text:0-19,tags:20-")):
        common = ("select", posts, "--target", "topic", "-m", "laplacian-score", "-k", "3")
        vicinal(*common, "--views", views, "-o", tmp_path / f"{name}.csv")
    assert pl.read_csv(tmp_path / "names.csv").equals(pl.read_csv(tmp_path / "numbers.csv"))


def test_one_number_is_that_of_each_view(posts):
    run = vicinal("select", posts, "--target", "topic", "-m", "mvfs", "--views", "text:w_*,tags:t_*", "-k", "4")
    assert "8 of 32 columns kept" in run.stdout


def test_the_report_has_every_view(posts, tmp_path):
    report = tmp_path / "report.html"
    vicinal("select", posts, "--target", "topic", "-m", "cdma", "--views", "text:w_*,tags:t_*", "--plot", report)
    text = report.read_text(encoding="utf-8")
    for words in ("What each view contributes", "text: scores", "tags: scores", "edges shared", "w_0"):
        assert words in text


def test_views_of_a_file(views_file):
    by_itself = vicinal("select", views_file, "-m", "mvfs", "-k", "3")
    asked = vicinal("select", views_file, "-m", "laplacian-score", "--views", "auto", "-k", "3")
    together = vicinal("select", views_file, "-m", "laplacian-score", "-k", "3")
    assert "6 of 32 columns kept" in by_itself.stdout
    assert "6 of 32 columns kept" in asked.stdout
    assert "3 of 32 columns kept" in together.stdout
    dropped = vicinal("select", views_file, "-m", "mvfs", "-k", "3", "--drop", "0", "--drop", "31")
    assert "6 of 30 columns kept" in dropped.stdout


def test_a_method_of_views_says_that_there_are_none(posts):
    run = vicinal("select", posts, "--target", "topic", "-m", "cdma", "-k", "9")
    assert "all columns are one view. See --views." in " ".join(run.stderr.split())
    assert "9 of 32 columns kept" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--views", "text:v_*,tags:t_*"), "The view 'text' has no column: none is named like 'v_*'; known are w_0"),
        (("--views", "text:w_*,tags:tt_1"), "none is named like 'tt_1'; did you mean 't_1'"),
        (("--views", "text:w_*,tags:*_1"), "has the column 'w_1' in the views 'text' and 'tags'; give each to one"),
        (("--views", "text:w_*,text:w_1"), "has the column 'w_1' in 'text' twice; give each to one view."),
        (("--views", "text:w_*"), "Columns 't_0', 't_1', 't_2' and 9 more are in no view of --views; give them to one"),
        (("--views", "a:0-30"), "Column 't_11' is in no view of --views; give it to one, or leave it out with --drop."),
        (("--views", "a:0-9,b:10-99"), "has the columns 10-99, but the columns are numbered from 0 to 31."),
        (("--views", "text"), "--views must be a list of name:pattern or name:first-last"),
        (("--views", "auto"), "The file has no views of its own for --views auto"),
        (("--views", "text:w_*,tags:t_*", "-k", "15"), "The view 'tags' of posts.csv has 12 columns to choose from"),
        (("--views", "text:w_*,tags:t_*", "-k", "text=2,tag=3"), "the view 'tag', which there is not; did you mean"),
        (("--views", "text:w_*,tags:t_*", "-k", "text=2"), "-k says nothing about the view 'tags'; give a number for"),
        (("--views", "text:w_*,tags:t_*", "-k", "text=2,text=3"), "-k names a view twice; give one number for each."),
        (("-k", "text=2,tags=3"), "-k names the views 'text', 'tags'; say with --views what these are."),
        (("--views", "text:w_*,tags:t_*", "--plot", "curve.svg"), "write an .html file rather than curve.svg."),
    ],
)
def test_what_is_refused(posts, arguments, words):
    assert words in refused(posts, "--target", "topic", "-m", "laplacian-score", *arguments)

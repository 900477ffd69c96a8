"""`vicinal select --links`: columns of rows that a network links."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import vicinal

from vicinal import MMPOP
from vicinal.metrics import link_auc
from vicinal.network import Network


@pytest.fixture
def linked(tmp_path):
    """Words of 200 texts, links between texts that share some of the first four, and both as files."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 60)) < 0.15).astype(float)
    A = np.triu(rng.random((200, 200)) < 0.25 * (X[:, :4] @ X[:, :4].T), 1)
    network = Network((A | A.T).astype(float))
    sp.save_npz(tmp_path / "words.npz", sp.csr_matrix(X))
    pl.DataFrame(network.links(), schema=["source", "target"]).write_csv(tmp_path / "links.csv")
    names = [f"text {row}" for row in range(200)]
    frame = pl.DataFrame(X, schema=[f"w{column}" for column in range(60)])
    frame.insert_column(0, pl.Series("title", names)).write_csv(tmp_path / "words.csv")
    ends = np.array(names)[network.links()]
    pl.DataFrame(ends, schema=["a", "b"]).write_csv(tmp_path / "titles.csv")
    return tmp_path, X, network


@pytest.mark.parametrize("method", ["spop", "ppop", "mmpop"])
def test_planted_words_are_found(linked, method):
    folder = linked[0]
    arguments = ("--links", folder / "links.csv", "-m", method, "-k", "4", "--top", "4")
    run = vicinal("select", folder / "words.npz", *arguments)
    assert sorted(re.findall(r"│ +\d │ (\d+) +│", run.stdout)) == ["0", "1", "2", "3"]
    assert "links; " in run.stderr
    assert all(len(line) <= 80 for line in (run.stdout + run.stderr).splitlines())


def test_the_link_auc_that_is_kept(linked):
    folder, X, network = linked
    plot = folder / "scores.html"
    arguments = ("--links", folder / "links.csv", "-m", "mmpop", "-k", "4", "--seed", "1", "--plot", plot)
    run = vicinal("select", folder / "words.npz", *arguments)
    shares = {name: float(share) for name, share in re.findall(r"│ +(\S+) │ +(\d\.\d+) │\n", run.stdout)}
    order = np.argsort(MMPOP("all", random_state=1).fit(X, adjacency=network).ranking_)
    for name, count in (("4", 4), ("10", 10), ("50", 50), ("all", 60)):
        assert shares[name] == pytest.approx(link_auc(X[:, order[:count]], network), abs=0.02)
    assert shares["4"] > shares["all"] + 0.1
    assert re.search(rf"Link AUC {shares['4']:.3f} with 4, .* with all", plot.read_text("utf-8").replace("</text>", ""))


def test_rows_named_by_a_column(linked):
    folder, _, _ = linked
    arguments = (
        "--links",
        folder / "titles.csv",
        "--nodes",
        "title",
        "-m",
        "spop",
        "-k",
        "4",
        "-o",
        folder / "out.csv",
    )
    vicinal("select", folder / "words.csv", *arguments)
    assert pl.read_csv(folder / "out.csv").columns == ["w0", "w1", "w2", "w3"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--links", "links.csv", "-m", "snfs"),
            "does not look at links; take one of lufs, gfs, spop, ppop, mmpop",
        ),
        (("--links", "nowhere.csv", "-m", "spop", "-k", "3"), "There is no file"),
        (("--nodes", "title", "-m", "spop", "-k", "3"), "--nodes names the rows for --links"),
        (("--links", "titles.csv", "-m", "spop", "-k", "3"), "not among the 200 known ones: 'text 0' (line 2)"),
        (("--links", "links.csv", "-m", "spop", "-k", "3", "--nodes", "name"), "no column 'name'"),
    ],
)
def test_what_cannot_be_done(linked, monkeypatch, arguments, sentence):
    folder, _, _ = linked
    monkeypatch.chdir(folder)
    run = vicinal("select", "words.npz", *arguments, check=False)
    assert run.returncode == 1
    assert sentence in " ".join(run.stderr.split())


def test_without_a_number_half_of_the_columns_are_kept(linked):
    run = vicinal("select", linked[0] / "words.npz", "--links", linked[0] / "links.csv", "--method", "mmpop")
    assert "Half of the columns are kept; say with -k how many you want." in " ".join(run.stderr.split())
    assert "30 of 60 columns kept" in run.stdout


def test_without_links_nearest_rows_stand_in(linked):
    run = vicinal("select", linked[0] / "words.npz", "-m", "spop", "-k", "3")
    assert "nearest rows stand in for them" in " ".join(run.stderr.split())


def test_self_loops_are_left_out(linked):
    folder, _, _ = linked
    (folder / "links.csv").write_text((folder / "links.csv").read_text() + "5,5\n")
    vicinal("select", folder / "words.npz", "--links", folder / "links.csv", "-m", "spop", "-k", "3")

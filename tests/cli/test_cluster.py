"""`vicinal cluster`: which rows of a file belong together, and what tells them apart."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import refused, vicinal

from vicinal.cli import _scored_rows

QUICK = ("--groups", 30)


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Three groups of people: the young in Ulm, the old in Bonn, and fewer of middle age who are tall."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], [60, 50, 30])
    frame = pl.DataFrame(
        {
            "age": np.array([20, 70, 45])[group] + rng.normal(size=140),
            "height": np.array([165, 165, 195])[group] + rng.normal(size=140),
            "town": np.where(group == 0, "Ulm", np.where(group == 1, "Bonn", "Trier")),
            "id": np.arange(140),
            "group": group,
        }
    )
    frame.write_csv("people.csv")
    X = frame.select("age", "height").to_numpy()
    np.savez("people.npz", X=X, columns=np.array(["age", "height"]), y=group)
    sp.save_npz("sparse.npz", sp.csr_matrix(np.eye(3)[group]))
    np.save("same.npy", np.ones((5, 2)))
    return group


CSV = ("cluster", "people.csv", "--target", "group", "--drop", "id", *QUICK)


def test_rows_are_written_with_their_clusters(people):
    run = vicinal(*CSV, "-o", "out.csv")
    found = pl.read_csv("out.csv")
    assert found.columns == ["age", "height", "town", "id", "group", "cluster"]
    assert found["cluster"].to_list() == (people + 1).tolist()  # the largest is 1
    told = " ".join(run.stdout.split())
    assert "spectrum, of up to 20 clusters, suggests 3" in told
    assert "140 rows in 3 clusters" in told
    assert "out.csv" in told
    assert "2 numeric columns standardised, 1 categorical column one-hot encoded" in " ".join(run.stderr.split())
    assert max(map(len, (run.stdout + run.stderr).splitlines())) <= 80


def test_what_tells_clusters_apart_is_said(people):
    out = vicinal(*CSV, "-k", 3).stdout
    rows = re.findall(r"│ +(\d+) │ +(\d+) │ +([\d.]+ %) │", out)
    assert rows == [("1", "60", "42.9 %"), ("2", "50", "35.7 %"), ("3", "30", "21.4 %")]
    assert "town = Ulm 100 % (others 0 %)" in out
    assert re.search(r"height 19[45]\.\d (.*)others 16[45]", out.replace("\n", " "))
    assert "suggests" not in out


def test_as_many_as_asked_for(people):
    vicinal(*CSV, "-k", 5, "-o", "out.tsv")
    assert pl.read_csv("out.tsv", separator="\t")["cluster"].n_unique() == 5


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_arrays_keep_their_columns_and_their_target(people, ending):
    vicinal("cluster", "people.npz", *QUICK, "-k", 3, "-o", f"out.{ending}")
    found = pl.read_csv("out.csv") if ending == "csv" else pl.read_parquet("out.parquet")
    assert found.columns == ["age", "height", "y", "cluster"]
    assert (found["cluster"].to_numpy() == people + 1).all()


def test_of_very_many_columns_only_the_clusters_are_written(people, monkeypatch):
    monkeypatch.setattr(_scored_rows, "MOST_COLUMNS", 2)
    run = vicinal("cluster", "sparse.npz", *QUICK, "-k", 3, "-o", "out.csv")
    assert pl.read_csv("out.csv").columns == ["row", "cluster"]
    assert "without their 3 columns" in " ".join(run.stderr.split())


def test_a_column_of_that_name_stays(people):
    frame = pl.read_csv("people.csv").rename({"town": "cluster"})
    frame.write_csv("named.csv")
    vicinal("cluster", "named.csv", *QUICK, "-k", 3, "--drop", "id", "--target", "group", "-o", "out.csv")
    assert pl.read_csv("out.csv").columns[-1] == "cluster_"


def test_the_report(people):
    vicinal(*CSV, "--report", "out.html")
    page = Path("out.html").read_text(encoding="utf-8")
    for words in (
        "people.csv: which rows belong together",
        "140 rows in 3 clusters of 30 to 60 rows.",
        "town = Ulm 100 % (others 0 %)",
        "The rows nearest to the center of each cluster",
        "singular value",
        "vicinal cluster people.csv",
    ):
        assert words in page
    prototypes = page.partition("The most typical rows")[2].partition("</table>")[0]
    rows = [
        [re.sub("<.*?>", "", cell).strip() for cell in re.findall("<t[dh].*?</t[dh]>", row, re.S)]
        for row in re.findall("<tr.*?</tr>", prototypes, re.S)[1:]
    ]
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] * 3 + ["3"] * 3
    assert all(people[int(row[1])] == int(row[0]) - 1 for row in rows)
    frame = pl.read_csv("people.csv")
    assert {frame["town"][int(row[1])] in row for row in rows} == {True}


def test_same_seed_same_clusters_on_any_number_of_threads(people):
    for name, jobs in (("one.csv", 1), ("two.csv", 2)):
        vicinal(*CSV, "-k", 4, "--jobs", jobs, "-o", name)
    assert Path("one.csv").read_text() == Path("two.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("people.csv", "-k", 1), "-k must be a whole number of at least 2; got 1."),
        (("people.csv", "--max-clusters", 1), "--max-clusters must be a whole number of at least 2"),
        (("people.csv", "--groups", 0), "--groups must be a whole number of at least 1"),
        (("people.csv", "--jobs", 0), "--jobs must be a number of at least 1"),
        (("people.csv", "-o", "out.npz"), "Rows are written as .csv, .tsv, .parquet; out.npz ends in '.npz'."),
        (("people.csv", "-o", "people.csv"), "people.csv exists; write elsewhere or add --force."),
        (("people.csv", "--report", "nowhere/out.html"), "There is no folder nowhere"),
        (("people.csv", "--drop", "hight"), "has no column 'hight'"),
        (("people.txt",), "There is no file people.txt."),
        (("same.npy",), "All 5 rows are equal, so that there are no clusters to tell apart."),
        (("sparse.npz", "-k", 4), "n_clusters is 4, but only 3 of the 140 rows are different"),
    ],
)
def test_refused_in_one_sentence(people, arguments, sentence):
    assert sentence in refused("cluster", *arguments)

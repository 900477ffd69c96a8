"""The command `vicinal select`: the chosen columns of real files, and one clear sentence for what cannot be done."""

import re
import xml.etree.ElementTree as ET
from functools import partial
from typing import get_args

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import shell
from shell import vicinal
from sklearn.datasets import dump_svmlight_file

from vicinal._files import read_table
from vicinal._preparation import SCALES
from vicinal.cli._score_tables import BRAILLE, CHART_HEIGHT, score_chart
from vicinal.cli.select import Scale
from vicinal.select import SELECTORS

N_ROWS, PLANTED = 120, ["height", "width [cm]", "depth"]
QUICK = ("-m", "maximum-variance")


def planted_frame():
    """Three columns that know three groups, ten of noise in other units, and the groups."""
    rng = np.random.default_rng(0)
    groups = np.arange(N_ROWS) % 3
    columns = {f"noise {j}": 10.0**j * rng.standard_normal(N_ROWS) for j in range(5)}
    centres = [[0, 6, 12], [6, 0, 12], [12, 0, 6]]
    for name, centre in zip(PLANTED, centres, strict=True):
        columns[name] = np.array(centre)[groups] + rng.standard_normal(N_ROWS)
    columns |= {f"noise {j}": rng.standard_normal(N_ROWS) for j in range(5, 10)}
    return pl.DataFrame({**columns, "group": np.array(["a", "b", "c"])[groups]})


@pytest.fixture(scope="module")
def frame():
    return planted_frame()


@pytest.fixture
def csv(tmp_path, frame):
    frame.write_csv(tmp_path / "planted.csv")
    return tmp_path / "planted.csv"


@pytest.fixture
def counts(tmp_path):
    """Word counts as SciPy writes them: three topics of four words each, and 48 rare words."""
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(3, dtype=np.int64)[np.arange(90) % 3], np.ones(4, dtype=np.int64))
    X = np.column_stack([topics * rng.poisson(3, size=topics.shape), rng.random((90, 48)) < 0.03])
    sp.save_npz(tmp_path / "counts.npz", sp.csr_matrix(X))
    return tmp_path / "counts.npz"


@pytest.fixture
def select():
    """Runs the command; returns what it prints to standard output and, on one line, to standard error."""

    def run(*arguments):
        ended = vicinal("select", *arguments)
        return ended.stdout, " ".join(ended.stderr.split())

    return run


@pytest.fixture
def refused():
    return partial(shell.refused, "select")


def ranked_names(out):
    return [row.split("│")[2].strip() for row in out.splitlines() if re.match(r"│ +\d", row)]


def test_the_planted_columns_are_written_with_the_target_last(csv, frame, tmp_path):
    run = vicinal("select", csv, "--target", "group", "-m", "laplacian-score", "-k", 3, "-o", tmp_path / "chosen.csv")
    assert pl.read_csv(tmp_path / "chosen.csv").equals(frame.select(*PLANTED, "group"))
    assert sorted(ranked_names(run.stdout)[:3]) == sorted(PLANTED)
    assert re.search(r"120 rows; 3 of 13 columns kept, ranked in \d+\.\d s: .*chosen.csv\n$", run.stdout)
    assert run.stderr.strip() == "planted.csv: 120 rows; 13 columns, standardised; laplacian-score."
    assert all(len(line) <= 80 for line in run.stdout.splitlines()[:-1])


def test_the_help_names_all_scales():
    assert get_args(Scale) == ("auto", *SCALES)


@pytest.mark.parametrize("method", SELECTORS)
def test_every_method(select, csv, frame, tmp_path, method):
    out, _ = select(csv, "--target", "group", "-m", method, "-k", 4, "-o", tmp_path / "chosen.parquet")
    chosen = pl.read_parquet(tmp_path / "chosen.parquet")
    assert chosen.equals(frame.select(*[name for name in frame.columns if name in chosen.columns]))
    assert set(chosen.columns) == {*ranked_names(out)[:4], "group"}
    assert "4 kept" in out


def test_the_automatic_number_of_columns(select, counts, tmp_path):
    out, told = select(counts, "-o", tmp_path / "chosen.npz")
    chosen = [int(name) for name in np.load(tmp_path / "chosen.npz")["columns"]]
    assert set(range(12)) <= set(chosen)
    assert len(chosen) < 20
    assert f"{len(chosen)} kept, the automatic cut" in out
    assert told == "counts.npz: 90 rows; 60 columns, weighted by TF-IDF; snfs."
    out, _ = select(counts, "-k", 5)
    assert "▲ 5 kept" in out
    assert f"▲ {len(chosen)}: the automatic cut" in out


def test_a_penalty_for_a_number_of_columns(select, refused, counts):
    out, _ = select(counts, "-k", 12, "--penalty", "auto")
    assert "12 kept" in out
    assert {int(name) for name in ranked_names(out)[:12]} == set(range(12))
    assert "--penalty auto needs the number of columns to keep: say it with -k" in refused(counts, "--penalty", "auto")


def test_snfs_says_that_it_is_not_for_tables(select, csv):
    assert "for such tables laplacian-score is the safer method" in select(csv, "--target", "group")[1]
    assert "safer" not in select(csv, "--target", "group", "--scale", "none")[1]


def test_a_penalty_that_keeps_nothing_is_said_in_one_sentence(select, counts):
    _, told = select(counts, "--penalty", 1e6)
    assert "vicinal: penalty=1000000.0 leaves no column with a weight above 0.9" in told
    for trace in ("Warning", "site-packages", "warnings.warn", ".py:"):
        assert trace not in told


def test_sparse_files(select, counts, tmp_path):
    X, y = sp.load_npz(counts), np.arange(90) % 4
    np.savez(tmp_path / "labelled.npz", X_data=X.data, X_indices=X.indices, X_indptr=X.indptr, X_shape=X.shape, y=y)
    for path in (counts, tmp_path / "labelled.npz"):
        out, told = select(path, *QUICK, "-k", 10, "-o", tmp_path / "chosen.npz", "--force")
        assert "60 columns, weighted by TF-IDF; maximum-variance." in told
        columns = np.load(tmp_path / "chosen.npz")["columns"]
        assert set(columns) == set(ranked_names(out)[:10])
        assert columns.tolist() == sorted(columns, key=int)
        kept = sp.load_npz(tmp_path / "chosen.npz")
        assert (kept != X[:, columns.astype(int)]).nnz == 0
        assert kept.dtype == X.dtype
    again = read_table(tmp_path / "chosen.npz")
    assert again.names == columns.tolist()
    assert np.array_equal(again.y, y)


def test_names_of_sparse_columns(select, counts, tmp_path):
    X = sp.load_npz(counts)
    words = [f"word{j}" for j in range(60)]
    parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": X.shape}
    np.savez(tmp_path / "words.npz", **parts, terms=np.array(words))
    best = ranked_names(select(tmp_path / "words.npz", *QUICK, "-k", 5)[0])
    assert set(best) <= set(words)
    without = ranked_names(select(tmp_path / "words.npz", *QUICK, "-k", 5, "--drop", best[0])[0])
    assert best[0] not in without
    select(tmp_path / "words.npz", *QUICK, "-k", 5, "-o", tmp_path / "words.csv")
    chosen = pl.read_csv(tmp_path / "words.csv")
    assert chosen.columns == sorted(best[:5], key=words.index)
    assert np.array_equal(chosen.to_numpy(), X[:, [words.index(name) for name in chosen.columns]].toarray())
    np.savez(tmp_path / "objects.npz", **parts, terms=np.array(words, dtype=object))  # only pickle could read these
    assert ranked_names(select(tmp_path / "objects.npz", *QUICK, "-k", 5)[0])[0] == best[0].removeprefix("word")


def test_matrices_name_their_columns_by_number(select, frame, tmp_path):
    X = np.column_stack([frame.drop("group").to_numpy(), np.arange(N_ROWS) % 3])
    np.save(tmp_path / "x.npy", X)
    select(tmp_path / "x.npy", *QUICK, "-k", 3, "--target", -1, "--drop", 0, "-o", tmp_path / "o.tsv")
    chosen = pl.read_csv(tmp_path / "o.tsv", separator="\t")
    assert chosen.columns == ["5", "6", "7", "column 13"]
    assert np.array_equal(chosen.to_numpy(), X[:, [5, 6, 7, 13]])
    dump_svmlight_file(X[:, :-1], X[:, -1], str(tmp_path / "x.svm"), zero_based=False)
    select(tmp_path / "x.svm", *QUICK, "--scale", "minmax", "-k", 3, "-o", tmp_path / "o.npz")
    np.testing.assert_allclose(read_table(tmp_path / "o.npz").y, X[:, -1])


def test_values_and_types_stay_as_they_are(select, frame, tmp_path):
    """Gaps too, of columns and of the target: they are filled in for the ranking only."""
    gap = pl.int_range(N_ROWS) % 7 == 0
    odd = frame.with_columns(
        depth=pl.when(~gap).then("depth"),
        flag=pl.int_range(N_ROWS) % 2 == 0,
        empty=pl.lit(None, dtype=pl.Float32),
        count=pl.int_range(N_ROWS).cast(pl.Int16),
        group=pl.when(~gap).then(pl.col("group").cast(pl.Categorical)),
    )
    odd.write_parquet(tmp_path / "odd.parquet")
    _, told = select(tmp_path / "odd.parquet", *QUICK, "--target", "group", "-k", "all", "-o", tmp_path / "o.parquet")
    assert "16 columns, scaled to [0, 1], missing values filled with medians" in told
    chosen = pl.read_parquet(tmp_path / "o.parquet")
    assert chosen.equals(odd.select(pl.exclude("group"), "group"))
    assert chosen.schema == odd.select(pl.exclude("group"), "group").schema
    select(tmp_path / "odd.parquet", *QUICK, "--target", "group", "-k", "all", "-o", tmp_path / "o.npz")
    arrays = np.load(tmp_path / "o.npz")
    assert set(arrays["y"]) == {"", "a", "b", "c"}
    assert arrays["columns"].tolist() == chosen.columns[:-1]
    np.testing.assert_array_equal(arrays["X"], chosen.drop("group").to_numpy())


def test_how_many_to_keep(select, refused, csv):
    chosen = csv, "--target", "group", *QUICK
    for text, kept in (("5", 5), ("0.1", 2), ("1.0", 13), ("1", 1), ("all", 13)):
        assert f"{kept} of 13 columns kept" in select(*chosen, "-k", text)[0]
    for text in ("0", "1.5", "-3", "many", "nan"):
        told = refused(*chosen, f"-k={text}")
        assert "-k must be a whole number of at least 1, a share of the columns above 0 and up to 1.0, auto or" in told
        assert f"got '{text}'." in told
    assert "planted.csv has 13 columns to choose from, but -k asks for 14; ask for fewer, or all." in refused(
        *chosen, "-k", 14
    )
    assert "The method maximum-variance has no rule for how many columns to keep; say it with -k" in refused(
        *chosen, "-k", "auto"
    )


def test_options_of_other_methods_are_refused(refused, csv):
    chosen = csv, "--target", "group", "-k", 3
    assert "The method maximum-variance has no --clusters; it takes none of these options." in refused(
        *chosen, *QUICK, "--clusters", 3
    )
    told = refused(*chosen, "--clusters", 3)
    assert "The method snfs has no --clusters; of these options it takes --neighbors, --perplexity, --penalty" in told
    assert "The method mcfs has no --perplexity" in refused(*chosen, "-m", "mcfs", "--perplexity", 3)
    assert "--jobs must be" in refused(*chosen, "--jobs", 0)
    assert "--top must be" in refused(*chosen, "--top", -1)


def test_columns_that_are_no_numbers(refused, csv, frame, tmp_path):
    assert "Column 'group' is not numeric" in refused(csv, *QUICK, "-k", 3)
    dated = frame.with_columns(day=pl.lit("2020-01-01").str.to_date())
    dated.write_parquet(tmp_path / "dated.parquet")
    told = refused(tmp_path / "dated.parquet", *QUICK, "-k", 3)
    assert "Columns 'group', 'day' are not numeric, and only numbers can be ranked: leave them out with --drop" in told
    frame.with_columns(depth=pl.lit(float("inf"))).write_csv(csv)
    assert "Column 'depth' has infinite values, the first in row 1" in refused(
        csv, *QUICK, "-k", 3, "--target", "group"
    )
    sp.save_npz(tmp_path / "gaps.npz", sp.csr_matrix([[1.0, np.nan], [2.0, 1.0]]))
    assert "The sparse matrix has missing values" in refused(tmp_path / "gaps.npz", *QUICK, "-k", 1)


def test_scales(select, refused, csv, counts, tmp_path):
    chosen = csv, "--target", "group", "-k", 3
    assert ranked_names(select(*chosen, *QUICK, "--scale", "none")[0])[:2] == ["noise 4", "noise 3"]
    assert "Standardised columns all vary alike" in refused(*chosen, *QUICK, "--scale", "standard")
    assert "TF-IDF is for counts" in refused(*chosen, *QUICK, "--scale", "tfidf")
    assert "would fill its zeros" in refused(counts, "--scale", "standard")
    assert "divided by their largest value" in select(counts, *QUICK, "-k", 3, "--scale", "minmax")[1]
    sp.save_npz(tmp_path / "weights.npz", sp.load_npz(counts) * 0.3)
    assert "as they are" in select(tmp_path / "weights.npz", *QUICK, "-k", 3)[1]


def test_files_that_cannot_be_written(refused, csv, tmp_path):
    chosen = csv, "--target", "group", *QUICK, "-k", 3
    precious = tmp_path / "precious.csv"
    precious.write_text("precious")
    assert "exists; write elsewhere or add --force" in refused(*chosen, "-o", precious)
    assert precious.read_text() == "precious"
    assert "Columns are written as .csv, .tsv, .parquet, .npz; o.xlsx ends in '.xlsx'." in refused(
        *chosen, "-o", tmp_path / "o.xlsx"
    )
    assert "A plot is written as .svg or .html; o.png ends in '.png'." in refused(*chosen, "--plot", tmp_path / "o.png")
    assert "There is no folder" in refused(*chosen, "-o", tmp_path / "none" / "o.csv")


def test_the_plot(select, csv, frame, tmp_path):
    odd = frame.rename({"width [cm]": 'width <cm> & "more" \x07'})
    odd.write_parquet(tmp_path / "odd.parquet")
    for kind in ("svg", "html"):
        out, _ = select(
            tmp_path / "odd.parquet", *QUICK, "-k", 5, "--drop", "group", "--top", 0, "--plot", tmp_path / f"o.{kind}"
        )
        assert ranked_names(out) == []
        assert f"o.{kind}" in out
    picture = ET.parse(tmp_path / "o.svg").getroot()
    said = [element.text for element in picture.iter() if element.text]
    assert "5 kept" in said
    assert "odd.parquet: scores of 13 columns by maximum-variance" in said
    assert any('width <cm> & "more" \N{REPLACEMENT CHARACTER}' in words for words in said)
    page = (tmp_path / "o.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "5 kept" in page


def _heights(chart):
    """The highest dot of every place, and how many dots it has."""
    rows = [line.split("┤")[-1].split("│")[-1] for line in chart.plain.splitlines()[1 : CHART_HEIGHT + 1]]
    letters = np.array([[ord(letter) - 0x2800 for letter in row] for row in rows])
    dots = (letters[:, None, :, None] & BRAILLE[None, :, None, :]) > 0
    dots = dots.reshape(4 * CHART_HEIGHT, -1)[::-1]
    return 4 * CHART_HEIGHT - dots[::-1].argmax(axis=0), dots.sum(axis=0)


@pytest.mark.parametrize(("n_columns", "n_kept"), [(40, 10), (5000, 1000), (7, 7), (2, 1)])
def test_the_chart_falls_and_is_filled_up_to_the_cut(n_columns, n_kept):
    scores = np.linspace(1, 0.2, n_columns)
    chart = score_chart(scores, n_kept, None, 80)
    heights, filled = _heights(chart)
    assert heights[0] == 4 * CHART_HEIGHT
    assert (np.diff(heights) <= 0).all()
    share = np.count_nonzero(filled == heights) / len(heights)
    assert share == pytest.approx(n_kept / n_columns, abs=0.5 / n_columns + 0.06)
    assert all(len(line) <= 80 for line in chart.plain.splitlines())


@pytest.mark.parametrize("scores", [np.ones(30), np.zeros(30), np.array([3.0]), np.array([-1.0, -2.0, -3.0])])
@pytest.mark.parametrize("n_kept", [0, 1])
def test_charts_of_odd_scores(scores, n_kept):
    chart = score_chart(scores, n_kept, 1, 40)
    assert ("1 kept, the automatic cut" if n_kept else "1: the automatic cut") in chart.plain
    assert all(len(line) <= 40 for line in chart.plain.splitlines()[1:])


def test_a_cut_that_comes_early_is_shown_on_a_log_scale():
    scores = 1 / np.arange(1, 10_001)
    chart = score_chart(scores, 100, 400, 80).plain
    assert "log scale" in chart
    assert chart.splitlines()[-2].index("▲") == pytest.approx(40, abs=4)  # half of the way from 1 to 10,000
    assert "400: the automatic cut" in chart
    assert "log scale" not in score_chart(scores, 2000, None, 80).plain

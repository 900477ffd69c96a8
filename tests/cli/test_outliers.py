"""The command `vicinal outliers`: scores and reasons of real files, saved models, and what is wrong with input."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import skops.io
from shell import refused, vicinal
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalOutlierDetector, RandLocal
from vicinal._files import read_table
from vicinal._preparation import check_table, make_preparation
from vicinal.outlier import cross_fitted_p_values

N_ROWS, PLANTED = 300, 17


def planted_frame(seed=0, n_rows=N_ROWS):
    """Numbers of several sizes, a category, a missing value, and one row that is far off in two columns."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "height [cm]": rng.normal(170, 10, n_rows),
            "weight": rng.normal(70, 8, n_rows),
            "income": rng.normal(30000, 5000, n_rows),
            "colour": rng.choice(["red", "green"], n_rows),
            "label": np.arange(n_rows) % 3,
        }
    ).with_row_index("i")
    strange = pl.col("i") == PLANTED
    weight = pl.when(strange).then(400.0).when(pl.col("i") == 5).then(None).otherwise(pl.col("weight"))
    income = pl.when(strange).then(250000.0).otherwise(pl.col("income"))
    return frame.with_columns(weight=weight, income=income).drop("i")


@pytest.fixture
def csv(tmp_path):
    planted_frame().write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


def test_scores_are_those_of_the_library_in_the_order_of_the_file(csv, tmp_path):
    out = tmp_path / "scored.csv"
    run = vicinal("outliers", csv, "--target", "label", "-o", out, "--seed", 3)
    written = pl.read_csv(out)
    given = pl.read_csv(csv)
    assert written.columns == [*given.columns, "score", "p_value", "outlier"]
    assert written.select(given.columns).equals(given)
    X = check_table(read_table(csv, target="label").X)
    pipeline = make_pipeline(make_preparation(X), LocalOutlierDetector(random_state=3))
    np.testing.assert_allclose(written["p_value"], cross_fitted_p_values(pipeline, X, random_state=3))
    np.testing.assert_allclose(written["score"], -pipeline.fit(X).score_samples(X))
    assert written["outlier"].to_list() == (written["score"] > 2).to_list()
    assert written["score"].arg_max() == PLANTED
    assert written["p_value"][PLANTED] == 2 / N_ROWS
    count = written["outlier"].sum()
    assert f"{count} of 300 rows are outliers: score above 2.00. Scored in" in run.stdout
    assert run.stdout.strip().endswith(str(out))
    assert "3 numeric columns standardised, 1 categorical column one-hot encoded" in " ".join(run.stderr.split())


def test_the_table_names_columns_and_values(csv):
    shown = vicinal("outliers", csv, "--target", "label", "--top", 4).stdout
    lines = shown.splitlines()
    assert max(len(line.rstrip()) for line in lines[:-1]) <= 80
    first = next(line for line in lines if re.match(rf"│ +{PLANTED} ", line))
    second = lines[lines.index(first) + 1]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in (first, second)]
    assert {tuple(cell[4:6]) for cell in cells} == {("weight", "400"), ("income", "250000")}
    assert all(40 < float(cell[6]) < 60000 for cell in cells)
    assert sum(bool(re.match(r"│ +\d+ │", line)) for line in lines) == 4
    assert "Rows are counted from 0." in shown


def test_the_threshold_by_a_share(csv, tmp_path):
    out = tmp_path / "scored.parquet"
    shown = vicinal("outliers", csv, "--drop", "label", "--contamination", 0.1, "--top", 0, "-o", out).stdout
    written = pl.read_parquet(out)
    assert written["outlier"].sum() == 30
    assert "30 of 300 rows are outliers: score above" in shown
    assert "The strangest rows" not in shown
    assert "label" in written.columns


def test_names_that_are_taken(csv, tmp_path):
    frame = planted_frame().with_columns(score=pl.lit("kept"), outlier=pl.col("label"))
    frame.write_csv(csv)
    vicinal("outliers", csv, "--drop", "score", "--drop", "outlier", "-o", tmp_path / "out.tsv")
    written = pl.read_csv(tmp_path / "out.tsv", separator="\t")
    assert written.columns[-5:] == ["score", "outlier", "score_", "p_value", "outlier_"]
    assert set(written["score"]) == {"kept"}


@pytest.fixture
def model(csv, tmp_path):
    path = tmp_path / "model.skops"
    vicinal("outliers", csv, "--target", "label", "--save-model", path)
    return path


def test_a_saved_model_scores_another_file(csv, model, tmp_path):
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    frame = planted_frame(1, 40).select("colour", "income", "label", "height [cm]", "weight")
    frame.write_csv(new)
    run = vicinal("outliers", new, "--model", model, "-o", out)
    assert "scored by" in run.stderr
    written = pl.read_csv(out)
    X = check_table(read_table(csv, target="label").X)
    pipeline = make_pipeline(make_preparation(X), LocalOutlierDetector(random_state=0)).fit(X)
    rows = check_table(frame).select(X.columns)
    np.testing.assert_allclose(written["score"], -pipeline.score_samples(rows))
    np.testing.assert_allclose(written["p_value"], pipeline[-1].p_values(pipeline[:-1].transform(rows)))
    assert written["outlier"].to_list() == (pipeline.predict(rows) == -1).tolist()
    assert "is an outlier" in vicinal("explain", model, new, "--row", PLANTED).stdout


def test_a_bound_on_false_alarms(csv, model, tmp_path):
    """All rows of a file are strange to the model; of rows like its own hardly any is."""
    strange, out = tmp_path / "strange.csv", tmp_path / "out.csv"
    planted_frame(1).with_columns(pl.col("weight") + 300, pl.col("income") * 9).write_csv(strange)
    shown = vicinal("outliers", strange, "--model", model, "--fdr", 0.05, "-o", out).stdout
    assert pl.read_csv(out)["outlier"].all()
    assert "300 of 300 rows are outliers, with a share of false alarms of 0.05 at most to be expected." in shown
    run = vicinal("outliers", csv, "--model", model, "--fdr", 0.01)
    assert "0 of 300 rows are outliers" in run.stdout
    assert "The model held out 90 rows, so that no p-value is below 0.011" in " ".join(run.stderr.split())


def test_the_report(csv, tmp_path):
    page = tmp_path / "out.html"
    vicinal("outliers", csv, "--target", "label", "--report", page, "--top", 3)
    text = page.read_text(encoding="utf-8")
    for words in (
        "people.csv: strange rows",
        "rows are outliers: score above 2.00.",
        f"The strangest is row {PLANTED}:",
    ):
        assert words in text
    assert "threshold 2.00" in text
    assert re.search(r"\d+ % (weight 400|income 250000) \(\d+(\.\d+)?\)", text)
    assert "Which columns make them strange" in text
    assert "height [cm]" in text


@pytest.mark.parametrize("ending", ["npy", "npz", "svm", "csr"])
def test_matrices(tmp_path, ending):
    X = np.random.default_rng(0).normal(size=(120, 5)).round(3)
    X[PLANTED] = 20
    path, out = tmp_path / f"X.{'npz' if ending == 'csr' else ending}", tmp_path / "out.csv"
    if ending == "npy":
        np.save(path, X)
    elif ending == "npz":
        np.savez(path, X=X, y=np.arange(120), names=np.array([f"row {j}" for j in range(120)]))
    elif ending == "svm":
        dump_svmlight_file(X, np.zeros(120), str(path), zero_based=False)
    else:
        sp.save_npz(path, sp.csr_matrix(X))
    vicinal("outliers", path, "-o", out, "--report", tmp_path / "out.html")
    written = pl.read_csv(out)
    assert written["score"].arg_max() == PLANTED
    np.testing.assert_allclose(written.select("0", "1", "2", "3", "4"), X)
    assert ("name" in written.columns, "y" in written.columns) == (ending == "npz", ending == "npz")


def test_a_wide_matrix_is_not_written_again(tmp_path):
    X = sp.random_array((60, 1500), density=0.05, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(X))
    run = vicinal("outliers", tmp_path / "X.npz", "-o", tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv").columns == ["row", "score", "p_value", "outlier"]
    assert "without their 1,500 columns" in " ".join(run.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--contamination", "0.6"), "--contamination must be a share above 0 and up to 0.5; got 0.6."),
        (("--contamination", "0"), "--contamination must be a share above 0 and up to 0.5; got 0.0."),
        (("--fdr", "0.1", "--contamination", "0.1"), "are two rules for the same thing: leave out one of them."),
        (("--fdr", "0.1"), "--fdr needs a --model that was fitted on normal rows"),
        (("--fdr", "1.5"), "--fdr must be a share above 0 and up to 1.0; got 1.5."),
        (("--model", "m.skops", "--seed", "1"), "A saved model brings its own threshold and draws"),
        (("--model", "m.skops"), "There is no model file m.skops."),
        (("--top", "-1"), "--top must be a whole number of at least 0; got -1."),
        (("-o", "out.xlsx"), "Rows are written as .csv, .tsv, .parquet; out.xlsx ends in '.xlsx'."),
        (("--report", "no/out.html"), "There is no folder no to write out.html to."),
        (("--jobs", "0"), "--jobs must be a number of at least 1"),
    ],
)
def test_what_is_refused_before_the_file_is_read(arguments, sentence):
    assert sentence in refused("outliers", "there/is/none.csv", *arguments)


def test_files_that_cannot_be_scored(csv, model, tmp_path):
    one = tmp_path / "one.csv"
    planted_frame(n_rows=20)[:1].write_csv(one)
    assert "one.csv has too few rows to compare: 1; at least 4 are needed." in refused("outliers", one)
    assert "exists; write elsewhere or add --force" in refused("outliers", one, "-o", csv)
    vicinal("outliers", csv, "-o", one, "--force")
    fewer = tmp_path / "fewer.csv"
    planted_frame().drop("weight").write_csv(fewer)
    assert "fewer.csv lacks columns that" in refused("outliers", fewer, "--model", model)
    np.save(tmp_path / "X.npy", np.eye(9))
    assert "was fitted on named columns; X.npy is of the other kind" in refused(
        "outliers", tmp_path / "X.npy", "--model", model
    )
    for other in (RandLocal(5), StandardScaler()):
        skops.io.dump(make_pipeline(StandardScaler(), other).fit(np.eye(9)), tmp_path / "other.skops")
        sentence = refused("outliers", csv, "--model", tmp_path / "other.skops")
        assert f"holds a {type(other).__name__}, not a model that `vicinal outliers` saved." in sentence

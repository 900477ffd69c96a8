"""vicinal fit and vicinal predict: a model of a file's target, and what it says of other files."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import refused, vicinal
from sklearn.datasets import load_iris, make_friedman1

from vicinal import LocalClassifier, RandLocal
from vicinal._models import load_predictor, save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Iris flowers in two files, and a model that was fitted at the shell."""
    made = tmp_path_factory.mktemp("flowers")
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    size = np.array(["small", "large"])[(X[:, 0] > 5.8).astype(int)]
    frame = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, "size": size, "species": names})
    order = np.random.default_rng(0).permutation(150)
    frame[order[:100].tolist()].write_csv(made / "some.csv")
    frame[order[100:].tolist()].write_csv(made / "more.csv")
    run = vicinal("fit", made / "some.csv", "--target", "species", "--save-model", made / "m.skops", "--budget", "20s")
    (made / "printed").write_text(run.stdout + run.stderr)
    return made


def test_fit_says_what_it_chose_and_how_good_it_is(folder):
    text = (folder / "printed").read_text()
    assert "100 rows; 4 numeric columns standardised, 1 categorical column" in text
    assert "target 'species', its classes" in " ".join(text.split())
    assert re.search(r"Accuracy on rows held out while choosing: (9\d\.\d|100\.0)%\.", text)
    assert re.search(r"(cells around anchors|forest|columns and ranks|boosted trees)", text)
    assert all(len(line) <= 80 for line in text.splitlines() if "m.skops" not in line)


def test_predict_adds_columns(folder, tmp_path):
    out = tmp_path / "out.csv"
    run = vicinal("predict", folder / "more.csv", "--model", folder / "m.skops", "-o", out, "--probabilities")
    rows = pl.read_csv(out)
    assert rows.columns[:6] == ["x0", "x1", "x2", "x3", "size", "species"]
    assert rows.columns[6:] == ["predicted_species", *(f"probability_{name}" for name in sorted(set(rows["species"])))]
    assert (rows["species"] == rows["predicted_species"]).mean() > 0.9
    np.testing.assert_allclose(rows[:, 7:].to_numpy().sum(axis=1), 1)
    assert "are predicted as it says" in run.stdout
    model = load_predictor(folder / "m.skops")
    assert model.predict(rows.select(model.feature_names_in_.tolist())).tolist() == rows["predicted_species"].to_list()


def test_columns_may_stand_elsewhere_and_values_may_be_new(folder, tmp_path):
    frame = pl.read_csv(folder / "more.csv").drop("species").reverse()
    frame = frame.select("size", "x3", "x0", "x2", "x1", pl.lit("a note").alias("note"))
    frame = frame.with_columns(size=pl.when(pl.col("x0") > 6).then(pl.lit("huge")).otherwise(pl.col("size")))
    frame.write_csv(tmp_path / "other.csv")
    run = vicinal("predict", tmp_path / "other.csv", "--model", folder / "m.skops", "-o", tmp_path / "o.parquet")
    assert "note" in pl.read_parquet(tmp_path / "o.parquet").columns
    assert "The file has" not in run.stdout
    frame.drop("x2").write_csv(tmp_path / "narrow.csv")
    assert "lacks columns that" in refused(
        "predict", tmp_path / "narrow.csv", "--model", folder / "m.skops", "-o", tmp_path / "p.csv"
    )


def test_numbers_of_matrices(tmp_path):
    X, y = make_friedman1(300, 6, random_state=0)
    np.savez(tmp_path / "some.npz", X=X[:200], y=y[:200])
    np.savez(tmp_path / "more.npz", X=X[200:], y=y[200:])
    model = tmp_path / "m.skops"
    run = vicinal("fit", tmp_path / "some.npz", "--save-model", model, "--budget", "10s", "--seed", 3)
    assert re.search(r"R2 on rows held out while choosing: 0\.[89]\d\d\.", run.stdout)
    told = vicinal("predict", tmp_path / "more.npz", "--model", model, "-o", tmp_path / "out.csv").stdout
    assert float(re.search(r"off by (\S+)", told)[1]) < 2.5
    assert "predicted_y" in pl.read_csv(tmp_path / "out.csv").columns
    assert "predicts numbers, which have no --probabilities" in refused(
        "predict", tmp_path / "more.npz", "--model", model, "-o", tmp_path / "p.csv", "--probabilities"
    )


def test_the_task_may_be_named(tmp_path):
    pl.DataFrame({"x": np.arange(60) % 7, "grade": np.arange(60) % 3}).write_csv(tmp_path / "a.csv")
    given = ("fit", tmp_path / "a.csv", "--target", "grade", "--budget", "0.5s", "--save-model")
    assert "its classes" in vicinal(*given, tmp_path / "a.skops").stderr
    assert "a number" in vicinal(*given, tmp_path / "b.skops", "--task", "numbers").stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "soon"), "budget must be like"),
        (("--seed", "-1"), "--seed must be"),
        (("--save-model", "m.pkl"), "Models are saved as .skops"),
        (("--jobs", "0"), "--jobs must be"),
    ],
)
def test_bad_options_are_refused_before_the_file_is_read(options, message, tmp_path):
    given = {"--save-model": str(tmp_path / "m.skops"), **dict([options])}
    arguments = [part for pair in given.items() for part in pair]
    assert message in refused("fit", tmp_path / "missing.csv", *arguments)


def test_bad_files_are_refused(folder, tmp_path):
    out = ("-o", tmp_path / "o.csv")
    assert "There is no model file" in refused("predict", folder / "more.csv", "--model", tmp_path / "no.skops", *out)
    save_model(tmp_path / "map.skops", RandLocal(3).fit(sp.random(20, 4, 0.5)), force=False)
    assert "not a model that `vicinal fit` saved" in refused(
        "predict", folder / "more.csv", "--model", tmp_path / "map.skops", *out
    )
    assert "has no target" in refused("fit", folder / "some.csv", "--save-model", tmp_path / "x.skops")
    assert "Rows are written as" in refused(
        "predict", folder / "more.csv", "--model", folder / "m.skops", "-o", tmp_path / "o.txt"
    )


def test_many_classes_have_no_columns_of_probabilities(tmp_path):
    X = np.random.default_rng(0).normal(size=(404, 2))
    model = LocalClassifier([{"part": "columns"}]).fit(X, np.arange(404) % 101)
    save_model(tmp_path / "m.skops", model, force=False)
    np.savez(tmp_path / "a.npz", X=X)
    given = ("predict", tmp_path / "a.npz", "--model", tmp_path / "m.skops", "-o", tmp_path / "o.csv")
    assert "knows 101 classes" in refused(*given, "--probabilities")
    assert len(pl.read_csv(vicinal(*given) and tmp_path / "o.csv")) == 404


def test_compare_says_how_to_have_the_model_where_it_is_ahead(tmp_path):
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 300), np.repeat([1.0, 2.0], 150) + 0.1 * rng.normal(size=300)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "ring": np.repeat(["inner", "outer"], 150)})
    frame.write_csv(tmp_path / "rings.csv")
    run = vicinal(
        "compare", tmp_path / "rings.csv", "--target", "ring", "-m", "raw", "-m", "local-model", "--splits", 2
    )
    assert "Local model is ahead" in run.stdout
    told = run.stdout[run.stdout.index("To have that model") :].replace("\n", "")
    assert "--target ring --save-model model.skops" in told

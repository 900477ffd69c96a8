"""The command `vicinal explain`: models made in Python and by `vicinal transform`, and what is wrong with input."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from shell import refused, vicinal
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from vicinal import RandLocal
from vicinal._preparation import check_table, make_preparation
from vicinal.explain import explain

IRIS = load_iris(as_frame=True)
FRAME = IRIS.data.assign(colour=np.array(["red", "green"])[np.arange(150) % 2])
SPECIES = IRIS.target_names[IRIS.target]


def local():
    return RandLocal(40, random_state=0)


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "iris.csv"
    FRAME.assign(species=SPECIES).to_csv(path, index=False)
    return path


@pytest.fixture
def saved(tmp_path):
    def save(pipeline):
        path = tmp_path / "model.skops"
        skops.io.dump(pipeline, path)
        return path

    return save


@pytest.fixture
def mixed(saved):
    """A model of numbers and categories; its training labels are objects, as pandas has them."""
    table = check_table(FRAME)
    return make_pipeline(make_preparation(table), local(), LinearSVC(C=0.1)).fit(table, pd.Series(SPECIES))


def test_reasons_are_those_of_the_library(csv, mixed, saved):
    run = vicinal("explain", saved(mixed), csv, "--row", 70, "--training", csv, "--target", "species")
    expected = explain(mixed, check_table(FRAME)[70:71], y_train=SPECIES)
    assert run.stdout.strip() == str(expected).replace("Row 0", "Row 70")
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "Row 70 is predicted to be versicolor: decision value" in run.stdout
    assert "Other classes: virginica" in run.stdout
    assert "(class versicolor), in" in run.stdout
    assert "colour" in run.stdout


def test_narrow_and_wide_terminals(csv, mixed, saved):
    model = saved(mixed)
    for width, most in ((50, 50), (90, 90), (300, 100)):
        shown = vicinal("explain", model, csv, "--row", 0, env={"COLUMNS": str(width)}).stdout
        assert max(map(len, shown.splitlines())) <= most


def test_a_class_that_is_asked_for(csv, mixed, saved):
    model = saved(mixed)
    shown = vicinal("explain", model, csv, "--row", 0, "--class", "virginica").stdout
    assert "predicted to be setosa. The decision value of virginica: -" in " ".join(shown.split())
    assert "class_='rose' is none of the model's classes" in refused(
        "explain", model, csv, "--row", 0, "--class", "rose"
    )


def test_classes_that_are_numbers_and_columns_without_names(tmp_path, saved):
    X, y = IRIS.data.to_numpy(), IRIS.target.to_numpy()
    model = saved(make_pipeline(StandardScaler(), local(), LogisticRegression()).fit(X, y))
    np.savez(tmp_path / "x.npz", X=X, y=y, columns=np.array(["one", "two", "three", "four"]))
    shown = vicinal("explain", model, tmp_path / "x.npz", "--row", 149, "--class", 2).stdout
    assert "Row 149 is predicted to be 2" in shown
    assert "three" in shown
    np.save(tmp_path / "x.npy", np.c_[X, y])
    assert "x.npy has 5 columns" in refused("explain", model, tmp_path / "x.npy", "--row", 0)
    shown = vicinal("explain", model, tmp_path / "x.npy", "--row", 0, "--drop", 4).stdout
    assert "column 3" in shown
    IRIS.data.to_csv(tmp_path / "x.csv", index=False)
    assert "petal length (cm)" in vicinal("explain", model, tmp_path / "x.csv", "--row", 0).stdout


def test_a_model_that_predicts_numbers(csv, saved):
    model = saved(make_pipeline(StandardScaler(), local(), Ridge()).fit(IRIS.data, IRIS.target))
    shown = vicinal("explain", model, csv, "--row", 3).stdout
    assert shown.startswith("Row 3: predicted value ")
    assert "Raising it: " in shown
    sentence = refused("explain", model, csv, "--row", 3, "--class", "setosa")
    assert "The model predicts numbers and knows no class 'setosa'; leave out --class." in sentence


def test_a_model_of_transform_shows_what_is_near(csv, tmp_path):
    model = tmp_path / "map.skops"
    vicinal("transform", csv, "--drop", "species", "-o", tmp_path / "o.npz", "--groups", 30, "--save-model", model)
    shown = vicinal("explain", model, csv, "--row", 149).stdout
    assert shown.startswith("Row 149 and the training rows that it is nearest to")
    assert "decision value" not in shown


def test_bad_input_gets_one_sentence(csv, tmp_path, mixed, saved):
    model = saved(mixed)
    row = "iris.csv has 150 rows, counted from 0: --row {} is not one of them."
    assert row.format(150) in refused("explain", model, csv, "--row", 150)
    assert row.format(-1) in refused("explain", model, csv, "--row=-1")
    assert "There is no model file" in refused("explain", tmp_path / "none.skops", csv, "--row", 0)
    assert "There is no file" in refused("explain", model, tmp_path / "none.csv", "--row", 0)
    assert "iris.csv is not a whole model file of vicinal" in refused("explain", csv, csv, "--row", 0)
    assert "name that with --training" in refused("explain", model, csv, "--row", 0, "--target", "species")
    lacking = refused("explain", model, csv, "--row", 0, "--drop", "colour")
    assert "iris.csv lacks columns that" in lacking
    assert lacking.endswith("was fitted on: colour.")
    np.save(tmp_path / "x.npy", IRIS.data.to_numpy())
    assert "was fitted on named columns; those of x.npy have no names" in refused(
        "explain", model, tmp_path / "x.npy", "--row", 0
    )
    run = vicinal("explain", model, csv, check=False)
    assert run.returncode == 2
    assert "--row" in run.stderr


def test_models_that_cannot_be_explained(csv, saved):
    for pipeline, sentence in [
        (make_pipeline(local(), SVC()), "SVC is not a linear model"),
        (make_pipeline(StandardScaler(), LinearSVC()), "There is no local map to explain by"),
        (make_pipeline(local(), LinearSVC()), "The RandLocal is not fitted yet"),
        (local(), "holds a RandLocal, not a pipeline; save one with skops.io.dump"),
        (PCA(), "holds a PCA, not a pipeline"),
    ]:
        if "not fitted" not in sentence:
            pipeline.fit(IRIS.data, SPECIES)
        assert sentence in refused("explain", saved(pipeline), csv, "--row", 0, "--drop", "species", "--drop", "colour")

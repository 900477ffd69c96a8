"""The command line: real files of every kind, and one clear sentence for everything that is wrong with them."""

import contextlib
import os
import pty
import re
import resource
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import in_a_process, refused, vicinal
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file

from vicinal import RandLocal, __version__
from vicinal._models import save_model

IRIS = load_iris()
IRIS.data += np.random.default_rng(0).random(IRIS.data.shape).round(6)  # no ties
QUICK = ("-m", "raw", "-m", "randlocal", "--splits", 2)


@pytest.fixture
def frame():
    columns = {name: IRIS.data[:, j] for j, name in enumerate(["a", "b", "c", "d"])}
    colour = np.array(["red", "green", "blue"])[np.arange(150) % 3]
    species = IRIS.target_names[IRIS.target]
    return pl.DataFrame({**columns, "colour": colour, "species": species})


@pytest.fixture
def csv(tmp_path, frame):
    path = tmp_path / "iris.csv"
    frame.write_csv(path)
    return path


def test_version_and_help():
    assert vicinal("--version").stdout.strip() == f"vicinal {__version__}"
    assert "compare" in vicinal("--help").stdout


def test_compare_prints_a_table_and_writes_a_report(csv, tmp_path):
    report = tmp_path / "report.html"
    few = ("--groups", 40, "--components", 20, "--splits", 2)
    run = vicinal("compare", csv, "--target", "species", *few, "--report", report, env={"COLUMNS": "120"})
    labels = ("raw features", "RBF kernel SVM", "RBFSampler", "Nystroem", "polynomial sketch", "random trees")
    for method in (*labels, "gradient boosting", "RandLocal"):
        row = next(line for line in run.stdout.splitlines() if method in line)
        assert 0.6 < float(re.search(r"[01]\.\d{4}", row)[0]) <= 1
    assert "4 numeric columns standardised, 1 categorical column one-hot encoded" in run.stdout
    assert "iris.csv randlocal fold 1: done" in run.stderr  # plain lines where there is no terminal
    assert f"The report: {report}" in run.stdout
    page = report.read_text()
    for text in (
        "Which features pay on iris.csv?",
        "Accuracy over the number of groups",
        "Sparsity ratio",
        "versicolor",
    ):
        assert text in page
    assert "exists; write elsewhere or add --force" in refused(
        "compare", csv, "--target", "species", *few, "--report", report
    )


def test_compare_names_its_methods(csv):
    assert "There is no method 'nystrom'; did you mean 'nystroem'?" in refused(
        "compare", csv, "--target", "species", "-m", "nystrom"
    )


def test_reproduce_lists_and_suggests():
    listed = vicinal("reproduce", "list").stdout
    assert "randlocal-table3" in listed
    assert vicinal("reproduce").stdout == listed
    assert "There is no experiment 'randlocal-table33'; did you mean 'randlocal-table3'" in refused(
        "reproduce", "randlocal-table33"
    )


def test_data_sets_are_listed_and_looked_for(tmp_path):
    environment = {"VICINAL_DATA": "", "VICINAL_CACHE": str(tmp_path)}
    listed = vicinal("data", "list", env=environment).stdout
    assert "mnist" in listed
    assert "can be fetched" in " ".join(listed.split())
    assert "did you mean 'mnist'" in refused("data", "fetch", "mnits", env=environment)
    assert "aloi_outlier.npz was looked for" in refused("data", "fetch", "aloi_outlier", env=environment)


def test_compare_handles_missing_values(tmp_path, frame):
    path = tmp_path / "iris.parquet"
    frame.with_columns(a=pl.when(pl.int_range(150) % 7 == 0).then(None).otherwise(pl.col("a"))).write_parquet(path)
    run = vicinal("compare", path, "--target", "species", "--groups", 50, *QUICK, "--drop", "colour")
    assert "raw features: C=" in run.stdout
    assert "missing values filled with medians" in run.stdout
    assert "categorical" not in run.stdout


def test_compare_with_just_more_rows_than_are_used_for_tuning(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(4004) % 10
    np.savez(tmp_path / "x.npz", X=rng.standard_normal((4004, 3)) + y[:, None], y=y)
    assert "RandLocal" in vicinal("compare", tmp_path / "x.npz", "--groups", 5, *QUICK).stdout


def test_names_that_look_like_markup_or_patterns(tmp_path, frame):
    path = tmp_path / "iris [1] [/s].csv".replace("/", "-")
    frame.rename({"species": "kind [/s]"}).write_csv(path)
    assert "iris [1]" in vicinal("compare", path, "--target", "kind [/s]", "--groups", 5, *QUICK).stdout


def test_images_and_progress_on_a_terminal(tmp_path):
    """A pseudo-terminal stands in for a person's."""
    np.savez(tmp_path / "x.npz", X=np.random.default_rng(0).random((3000, 64)))
    command = ["transform", tmp_path / "x.npz", "-o", tmp_path / "o.NPZ", "--subspace", "image", "--image-shape", "8x8"]
    leader, follower = pty.openpty()
    run = subprocess.run([sys.executable, "-m", "vicinal.cli", *map(str, command)], stderr=follower, check=True)
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):
        while part := os.read(leader, 65536):
            shown += part
    os.close(leader)
    assert run.returncode == 0
    assert b"\x1b[" in shown
    assert sp.load_npz(tmp_path / "o.NPZ").shape[0] == 3000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.NPZ", "x.npz"]
    bad = refused(
        "transform", tmp_path / "x.npz", "-o", tmp_path / "p.npz", "--subspace", "image", "--image-shape", "8"
    )
    assert "image_shape must be (height, width)" in bad


def test_libsvm_files_whose_last_columns_are_empty(tmp_path):
    X = sp.random(100, 20, density=0.5, format="csr", random_state=0)
    dump_svmlight_file(X, np.zeros(100), str(tmp_path / "a.svm"), zero_based=False)
    dump_svmlight_file(X[:, :15], np.zeros(100), str(tmp_path / "b.svm"), zero_based=False)
    vicinal("transform", tmp_path / "a.svm", "-o", tmp_path / "a.npz", "--save-model", tmp_path / "m.skops")
    vicinal("transform", tmp_path / "b.svm", "-o", tmp_path / "b.npz", "--model", tmp_path / "m.skops")
    assert sp.load_npz(tmp_path / "b.npz").shape == sp.load_npz(tmp_path / "a.npz").shape


def test_csc_files_are_not_read_as_csr(tmp_path):
    X = sp.random(60, 60, density=0.3, format="csc", random_state=0)
    sp.save_npz(tmp_path / "csc.npz", X)
    sp.save_npz(tmp_path / "csr.npz", X.tocsr())
    for kind in ("csc", "csr"):
        vicinal("transform", tmp_path / f"{kind}.npz", "-o", tmp_path / f"{kind}.out.npz", "--groups", 5)
    a, b = (sp.load_npz(tmp_path / f"{kind}.out.npz") for kind in ("csc", "csr"))
    assert abs(a - b).max() < 1e-12


def _write_all_kinds(folder, frame):
    numbers = frame.drop("colour").with_columns(species=pl.Series(IRIS.target))
    numbers.write_csv(folder / "x.csv")
    numbers.write_csv(folder / "x.tsv", separator="\t")
    numbers.write_parquet(folder / "x.parquet")
    np.save(folder / "x.npy", np.column_stack([IRIS.data, IRIS.target]))
    np.savez(folder / "x.npz", X=IRIS.data, y=IRIS.target)
    dump_svmlight_file(IRIS.data, IRIS.target, str(folder / "x.svm"), zero_based=False)


def test_every_kind_of_file_gives_the_same_features(tmp_path, frame):
    _write_all_kinds(tmp_path, frame)
    targets = {"csv": "species", "tsv": "species", "parquet": "species", "npy": "-1"}
    results = {}
    for kind in ("csv", "tsv", "parquet", "npy", "npz"):
        out = tmp_path / f"{kind}.out.npz"
        target = ["--target", targets[kind]] if kind in targets else []
        vicinal("transform", tmp_path / f"x.{kind}", "-o", out, "--groups", 20, *target)
        results[kind] = sp.load_npz(out)
        assert np.array_equal(np.load(out)["y"], IRIS.target)
    for features in results.values():
        assert features.shape[0] == 150
        assert abs(features - results["csv"]).max() < 1e-12
    vicinal("transform", tmp_path / "x.svm", "-o", tmp_path / "out.libsvm", "--groups", 20)
    X, y = load_svmlight_file(str(tmp_path / "out.libsvm"))
    assert np.array_equal(y, IRIS.target)
    assert (np.diff(X.indptr) == 20).all()
    assert vicinal("compare", tmp_path / "x.svm", "--groups", 20, *QUICK).returncode == 0


def test_a_saved_model_gives_the_same_features(tmp_path, csv, frame):
    first, again, model = tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "model.skops"
    vicinal("transform", csv, "-o", first, "--target", "species", "--groups", 30, "--norm", "l2", "--save-model", model)
    shuffled = tmp_path / "shuffled.csv"
    frame.select("colour", "d", "species", "b", "a", "c").write_csv(shuffled)
    vicinal("transform", shuffled, "-o", again, "--model", model)
    a, b = sp.load_npz(first), sp.load_npz(again)
    assert abs(a - b).max() < 1e-12
    np.testing.assert_allclose(np.sqrt(a.multiply(a).sum(1)), 1)
    new = tmp_path / "new.csv"
    frame.with_columns(colour=pl.lit("mauve")).write_csv(new)  # a category that was never seen
    vicinal("transform", new, "-o", tmp_path / "c.npz", "--model", model)


class TestBadInput:
    def test_files(self, tmp_path, csv):
        assert "There is no file" in refused("compare", tmp_path / "none.csv", "--target", "y")
        empty = tmp_path / "empty.csv"
        empty.touch()
        assert "is empty" in refused("compare", empty, "--target", "y")
        (tmp_path / "head.csv").write_text("a,b\n")
        assert "has no rows" in refused("compare", tmp_path / "head.csv", "--target", "b")
        other = csv.rename(tmp_path / "iris.xlsx")
        assert "ends in '.xlsx'; known are" in refused("compare", other, "--target", "species")
        (tmp_path / "broken.parquet").write_bytes(b"PAR1 but no more")
        assert "cannot be read as .parquet" in refused("compare", tmp_path / "broken.parquet", "--target", "y")
        broken = tmp_path / "broken.csv"
        for row, told in (
            ("1,2,3,4", "4 fields"),
            ("1,2", "2 fields"),
            ('1,"2"x,3', "expected after"),
            ('1,"2,3', "line"),
        ):
            broken.write_text(f"a,b,c\n1,2,3\n4,5,6\n{row}\n7,8,9\n")
            message = refused("compare", broken, "--target", "c")
            assert told in message
            assert "broken.csv, line" in message
            assert "line 4" in message or row == '1,"2,3'
        (tmp_path / "broken.npz").write_bytes(b"PK nothing")
        assert "is not a whole file of NumPy arrays" in refused("compare", tmp_path / "broken.npz")

    def test_targets(self, tmp_path, csv, frame):
        assert "has no column 'kind'; its columns are 'a', 'b'" in refused("compare", csv, "--target", "kind")
        assert "has no target; name its column with --target" in refused("compare", csv)
        assert "compare needs classes" in refused("compare", csv, "--target", "a")
        path = tmp_path / "other.csv"
        frame.with_columns(species=pl.when(pl.int_range(150) == 16).then(None).otherwise("species")).write_csv(path)
        assert "'species' is missing in 1 of 150 rows, the first of them row 17" in refused(
            "compare", path, "--target", "species"
        )
        frame.with_columns(a=pl.when(pl.int_range(150) == 3).then(float("nan")).otherwise(1.0)).write_csv(path)
        assert "'a' is missing in 1 of 150 rows" in refused("compare", path, "--target", "a")
        frame[:50].write_csv(path)
        assert "The target has one class only ('setosa')" in refused("compare", path, "--target", "species")
        frame[:51].write_csv(path)
        assert "Class 'versicolor' has 1 row; at least 5 are needed" in refused("compare", path, "--target", "species")

    def test_columns(self, tmp_path, csv, frame):
        path = tmp_path / "other.csv"
        frame.with_columns(b=pl.when(pl.int_range(150) == 9).then(float("inf")).otherwise("b")).write_csv(path)
        assert "Column 'b' has infinite values, the first in row 10" in refused("compare", path, "--target", "species")
        dates = tmp_path / "dates.parquet"
        frame.with_columns(b=pl.lit("2020-01-01").str.to_date()).write_parquet(dates)
        assert "Column 'b' is of type Date" in refused("compare", dates, "--target", "species")
        frame[:1].write_csv(path)
        assert "minimum of 2 is required" in refused("transform", path, "-o", tmp_path / "o.npz", "--target", "species")
        frame.select("species").write_csv(path)
        assert "no columns besides the target" in refused("compare", path, "--target", "species")
        text = tmp_path / "text.npy"
        np.save(text, np.array([["a", "b"], ["c", "d"]]))
        assert "must hold numbers" in refused("compare", text, "--target", "0")

    def test_models(self, tmp_path, csv, frame):
        model, out = tmp_path / "model.skops", tmp_path / "o.npz"
        vicinal("transform", csv, "-o", out, "--target", "species", "--groups", 10, "--save-model", model)
        whole = model.read_bytes()
        arguments = "transform", csv, "-o", tmp_path / "p.npz", "--model"
        assert "There is no model file" in refused(*arguments, tmp_path / "none.skops")
        model.write_bytes(whole[: len(whole) // 2])
        assert "is not a whole model file of vicinal" in refused(*arguments, model)
        model.write_text("not a model")
        assert "is not a whole model file of vicinal" in refused(*arguments, model)
        model.write_bytes(whole)
        assert "brings its own parameters" in refused(*arguments, model, "--groups", 3)
        fewer = tmp_path / "fewer.csv"
        frame.drop("b", "colour").write_csv(fewer)
        assert "fewer.csv lacks columns" in refused("transform", fewer, "-o", tmp_path / "p.npz", "--model", model)
        matrix = tmp_path / "matrix.npz"
        np.savez(matrix, X=IRIS.data)
        assert "was fitted on named columns" in refused("transform", matrix, "-o", tmp_path / "p.npz", "--model", model)
        vicinal("transform", matrix, "-o", tmp_path / "q.npz", "--groups", 5, "--save-model", tmp_path / "m.skops")
        np.savez(matrix, X=IRIS.data[:, :2])
        assert "has 2 columns" in refused(
            "transform", matrix, "-o", tmp_path / "p.npz", "--model", tmp_path / "m.skops"
        )
        assert not (tmp_path / "p.npz").exists()

    def test_damaged_arrays(self, tmp_path):
        np.savez(tmp_path / "x.npz", X=IRIS.data, y=IRIS.target)
        whole = bytearray((tmp_path / "x.npz").read_bytes())
        whole[60:90] = b"?" * 30
        (tmp_path / "x.npz").write_bytes(whole)
        assert "is not a whole file of NumPy arrays" in refused("compare", tmp_path / "x.npz")
        X = sp.csr_matrix(IRIS.data)
        np.savez(
            tmp_path / "y.npz", data=X.data, indices=X.indices + 10**6, indptr=X.indptr, shape=X.shape, y=IRIS.target
        )
        assert "is not a whole file of NumPy arrays" in refused("compare", tmp_path / "y.npz")

    def test_numbers_out_of_range(self, csv):
        assert "--groups must be a whole number" in refused("compare", csv, "--target", "species", "--groups", 0)
        assert "--jobs must be" in refused("compare", csv, "--target", "species", "--jobs", 0)
        assert "--splits must be" in refused("compare", csv, "--target", "species", "--splits", 1)

    def test_a_model_of_another_kind_is_refused(self, tmp_path, csv):
        save_model(tmp_path / "m.skops", RandLocal(), force=False)
        assert "holds a RandLocal, not a model that" in refused(
            "transform", csv, "-o", tmp_path / "p.npz", "--model", tmp_path / "m.skops"
        )

    def test_outputs(self, tmp_path, csv):
        out = tmp_path / "o.npz"
        out.write_text("precious")
        arguments = "transform", csv, "--target", "species", "--groups", 5
        assert "exists; write elsewhere or add --force" in refused(*arguments, "-o", out)
        assert out.read_text() == "precious"
        vicinal(*arguments, "-o", out, "--force")
        assert sp.load_npz(out).shape[0] == 150
        assert "must end in .npz" in refused(*arguments, "-o", tmp_path / "o.csv")
        assert "There is no folder" in refused(*arguments, "-o", tmp_path / "none" / "o.npz")
        assert "the target is text" in refused(*arguments, "-o", tmp_path / "o.svm")
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    def test_a_full_disk_leaves_nothing_half_written(self, tmp_path, csv):
        out = tmp_path / "o.npz"
        out.write_text("precious")

        def small_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

        message = refused(
            "transform",
            csv,
            "--target",
            "species",
            "-o",
            out,
            "--groups",
            300,
            "--force",
            run=in_a_process,
            preexec_fn=small_disk,
        )
        assert "o.npz was not written" in message
        assert out.read_text() == "precious"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["iris.csv", "o.npz"]

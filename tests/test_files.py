"""Tables and models on disk: what is written is read again, and damaged files are refused in one sentence."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import AdamicAdar, RandLocal
from vicinal._files import (
    COLUMN_NAMES,
    Table,
    check_feature_file,
    check_table_file,
    listed,
    read_table,
    write_columns,
    write_features,
    write_frame,
)
from vicinal._models import load_link_model, load_model, save_model

FRAME = pl.DataFrame({"a": [1.5, None, 3.0], "b": ["x", "y", None], "c": [1, 2, 3], "kind": ["u", "v", "u"]})


@pytest.fixture(params=["csv", "tsv", "parquet"])
def path(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    if request.param == "parquet":
        FRAME.write_parquet(path)
    else:
        FRAME.write_csv(path, separator="\t" if request.param == "tsv" else ",")
    return path


class TestReading:
    def test_frames(self, path):
        table = read_table(path, target="kind", drop=("c",))
        assert table.X.equals(FRAME.select("a", "b"))
        assert table.y.tolist() == ["u", "v", "u"]
        assert (table.names, table.target) == (["a", "b"], "kind")
        assert table.frame.equals(FRAME)
        assert read_table(path).y is None

    def test_targets(self, path):
        with pytest.raises(ValueError, match="has no target; name its column with --target"):
            read_table(path, need_target=True)
        with pytest.raises(ValueError, match="'b' is missing in 1 of 3 rows, the first of them row 3"):
            read_table(path, target="b")
        assert read_table(path, target="b", whole_target=False).y.tolist() == ["x", "y", None]
        with pytest.raises(ValueError, match="has no column 'd'; its columns are 'a', 'b', 'c', 'kind'"):
            read_table(path, drop=("d",))
        with pytest.raises(ValueError, match="has no columns besides the target"):
            read_table(path, target="kind", drop=("a", "b", "c"))

    @pytest.mark.parametrize("word", ["", "NA", "NaN", "nan"])
    def test_words_for_missing_values(self, tmp_path, word):
        (tmp_path / "x.csv").write_text(f"a,b\n1,2\n{word},3\n")
        assert read_table(tmp_path / "x.csv").X["a"].to_list() == [1, None]

    def test_endings_are_read_in_any_case(self, tmp_path):
        np.save(tmp_path / "x.npy", np.eye(2))
        assert read_table((tmp_path / "x.npy").rename(tmp_path / "x.NPY")).X.shape == (2, 2)

    def test_text_that_is_not_utf8(self, tmp_path):
        (tmp_path / "x.csv").write_bytes("a,b\n1,é\n".encode("latin-1"))
        with pytest.raises(ValueError, match=r"x.csv cannot be read as .csv: .*\.$"):
            read_table(tmp_path / "x.csv")

    def test_columns_of_matrices_go_by_number(self, tmp_path):
        X = np.arange(12.0).reshape(3, 4)
        np.save(tmp_path / "x.npy", X)
        table = read_table(tmp_path / "x.npy", target="-1", drop=("0",))
        np.testing.assert_array_equal(table.X, X[:, 1:3])
        np.testing.assert_array_equal(table.y, X[:, 3])
        assert (table.names, table.target) == (["1", "2"], "column 3")
        with pytest.raises(ValueError, match="has no column '4'; its columns are numbered from 0 to 3"):
            read_table(tmp_path / "x.npy", target="4")

    @pytest.mark.parametrize("prefix", ["", "X_"])
    @pytest.mark.parametrize("name", COLUMN_NAMES)
    def test_sparse_matrices_and_their_names(self, tmp_path, prefix, name):
        X = sp.random(5, 3, density=0.5, format="csr", random_state=0)
        parts = {prefix + part: getattr(X, part) for part in ("data", "indices", "indptr", "shape")}
        np.savez(tmp_path / "x.npz", **parts, **{name: np.array(["r", "g", "b"])}, labels=np.arange(5))
        table = read_table(tmp_path / "x.npz", target="labels", drop=("g",))
        assert (X[:, [0, 2]] != table.X).nnz == 0
        assert table.names == ["r", "b"]
        assert table.y.tolist() == [0, 1, 2, 3, 4]

    def test_arrays_of_other_shapes_are_refused(self, tmp_path):
        path = tmp_path / "x.npz"
        np.savez(path, X=np.ones(3))
        with pytest.raises(ValueError, match=r"must hold a matrix \(rows x columns\); its array has 1 dimension"):
            read_table(path)
        np.savez(path, X=np.ones((3, 2)), y=np.ones(2))
        with pytest.raises(ValueError, match=r"'y' has the shape \(2,\), but X has 3 rows"):
            read_table(path)
        np.savez(path, Z=np.ones((3, 2)))
        with pytest.raises(ValueError, match="neither an array 'X' nor the parts of a CSR matrix; its arrays are 'Z'"):
            read_table(path)
        with pytest.raises(ValueError, match="has no array 'w'"):
            read_table(path, target="w")

    def test_libsvm_files_can_be_widened(self, tmp_path):
        dump_svmlight_file(sp.eye(3, format="csr"), [1, 2, 3], str(tmp_path / "x.svm"), zero_based=False)
        table = read_table(tmp_path / "x.svm", n_columns=5)
        assert table.X.shape == (3, 5)
        assert table.y.tolist() == [1, 2, 3]
        with pytest.raises(ValueError, match="each row starts with the target; leave out --target"):
            read_table(tmp_path / "x.svm", target="y")


class TestWriting:
    @pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
    def test_columns_come_back(self, tmp_path, path, kind):
        table = read_table(path, target="kind")
        out = tmp_path / f"o.{kind}"
        write_columns(out, table, np.array([True, False, True]), force=False)
        again = read_table(out, target="kind")
        assert again.X.equals(FRAME.select("a", "c"))
        assert again.y.tolist() == table.y.tolist()

    def test_a_target_never_replaces_a_column(self, tmp_path):
        table = Table(np.eye(2), np.array([5, 6]), "y", ["y", "z"])
        write_columns(tmp_path / "o.csv", table, np.array([True, True]), force=False)
        assert pl.read_csv(tmp_path / "o.csv").columns == ["y", "z", "y_"]

    @pytest.mark.parametrize("ending", ["npz", "svm"])
    def test_features_come_back(self, tmp_path, ending):
        features = sp.random(6, 4, density=0.5, format="csr", random_state=0)
        for y in (np.arange(6), None):
            write_features(tmp_path / f"o.{ending}", features, y, force=True)
            table = read_table(tmp_path / f"o.{ending}", n_columns=4)
            np.testing.assert_allclose(table.X.toarray(), features.toarray())
            if y is not None:
                np.testing.assert_array_equal(table.y, y)

    def test_endings(self):
        with pytest.raises(ValueError, match=r"Features are sparse: o.csv must end in .npz .* not '.csv'"):
            check_feature_file(Path("o.csv"))
        with pytest.raises(ValueError, match=r"Columns are written as .csv, .tsv, .parquet, .npz; o.svm ends in"):
            check_table_file(Path("o.svm"))


class TestModels:
    def test_a_model_gives_the_same_features(self, tmp_path, rng):
        X = rng.normal(size=(50, 3))
        model = make_pipeline(StandardScaler(), RandLocal(10, random_state=0)).fit(X)
        save_model(tmp_path / "m.skops", model, force=False)
        assert (load_model(tmp_path / "m.skops").transform(X) != model.transform(X)).nnz == 0

    def test_a_model_with_strange_contents_is_not_loaded(self, tmp_path):
        save_model(tmp_path / "m.skops", {"path": Path("x"), "model": RandLocal()}, force=False)
        with pytest.raises(ValueError, match="contains what a model of vicinal does not"):
            load_model(tmp_path / "m.skops")


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "'a', 'b'"
    assert listed([str(j) for j in range(10)], most=2) == "'0', '1' and 8 more"


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_columns_by_name_are_written_and_read_again(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    write_frame(path, {"node": ["a", "b"], "score": np.array([0.5, 1.5])}, force=False)
    assert read_table(path).X.to_dict(as_series=False) == {"node": ["a", "b"], "score": [0.5, 1.5]}
    with pytest.raises(FileExistsError):
        write_frame(path, {"node": []}, force=False)
    with pytest.raises(ValueError, match=r"Rows are written as \.csv, \.tsv, \.parquet; rows.npz ends in '\.npz'"):
        write_frame(tmp_path / "rows.npz", {"node": []}, force=False)


@pytest.mark.parametrize(
    ("names", "read"), [(["a", "b"], ["a", "b"]), ([7, 9], ["7", "9"]), (["a"], []), ([0.5, 1.5], [])]
)
def test_rows_of_an_npz_file_may_have_names(tmp_path, names, read):
    np.savez(tmp_path / "x.npz", X=np.eye(2), names=np.array(names))
    assert read_table(tmp_path / "x.npz").row_names == read


def test_models_of_other_commands_are_refused(tmp_path):
    save_model(tmp_path / "m.skops", make_pipeline(StandardScaler(), RandLocal()), force=False)
    with pytest.raises(ValueError, match="holds a Pipeline, not a model that `vicinal links` saved"):
        load_link_model(tmp_path / "m.skops")
    save_model(tmp_path / "l.skops", AdamicAdar().fit(None, adjacency=1 - np.eye(3)), force=False)
    assert load_link_model(tmp_path / "l.skops").recommend([0]).indices.max() == -1
    with pytest.raises(ValueError, match="holds a AdamicAdar, not a model that `vicinal transform` saved"):
        load_model(tmp_path / "l.skops")

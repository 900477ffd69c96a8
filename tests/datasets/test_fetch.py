"""Data sets from their public sources, which a server on this machine stands in for."""

import bz2
import gzip
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from openml_stand_in import OpenMLStandIn, openml_addresses
from sklearn.datasets import (
    _covtype,
    _kddcup99,
    _openml,
    dump_svmlight_file,
    load_breast_cancer,
    load_iris,
)

from vicinal.datasets import _fetch as fetching
from vicinal.datasets import fetch, load, path_of
from vicinal.datasets._catalog import entries


@pytest.fixture
def openml(folder, monkeypatch):
    server = OpenMLStandIn()
    for name, address in openml_addresses(server.url).items():
        monkeypatch.setattr(_openml, name, address)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    yield server
    server.close()


@pytest.fixture(params=["pandas", "no pandas"])
def either_parser(request, monkeypatch):
    if request.param == "no pandas":
        monkeypatch.setattr(fetching, "_has_pandas", lambda: False)
    else:
        pytest.importorskip("pandas")


SMALL = {"shape": (3, 2), "class_counts": {0: 1, 1: 2}}
COLUMNS = {"a": "numeric", "b": "numeric", "class": ["1", "2"]}
ROWS = ["0.5,1,2", "1.5,2,1", "2.5,?,2"]


@pytest.mark.parametrize(
    ("name", "bundled", "classes"),
    [
        ("breast_cancer", load_breast_cancer, ("malignant", "benign")),
        ("iris", load_iris, ("setosa", "versicolor", "virginica")),
    ],
)
def test_what_scikit_learn_brings_along_needs_no_network(folder, cache, monkeypatch, name, bundled, classes):
    monkeypatch.setattr(fetching, "urlopen", None)
    steps = []
    assert fetch(name, callback=steps.append) == cache / f"{name}.npz"
    assert steps[0] == f"fetching {name} from scikit-learn, which includes it"
    data, expected = load(name), bundled()
    np.testing.assert_array_equal(data.X, expected.data.astype(np.float32))
    np.testing.assert_array_equal(data.y, expected.target)
    assert data.classes == classes
    assert data.names == tuple(expected.feature_names)
    assert data.about.verified is True


def left_in(cache):
    return sorted(path.name for path in cache.iterdir()) if cache.exists() else []


def test_fetched_is_cached_and_loads(openml, cache, known, either_parser):
    known(openml=44, **SMALL)
    openml.put_openml(44, COLUMNS, ROWS)
    steps = []
    path = fetch("spambase", callback=steps.append)
    assert path == cache / "spambase.npz"
    assert left_in(cache) == ["spambase.npz", "spambase.npz.sha256"]
    assert steps == ["fetching spambase from OpenML (data set 44)", f"storing {path}"]
    data = load("spambase")
    np.testing.assert_array_equal(data.X, np.array([[0.5, 1], [1.5, 2], [2.5, np.nan]], dtype=np.float32))
    assert data.X.dtype == np.float32
    assert data.y.tolist() == [1, 0, 1]
    assert data.names == ("a", "b")
    assert data.about.verified is True
    assert data.about.path == path


def test_what_is_cached_is_not_asked_for_again(openml, known):
    known(openml=44, **SMALL)
    openml.put_openml(44, COLUMNS, ROWS)
    first = load("spambase")
    n_asked = len(openml.asked)
    again = load("spambase")
    fetch("spambase")
    assert len(openml.asked) == n_asked
    assert again.about.sha256 == first.about.sha256
    fetch("spambase", force=True)
    assert len(openml.asked) > n_asked
    assert load("spambase").about.sha256 == first.about.sha256  # the same data make the same file, whatever the time


def test_first_rows_are_the_training_part_and_numbers_keep_their_type(openml, known, either_parser):
    known(openml=554, dtype="uint8", train_rows=2, shape=(3, 1), class_counts={7: 1, 8: 1, 9: 1})
    openml.put_openml(554, {"a": "numeric", "class": ["7", "8", "9"]}, ["0,9", "255,8", "3,7"])
    data = load("spambase")
    assert data.X.dtype == np.uint8
    assert data.X.ravel().tolist() == [0, 255, 3]
    assert data.y.tolist() == [9, 8, 7]
    assert data.split.tolist() == [0, 0, 1]


def test_the_inlier_class_gets_zero(openml, known, either_parser):
    known(openml=30, inlier=1, shape=(4, 1), class_counts={0: 2, 1: 2})
    openml.put_openml(30, {"a": "numeric", "class": ["1", "2", "5"]}, ["0,1", "1,5", "2,1", "3,2"])
    data = load("spambase")
    assert data.y.tolist() == [0, 1, 0, 1]
    assert data.about.extras["y_class"].tolist() == [1, 5, 1, 2]


def test_words_become_codes_in_alphabetical_order(openml, known, either_parser):
    known(openml=454, shape=(4, 1), class_counts={0: 2, 1: 2})
    columns = {"Position": ["Shortstop", "Catcher", "'Out field'"], "class": ["0", "1"]}
    openml.put_openml(454, columns, ["'Out field',0", "Catcher,1", "?,1", "'Out field',0"])
    data = load("spambase")
    np.testing.assert_array_equal(data.X.ravel(), [1, 0, np.nan, 1])
    assert data.names == ("Position",)
    assert data.about.extras["levels_Position"].tolist() == ["Catcher", "Out field"]


def test_words_that_are_numbers_stand_for_themselves(openml, known, either_parser):
    known(openml=44, shape=(3, 1), class_counts={0: 1, 1: 2})
    openml.put_openml(44, {"a": ["9", "5"], "class": ["0", "1"]}, ["5,0", "?,1", "9,1"])
    data = load("spambase")
    np.testing.assert_array_equal(data.X.ravel(), [5, np.nan, 9])
    assert data.about.extras == {}


@pytest.mark.parametrize("ignore", [(), ("Player",)])
def test_columns_of_text_are_left_out_with_pandas_and_refused_without(openml, known, monkeypatch, ignore):
    pytest.importorskip("pandas")
    known(openml=454, shape=(2, 1), class_counts={0: 1, 1: 1}, drop=("Player",))
    columns = {"Player": "string", "a": "numeric", "class": ["'0'", "'1'"]}
    openml.put_openml(454, columns, ["ann,1,'0'", "bob,2,'1'"], ignore=ignore)
    data = load("spambase")
    assert data.X.ravel().tolist() == [1, 2]
    assert data.y.tolist() == [0, 1]
    monkeypatch.setattr(fetching, "_has_pandas", lambda: False)
    with pytest.raises(ValueError, match=r"spambase from OpenML .* needs pandas; install it"):
        fetch("spambase", force=True)
    assert load("spambase").about.verified  # what was there before is there still


def test_sparse_data(openml, known, either_parser):
    known(openml=4136, dtype="int16", nonzeros=3, shape=(3, 3), class_counts={0: 1, 1: 2})
    columns = {"a": "numeric", "b": "numeric", "c": "numeric", "class": ["-1", "1"]}
    rows = ["{0 5,2 999,3 1}", "{1 1,3 -1}", "{3 1}"]
    openml.put_openml(4136, columns, rows, sparse=True)
    data = load("spambase")
    assert data.X.format == "csr"
    assert data.X.dtype == np.int16
    assert data.X.toarray().tolist() == [[5, 0, 999], [0, 1, 0], [0, 0, 0]]
    assert data.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["baseball", "pageblocks", "pendigits", "spambase"])
def test_real_sets_come_back_as_they_are_on_disk(openml, cache, real_folder, monkeypatch, name):
    """The file in VICINAL_DATA, served as OpenML would, takes the same form again by what the catalogue says of it."""
    monkeypatch.setenv("VICINAL_DATA", real_folder)
    if path_of(name) is None:
        pytest.skip(f"{name}.npz is not in VICINAL_DATA")
    own = load(name)
    labels = [str(label) for label in own.about.extras.get("y_class", own.y)]
    names = own.names or [f"c{j}" for j in range(own.X.shape[1])]
    columns = {**dict.fromkeys(names, "numeric"), "class": sorted(set(labels))}
    cells = [["?" if value != value else repr(value.item()) for value in row] for row in own.X]
    if name == "baseball":
        pytest.importorskip("pandas")
        columns["Position"] = own.about.extras["position_levels"].tolist()
        cells = [[*row, columns["Position"][int(float(position))]] for *row, position in cells]
    rows = [",".join([*row, label]) for row, label in zip(cells, labels, strict=True)]
    openml.put_openml(entries()[name].openml, columns, rows)
    monkeypatch.delenv("VICINAL_DATA")
    again = load(name)
    assert again.about.path == cache / f"{name}.npz"
    assert again.X.dtype == own.X.dtype
    np.testing.assert_array_equal(again.X, own.X)
    np.testing.assert_array_equal(again.y, own.y)
    assert again.y.dtype == own.y.dtype


@pytest.mark.parametrize(
    ("changes", "options", "says"),
    [
        ({"class_counts": {0: 2, 1: 1}}, {}, "its rows per class are {0: 1, 1: 2}, not {0: 2, 1: 1}"),
        ({"shape": (3, 4)}, {}, "its rows and columns are (3, 2), not (3, 4)"),
        ({"dtype": "uint8"}, {}, "values that are not of the type uint8"),
        ({}, {"md5": "0" * 32}, "md5 checksum"),
    ],
)
def test_what_is_not_the_data_set_is_refused(openml, cache, known, changes, options, says):
    known(openml=44, **{**SMALL, **changes})
    openml.put_openml(44, COLUMNS, ROWS, **options)
    with pytest.raises(ValueError, match=r"spambase from OpenML .* was refused, and nothing stored: ") as error:
        load("spambase")
    assert says in str(error.value)
    assert "\n" not in str(error.value)
    assert left_in(cache) == []


def test_wrong_number_of_non_zeros_is_refused(openml, known):
    known(openml=44, nonzeros=7, shape=(1, 1), class_counts={0: 1})
    openml.put_openml(44, {"a": "numeric", "class": ["1", "2"]}, ["{0 5,1 1}"], sparse=True)
    with pytest.raises(ValueError, match="its non-zeros are 1, not 7"):
        fetch("spambase")


def test_offline_says_what_was_looked_for(openml, folder, cache):
    openml.close()  # nobody listens there any more
    with pytest.raises(ConnectionError) as error:
        load("spambase")
    message = str(error.value)
    assert message.startswith(f"spambase.npz was looked for in {folder / 'tabular'}, {cache}, and ")
    assert "OpenML (data set 44) could not be reached (" in message
    assert "get it from https://www.openml.org/d/44 and put it into the folder tabular of VICINAL_DATA" in message
    assert left_in(cache) == []


def test_a_server_in_trouble_counts_as_out_of_reach(openml, cache):
    with pytest.raises(ConnectionError, match=r"could not be reached \(Internal Server Error\)"):
        fetch("spambase")
    assert len(openml.asked) == 4  # scikit-learn asks three times more
    assert left_in(cache) == []


def test_a_fetch_that_is_interrupted_leaves_nothing(openml, cache, known):
    known(openml=44, **SMALL)
    openml.put_openml(44, COLUMNS, ROWS)

    def interrupt(step):
        if step.startswith("storing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch("spambase", callback=interrupt)
    assert left_in(cache) == []


def test_a_killed_fetch_leaves_no_file(openml, folder, cache):
    """The process dies by SIGKILL in the middle of the download; what it hid is removed by a fetch a day later."""
    openml.put_openml(44, COLUMNS, ROWS, stalls=True)
    script = textwrap.dedent(f"""
        from sklearn.datasets import _openml
        vars(_openml).update({openml_addresses(openml.url)!r})
        from vicinal.datasets import fetch
        fetch("spambase")
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    try:
        assert openml.stalled.wait(60)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path_of("spambase") is None
    hidden = left_in(cache)
    assert hidden
    assert all(name.startswith(".spambase.fetch-") for name in hidden)
    for name in hidden:
        os.utime(cache / name, (0, 0))
    openml.close()
    with pytest.raises(ConnectionError):
        fetch("spambase")
    assert left_in(cache) == []


def test_damaged_cache_is_said_to_be_so(openml, cache, known):
    known(openml=44, **SMALL)
    openml.put_openml(44, COLUMNS, ROWS)
    path = fetch("spambase")
    np.savez(path, X=np.eye(2))  # a sound file, but not the one that was stored
    for call in (load, fetch):
        with pytest.raises(ValueError, match=re.escape(f"{path} is damaged")) as error:
            call("spambase")
        assert "delete it or run `vicinal data fetch spambase --force`" in str(error.value)
    fetch("spambase", force=True)
    assert load("spambase").about.verified is True


def test_a_checksum_without_its_file_is_no_data(openml, cache, known):
    """As a kill between the two renamings would leave it."""
    known(openml=44, **SMALL)
    openml.put_openml(44, COLUMNS, ROWS)
    cache.mkdir()
    (cache / "spambase.npz.sha256").write_text("0" * 64)
    assert path_of("spambase") is None
    assert load("spambase").about.verified is True


def test_a_cache_that_cannot_be_written_to(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("VICINAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OSError, match=r"cannot be written to .*; name another folder in VICINAL_CACHE"):
        fetch("spambase")


# ------------------------------------------------------------------------------------------------ scikit-learn's own


@pytest.fixture
def kdd99(openml, monkeypatch):
    """A file in the format of KDD Cup 1999: 5 normal connections and 4 attacks of two kinds."""
    services = ["http", "smtp", "http", "ftp", "auth", "ecr_i", "ecr_i", "private", "ecr_i"]
    labels = ["normal."] * 5 + ["smurf.", "smurf.", "neptune.", "smurf."]
    lines = [
        ",".join([str(row), "tcp", service, "SF", *["0"] * 20, *["0.25"] * 7, *["3"] * 2, *["0.50"] * 8, label])
        for row, (service, label) in enumerate(zip(services, labels, strict=True))
    ]
    assert {line.count(",") for line in lines} == {41}
    body = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    openml.put("/kdd.gz", body)
    archive = _kddcup99.ARCHIVE_10_PERCENT._replace(
        url=f"{openml.url}/kdd.gz", checksum=hashlib.sha256(body).hexdigest()
    )
    monkeypatch.setattr(_kddcup99, "ARCHIVE_10_PERCENT", archive)
    return archive


def test_kdd99_all(kdd99, known, cache):
    known(name="kdd", openml=None, fetcher="kdd99_10pct", shape=(9, 41), class_counts={0: 1, 1: 5, 2: 3})
    data = load("kdd")
    assert data.classes == ("neptune", "normal", "smurf")
    assert data.y.tolist() == [1, 1, 1, 1, 1, 2, 2, 0, 2]
    assert data.about.extras["levels_service"].tolist() == ["auth", "ecr_i", "ftp", "http", "private", "smtp"]
    assert data.X[:, 2].tolist() == [3, 5, 3, 2, 0, 1, 1, 4, 1]
    assert data.X[:, 0].tolist() == list(range(9))
    assert data.X.dtype == np.float32
    assert data.X[0, 24] == 0.25
    assert data.names[:3] == ("duration", "protocol_type", "service")
    assert left_in(cache) == ["kdd.npz", "kdd.npz.sha256"]


def test_kdd99_sa_equals_scikit_learns_subset(kdd99, known, tmp_path):
    counts = {0: 5, 1: 3377}
    known(name="kdd", openml=None, fetcher="kdd99_sa", shape=(3382, 41), class_counts=counts)
    data = load("kdd")
    expected = _kddcup99.fetch_kddcup99(subset="SA", random_state=0, data_home=str(tmp_path / "scikit-learn"))
    np.testing.assert_array_equal(data.X[:, 0], expected.data[:, 0].astype(float))
    np.testing.assert_array_equal(data.y, expected.target != b"normal.")
    np.testing.assert_array_equal(
        data.about.extras["classes"][data.about.extras["attack"]] == "smurf", expected.target == b"smurf."
    )


def test_a_wrong_sha256_is_refused(kdd99, monkeypatch, cache):
    monkeypatch.setattr(_kddcup99, "ARCHIVE_10_PERCENT", kdd99._replace(checksum="0" * 64))
    with pytest.raises(ValueError, match=r"kdd99_10pct .* was refused, and nothing stored: .*SHA256"):
        fetch("kdd99_10pct")
    assert left_in(cache) == []


def test_covtype(openml, known, monkeypatch):
    lines = ["2596," + ",".join(["1"] * 53) + ",5", "2590," + ",".join(["-6"] * 53) + ",2"]
    body = gzip.compress("\n".join(lines).encode())
    openml.put("/covtype.gz", body)
    archive = _covtype.ARCHIVE._replace(url=f"{openml.url}/covtype.gz", checksum=hashlib.sha256(body).hexdigest())
    monkeypatch.setattr(_covtype, "ARCHIVE", archive)
    known(
        name="cover",
        openml=None,
        fetcher="covtype",
        dtype="int16",
        shape=(2, 54),
        class_counts={2: 1, 5: 1},
    )
    data = load("cover")
    assert data.X.dtype == np.int16
    assert data.X[:, :2].tolist() == [[2596, 1], [2590, -6]]
    assert data.y.tolist() == [5, 2]
    assert data.names[0] == "Elevation"


def put_ijcnn1(server, parts):
    for name, (X, y) in zip(("ijcnn1.bz2", "ijcnn1.t.bz2"), parts, strict=True):
        text = io.BytesIO()
        dump_svmlight_file(X, np.where(y == 1, 1, -1), text, zero_based=False)
        server.put(f"/binary/{name}", bz2.compress(text.getvalue()))


def test_ijcnn1_comes_in_two_files(openml, cache, known, monkeypatch):
    monkeypatch.setattr(fetching, "LIBSVM", openml.url)
    X, y = np.array([[0.5, 0.0], [0.0, 2.0], [1.5, 3.0]], dtype=np.float32), np.array([0, 1, 1])
    content = fetching.content_hash({"X": X, "y": y})
    known(name="ijcnn1", openml=None, fetcher="ijcnn1", content=content, **SMALL)
    put_ijcnn1(openml, [(X[:2], y[:2]), (X[2:], y[2:])])
    data = load("ijcnn1")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [0, 1, 1]
    assert data.split.tolist() == [0, 0, 1]
    put_ijcnn1(openml, [(X[:2] + 1, y[:2]), (X[2:], y[2:])])
    with pytest.raises(
        ValueError, match="ijcnn1 from the LIBSVM data page was refused, and nothing stored: its values"
    ):
        fetch("ijcnn1", force=True)
    assert left_in(cache) == ["ijcnn1.npz", "ijcnn1.npz.sha256"]


def test_ijcnn1_is_the_file_that_experiments_use(openml, folder, real_folder, monkeypatch):
    monkeypatch.setenv("VICINAL_DATA", real_folder)
    real = load("ijcnn1")
    monkeypatch.setenv("VICINAL_DATA", str(folder))
    monkeypatch.setattr(fetching, "LIBSVM", openml.url)
    put_ijcnn1(openml, [(real.X[real.split == part], real.y[real.split == part]) for part in (0, 1)])
    fetched = load("ijcnn1")
    np.testing.assert_array_equal(fetched.X, real.X)
    np.testing.assert_array_equal(fetched.y, real.y)

"""Data sets by name: the forms of their files, where they are looked for, and what the catalogue says of them."""

import dataclasses
import hashlib
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal._validation import suggest
from vicinal.datasets import Dataset, catalog, checksum, fetch, load, path_of
from vicinal.datasets import _fetch as fetching
from vicinal.datasets._catalog import entries


@pytest.fixture
def sparse(rng):
    return sp.random(6, 4, 0.5, format="csr", random_state=np.random.RandomState(0), dtype=np.float32)


def parts(matrix, prefix=""):
    return {
        prefix + "data": matrix.data,
        prefix + "indices": matrix.indices,
        prefix + "indptr": matrix.indptr,
        prefix + "shape": np.array(matrix.shape),
    }


# ------------------------------------------------------------------------------------------------ forms of files


def test_dense_table(folder, rng):
    X = rng.normal(size=(5, 3)).astype(np.float32)
    y, split = np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 2], dtype=np.uint8)
    np.savez(
        folder / "tabular/mine.npz", X=X, y=y, split=split, feature_names=["a", "b", "c"], classes=["no", "yes"], age=y
    )
    data = load("mine")
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal(data.split, split)
    assert data.X.dtype == np.float32
    assert (data.about.name, data.names, data.classes) == ("mine", ("a", "b", "c"), ("no", "yes"))
    assert list(data.about.extras) == ["age"]
    assert data.about.path == folder / "tabular/mine.npz"
    assert data.about.sha256 == hashlib.sha256(data.about.path.read_bytes()).hexdigest()
    assert all(field is None for field in (data.adjacency, data.views, data.side))
    assert all(data.about[field] is None for field in ("description", "verified"))


def test_classes_that_do_not_name_the_labels_are_extras(folder):
    np.savez(folder / "tabular/mine.npz", X=np.eye(3), y=np.array([0, 1, 1]), classes=["smurf", "neptune", "normal"])
    data = load("mine")
    assert data.classes is None
    assert data.about.extras["classes"].tolist() == ["smurf", "neptune", "normal"]


def test_csr_table(folder, sparse):
    np.savez_compressed(folder / "tabular/mine.npz", **parts(sparse), y=np.arange(6))
    data = load("mine")
    assert sp.issparse(data.X)
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), sparse.toarray())
    assert data.about.extras == {}


def test_network(folder, sparse):
    edges = np.array([[0, 1], [1, 4], [2, 3]], dtype=np.int32)
    np.savez(
        folder / "hetero/mine.npz",
        **parts(sparse, "X_"),
        y=np.zeros(6, int),
        edges=edges,
        edges_directed=edges,
        terms=list("abcd"),
    )
    data = load("mine")
    expected = np.zeros((6, 6))
    expected[[0, 1, 1, 4, 2, 3], [1, 0, 4, 1, 3, 2]] = 1
    np.testing.assert_array_equal(data.adjacency.toarray(), expected)
    assert data.adjacency.format == "csr"
    assert data.adjacency.has_canonical_format
    assert data.names == ("a", "b", "c", "d")
    assert list(data.about.extras) == ["edges_directed"]


def test_an_edge_named_from_both_ends_counts_once(folder, sparse):
    np.savez(folder / "hetero/mine.npz", **parts(sparse, "X_"), edges=np.array([[0, 1], [1, 0], [0, 1]]))
    assert load("mine").adjacency.toarray()[:2, :2].tolist() == [[0, 1], [1, 0]]


def test_views_are_named_and_stand_side_by_side(folder, rng):
    # ten views and more: their order is that of numbers, not of words
    views = [sp.csr_matrix(np.full((3, 2), k + 1.0)) for k in range(11)]
    arrays = {key: part for k, view in enumerate(views, 1) for key, part in parts(view, f"view{k}_").items()}
    terms = {f"view{k}_terms": np.array(["a", "b"]) for k in range(1, 12)}
    names = [f"v{k}" for k in range(11)]
    np.savez(folder / "hetero/mine.npz", **arrays, **terms, view_names=names, n_views=11, y=np.zeros(3, int))
    data = load("mine")
    assert list(data.views) == names
    for columns, expected in zip(data.views.values(), views, strict=True):
        np.testing.assert_array_equal(data.X[:, columns].toarray(), expected.toarray())
    np.testing.assert_array_equal(data.X.toarray(), np.hstack([view.toarray() for view in views]))
    assert data.names[:3] == ("v0:a", "v0:b", "v1:a")
    assert int(data.about.extras["n_views"]) == 11


def test_heterogeneous_network(folder, sparse):
    np.savez(
        folder / "hetero/mine.npz",
        **parts(sparse, "X_"),
        **parts(sparse.T.tocsr(), "Xside_effect_"),
        target="drug",
        n_drug=6,
        n_side_effect=4,
        drug_ids=np.array(list("uvwxyz")),
        rel_drug_side_effect=np.array([[0, 3], [5, 0]]),
        rel_drug_drug_like=np.array([[1, 2]]),
        rel_drug_drug_unlike=np.array([[2, 1]]),
    )
    data = load("mine")
    assert data.side.target == "drug"
    assert data.side.n_nodes == {"drug": 6, "side_effect": 4}
    assert list(data.side.relations) == [
        ("drug", "to", "side_effect"),
        ("drug", "like", "drug"),
        ("drug", "unlike", "drug"),
    ]
    relation = data.side.relations["drug", "to", "side_effect"]
    assert relation.shape == (6, 4)
    assert list(zip(*relation.nonzero(), strict=True)) == [(0, 3), (5, 0)]
    assert data.side.names["drug"].tolist() == list("uvwxyz")
    np.testing.assert_array_equal(data.about.extras["Xside_effect"].toarray(), sparse.T.toarray())
    assert list(data.about.extras) == ["Xside_effect"]
    part = data[[5, 1, 2]]
    assert part.side.names["drug"].tolist() == ["z", "v", "w"]
    assert part.side.relations["drug", "like", "drug"].nnz == 2


def test_without_a_target_relations_are_arrays_like_others(folder, sparse):
    links = np.array([[0, 3], [5, 0]])
    np.savez(folder / "hetero/mine.npz", **parts(sparse, "X_"), n_drug=6, n_gene=4, rel_drug_gene=links)
    data = load("mine")
    assert data.side is None
    assert list(data.about.extras) == ["n_drug", "n_gene", "rel_drug_gene"]


def test_relations_of_known_data_have_names_and_mutual_ones_lead_both_ways(folder, sparse, monkeypatch):
    mine = Dataset("mine", "hetero", "Drugs.", (6, 4), "me", "CC0", relations={"drug_drug": "resembles"})
    monkeypatch.setattr("vicinal.datasets._load.entries", lambda: {"mine": mine})
    links = np.array([[0, 3], [1, 2]])
    np.savez(folder / "hetero/mine.npz", **parts(sparse, "X_"), target="drug", n_drug=6, rel_drug_drug=links)
    side = load("mine").side
    assert side.mutual == {("drug", "resembles", "drug")}
    assert side.n_links == {("drug", "resembles", "drug"): 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "gene"}, "its target 'gene' is none of its types of nodes, which are drug, effect"),
        ({"n_drug": 7}, "it has 7 nodes of its target type 'drug', but X has 6 rows"),
        ({"rel_drug_gene": np.array([[0, 0]])}, "the relation 'rel_drug_gene' must name two of its types"),
        ({"rel_drug_effect": np.array([[0, 4]])}, "'rel_drug_effect' has numbers outside of its 6 x 4 nodes"),
        ({"rel_effect_drug": np.array([[0, 0]])}, "drug-to-effect is given twice, once in each direction"),
        ({"drug_ids": np.array(["a", "b"])}, "mine.npz is not a data set: "),
    ],
    ids=["target", "rows", "types", "numbers", "twice", "names"],
)
def test_side_information_that_does_not_fit_is_refused(folder, sparse, change, message):
    sound = {"target": "drug", "n_drug": 6, "n_effect": 4, "rel_drug_effect": np.array([[0, 3]])}
    np.savez(folder / "hetero/mine.npz", **parts(sparse, "X_"), **{**sound, **change})
    with pytest.raises(ValueError, match=message):
        load("mine")


def test_pickled_arrays_are_left_out_and_named(folder, rng):
    path = folder / "hetero/mine.npz"
    np.savez(path, X=rng.normal(size=(3, 2)), terms=np.array(["a", "b"], dtype=object))
    data = load("mine")
    assert data.about.unread == ["terms"]
    assert data.names is None


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"X": np.array([["a"]])}, "X must be a matrix of numbers"),
        ({"X": np.array([[1]], dtype=object)}, "neither X nor the parts of a CSR matrix nor views"),
        ({"X": np.eye(3), "y": np.arange(2)}, "'y' has the shape (2,), but X has 3 rows"),
        ({"X": np.eye(3), "edges": np.array([[0, 3]])}, "'edges' has numbers outside of its 3 x 3 nodes"),
        ({"X": np.eye(3), "edges": np.array([0.5])}, "'edges' must hold pairs of row numbers"),
        ({**parts(sp.csr_matrix(np.eye(3))), "indices": np.array([0, 1, 7])}, "do not belong together"),
        ({**parts(sp.csr_matrix(np.eye(2)), "view1_"), **parts(sp.csr_matrix(np.eye(3)), "view2_")}, "2, 3 rows"),
        ({"y": np.arange(2)}, "nor views that can be read, but y"),
    ],
)
def test_unfit_files_are_named_with_the_reason(folder, arrays, says):
    path = folder / "tabular/mine.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=re.escape(f"{path} is not a data set: ") + ".*" + re.escape(says)):
        load("mine")


@pytest.mark.parametrize("damage", ["empty", "cut", "text", "npy", "flipped"])
def test_damaged_file_is_named(folder, rng, damage):
    path = folder / "tabular/mine.npz"
    np.savez_compressed(path, X=rng.normal(size=(50, 20)))
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "empty": b"",
            "cut": whole[:middle],
            "text": b"no array at all",
            "npy": b"\x93NUMPY\x01\x00",
            "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
        }[damage]
    )
    with pytest.raises(ValueError, match=re.escape(f"{path} is damaged")):
        load("mine")


# ------------------------------------------------------------------------------------------------ search and names


def test_search_order(folder, cache):
    cache.mkdir()
    (folder / "regression").mkdir()
    places = ("tabular", "hetero", "regression")
    expected = [*(folder / place / "mine.npz" for place in places), cache / "mine.npz"]
    for path in expected:
        np.savez(path, X=np.eye(2))
    for path in expected:
        assert path_of("mine") == load("mine").about.path == path
        path.unlink()
    assert path_of("mine") is None


@pytest.mark.parametrize("variable", ["VICINAL_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_place_of_the_cache(folder, tmp_path, monkeypatch, variable):
    for name in ("VICINAL_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "home"))
    inside = {"VICINAL_CACHE": "mine.npz", "XDG_CACHE_HOME": "vicinal/mine.npz", "HOME": ".cache/vicinal/mine.npz"}
    path = tmp_path / "home" / inside[variable]
    path.parent.mkdir(parents=True)
    np.savez(path, X=np.eye(2))
    assert load("mine").about.path == path


def test_verified_tells_whether_the_file_is_that_of_the_catalogue(folder, known):
    path = folder / "tabular/spambase.npz"
    np.savez(path, X=np.eye(2), y=np.arange(2))
    data = load("spambase")
    assert data.about.verified is False
    assert data.about.licence == "UCI, CC BY 4.0"
    known(sha256=data.about.sha256)
    assert load("spambase").about.verified is True
    known(sha256=None)
    assert load("spambase").about.verified is None


def test_stand_ins_say_for_what(folder):
    np.savez(folder / "tabular/madelon.npz", X=np.eye(2), y=np.arange(2))
    assert "GISETTE" in load("madelon").about.stand_in_for


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mnits", "There is no data set 'mnits'; did you mean 'mnist' or 'fashion_mnist'?"),
        ("MNIST", "There is no data set 'MNIST'; did you mean 'mnist'"),
        ("cora", "did you mean 'net_cora'"),
        ("mien", "did you mean 'mine'?"),
        ("qqqqq", "known are aloi_outlier, anuran_mfcc, arcene and 63 more."),
        ("../tabular/mine", "There is no data set '../tabular/mine'"),
        ("", "There is no data set ''"),
        (None, "There is no data set None"),
    ],
)
def test_unknown_names(folder, name, says):
    np.savez(folder / "tabular/mine.npz", X=np.eye(2))
    for call in (load, fetch):
        with pytest.raises(ValueError, match=re.escape(says)):
            call(name)


def test_a_set_of_ones_own_cannot_be_fetched(folder):
    np.savez(folder / "tabular/mine.npz", X=np.eye(2))
    with pytest.raises(ValueError, match=r"'mine' cannot be fetched: the catalogue does not know it, only \S+mine.npz"):
        fetch("mine")


def test_a_table_of_words_has_its_target_in_the_last_column(folder):
    (folder / "mixed").mkdir()
    (folder / "mixed/mine.csv").write_text("size,colour,kind\n1.5,red,b\n,blue,a\n2,red,b\n")
    data = load("mine")
    assert (data.names, data.classes, data.y.tolist()) == (("size", "colour"), ("a", "b"), [1, 0, 1])
    assert data.X["colour"].to_list() == ["red", "blue", "red"]
    assert data.about.path == path_of("mine") == folder / "mixed/mine.csv"
    (folder / "mixed/mine.csv").write_text("size,price\n1,2.5\n3,-1\n")
    assert load("mine").y.tolist() == [2.5, -1]
    assert load("mine").classes is None


def test_suggest_few_names():
    assert suggest("x", []) == "none are known"
    assert suggest("x", ["alpha", "beta"]) == "known are alpha, beta"


@pytest.mark.parametrize("name", ["aloi_outlier", "net_cora"])
def test_what_cannot_be_fetched_says_where_it_is_to_be_had(folder, cache, name):
    entry = entries()[name]
    with pytest.raises(FileNotFoundError) as error:
        load(name)
    message = str(error.value)
    assert message.startswith(f"{name}.npz was looked for in {folder / entry.folder}, {cache};")
    assert entry.source in message
    assert f"the folder {entry.folder} of VICINAL_DATA" in message


def test_an_unset_folder_is_said_to_be_unset(folder, monkeypatch):
    monkeypatch.delenv("VICINAL_DATA")
    with pytest.raises(FileNotFoundError, match=r"looked for in \S+ \(VICINAL_DATA is not set\);"):
        load("aloi_outlier")


# ------------------------------------------------------------------------------------------------ catalogue


def test_catalogue_is_complete_and_sound():
    assert len(catalog()) == 65
    assert len({entry.name for entry in catalog()}) == 65
    for entry in catalog():
        assert isinstance(entry, Dataset)
        assert entry.description.endswith(".")
        assert entry.source
        assert entry.licence
        assert re.fullmatch("[0-9a-f]{64}", entry.sha256 or entry.content)
        if entry.folder != "mixed":
            folders = {"text_": "hetero", "net_": "hetero", "mv_": "hetero", "hin_": "hetero", "reg_": "regression"}
            assert entry.folder == next((folders[p] for p in folders if entry.name.startswith(p)), "tabular")
        assert entry.class_counts is None or sum(entry.class_counts.values()) == entry.shape[0]
        assert not entry.views or sum(entry.views) == entry.shape[1]
        assert entry.fetcher is None or entry.fetcher in fetching._SOURCES
    with pytest.raises(dataclasses.FrozenInstanceError):
        catalog()[0].name = "other"


@pytest.mark.parametrize("name", [entry.name for entry in catalog()])
def test_real_file_is_what_the_catalogue_says(name):
    own = os.environ.get("VICINAL_DATA")
    if not own:
        pytest.skip("VICINAL_DATA is not set: this test needs real data")
    entry = entries()[name]
    if path_of(name) is None:
        pytest.skip(f"{name} is not in VICINAL_DATA")
    data = load(name)
    assert data.about.verified is True
    assert data.X.shape == entry.shape
    if entry.folder in ("regression", "mixed"):
        assert data.y.shape == entry.shape[:1]
    elif entry.class_counts is None:
        assert data.y is None
    else:
        labels, counts = np.unique(data.y, return_counts=True)
        assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == entry.class_counts
    assert entry.nonzeros is None or data.X.nnz == entry.nonzeros
    assert tuple(part.stop - part.start for part in (data.views or {}).values()) == entry.views
    if entry.edges is None:
        assert data.adjacency is None
    else:
        assert data.adjacency.nnz == 2 * entry.edges
        assert (data.adjacency != data.adjacency.T).nnz == 0
        assert data.adjacency.diagonal().sum() == 0
    assert (data.side is not None) == name.startswith("hin_")
    if data.side is not None:
        assert len(data.side) == entry.shape[0]
        words = {f"{source}_{end}": word for source, word, end in data.side.relations}
        assert entry.relations.items() <= words.items()
        assert data.side.mutual == {key for key in data.side.relations if key[0] == key[2]}
    if entry.fetchable and entry.nonzeros is None:
        assert data.X.dtype == entry.dtype


def test_the_draw_of_kdd99_sa_is_scikit_learns(real_data):
    whole, attack, _ = real_data("kdd99_10pct")
    X, y, _ = real_data("kdd99_sa")
    rows = fetching.sa_rows(attack == load("kdd99_10pct").classes.index("normal"))
    np.testing.assert_array_equal(whole[rows], X)
    np.testing.assert_array_equal(np.arange(len(y)) >= 97278, y)


def test_the_checksum_of_what_scikit_learn_includes_is_the_same_before_and_after_it_is_fetched(cache):
    before = checksum("iris")
    assert len(before) == 64
    fetch("iris")
    assert checksum("iris") == before

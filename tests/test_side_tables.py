"""Side information from tables of edges and from TOML files that name them: what is read, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vicinal.network import EdgeTable, HeteroNetwork, from_tables

BINDS = ("drug", "binds", "gene")
LIKE = ("drug", "like", "drug")


def dense(network, key=BINDS):
    return network.relations[key].toarray().tolist()


@pytest.mark.parametrize(
    "convert",
    [
        lambda ends: np.array(ends),
        lambda ends: tuple(np.array(ends).T),
        lambda ends: pd.DataFrame(ends, columns=["a", "b"]),
        lambda ends: pl.DataFrame(ends, schema=["a", "b"], orient="row"),
    ],
    ids=["array", "tuple", "pandas", "polars"],
)
def test_takes_every_kind_of_table(convert):
    named = from_tables({BINDS: convert([("y", "g2"), ("x", "g1"), ("y", "g2")])}, target="drug")
    assert isinstance(named, HeteroNetwork)
    assert {kind: names.tolist() for kind, names in named.names.items()} == {"drug": ["x", "y"], "gene": ["g1", "g2"]}
    assert dense(named) == [[1, 0], [0, 1]]
    numbered = from_tables({BINDS: convert([(2, 0), (0, 1)])}, target="drug", nodes={"drug": 4, "gene": 2})
    assert dense(numbered) == [[0, 1], [0, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("header", ["", "one,two\n", "drug,gene\n"])
def test_takes_files_with_and_without_a_header(tmp_path, header):
    path = tmp_path / "binds.csv"
    path.write_text(header + "x,7\ny,10\nx,10\n")
    network = from_tables({BINDS: path}, target="drug", nodes={"drug": ["y", "x"]})
    assert network.names["gene"].tolist() == [7, 10]  # as numbers, not as texts
    assert dense(network) == [[0, 1], [1, 1]]


def test_a_first_line_that_looks_like_the_others_is_an_edge(tmp_path):
    path = tmp_path / "binds.csv"
    path.write_text("D1,g1\nD2,g22\n")
    assert dense(from_tables({BINDS: path}, target="drug")) == [[1, 0], [0, 1]]
    path.write_text("id1,id2\nD1,g1\nD2,g22\n")
    assert dense(from_tables({BINDS: path}, target="drug")) == [[1, 0], [0, 1]]


def test_columns_named_like_the_types_are_the_ends_in_any_order(tmp_path):
    frame = pl.DataFrame({"affinity": [2.0, 3.0], "gene": ["g", "h"], "drug": ["x", "y"]})
    frame.write_csv(tmp_path / "binds.csv")
    for edges in (frame, frame.to_pandas(), tmp_path / "binds.csv", str(tmp_path / "binds.csv")):
        assert dense(from_tables({BINDS: EdgeTable(edges, weight="affinity")}, target="drug")) == [[2, 0], [0, 3]]
    other = from_tables({BINDS: EdgeTable(frame, columns=("gene", "drug"))}, target="drug")
    assert other.names["drug"].tolist() == ["g", "h"]


def test_nodes_that_several_relations_name_are_the_same():
    tables = {
        BINDS: [("x", "7"), ("y", "10")],
        ("gene", "in", "pathway"): [(7, 0), (9, 1)],
        ("disease", "by", "gene"): pd.DataFrame({"disease": ["d"], "gene": [10]}),
    }
    network = from_tables(tables, target="drug")
    assert network.names["gene"].tolist() == [7, 9, 10]
    assert dense(network, ("gene", "in", "pathway")) == [[1, 0], [0, 1], [0, 0]]
    assert dense(network, ("disease", "by", "gene")) == [[0, 0, 1]]


def test_mutual_relations_lead_both_ways():
    made = from_tables({LIKE: EdgeTable([(0, 1), (2, 1), (1, 2)], mutual=True)}, target="drug", nodes={"drug": 3})
    assert dense(made, LIKE) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert made.mutual == {LIKE}
    one_way = from_tables({LIKE: [(0, 1)]}, target="drug")
    assert dense(one_way, LIKE) == [[0, 1], [0, 0]]


def test_an_edge_whose_weights_agree_counts_once():
    twice = (["x", "x"], ["g", "g"], [2.0, 2.0])
    assert dense(from_tables({BINDS: tuple(map(np.array, twice))}, target="drug")) == [[2]]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (({}, {"target": "drug"}), "Relations are a mapping of .* to tables of edges, with at least one, or the path"),
        (({BINDS: [("x", "g")]}, {}), "Say with target=... which type of nodes are the rows of the table"),
        (({BINDS: [("x", "g")]}, {"target": "drugs"}), "No relation has nodes of type 'drugs'; did you mean 'drug'"),
        (({BINDS: [(0, 5)]}, {"target": "drug", "nodes": {"gene": 5}}), "drug-binds-gene: Edges name a node of type "),
        (({BINDS: [(0, 5)]}, {"target": "drug", "nodes": {"gene": 5}}), "'5' .edge 0.. Known are 0 to 4"),
        (
            ({BINDS: [("x", "g")]}, {"target": "drug", "nodes": {"drug": ["y", "z"]}}),
            "a node of type drug that is not among the 2 known ones: 'x'",
        ),
        (({BINDS: [(0, 0)]}, {"target": "drug", "nodes": {"gen": 5}}), "of type 'gen'; did you mean 'gene'"),
        (({BINDS: [(0, 0)]}, {"target": "drug", "nodes": {"gene": 0}}), "Nodes of type gene: nodes must be"),
        (({BINDS: [(0, 0)]}, {"target": "drug", "nodes": {"gene": ["g", "g"]}}), "Nodes of type gene: Names of nodes"),
        (({BINDS: np.empty((0, 2))}, {"target": "drug", "nodes": {"drug": 3}}), "No edge names a node of type gene"),
        (({("drug", "binds"): [(0, 0)]}, {"target": "drug"}), "A relation is named by three words"),
        (({BINDS: EdgeTable([(0, 0)], mutual=True)}, {"target": "drug"}), "is not within one type, so that it cannot"),
        (
            ({BINDS: EdgeTable(pd.DataFrame({"a": [0], "b": [1]}), weight="w")}, {"target": "drug"}),
            "drug-binds-gene: The table of edges has no column 'w'",
        ),
        (
            ({BINDS: (np.array([0, 0]), np.array([1, 1]), np.array([1.0, 2.0]))}, {"target": "drug"}),
            "drug-binds-gene: The link between 0 and 1 is listed with the weights 1 and 2",
        ),
        (({BINDS: [(0, 0)], ("gene", "binds", "drug"): [(0, 0)]}, {"target": "drug"}), "is given twice, once in each"),
    ],
)
def test_what_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        from_tables(arguments[0], **arguments[1])


@pytest.fixture
def declared(tmp_path):
    """A folder with relations as a TOML file names them."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/binds.csv").write_text("who,strength,what\nx,2.5,0\nz,1.5,2\n")
    (tmp_path / "data/like.tsv").write_text("x\ty\ny\tz\n")
    (tmp_path / "drugs.csv").write_text("full name,code\nZebra,z\nYak,y\nXerus, x\n")
    (tmp_path / "side.toml").write_text(
        """
        target = "drug"
        [[relation]]
        source = "drug"
        name = "binds"
        target = "gene"
        file = "data/binds.csv"
        columns = ["who", "what"]
        weight = "strength"
        [[relation]]
        source = "drug"
        name = "like"
        target = "drug"
        file = "data/like.tsv"
        mutual = true
        [nodes]
        drug = "drugs.csv:code"
        gene = 4
        """
    )
    return tmp_path / "side.toml"


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_toml_file_names_the_tables(declared, monkeypatch, kind):
    monkeypatch.chdir("/")  # paths are relative to the file
    network = from_tables(kind(declared))
    assert network.target == "drug"
    assert network.names["drug"].tolist() == ["z", "y", "x"]
    assert dense(network) == [[0, 0, 1.5, 0], [0, 0, 0, 0], [2.5, 0, 0, 0]]
    assert dense(network, LIKE) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_what_is_given_goes_before_what_the_file_says(declared):
    network = from_tables(declared, target="gene", nodes={"drug": ["x", "y", "z"]})
    assert network.target == "gene"
    assert network.names["drug"].tolist() == ["x", "y", "z"]


def test_nodes_are_in_the_first_column_unless_another_is_named(declared):
    declared.write_text(declared.read_text().replace("drugs.csv:code", "codes.csv"))
    (declared.parent / "codes.csv").write_text("code;more\nz;1\ny;2\nx;3\n")
    assert from_tables(declared).names["drug"].tolist() == ["z", "y", "x"]
    (declared.parent / "codes.csv").write_text("a code\nz\ny\nx\n")
    assert from_tables(declared).names["drug"].tolist() == ["z", "y", "x"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('target = "drug"\n', 'target = "drug', "side.toml is not valid TOML: "),
        ("[nodes]", "[node]", "side.toml has an unknown key 'node'; did you mean 'nodes'"),
        ("[nodes]", "[nodes]\ndrugs = 3", "has nodes of type 'drugs', which no relation has; did you mean 'drug'"),
        ("gene = 4", "gene = 1.5", "side.toml, nodes: gene must be a number of nodes or a file of names; got 1.5"),
        ("gene = 4", "gene = 0", "Nodes of type gene: nodes must be"),
        ("gene = 4", "gene = 2", r"drug-binds-gene \(binds.csv\): .* 2 known ones: '2' \(line 3\). Known are 0 to 1"),
        ("weight =", "weigth =", "side.toml, relation 1 has an unknown key 'weigth'; did you mean 'weight'"),
        ('weight = "strength"', 'weight = "force"', r"drug-binds-gene \(binds.csv\): binds.csv has no column 'force'"),
        ('"who", "what"', '"who"', "relation 1: columns must be a list of two names, those of the ends of edges"),
        ("mutual = true", 'mutual = "yes"', "relation 2: mutual must be true or false; got 'yes'"),
        ('name = "like"\n', "", "side.toml, relation 2 lacks 'name'; it needs 'source' and 'name' and 'target' and"),
        ('name = "like"', 'name = "is-like"', "The name 'is-like' of drug-is-like-drug has a mark that meta-paths"),
        ('target = "drug"\n        file', 'target = "gene"\n        file', "not within one type, so that it cannot be"),
        ("drugs.csv:code", "drugs.csv:cod", "drugs.csv has no column 'cod'; did you mean 'code'"),
    ],
)
def test_what_a_toml_file_must_be(declared, old, new, sentence):
    assert old in declared.read_text()
    declared.write_text(declared.read_text().replace(old, new))
    with pytest.raises(ValueError, match=sentence):
        from_tables(declared)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("data/like.tsv", "like.tsv", "relation 2 names the file 'like.tsv', and there is no file .*like.tsv"),
        (
            "drugs.csv:code",
            "drug.csv:code",
            "names the file 'drug.csv:code' for nodes of type drug; there is no .*drug",
        ),
    ],
)
def test_files_must_be_there(declared, old, new, sentence):
    declared.write_text(declared.read_text().replace(old, new))
    with pytest.raises(FileNotFoundError, match=sentence):
        from_tables(declared)
    with pytest.raises(FileNotFoundError, match=r"There is no file nowhere\.toml"):
        from_tables("nowhere.toml")


def test_a_relation_stands_once(declared):
    text = declared.read_text()
    start = text.index('[[relation]]\n        source = "drug"\n        name = "like"')
    declared.write_text(text.replace("[nodes]", text[start : text.index("[nodes]")] + "[nodes]"))
    with pytest.raises(ValueError, match="has the relation drug-like-drug twice; put all its edges into one file"):
        from_tables(declared)


@pytest.mark.parametrize(
    ("text", "sentence"), [("target = 'drug'", "lacks 'relation'"), ("relation = 3", "list of tables")]
)
def test_a_file_needs_relations(tmp_path, text, sentence):
    (tmp_path / "side.toml").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        from_tables(tmp_path / "side.toml")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("code\nz\n\nx\n", "'code', which names nodes, is empty in row 2"),
        ("code\n", "has no rows below its first line"),
        ("code\nz\nz\n", "codes.csv, column 'code': Names of nodes must differ"),
    ],
)
def test_names_of_nodes_in_a_file(declared, text, sentence):
    declared.write_text(declared.read_text().replace("drugs.csv:code", "codes.csv"))
    (declared.parent / "codes.csv").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        from_tables(declared)

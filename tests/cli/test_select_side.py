"""`vicinal select --side`: columns that go with what relations say of the rows, and the report of both."""

import re

import numpy as np
import polars as pl
import pytest
from shell import refused, vicinal

from vicinal import SideFS
from vicinal.network import HeteroNetwork

PATHS = ["drug-binds-gene-binds-drug", "drug-binds-gene-in-pathway-in-gene-binds-drug", "drug-like-drug"]


@pytest.fixture(scope="module")
def web():
    """Properties of drugs of two kinds, the genes they bind, pathways of these, and drugs that are alike."""
    rng = np.random.default_rng(0)
    kind = np.arange(200) % 2
    X = rng.normal(size=(200, 10))
    X[:, :3] += 3 * kind[:, None]
    binds = np.argwhere(rng.random((200, 40)) < np.where(kind[:, None] == np.arange(40) % 2, 0.4, 0.05))
    within = np.column_stack([np.arange(40), np.arange(40) % 2])
    like = np.array([(row, row + 2) for row in range(50)])
    return X, {"binds": binds, "in": within, "like": like}


@pytest.fixture
def folder(tmp_path, web):
    """The same as files: drugs in an order of their own, and by name."""
    X, relations = web
    names = np.array([f"D{row:03}" for row in range(200)])
    order = np.random.default_rng(1).permutation(200)
    frame = pl.DataFrame(X[order], schema=[f"x{column}" for column in range(10)])
    frame.insert_column(0, pl.Series("code", names[order])).write_csv(tmp_path / "drugs.csv")
    pl.DataFrame(X, schema=[f"x{column}" for column in range(10)]).write_csv(tmp_path / "plain.csv")
    ends = relations["binds"]
    pl.DataFrame({"gene": ends[:, 1], "drug": names[ends[:, 0]]}).write_csv(tmp_path / "binds.csv")
    pl.DataFrame(relations["in"], schema=["g", "p"]).write_csv(tmp_path / "in.csv")
    pl.DataFrame(names[relations["like"]], schema=["a", "b"]).write_csv(tmp_path / "like.csv")
    (tmp_path / "side.toml").write_text(
        "\n".join(
            [
                'target = "drug"',
                *('[[relation]]\nsource = "drug"\nname = "binds"\ntarget = "gene"\nfile = "binds.csv"',),
                *('[[relation]]\nsource = "gene"\nname = "in"\ntarget = "pathway"\nfile = "in.csv"',),
                *('[[relation]]\nsource = "drug"\nname = "like"\ntarget = "drug"\nfile = "like.csv"\nmutual = true',),
                "[nodes]\ngene = 40",
            ]
        )
    )
    arrays = {f"n_{kind}": np.array(count) for kind, count in (("drug", 200), ("gene", 40), ("pathway", 2))}
    arrays |= {"rel_drug_gene_binds": ends, "rel_gene_pathway_in": relations["in"], "rel_drug_drug": relations["like"]}
    np.savez(tmp_path / "web.npz", X=X, target=np.array("drug"), **arrays)
    return tmp_path


def side(folder, *more):
    return ("select", folder / "drugs.csv", "--side", folder / "side.toml", "--nodes", "code", "-m", "sidefs", *more)


def pairs_of(run):
    """Meta-paths of the table with their pairs of rows; a path goes on in the next line."""
    lines = re.findall(r"│ (\S+) +│ +(\d\.\d+)? │ +([\d,]*) │", run.stdout)
    found = {}
    for path, weight, pairs in lines:
        if not weight:
            last, count = found.popitem()
            path, pairs = last + path, str(count)
        found[path] = int(pairs.replace(",", ""))
    return found


def test_planted_columns_are_found(folder):
    run = vicinal(*side(folder, "-k", "3", "-o", folder / "out.csv"))
    assert pl.read_csv(folder / "out.csv").columns == ["x0", "x1", "x2"]
    assert "side.toml: drug 200, gene 40, pathway 2;" in run.stderr
    assert set(pairs_of(run)) == set(PATHS)
    shown = run.stdout.partition(f"{folder}")[0]
    assert max(map(len, f"{shown}\n{run.stderr}".splitlines())) <= 80


def test_the_pairs_that_meta_paths_join(folder, web):
    X, relations = web
    ones = {name: np.zeros(shape) for name, shape in (("binds", (200, 40)), ("in", (40, 2)), ("like", (200, 200)))}
    for name, ends in relations.items():
        ones[name][tuple(ends.T)] = 1
    keys = {("drug", "binds", "gene"): ones["binds"], ("gene", "in", "pathway"): ones["in"]}
    network = HeteroNetwork({**keys, ("drug", "like", "drug"): ones["like"] + ones["like"].T}, target="drug")
    fitted = SideFS("all", random_state=0).fit(X, side=network)
    expected = dict(zip(fitted.metapaths_, fitted.metapath_pairs_.tolist(), strict=True))
    assert pairs_of(vicinal(*side(folder, "-k", "3"))) == expected
    by_number = pairs_of(vicinal("select", folder / "web.npz", "--side", "auto", "-m", "sidefs", "-k", "3"))
    assert by_number.pop("drug-to-drug") == expected.pop("drug-like-drug")
    assert by_number == expected


def test_meta_paths_and_their_aggregation(folder):
    chosen = ("--metapath", PATHS[0], "--metapath", PATHS[2], "--aggregation", "macro")
    run = vicinal(*side(folder, "-k", "3", *chosen))
    assert re.findall(r"│ (drug\S+) +│ +(\d\.\d+)", run.stdout) == [(PATHS[0], "0.500"), (PATHS[2], "0.500")]


def test_nodes_that_the_file_names(folder):
    toml = folder / "side.toml"
    toml.write_text(toml.read_text() + '\ndrug = "drugs.csv:code"\n')
    run = vicinal("select", folder / "drugs.csv", "--drop", "code", "--side", toml, "-m", "sidefs", "-k", "3")
    assert sorted(re.findall(r"│ +[123] │ (x\d) +│", run.stdout)) == ["x0", "x1", "x2"]


def test_the_report_has_the_schema_and_the_meta_paths(folder):
    report = folder / "report.html"
    vicinal(*side(folder, "-k", "3", "--plot", report))
    text = report.read_text("utf-8")
    for words in ("gene-in-pathway: 40 links", "drug-like-drug: 50 links", "drug: 200 nodes, the rows of the table"):
        assert words in text
    for words in (*PATHS, "What is known of the rows", "Scores from the best column", "x0"):
        assert words in text
    vicinal(*side(folder, "-k", "3", "--plot", folder / "curve.svg"))
    assert (folder / "curve.svg").read_text("utf-8").startswith("<svg")


def test_without_side_information_nearest_rows_stand_in(folder):
    run = vicinal("select", folder / "plain.csv", "-m", "sidefs", "-k", "3")
    words = "sidefs looks at side information, and none is given: nearest rows stand in for it."
    assert f"{words} See --side." in " ".join(run.stderr.split())
    assert "3 of 10 columns kept" in run.stdout
    assert "What makes rows similar" not in run.stdout
    own = vicinal("select", folder / "web.npz", "-m", "sidefs", "-k", "3")
    assert f"{words} The file holds relations itself: --side auto takes them." in " ".join(own.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-m", "snfs", "--side", "side.toml"), "The method snfs does not look at side information; take sidefs, or"),
        (
            ("-m", "sidefs", "--side", "side.toml", "--views", "a:x*"),
            "and at nothing else; leave out --views or --side",
        ),
        (("-m", "sidefs", "--side", "side.toml", "--links", "like.csv"), "leave out --links or --side"),
        (("-m", "sidefs", "--side", "nowhere.toml"), "There is no file nowhere.toml"),
        (
            ("-m", "sidefs", "--side", "binds.csv"),
            "--side must be a TOML file that names relations, or auto; got 'binds",
        ),
        (
            ("-m", "sidefs", "--side", "auto"),
            "takes the relations that an NPZ file holds itself, and plain.csv is none",
        ),
        (("-m", "sidefs", "--metapath", PATHS[0]), "--metapath is about the meta-paths of --side; name the file of"),
        (("-m", "sidefs", "--aggregation", "macro"), "--aggregation is about the meta-paths of --side"),
        (("-m", "snfs", "--metapath", PATHS[0]), "The method snfs has no --metapath; of these options it takes"),
        (
            ("-m", "sidefs", "--nodes", "x0"),
            "--nodes names the rows for --links and for --side; give one of these, too",
        ),
        (("-m", "sidefs", "--side", "side.toml"), "The rows are numbered from 0; say with --nodes which column names"),
        (
            ("-m", "sidefs", "--side", "counted.toml"),
            "has 201 nodes of its target type drug, but plain.csv has 200 rows",
        ),
        (("-m", "sidefs", "--side", "aimless.toml"), "aimless.toml lacks 'target', the type of nodes that the rows of"),
        (("-m", "sidefs", "--side", "strange.toml"), "strange.toml has an unknown key 'targte'; did you mean 'target'"),
        (
            ("-m", "sidefs", "--side", "numbers.toml", "--metapath", "drug-binds-gen-binds-drug"),
            "names the type 'gen', which is unknown; did you mean 'gene'",
        ),
    ],
)
def test_what_is_refused(folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    relation = '[[relation]]\nsource = "drug"\nname = "binds"\ntarget = "gene"\nfile = "numbers.csv"\n'
    (folder / "numbers.csv").write_text("0,0\n1,0\n")
    (folder / "numbers.toml").write_text(f'target = "drug"\n{relation}')
    (folder / "counted.toml").write_text(f'target = "drug"\n{relation}[nodes]\ndrug = 201\n')
    (folder / "aimless.toml").write_text(relation)
    (folder / "strange.toml").write_text(f'targte = "drug"\n{relation}')
    assert sentence in refused("select", "plain.csv", *arguments)


def test_edges_may_name_rows_alone(folder):
    pl.read_csv(folder / "drugs.csv")[:50].write_csv(folder / "few.csv")
    sentence = refused("select", folder / "few.csv", *side(folder)[2:])
    assert "of type drug that are not among the 50 known ones" in sentence
    assert "Edges may name rows of the table alone; leave out the others." in sentence


def test_an_npz_file_without_relations(folder):
    np.savez(folder / "bare.npz", X=np.eye(4))
    assert "bare.npz lacks relations, arrays rel_SOURCE_TARGET" in refused(
        "select", folder / "bare.npz", "--side", "auto", "-m", "sidefs"
    )
    assert "the nodes are the rows by their numbers; leave out --nodes" in refused(
        "select", folder / "web.npz", "--side", "auto", "-m", "sidefs", "--nodes", "x"
    )

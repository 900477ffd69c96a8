"""`vicinal links`: which nodes of a network should be linked."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from shell import refused, vicinal

from vicinal import NRCL
from vicinal._models import save_model
from vicinal.cli import _link_check, links
from vicinal.cli._link_methods import METHODS

N_NODES, NEWCOMERS, SILENT = 80, 6, 6
QUICK = ("--components", 5, "--weight-decay", 0.5, "--sparsity", 0.5)


@pytest.fixture
def town(tmp_path, monkeypatch):
    """Two groups, who know each other within a group and live in two towns; the first six people know nobody yet, the
    next six do not say where they live."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.arange(N_NODES) % 2
    knows = np.triu((group[:, None] == group) & (rng.random((N_NODES, N_NODES)) < 0.5), 1)
    knows[:NEWCOMERS] = False
    ends = np.argwhere(knows)
    names = np.array([f"p{number:02d}" for number in range(N_NODES)])
    frame = pl.DataFrame(
        {
            "name": names,
            "town": np.where(group, "Ulm", "Bonn"),
            "age": rng.integers(20, 70, N_NODES),
            "likes": rng.choice(["tea", "juice", "milk"], N_NODES),
        }
    )
    said = np.arange(N_NODES)
    said = said[(said < NEWCOMERS) | (said >= NEWCOMERS + SILENT)]
    frame[said].write_csv("people.csv")
    pl.DataFrame(names[ends], schema=["a", "b"]).write_csv("knows.csv")
    X = np.column_stack([group, 1 - group, rng.random((N_NODES, 3)) < 0.3]).astype(float)
    X[NEWCOMERS : NEWCOMERS + SILENT] = 0
    np.savez("people.npz", X=X, columns=np.array(["ulm", "bonn", "x", "y", "z"]))
    np.savez("named.npz", X=X, names=names)
    sp.save_npz("sparse.npz", sp.csr_matrix(X))
    np.savetxt("numbers.txt", ends, fmt="%d")
    return tmp_path


def even(names):
    return {int(str(name).removeprefix("p")) % 2 == 0 for name in names}


def test_newcomers_get_links_within_their_group(town):
    run = vicinal("links", "knows.csv", "--attributes", "people.csv", *QUICK, "-o", "out.csv", "--top", 4)
    found = pl.read_csv("out.csv")
    assert found.columns == ["node", "recommended", "rank", "score", "reasons"]
    assert found["node"].unique(maintain_order=True).to_list() == [f"p{number:02d}" for number in range(NEWCOMERS)]
    assert found["rank"].to_list() == [1, 2, 3, 4] * NEWCOMERS
    for node, others in found.group_by("node"):
        assert even(node) == even(others["recommended"])
    assert all("town=" in reasons for reasons in found["reasons"])
    told = " ".join(run.stderr.split())
    assert "80 nodes, " in told
    assert "68 nodes show both links and attributes, 6 only links, 6 only attributes" in told
    assert "6 attributes, numbers scaled to [0, 1]" in told
    assert re.search(r"Check: AUC 0\.\d+ for \d+ hidden links.* for all links of 3 nodes", " ".join(run.stdout.split()))
    assert "24 links recommended for 6 nodes" in run.stdout
    worth = re.findall(r"│ (\S+) +│ +[\d.]+ │", run.stdout.partition("worth most")[2])
    assert set(worth[:2]) == {"town=Bonn", "town=Ulm"}
    assert max(map(len, (run.stdout + run.stderr).splitlines())) <= 80


def test_names_of_nodes_and_candidates(town):
    (town / "some.txt").write_text("p20\np21\n\np22\n")
    arguments = ("links", "knows.csv", "--attributes", "people.csv", *QUICK, "--no-check", "-o", "out.tsv")
    vicinal(*arguments, "--for", "p00", "p09", "--for", "p01", "--among", "some.txt", "--nodes", "name")
    found = pl.read_csv("out.tsv", separator="\t")
    assert found["node"].unique(maintain_order=True).to_list() == ["p00", "p09", "p01"]
    assert set(found["recommended"]) <= {"p20", "p21", "p22"}
    for among, allowed in (("link-only", range(6, 12)), ("attribute-only", range(6))):
        vicinal(*arguments, "--for", "p00", "--among", among, "--force")
        assert {int(name[1:]) for name in pl.read_csv("out.tsv", separator="\t")["recommended"]} <= set(allowed)


@pytest.mark.parametrize(("file", "columns"), [("people.npz", {"ulm", "bonn"}), ("sparse.npz", {"0", "1"})])
def test_numbered_rows(town, file, columns):
    run = vicinal("links", "numbers.txt", "--attributes", file, *QUICK, "-o", "out.parquet", "--no-check")
    found = pl.read_parquet("out.parquet")
    assert found["node"].unique(maintain_order=True).to_list() == list(range(NEWCOMERS))
    assert even(found.filter(pl.col("node") == 2)["recommended"]) == {True}
    assert columns & {reason for reasons in found["reasons"] for reason in reasons.split(", ")}
    assert "Check" not in run.stdout
    assert "numbers as they are" in " ".join(run.stderr.split())


def test_rows_named_by_an_array(town):
    vicinal("links", "knows.csv", "--attributes", "named.npz", *QUICK, "-o", "out.csv", "--no-check")
    assert set(pl.read_csv("out.csv")["node"]) == {f"p{number:02d}" for number in range(NEWCOMERS)}


@pytest.mark.parametrize("method", [None, *(name for name, entry in METHODS.items() if not entry.needs_attributes)])
def test_without_attributes(town, method):
    options = ("--method", method) if method else ("--components", 5, "--weight-decay", 0.5)
    run = vicinal("links", "knows.csv", *options, "--for", "p20", "p21", "-o", "out.csv", "--top", 3, "--jobs", 1)
    found = pl.read_csv("out.csv", schema_overrides={"reasons": pl.String})
    assert found["node"].to_list() == ["p20"] * 3 + ["p21"] * 3
    assert even(found["recommended"][:3]) == {True}
    assert found["reasons"].null_count() == 6
    assert "what speaks for it" not in run.stdout
    assert "worth most" not in run.stdout
    assert "only attributes" not in run.stderr


def test_without_newcomers_all_nodes_are_asked_for(town):
    run = vicinal("links", "knows.csv", "-m", "adamic-adar", "--top", 2, "--no-check")
    assert "148 links recommended for 74 nodes" in run.stdout
    assert "more would go to a file (-o links.csv)" in run.stdout


@pytest.mark.parametrize("method", [name for name in METHODS if name != "nrcl"])
def test_other_methods_see_attributes(town, method):
    vicinal("links", "knows.csv", "--attributes", "people.csv", "-m", method, "-o", "out.csv", "--seed", 1)
    assert set(pl.read_csv("out.csv")["node"]) == {f"p{number:02d}" for number in range(NEWCOMERS)}


def test_same_seed_same_links(town):
    for name in ("one.csv", "two.csv"):
        vicinal("links", "knows.csv", "--attributes", "people.csv", *QUICK, "--seed", 3, "-o", name, "--no-check")
    assert (town / "one.csv").read_bytes() == (town / "two.csv").read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_model_recommends_the_same(town, method):
    quick = QUICK if method == "nrcl" else ()
    arguments = ("links", "knows.csv", "--attributes", "people.csv", "-m", method, *quick, "--no-check")
    first = vicinal(*arguments, "--save-model", "model.skops", "-o", "one.csv")
    for name in ("knows.csv", "people.csv"):
        (town / name).unlink()
    again = vicinal("links", "--model", "model.skops", "-o", "two.csv", "--report", "two.html")
    assert (town / "one.csv").read_bytes() == (town / "two.csv").read_bytes()
    assert again.stdout.partition("recommended for")[0] == first.stdout.partition("recommended for")[0]
    assert "No links were hidden" in (town / "two.html").read_text("utf-8")


def test_the_report(town):
    arguments = ("links", "knows.csv", "--attributes", "people.csv", *QUICK, "--for", "p00", "p01", "--top", 3)
    run = vicinal(*arguments, "--report", "links.html")
    page = (town / "links.html").read_text("utf-8")
    assert "6 links recommended for 2 nodes." in page
    assert re.search(r"Check: (AUC [\d.]+ for \d+ hidden links)", run.stdout)[1] in page
    for words in ("knows.csv: links", "by nrcl", "town=Ulm", "only attributes", "vicinal links knows.csv", ">p00<"):
        assert words in page
    assert run.stdout.rstrip().endswith("links.html")


def test_a_poor_check_is_a_warning(town, monkeypatch):
    monkeypatch.setattr(_link_check, "_auc", lambda *arguments: 0.55)
    run = vicinal("links", "knows.csv", "-m", "katz", "--report", "links.html")
    assert "hardly better than chance: do not rely on them." in " ".join(run.stderr.split())
    page = (town / "links.html").read_text("utf-8")
    assert "hardly better than chance" in page
    assert 'class="warning"' in page


def test_no_node_loses_all_that_is_known_of_it(town, monkeypatch):
    """A chain with an end that has a single link, and no attributes: that link stays."""
    (town / "chain.csv").write_text("".join(f"{node} {node + 1}\n" for node in range(100)))
    run = vicinal("links", "chain.csv", "-m", "adamic-adar", "--for", "3")
    assert re.search(r"AUC [\d.]+ for \d+ hidden links", " ".join(run.stdout.split()))
    (town / "few.csv").write_text("0 1\n1 2\n2 3\n")
    run = vicinal("links", "few.csv", "-m", "adamic-adar", "--for", "3")
    assert "too few links to hide some" in " ".join(run.stderr.split())


def test_links_to_oneself_and_repeated_ones(town):
    (town / "edges.txt").write_text("ann bob\nbob ann\nann bob\nbob cleo\ncleo dora\neve eve\n")
    run = vicinal("links", "edges.txt", "-m", "adamic-adar", "--no-check")
    assert "1 link of a node to itself left out." in run.stderr
    assert "4 nodes, 3 links." in run.stderr


def test_the_first_line_may_be_a_link_that_the_table_does_not_know(town):
    (town / "edges.txt").write_text("ann bob\nbob cleo\ncleo dora\n")
    (town / "table.csv").write_text("id,x\nann,2\ncleo,3\nzoe,2\nbob,1\n")
    run = vicinal("links", "edges.txt", "--attributes", "table.csv", "-m", "katz", "--no-check")
    assert "5 nodes, 3 links; 2 nodes show both" in " ".join(run.stderr.split())


def test_nothing_follows_from_zeros(town):
    (town / "table.csv").write_text("id,x,y\np20,1,0\np21,0,1\np22,0,0\nann,0,0\nbob,1,1\n")
    run = vicinal("links", "knows.csv", "--attributes", "table.csv", "-m", "attribute-cosine", "--no-check")
    told = " ".join(run.stderr.split())
    assert "table.csv: 1 node without links, all of whose attributes are 0, is left out: ann." in told
    assert "75 nodes, " in told
    assert "2 nodes show both links and attributes, 72 only links, 1 only attributes" in told


def test_missing_values(town):
    (town / "table.csv").write_text(
        "who,age,job,pet\np20,30,cook,\np21,,baker,cat\np22,50,cook,\np23,,,\np00,40,cook,dog\n"
    )
    run = vicinal("links", "knows.csv", "--attributes", "table.csv", *QUICK, "--no-check", "-o", "out.csv")
    told = " ".join(run.stderr.split())
    assert "3 nodes show both links and attributes, 71 only links, 1 only attributes" in told
    assert "2 attributes, numbers scaled to [0, 1], missing values filled with medians" in told
    assert set(pl.read_csv("out.csv")["node"]) == {"p00"}


@pytest.mark.parametrize(
    ("scale", "words"),
    [("none", "as they are"), ("standard", "standardised"), ("matrix", "divided by their range"), ("tfidf", "TF-IDF")],
)
def test_scales(town, scale, words):
    arguments = ("--attributes", "people.csv", "--scale", scale, "-m", "attribute-cosine", "--no-check")
    assert words in " ".join(vicinal("links", "knows.csv", *arguments).stderr.split())


def bad_files(folder):
    (folder / "alone.csv").write_text("name,x\np20,1\np21,2\nzoe,\nyan,\n")
    (folder / "strangers.csv").write_text("name,x\nann,1\nbob,2\n")
    (folder / "twice.csv").write_text("name,x\np20,1\np20,2\n")
    (folder / "unnamed.csv").write_text("name,x\np20,1\n,2\n")
    (folder / "bare.csv").write_text("name\np20\np21\n")
    (folder / "unique.csv").write_text("name,bio\np20,a\np21,b\n")
    (folder / "loops.csv").write_text("a a\na a\nb b\n")
    (folder / "blank.txt").write_text("\n\n")
    (folder / "wrong.txt").write_text("p20\np95\n")
    (folder / "there.csv").write_text("")
    save_model(folder / "not.skops", NRCL(), force=False)


PEOPLE = ("knows.csv", "--attributes", "people.csv")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "Give a file of links, or a model that was saved before, with --model."),
        (("nowhere.csv",), "There is no file nowhere.csv."),
        (("knows.csv", "--attributes", "nowhere.csv"), "There is no file nowhere.csv."),
        (
            (*PEOPLE, "--nodes", "who"),
            "people.csv has no column 'who' that could name the nodes; its columns are 'name'",
        ),
        ((*PEOPLE, "--drop", "who"), "people.csv has no column 'who'"),
        (("knows.csv", "--attributes", "people.npz", "--nodes", "ulm"), "has no named columns"),
        ((*PEOPLE, "--for", "p00", "q20", "zzz"), "2 nodes that are not known: 'q20' (did you mean 'p20'"),
        (
            ("numbers.txt", "--for", "99"),
            "--for names 1 node that is not known: '99'; 74 are known, such as 6, 7 and 8",
        ),
        ((*PEOPLE, "--among", "wrong.txt"), "wrong.txt names 1 node that is not known: 'p95' (did you mean"),
        ((*PEOPLE, "--among", "blank.txt"), "blank.txt names nobody"),
        ((*PEOPLE, "--among", "links-only"), "--among is all, link-only, attribute-only or a file"),
        (("knows.csv", "--among", "attribute-only"), "No node shows only attributes, so that --among attribute-only"),
        (("knows.csv", "--attributes", "alone.csv"), "2 nodes of alone.csv show neither links nor attributes"),
        (("knows.csv", "--attributes", "strangers.csv"), "No node shows both links and attributes"),
        (("knows.csv", "--attributes", "twice.csv"), "twice.csv, column 'name': Names of nodes must differ"),
        (("knows.csv", "--attributes", "unnamed.csv"), "is empty in 1 row, the first of them row 2"),
        (("knows.csv", "--attributes", "bare.csv"), "no columns besides 'name'"),
        (("knows.csv", "--attributes", "unique.csv"), "No value of bio stands in more than one row"),
        (("loops.csv",), "has no links between two nodes"),
        ((*PEOPLE, "-o", "out.npz"), "Rows are written as .csv, .tsv, .parquet; out.npz ends in '.npz'."),
        ((*PEOPLE, "-o", "there.csv"), "there.csv exists"),
        ((*PEOPLE, "--report", "no/where.html"), "There is no folder no"),
        ((*PEOPLE, "-m", "katz", "--sparsity", "1"), "The method katz has no --sparsity"),
        ((*PEOPLE, "-m", "link-ranking", "--consensus", "1"), "The method link-ranking has no --consensus"),
        (("knows.csv", "-m", "nrcl"), "The method nrcl learns from attributes of nodes: give them with --attributes"),
        (("knows.csv", "--scale", "none"), "--scale is about the table of --attributes"),
        ((*PEOPLE, "--top", "0"), "--top must be a whole number of at least 1"),
        ((*PEOPLE, "--consensus", "0"), "--consensus must be"),
        ((*PEOPLE, "--weight-decay", "-1"), "--weight-decay must be"),
        ((*PEOPLE, "--jobs", "0"), "--jobs must be"),
        (("numbers.txt", "--attributes", "sparse.npz", "--scale", "standard"), "would fill their zeros"),
        (("knows.csv", "--model", "not.skops"), "Give either a file of links or --model"),
        (("--model", "not.skops", "--seed", "1"), "--seed would change nothing"),
        (("--model", "not.skops", "--weight-decay", "1"), "--weight-decay would change nothing"),
        (("--model", "nowhere.skops"), "There is no model file nowhere.skops."),
        (("--model", "not.skops"), "holds a NRCL, not a model that `vicinal links` saved"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_input_gets_one_sentence(town, arguments, sentence):
    bad_files(town)
    before = sorted(town.iterdir())
    assert sentence in refused("links", *arguments)
    assert sorted(town.iterdir()) == before


def test_ctrl_c_leaves_no_file(town, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(links, "_fit", interrupted)
    before = sorted(town.iterdir())
    run = vicinal("links", *PEOPLE, "-o", "out.csv", "--report", "out.html", "--no-check", check=False)
    assert run.returncode == 130
    assert sorted(town.iterdir()) == before

"""Networks of side information: what they hold, how they are sliced, and the meta-paths of their schemas."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hetero_networks import networks
from hypothesis import given
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from vicinal import SideFS
from vicinal._metapaths import Step
from vicinal.network import HeteroNetwork

DRUGS = {
    ("drug", "binds", "gene"): [[1, 0, 1], [0, 2, 0]],
    ("drug", "treats", "disease"): [[1, 0], [1, 1]],
    ("disease", "causes", "gene"): [[0, 1, 0], [1, 0, 0]],
    ("disease", "resembles", "disease"): [[0, 1], [1, 0]],
}


@pytest.fixture
def drugs():
    return HeteroNetwork(DRUGS, target="drug", names={"drug": ["aspirin", "morphine"]})


def test_what_it_holds(drugs):
    assert drugs.types == ("drug", "gene", "disease")
    assert drugs.n_nodes == {"drug": 2, "gene": 3, "disease": 2}
    assert drugs.n_links[("drug", "binds", "gene")] == 3
    assert drugs.n_links[("disease", "resembles", "disease")] == 1
    assert drugs.mutual == {("disease", "resembles", "disease")}
    assert len(drugs) == 2
    assert drugs.shape == (2, 2)
    assert drugs.names["gene"].tolist() == [0, 1, 2]
    assert repr(drugs) == "HeteroNetwork(drug 2; gene 3, disease 2; 9 links by 4 relations)"


def test_links_are_walked_both_ways(drugs):
    forward, back = drugs.metapath("drug-binds-gene-binds-drug").steps
    np.testing.assert_array_equal(drugs.links(forward).toarray(), DRUGS["drug", "binds", "gene"])
    np.testing.assert_array_equal(drugs.links(back).toarray(), np.transpose(DRUGS["drug", "binds", "gene"]))


def test_what_is_given_is_left_as_it_is(drugs):
    given = sp.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    network = HeteroNetwork({("a", "to", "b"): given}, target="a")
    network.relations["a", "to", "b"].data[:] = 7
    assert given.sum() == 2
    with pytest.raises(TypeError):
        drugs.relations["a", "to", "b"] = given


@pytest.mark.parametrize("rows", [[1], [1, 0], [0, 0, 1], slice(1, None), [False, True], ([1, 0], Ellipsis)])
def test_rows_of_it_keep_all_other_nodes(drugs, rows):
    part = drugs[rows]
    index = np.arange(2)[rows[0] if isinstance(rows, tuple) else rows]
    assert len(part) == len(index)
    assert part.names["drug"].tolist() == [["aspirin", "morphine"][row] for row in index]
    np.testing.assert_array_equal(
        part.relations["drug", "binds", "gene"].toarray(), np.array(DRUGS["drug", "binds", "gene"])[index]
    )
    assert part.n_nodes["gene"] == 3
    assert [str(path) for path in part.metapaths()] == [str(path) for path in drugs.metapaths()]


def test_links_between_rows_are_sliced_at_both_ends():
    cites = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    part = HeteroNetwork({("paper", "cites", "paper"): cites}, target="paper")[[0, 2]]
    np.testing.assert_array_equal(part.relations["paper", "cites", "paper"].toarray(), [[0, 0], [1, 0]])


def test_relations_can_be_left_out(drugs):
    left = drugs.without(("drug", "binds", "gene"), ("disease", "causes", "gene"))
    assert left.types == ("drug", "disease")
    assert left.names["drug"].tolist() == ["aspirin", "morphine"]
    with pytest.raises(ValueError, match="no relation 'drug-bind-gene'; did you mean 'drug-binds-gene'"):
        drugs.without(("drug", "bind", "gene"))

    assert len(drugs[[0, 0, 1]].without(("drug", "binds", "gene"))) == 3
    with pytest.raises(ValueError, match="named by three words"):
        drugs.without("drug-binds-gene")
    with pytest.raises(ValueError, match="No relation of drug would be left"):
        drugs.without(("drug", "binds", "gene"), ("drug", "treats", "disease"))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])
def test_copies_are_the_same(drugs, again):
    other = again(drugs)
    assert repr(other) == repr(drugs)
    assert other.mutual == drugs.mutual
    assert other.names["drug"].tolist() == ["aspirin", "morphine"]
    np.testing.assert_array_equal(
        other.relations["drug", "binds", "gene"].toarray(), drugs.relations["drug", "binds", "gene"].toarray()
    )


def test_parts_have_the_meta_paths_of_the_whole():
    """Papers 0 and 2 do not cite each other: a matrix of zeros, which is symmetric."""
    cites = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    network = HeteroNetwork({("paper", "cites", "paper"): cites}, target="paper")
    part = network[[0, 2]]
    assert part.mutual == network.mutual == frozenset()
    both = ["paper-cites-paper-cites^-1-paper", "paper-cites^-1-paper-cites-paper"]
    assert [str(part.metapath(path)) for path in both] == both


def test_meta_paths_of_a_schema(drugs):
    assert [str(path) for path in drugs.metapaths(3)] == [
        "drug-binds-gene-binds-drug",
        "drug-treats-disease-treats-drug",
        "drug-binds-gene-causes-disease-treats-drug",
        "drug-treats-disease-resembles-disease-treats-drug",
    ]
    assert [str(path) for path in drugs.metapaths() if len(path) == 4] == [
        "drug-binds-gene-causes-disease-causes-gene-binds-drug",
        "drug-binds-gene-causes-disease-resembles-disease-treats-drug",
        "drug-treats-disease-causes-gene-causes-disease-treats-drug",
        "drug-treats-disease-resembles-disease-resembles-disease-treats-drug",
    ]


def test_the_thesis_own_meta_paths_are_found():
    """Table XV: blogs with tags, written by users who have friends."""
    relations = {
        ("Blog", "has", "Tag"): np.eye(3),
        ("Blog", "written_by", "User"): np.eye(3),
        ("User", "friend", "User"): 1 - np.eye(3),
    }
    paths = [str(path) for path in HeteroNetwork(relations, target="Blog").metapaths()]
    assert paths == [
        "Blog-has-Tag-has-Blog",
        "Blog-written_by-User-written_by-Blog",
        "Blog-written_by-User-friend-User-written_by-Blog",
        "Blog-written_by-User-friend-User-friend-User-written_by-Blog",
    ]


def test_directed_links_within_a_type_say_their_direction():
    cites = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    network = HeteroNetwork({("paper", "cites", "paper"): cites}, target="paper")
    assert [str(path) for path in network.metapaths()] == ["paper-cites-paper"]
    through = [str(path) for path in network.metapaths(2, through_target=True)]
    assert through == [
        "paper-cites-paper",
        "paper-cites-paper-cites-paper",
        "paper-cites-paper-cites^-1-paper",
        "paper-cites^-1-paper-cites-paper",
    ]
    back = network.metapath("paper-cites^-1-paper")
    np.testing.assert_array_equal(network.links(back.steps[0]).toarray(), cites.T)


@given(network=networks())
def test_meta_paths_are_what_walks_over_the_schema_make(network):
    found = network.metapaths(3, through_target=True)
    texts = {str(path) for path in found}
    assert len(texts) == len(found)
    for path in found:
        assert path.types[0] == path.types[-1] == "a"
        assert len(path) <= 3
        assert path.symmetric or str(path.reversed()) not in texts
        assert network.metapath(str(path)) == path
        assert path.reversed().reversed() == path
    direct = [str(path) for path in network.metapaths(3)]
    assert direct == [str(path) for path in found if "a" not in path.types[1:-1]]


@given(network=networks())
def test_all_walks_are_covered(network):
    """Every way to put two steps together that starts and ends at rows is listed, or its reverse."""
    steps = {Step(relation, back) for relation in network.relations for back in (False, True)}
    steps -= {Step(relation, True) for relation in network.mutual}
    listed = {path.steps for path in network.metapaths(2, through_target=True)}
    listed |= {path.reversed().steps for path in network.metapaths(2, through_target=True)}
    for first in steps:
        for second in steps:
            if first.start == second.end == "a" and first.end == second.start:
                assert (first, second) in listed


@pytest.mark.parametrize(
    ("relations", "message"),
    [
        ({}, "with at least one"),
        ({("a", "b"): np.eye(2)}, "named by three words, (source, relation, target); got ('a', 'b')"),
        ({("a", "is-a", "b"): np.eye(2)}, "'is-a' of a-is-a-b has a mark that meta-paths are written with"),
        ({("a", "r", "b"): -np.eye(2)}, "a-r-b have weights below 0, down to -1"),
        ({("a", "r", "b"): 1e200 * np.eye(2)}, "a-r-b have weights from 1 to 1e+200, products of which cannot be held"),
        ({("a", "r", "b"): 1e-200 * np.eye(2)}, "a-r-b have weights from 1e-200 to 1, products of which"),
        (
            {("a", "r", "b"): np.eye(2), ("b", "s", "c"): np.eye(3)},
            "There are 2 nodes of type b by a-r-b, but 3 by b-s-c; a matrix needs a row or a column for each",
        ),
        ({("a", "r", "b"): np.eye(2), ("b", "r", "a"): np.eye(2)}, "given twice, once in each direction"),
        ({("c", "r", "b"): np.eye(2)}, "no nodes of the target type 'a'; known are c, b"),
    ],
)
def test_relations_that_are_refused(relations, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HeteroNetwork(relations, target="a")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("drug-binds", "is not a meta-path, which names types and relations by turns"),
        ("drug-bind-gene-binds-drug", "the relation 'bind' of drug and gene, which is unknown; did you mean 'binds'?"),
        ("drug-binds-genes-binds-drug", "the type 'genes', which is unknown; did you mean 'gene'?"),
        ("gene-binds-drug-binds-gene", "leads from gene to gene; it must start and end at drug"),
        ("drug-binds-gene", "leads from drug to gene; it must start and end at drug"),
        ("drug-causes-drug", "the relation 'causes' of drug and drug, which is unknown; there is none between them"),
    ],
)
def test_meta_paths_that_are_refused(drugs, path, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        drugs.metapath(path)


def test_other_refusals(drugs):
    with pytest.raises(ValueError, match="no nodes of the target type"):
        HeteroNetwork(DRUGS, target=["drug"])
    with pytest.raises(ValueError, match="nodes of an unknown type '3'"):
        HeteroNetwork(DRUGS, target="drug", names={3: list("abc")})
    with pytest.raises(ValueError, match="There are 3 names for 2 nodes"):
        HeteroNetwork(DRUGS, target="drug", names={"drug": list("abc")})
    with pytest.raises(ValueError, match="nodes of an unknown type 'genes'; did you mean 'gene'"):
        HeteroNetwork(DRUGS, target="drug", names={"genes": list("abc")})
    with pytest.raises(ValueError, match="needs a row at least"):
        drugs[[]]
    with pytest.raises(IndexError, match="indexed by rows alone"):
        drugs[0, 1]
    with pytest.raises(ValueError, match="max_length"):
        drugs.metapaths(0)


def test_side_information_must_fit_the_rows(drugs, rng):
    with pytest.raises(ValueError, match="side has 2 nodes of its target type drug, but X has 3 rows"):
        SideFS().fit(rng.normal(size=(3, 4)), side=drugs)
    with pytest.raises(ValueError, match=r"side is a ndarray; give a vicinal\.network\.HeteroNetwork"):
        SideFS().fit(rng.normal(size=(3, 4)), side=np.eye(3))
    with pytest.raises(ValueError, match=re.escape("give it by name: fit(X, side=...)")):
        SideFS().fit(rng.normal(size=(2, 4)), drugs)
    frame = pd.DataFrame(rng.normal(size=(2, 2)), index=["morphine", "aspirin"], columns=["x", "y"])
    with pytest.raises(ValueError, match="row 0 is 'morphine' in X and 'aspirin' in side"):
        SideFS().fit(frame, side=drugs)


def test_cross_validation_slices_it(rng):
    kind = np.arange(60) % 2
    binds = rng.random((60, 20)) < np.where(kind[:, None] == np.arange(20) % 2, 0.5, 0.05)
    side = HeteroNetwork({("drug", "binds", "gene"): binds}, target="drug")
    X = rng.normal(size=(60, 10)) + 4 * kind[:, None] * (np.arange(10) < 3)
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(SideFS(3, random_state=0).set_fit_request(side=True), KMeans(2, n_init=1, random_state=0))
        found = cross_validate(model, X, cv=3, params={"side": side}, return_estimator=True, scoring=lambda m, X: 0.0)
    for fitted in found["estimator"]:
        assert fitted[0].get_support(indices=True).tolist() == [0, 1, 2]
        assert len(fitted[0].embedding_) == 40

"""Side information in experiments: relations left out, meta-paths, links as a relation and by a meta-path."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, values, work_for

from vicinal import SideFS
from vicinal.datasets import Sample
from vicinal.experiments import read_experiment
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._runner import run_cell
from vicinal.experiments._shelf import Shelf
from vicinal.experiments._work import work_of
from vicinal.graphs import SideSim
from vicinal.network import HeteroNetwork

BY_AUTHORS, BY_SUBJECTS = "paper-by-author-by-paper", "paper-on-subject-on-paper"


@pytest.fixture(scope="module")
def papers():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.poisson(0.5 + 4.0 * (np.arange(20) < 6) * (y[:, None] == np.arange(20) % 3))
    by = rng.random((60, 25)) < np.where(y[:, None] == np.arange(25) % 3, 0.4, 0.03)
    on = rng.random((60, 9)) < np.where(y[:, None] == np.arange(9) % 3, 0.5, 0.05)
    side = HeteroNetwork({("paper", "by", "author"): by, ("paper", "on", "subject"): on}, target="paper")
    return Sample(sp.csr_matrix(X, dtype=np.float32), y, side=side)


def declared(data='{ name = "hin_acm", scale = "none" }', method='{ name = "gfs" }'):
    text = f"""
title = "Which columns?"
task = "selection"
metrics = ["nmi"]
features = [6]
runs = 2
subject = "sidefs"
grids = false
data = [{data}]
methods = ["raw", "sidefs", {method}]
"""
    return read_experiment("mine", text)


def work_on(sample, data, method=1):
    experiment = declared(data)
    return work_of(experiment, experiment.cells()[method], threads=1, load=lambda name: sample)


class TestDataOptions:
    def test_relations_may_be_left_out(self, papers):
        side = work_on(papers, '{ name = "hin_acm", without = ["paper-on-subject"] }').sample.side
        assert list(side.relations) == [("paper", "by", "author")]
        none = work_on(papers, '{ name = "hin_acm", without = ["paper-on-subject", "paper-by-author"] }').sample
        assert none.side is None

    def test_relations_that_are_not_there_are_refused(self, papers):
        with pytest.raises(ValueError, match="There is no relation 'paper-of-subject'; did you mean"):
            work_on(papers, '{ name = "hin_acm", without = ["paper-of-subject"] }')
        with pytest.raises(ValueError, match="hin_acm has no side information, and so no relation paper-by-author"):
            work_on(replace(papers, side=None), '{ name = "hin_acm", without = ["paper-by-author"] }')
        with pytest.raises(ValueError, match="A relation is named by three words"):
            work_on(papers, '{ name = "hin_acm", without = ["by"] }')

    def test_selectors_look_at_the_meta_paths_that_are_named(self, papers, monkeypatch):
        seen, fit = [], SideFS.fit

        def watched(self, X, y=None, *, side=None):
            seen.append(fit(self, X, y, side=side).metapaths_)
            return self

        monkeypatch.setattr(SideFS, "fit", watched)
        for data in ('{ name = "hin_acm" }', f'{{ name = "hin_acm", metapaths = ["{BY_AUTHORS}"] }}'):
            experiment = declared(data)
            for cell in experiment.cells()[:2]:
                run_cell(experiment, cell, threads=1, load=lambda name: papers)
        assert seen == [[BY_AUTHORS, BY_SUBJECTS], [BY_AUTHORS]]

    def test_links_as_a_relation(self, papers):
        ring = sp.csr_array(np.roll(np.eye(60), 1, axis=1) + np.roll(np.eye(60), -1, axis=1))
        linked = replace(papers, adjacency=ring)
        alone = work_on(replace(linked, side=None), '{ name = "hin_acm", links_as = "paper-cites-paper" }').sample
        assert alone.side.target == "paper"
        assert alone.side.mutual == {("paper", "cites", "paper")}
        assert (alone.side.relations["paper", "cites", "paper"] != ring).nnz == 0
        beside = work_on(linked, '{ name = "hin_acm", links_as = "paper-cites-paper" }').sample.side
        assert list(beside.relations) == [*papers.side.relations, ("paper", "cites", "paper")]

    def test_links_that_cannot_be_that_relation(self, papers):
        with pytest.raises(ValueError, match="hin_acm has no links between rows that could be the relation"):
            work_on(papers, '{ name = "hin_acm", links_as = "paper-cites-paper" }')
        with pytest.raises(ValueError, match="lead from paper to paper; the relation blog-friend-blog does not"):
            work_on(papers, '{ name = "hin_acm", links_as = "blog-friend-blog" }')

    def test_results_depend_on_all_of_it(self):
        said = ["", ', without = ["paper-on-subject"]', f', metapaths = ["{BY_AUTHORS}"]', ', links_as = "a-b-a"']
        experiments = [declared(f'{{ name = "hin_acm", scale = "none"{words} }}') for words in said]
        assert len({protocol_of(one, one.cells()[1]) for one in experiments}) == 4


class TestLinksByAMetaPath:
    def test_a_selector_of_links_sees_the_graph_of_its_meta_path(self, papers):
        graph = SideSim(papers.side, metapaths=[BY_SUBJECTS]).neighbor_graph(4, random_state=0)
        linked = replace(papers, side=None, adjacency=graph)
        use = {"metapath": {"rows": BY_SUBJECTS}, "n_neighbors": 4}
        how = {"scale": "none", "features": (6,), "runs": 3, "grids": False}
        by_path = evaluate("selection", "gfs", papers, use=use, **how)
        assert values(by_path, "accuracy@6") == values(evaluate("selection", "gfs", linked, **how), "accuracy@6")
        work = work_for("selection", "gfs", papers, use=use, features=(6,))
        assert (work.method_options.linked(papers, "rows", 0).adjacency != graph).nnz == 0

    def test_links_alone_may_be_those_of_a_meta_path(self, papers):
        use = {"metapath": {"rows": BY_AUTHORS}}
        outcome = evaluate("selection", "link-only", papers, use=use, features=(6,), runs=3)
        assert np.mean(values(outcome, "accuracy@all")) > 0.6

    def test_on_other_data_links_are_their_own(self, papers):
        work = work_for("selection", "gfs", papers, use={"metapath": {"others": BY_AUTHORS}}, features=(6,))
        assert work.method_options.linked(papers, "rows", 0) is papers

    def test_what_cannot_be_walked_is_refused(self, papers):
        with pytest.raises(ValueError, match="rows has no side information, and so no meta-path paper-by-author"):
            evaluate("selection", "gfs", replace(papers, side=None), use={"metapath": {"rows": BY_AUTHORS}})
        with pytest.raises(ValueError, match="says something about 'acm', which is none of its data sets"):
            declared(method='{ name = "gfs", metapath = { acm = "paper-by-author-by-paper" } }')

    def test_results_depend_on_it(self):
        plain = declared()
        own = declared(method=f'{{ name = "gfs", metapath = {{ hin_acm = "{BY_AUTHORS}" }} }}')
        more = declared(method=f'{{ name = "gfs", metapath = {{ hin_acm = "{BY_AUTHORS}" }}, n_neighbors = 5 }}')
        protocols = [protocol_of(one, one.cells()[2]) for one in (plain, own, more)]
        assert len(set(protocols)) == 3


def test_side_information_reaches_other_processes(papers):
    with Shelf() as shelf:
        shelf.put("papers", papers)
        taken = pickle.loads(pickle.dumps(shelf)).take("papers")
        assert repr(taken.side) == repr(papers.side)
        assert [str(path) for path in taken.side.metapaths()] == [BY_AUTHORS, BY_SUBJECTS]
        assert repr(taken[np.arange(5)].side) == repr(papers.side[np.arange(5)])

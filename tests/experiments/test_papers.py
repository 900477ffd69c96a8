"""The packaged experiments: what they hold is the papers', and agrees with what else these say."""

from pathlib import Path

import pytest

from vicinal import datasets
from vicinal._page import Section
from vicinal.experiments import (
    Context,
    Role,
    Variant,
    experiment_names,
    find_method,
    load_experiment,
    read_results,
    summarise,
)
from vicinal.experiments._classes import of_classes
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._results import ResultFile, failed_results
from vicinal.experiments._side import with_side

RESULTS = Path(__file__).parents[2] / "experiments" / "results"


class TestPackaged:
    @pytest.fixture(params=experiment_names())
    def packaged(self, request):
        return load_experiment(request.param)

    def test_there_are_the_papers_tables_and_figures(self):
        assert experiment_names() == [
            "expand-accuracy",
            "expand-kernel-error",
            "kernels-labels",
            "kernels-noise",
            "kernels-table1",
            "kernels-table2",
            "kernels-table3",
            "kernels-table4",
            "local-family",
            "local-race",
            "local-race-numbers",
            "outliers-race",
            "randlocal-figure4",
            "randlocal-figure5",
            "randlocal-table3",
            "randlocal-table5-6",
            "randlocal-table7",
            "randlocal-times",
            "rulls-figure3",
            "rulls-figure4",
            "rulls-table2",
            "rulls-table3",
            "rulls-table4",
            "rulls-table5",
            "rulls-table6",
            "thesis-figure1",
            "thesis-figure10",
            "thesis-figure12",
            "thesis-figure14",
            "thesis-figure2",
            "thesis-figure4",
            "thesis-figure5",
            "thesis-figure7",
            "thesis-table10",
            "thesis-table11",
            "thesis-table13",
            "thesis-table14",
            "thesis-table17",
            "thesis-table18",
            "thesis-table3",
            "thesis-table3-one-start",
            "thesis-table6",
            "thesis-table7",
            "thesis-times",
        ]

    def test_committed_results_are_of_the_protocol_as_it_is(self, packaged):
        path = RESULTS / f"{packaged.run_name}.csv"
        if path.exists():
            ResultFile(path, packaged).refuse_other_protocols(read_results(path, packaged))

    def test_all_of_their_data_are_in_the_catalogue(self, packaged):
        assert {spec.name for spec in packaged.data} <= {entry.name for entry in datasets.catalog()}

    @pytest.mark.parametrize("quick", [False, True])
    def test_cells_are_unique_and_whole_folds_come_first(self, packaged, quick):
        packaged = packaged.quickened() if quick else packaged
        cells = packaged.cells()
        assert len(set(cells)) == len(cells) > 0
        order = [(cell.seed, cell.fold) for cell in cells]
        assert order == sorted(order)
        for variant in {cell.variant for cell in cells}:
            assert Variant.read(str(variant)) == variant

    def test_fixed_and_varied_parameters_are_the_methods_own(self, packaged):
        to = Context(n_rows=50, n_features=10)
        for cell in packaged.cells():
            method = packaged.method(cell)
            if (method.has_map or method.role is Role.LINK_PREDICTOR) and method.installed:
                built = method.build(to, {}).get_params()
                assert {name: built[name] for name in method.parameters} == method.parameters
                assert not any(set(candidate) & set(method.parameters) for candidate in method.candidates(to))
            without_model = method.role in (Role.DETECTOR, Role.CLUSTERER) or not method.installed
            assert without_model or method.build_model(to, {}) is not None

    def test_quick_ones_are_smaller_and_of_another_protocol(self, packaged):
        quick = packaged.quickened()
        assert quick.quick
        assert all(spec.rows <= 1000 for spec in quick.data)
        assert len(quick.cells()) <= len(packaged.cells())
        assert max(cell.fold for cell in quick.cells()) <= 1
        assert {cell.data for cell in quick.cells()} == {cell.data for cell in packaged.cells()}
        protocols = [{protocol_of(one, cell) for cell in one.cells()} for one in (quick, packaged)]
        assert not protocols[0] & protocols[1]

    def test_quick_ones_vary_less(self):
        figure3 = load_experiment("rulls-figure3").quickened().method_spec("rulls")
        assert figure3.vary == {"n_groups": (1, 10)}
        errors = load_experiment("expand-kernel-error").quickened().method_spec("nystroem")
        assert errors.vary == {"n_components": (64, 128, 256)}

    def test_the_paper_protocol_of_its_methods(self):
        table3 = load_experiment("randlocal-table3")
        assert (table3.options.folds, table3.n_groups) == (5, 400)
        assert find_method("randlocal").build(Context(50, 10), {}).epsilon == 1e-4
        figure5 = load_experiment("randlocal-figure5")
        values = list(map(str, figure5.variants(figure5.methods[0])))
        assert values == [
            *(f"epsilon={epsilon}" for epsilon in (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)),
            *(f"n_groups={groups}" for groups in (50, 100, 200, 300, 400, 500, 600, 800, 1000)),
        ]

    def test_what_noise_cost_agrees_with_the_papers_own_percentages(self):
        """Table 7 names the loss against Table 3 in per cent, too: mistyped figures would not agree with it."""
        losses = {
            "raw": {"ijcnn1": (0.75, 0.26), "covtype": (3.12, 3.10), "mnist": (None, 1.38)},
            "rbf-svm": {"ijcnn1": (3.81, 3.54), "covtype": (34.54, 34.54), "mnist": (5.08, 4.56)},
            "dae": {"ijcnn1": (3.15, 3.27), "covtype": (7.15, 6.52), "mnist": (6.04, 6.56)},
            "sdae": {"ijcnn1": (3.50, 3.85), "covtype": (4.62, 4.67), "mnist": (12.49, 14.47)},
            "randlocal": {"ijcnn1": (2.88, 3.26), "covtype": (9.94, 11.98), "mnist": (4.47, 4.30)},
        }
        without, noisy = (load_experiment(f"randlocal-{table}").paper for table in ("table3", "table7"))
        for method, by_data in losses.items():
            for data, loss in by_data.items():
                before = without[method][data]["micro_f1"][0]
                for kind, percent in zip(("add", "append"), loss, strict=True):
                    after = noisy[method][data][f"micro_f1, noise={kind}"][0]
                    # The paper's 0.49 for raw MNIST with noise added is not what its own two figures say: left out.
                    if percent is not None:
                        assert 100 * (1 - after / before) == pytest.approx(percent, abs=0.03), (method, data, kind)


class TestRULLS:
    """The paper's tables are whole, and agree with what else it says about them."""

    METHODS = ("raw", "randlocal", "projected-landmarks", "sampled-landmarks", "rulls")
    NOISY = ("japanese_vowels", "fashion_mnist", "breast_cancer", "baseball")

    def percent(self, name, method, data, metric="accuracy"):
        return 100 * load_experiment(name).paper[method][data][metric][0]

    @pytest.mark.parametrize(
        ("method", "losses"),
        [
            ("raw", (1.28, 0.27, 8.15, 0.85, 21.65, 1.00, 4.36, 0.64)),
            ("randlocal", (4.38, 1.78, 5.14, 0.40, 7.42, 0.03, 1.22, 0.75)),
            ("projected-landmarks", (1.76, 1.15, 3.83, 0.75, 7.88, 0.45, 1.40, 0.53)),
            ("sampled-landmarks", (1.48, 1.11, 3.06, 1.26, 7.96, 0.14, 0.25, 1.20)),
            ("rulls", (6.26, 1.48, 4.73, 0.94, 8.41, 0.01, 2.63, 0.87)),
        ],
    )
    def test_what_noise_cost_agrees_with_table_3(self, method, losses):
        places = [(kind, data) for kind in ("columns", "rows") for data in self.NOISY]
        for (kind, data), loss in zip(places, losses, strict=True):
            before = self.percent("rulls-table2", method, data)
            after = self.percent("rulls-table3", method, data, f"accuracy, noise={kind}")
            assert abs(before - after) == pytest.approx(loss, abs=0.011), (kind, data)

    @pytest.mark.parametrize(
        ("method", "gains"), [("randlocal", (8.73, 9.11, 0.88, None, 2.28)), ("raw", (None, None, 4.08, 3.28, 7.41))]
    )
    def test_what_rulls_gains_agrees_with_section_4_3(self, method, gains):
        """Left out: 8 % and 7.84 % over raw features and 0.12 % over RandLocal, which Table 2 does not have."""
        data = ("japanese_vowels", "fashion_mnist", "breast_cancer", "baseball", "pendigits")
        for name, gain in zip(data, gains, strict=True):
            if gain is not None:
                ours, theirs = (self.percent("rulls-table2", each, name) for each in ("rulls", method))
                assert ours - theirs == pytest.approx(gain, abs=0.011), name

    def test_table_4_stands_beside_tables_2_and_3(self):
        assert [self.percent("rulls-table4", "rulls-robust", "breast_cancer", f"accuracy, noise={kind}") for kind in (
            "none", "columns", "rows"
        )] == pytest.approx([92.28, 86.49, 93.33])  # fmt: skip
        for method in ("raw", "sampled-landmarks", "rulls"):
            beside = load_experiment("rulls-table4").paper[method]["breast_cancer"]
            noisy = load_experiment("rulls-table3").paper[method]["breast_cancer"]
            without = load_experiment("rulls-table2").paper[method]["breast_cancer"]["accuracy"]
            assert beside == {**noisy, "accuracy, noise=none": without}

    def test_clustering_agrees_with_the_text(self):
        """Section 4.5: RULLS is best on two of three; ROBPCA gives more than PCA on Iris."""
        reported = load_experiment("rulls-table5").paper
        assert set(reported) == set(self.METHODS)
        best = {
            data: max(reported, key=lambda method: reported[method][data]["nmi_geometric"]) for data in reported["raw"]
        }
        assert best == {"anuran_mfcc": "rulls", "iris": "sampled-landmarks", "baseball": "rulls"}
        six = load_experiment("rulls-table6").paper
        assert six["rulls"]["iris"] == reported["rulls"]["iris"]
        assert six["rulls-robust"]["iris"]["nmi_geometric"] == (0.7981,)

    def test_curves_end_at_table_2(self):
        curves, table = (load_experiment(name).paper for name in ("rulls-figure3", "rulls-table2"))
        for method in self.METHODS:
            ends = {data: tuple(figures.values()) for data, figures in curves[method].items()}
            assert ends == {
                data: (figures["accuracy"],) for data, figures in table[method].items() if data != "fashion_mnist"
            }
        for method in self.METHODS[1:]:
            spec = load_experiment("rulls-figure3").method_spec(method)
            assert spec.vary == {"n_groups": (1, 10, 50, 100)}

    def test_parameters_are_the_papers(self):
        to = Context(n_rows=9961, n_features=14, n_groups=100)
        for name in ("rulls-table2", "rulls-table3", "rulls-table4", "rulls-table5", "rulls-table6", "rulls-figure3"):
            experiment = load_experiment(name)
            assert experiment.n_groups == 100
            for spec in experiment.methods:
                method = find_method(spec.name).fixing(spec.parameters, spec.model)
                if not spec.name.startswith(("rulls", "projected-landmarks", "sampled-landmarks")):
                    continue
                made = method.build(to, {})
                assert (made.n_iterations, made.n_landmarks, made.regularization) == (100, (32, 1024), 1e-4)
                assert made.n_nearest == 10
                if spec.name == "rulls":
                    assert (made.n_neighborhood, made.variance, made.normalize) == (30, 0.95, False)
                    assert made.pca == ("robust" if "robust" in spec.id else "classic")

    def test_figure_4_has_one_draw_of_122_landmarks(self):
        figure = load_experiment("rulls-figure4")
        assert (figure.task.name, figure.n_groups) == ("images", 1)
        shares = {method: reported["japanese_vowels"]["sparsity_ratio"][0] for method, reported in figure.paper.items()}
        assert shares.pop("randlocal") == int(1e4 / 122) / 1e4
        assert set(shares.values()) == {int(1e5 / 122) / 1e4}
        assert len(shares) == 3


class TestNetworks:
    """Chapters 3 and 4 of the thesis: one run for k-means and times, one for retrieval and document frequencies."""

    NETWORKS = ("net_citeseer", "net_cora", "net_wiki", "net_pubmed", "net_blogcatalog")

    def test_views_share_the_cells_of_their_run(self):
        for name, of in (("figure7", "figure4"), ("table6", "figure4"), ("table7", "figure5")):
            view, run = load_experiment(f"thesis-{name}"), load_experiment(f"thesis-{of}")
            assert view.run_name == run.name
            assert view.cells() == run.cells()
            assert {protocol_of(view, cell) for cell in view.cells()} == {
                protocol_of(run, cell) for cell in run.cells()
            }

    @pytest.mark.parametrize(("name", "n_methods"), [("figure4", 12), ("figure5", 7)])
    def test_every_method_has_one_cell_per_network_and_all_its_numbers_of_columns(self, name, n_methods):
        experiment = load_experiment(f"thesis-{name}")
        assert [spec.name for spec in experiment.data] == list(self.NETWORKS)
        assert {spec.scale for spec in experiment.data} == {"none"}
        assert len(experiment.cells()) == n_methods * len(self.NETWORKS)
        for cell in experiment.cells():
            numbers = [100, 200, 300, 400] if cell.data == "net_pubmed" else [200, 400, 600, 800]
            unselected = cell.method in ("raw", "link-only")
            places = {measure.at for measure in experiment.measures(cell)}
            assert places == ({"all"} if unselected else set(numbers))
            assert not any(measure.best_of_grid for measure in experiment.measures(cell))

    def test_k_means_is_run_in_four_ways_on_columns_that_are_chosen_once(self):
        figure = load_experiment("thesis-figure4")
        ways = {str(measure.protocol) for cell in figure.cells() for measure in figure.measures(cell)}
        assert ways == {"raw-1", "raw-5", "unit-1", "unit-5"}
        assert (figure.options.runs, figure.repeats, figure.options.grids) == (20, 1, False)

    def test_values_of_another_wiki_are_not_compared(self):
        for name in ("table6", "table7"):
            reported = load_experiment(f"thesis-{name}").paper
            assert {data for by_data in reported.values() for data in by_data} == {"net_citeseer", "net_cora"}

    def test_how_much_longer_lufs_takes_agrees_with_table_6(self):
        times = load_experiment("thesis-table6")
        seconds = {method: by_data["net_citeseer"]["feature_seconds"][0] for method, by_data in times.paper.items()}
        lufs, udfs = times.claims[1:]
        assert lufs.by + 1 == seconds["lufs"] / seconds["mmpop"]
        assert udfs.by + 1 == seconds["udfs"] / seconds["mmpop"]

    def test_what_table_7_says_of_words_agrees_with_its_own_values(self):
        table = load_experiment("thesis-table7")
        for claim in table.claims:
            for data in ("net_citeseer", "net_cora"):
                values = {method: next(iter(by_data[data].values()))[0] for method, by_data in table.paper.items()}
                for ours in claim.methods:
                    assert all(claim.is_met_by(claim.gain(values[ours], values[rival])) for rival in claim.over)


class TestCrossView:
    """Chapter 5 of the thesis: Tables X and XI and Fig. 10."""

    OWN = ("net_facebook107", "net_pubmed")

    def test_only_values_of_the_same_data_are_compared(self):
        table = load_experiment("thesis-table10")
        assert {data for by_data in table.paper.values() for data in by_data} == set(self.OWN)
        measures = {str(measure) for cell in table.cells() for measure in table.measures(cell)}
        for by_data in table.paper.values():
            for figures in by_data.values():
                assert set(figures) <= measures
                assert all(0 < value[0] < 0.6 for value in figures.values())

    def test_the_share_of_complete_nodes_agrees_with_whole_numbers_of_nodes(self):
        """Of n nodes 2 m are incomplete: mistyped shares would hardly make m whole, and above the share drawn."""
        for data, n_nodes in zip(self.OWN, (1045, 19717), strict=True):
            for share in (20, 30):
                complete = load_experiment("thesis-table10").paper["mm-nrcl"][data][f"complete@{share}"][0]
                m = n_nodes * (1 - complete) / 2
                assert abs(m - round(m)) < 0.00005 * n_nodes
                assert share / 100 < m / n_nodes < 0.5

    def test_claims_on_wiki_are_those_of_the_text(self):
        table = load_experiment("thesis-table10")
        assert {claim.methods[0]: (claim.by, claim.data, claim.at) for claim in table.claims if claim.by} == {
            "p-nrcl": (0.291, ("net_wiki",), (20,)),
            "mm-nrcl": (0.448, ("net_wiki",), (20,)),
        }

    def test_what_is_varied_is_not_fixed(self):
        figure = load_experiment("thesis-figure10")
        assert len(figure.cells()) == 2 * 10
        for cell in figure.cells():
            method = figure.method(cell)
            assert method.candidates(Context(50, 10)) == [{}]
            assert method.build(Context(50, 10), {}).get_params()[cell.variant.parameter] == cell.variant.value

    def test_listed_attributes_are_those_of_table_11(self):
        table = load_experiment("thesis-table11")
        (reported,) = table.paper["mm-nrcl"].values()
        assert [reported[f"score@listed{place}"][0] > 0 for place in range(1, 11)] == [True] * 5 + [False] * 5
        assert len(table.options.listed) == 10


class TestSideInformation:
    """Chapter 7 of the thesis: Tables XVII and XVIII and Fig. 14, on other data than the thesis' own."""

    @pytest.mark.parametrize("name", ["table17", "table18", "figure14"])
    def test_no_value_of_the_thesis_stands_beside_one_of_other_data(self, name):
        assert load_experiment(f"thesis-{name}").paper == {}

    @pytest.mark.parametrize("name", ["table17", "table18"])
    def test_every_method_is_run_on_all_data_so_that_all_are_ranked(self, name):
        table = load_experiment(f"thesis-{name}")
        assert len(table.cells()) == len(table.data) * len(table.methods)
        assert not any(spec.skip for spec in table.methods)

    @pytest.mark.parametrize("name", ["table17", "table18"])
    def test_constants_are_the_thesis(self, name):
        table = load_experiment(f"thesis-{name}")
        to = Context(n_rows=50, n_features=10, n_classes=3)
        for cell in table.cells():
            method = table.method(cell)
            built = method.build(to, {}).get_params() if method.has_map else {}
            assert built.get("n_clusters", 5) == 5
            if method.name == "sidefs":
                own = "own" in cell.method
                assert (built["n_components"], built["n_neighbors"], built["max_length"]) == (5, 10, 4)
                assert built["fit_intercept"] == own
                assert built["aggregation"] == ("macro" if "macro" in cell.method else "micro")
                weights = [candidate.get("sparsity") for candidate in method.candidates(to)]
                assert weights == ([None] if own else [0.1, 1.0, 10.0])

    def test_named_meta_paths_are_there(self):
        for name in ("table17", "table18"):
            table = load_experiment(f"thesis-{name}")
            for spec in table.data:
                if datasets.path_of(spec.name) is None:
                    pytest.skip(f"{spec.name}.npz is not in VICINAL_DATA")
                side = with_side(datasets.load(spec.name), spec).side
                for method in table.methods:
                    path = method.options.metapath.get(spec.name)
                    assert path is None or str(side.metapath(path)) == path

    def test_one_parameter_is_varied_at_a_time_and_each_has_its_chart(self):
        figure = load_experiment("thesis-figure14")
        assert len(figure.cells()) == 2 * (1 + 3 * 5 + 4)
        for cell in figure.cells():
            method = figure.method(cell)
            if method.has_map:
                assert figure.options.candidates(method, Context(50, 10)) == [{}]
                built = method.build(Context(50, 10), {}).get_params()
                weights = {name: built[name] for name in ("sparsity", "weight_decay", "reconstruction")}
                fixed = {**dict.fromkeys(weights, 1.0), "n_components": 5}
                varied = {**fixed, cell.variant.parameter: cell.variant.value}
                assert {**weights, "n_components": built["n_components"]} == varied
        summaries = summarise(figure, [r for cell in figure.cells() for r in failed_results(figure, cell, "")])
        tables = figure.task.tables(figure, summaries)
        assert len(tables) == 2 * 2
        for table in tables:
            assert [column.label for column in table.columns[:2]] == ["method", "variant"]
            assert len(table.rows) == 1 + 3 * 5 + 4
        titles = [section.title for section in figure.task.sections(figure, summaries, Section("The results", "", ()))]
        varied = ("sparsity", "weight_decay", "reconstruction", "n_components")
        assert titles == [*(f"Sensitivity: {name}" for name in varied), "The results"]


class TestLearnedKernels:
    """Sokolov, Urvoy, Le 2011: Tables 1 to 4, on IMDB reviews in place of data that were never published."""

    TABLES = tuple(f"kernels-table{number}" for number in (1, 2, 3, 4))

    def total(self, number, method):
        return load_experiment(f"kernels-table{number}").paper[method]["imdb_uni_bi"]["auc"][0]

    @pytest.mark.parametrize("name", TABLES)
    def test_it_is_said_that_values_are_of_other_data(self, name):
        table = load_experiment(name)
        assert "challenge" in table.paper_data
        assert [(spec.name, spec.scale) for spec in table.data] == [("imdb_uni_bi", "none")]
        assert all(0.98 < value[0] < 1 for figures in table.paper.values() for value in figures["imdb_uni_bi"].values())

    @pytest.mark.parametrize(("name", "n_values"), list(zip(TABLES, (11, 18, 12, 16), strict=True)))
    def test_claims_agree_with_the_papers_own_values(self, name, n_values):
        table = load_experiment(name)
        totals = {method: figures["imdb_uni_bi"]["auc"][0] for method, figures in table.paper.items()}
        assert len(totals) == n_values
        for claim in table.claims:
            for ours in set(claim.methods) & set(totals):
                for rival in set(claim.over) & set(totals):
                    assert claim.is_met_by(claim.gain(totals[ours], totals[rival])), (claim.text, ours, rival)

    def test_the_whole_chain_is_that_of_table_2(self):
        """But for grids at 1,000 pivots, where Table 3 has the whitened value of Table 2."""
        for chain, same in (
            ("stumps-2270-1000", "stumps-2270-1000"),
            ("stumps-2270-5000", "stumps-2270-5000"),
            ("grids-2000-1000", "grids-2000-1000-whitened"),
            ("grids-2000-5000", "grids-2000-5000"),
        ):
            of_3, of_2 = self.total(3, f"learned-kernel-{chain}-abc"), self.total(2, f"learned-kernel-{same}")
            assert of_3 == pytest.approx(of_2, abs=6e-6)

    @pytest.mark.parametrize("name", TABLES[1:])
    def test_stages_are_those_of_their_names(self, name):
        table = load_experiment(name)
        for cell in table.cells():
            method = table.method(cell)
            parts = cell.method.split("-")
            if method.name != "learned-kernel" or "ours" in parts:
                continue
            built = method.build(Context(50, 10), {}).get_params()
            assert (built["kernel"], built["n_rounds"]) == (f"rankboost-{parts[2]}", int(parts[3]))
            assert built["n_components"] == (None if "ab" in parts else 100)
            assert built["n_pivots"] == (None if "ac" in parts else int(parts[4]))
            assert built["whiten"] == ("whitened" in parts)

    def test_few_and_wrong_labels_are_tried_on_the_same_problems(self):
        few, wrong = (load_experiment(f"kernels-{name}") for name in ("labels", "noise"))
        assert (few.data, few.methods) == (wrong.data, wrong.methods)
        assert few.task.conditions(few) == ("all labels", "10 % of the labels", "1 % of the labels")
        assert wrong.task.conditions(wrong) == ("none flipped", "5 % flipped", "20 % flipped")
        assert len(few.cells()) == len(few.data) * len(few.methods) * 3 * few.repeats

    def test_named_classes_are_there(self):
        for spec in load_experiment("kernels-labels").data:
            if datasets.path_of(spec.name) is None:
                pytest.skip(f"{spec.name}.npz is not in VICINAL_DATA")
            if spec.classes:
                sample = of_classes(datasets.load(spec.name), spec.classes, spec.name)
                assert sorted(set(sample.y)) == [0, 1]
                assert sorted(set(sample.split)) == [0, 1]

"""Does it pay, and do the published figures hold? Methods under one protocol, in declared experiments."""

from ._compare import check_classes, compare, compare_file, comparison
from ._declared import experiment_names, load_experiment, read_experiment
from ._experiment import Cell, Experiment
from ._methods import Method, find_method, method_names
from ._ranks import Contest, Entry, entry_label, mean_ranks
from ._results import read_results
from ._runner import cell_features, load_rows, run
from ._summary import LOWER_IS_BETTER, Figure, summarise

__all__ = [
    "LOWER_IS_BETTER",
    "Cell",
    "Contest",
    "Entry",
    "Experiment",
    "Figure",
    "Method",
    "cell_features",
    "check_classes",
    "compare",
    "compare_file",
    "comparison",
    "entry_label",
    "experiment_names",
    "find_method",
    "load_experiment",
    "load_rows",
    "mean_ranks",
    "method_names",
    "read_experiment",
    "read_results",
    "run",
    "summarise",
]

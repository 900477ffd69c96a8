"""Does it pay, and do the published values hold? Methods under one protocol, in declared experiments."""

from ._compare import compare, comparison, comparison_pictures, comparison_sample, run_comparison
from ._declared import experiment_names, load_experiment, read_experiment
from ._experiment import Cell, Claim, Experiment, Variant
from ._method import Context, Method, Role
from ._methods import find_method, method_names
from ._metric import KMeansProtocol, Measure, Metric
from ._pages import (
    comparison_page,
    comparison_verdict,
    experiment_page,
    threads_of,
)
from ._pictures import feature_image, voronoi_cells
from ._ranks import Contest, Entry, entry_label, mean_ranks
from ._results import Result, read_results
from ._rule_sections import comparison_rules
from ._runner import run, run_pictures
from ._summary import Summary, summarise
from ._task import Task
from ._verdicts import quick_warning, verdict
from ._work import Outcome, Work
from .tasks import TASKS, register

__all__ = [
    "TASKS",
    "Cell",
    "Claim",
    "Contest",
    "Context",
    "Entry",
    "Experiment",
    "KMeansProtocol",
    "Measure",
    "Method",
    "Metric",
    "Outcome",
    "Result",
    "Role",
    "Summary",
    "Task",
    "Variant",
    "Work",
    "compare",
    "comparison",
    "comparison_page",
    "comparison_pictures",
    "comparison_rules",
    "comparison_sample",
    "comparison_verdict",
    "entry_label",
    "experiment_names",
    "experiment_page",
    "feature_image",
    "find_method",
    "load_experiment",
    "mean_ranks",
    "method_names",
    "quick_warning",
    "read_experiment",
    "read_results",
    "register",
    "run",
    "run_comparison",
    "run_pictures",
    "summarise",
    "threads_of",
    "verdict",
    "voronoi_cells",
]

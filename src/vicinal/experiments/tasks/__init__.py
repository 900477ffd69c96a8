"""The tasks that experiments can have: one file and one line each."""

from .._task import Task
from .attributes import Attributes
from .classification import Classification
from .clustering import Clustering
from .cross_view import CrossView
from .images import Images
from .kernel import Kernel
from .multi_label import MultiLabel
from .outliers import Outliers
from .regression import Regression
from .retrieval import Retrieval
from .selection import Selection
from .semi_supervised import SemiSupervised
from .view_selection import ViewSelection

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Classification(),
        Regression(),
        Clustering(),
        Selection(),
        ViewSelection(),
        MultiLabel(),
        Retrieval(),
        CrossView(),
        Attributes(),
        Outliers(),
        Images(),
        Kernel(),
        SemiSupervised(),
    )
}


def register(task: Task) -> Task:
    """Makes a task of your own known to declared experiments.

    Parameters
    ----------
    task : Task
        An instance of your class; its `name` is what TOML files call it.

    Returns
    -------
    Task
        The same one.

    Examples
    --------
    >>> from vicinal.experiments import TASKS, Metric, Task, register
    >>> class Count(Task):
    ...     name = "count"
    ...     metrics = (Metric("rows", "number of rows"),)
    ...     def evaluate(self, work): ...
    >>> register(Count()).name
    'count'
    >>> del TASKS["count"]  # and unknown again
    """
    TASKS[task.name] = task
    return task

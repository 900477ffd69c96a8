"""Does it pay? Feature methods under one protocol, each followed by the same linear model."""

from ._compare import Result, compare
from ._methods import methods
from ._prepare import check_table, describe_columns, make_preparation

__all__ = ["Result", "check_table", "compare", "describe_columns", "make_preparation", "methods"]

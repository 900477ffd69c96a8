"""A model of its own, and linear models on any rows and on codes of local features, with a certified duality gap."""

from ._classifier import LocalLinearClassifier
from ._family import part_defaults
from ._local_classifier import LocalClassifier
from ._local_model import seconds_of
from ._local_regressor import LocalRegressor
from ._regressor import LocalLinearRegressor

__all__ = [
    "LocalClassifier",
    "LocalLinearClassifier",
    "LocalLinearRegressor",
    "LocalRegressor",
    "part_defaults",
    "seconds_of",
]

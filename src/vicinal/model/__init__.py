"""Linear models on any rows and on codes of local features, with a certified duality gap."""

from ._classifier import LocalLinearClassifier
from ._regressor import LocalLinearRegressor

__all__ = ["LocalLinearClassifier", "LocalLinearRegressor"]

"""Solvers that several methods share: pure functions of arrays, without randomness, that neither warn nor print."""

from ._box import BoxMinimum, box_gap, minimize_in_box
from ._descent import descend, descend_by_reweighting, row_lengths
from ._eigenvectors import leading_subspace
from ._lars import LassoPath, as_columns, least_angle_lasso
from ._latent import LatentTriplets, minimize_smooth
from ._nonnegative import multiplicative_step, orthogonal_parts
from ._penalty import find_penalty
from ._row_sparse import Form, RowWeightedRidge, products_of_rows, row_sparse_by_shrinking, row_sparse_least_squares
from ._secular import shortest_rows
from ._solved import Solved, without_rounding
from ._trace import Reweighted, RowForm, minimize_trace
from ._triplets import LOSSES, TripletDescent

__all__ = [
    "LOSSES",
    "BoxMinimum",
    "Form",
    "LassoPath",
    "LatentTriplets",
    "Reweighted",
    "RowForm",
    "RowWeightedRidge",
    "Solved",
    "TripletDescent",
    "as_columns",
    "box_gap",
    "descend",
    "descend_by_reweighting",
    "find_penalty",
    "leading_subspace",
    "least_angle_lasso",
    "minimize_in_box",
    "minimize_smooth",
    "minimize_trace",
    "multiplicative_step",
    "orthogonal_parts",
    "products_of_rows",
    "row_lengths",
    "row_sparse_by_shrinking",
    "row_sparse_least_squares",
    "shortest_rows",
    "without_rounding",
]

"""A fitted map's groups as plain arrays, whichever class it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from .._anchors import AnchorGroups, fitted_groups, sampled_groups
from .._validation import Matrix
from ..local import RULLS, ProjectedLandmarks, RandLocal, SampledLandmarks

MAPS = (RandLocal, SampledLandmarks)
IN_PROJECTIONS = (ProjectedLandmarks, RULLS)


def anchor_groups(fitted: RandLocal | SampledLandmarks) -> AnchorGroups:
    """The groups of a fitted map as it searches them."""
    return fitted_groups(fitted) if isinstance(fitted, RandLocal) else sampled_groups(fitted)


@dataclass(frozen=True)
class LocalGroups:
    """Groups of anchors, and the columns in which each of them measures distances.

    Group ``t`` has the output columns ``anchor_ptr[t]`` to ``anchor_ptr[t + 1]``, whose anchors are ``rows`` of
    ``table``, and the columns ``features[feature_ptr[t]:feature_ptr[t + 1]]``. ``samples`` are the places of
    the table's rows in the training data.
    """

    table: Matrix
    samples: NDArray[np.integer]
    rows: NDArray[np.integer]
    anchor_ptr: NDArray[np.integer]
    features: NDArray[np.integer]
    feature_ptr: NDArray[np.integer]
    metric: str

    @classmethod
    def of(cls, fitted: Any) -> LocalGroups:
        """Those of a fitted map."""
        if isinstance(fitted, IN_PROJECTIONS):
            raise ValueError(
                f"{type(fitted).__name__} measures distances in subspaces of all columns, where no column has a share "
                "of its own, so there is nothing to explain them by; use RandLocal or SampledLandmarks."
            )
        if not isinstance(fitted, MAPS):
            raise ValueError(f"A fitted RandLocal or SampledLandmarks is needed; got a {type(fitted).__name__}.")
        if not hasattr(fitted, "feature_indices_"):
            raise NotFittedError(f"This {type(fitted).__name__} is not fitted yet; call fit first.")
        if isinstance(fitted, RandLocal):
            return cls(
                fitted.anchors_,
                fitted.anchor_samples_,
                fitted.anchor_rows_,
                fitted.anchor_ptr_,
                fitted.feature_indices_,
                fitted.feature_ptr_,
                fitted.metric,
            )
        n_groups = len(fitted.landmark_ptr_) - 1
        ptr = np.arange(n_groups + 1) * (len(fitted.feature_indices_) // n_groups)
        return cls(
            fitted.landmarks_,
            fitted.landmark_samples_,
            fitted.landmark_rows_,
            fitted.landmark_ptr_,
            fitted.feature_indices_,
            ptr,
            fitted.metric,
        )

    @classmethod
    def joined(cls, parts: Sequence[LocalGroups]) -> LocalGroups:
        """The groups of several maps of the same columns, one after the other."""
        tables = [part.table for part in parts]
        starts = np.cumsum([0, *(table.shape[0] for table in tables[:-1])])
        return cls(
            sp.vstack(tables, format="csr") if sp.issparse(tables[0]) else np.concatenate(tables),
            np.concatenate([part.samples for part in parts]),
            np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            _joined_ptr([part.anchor_ptr for part in parts]),
            np.concatenate([part.features for part in parts]),
            _joined_ptr([part.feature_ptr for part in parts]),
            parts[0].metric,
        )

    @property
    def n_groups(self) -> int:
        return len(self.anchor_ptr) - 1

    @property
    def n_columns(self) -> int:
        return self.table.shape[1]

    def columns(self, group: int) -> NDArray[np.integer]:
        return self.features[self.feature_ptr[group] : self.feature_ptr[group + 1]]

    def group_of(self, cells: NDArray[np.integer]) -> NDArray[np.int64]:
        """The groups of output columns."""
        return np.searchsorted(self.anchor_ptr, cells, side="right") - 1

    @cached_property
    def membership(self) -> sp.csr_array:
        """Groups by columns: each group's columns with equal parts of 1."""
        sizes = np.diff(self.feature_ptr)
        parts = np.repeat(1 / np.maximum(sizes, 1), sizes)
        return sp.csr_array((parts, self.features, self.feature_ptr), shape=(self.n_groups, self.n_columns))

    def summed_by_anchor(self, entries: sp.csr_array) -> sp.csr_array:
        """Rows by output columns to rows by anchors (rows of the table): entries of one anchor are added."""
        summed = sp.csr_array(
            (entries.data.copy(), self.rows[entries.indices], entries.indptr.copy()),
            shape=(entries.shape[0], self.table.shape[0]),
        )
        summed.sum_duplicates()
        return summed


def _joined_ptr(parts: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in parts]))])

"""What linear models on codes share: rows as they are or by a map to local features, and the call of the solver."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .._magnitudes import largest_magnitude
from .._messages import warn_not_converged
from .._validation import Matrix, check_choice, check_count, check_non_negative, check_positive, checked_rows
from ._coded_rows import CodedRows, CodedRowsBuilder
from ._early_stopping import solve_until_settled
from ._solver import Outputs, Solved, solve

LARGEST = 1e50  # value whose squares, times weights, can still be added up
BLOCK_ENTRIES = 1 << 23  # of local features that exist at a time, at most; two levels of anchors want many rows at once
BLOCK_ROWS = 8192, 65536


class LinearOnCodes(BaseEstimator):
    """Checks and the fit that classifier and regressor share."""

    features: Any
    loss: str
    C: float
    l1: float
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    max_iter: int
    early_stopping: bool
    validation_fraction: float
    warm_start: bool
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    coef_: Any
    intercept_: Any

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.features is not None:
            inner = get_tags(self.features).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def _checked(self, X: ArrayLike, y: Any = "no_validation", *, reset: bool, **more: Any) -> Any:
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        options = {"accept_sparse": "csr" if get_tags(self).input_tags.sparse else False, "ensure_all_finite": finite}
        return checked_rows(self, X, y, reset=reset, **options, **more)

    def _check_parameters(self, losses: tuple[str, ...]) -> None:
        check_choice("loss", self.loss, losses)
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)
        check_positive("intercept_scaling", self.intercept_scaling)
        check_non_negative("l1", self.l1)
        if self.early_stopping and not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must be a number above 0 and below 1; got {self.validation_fraction!r}."
            )

    def _row_weights(self, X: Matrix, sample_weight: ArrayLike | None) -> NDArray[np.float64]:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weights.any():
            raise ValueError("All weights of rows are zero; at least one has to be above 0.")
        return weights * self.C

    def path(
        self, X: ArrayLike, y: ArrayLike, C_values: Iterable[float], sample_weight: ArrayLike | None = None
    ) -> list[Self]:
        """Models for several values of C, from the smallest, each learned from where the one before ended.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        C_values : iterable of float
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        list of fitted models
            One per value, ascending. The map to local features is fitted once, and all of them have it.
        """
        values = sorted(C_values)
        if not values:
            raise ValueError("C_values is empty; at least one value of C is needed.")
        for C in values:
            check_positive("C", C)
        model, models = clone(self).set_params(warm_start=True), []
        model._prepared = None
        for C in values:
            found = copy(model.set_params(C=C).fit(X, y, sample_weight))
            del found._prepared, found._duals, found._duals_C
            models.append(found.set_params(warm_start=self.warm_start))
        return models

    def _fit_rows(
        self,
        X: Matrix,
        y: ArrayLike,
        outputs: Outputs,
        weights: NDArray[np.float64],
        *,
        base: Any = None,
        **options: Any,
    ) -> None:
        """Fits maps, solves, and keeps what the solver found; with a `base`, it and the map stay as they are."""
        prepared = getattr(self, "_prepared", None) or self._fitted_rows(X, y, again=base is not None)
        if hasattr(self, "_prepared"):
            self._prepared = prepared
        rows, factor = prepared
        given: dict[str, Any] = {
            "loss": self.loss,
            "l1": self.l1,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "constant": self.intercept_scaling if self.fit_intercept else 0.0,
            "seed": int(check_random_state(self.random_state).randint(2**31 - 1)),
            "duals": None if base is not None else self._start(outputs, weights),
            "n_jobs": self.n_jobs,
        } | options
        if self.early_stopping and base is None and np.count_nonzero(weights) > 1:
            solved, settled = solve_until_settled(rows, outputs, weights, share=self.validation_fraction, **given)
        else:
            solved = solve(rows, outputs, weights, base=base, **given)
            settled = solved.gap <= self.tol
        self._keep(solved, factor, settled)

    def _keep(self, solved: Solved, factor: float, settled: bool) -> None:
        coefficients = solved.coefficients
        self.coef_ = coefficients[:, :-1] * factor
        self.intercept_ = coefficients[:, -1] * (self.intercept_scaling if self.fit_intercept else 0.0)
        self.n_iter_, self.objective_, self.duality_gap_ = solved.n_iter, solved.primal, solved.gap
        self._factor, self._sums = factor, solved.sums if self.l1 > 0 else None
        if self.warm_start:
            self._duals, self._duals_C = solved.duals, self.C
        if not settled:
            detail = f"the duality gap is {solved.gap:.2g} of the objective, and tol={self.tol:g}"
            warn_not_converged(self, solved.n_iter, steps="passes over the rows", detail=detail)

    def _start(self, outputs: Outputs, weights: NDArray[np.float64]) -> NDArray[Any] | None:
        """The former fit's dual variables, if they are those of as many rows and outputs, scaled to the new C.

        Of losses whose conjugate is a parabola it is the factor at which the dual objective is highest.
        """
        known = getattr(self, "_duals", None)
        if not self.warm_start or known is None or known.shape != (len(weights), len(outputs.counts)):
            return None
        if self._duals_C == self.C:
            return known
        factors = np.full(known.shape[1], self.C / self._duals_C)
        if self.loss == "squared_hinge" and self.l1 == 0:
            squares = (self._base() ** 2).sum(axis=1)
            for c, duals in enumerate(known.T):
                targets, caps = outputs.of(c, weights)
                some = np.flatnonzero((duals != 0) & (caps > 0))
                moved = duals[some].astype(np.float64)
                curve = squares[c] + (moved**2 / (2 * caps[some])).sum()
                factors[c] = moved @ targets[some] / curve if curve > 0 else 1.0
        return known * factors.astype(known.dtype)

    def _base(self) -> NDArray[np.float64]:
        """What the rows so far have added up to, for rows that are learned on top of them."""
        if self._sums is not None:
            return self._sums
        constant = self.intercept_scaling if self.fit_intercept else 1.0
        weights, intercepts = self._solved_weights()
        return np.column_stack([weights / self._factor, intercepts / constant])

    def _solved_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights and intercepts in the units in which the solver found them."""
        return self.coef_, self.intercept_

    def _fitted_rows(self, X: Matrix, y: ArrayLike, *, again: bool = False) -> tuple[Matrix | CodedRows, float]:
        """What the solver is given, and the number by which the features were multiplied."""
        if self.features is None:
            largest = largest_magnitude(X)
            if largest > LARGEST:
                raise ValueError(
                    f"Values of X go up to {largest:.3g}, whose squares {type(self).__name__} cannot add up; scale X "
                    "first, for example with sklearn.preprocessing.StandardScaler."
                )
            return X, 1.0
        if not (again or (self.warm_start and hasattr(self, "features_"))):
            self.features_ = clone(self.features).fit(X, y)
        rows = coded_features(self.features_, X)
        factor = self._factor if again else 1 / np.sqrt(max(rows.mean_squared_length(), 1e-300))
        return rows.scaled(factor), factor

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        given = self._checked(X, reset=False)
        if self.features is None:
            return safe_sparse_dot(given, self.coef_.T, dense_output=True) + self.intercept_
        blocks = (self.features_.transform(given[rows]) for rows in _blocks(self.features_, given.shape[0]))
        return np.concatenate([block @ self.coef_.T for block in blocks]) + self.intercept_


def coded_features(features: Any, X: Matrix) -> CodedRows:
    """The local features of X by a fitted map, as codes; they exist as CSR for a block of rows at a time."""
    builder = CodedRowsBuilder(_pointers(features), X.shape[0], getattr(features, "n_neighbors", 1))
    for rows in _blocks(features, X.shape[0]):
        builder.add(sp.csr_array(features.transform(X[rows])))
    return builder.finished()


def _pointers(features: Any) -> NDArray[np.int64]:
    """Where the columns of each group of a fitted map begin and end."""
    for name in ("anchor_ptr_", "leaf_ptr_"):
        if hasattr(features, name):
            pointers: NDArray[np.int64] = getattr(features, name)
            return pointers
    raise ValueError(
        f"features must be a map with groups of anchors or leaves, such as RandLocal; got "
        f"{type(features).__name__}. Put other maps before this model with sklearn.pipeline.make_pipeline."
    )


def _blocks(features: Any, n_rows: int) -> list[slice]:
    entries = (len(_pointers(features)) - 1) * getattr(features, "n_neighbors", 1)
    size = int(np.clip(BLOCK_ENTRIES // entries, *BLOCK_ROWS))
    return [slice(start, min(n_rows, start + size)) for start in range(0, n_rows, size)]

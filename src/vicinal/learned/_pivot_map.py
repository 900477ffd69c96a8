"""PivotMap: a kernel as few features, by its values at pivots."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, gen_batches, get_tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._messages import warn
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, check_choice, check_count, check_non_negative, checked_rows
from ..expand.kernels import get_kernel, gram_blocks
from ._directions import ClassSums, label_directions, random_signs
from ._labels import PartialLabels, partial_labels
from ._pivots import cholesky_basis, choose_pivots

Floats = NDArray[np.float64]

BLOCK_ENTRIES = 2**22  # of what rows become, a block at a time


@obeys_n_jobs
class PivotMap(TakesSparseFloats, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features from a kernel: its values at pivots, that is at some of the rows, projected to few columns.

    If a kernel separates classes by a margin, so do its values at enough rows of the same kind, labelled or not, and so
    do random projections of these (Balcan, Blum, Vempala 2004). Where the kernel or the projection learns from labels,
    -1 means none: they learn from the other rows, and pivots are rows without a label first. Where nothing learns from
    labels, y is not looked at, and any row may be a pivot.

    Parameters
    ----------
    kernel : str, callable or estimator, default="gaussian"
        A kernel of `vicinal.expand.kernels`, by name or as any function of two tables; a map, such as `RankBoostMap`,
        whose inner products are the kernel; or an estimator with a method ``kernel(X, Y)``, such as `NeuralKernel`.
        Estimators are fitted, as a clone, by `fit`; one that is fitted already stays as it is within
        ``sklearn.frozen.FrozenEstimator``.
    n_pivots : int, "auto" or None, default="auto"
        "auto": 1,000, or as many as there are rows. Where rows without a label are too few, others are pivots, too.
        None takes the features of a map as they are, in place of their products with pivots.
    pivots : {"random", "k-means", "k-means++"}, default="random"
        Random rows, those next to the centres of k-means, or those that k-means++ would start with, which lie far
        apart. Rows of a map are clustered by its features.
    whiten : bool, default=False
        Whether a row becomes its projection on the span of the pivots, in the kernel's space. Inner products of pivots
        are the kernel then. Pivots that others span are left out.
    n_components : int or None, default=100
        Columns of the projection; None leaves it out.
    projection : {"binary", "labels"}, default="binary"
        Random signs, which know nothing; or the directions of partial least squares, which know the labels: the first
        ones point from class to class. Of these there may be fewer.
    tol : float, default=1e-10
        In whitening, pivots of which others leave less than this share of the largest count as spanned; of rows in
        single precision, it is 1e-4 at least.
    random_state : int, RandomState instance or None, default=None
        Draws pivots and signs.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    kernel_ : callable or estimator
        The fitted one.
    pivot_indices_ : ndarray of shape (n_pivots,)
        Rows of X at `fit` that are pivots; of those that were drawn, whitening keeps as many as `rank_`.
    pivots_ : ndarray or CSR matrix of shape (n_pivots, n_features_in_)
        These rows.
    rank_ : int or None
        With ``whiten=True``, the number of pivots that do not span each other.
    components_ : ndarray or None
        What the kernel's values at the pivots are multiplied by; of a map, its features, since the whole chain is
        linear in these: there is one matrix, whatever the number of pivots. None leaves values as they are.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, Eq. 3 and section 2.2.
    Balcan, Blum, Vempala: Kernels as Features, ALT 2004.
    Achlioptas: Database-Friendly Random Projections, JCSS 66, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.expand.kernels import Gaussian
    >>> from vicinal.learned import PivotMap
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = PivotMap(Gaussian(0.001), n_pivots=200, whiten=True, n_components=None, random_state=0).fit(X / 4)
    >>> model.rank_
    200
    >>> Z = model.transform(model.pivots_)
    >>> np.allclose(Z @ Z.T, Gaussian(0.001)(model.pivots_, model.pivots_))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        n_pivots: int | str | None = "auto",
        pivots: str = "random",
        whiten: bool = False,
        n_components: int | None = 100,
        projection: str = "binary",
        tol: float = 1e-10,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.n_pivots = n_pivots
        self.pivots = pivots
        self.whiten = whiten
        self.n_components = n_components
        self.projection = projection
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = self._make_kernel()
        if _is_estimator(kernel) and not isinstance(kernel, FrozenEstimator):  # which has learned already
            own = get_tags(kernel)
            tags.target_tags.required = own.target_tags.required
            tags.classifier_tags = own.classifier_tags
        tags.target_tags.required |= self.projection == "labels" and self.n_components is not None
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> PivotMap:
        """Fit the kernel to the labelled rows, and take pivots.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Classes, and -1 for rows without one, where the kernel or the projection learns from labels.

        Returns
        -------
        self
        """
        check_choice("pivots", self.pivots, ("random", "k-means", "k-means++"))
        check_choice("projection", self.projection, ("binary", "labels"))
        if self.n_pivots is not None and self.n_pivots != "auto":
            check_count("n_pivots", self.n_pivots)
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        if self.whiten and self.n_pivots is None:
            raise ValueError("whiten=True needs pivots whose span rows are projected on; n_pivots is None.")
        check_non_negative("tol", self.tol)
        labels = None
        if get_tags(self).target_tags.required:
            rows, given = checked_rows(self, X, y)
            labels = partial_labels(given, type(self).__name__)
        else:
            rows = checked_rows(self, X)
        random_state = check_random_state(self.random_state)
        self.kernel_ = self._fitted_kernel(rows, labels, random_state)
        self._choose_pivots(rows, labels, random_state)
        self._n_values = self._map(rows[:1]).shape[1] if _is_map(self.kernel_) else self.pivots_.shape[0]
        before = self._before_projection()
        self.components_ = self._completed(self._projected(before, rows, labels, random_state))
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """The kernel's values at the pivots, projected.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        out = np.empty((rows.shape[0], self._n_features_out), dtype=rows.dtype)
        for block, values in self._values(rows):
            if self.components_ is not None:
                values = safe_sparse_dot(values, self.components_, dense_output=True)
            out[block] = values.toarray() if sp.issparse(values) else values
        return out

    @property
    def _n_features_out(self) -> int:
        components = getattr(self, "components_", None)  # of which there are none yet while `fit` looks for them
        return int(self._n_values if components is None else components.shape[1])

    def _make_kernel(self) -> Any:
        return self.kernel

    def _fitted_kernel(self, rows: Matrix, labels: PartialLabels | None, random_state: np.random.RandomState) -> Any:
        kernel = self._make_kernel()
        if not _is_estimator(kernel):
            return get_kernel(kernel)
        if isinstance(kernel, FrozenEstimator):
            return kernel
        kernel = clone(kernel)
        names = kernel.get_params(deep=True)
        unset = [name for name in names if name.split("__")[-1] == "random_state" and names[name] is None]
        kernel.set_params(**{name: random_state.randint(2**31 - 1) for name in sorted(unset)})
        if not get_tags(kernel).target_tags.required:
            return kernel.fit(rows)
        assert labels is not None
        return kernel.fit(rows[labels.labelled], labels.classes[labels.places])

    def _choose_pivots(self, rows: Matrix, labels: PartialLabels | None, random_state: np.random.RandomState) -> None:
        """Rows without a label first, where there are any."""
        self.pivot_indices_: Any = None
        self.pivots_: Any = None
        if self.n_pivots is None:
            if not _is_map(self.kernel_):
                raise ValueError("n_pivots=None takes a map's own features, but this kernel has no map; name a number.")
            return
        wanted = 1000 if self.n_pivots == "auto" else int(self.n_pivots)
        pools = [np.arange(rows.shape[0])]
        if labels is not None and len(labels.unlabelled):
            pools = [labels.unlabelled, labels.labelled]
        if wanted > len(pools[0]) and self.n_pivots != "auto":
            kind = "unlabelled " if len(pools) > 1 else ""
            then = "labelled ones are pivots, too" if len(pools) > 1 else "all of them are pivots"
            warn(f"n_pivots={wanted}, but there are {len(pools[0])} {kind}rows: {then}.")
        chosen: list[NDArray[np.intp]] = []
        for pool in pools:
            count = min(wanted - sum(len(part) for part in chosen), len(pool))
            points = rows[pool]
            if self.pivots != "random" and _is_map(self.kernel_):
                points = self._map(points)
            chosen.append(pool[choose_pivots(points, count, self.pivots, random_state)] if count else pool[:0])
        self.pivot_indices_ = np.concatenate(chosen)
        self.pivots_ = rows[self.pivot_indices_]

    def _before_projection(self) -> LinearOperator | None:
        """From a map's features, or from a kernel's values at the pivots, to what is projected; None leaves them."""
        self.rank_ = None
        if self.pivots_ is None:
            return None
        pivots = self.pivots_.astype(np.float64)
        features = sp.csr_array(self._map(pivots)) if _is_map(self.kernel_) else None
        basis = None
        if self.whiten:
            products = self._gram(pivots) if features is None else (features @ features.T).toarray()
            # What single precision cannot tell from zero would be noise, made large.
            basis = cholesky_basis(products, max(self.tol, 1000 * float(np.finfo(self.pivots_.dtype).eps)))
            self.rank_, kept = basis.rank, basis.places
            self.pivots_, self.pivot_indices_ = self.pivots_[kept], self.pivot_indices_[kept]
            features = None if features is None else features[kept]
        to_pivots = None if features is None else aslinearoperator(features.T)
        if basis is None or to_pivots is None:
            return to_pivots if basis is None else basis.inverse()
        return to_pivots @ basis.inverse()

    def _gram(self, pivots: Matrix) -> Floats:
        """A function of two rows may be a little asymmetric by rounding."""
        gram = np.concatenate([values for _, values in gram_blocks(_function(self.kernel_), pivots)])
        return np.asarray((gram + gram.T) / 2, dtype=np.float64)

    def _projected(
        self,
        before: LinearOperator | None,
        rows: Matrix,
        labels: PartialLabels | None,
        random_state: np.random.RandomState,
    ) -> Floats | None:
        """All steps that are linear as one matrix."""
        count = self._n_directions()
        n_inputs = self._n_values if before is None else before.shape[1]
        if count is None:
            return None if before is None else before.matmat(np.eye(n_inputs))
        if self.projection == "binary":
            directions = random_signs(n_inputs, count, random_state)
        else:
            assert labels is not None
            directions = self._label_directions(before, rows, labels, count)
        return directions if before is None else before.matmat(directions)

    def _n_directions(self) -> int | None:
        return self.n_components

    def _completed(self, components: Floats | None) -> Floats | None:
        return components

    def _label_directions(
        self, before: LinearOperator | None, rows: Matrix, labels: PartialLabels, count: int
    ) -> Floats:
        sums = ClassSums(self._n_values, len(labels.classes))
        for block, values in self._values(rows[labels.labelled]):
            sums.add(values, labels.places[block])
        if before is None:
            return label_directions(sums.towards(), sums.covariance, count)
        return label_directions(
            before.rmatmat(sums.towards()), lambda v: before.rmatvec(sums.covariance(before.matvec(v))), count
        )

    def _values(self, rows: Matrix) -> Iterator[tuple[slice, Matrix]]:
        """A map's features, or the kernel's values at the pivots, block by block."""
        if not _is_map(self.kernel_):
            yield from gram_blocks(_function(self.kernel_), rows, self.pivots_)
            return
        for block in gen_batches(rows.shape[0], max(1, BLOCK_ENTRIES // max(1, self._n_features_out))):
            yield block, self._map(rows[block])

    def _map(self, rows: Matrix) -> Matrix:
        """The map's features of rows whose names have been checked here."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            return self.kernel_.transform(rows)


def _is_estimator(kernel: Any) -> bool:
    return hasattr(kernel, "fit") and not isinstance(kernel, type)


def _is_map(kernel: Any) -> bool:
    return hasattr(kernel, "transform")


def _function(kernel: Any) -> Callable[..., Any]:
    return kernel.kernel if hasattr(kernel, "kernel") else kernel

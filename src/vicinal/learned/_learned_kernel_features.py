"""LearnedKernelFeatures: a kernel learned from labels, its values at unlabelled rows, and few projections of these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import Matrix, check_choice, check_count
from ._labels import PartialLabels
from ._neural_kernel import NeuralKernel
from ._pivot_map import PivotMap
from ._rankboost import RankBoost
from ._rankboost_map import RankBoostMap

Floats = NDArray[np.float64]

KERNELS = ("rankboost-stumps", "rankboost-grids", "neural", "neural-products")


@obeys_n_jobs
class LearnedKernelFeatures(PivotMap):
    """A hundred features that hold what labels say of a row, for a linear model to be trained on.

    A kernel is learned from the labelled rows, evaluated at unlabelled ones, the pivots, and projected: the chain of
    `RankBoostMap` or `NeuralKernel` with `PivotMap`. Rows without a label have y = -1. The features of a kernel of
    `RankBoost` hold its score, too, which random projections of the kernel would blur.

    Parameters
    ----------
    kernel : {"rankboost-stumps", "rankboost-grids", "neural", "neural-products"} or estimator, \
            default="rankboost-stumps"
        Rules of one column, or of one or two; a network of pairs of rows, or products of what a network makes of each;
        or any estimator that `PivotMap` takes.
    n_rounds : int, default=5000
        Rounds (T) of RankBoost.
    hidden_layers : tuple of int or None, default=None
        Units of each hidden layer of a neural kernel. None: (20, 20) for pairs, (20,) for products.
    n_pivots : int, "auto" or None, default="auto"
        1,000 or as many as there are rows; None leaves pivots out: features of RankBoost's rules are projected as they
        are.
    pivots : {"random", "k-means", "k-means++"}, default="random"
        As in `PivotMap`.
    whiten : bool, default=False
        Whether a row becomes its projection on the span of the pivots, in the kernel's space.
    n_components : int or None, default=100
        Number of features; None leaves the projection out.
    projection : {"binary", "labels"}, default="binary"
        Random signs, or directions that know the labels.
    with_score : bool or "auto", default="auto"
        Whether the first feature is RankBoost's score, times a number that makes its direction as long as the other
        ones' mean. "auto": if there is a score and features are projected. The paper's chain has False.
    tol : float, default=1e-10
        In whitening, pivots of which others leave less than this share of the largest count as spanned.
    random_state : int, RandomState instance or None, default=None
        For the kernel's draws, pivots and signs.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    kernel_ : estimator
        The fitted kernel.
    pivot_indices_, pivots_, rank_, components_
        As in `PivotMap`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011.

    Examples
    --------
    Labels of one row in ten, pivots from the others:

    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import LinearSVC
    >>> from vicinal.learned import LearnedKernelFeatures
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> some = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = LearnedKernelFeatures(n_rounds=200, n_pivots=300, n_components=20, random_state=0).fit(X, some)
    >>> features = model.transform(X)
    >>> features.shape
    (569, 20)
    >>> bool(LinearSVC(dual=False).fit(features[some >= 0], y[some >= 0]).score(features, y) > 0.9)
    True
    """

    def __init__(
        self,
        kernel: Any = "rankboost-stumps",
        *,
        n_rounds: int = 5000,
        hidden_layers: tuple[int, ...] | None = None,
        n_pivots: int | str | None = "auto",
        pivots: str = "random",
        whiten: bool = False,
        n_components: int | None = 100,
        projection: str = "binary",
        with_score: bool | str = "auto",
        tol: float = 1e-10,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        super().__init__(
            kernel,
            n_pivots=n_pivots,
            pivots=pivots,
            whiten=whiten,
            n_components=n_components,
            projection=projection,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_rounds = n_rounds
        self.hidden_layers = hidden_layers
        self.with_score = with_score

    def rules(self) -> list[str]:
        """RankBoost's rules in words with their weights, in the order of rounds.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        if not hasattr(self.kernel_, "ranker_"):
            raise AttributeError("Only a kernel of RankBoost has rules.")
        rules: list[str] = self.kernel_.ranker_.rules(getattr(self, "feature_names_in_", None))
        return rules

    def _make_kernel(self) -> Any:
        if not isinstance(self.kernel, str) or self.kernel not in KERNELS:
            return self.kernel
        if self.kernel.startswith("neural"):
            form = "products" if self.kernel == "neural-products" else "pairs"
            default = (20,) if form == "products" else (20, 20)
            return NeuralKernel(default if self.hidden_layers is None else self.hidden_layers, form=form)
        return RankBoostMap(RankBoost(self.n_rounds, rankers=self.kernel.removeprefix("rankboost-")))

    def _fitted_kernel(self, rows: Matrix, labels: PartialLabels | None, random_state: np.random.RandomState) -> Any:
        check_choice("with_score", self.with_score, (True, False, "auto"))
        check_count("n_rounds", self.n_rounds)
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, KERNELS)
        return super()._fitted_kernel(rows, labels, random_state)

    def _has_score(self) -> bool:
        """Whether the score is a feature; its direction is that of all rules alike (w = 1 in section 3.1)."""
        can = hasattr(self.kernel_, "ranker_") and self.n_components is not None
        if self.with_score is True and not can:
            raise ValueError(
                "with_score=True needs a kernel of RankBoost, and n_components; a neural kernel has no score of rows."
            )
        return can and self.with_score is not False

    def _n_directions(self) -> int | None:
        return self.n_components if self.n_components is None else self.n_components - self._has_score()

    def _completed(self, components: Floats | None) -> Floats | None:
        if not self._has_score():
            return components
        assert components is not None
        lengths = np.linalg.norm(components, axis=0) if components.size else np.ones(1)
        score = np.full((len(components), 1), lengths.mean() / max(len(components), 1) ** 0.5)
        return np.hstack([score, components])

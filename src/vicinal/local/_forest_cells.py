"""ForestCells: the leaves of a forest that was grown on labels, as groups of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._anchors import as_csr
from .._calls import obeys_n_jobs
from .._forests import extra_trees, is_continuous
from .._validation import Matrix, all_or_nothing, check_count, checked_rows


@obeys_n_jobs
class ForestCells(TransformerMixin, BaseEstimator):
    """Which leaf of each tree a row falls into, one feature per leaf, for a linear model that weighs leaves anew.

    Where boundaries are sharp and follow single columns, a tree's cells fit better than those around anchors. The trees
    are extremely randomised; a forest's own prediction gives each leaf the mean of its rows, and a linear model on
    leaves, which learns all of them together, is as good or better.

    Parameters
    ----------
    n_trees : int, default=150
        Number of trees, and of non-zeros per row.
    min_samples_leaf : int, default=2
        Training rows that a leaf has at least.
    max_features : {"sqrt", "log2"}, int, float or None, default=0.5
        Columns that are tried at each split, as in scikit-learn's forests.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads. None uses all cores, or as many as OMP_NUM_THREADS allows. The result does not depend on it.

    Attributes
    ----------
    forest_ : ExtraTreesClassifier or ExtraTreesRegressor
    leaf_ptr_ : ndarray of shape (n_trees + 1,)
        Output columns of tree t: ``leaf_ptr_[t]`` to ``leaf_ptr_[t + 1]``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from vicinal import ForestCells, LocalLinearClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = LocalLinearClassifier(ForestCells(random_state=0), random_state=0).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.95), model.features_.transform(X_test[:1]).nnz
    (True, 150)
    """

    def __init__(
        self,
        n_trees: int = 150,
        *,
        min_samples_leaf: int = 2,
        max_features: Any = 0.5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> ForestCells:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, or numbers to predict.

        Returns
        -------
        self
        """
        check_count("n_trees", self.n_trees)
        check_count("min_samples_leaf", self.min_samples_leaf)
        rows, targets = self._checked(X, y, reset=True)
        rng = check_random_state(self.random_state)
        given = {"min_samples_leaf": self.min_samples_leaf, "max_features": self.max_features}
        forest = extra_trees(is_continuous(targets), self.n_trees, rng, self.n_jobs, **given)
        self.forest_ = forest.fit(rows, targets)
        self.leaf_ptr_ = np.cumsum([0, *(tree.get_n_leaves() for tree in forest.estimators_)])
        return self

    def transform(self, X: ArrayLike) -> sp.csr_matrix | sp.csr_array:
        """A 1 for each tree, in the column of the row's leaf.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        nodes = self.forest_.apply(rows)
        columns = np.empty(nodes.shape, np.int32)
        for place, tree in enumerate(self.forest_.estimators_):
            leaf = np.cumsum(tree.tree_.children_left < 0) - 1
            columns[:, place] = self.leaf_ptr_[place] + leaf[nodes[:, place]]
        return as_csr(columns, np.ones(nodes.shape, rows.dtype), self.leaf_ptr_[-1], rows.dtype)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of tree and leaf: ``"tree12_leaf34"``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self)
        sizes = np.diff(self.leaf_ptr_)
        names = [f"tree{tree}_leaf{leaf}" for tree, size in enumerate(sizes) for leaf in range(size)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: ArrayLike, y: Any = "no_validation", *, reset: bool) -> Any:
        rows: Matrix = checked_rows(
            self, X, y, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1
        )
        return rows

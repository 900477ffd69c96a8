"""RankBoostMap: the rules of RankBoost as features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._calls import obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import all_or_nothing, checked_rows
from ._rankboost import RankBoost


@obeys_n_jobs
class RankBoostMap(TakesSparseFloats, TransformerMixin, BaseEstimator):
    """Features whose sum is the score of `RankBoost`: each rule's weight where the rule holds, and 0 elsewhere.

    Inner products of these features are the kernel that RankBoost has learned. If it has put all pairs of rows in
    order, a linear model of these features can separate the classes with at least half the smallest difference of two
    scores as its margin.

    Parameters
    ----------
    ranker : RankBoost, default=None
        Fitted, as a clone, by `fit`; None stands for `RankBoost` by its defaults. One that is fitted already stays as
        it is within ``sklearn.frozen.FrozenEstimator``.
    axis_wise : bool, default=False
        Whether the rules of a column are summed, which makes one feature of every column that has a rule: that column,
        bent by steps. Rules of two columns have no such form.
    random_state : int, RandomState instance or None, default=None
        That of the ranker where `ranker` is None; others have one of their own.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    ranker_ : RankBoost
        The fitted one.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, Eq. 9.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from vicinal.learned import RankBoost, RankBoostMap
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RankBoostMap(RankBoost(n_rounds=100, column_share=1.0)).fit(X, y)
    >>> features = model.transform(X)
    >>> features.shape
    (569, 100)
    >>> bool(np.allclose(features @ np.ones(100) + model.ranker_.intercept_, model.ranker_.decision_function(X)))
    True
    >>> str(model.get_feature_names_out()[0])
    'worst perimeter > 105.95'
    """

    def __init__(
        self,
        ranker: Any = None,
        *,
        axis_wise: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.ranker = ranker
        self.axis_wise = axis_wise
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if getattr(self.ranker, "target", "classes") == "classes":
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RankBoostMap:
        """Fit the ranker.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes or grades, as the ranker takes them.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        rows = checked_rows(self, X)
        ranker = clone(self.ranker) if self.ranker is not None else RankBoost(random_state=self.random_state)
        if not isinstance(getattr(ranker, "estimator", ranker), RankBoost):
            raise ValueError(f"ranker must be a RankBoost, or a fitted one in a FrozenEstimator; got {ranker!r}.")
        ranker.fit(X, y, sample_weight)
        if self.axis_wise and (ranker.second_columns_ >= 0).any():
            raise ValueError(
                "axis_wise=True sums the rules of one column, but some of the ranker's have two; it needs a ranker "
                "with rankers='stumps'."
            )
        if ranker.n_features_in_ != rows.shape[1]:
            raise ValueError(f"X has {rows.shape[1]} columns, but the ranker was fitted on {ranker.n_features_in_}.")
        self.ranker_ = ranker
        return self

    def transform(self, X: ArrayLike) -> sp.csr_matrix | sp.csr_array:
        """The rules' weights where they hold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_rounds_) or, axis-wise, (n_samples, n_columns_with_rules)
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        rules = self.ranker_._rules()
        features = rules.by_column(rows) if self.axis_wise else rules.features(rows)
        return features if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix(features)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The rules in words; where a rule comes again, with the number of its round.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where X had none.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names, rules = _check_feature_names_in(self, input_features), self.ranker_._rules()
        if self.axis_wise:
            return np.array([names[column] for column in np.unique(rules.columns)], dtype=object)
        words, seen = rules.words(names), set[str]()
        for place, line in enumerate(words):
            words[place] = f"{line} (round {place + 1})" if line in seen else line
            seen.add(line)
        return np.array(words, dtype=object)

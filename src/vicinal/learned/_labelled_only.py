"""LabelledOnly: an estimator that is fitted to the rows with a label."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, _safe_indexing, assert_all_finite, check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._validation import all_or_nothing
from ._labels import partial_labels


def _estimator_has(name: str) -> Any:
    def has(self: LabelledOnly) -> bool:
        getattr(self.estimator_ if hasattr(self, "estimator_") else self._chosen(), name)
        return True

    return has


class LabelledOnly(MetaEstimatorMixin, BaseEstimator):
    """Fits an estimator to the rows with a label, and leaves out those without, whose label is -1.

    It is the last step of pipelines whose former steps look at all rows, and lets estimators that know nothing of
    scikit-learn's convention for missing labels stand where others are given it.

    Parameters
    ----------
    estimator : estimator, default=None
        A classifier, or a transformer that learns from labels; it is fitted as a clone. None stands for
        ``LogisticRegression()``.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Whatever else the estimator has after `fit`, `classes_` or `coef_` for example, is an attribute of `estimator_`,
    but for `classes_`, which is here, too.

    Examples
    --------
    Centroids of all rows, and a model of the columns as they are beside these, from the labels of a few:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline, make_union
    >>> from vicinal.learned import KMeansFeatures, LabelledOnly
    >>> X, y = load_digits(return_X_y=True)
    >>> X /= 16
    >>> some = np.where(np.arange(len(y)) % 10, -1, y)
    >>> model = make_pipeline(make_union("passthrough", KMeansFeatures(random_state=0)), LabelledOnly())
    >>> bool(np.mean(model.fit(X, some).predict(X) == y) > 0.9)
    True
    """

    def __init__(self, estimator: Any = None):
        self.estimator = estimator

    def __sklearn_tags__(self) -> Tags:
        tags = deepcopy(get_tags(self._chosen()))
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> LabelledOnly:
        """Fit the estimator to the rows with a label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; -1 marks rows without one.

        Returns
        -------
        self
        """
        given = column_or_1d(y, warn=True)
        if given.dtype.kind == "f":
            assert_all_finite(given, input_name="y")
        check_consistent_length(X, given)
        estimator, labels = clone(self._chosen()), partial_labels(given, type(self).__name__)
        rows: Any = sp.csr_array(X) if sp.issparse(X) else X
        if len(labels.unlabelled):
            rows = _safe_indexing(rows, labels.labelled)
        self.estimator_ = estimator.fit(rows, labels.classes[labels.places])
        return self

    @available_if(_estimator_has("predict"))
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """What the estimator predicts.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._fitted().predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> NDArray[np.floating]:
        """What the estimator takes for the classes' probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._fitted().predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """The estimator's scores.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        return self._fitted().decision_function(X)

    @available_if(_estimator_has("score"))
    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """The estimator's own score, for classifiers the accuracy; all rows need a label here.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        float
        """
        return self._fitted().score(X, y)

    @available_if(_estimator_has("transform"))
    def transform(self, X: ArrayLike) -> Any:
        """The estimator's features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features_out)
        """
        return self._fitted().transform(X)

    @available_if(_estimator_has("transform"))
    def fit_transform(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to the rows with a label, and transform all of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; -1 marks rows without one.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_features_out)
        """
        return self.fit(X, y).transform(X)

    @available_if(_estimator_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The names that the estimator gives its features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where X had none.

        Returns
        -------
        ndarray of str
        """
        return self._fitted().get_feature_names_out(input_features)

    @property
    def classes_(self) -> NDArray[Any]:
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        return self.estimator_.feature_names_in_

    def _chosen(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

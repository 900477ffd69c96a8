"""Any selector, on each of several views by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Tags, get_tags

from .._validation import Matrix
from ._base import FeatureSelector, Ranked
from ._multi_view import MultiViewSelector


class PerView(MultiViewSelector):
    """Lets a selector rank the columns of each view as if there were no other.

    Parameters
    ----------
    selector : FeatureSelector
        What ranks the columns of a view; a copy of it is fitted to each, with the number of columns that are wanted of
        that view and all other parameters as they are.
    n_features_to_select : int, float, "auto", "all", sequence or mapping, default=0.5
        How many columns of each view are kept: a number, a share of them, or all; or one of these per view, in their
        order or by name. "auto" where the selector has a rule.
    views : None, sequence or mapping, default=None
        The columns of each view, as `vicinal.views.stack_views` describes them: how many there are, side by side, or
        which. None for one view.

    Attributes
    ----------
    selectors_ : dict of str to FeatureSelector
        The fitted copy of each view.
    scores_ : ndarray of shape (n_features_in_,)
        Those that the selector gave; they can be compared within a view.
    view_scores_ : dict of str to ndarray
        The scores of each view's columns.
    views_ : dict of str to ndarray of int
        The columns of each view.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column among all: first by its place within its view, then by its score.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    objective_ : ndarray of shape (1,)
        The sum of the scores of the columns that are kept.
    n_iter_ : int
        The most iterations of any view.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.select import MaximumVariance, PerView
    >>> X = np.arange(12.0)[:, None] * [1, 3, 2, 100, 200]
    >>> PerView(MaximumVariance(), 1, views={"small": [0, 1, 2], "large": [3, 4]}).fit(X).get_feature_names_out()
    array(['x1', 'x4'], dtype=object)
    """

    def __init__(self, selector: Any, n_features_to_select: Any = 0.5, *, views: Any = None):
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.views = views

    @property
    def _has_rule(self) -> bool:  # type: ignore[override]
        return getattr(self.selector, "_has_rule", False)

    def _rank(self, X: Matrix) -> Ranked:
        if not isinstance(self.selector, FeatureSelector):
            raise TypeError(
                f"selector must be one of vicinal.select, such as LaplacianScore(); got {self.selector!r}, which gives "
                "no scores of columns."
            )
        self.selectors_ = {
            name: clone(self.selector).set_params(n_features_to_select="auto" if wanted is None else wanted).fit(view)
            for (name, view), wanted in zip(
                self._split(X).items(), self._counts(self.n_features_to_select), strict=True
            )
        }
        scores = np.empty(X.shape[1])
        for columns, selector in zip(self._rivals(), self.selectors_.values(), strict=True):
            scores[columns] = selector.scores_
        n_auto = [selector.n_auto_ for selector in self.selectors_.values()] if self._has_rule else None
        return Ranked(scores, n_iter=max(one.n_iter_ for one in self.selectors_.values()), n_auto=n_auto)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if isinstance(self.selector, FeatureSelector):
            tags.input_tags = get_tags(self.selector).input_tags
        return tags

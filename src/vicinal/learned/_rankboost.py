"""RankBoost: many rules of one or two columns, which put rows of different grades in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, check_is_fitted, column_or_1d

from .._calls import n_threads, obeys_n_jobs
from .._messages import warn
from .._validation import Matrix, all_or_nothing, check_choice, check_count, check_share, checked_rows
from ._boosting_rounds import Boosting, HeldOut, Rounds
from ._graded_pairs import classes_of, fewest_errors, graded_pairs, grades_of
from ._rules import Rules

Floats = NDArray[np.float64]


@obeys_n_jobs
class RankBoost(ClassifierMixin, BaseEstimator):
    """Boosting for an order of rows: rules such as "x > 0.5" with weights whose sums are larger for higher grades.

    Every pair of rows with different grades has a weight, at first P(i, j), their difference of grades as a share of
    all. A round takes the rule h, 1 for rows above a threshold and 0 for others, with the largest
    ``|r|``, ``r = sum_ij D(i, j) (h(x_j) - h(x_i))``, gives it the weight ``1/2 ln((1 + r) / (1 - r))``, and makes
    pairs heavier that are not in order yet: ``D(i, j) ~ P(i, j) exp(H(x_i) - H(x_j))``. What falls in every round is
    the bound ``sum_ij P(i, j) exp(H(x_i) - H(x_j))`` of the share of pairs that are not in order, which for two classes
    is 1 - AUC. The search for rules looks at all thresholds and is exact.

    By default there are three changes to the original, which is ``column_share=1.0, step="third-method",
    learning_rate=1.0``; on most tables that were tried they put more pairs of new rows in order. A round looks at some
    of the columns only, so that rules spread over more of them; a rule has the weight at which the bound is lowest, of
    which the third method's is an estimate that is far too small for rules of few rows; and a share of that weight is
    taken.

    Parameters
    ----------
    n_rounds : int, default=2000
        Number of rules (T) at most. There are fewer where no rule tells rows apart any more, or all pairs are in order
        by so large a margin that nothing is left to learn.
    rankers : {"stumps", "grids"}, default="stumps"
        Rules of one column, or of one or two: "x_1 > a and x_2 > b".
    target : {"classes", "grades"}, default="classes"
        What y is: labels of two classes, or numbers of which larger ones should come first.
    n_first : int, default=10
        For grids: how many of the best stumps, of different columns, look for the best second column.
    step : {"line-search", "third-method"}, default="line-search"
        A rule's weight: the one at which the bound is lowest, with a thousandth of all pairs' weight added in its
        favour and against it, so that rules of few rows are not believed too soon; or ``1/2 ln((1 + r) / (1 - r))``.
    learning_rate : float, default=0.3
        The share of that weight that is taken, up to 1.
    column_share : float or "auto", default="auto"
        Columns are dealt at random to parts of this share, and rounds look at one part after the other; it is rounded
        to one divided by a whole number. "auto": as many
        parts as the square root of the number of columns, or as a fifth of `n_rounds` where these are fewer. 1.0: every
        round looks at all columns.
    validation_fraction : float, default=None
        A share of the rows that is not learned from: rounds end when `n_rounds_no_change` of them have not put more of
        its pairs in order, and those after the best one are dropped. For classes, it is stratified.
    n_rounds_no_change : int, default=50
    random_state : int, RandomState instance or None, default=None
        Draws these rows, and deals columns to parts.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    columns_ : ndarray of shape (n_rounds_,)
        Each rule's column.
    thresholds_ : ndarray of shape (n_rounds_,)
        Halfway between two values of the column.
    second_columns_ : ndarray of shape (n_rounds_,)
        Each rule's second column, -1 where it has none.
    second_thresholds_ : ndarray of shape (n_rounds_,)
        Minus infinity where there is no second column.
    weights_ : ndarray of shape (n_rounds_,)
        Each rule's weight (alpha), which is negative where rows above the threshold have lower grades.
    intercept_ : float
        What is added to scores, so that for classes the signs make the fewest errors (by weights) on the training rows;
        0 for grades.
    classes_ : ndarray of shape (2,)
        For classes.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Each column's share of the rules' absolute weights; the two columns of a rule have half of it each.
    train_score_ : ndarray of shape (n_rounds_,)
        The bound after each round; it falls.
    validation_score_ : ndarray of shape (n_rounds_,) or (0,)
        The share of the held-out rows' pairs that is in order after each round, the AUC for two classes.
    n_rounds_ : int
    ended_for_ : {"rounds", "validation", "all pairs in order", "no rule left"}
        Why rounds ended: there were `n_rounds`; held-out rows gained no more; all pairs are in order by so large a
        margin that nothing is left to learn; or no rule is left that lowers the bound.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The weights of pairs are never listed: a round takes one pass over rows sorted by grade, and one over the columns
    that may hold the next rule. For each column it is known how large ``|r|`` can be at most, from the last time that
    it was looked at and from how much rows' weights have changed since, so that most columns are passed over. For
    grids, columns with too few rows to better the best stump are.

    Zeros of sparse rows are values like others. Only the order of a column's values matters.

    References
    ----------
    Freund, Iyer, Schapire, Singer: An Efficient Boosting Algorithm for Combining Preferences, JMLR 4, 2003.
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, section 3.1.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from vicinal.learned import RankBoost
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RankBoost(n_rounds=200, random_state=0).fit(X[::2], y[::2])
    >>> bool(roc_auc_score(y[1::2], model.decision_function(X[1::2])) > 0.98)
    True
    >>> RankBoost(n_rounds=1, column_share=1.0).fit(X[::2], y[::2]).rules()
    ['worst perimeter > 106.1: -0.814']
    """

    def __init__(
        self,
        n_rounds: int = 2000,
        *,
        rankers: str = "stumps",
        target: str = "classes",
        n_first: int = 10,
        step: str = "line-search",
        learning_rate: float = 0.3,
        column_share: float | str = "auto",
        validation_fraction: float | None = None,
        n_rounds_no_change: int = 50,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_rounds = n_rounds
        self.rankers = rankers
        self.target = target
        self.n_first = n_first
        self.step = step
        self.learning_rate = learning_rate
        self.column_share = column_share
        self.validation_fraction = validation_fraction
        self.n_rounds_no_change = n_rounds_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if self.target == "grades":
            tags.estimator_type, tags.classifier_tags = None, None
        else:
            tags.classifier_tags.multi_class = False
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> RankBoost:
        """Find rules, one per round.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes, of which the second in sorted order comes first; or grades.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair has the product of its rows' weights.

        Returns
        -------
        self
        """
        check_choice("rankers", self.rankers, ("stumps", "grids"))
        check_choice("target", self.target, ("classes", "grades"))
        check_choice("step", self.step, ("line-search", "third-method"))
        n_rounds, n_first = check_count("n_rounds", self.n_rounds), check_count("n_first", self.n_first)
        rows, given = checked_rows(self, X, y, multi_output=False)
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        if not weights.all():
            kept = np.flatnonzero(weights)
            rows, given, weights = rows[kept], given[kept], weights[kept]
        classes, grades = classes_of(given) if self.target == "classes" else (None, grades_of(given))
        held_out, random_state = None, check_random_state(self.random_state)
        if self.validation_fraction is not None:
            kept, left_out = self._split(grades, random_state)
            held_out = HeldOut(rows[left_out], graded_pairs(grades[left_out], weights[left_out], "The validation part"))
            rows, grades, weights = rows[kept], grades[kept], weights[kept]
        boosting = Boosting(
            n_rounds,
            n_first if self.rankers == "grids" else 0,
            n_threads(self.n_jobs),
            self.step == "line-search",
            check_share("learning_rate", self.learning_rate),
            self._parts(rows.shape[1], random_state),
            held_out,
            check_count("n_rounds_no_change", self.n_rounds_no_change),
        )
        self._keep(boosting.run(rows, graded_pairs(grades, weights, "y")))
        self.intercept_ = 0.0
        if classes is not None:
            self.classes_ = classes
            self.intercept_ = fewest_errors(self._rules().scores(rows), grades, weights)
        elif hasattr(self, "classes_"):
            del self.classes_
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """The rows' scores: the weights of the rules that hold, and the intercept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._rules().scores(self._checked(X)) + self.intercept_

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Floats]:
        """The scores after each round, all with the same intercept.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for scores in self._rules().staged_scores(self._checked(X)):
            yield scores + self.intercept_

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class that the sign of a row's score says; for grades, the score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if not hasattr(self, "classes_"):
            return scores
        tie = 1e-9 * np.abs(self.weights_).sum()  # what rounding makes of a score in the middle
        return self.classes_[(scores > tie).astype(np.intp)]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy; for grades, the share of pairs in order, by their difference of grades, where ties are half.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        float
        """
        answers = self.predict(X)
        if hasattr(self, "classes_"):
            return float(accuracy_score(y, answers, sample_weight=sample_weight))
        weights = _check_sample_weight(sample_weight, answers, dtype=np.float64, ensure_non_negative=True)
        return graded_pairs(grades_of(column_or_1d(y)), weights, "y").in_order(answers)

    def rules(self, input_features: ArrayLike | None = None) -> list[str]:
        """The rules in words with their weights, in the order of rounds.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns, where X had none at `fit`.

        Returns
        -------
        list of str
        """
        rules = self._rules()
        words = rules.words(_check_feature_names_in(self, input_features))
        return [f"{line}: {weight:+.3g}" for line, weight in zip(words, rules.weights, strict=True)]

    def strongest_rules(
        self, X: ArrayLike, n_rules: int = 20, *, input_features: ArrayLike | None = None
    ) -> list[tuple[str, float, int]]:
        """The rules of the largest absolute weights, where the weights of equal rules are summed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        n_rules : int, default=20
            How many of them, at most.
        input_features : array-like of str, default=None
            Names of the columns, where X had none at `fit`.

        Returns
        -------
        list of (str, float, int)
            The rule in words, its weight, and for how many rows of X it holds.
        """
        rows = self._checked(X)
        rules = self._rules().strongest(check_count("n_rules", n_rules))
        names = _check_feature_names_in(self, input_features)
        found = zip(rules.words(names), rules.weights.tolist(), rules.counts(rows).tolist(), strict=True)
        return list(found)

    def _rules(self) -> Rules:
        check_is_fitted(self)
        return Rules(
            self.columns_, self.thresholds_, self.second_columns_, self.second_thresholds_, np.asarray(self.weights_)
        )

    def _checked(self, X: ArrayLike) -> Matrix:
        return checked_rows(self, X, reset=False)

    def _keep(self, rounds: Rounds) -> None:
        rules = rounds.rules()
        self.columns_, self.thresholds_ = rules.columns, rules.thresholds
        self.second_columns_, self.second_thresholds_ = rules.second_columns, rules.second_thresholds
        self.weights_, self.n_rounds_, self.ended_for_ = rules.weights, len(rules.weights), rounds.ended_for
        self.feature_importances_ = rules.importances(self.n_features_in_)
        self.train_score_, self.validation_score_ = np.array(rounds.bounds), np.array(rounds.held_out_scores)
        if not self.n_rounds_:
            warn("no column of X varies with y: there are no rules, and all rows have the same score.")
        elif self.ended_for_ == "no rule left":
            warn(f"no rule is left that lowers the bound: rounds ended after {self.n_rounds_} of {self.n_rounds}.")

    def _parts(self, n_columns: int, random_state: np.random.RandomState) -> NDArray[np.int32] | None:
        """The part of each column; None where all are one."""
        if isinstance(self.column_share, str):
            check_choice("column_share", self.column_share, ("auto",))
            n_parts = min(round(n_columns**0.5), self.n_rounds // 5)
        else:
            n_parts = min(round(1 / check_share("column_share", self.column_share)), n_columns)
        if n_parts < 2:
            return None
        return random_state.permutation(np.arange(n_columns, dtype=np.int32) % n_parts)

    def _split(self, grades: Floats, random_state: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        share = self.validation_fraction
        if not isinstance(share, float | np.floating) or not 0 < share < 1:
            raise ValueError(f"validation_fraction must be a share above 0 and below 1, or None; got {share!r}.")
        try:
            kept, left_out = train_test_split(
                np.arange(len(grades)),
                test_size=float(share),
                random_state=random_state,
                stratify=grades if self.target == "classes" else None,
            )
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={share} of {len(grades)} rows leaves no row of some class to learn from or to "
                "hold out; take another share, more rows, or None."
            ) from error
        return np.sort(kept), np.sort(left_out)

"""What must hold for any estimator on any table: an answer, or one sentence that says why there is none."""

import linecache
import pickle
import signal
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import sklearn
from estimators import looks_at_all_rows
from sklearn.base import clone, is_clusterer
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

import vicinal

MOST_SECONDS = 20  # of processor time, on tables of at most 30 rows and 20 columns
DOCUMENTED = (
    "n_n(eighborhood|earest|eighbors)=|.* keeps no column|.* no column (keeps|with)|no column of .* varies|"
    "All vectors of SideFS vanish|no rule is left|n_pivots="
)
OURS, CHECKS = str(Path(vicinal.__file__).parent), str(Path(sklearn.__file__).parent)


class Refused(Exception):
    """One clear sentence, said on purpose."""


@contextmanager
def soon():
    """An error where tables so small keep the processor busy for so long that there can be no end."""

    def give_up(*_):
        raise AssertionError(f"no answer after {MOST_SECONDS} s of processor time")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def asked(call, *args):
    """What a call answers; Refused if it refuses on purpose; whatever else goes wrong is raised as it is.

    Warnings are errors, but for those that estimators announce: what did not converge, what keeps no column.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", message=DOCUMENTED)
        # scikit-learn's sum of values that are finite, to see whether they are.
        warnings.filterwarnings("ignore", message="invalid value encountered in reduce", category=RuntimeWarning)
        try:
            return call(*args)
        except (ValueError, TypeError, MemoryError) as error:
            if _is_deliberate(error):
                raise Refused(str(error)) from error
            raise


def _is_deliberate(error):
    """Raised by a line `raise` of vicinal or scikit-learn with some words, and not in the depths of an array."""
    place = error.__traceback__
    while place.tb_next:
        place = place.tb_next
    path = place.tb_frame.f_code.co_filename
    line = linecache.getline(path, place.tb_lineno).strip()
    said = str(error)
    ours = path.startswith((OURS, CHECKS)) and line.startswith("raise") and len(said.split()) > 3
    return ours or said.startswith(("could not convert string", "Input X contains infinity"))


def answer(model, X):
    """What a fitted model says of rows: features, chosen columns, scores, clusters, a kernel with themselves, links."""
    if looks_at_all_rows(model):
        return asked(model.scores_between, np.arange(len(model.names_)), np.arange(len(model.names_)))
    if not hasattr(model, "transform") and hasattr(type(model), "kernel"):  # a method, not a parameter
        return np.diagonal(asked(model.kernel, X))
    if is_clusterer(model):
        return asked(model.predict, X).astype(float)
    method = next(name for name in ("transform", "decision_function", "predict") if hasattr(model, name))
    out = asked(getattr(model, method), X)
    if hasattr(out, "to_numpy"):
        return out.to_numpy()
    return out.toarray() if sp.issparse(out) else np.asarray(out)


def fitted(estimator, table, X=None):
    return asked(clone(estimator).fit, table.rows() if X is None else X, table.labels())


def essence(model, X):
    """What is compared where sums are taken in another order: of selectors the scores, which rounding may reorder; of
    clusters the spectrum, since rounding may also number them otherwise."""
    if is_clusterer(model):
        return model.singular_values_
    return model.scores_ if hasattr(model, "scores_") else answer(model, X)


def assert_same(found, expected, what, digits, scale=0.0):
    assert found.shape == expected.shape, f"{what}: {found.shape} instead of {expected.shape}"
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=scale)
    same = np.isclose(found, expected, rtol=digits, atol=digits * scale, equal_nan=True)
    assert same.all(), f"{what}: {found[~same][:3]} instead of {expected[~same][:3]}"


def parts(X):
    """The arrays that a table is made of."""
    if sp.issparse(X):
        return [X.data, *((X.row, X.col) if X.format == "coo" else (X.indices, X.indptr))]
    return [X.to_numpy() if hasattr(X, "to_numpy") else X]


def same_bits(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def check(estimator, table):
    """All invariants on one table; a refusal ends them."""
    X = table.rows()
    tags = get_tags(estimator)
    try:
        model = fitted(estimator, table, X)
        out = answer(model, X)
    except Refused as refusal:
        check_refusal(estimator, table, tags, str(refusal))
        return
    finally:
        assert all(map(same_bits, parts(X), parts(table.rows()))), "the given table was changed"
    if table.missing and table.dense().dtype.kind == "f" and np.isnan(table.dense()).any():
        assert tags.input_tags.allow_nan, "NaN was accepted, though the tags say that it is not"
    else:
        assert np.isfinite(out).all(), "the answer is not finite"
    check_same_answers(estimator, table, model, X, out)
    check_refit_that_fails(model, table, X, out)


def check_refusal(estimator, table, tags, words):
    """What is ordinary is not refused, and dense rows are refused where sparse ones are."""
    if table.is_sparse and tags.input_tags.sparse:
        dense = in_container(table, "C")
        try:
            answer(fitted(estimator, dense), dense.rows())
        except Refused:
            return
        if table.values == "far" and np.finfo(float).eps * np.square(table.dense().astype(float)).max() > 1:
            return  # the rounding of squares is larger than the differences: dense rows get by, or do not, by luck
        raise AssertionError(f"sparse rows are refused, dense ones are not: {words}")


def in_container(table, container):
    return type(table)(**{**vars(table), "container": container})


def check_same_answers(estimator, table, model, X, out):
    single = table.dtype == "float32"
    digits = 2e-3 if single else 1e-6
    if single and hasattr(model, "transform") and table.container != "polars":  # whose type scikit-learn does not see
        assert out.dtype == np.float32, f"float32 became {out.dtype}"
    again = answer(pickle.loads(pickle.dumps(model)), X)
    assert np.array_equal(again, out, equal_nan=True), "a pickled model answers otherwise"
    if not hasattr(model, "transform"):
        second = answer(fitted(estimator, table, X), X)
        assert np.array_equal(second, out, equal_nan=True), "a second fit answers otherwise"
    else:
        both = asked(clone(estimator).fit_transform, X, table.labels())
        both = both.toarray() if sp.issparse(both) else np.asarray(both)
        assert_same(both, out, "fit_transform is not fit and transform", digits)
        labels = (table.labels(),) if get_tags(estimator).target_tags.required else ()
        second = answer(asked(clone(estimator).fit, X, *labels), X)
        assert np.array_equal(second, out, equal_nan=True), "a second fit, without needless labels, answers otherwise"
    if "n_jobs" in estimator.get_params():  # which is one thread so far
        threads = answer(fitted(clone(estimator).set_params(n_jobs=2), table, X), X)
        assert np.array_equal(threads, out, equal_nan=True), "threads change the answer"
    order = np.random.default_rng(0).permutation(table.shape[0])
    if not looks_at_all_rows(model):
        assert_same(answer(model, _rows_of(X, order)), out[order], "rows in another order", digits)
    other = in_container(table, "csr_array" if not table.is_sparse else "C")
    # Of such rows, rounding decides which anchors are near, and unit rows make all of a little.
    by_rounding = is_clusterer(estimator) and table.values in ("far", "columns apart")
    by_scale = "family" in estimator.get_params()  # local models standardise dense rows alone
    if get_tags(estimator).input_tags.sparse and not by_rounding and not by_scale:
        # Rows far from zero keep as many digits of their differences as float32 or float64 leave.
        scale = np.abs(table.dense().astype(float)).max(initial=0.0) if table.values == "far" else 0.0
        # Two sums that are not rounded alike end at different points, by about the share at which a solver stops.
        digits = max(digits, estimator.get_params().get("tol") or 0)
        found, expected = essence(fitted(estimator, other), other.rows()), essence(model, X)
        assert_same(found, expected, f"{other.container} is not the same", digits, scale)


def _rows_of(X, order):
    if sp.issparse(X):
        return X.tocsr()[order]
    return X.iloc[order] if hasattr(X, "iloc") else X[order]


def check_refit_that_fails(model, table, X, out):
    """Tables of other widths, too short or with infinity, leave the model as it was."""
    wider = np.zeros((3, table.shape[1] + 2))
    wider[1, 1] = np.inf
    for bad in (wider, np.empty((0, table.shape[1] + 1)), np.full((2, table.shape[1] + 1), "word", dtype=object)):
        try:
            asked(model.fit, bad, np.arange(len(bad)) % 2)
        except Refused:
            pass
        else:
            raise AssertionError(f"a table of {bad.dtype} with {bad.ravel()[:1]} was accepted")
        assert np.array_equal(answer(model, X), out, equal_nan=True), "a failed fit left its traces"

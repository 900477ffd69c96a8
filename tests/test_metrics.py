"""Metrics: equal to brute force and to SciPy and scikit-learn where these have them, and defined at the edges."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score, roc_auc_score

from vicinal import RandLocal
from vicinal.metrics import (
    clustering_accuracy,
    corrected_t_test,
    kernel_alignment,
    link_auc,
    mean_interval,
    normalized_mutual_information,
    pair_auc,
    precision_at,
    recall_at,
    sparsity_ratio,
)

labelings = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n), st.lists(st.integers(0, 4), min_size=n, max_size=n)
    )
)
scores = st.lists(st.floats(-1, 1).map(lambda score: round(score, 6)), min_size=2, max_size=12)


def entropy(labels):
    return scipy.stats.entropy(np.unique(labels, return_counts=True)[1])


@given(labelings)
def test_accuracy_is_that_of_the_best_of_all_matchings(labels):
    y_true, y_pred = map(np.array, labels)
    best = max(np.mean(np.array(names)[y_pred] == y_true) for names in permutations(range(5)))
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(best)


@given(labelings)
def test_accuracy_and_information_do_not_depend_on_names(labels):
    y_true, y_pred = labels
    names = np.array(["one", "two", "", "four", "five"])
    objects = np.array([None, "a", 1, (2, 3), 1.5], dtype=object)
    for score in (clustering_accuracy, normalized_mutual_information):
        assert score(names[y_true], objects[y_pred]) == pytest.approx(score(y_true, y_pred), abs=1e-12)
        assert score(y_pred, y_true) == pytest.approx(score(y_true, y_pred), abs=1e-12)


def test_clusters_without_a_class_count_as_wrong():
    assert clustering_accuracy([0] * 6, [0, 1, 2, 3, 4, 5]) == pytest.approx(1 / 6)
    assert clustering_accuracy([0, 1, 2, 3], [7, 7, 7, 7]) == 0.25
    assert clustering_accuracy(["x"], [True]) == 1


@given(labelings)
def test_information_is_divided_by_the_larger_entropy(labels):
    y_true, y_pred = labels
    larger = max(entropy(y_true), entropy(y_pred))
    expected = mutual_info_score(y_true, y_pred) / larger if larger else 1.0
    score = normalized_mutual_information(y_true, y_pred)
    assert score == pytest.approx(expected, abs=1e-9)
    assert 0 <= score <= 1


def test_information_of_single_clusters():
    assert normalized_mutual_information([3, 3, 3], ["a", "a", "a"]) == 1
    assert normalized_mutual_information([3, 3, 3], [0, 1, 2]) == 0
    assert normalized_mutual_information([0, 1, 2], [3, 3, 3]) == 0


@pytest.mark.parametrize("score", [clustering_accuracy, normalized_mutual_information])
def test_bad_labels_get_one_clear_sentence(score):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        score([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="y_true must be a flat sequence of one or more labels"):
        score([], [])
    with pytest.raises(ValueError, match=r"y_pred must be a flat sequence .* shape is \(2, 1\)"):
        score([0, 1], [[0], [1]])
    with pytest.raises(ValueError, match="y_true has missing labels"):
        score([0, np.nan], [0, 1])
    with pytest.raises(ValueError, match="y_pred has missing labels"):
        score([0, 1], np.array(["a", np.nan], dtype=object))


def test_sparsity_ratio_of_local_features_is_neighbours_over_anchors(rng):
    features = RandLocal(6, n_anchors=20, n_neighbors=3, random_state=0).fit_transform(rng.random((50, 4)))
    assert sparsity_ratio(features) == pytest.approx(3 / 20)
    assert sparsity_ratio(features.toarray()) == pytest.approx(3 / 20)


def test_stored_zeros_are_zeros():
    features = sp.csr_array((np.array([1.0, 0.0, -2.0]), ([0, 0, 1], [0, 1, 3])), shape=(2, 4))
    assert features.nnz == 3
    assert sparsity_ratio(features) == 2 / 8
    assert sparsity_ratio(np.zeros((3, 2))) == 0
    assert sparsity_ratio([[1, 2], [3, 4]]) == 1


@given(scores, st.floats(0.5, 0.99))
def test_without_overlap_it_is_the_usual_t_test(values, confidence):
    result = corrected_t_test(values, 0.0, confidence)
    assert result[:3] == mean_interval(values, 0.0, confidence)
    if np.ptp(values) == 0:
        assert result == (values[0], values[0], values[0], float(values[0] == 0))
        return
    expected = scipy.stats.ttest_1samp(values, 0)
    low, high = expected.confidence_interval(confidence)
    np.testing.assert_allclose(result, (np.mean(values), low, high, expected.pvalue), rtol=1e-7, atol=1e-12)


def test_the_correction_is_that_of_nadeau_and_bengio():
    differences = np.array([0.03, 0.01, 0.02, -0.01, 0.04])
    error = np.sqrt(differences.var(ddof=1) * (1 / 5 + 20 / 80))
    mean, low, high, p_value = corrected_t_test(differences, test_share=0.2)
    assert mean == pytest.approx(0.018)
    assert (high - low) / 2 == pytest.approx(2.776445 * error, rel=1e-6)  # the table's t for 4 degrees of freedom
    assert p_value == pytest.approx(2 * scipy.stats.t(4).cdf(-0.018 / error))
    assert (mean, low, high) == pytest.approx(mean_interval(differences, test_over_train=0.25))


def test_the_corrected_test_keeps_its_level_where_the_usual_one_does_not(rng):
    """Two models alike, whose rows' losses differ at random, scored on 15 splits: five in a hundred may be rejected."""
    rejected = np.zeros(2)
    for _ in range(400):
        rows = rng.normal(size=100)
        differences = [rows[rng.permutation(100)[:20]].mean() for _ in range(15)]
        rejected += [corrected_t_test(differences, share).p_value < 0.05 for share in (0.0, 0.2)]
    assert rejected[0] > 0.2 * 400
    assert rejected[1] < 0.08 * 400


def test_one_value_has_no_interval_and_equal_values_an_empty_one():
    mean, low, high, p_value = corrected_t_test([0.1], 0.2)
    assert mean == 0.1
    assert np.isnan([low, high, p_value]).all()
    assert np.isnan(mean_interval([0.1], 0.25)[1:]).all()
    assert corrected_t_test([0.1] * 3, 0.2) == (0.1, 0.1, 0.1, 0.0)
    assert corrected_t_test([0.0] * 3, 0.2) == (0.0, 0.0, 0.0, 1.0)
    assert mean_interval([0.1] * 3, 0.25) == (0.1, 0.1, 0.1)


def test_bad_scores_get_one_clear_sentence():
    for values in ([], [0.1, np.nan], [[0.1, 0.2]]):
        with pytest.raises(ValueError, match="values must be a flat sequence of one or more finite numbers"):
            mean_interval(values, 0.25)
    with pytest.raises(ValueError, match="differences must be"):
        corrected_t_test([np.inf], 0.2)
    with pytest.raises(ValueError, match="test_share must be below 1"):
        corrected_t_test([0.1, 0.2], 1.0)
    with pytest.raises(ValueError, match="test_over_train must be a number of at least 0; got -1"):
        mean_interval([0.1, 0.2], -1)
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        mean_interval([0.1, 0.2], 0.25, confidence=95)


@pytest.mark.parametrize("unit", [1e160, 1e-170])
def test_link_auc_of_very_large_and_small_values(rng, unit):
    X = rng.normal(size=(30, 5)) * (rng.random((30, 5)) < 0.6)
    A = np.triu(rng.random((30, 30)) < 0.2, 1)
    A = (A | A.T).astype(float)
    assert link_auc(unit * X, A) == pytest.approx(link_auc(X, A))
    assert link_auc(unit * X, A, n_triplets=500, random_state=0) == link_auc(X, A, n_triplets=500, random_state=0)


def test_link_auc_of_entries_that_stand_twice(rng):
    X = rng.normal(size=(30, 5)).round(2)
    A = np.triu(rng.random((30, 30)) < 0.2, 1)
    A = (A | A.T).astype(float)
    twice = sp.csr_matrix(
        (np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(5), 30), 2), np.arange(0, 301, 10)), shape=X.shape
    )
    for n_triplets in (None, 500):
        drawn = {"n_triplets": n_triplets, "random_state": 0}
        assert link_auc(twice, A, **drawn) == pytest.approx(link_auc(X, A, **drawn), abs=1e-12)


def recommended(seed, n_queries=12, n_candidates=9):
    """Scores with many ties, and links of most queries."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (n_queries, n_candidates)) / 4 - 0.5
    links = rng.random((n_queries, n_candidates)) < 0.25
    links[0] = False
    return scores, links


def hits_by_a_loop(scores, links, n):
    for row, linked in zip(scores, links, strict=True):
        best = sorted(range(len(row)), key=lambda place: (-row[place], place))[:n]
        yield sum(bool(linked[place]) for place in best), int(linked.sum())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [1, 3, 5, 9, 20])
def test_precision_and_recall_are_those_of_a_plain_loop(seed, n):
    scores, links = recommended(seed)
    found = list(hits_by_a_loop(scores, links, n))
    precisions, recalls = [hits / n for hits, _ in found], [hits / count if count else 0 for hits, count in found]
    some = [place for place, (_, count) in enumerate(found) if count]
    assert len(some) < len(found)
    for truth in (links, sp.csr_matrix(links), links.astype(float) * 3):
        assert precision_at(scores, truth, n) == pytest.approx(np.mean([precisions[place] for place in some]))
        assert precision_at(scores, truth, n, all_queries=True) == pytest.approx(np.mean(precisions))
        assert recall_at(scores, truth, n) == pytest.approx(np.mean([recalls[place] for place in some]))
        assert recall_at(scores, truth, n, all_queries=True) == pytest.approx(np.mean(recalls))


@pytest.mark.parametrize("seed", range(5))
def test_the_auc_of_pairs_is_that_of_scikit_learn(seed):
    scores, links = recommended(seed)
    assert pair_auc(scores, sp.csr_array(links)) == pytest.approx(roc_auc_score(links.ravel(), scores.ravel()))
    shuffled = np.random.default_rng(seed).random(scores.shape)
    assert pair_auc(shuffled, links) == pytest.approx(roc_auc_score(links.ravel(), shuffled.ravel()))
    assert pair_auc(np.zeros_like(scores), links) == 0.5
    assert pair_auc(links.astype(float), links) == 1


def test_pairs_that_must_not_be_recommended_come_last():
    assert precision_at([[-np.inf, 0.1, 0.2]], [[1, 0, 1]], 2) == 0.5
    assert pair_auc([[-np.inf, 0.1, 0.2]], [[1, 0, 0]]) == 0


@pytest.mark.parametrize("score", [precision_at, recall_at, pair_auc])
def test_bad_pairs_get_one_clear_sentence(score):
    with pytest.raises(ValueError, match=r"scores have the shape \(1, 2\) and links \(2, 1\)"):
        score([[0.1, 0.2]], [[1], [0]])
    with pytest.raises(ValueError, match="No pair is linked, so that there is nothing to be found"):
        score([[0.1, 0.2]], [[0, 0]])
    with pytest.raises(ValueError, match="scores contain NaN; give -inf"):
        score([[0.1, np.nan]], [[0, 1]])


def test_bad_numbers_and_full_networks_get_one_clear_sentence():
    with pytest.raises(ValueError, match="n must be a whole number of at least 1; got 0"):
        precision_at([[0.1, 0.2]], [[0, 1]], 0)
    with pytest.raises(ValueError, match="All pairs are linked, so that there is no AUC"):
        pair_auc([[0.1, 0.2]], [[1, 1]])


def test_pairs_of_minus_infinity_are_never_recommended():
    scores, links = [[1.0, -np.inf, -np.inf]], [[0, 1, 0]]
    assert recall_at(scores, links, 2) == 0
    assert precision_at(scores, links, 2) == 0


def test_alignment_is_a_cosine():
    rng = np.random.default_rng(0)
    first, second = (part @ part.T for part in rng.standard_normal((2, 8, 3)))
    expected = (first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum())
    assert kernel_alignment(first, second) == pytest.approx(expected)
    assert kernel_alignment(first, 3 * first) == pytest.approx(1)
    assert kernel_alignment(1e200 * first, 1e-200 * first) == pytest.approx(1)


def test_alignment_of_centred_kernels_ignores_constants():
    rng = np.random.default_rng(0)
    rows, others = rng.standard_normal((2, 8, 3))
    moved = (rows + 5) @ (rows + 5).T
    rows, others = rows - rows.mean(0), others - others.mean(0)
    expected = kernel_alignment(rows @ rows.T, others @ others.T)
    assert kernel_alignment(moved, others @ others.T + 7, centered=True) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("first", "second", "centered", "words"),
    [
        (np.eye(3), np.eye(2), False, "of the same rows"),
        (np.ones((3, 2)), np.eye(3), False, "its shape is"),
        (np.zeros((3, 3)), np.eye(3), False, "K1 is zero"),
        (np.eye(3), np.ones((3, 3)), True, "K2 is zero when centred"),
    ],
)
def test_alignment_of_what_is_not_a_kernel(first, second, centered, words):
    with pytest.raises(ValueError, match=words):
        kernel_alignment(first, second, centered=centered)

"""Cosines, common neighbours and paths, against their definitions."""

import numpy as np
import pytest

from vicinal import AdamicAdar, AttributeCosine, Katz


@pytest.fixture
def links():
    rng = np.random.default_rng(1)
    upper = np.triu(rng.random((15, 15)) < 0.3, 1).astype(float)
    return upper + upper.T


def pairs(n):
    return np.array([(i, j) for i in range(n) for j in range(n)])


def test_adamic_adar_sums_over_common_neighbours(links):
    found = AdamicAdar().fit(None, adjacency=links).score_pairs(pairs(15)).reshape(15, 15)
    degrees = links.sum(axis=0)
    for i, j in pairs(15):
        common = np.flatnonzero(links[i] * links[j]) if i != j else []
        if i != j:
            assert found[i, j] == pytest.approx(sum(1 / np.log(degrees[z]) for z in common), abs=1e-12)


def test_katz_sums_over_all_paths(links):
    model = Katz(decay=0.3, max_length=60).fit(None, adjacency=links)
    weight = 0.3 / np.linalg.eigvalsh(links).max()
    expected = np.linalg.inv(np.eye(15) - weight * links) - np.eye(15)
    np.testing.assert_allclose(model.score_pairs(pairs(15)).reshape(15, 15), expected, atol=1e-10)
    np.testing.assert_allclose(
        model.recommend([3], top=1).scores[0, 0], np.where(links[3] + np.eye(15)[3], 0, expected[3]).max()
    )


def test_paths_are_cut_at_a_length(links):
    weight = 0.5 / np.linalg.eigvalsh(links).max()
    found = Katz(max_length=2).fit(None, adjacency=links).score_pairs(pairs(15)).reshape(15, 15)
    np.testing.assert_allclose(found, weight * links + weight**2 * links @ links, atol=1e-12)


def test_nodes_without_attributes_have_the_mean_of_their_neighbours(links):
    X = np.random.default_rng(2).random((15, 4))
    X[[0, 1]] = np.nan
    model = AttributeCosine().fit(X, adjacency=links)
    neighbors = [j for j in np.flatnonzero(links[0]) if j > 1]
    mean = X[neighbors].mean(axis=0)
    np.testing.assert_allclose(model.vectors_[0], mean / np.linalg.norm(mean))
    np.testing.assert_allclose(model.vectors_[5], X[5] / np.linalg.norm(X[5]))


def test_content_links_join_like_nodes():
    X = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [1.0, 1.0]])
    links = np.zeros((5, 5))
    links[0, 4] = links[4, 0] = 1
    model = Katz(content_links=1, max_length=1).fit(X, adjacency=links)
    assert model.score_pairs([[0, 1]]) > 0
    assert model.score_pairs([[2, 3]]) > 0
    assert model.score_pairs([[0, 2]]) == 0
    assert Katz(content_links=0, max_length=1).fit(X, adjacency=links).score_pairs([[2, 3]]) == 0


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Katz(decay=1.0), "decay must be below 1"),
        (Katz(max_length=0), "max_length"),
        (AdamicAdar(content_links=-1), "content_links"),
    ],
)
def test_bad_parameters_get_a_sentence(links, model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(None, adjacency=links)


def test_cosines_need_attributes(links):
    with pytest.raises(ValueError, match="AttributeCosine compares attributes"):
        AttributeCosine().fit(None, adjacency=links)
    with pytest.raises(ValueError, match="neither attributes nor links"):
        AttributeCosine().fit(None)


def test_weak_paths_come_before_none():
    """Beside a large clique, whose eigenvalue makes long paths very light."""
    links = np.zeros((128, 128))
    links[8:, 8:] = 1 - np.eye(120)
    links[0, 1] = links[1, 0] = 1
    for place in range(2, 7):
        links[place, place + 1] = links[place + 1, place] = 1
    indices, scores = Katz().fit(None, adjacency=links).recommend([7], top=6)
    assert indices[0, :5].tolist() == [5, 4, 3, 2, 0]
    assert (np.diff(scores[0]) <= 0).all()

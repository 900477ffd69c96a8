"""What tells clusters apart: means of numbers, shares of categories, rows nearest to the center."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from vicinal._cluster_profiles import most_telling_columns, profiles
from vicinal._preparation import check_table

CLUSTERS = np.array([0, 0, 0, 1, 1, 2])
DISTANCES = np.array([0.3, 0.1, 0.2, 0.5, 0.4, 0.0])
X = np.array([[1.0, 5, 0], [2, 5, 0], [3, 5, 4], [10, 5, 0], [12, 5, 4], [30, 5, 4]])


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_differences_of_means_in_standard_deviations(as_input):
    found = profiles(as_input(X), ["size", "same", "four"], CLUSTERS, DISTANCES)
    assert [profile.rows.tolist() for profile in found] == [[1, 2, 0], [4, 3], [5]]
    for cluster, profile in enumerate(found):
        assert {trait.column for trait in profile.traits} == {"size", "four"}  # a constant column tells nothing
        inside = cluster == CLUSTERS
        for trait in profile.traits:
            values = X[:, 0 if trait.column == "size" else 2]
            assert trait.inside == pytest.approx(values[inside].mean())
            assert trait.outside == pytest.approx(values[~inside].mean())
            assert trait.difference == pytest.approx((values[inside].mean() - values[~inside].mean()) / values.std())
        sizes = [abs(trait.difference) for trait in profile.traits]
        assert sizes == sorted(sizes, reverse=True)
    assert found[0].traits[0].sentence() == "size 2 (others 17.33)"
    assert most_telling_columns(found, 5) == ["size", "four"]


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
def test_missing_values_are_left_out(as_input):
    gaps = X.copy()
    gaps[0, 0] = gaps[3, 0] = np.nan
    trait = profiles(as_input(gaps), ["size", "same", "four"], CLUSTERS, DISTANCES)[0].traits[0]
    assert (trait.inside, trait.outside) == (2.5, 21)
    assert trait.difference == pytest.approx((2.5 - 21) / np.std([2, 3, 12, 30]))


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_categories_by_their_shares(frame):
    table = check_table(frame({"size": [1, 2, 3, 10, 12, 30], "colour": ["red", "red", None, "blue", "blue", "red"]}))
    found = profiles(table, ["size", "colour"], CLUSTERS, DISTANCES)
    traits = {trait.name: trait for trait in found[1].traits}
    assert set(traits) == {"size", "colour = red", "colour = blue", "colour = missing"}
    blue = traits["colour = blue"]
    assert (blue.inside, blue.outside) == (1, 0)
    assert blue.difference == pytest.approx(1 / np.sqrt(1 / 3 * 2 / 3))  # as of a column of 0 and 1
    assert blue.sentence() == "colour = blue 100 % (others 0 %)"


def test_one_trait_of_each_column():
    colours = pl.DataFrame({"size": [1.0, 2, 3, 4, 5, 6], "colour": ["a", "a", "a", "b", "b", "c"]})
    found = profiles(colours, ["size", "colour"], CLUSTERS, DISTANCES)
    told = found[0].telling(0.0, 5)
    assert [trait.name for trait in told] == ["colour = a", "size"]
    assert [trait.name for trait in found[0].telling(0.0, 1)] == ["colour = a"]
    assert found[0].telling(10.0, 5) == []


def test_a_column_that_a_cluster_has_no_value_of():
    gaps = X.copy()
    gaps[5, 0] = np.nan
    found = profiles(gaps, ["size", "same", "four"], CLUSTERS, DISTANCES)
    assert [trait.name for trait in found[2].telling(0.1, 5)] == ["four"]

"""Bisection on the penalty."""

import numpy as np
import pytest

from vicinal._optim import find_penalty

THRESHOLDS = np.geomspace(1e-4, 10, 200)


def keep(penalty, state):
    """Feature t is kept while the penalty is below its threshold; the state is the penalties tried."""
    return int(np.count_nonzero(penalty < THRESHOLDS)), [*state, penalty]


@pytest.mark.parametrize("wanted", [1, 7, 100, 199])
@pytest.mark.parametrize("start", [1e-6, 0.3, 100.0])
def test_the_wanted_number_is_found(wanted, start):
    found = find_penalty(keep, wanted, [], penalty=start)
    assert found.converged
    assert found.kept == wanted == keep(found.penalty, [])[0]
    assert found.n_iter == len(found.solution) == len(found.objective)  # every one was started from the one before


def test_the_nearest_counts_where_the_number_jumps():
    def five_or_none(penalty, state):
        return (5 if penalty < 0.2 else 0), state

    assert find_penalty(five_or_none, 4, None, penalty=1.0).kept == 5
    assert find_penalty(five_or_none, 1, None, penalty=1.0).kept == 0
    assert find_penalty(five_or_none, 4, None, penalty=1.0, max_tries=200).n_iter < 60


def test_it_does_not_go_below_the_lowest():
    found = find_penalty(lambda penalty, state: (3, [*state, penalty]), 9, [], penalty=1.0, lowest=0.1)
    assert found.solution == [1.0]  # the first of equally near ones
    assert (found.kept, found.n_iter, found.converged) == (3, 3, False)


def test_it_gives_up_after_as_many_tries():
    found = find_penalty(lambda penalty, state: (3, state), 9, None, penalty=1.0, max_tries=6)
    assert (found.kept, found.n_iter, found.converged) == (3, 6, False)

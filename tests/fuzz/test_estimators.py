"""Every estimator on tables that hypothesis draws: a few hundred, the same each time; more by ``make fuzz``."""

import os

import pytest
from estimators import ONE_OF_EACH, VARIANTS
from fuzz.invariants import check, soon
from fuzz.tables import tables
from hypothesis import HealthCheck, given, settings
from sklearn.base import clone
from sklearn.utils import get_tags

# Where rows are equally far apart, rounding decides the order in which whitening takes pivots, and so that of features.
ESTIMATORS = [
    one
    for one in (*ONE_OF_EACH, *VARIANTS)
    if not get_tags(one).input_tags.pairwise and not getattr(one, "whiten", False)
]
WANTED = int(os.environ.get("VICINAL_FUZZ_EXAMPLES", "0"))
EXAMPLES = max(1, WANTED // len(ESTIMATORS)) if WANTED else 10


@pytest.mark.parametrize("estimator", ESTIMATORS if WANTED else ONE_OF_EACH, ids=str)
@settings(
    max_examples=EXAMPLES,
    derandomize=not WANTED,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
@given(table=tables)
def test_an_answer_or_one_sentence(estimator, table):
    seeded = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    with soon():
        check(clone(estimator).set_params(**seeded), table)

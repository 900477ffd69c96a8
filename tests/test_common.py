"""scikit-learn's own checks, on every estimator; what cannot pass one is listed with the reason.

One instance of each class is checked by default; the variants are slow and run by ``make test-all`` or ``pytest -m ""
tests/test_common.py -k NDFS``, which whoever changes a class runs.
"""

import pytest
from estimators import ONE_OF_EACH, VARIANTS, expected_failures, public_classes
from sklearn.utils.estimator_checks import parametrize_with_checks


@parametrize_with_checks(ONE_OF_EACH, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_variants(estimator, check):
    check(estimator)


def test_no_public_estimator_is_forgotten():
    assert [type(estimator) for estimator in ONE_OF_EACH] == public_classes()

"""Rules: arithmetic on a ledger, as a view sees it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold, RepeatedKFold

from steadycv import rules
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger

LATTICE = Lattice(KFold(3).split(range(12)), 12)


def ledger(lattice=LATTICE, n_candidates=4, **how):
    filled = Ledger(lattice, n_candidates, **how)
    rng = np.random.default_rng(0)
    filled.error[:] = rng.exponential(size=filled.error.shape)
    filled.change[:] = rng.exponential(size=filled.change.shape)
    return filled


def test_error_is_the_mean_over_evaluations():
    known = ledger()
    assert rules.error(known, LATTICE.final) == pytest.approx(known.error[:, :3].mean(axis=1))
    view = LATTICE.views[1]
    assert rules.error(known, view, [2]) == pytest.approx(known.error[2, view.evaluations].mean())


def test_instability_is_the_largest_change():
    known = ledger()
    for view in (LATTICE.final, *LATTICE.views):
        assert_array_equal(rules.instability(known, view), known.change[:, view.comparisons].max(axis=1))


def test_instability_of_repeats_is_the_mean_of_the_largest():
    repeated = Lattice(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(range(12)), 12)
    known = ledger(repeated)
    changes = known.change[:, repeated.final.comparisons]
    expected = (changes[:, :3].max(axis=1) + changes[:, 3:].max(axis=1)) / 2
    assert rules.instability(known, repeated.final) == pytest.approx(expected)


def test_what_is_not_known_stays_so():
    known = ledger()
    known.error[1, 0] = known.change[2, 0] = np.nan
    assert np.isnan(rules.error(known, LATTICE.final)).tolist() == [False, True, False, False]
    assert np.isnan(rules.instability(known, LATTICE.final)).tolist() == [False, False, True, False]


@pytest.mark.parametrize("failed_error", [np.inf, 7.0])
def test_what_a_failure_counts_as(failed_error):
    known = ledger(failed_error=failed_error)
    known.error[1, 0] = np.inf
    rest = known.error[1, 1:3].sum()
    assert rules.error(known, LATTICE.final)[1] == pytest.approx((failed_error + rest) / 3)


@pytest.mark.parametrize("failed_error", [np.inf, 0.0, -np.inf])
def test_what_has_no_number_for_a_score_is_never_chosen(failed_error):
    known = ledger(failed_error=failed_error)
    known.error[1, 0] = -np.inf
    assert rules.error(known, LATTICE.final)[1] == np.inf
    view = LATTICE.views[0]
    known.error[1, view.judged] = -np.inf
    assert rules.judged_error(known, view, np.array([1])) == np.inf


def test_a_choice_is_judged_where_it_was_not_made():
    known, view = ledger(), LATTICE.views[2]
    assert_array_equal(rules.judged_error(known, view, np.array([3])), known.error[3, [view.judged]])
    assert_array_equal(rules.judged_error(known, view, np.array([-1])), [np.inf])


def test_regularized_error():
    error, instability = np.array([1.0, 2.0]), np.array([3.0, np.nan])
    assert_array_equal(rules.regularized_error(error, instability, 0.0), error)
    assert_array_equal(rules.regularized_error(error, instability, 2.0), [7.0, np.nan])


@pytest.mark.parametrize(
    ("errors", "first", "rank"),
    [
        ([3.0, 1.0, 2.0], 1, [3, 1, 2]),
        ([0.3, 0.1 + 0.2, 0.4], 0, [1, 1, 3]),
        ([0.1 + 0.2, 0.3, 0.1], 2, [2, 2, 1]),
        ([np.nan, 2.0, np.inf, 2.0], 1, [3, 1, 3, 1]),
        ([np.inf, np.inf], 0, [1, 1]),
        ([-1.0, -1.0 - 1e-14, 5.0], 0, [1, 1, 3]),
        ([0.0, 0.0], 0, [1, 1]),
    ],
)
def test_the_first_of_ties(errors, first, rank):
    assert rules.first_minimum(np.array(errors)) == first
    assert rules.rank(np.array(errors)).tolist() == rank

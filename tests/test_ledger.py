"""The ledger: rows that grow, cells that are recorded once, and what it gives back."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.reducing import Cells

LATTICE = Lattice(KFold(3).split(range(12)), 12)


def cells(training_set, errors, changes=None, scores=None):
    scores = {} if scores is None else scores
    return Cells([training_set], errors, changes or {}, {}, scores, {}, {}, 0.5, 0.25, 1, {}, {}, {})


def test_nothing_is_known_at_first():
    ledger = Ledger(LATTICE, 2)
    assert ledger.error.shape == (2, len(LATTICE.evaluations))
    assert ledger.change.shape == (2, len(LATTICE.comparisons))
    assert all(np.isnan(numbers).all() for _, numbers in ledger.fields(0))


def test_rows_grow():
    ledger = Ledger(LATTICE, 1)
    ledger.record(np.array([0]), cells(1, {0: np.array([5.0])}, scores={("r2", 0): np.array([0.5])}))
    ledger.grow(2)
    assert len(ledger) == 3
    assert_array_equal(ledger.error[:, 0], [5.0, np.nan, np.nan])
    assert_array_equal(ledger.test_scores["r2"][:, 0], [0.5, np.nan, np.nan])


def test_cells_are_recorded():
    ledger = Ledger(LATTICE, 3)
    some = np.array([2, 0])
    ledger.record(some, cells(2, {1: np.array([1.0, 2.0])}, {1: np.array([3.0, 4.0])}))
    assert_array_equal(ledger.error[:, 1], [2.0, np.nan, 1.0])
    assert_array_equal(ledger.change[:, 1], [4.0, np.nan, 3.0])
    assert_array_equal(ledger.fit_time[:, 1], [0.5, np.nan, 0.5])
    assert np.isnan(ledger.fit_time[:, 0]).all()


def test_only_some():
    ledger = Ledger(LATTICE, 2)
    ledger.error[:] = 1.0
    some = ledger.only(np.array([True, False]))
    assert_array_equal(np.isnan(some.error[:, 0]), [False, True])
    assert not np.isnan(ledger.error).any()


def test_what_a_view_sees():
    ledger = Ledger(LATTICE, 2)
    ledger.error[:], ledger.test_scores["r2"] = 1.0, np.ones((2, 3))
    final, view = LATTICE.final, LATTICE.views[0]
    assert_array_equal(np.flatnonzero(~np.isnan(ledger.seen_from(view).error[0])), view.evaluations)
    assert view.judged not in view.evaluations
    assert (list(ledger.seen_from(final).test_scores), ledger.seen_from(view).test_scores) == (
        ["r2"],
        {},
    )


def test_fields_are_restored():
    ledger, copy = Ledger(LATTICE, 2), Ledger(LATTICE, 2)
    both = np.array([0, 1])
    ledger.record(
        both, cells(1, {0: np.array([1.0, 2.0])}, scores={("auc", 0): np.array([0.5, np.inf])})
    )
    for candidate in (0, 1):
        for name, numbers in ledger.fields(candidate):
            copy.restore(candidate, name, numbers)
    for candidate in (0, 1):
        for (name, found), (_, numbers) in zip(
            copy.fields(candidate), ledger.fields(candidate), strict=True
        ):
            assert_array_equal(found, numbers, err_msg=name)


def test_numbers_of_a_lattice_without_views():
    plain = Ledger(Lattice(KFold(3).split(range(12)), 12, nested=False), 1)
    plain.error[:] = plain.change[:] = 2.0
    ledger = Ledger(LATTICE, 1)
    for name, numbers in plain.fields(0):
        ledger.restore(0, name, numbers)
    assert_array_equal(np.isnan(ledger.error[0]), np.arange(ledger.error.shape[1]) >= 3)
    with pytest.raises(ValueError, match="error of candidate 0 has 1 numbers, which are too few"):
        ledger.restore(0, "error", np.zeros(1))


def test_failures_are_forgotten():
    ledger = Ledger(LATTICE, 2)
    ledger.error[:] = 1.0
    ledger.error[0, 0] = np.inf
    scores = {("auc", 1): np.array([0.5, np.inf])}
    ledger.record(np.array([0, 1]), cells(2, {}, scores=scores))
    ledger.forget_failures()
    assert np.isnan(ledger.error).nonzero()[0].tolist() == [0, 1]
    assert_array_equal(ledger.test_scores["auc"][:, 1], [0.5, np.nan])


def test_frozen_tables_are_read_only():
    ledger = Ledger(LATTICE, 1)
    ledger.freeze()
    with pytest.raises(ValueError, match="read-only"):
        ledger.error[0, 0] = 1.0

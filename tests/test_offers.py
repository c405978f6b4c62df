"""Offers: what is judged on a view's rows was chosen without their errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from steadycv.averages import Averages
from steadycv.lattice import Lattice
from steadycv.offers import committee_offer, others, student_offer
from steadycv.students import TEACHINGS

N = 12
LATTICE = Lattice(KFold(4).split(range(N)), N)
RNG = np.random.default_rng(0)


def saying(share, candidate, view):
    """What a student says, if that is who it is."""
    return {"predict": np.array([share, candidate, view])}


def test_of_a_partition_all_others_choose():
    assert others(LATTICE) == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_with_repeats_only_the_folds_of_the_same_repeat_share_no_row():
    lattice = Lattice(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(range(N)), N)
    for view, rest in enumerate(others(lattice)):
        own = set(lattice.splits[view].test)
        apart = [v for v in range(6) if v != view and own.isdisjoint(lattice.splits[v].test)]
        assert rest == apart


def test_where_too_few_share_no_row_all_others_choose():
    lattice = Lattice(ShuffleSplit(4, test_size=0.6, random_state=0).split(range(N)), N)
    assert others(lattice)[0] == [1, 2, 3][: len(lattice.views) - 1]


def test_a_committee_is_no_minimum_over_what_it_is_about():
    errors = RNG.uniform(size=(5, 4))
    said = Averages([{"predict": np.arange(15.0).reshape(5, 3)}] * 4)
    offer = committee_offer(LATTICE, np.array([10, 20, 30, 40, 50]), errors, said)
    chosen = [np.delete(errors, v, axis=1).mean(axis=1).argmin() for v in range(4)]
    assert offer.candidates == (10 * (errors.mean(axis=1).argmin() + 1),)
    assert_allclose(offer.errors, errors[chosen, range(4)])
    assert offer.promise == pytest.approx(offer.errors.mean())
    assert offer.promise >= errors.mean(axis=1).min()
    for tables, candidate in zip(offer.said.by_view, chosen, strict=True):
        assert_allclose(tables["predict"], [3 * candidate + np.arange(3)])


def test_a_student_s_share_and_parameters_are_chosen_jointly():
    errors = RNG.uniform(size=(3, 2, 4))
    offer = student_offer(LATTICE, np.array([7, 9]), TEACHINGS[:3], errors, saying)
    share, candidate = np.unravel_index(errors.mean(axis=2).argmin(), (3, 2))
    assert (offer.teaching, offer.candidates) == (TEACHINGS[share], ((7, 9)[candidate],))
    for view in range(4):
        best = np.delete(errors, view, axis=2).mean(axis=2).argmin()
        assert offer.said.by_view[view]["predict"].tolist() == [*np.unravel_index(best, (3, 2)), view]
        assert offer.errors[view] == errors.reshape(6, 4)[best, view]


def test_of_students_that_tie_the_one_without_a_teacher_is_taken():
    errors = np.ones((2, 2, 4))
    offer = student_offer(LATTICE, np.array([0, 1]), TEACHINGS[:2], errors, saying)
    assert (offer.share, offer.candidates) == (0.0, (0,))

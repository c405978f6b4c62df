"""Waiting: every comparison is made once, when both sides are there, and then losses are let go."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from steadycv.lattice import Lattice
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.waiting import Judge, Waiting

LATTICE = Lattice(KFold(3).split(range(12)), 12)
JUDGE = Judge(MeanLoss.of(LOSSES["squared_error"], np.zeros(12)), LATTICE, None)
LOSSES_OF = np.random.default_rng(0).exponential(size=(LATTICE.n_training_sets, 2, 12))
BOTH = np.array([0, 1])
ALL = range(len(LATTICE.comparisons))


def add(waiting, training_set, wanted=ALL, candidates=BOTH):
    return dict(
        waiting.add(
            candidates, [training_set], LOSSES_OF[training_set][np.newaxis, : len(candidates)], wanted
        )
    )


def test_a_comparison_needs_both_sides():
    waiting = Waiting(JUDGE)
    assert add(waiting, 0) == {}
    [(comparison, changes)] = add(waiting, 1).items()
    assert LATTICE.comparisons[comparison] == (1, 0)
    np.testing.assert_allclose(changes, np.abs(LOSSES_OF[1] - LOSSES_OF[0]).mean(axis=1))


def test_change_is_over_the_rows_of_the_reference():
    waiting = Waiting(JUDGE)
    add(waiting, 1)
    for comparison, changes in add(waiting, 4).items():
        rows = LATTICE.rows(LATTICE.comparisons[comparison].reference)
        expected = np.abs(LOSSES_OF[4] - LOSSES_OF[1])[:, rows].mean(axis=1)
        np.testing.assert_allclose(changes, expected)


@pytest.mark.parametrize("seed", range(5))
def test_each_comparison_once_in_any_order(seed):
    waiting, made = Waiting(JUDGE), []
    for training_set in np.random.default_rng(seed).permutation(len(LOSSES_OF)).tolist():
        made += add(waiting, training_set)
    assert sorted(made) == list(ALL)
    assert not list(waiting.blocks())


def test_nothing_waits_for_what_nobody_wants():
    waiting = Waiting(JUDGE)
    assert add(waiting, 0, wanted=[]) == {}
    assert not list(waiting.blocks())


def test_candidates_that_come_together_stay_together():
    waiting = Waiting(JUDGE)
    add(waiting, 0)
    assert add(waiting, 1, candidates=BOTH[:1]) == {}
    assert [training_set for training_set, _ in waiting.blocks()] == [0, 1]


def test_blocks_are_restored():
    waiting, copy, straight = Waiting(JUDGE), Waiting(JUDGE), Waiting(JUDGE)
    add(waiting, 0)
    for training_set, block in waiting.blocks():
        copy.restore(training_set, block)
    add(straight, 0)
    np.testing.assert_equal(add(copy, 2), add(straight, 2))

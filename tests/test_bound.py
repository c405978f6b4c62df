"""The bound on the mean error of the views' own choices; that of the paper is in `test_bad_input.py`."""

import math
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import rel_entr
from scipy.stats import binom, norm

from steadycv.bound import nested_bound

RNG = np.random.default_rng(0)
FOLDS = [RNG.beta(1, 9, size=40), RNG.beta(1, 9, size=41), RNG.beta(2, 9, size=41)]


def share(part, size, dtype=float):
    """Losses of 0 and 1 with a given number of ones."""
    return (np.arange(size) < part).astype(dtype)


def capital(bet, folds, risk):
    """What a bet on losses below `risk` makes of 1: the geometric mean over folds."""
    each = []
    for fold in folds:
        won = 1.0
        for loss in fold:
            won *= (1 - bet * loss) / (1 - bet * risk)
        each.append(won ** (min(map(len, folds)) / len(fold)))
    return math.prod(each) ** (1 / len(folds))


def test_capital_at_the_bound_is_what_it_may_be():
    """The formula of the page, literally."""
    bound = nested_bound(FOLDS, [2, 1, 5], loss_bound=1.0, delta=0.1)
    shyest = 1 - math.exp(-math.sqrt(8 * math.log(10) / 40))
    n_bets = 1 + math.ceil(2 * math.log2(0.99 / shyest))
    bets = [shyest * (0.99 / shyest) ** (j / (n_bets - 1)) for j in range(n_bets)]
    mean = sum(capital(bet, FOLDS, bound) for bet in bets) / n_bets
    assert mean == pytest.approx((2 * 1 * 5) ** (1 / 3) / 0.1, rel=1e-9)


def test_relative_entropy_at_the_bound_is_what_it_may_be():
    bound = nested_bound([share(3, 40, bool), share(9, 41, bool)], [2, 1], loss_bound=1, delta=0.1)
    shares = np.array([[4 / 40 + 10 / 41], [2 - 4 / 40 - 10 / 41]]) / 2
    entropy = rel_entr(shares, [[bound], [1 - bound]]).sum()
    quantiles = norm.isf([0.1 / 2, 0.1])
    assert 40 * entropy == pytest.approx(1 + (quantiles**2).mean() / 2, rel=1e-9)


@pytest.mark.parametrize("dtype", [bool, float])
def test_at_most_018_above_the_error_of_500_rows(dtype):
    """For five folds and eleven choices; losses of 0 and 1 are the worst of their mean."""
    for part in range(101):
        bound = nested_bound([share(part, 100, dtype)] * 5, 11, loss_bound=1.0)
        assert part / 100 <= bound <= part / 100 + 0.18


def how_often_it_fails(dtype, n_choices, risk, delta):
    """Exactly: the best of eight coins, each thrown 100 times."""
    bounds = [
        nested_bound([share(part, 100, dtype)], n_choices, loss_bound=1, delta=delta)
        for part in range(101)
    ]
    assert (np.diff(bounds) >= 0).all()
    n_too_low = np.searchsorted(bounds, risk)
    return 1 - (1 - binom.cdf(n_too_low - 1, 100, risk)) ** 8


@pytest.mark.parametrize("dtype", [bool, float])
@pytest.mark.parametrize("risk", [0.1, 0.2, 0.5, 0.9])
def test_fails_at_most_delta(dtype, risk):
    assert 0 < how_often_it_fails(dtype, 8, risk, 0.3) <= 0.3


def test_choice_has_to_be_told():
    assert how_often_it_fails(bool, 1, 0.5, 0.05) > 0.05 >= how_often_it_fails(bool, 8, 0.5, 0.05)


@pytest.mark.parametrize("fold", [FOLDS[0], share(9, 40, bool)])
def test_folds_that_agree_are_worth_one(fold):
    assert nested_bound([fold] * 5, 3, loss_bound=1.0) == nested_bound([fold], 3, loss_bound=1.0)


def test_booleans_have_a_lower_bound_than_numbers():
    bounds = [nested_bound([share(20, 100, dtype)], loss_bound=1) for dtype in (bool, float)]
    assert bounds[0] < bounds[1]


def test_small_variance_has_a_lower_bound():
    """Of two losses with one mean."""
    bounds = [nested_bound([loss], loss_bound=1.0) for loss in (np.full(100, 0.2), share(20, 100))]
    assert bounds[0] < bounds[1] - 0.05


def test_bound_has_the_unit_of_the_loss():
    thrice = nested_bound([3 * fold for fold in FOLDS], 2, loss_bound=3.0)
    assert_allclose(thrice, 3 * nested_bound(FOLDS, 2, loss_bound=1.0))


@pytest.mark.parametrize("fold", [np.ones(9), np.ones(9, dtype=bool), [0.0], [True], [False]])
@pytest.mark.parametrize("delta", [1e-9, 0.05, 0.999])
def test_bound_lies_between_the_error_and_the_loss_bound(fold, delta):
    assert np.mean(fold) <= nested_bound([fold], loss_bound=1.0, delta=delta) <= 1


@pytest.mark.parametrize(
    ("losses", "how", "message"),
    [
        ([[0.1, 1.5]], {}, "Losses must be from 0 to loss_bound=1.0, and fold 0 has 1.5"),
        ([[0.1], [np.nan]], {}, "fold 1 has nan"),
        ([[-0.1]], {}, "fold 0 has -0.1"),
        ([[0.1], []], {}, "Fold 1 must have a loss for each test row, got shape (0,)"),
        ([[[0.1]]], {}, "got shape (1, 1)"),
        ([], {}, "one fold or more, got none"),
        ([[0.1], [0.2]], {"n_choices": 0}, "n_choices must be 1 or more"),
        ([[0.1], [0.2]], {"n_choices": [1, 2, 3]}, "one for each of 2 folds, got [1, 2, 3]"),
        ([[0.1]], {"loss_bound": -1.0}, "loss_bound must be a finite number above 0, got -1.0"),
        ([[True]], {"loss_bound": 2.0}, "Of zero-one losses loss_bound must be 1, got 2.0"),
        ([[0.1]], {"delta": 1}, "delta must be between 0 and 1, got 1"),
    ],
)
def test_what_is_refused(losses, how, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        nested_bound(losses, **{"loss_bound": 1.0, **how})

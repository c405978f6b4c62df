"""How many models are fitted, on which rows, and that their losses are not hoarded."""

import tracemalloc
from collections import Counter
from math import prod

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold

from steadycv import StabilitySearchCV
from steadycv.folds import Lattice
from steadycv.ledger import Ledger

FITS = []  # (params, training rows) of every fit since the last `counted`


class Bumpy(RegressorMixin, BaseEstimator):
    """Cheap, and its best parameters depend on the training set, so that searches part ways."""

    def __init__(self, a=0, b=0, c=0):
        self.a, self.b, self.c = a, b, c

    def fit(self, X, y):
        # The first column is the row's number.
        FITS.append((tuple(self.get_params().values()), tuple(X[:, 0].astype(int).tolist())))
        noise = np.cos(1e3 * (y.mean() + self.a + self.b**2 + self.c**3))
        self.shift_ = noise + 0.3 * (self.a - 2) + 0.2 * self.b - 0.1 * self.c
        return self

    def predict(self, X):
        return X[:, 1] + self.shift_


def counted(param_grid, *, seed=0, groups=None, **how):
    """The fitted search, and its fits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, 2))
    y = X[:, 1] + rng.normal(size=24)
    X[:, 0] = np.arange(24)
    FITS.clear()
    search = StabilitySearchCV(Bumpy(), param_grid, **how).fit(X, y, groups=groups)
    return search, Counter(FITS)


GRID = {"a": [0, 1, 2], "b": [0, 1]}
AXES = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2]}


@pytest.mark.parametrize("weights", ["auto", 0.0, [0.0, 1.0]])
@pytest.mark.parametrize("k", [3, 5, 24])
def test_nested_search_fits_every_training_set_once(k, weights):
    search, fits = counted(GRID, cv=KFold(k), stability_weights=weights)
    assert search.n_fits_ == (1 + k + k * (k - 1) // 2) * 6
    refit = tuple(search.best_estimator_.get_params().values()), tuple(range(24))
    assert fits == Counter({**dict.fromkeys(fits, 1), refit: 2})
    assert fits.total() == search.n_fits_ + 1


def test_repeats_share_the_full_set():
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    search, fits = counted(GRID, cv=cv)
    assert search.n_fits_ == (1 + 3 * (4 + 6)) * 6
    assert fits.total() == search.n_fits_ + 1


@pytest.mark.parametrize(("weight", "n_sets"), [(0.0, 5), (0.5, 6)])
def test_no_more_is_fitted_than_a_single_weight_needs(weight, n_sets):
    search, fits = counted(GRID, stability_weights=weight, nested=False)
    assert search.n_fits_ == n_sets * 6
    assert fits.total() == search.n_fits_ + 1


def test_no_refit():
    search, fits = counted(GRID, refit=False)
    assert fits.total() == len(fits) == search.n_fits_ == 16 * 6


@pytest.mark.parametrize("search", ["grid", "coordinate"])
def test_training_rows_keep_their_order(search):
    _, shuffled = counted(GRID, cv=KFold(4, shuffle=True, random_state=0), search=search)
    _, grouped = counted(GRID, cv=GroupKFold(3), groups=np.arange(24) % 5, search=search)
    for _, rows in [*shuffled, *grouped]:
        assert list(rows) == sorted(set(rows))


@pytest.mark.parametrize("weights", [[0.0], [0.0, 0.1, 1.0], "auto"])
@pytest.mark.parametrize(
    "cv",
    [KFold(3), KFold(5), RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)],
    ids=["k=3", "k=5", "repeats"],
)
def test_coordinate_search_fits_nothing_twice(cv, weights):
    search, fits = counted(AXES, cv=cv, search="coordinate", stability_weights=weights, refit=False)
    assert search.n_fits_ == fits.total()
    assert {fit: n for fit, n in fits.items() if n > 1} == {}
    # Some candidates were looked at in some places only, else nothing would be shown here.
    n_sets = len({rows for _, rows in fits})
    assert len({params for params, _ in fits}) * n_sets > len(fits)


@pytest.mark.parametrize("seed", [8, 11, 17])
def test_choice_is_not_fitted_again_for_its_predictions(seed):
    # Here runs that are still going look at better candidates than the finished run that counts.
    search, fits = counted(AXES, seed=seed, cv=KFold(4), search="coordinate", refit=False)
    assert fits.total() == len(fits) == search.n_fits_


def test_coordinate_search_without_nesting_fits_nothing_twice():
    search, fits = counted(AXES, search="coordinate", stability_weights=1.0, nested=False, refit=False)
    assert fits.total() == len(fits) == search.n_fits_ < 6 * prod(map(len, AXES.values()))


def test_list_of_grids_fits_nothing_twice():
    grids = [AXES, {"a": [7, 8], "c": [5, 6, 7]}]
    search, fits = counted(grids, search="coordinate", refit=False)
    assert fits.total() == len(fits) == search.n_fits_


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_ledger_asks_for_every_training_set_once(seed, n_repeats):
    cv = RepeatedKFold(n_splits=4, n_repeats=n_repeats, random_state=seed)
    lattice = Lattice.from_splits(cv.split(range(12)), n_samples=12)
    ledger = Ledger(1, lattice)
    only = np.array([0])
    questions = [lambda: ledger.missing_final(only)]
    questions += [
        lambda r=r, t=t: ledger.missing_outer(only, r, t) for r in range(n_repeats) for t in range(4)
    ]
    asked = []
    for i in np.random.default_rng(seed).permutation(len(questions)):
        for training_set, candidates in list(questions[i]()):
            asked.append(training_set)
            ledger.record(candidates, training_set, np.ones((1, 12)))
    assert sorted(asked) == sorted(lattice.all_sets())


# Memory.


class Shrunk(RegressorMixin, BaseEstimator):
    def __init__(self, shrink=1.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.shrink * self.mean_)


def test_losses_of_many_candidates_are_not_held():
    n = 20_000
    y = 1 + np.random.default_rng(0).normal(size=n)
    grid = {"shrink": np.linspace(0, 2, 60)}
    search = StabilitySearchCV(Shrunk(), grid, stability_weights=[0.0, 1.0])
    tracemalloc.start()
    try:
        search.fit(np.zeros((n, 1)), y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    of_one_candidate = 16 * n * 8
    assert peak < 4 * of_one_candidate


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_ledger_lets_go_of_losses_in_any_order_of_fits(seed, n_repeats):
    rng = np.random.default_rng(seed)
    cv = RepeatedKFold(n_splits=4, n_repeats=n_repeats, random_state=seed)
    lattice = Lattice.from_splits(cv.split(range(12)), n_samples=12)
    losses = {training_set: rng.exponential(size=(1, 12)) for training_set in lattice.all_sets()}
    in_order, shuffled = Ledger(1, lattice), Ledger(1, lattice)
    for training_set in lattice.all_sets():
        in_order.record(np.array([0]), training_set, losses[training_set])
    for i in rng.permutation(len(losses)):
        shuffled.record(np.array([0]), lattice.all_sets()[i], losses[lattice.all_sets()[i]])
    assert in_order._held == shuffled._held == {}
    for (_, expected), (_, found) in zip(in_order.fields(0), shuffled.fields(0), strict=True):
        np.testing.assert_array_equal(found, expected)

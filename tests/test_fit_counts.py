"""How many models are fitted, on which rows, and that their losses are not hoarded."""

import tracemalloc
from collections import Counter
from contextlib import nullcontext
from itertools import chain
from math import prod

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold

from steadycv import StabilitySearchCV
from steadycv.candidates import Candidates
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.losses import LOSSES
from steadycv.measures import MeanLoss
from steadycv.planning import Planner
from steadycv.scoring import Judging
from steadycv.tasks import Problem
from steadycv.waiting import Judge, Waiting

# On so few rows of noise some choices do much worse than what was tried.
pytestmark = pytest.mark.filterwarnings("ignore:The promise is")

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


def cost_is_said():
    return pytest.warns(
        UserWarning, match="24 splits need 301 training sets for each candidate, 13 times"
    )


GRID = {"a": [0, 1, 2], "b": [0, 1]}
AXES = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2]}


@pytest.mark.parametrize("weights", ["auto", 0.0, [0.0, 1.0]])
@pytest.mark.parametrize("k", [3, 5, 24])
def test_nested_search_fits_every_training_set_once(k, weights):
    with cost_is_said() if k == 24 else nullcontext():
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


def repeated(n_repeats, seed):
    cv = RepeatedKFold(n_splits=4, n_repeats=n_repeats, random_state=seed)
    return Lattice(cv.split(range(12)), n_samples=12)


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_planner_asks_for_every_training_set_once(seed, n_repeats):
    lattice = repeated(n_repeats, seed)
    X, y = np.arange(24.0).reshape(12, 2), np.zeros(12)
    measure = MeanLoss.of(LOSSES["squared_error"], y)
    judging = Judging(measure, None, 0.0, None, measure.loss, None, None)
    problem = Problem(Bumpy(), X, y, lattice, judging)
    planner = Planner(problem, Candidates([{}]), use_paths=False)
    ledger, waiting = Ledger(lattice, 1), Waiting(problem.reducer.judge)
    only, views = np.array([0]), [lattice.final, *lattice.views]
    asked = []
    for i in np.random.default_rng(seed).permutation(len(views)):
        wanted = planner.missing([(views[i], only)], ledger, waiting, with_change=True)
        for task in chain.from_iterable(each.apart(99) for each in planner.tasks(wanted)):
            [training_set] = task.training_sets
            asked.append(training_set)
            for evaluation in lattice.evaluations_of[training_set]:
                ledger.error[0, evaluation] = 1.0
            comparisons = range(len(lattice.comparisons))
            for comparison, change in waiting.add(
                only, [training_set], np.ones((1, 1, 12)), comparisons
            ):
                ledger.change[0, comparison] = change[0]
    assert sorted(asked) == list(range(lattice.n_training_sets))
    assert not np.isnan(ledger.error).any()
    assert not np.isnan(ledger.change).any()


# Memory.


class Shrunk(RegressorMixin, BaseEstimator):
    def __init__(self, shrink=1.0):
        self.shrink = shrink

    def fit(self, X, y):
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.shrink * self.mean_)


# A race at weights of one's own fits the references in its first round, before anybody can leave.
@pytest.mark.parametrize(
    ("race", "weights", "most"), [(False, [0.0, 1.0], 4), (True, "auto", 4), (True, [0.0, 1.0], 8)]
)
def test_losses_of_many_candidates_are_not_held(race, weights, most, monkeypatch):
    n = 20_000
    of_one_candidate = 16 * n * 8
    for name in ("MOST_KEPT_BYTES", "MOST_WAITING_BYTES"):
        monkeypatch.setattr(f"steadycv.selection.{name}", of_one_candidate)
    y = 1 + np.random.default_rng(0).normal(size=n)
    grid = {"shrink": np.linspace(0, 2, 60)}
    search = StabilitySearchCV(Shrunk(), grid, stability_weights=weights, race=race)
    tracemalloc.start()
    try:
        search.fit(np.zeros((n, 1)), y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < most * of_one_candidate


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_losses_are_let_go_in_any_order_of_fits(seed, n_repeats):
    rng = np.random.default_rng(seed)
    lattice = repeated(n_repeats, seed)
    losses = rng.exponential(size=(lattice.n_training_sets, 1, 12))
    judge = Judge(MeanLoss.of(LOSSES["squared_error"], np.zeros(12)), lattice, None)
    all_comparisons = range(len(lattice.comparisons))

    def changes(order):
        waiting, found = Waiting(judge), np.full(len(lattice.comparisons), np.nan)
        for training_set in order:
            own = losses[[training_set]]
            compared = waiting.add(np.array([0]), [training_set], own, all_comparisons)
            for comparison, change in compared:
                found[comparison] = change[0]
        assert not list(waiting.blocks())
        return found

    in_order, shuffled = changes(range(len(losses))), changes(rng.permutation(len(losses)).tolist())
    np.testing.assert_array_equal(in_order, shuffled)
    assert not np.isnan(in_order).any()

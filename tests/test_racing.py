"""Racing: the same choices as when it is done by hand, honest, and cheap."""

import itertools
import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ParameterGrid,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.lattice import Lattice
from steadycv.racing import rounds_of
from steadycv.scores import find_score
from steadycv.scoring import get_scorer

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:120], Y[:120]
TREES = {"max_depth": [1, 2, 3, 4, 6, 8], "min_samples_leaf": [1, 3, 6, 12]}
KERNELS = {"C": np.logspace(0, 3, 6), "gamma": np.logspace(-2, 1, 6)}
CLASSES = tuple(part[::4] for part in load_breast_cancer(return_X_y=True))


def tree_search(X=X, y=Y, grid=TREES, *, race=True, groups=None, estimator=None, **params):
    estimator = DecisionTreeRegressor() if estimator is None else estimator
    return StabilitySearchCV(estimator, grid, race=race, **params).fit(X, y, groups=groups)


def assert_same(one, other):
    assert one.best_index_ == other.best_index_
    assert one.nested_error_ == other.nested_error_
    assert one.promise_ == other.promise_
    assert_array_equal(one.ledger_.left, other.ledger_.left)
    for name in ("cv_error", "instability", "mean_test_score", "left_in_round"):
        assert_array_equal(one.cv_results_[name], other.cv_results_[name])
    for name, column in one.weights_.items():
        assert_array_equal(column, other.weights_[name])


# The race by hand.


def by_hand(estimator, grid, X, y, splits, *, share=0.2, tolerance=1.0):
    """Every model is fitted when it is named; which candidates each seat holds in the end.

    The final seat looks where some other seat had a candidate fitted.
    """
    settings = list(ParameterGrid(grid))
    lattice = Lattice(splits, n_samples=len(y))
    held = {seat.split: list(range(len(settings))) for seat in (lattice.final, *lattice.views)}
    n_rounds = dict.fromkeys(held, 0)
    left = {seat: [0] * len(settings) for seat in held}
    fitted = {}

    def losses(candidate, evaluation):
        training_set, row_set = lattice.evaluations[evaluation]
        rows, judged = lattice.rows(training_set), lattice.row_sets[row_set]
        if (candidate, training_set) not in fitted:
            model = clone(estimator).set_params(**settings[candidate])
            fitted[candidate, training_set] = model.fit(X[rows], y[rows])
        return (fitted[candidate, training_set].predict(X[judged]) - y[judged]) ** 2

    for number, seats in enumerate(rounds_of(lattice), start=1):
        for seat in seats[:-1]:
            _ = [losses(c, e) for c in held[seat.split] for e in seat.evaluations.tolist()]
        before = {seat.split: list(held[seat.split]) for seat in seats}
        for seat in seats:
            n_rounds[seat.split] += 1
            most = max(3, int(np.ceil(len(settings) * share / 2 ** (n_rounds[seat.split] - 1))))
            asked = {
                c: [
                    e
                    for e in seat.evaluations.tolist()
                    if (c, lattice.evaluations[e].training_set) in fitted
                ]
                for c in before[seat.split]
            }

            def parts(candidate, evaluations):
                """Of the mean of errors: each loss by its weight in it."""
                each = [losses(candidate, e) for e in evaluations]
                return np.concatenate([some / len(some) for some in each]) / len(each)

            longest = max(map(len, asked.values()))
            widest = next(known for known in asked.values() if len(known) == longest)
            errors = {c: parts(c, widest).sum() for c, known in asked.items() if known == widest}
            lowest = min(errors.values())
            best = next(c for c in errors if errors[c] <= lowest * (1 + 1e-12))
            behind, margin = {}, {}
            for c, known in asked.items():
                both = [e for e in known if e in widest]
                rows = [lattice.row_sets[lattice.evaluations[e].row_set] for e in both]
                n = sum(map(len, rows))
                times = n / len(set(itertools.chain(*(each.tolist() for each in rows))))
                difference = parts(c, both) - parts(best, both)
                behind[c] = difference.sum()
                margin[c] = tolerance * np.std(n * difference, ddof=1) * np.sqrt(times / n)
            order = sorted(behind, key=lambda c: (round(1 + behind[c] / lowest, 11), c))
            stays = [c for c in order[:most] if behind[c] <= margin[c] + 1e-12 * lowest]
            for c in set(before[seat.split]) - set(stays):
                left[seat.split][c] = number
            held[seat.split] = sorted(stays)
    return left, fitted


@pytest.mark.parametrize("cv", [KFold(5), KFold(4, shuffle=True, random_state=0), TimeSeriesSplit(4)])
@pytest.mark.parametrize("n", [116, 120])
def test_race_by_hand(cv, n):
    grid = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 4, 10]}
    estimator = DecisionTreeRegressor(random_state=0)
    left, fitted = by_hand(estimator, grid, X[:n], Y[:n], cv.split(X[:n]))
    search = tree_search(X[:n], Y[:n], grid, cv=cv, estimator=estimator, use_paths=False)
    for seat, rounds in left.items():
        at = 0 if seat is None else 1 + seat
        assert search.ledger_.left[:, at].tolist() == rounds
    assert (search.ledger_.left > 0).any()
    n_held = (search.ledger_.left == 0).sum()
    assert len(fitted) < search.n_fits_ <= len(fitted) + 6 * n_held


def test_who_stays_is_chosen_among():
    search = tree_search()
    left = search.ledger_.left
    assert left[search.best_index_, 0] == 0
    for view in search.lattice_.views:
        chosen = search.weights_[f"split{view.split}_index"]
        assert (left[chosen, 1 + view.split] == 0).all()


# Rounds.


@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),
        KFold(5),
        KFold(8),
        TimeSeriesSplit(5),
        RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
        ShuffleSplit(6, random_state=0),
        LeaveOneOut(),
    ],
    ids=str,
)
def test_rounds_show_everybody_everything_once(cv):
    rows = np.zeros((30, 1))
    lattice = Lattice(cv.split(rows), n_samples=30)
    rounds = rounds_of(lattice)
    seen = {}
    for seats in rounds:
        assert seats[-1].split is None
        for seat in seats:
            assert len(seat.evaluations) > len(seen.get(seat.split, ()))
            assert set(seen.get(seat.split, ())) <= set(seat.evaluations.tolist())
            seen[seat.split] = seat.evaluations.tolist()
    for view in lattice.views:
        assert sorted(seen[view.split]) == sorted(view.evaluations.tolist())
    assert {seat.split for seat in rounds[0]} == {None} | {view.split for view in lattice.views}
    assert set(seen[None]) == set(
        itertools.chain(*(view.evaluations.tolist() for view in lattice.views))
    )


def test_first_round_of_five_folds_takes_three_pairs():
    lattice = Lattice(KFold(5).split(np.zeros((100, 1))), n_samples=100)
    training_sets = {
        lattice.evaluations[e].training_set for seat in rounds_of(lattice)[0] for e in seat.evaluations
    }
    assert len(training_sets) == 3


@pytest.mark.parametrize("n_folds", [4, 5, 8, 9])
def test_no_view_looks_twice_in_a_later_round(n_folds):
    """So whom it let go of is never fitted for its sake; and nobody is two looks behind."""
    lattice = Lattice(KFold(n_folds).split(np.zeros((100, 1))), n_samples=100)
    looked = dict.fromkeys((view.split for view in lattice.views), 0)
    for number, seats in enumerate(rounds_of(lattice)):
        for seat in seats[:-1]:
            assert number == 0 or len(seat.evaluations) == looked[seat.split] + 1
            looked[seat.split] = len(seat.evaluations)
        assert max(looked.values()) - min(looked.values()) <= 2


def test_nobody_is_fitted_for_the_final_view_alone():
    """Before the race is over, a training set is fitted for whom a view holds that may see it."""
    search = tree_search(estimator=SVR(), grid=KERNELS)
    lattice, ledger = search.lattice_, search.ledger_
    pairs = sorted({lattice.evaluations[e].training_set for v in lattice.views for e in v.evaluations})
    wanted = np.zeros((len(ledger), lattice.n_training_sets), dtype=bool)
    for number, seats in enumerate(rounds_of(lattice)):
        for seat in seats[:-1]:
            left = ledger.left_from(seat)
            for e in seat.evaluations:
                wanted[(left == 0) | (left > number), lattice.evaluations[e].training_set] = True
    fitted = np.zeros_like(wanted)
    for e, (training_set, _) in enumerate(lattice.evaluations):
        fitted[:, training_set] |= ~np.isnan(ledger.error[:, e])
    assert_array_equal(fitted[:, pairs], wanted[:, pairs])


def test_rounds_of_single_rows_show_ten_of_them():
    lattice = Lattice(LeaveOneOut().split(np.zeros((30, 1))), n_samples=30)
    assert min(len(seat.evaluations) for seat in rounds_of(lattice)[0]) == 10


# Honest.


@pytest.mark.parametrize("fold", range(5))
def test_what_a_view_drops_does_not_depend_on_what_it_is_judged_on(fold):
    spoilt = Y.copy()
    test = list(KFold(5).split(X))[fold][1]
    spoilt[test] = np.random.default_rng(0).permutation(spoilt[test]) + 500
    before, after = tree_search(), tree_search(y=spoilt)
    at = 1 + fold
    assert_array_equal(before.ledger_.left[:, at], after.ledger_.left[:, at])
    assert (before.ledger_.left[:, 0] != after.ledger_.left[:, 0]).any()


# The same race, whoever runs it and whatever is known.


@pytest.mark.parametrize("weight", ["auto", 0.3])
def test_same_race_on_all_cores(weight):
    alone, shared = (tree_search(stability_weights=weight, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert_same(alone, shared)


def test_same_race_without_paths():
    """Also where the candidates of a line leave one after the other, and behind a scaler."""
    neighbors = {"n_neighbors": range(1, 13), "weights": ["uniform", "distance"]}
    for estimator, grid in (
        (KNeighborsRegressor(), neighbors),
        (
            make_pipeline(StandardScaler(), KNeighborsRegressor()),
            {f"kneighborsregressor__{name}": values for name, values in neighbors.items()},
        ),
    ):
        path = tree_search(estimator=estimator, grid=grid)
        separate = tree_search(estimator=estimator, grid=grid, use_paths=False)
        assert_array_equal(path.ledger_.left, separate.ledger_.left)
        assert_allclose(path.cv_results_["cv_error"], separate.cv_results_["cv_error"])
        assert_allclose(path.cv_results_["instability"], separate.cv_results_["instability"])


class Stopped(Ridge):
    """Is interrupted at one of its fits."""

    at = None
    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Stopped.n_fits += 1
        if Stopped.n_fits == Stopped.at:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("at", [5, 37, 90, 110])
def test_resumed_race_is_the_same_race(at, tmp_path, monkeypatch):
    kind = {"estimator": Stopped(), "grid": {"alpha": np.logspace(-3, 3, 30)}}
    fresh = tree_search(**kind)
    monkeypatch.setattr(Stopped, "n_fits", 0)
    monkeypatch.setattr(Stopped, "at", at)
    with pytest.raises(KeyboardInterrupt):
        tree_search(**kind, ledger=tmp_path / "ledger")
    monkeypatch.setattr(Stopped, "at", None)
    resumed = tree_search(**kind, ledger=tmp_path / "ledger")
    assert_same(fresh, resumed)
    assert resumed.n_fits_ <= fresh.n_fits_ - at + 1
    again = tree_search(**kind, ledger=tmp_path / "ledger")
    assert_same(fresh, again)
    assert again.n_fits_ == 0


@pytest.mark.parametrize("weight", ["auto", 0.3, 1.0])
def test_race_with_all_numbers_at_hand_is_the_same_race(weight, tmp_path):
    """What a search without a race has left is not looked at before its time."""
    kind = {"estimator": SVR(), "grid": KERNELS, "stability_weights": weight}
    fresh = tree_search(**kind)
    tree_search(**kind, race=False, ledger=tmp_path / "ledger")
    after = tree_search(**kind, ledger=tmp_path / "ledger")
    assert_same(fresh, after)
    assert_same(fresh, tree_search(**kind, ledger=tmp_path / "ledger"))


# Cheap, and about the same.


def test_race_costs_about_what_plain_cross_validation_does():
    grid = {"C": np.logspace(0, 3, 12), "gamma": np.logspace(-2, 1, 12)}
    search = tree_search(estimator=SVR(), grid=grid, race="auto", use_paths=False)
    assert search.n_fits_ < 1.5 * 5 * 144


def test_race_that_drops_nobody_is_the_full_search():
    full, race = tree_search(race=False), tree_search(race=1e6)
    assert race.best_index_ == full.best_index_
    assert race.nested_error_ == full.nested_error_
    assert_array_equal(race.ledger_.error, full.ledger_.error)
    assert_array_equal(race.ledger_.change, full.ledger_.change)


def test_wider_tolerance_holds_more():
    held = [(tree_search(race=tolerance).ledger_.left == 0).sum() for tolerance in (0.5, 1, 2, 4)]
    assert held == sorted(held)
    assert held[0] < held[-1]


class Shrunk(RegressorMixin, BaseEstimator):
    """A share of the mean; nothing of it is a constant."""

    def __init__(self, share=1.0):
        self.share = share

    def fit(self, X, y):
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.share * self.mean_)


def test_steady_candidates_stay_at_the_weights_asked_for():
    """A constant has no instability; at weight 0 it would leave."""
    grid = {"share": [0.0, *np.linspace(0.8, 1.2, 24)]}
    fixed = tree_search(estimator=Shrunk(), grid=grid, stability_weights=1e4)
    assert fixed.best_params_ == {"share": 0.0}
    assert tree_search(estimator=Shrunk(), grid=grid).ledger_.left[0, 0] > 0


@pytest.mark.parametrize("weight", ["auto", 1.0])
def test_race_with_little_memory_is_the_same_race(weight, monkeypatch):
    kind = {"estimator": SVR(), "grid": KERNELS, "stability_weights": weight}
    before = tree_search(**kind)
    monkeypatch.setattr("steadycv.selection.MOST_WAITING_BYTES", 0)
    assert_same(before, tree_search(**kind))


# Any splitter and any score.


SPLITTERS = [
    GroupKFold(4),
    LeaveOneOut(),
    RepeatedKFold(n_splits=4, n_repeats=2, random_state=0),
    ShuffleSplit(6, random_state=0),
    TimeSeriesSplit(5),
    KFold(2),
]
SCORES = [None, "r2", "neg_mean_absolute_error", "neg_max_error"]
OF_ONE_ROW = [score for score in SCORES if score != "r2"]  # which is not defined there


@pytest.mark.parametrize(
    ("cv", "scoring"),
    [
        (cv, score)
        for cv in SPLITTERS
        for score in (OF_ONE_ROW if isinstance(cv, LeaveOneOut) else SCORES)
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_any_splitter_and_score(cv, scoring):
    n = 24 if isinstance(cv, LeaveOneOut) else 60
    groups = np.arange(n) % 8
    search = tree_search(X[:n], Y[:n], cv=cv, scoring=scoring, groups=groups)
    left = search.ledger_.left[:, 0]
    assert 0 < (left == 0).sum() < len(left)
    assert_array_equal(np.isnan(search.cv_results_["cv_error"]), left > 0)
    assert left[search.best_index_] == 0
    assert not search.lattice_.views or np.isfinite(search.promise_)
    assert search.summary()


@pytest.mark.parametrize("scoring", ["roc_auc", "f1", "neg_log_loss", "average_precision"])
def test_scores_of_classifiers(scoring):
    search = tree_search(*CLASSES, estimator=DecisionTreeClassifier(), scoring=scoring)
    assert 0 < (search.ledger_.left[:, 0] == 0).sum() <= 6
    assert np.isfinite(search.nested_error_)


def test_scorer_that_is_called_one_by_one():
    def accuracy(estimator, X, y):
        return float(np.mean(estimator.predict(X) == y))

    by_function = tree_search(*CLASSES, estimator=DecisionTreeClassifier(), scoring=accuracy)
    assert 0 < (by_function.ledger_.left[:, 0] == 0).sum() <= 6


def test_constant_scores_and_ties():
    """Nobody is better than anybody: the first candidates stay, and the first is chosen."""
    search = tree_search(y=np.ones(len(Y)))
    assert search.best_index_ == 0
    assert search.nested_error_ == 0
    same = tree_search(estimator=DummyRegressor(), grid={"quantile": np.linspace(0, 1, 25)})
    assert same.best_index_ == 0


def test_candidates_that_fail_leave_first():
    grid = {"max_depth": [-1, 2, 3, 4, 5, 6, 7, 8], "min_samples_leaf": [1, 3, 6]}
    with pytest.warns(FitFailedWarning, match="fits failed"):
        search = tree_search(grid=grid)
    failed = np.array([params["max_depth"] < 0 for params in search.cv_results_["params"]])
    assert (search.ledger_.left[failed] == 1).all()
    assert not failed[search.best_index_]


def test_sample_weights_weigh_in_the_race():
    weight = np.where(np.arange(len(Y)) < 60, 1.0, 0.0)
    weighted = StabilitySearchCV(SVR(), KERNELS, race=True, cv=KFold(4, shuffle=True, random_state=0))
    weighted.fit(X, Y, sample_weight=weight)
    ledger, view = weighted.ledger_, weighted.lattice_.views[0]
    held = np.flatnonzero(ledger.left_from(view) == 0)
    assert_allclose(
        ledger.parts_of(held, view).mean(axis=1), ledger.error[held][:, view.evaluations].mean(axis=1)
    )


# Parts of scores: their mean is the score, and their spread its standard error.


@pytest.mark.parametrize("name", ["roc_auc", "r2", "neg_root_mean_squared_error"])
def test_mean_of_parts_is_the_score(name):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2 if name == "roc_auc" else rng.normal(size=40)
    outputs = np.round(y + rng.normal(size=(5, 40)), 1)
    score = find_score(get_scorer(name))
    assert_allclose(score.parts(y, outputs).mean(axis=1), score(y, outputs))


def test_spread_of_parts_of_an_area_is_delongs():
    """Against the bootstrap."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3 == 0
    one, other = (y + rng.normal(size=300) for _ in range(2))
    score = find_score(get_scorer("roc_auc"))
    parts = score.parts(y, np.stack([one, other]))
    found = np.std(parts[0] - parts[1], ddof=1) / np.sqrt(300)
    areas = []
    for _ in range(400):
        rows = rng.integers(0, 300, 300)
        areas.append(roc_auc_score(y[rows], one[rows]) - roc_auc_score(y[rows], other[rows]))
    assert abs(found / np.std(areas) - 1) < 3 * norm.ppf(0.975) / np.sqrt(2 * 400)


# When a search races.


def steadiest(results):
    return int(np.argmin(results["instability"]))


@pytest.mark.parametrize(
    ("params", "races"),
    [
        ({}, True),
        ({"rule": "plain"}, True),
        ({"rule": "paper"}, False),
        ({"rule": "one_standard_error"}, False),
        ({"search": "coordinate"}, False),
        ({"nested": False, "stability_weights": 0}, False),
        ({"cv": TimeSeriesSplit(5)}, False),
        ({"deliver": "committee"}, False),
        ({"refit": steadiest}, False),
        ({"grid": {"C": [1.0, 2.0], "gamma": [0.1, 1.0]}}, False),
        ({"estimator": DecisionTreeRegressor(), "grid": TREES}, False),
        ({"estimator": DecisionTreeRegressor(), "grid": TREES, "use_paths": False}, True),
        ({"race": False}, False),
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", str(value)),
)
def test_which_searches_race_by_themselves(params, races):
    search = tree_search(**{"estimator": SVR(), "grid": KERNELS, "race": "auto", **params})
    assert ("left_in_round" in search.cv_results_) == races


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"race": "yes"}, "race must be 'auto', True, False or a number of standard errors above 0"),
        ({"race": 0.0}, "standard errors above 0, got 0.0"),
        ({"race": -1}, "standard errors above 0, got -1"),
        ({"race": np.nan}, "standard errors above 0, got nan"),
        ({"search": "coordinate"}, "take search='grid', or race=False"),
        ({"rule": "one_standard_error"}, "compares all candidates"),
        ({"deliver": "ensemble"}, "is made of all candidates: take race=False"),
    ],
    ids=str,
)
def test_what_does_not_go_with_a_race(params, message):
    with pytest.raises(ValueError, match=message):
        tree_search(**{"race": True, **params})


def test_race_compares_neither_all_rules_nor_families():
    half = [{"max_depth": [depth], "min_samples_leaf": range(1, 20)} for depth in (2, 3)]
    search = tree_search(grid=half)
    assert "one_standard_error" not in search.rules_
    with pytest.raises(AttributeError, match="set race=False"):
        _ = search.families_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(search.offers_) == ["model"]

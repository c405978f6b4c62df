"""Early stopping: what each view looks at, beside the whole grid cut by hand."""

from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import EarlyStopping, StabilitySearchCV, rules
from steadycv.candidates import Grid
from steadycv.paths.boosting import GradientBoostingPath

# On so few rows some final choices do much worse than what was tried.
pytestmark = pytest.mark.filterwarnings("ignore:The promise is")

X, Y = (array[:150] for array in load_diabetes(return_X_y=True))
CLASSES = tuple(array[:160] for array in load_breast_cancer(return_X_y=True))
STOPPED = EarlyStopping(90, step=5, patience=15)


def lightgbm(kind="Regressor", **params):
    module = pytest.importorskip("lightgbm")
    return getattr(module, f"LGBM{kind}")(n_jobs=1, verbose=-1, num_leaves=4, **params)


def xgboost(kind="Regressor", **params):
    return getattr(pytest.importorskip("xgboost"), f"XGB{kind}")(n_jobs=1, **params)


def whole(grid):
    """The grid with all numbers of rounds."""
    return {n: list(v) if isinstance(v, EarlyStopping) else v for n, v in grid.items()}


def end_of(errors, stopped):
    """How many numbers of rounds are looked at, one after the other."""
    best, at = np.inf, stopped[0]
    for position, (rounds, error) in enumerate(zip(stopped, errors, strict=True)):
        if error < best - 1e-12 * abs(best) or not position:
            best, at = error, rounds
        if rounds - at >= stopped.patience:
            return position + 1
    return len(stopped)


def assert_like_the_whole_grid_cut(estimator, grid, X=X, y=Y, **how):
    """Every view holds, in each series, what it would look at one by one, and chooses among that."""
    early = StabilitySearchCV(clone(estimator), grid, race=False, refit=False, **how).fit(X, y)
    full = StabilitySearchCV(clone(estimator), whole(grid), race=False, refit=False, **how).fit(X, y)
    assert early.cv_results_["params"] == full.cv_results_["params"]
    weights = np.union1d([0.0], early.weights_["weight"])
    deciding = weights if "stability_weights" in how else [0.0]
    stopped = next(value for value in grid.values() if isinstance(value, EarlyStopping))
    for view in (early.lattice_.final, *early.lattice_.views):
        error, instability = rules.error(full.ledger_, view), rules.instability(full.ledger_, view)
        values = {w: rules.regularized_error(error, instability, w) for w in weights.tolist()}
        held = np.zeros(len(error), dtype=bool)
        for series in Grid(grid).series:
            end = max(end_of(value[series.candidates], stopped) for value in map(values.get, deciding))
            held[series.candidates[:end]] = True
        np.testing.assert_array_equal(early.ledger_.left_from(view) == 0, held)
        np.testing.assert_array_equal(rules.error(early.ledger_, view)[held], error[held])
        key = "index" if view.split is None else f"split{view.split}_index"
        if key in early.weights_:
            chosen = early.weights_[key]
            expected = [
                int(np.flatnonzero(held)[rules.first_minimum(value[held])])
                for weight, value in values.items()
                if weight in early.weights_["weight"]
            ]
            assert chosen.tolist() == expected
    return early


@pytest.mark.parametrize(
    ("estimator", "grid", "how"),
    [
        (
            GradientBoostingRegressor(subsample=0.5, random_state=0),
            {"n_estimators": STOPPED, "max_depth": [1, 2]},
            {},
        ),
        (lightgbm, {"n_estimators": STOPPED, "learning_rate": [0.1, 0.5]}, {"scoring": "r2"}),
        (xgboost, {"learning_rate": [0.1, 0.5], "n_estimators": STOPPED}, {"loss": "absolute_error"}),
        (xgboost, {"n_estimators": STOPPED}, {"stability_weights": [0.0, 0.1, 10.0]}),
        (xgboost, {"n_estimators": STOPPED}, {"nested": False, "stability_weights": 0}),
        (xgboost, {"n_estimators": STOPPED}, {"cv": TimeSeriesSplit(5)}),
        (
            xgboost,
            {"n_estimators": STOPPED},
            {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)},
        ),
        (xgboost, {"n_estimators": STOPPED}, {"rule": "one_standard_error"}),
        (xgboost, {"n_estimators": EarlyStopping(20, step=5, patience=30)}, {"cv": 3}),
    ],
)
def test_views_look_as_far_as_they_would_one_by_one(estimator, grid, how):
    estimator = estimator() if callable(estimator) else estimator
    assert_like_the_whole_grid_cut(estimator, grid, **how)


def test_classes_in_a_pipeline():
    model = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_leaf_nodes=4))
    name = "histgradientboostingclassifier"
    grid = {f"{name}__max_iter": STOPPED, f"{name}__learning_rate": [0.2, 0.8]}
    early = assert_like_the_whole_grid_cut(model, grid, *CLASSES, scoring="roc_auc", cv=3)
    assert (early.ledger_.left > 0).any()


class Rounds(RegressorMixin, BaseEstimator):
    """Has a best number of rounds, and no path; counts its fits."""

    fits: ClassVar = []

    def __init__(self, best=40, n_rounds=1):
        self.best, self.n_rounds = best, n_rounds

    def fit(self, X, y):
        self.fits.append((len(X), self.n_rounds))
        self.shift_ = abs(self.n_rounds - self.best)
        return self

    def predict(self, X):
        return X[:, 0] + self.shift_


def test_no_more_is_fitted_than_it_takes():
    Rounds.fits.clear()
    X = np.arange(20.0)[:, np.newaxis]
    grid = {"n_rounds": EarlyStopping(1000, step=10, patience=20), "best": [40, 10]}
    with pytest.warns(UserWarning, match="each number of rounds takes a fit of its own"):
        search = StabilitySearchCV(Rounds(), grid, cv=4, refit=False, race=False).fit(X, X[:, 0])
    assert search.best_params_ == {"best": 40, "n_rounds": 40}
    looked_at = search.cv_results_["param_n_rounds"][search.ledger_.left[:, 0] == 0]
    assert sorted(looked_at) == [10, 10, 20, 20, 30, 30, 40, 50, 60]
    # Of each training set those; of the few that were looked at first up to twice as many.
    n_sets = search.lattice_.n_training_sets
    assert n_sets * 9 <= len(Rounds.fits) <= n_sets * 9 + 3 * 5
    assert max(n for _, n in Rounds.fits) == 80


def fitted(grid, estimator=None, **how):
    estimator = xgboost(subsample=0.7) if estimator is None else estimator
    return StabilitySearchCV(estimator, grid, refit=False, **how).fit(X, Y)


def assert_same(one, other):
    for name in ("error", "change"):
        np.testing.assert_array_equal(
            seen(one, name), seen(other, name), err_msg=f"{name} of what views look at"
        )
    np.testing.assert_array_equal(one.ledger_.left, other.ledger_.left)
    assert one.best_params_ == other.best_params_
    assert one.nested_error_ == other.nested_error_


def seen(search, name):
    """What views see of errors or changes; NaN elsewhere, where more may be known."""
    found = np.full_like(getattr(search.ledger_, name), np.nan)
    columns = {"error": "evaluations", "change": "comparisons"}[name]
    for view in (search.lattice_.final, *search.lattice_.views):
        held = np.flatnonzero(search.ledger_.left_from(view) == 0)
        at = np.ix_(held, getattr(view, columns))
        found[at] = getattr(search.ledger_, name)[at]
    return found


GRID = {"n_estimators": STOPPED, "learning_rate": [0.1, 0.3, 0.6]}


@pytest.mark.parametrize("race", [False, True])
def test_results_do_not_depend_on_cores(race):
    alone = fitted(GRID, race=race)
    with parallel_config("threading"):
        assert_same(fitted(GRID, race=race, n_jobs=2), alone)


@pytest.mark.parametrize("race", [False, True])
def test_results_do_not_depend_on_what_a_ledger_has(race, tmp_path):
    alone = fitted(GRID, race=race)
    patient = EarlyStopping(120, step=5, patience=40)
    for before in ({"n_estimators": STOPPED}, {**GRID, "n_estimators": patient}):
        fitted(before, race=race, ledger=tmp_path / "ledger")
    again = fitted(GRID, race=race, ledger=tmp_path / "ledger")
    assert again.n_fits_ <= alone.n_fits_
    assert_same(again, alone)
    assert fitted(GRID, race=race, ledger=tmp_path / "ledger").n_fits_ == 0


def test_a_committee_is_delivered():
    search = StabilitySearchCV(xgboost(), GRID, deliver="committee").fit(X, Y)
    assert search.delivered_.n_members == 5
    assert search.delivered_.params[0]["n_estimators"] in STOPPED


@pytest.fixture
def n_trained(monkeypatch):
    """How many rounds of scikit-learn's gradient boosting were trained, a number for each search."""
    numbers = []

    def longest(path, estimator, setting, rounds):
        numbers.append(rounds[-1])
        return clone(estimator).set_params(**setting, n_estimators=rounds[-1])

    monkeypatch.setattr(GradientBoostingPath, "_longest", longest)

    def since_last():
        total = sum(numbers)
        numbers.clear()
        return total

    return since_last


def test_race_drops_series_and_stops_the_others(n_trained):
    grid = {"n_estimators": STOPPED, "learning_rate": [0.001, 0.1, 0.3]}
    model = GradientBoostingRegressor(max_depth=1)
    full, n_full = fitted(whole(grid), model, race=False), n_trained()
    early, n_early = fitted(grid, model, race=False), n_trained()
    race, n_race = fitted(grid, model, race=True), n_trained()
    assert n_full == 16 * 3 * 90
    assert n_race < 0.8 * n_early < 0.8 * n_full
    slow = race.cv_results_["param_learning_rate"] == 0.001
    assert (race.ledger_.left[slow] > 0).all()
    assert not (early.ledger_.left[slow] > 0).all()
    assert early.best_params_ == full.best_params_
    assert race.cv_error_ < 1.02 * full.cv_error_


def test_a_long_series_is_looked_at_in_few_parts(n_trained):
    """No training set takes more than twice the rounds that views look at, but those looked at first."""
    grid = {"n_estimators": EarlyStopping(400, step=5, patience=10), "learning_rate": [0.1]}
    early = fitted(grid, GradientBoostingRegressor(max_depth=1), race=False)
    end = 5 * np.count_nonzero((early.ledger_.left == 0).any(axis=1))
    assert 50 < end < 200
    assert 16 * end / 2 < n_trained() < 2 * 16 * end


def test_is_a_list_of_numbers():
    assert list(STOPPED) == list(range(5, 91, 5))
    assert (len(STOPPED), STOPPED[-1], STOPPED[1:3]) == (18, 90, range(10, 20, 5))
    assert repr(STOPPED) == "EarlyStopping(most=90, step=5, patience=15)"
    theirs = GridSearchCV(xgboost(), {"n_estimators": EarlyStopping(20)}, cv=KFold(3)).fit(X, Y)
    assert theirs.cv_results_["param_n_estimators"].tolist() == [10, 20]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"most": 0}, "most of EarlyStopping must be a number of rounds, got 0"),
        ({"patience": 2.5}, "patience of EarlyStopping must be a number of rounds, got 2.5"),
        ({"step": True}, "step of EarlyStopping must be a number of rounds, got True"),
        ({"step": 60}, "step=60, most=2000 and patience=50"),
        ({"most": 5}, "step=10, most=5 and patience=50"),
    ],
)
def test_what_cannot_be(wrong, message):
    with pytest.raises(ValueError, match=message):
        EarlyStopping(**wrong)


def test_two_axes_are_not_stopped_together():
    with pytest.raises(ValueError, match="EarlyStopping for 'a' and 'b': one of them"):
        Grid({"a": STOPPED, "b": STOPPED})


def test_a_list_of_it_is_refused():
    with pytest.raises(TypeError, match="'n_estimators' has EarlyStopping in a list: pass it itself"):
        StabilitySearchCV(xgboost(), {"n_estimators": [STOPPED]}).fit(X, Y)


def test_other_strategies_are_refused():
    with pytest.raises(ValueError, match="EarlyStopping, which goes with the whole grid"):
        StabilitySearchCV(xgboost(), {"n_estimators": STOPPED}, search="coordinate").fit(X, Y)

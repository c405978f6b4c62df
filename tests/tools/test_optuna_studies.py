"""Studies of what a search found, as Optuna itself loads them."""

import sys
import warnings

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.pipeline import Pipeline
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityRandomizedSearchCV, StabilitySearchCV
from steadycv.tools import add_to_study

X, Y = load_diabetes(return_X_y=True)
GRID = {"max_depth": [1, 2, 3, None], "criterion": ["squared_error", "absolute_error"]}
ALPHAS = {"alpha": np.logspace(-3, 3, 7)}


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def of_kind(study, state):
    return study.get_trials(states=[getattr(optuna.trial.TrialState, state)])


def test_a_study_on_disk_is_loaded_with_all_that_the_search_found(tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    search = StabilitySearchCV(Ridge(), ALPHAS).fit(X, Y)
    add_to_study(search, optuna.create_study(storage=storage, study_name="ridge"))
    study = optuna.load_study(study_name="ridge", storage=storage)
    table = study.trials_dataframe()
    np.testing.assert_array_equal(table["value"], search.cv_results_["cv_error"])
    np.testing.assert_array_equal(table["params_alpha"], ALPHAS["alpha"])
    np.testing.assert_array_equal(table["user_attrs_instability"], search.cv_results_["instability"])
    assert set(table["state"]) == {"COMPLETE"}
    assert study.user_attrs["promise"] == search.promise_
    assert study.user_attrs["nested_error"] == search.nested_error_
    assert study.best_params == search.kfold_params_
    assert study.trials[study.user_attrs["steady_choice"]].params == search.best_params_
    chosen = table["user_attrs_chosen_without_a_split"]
    assert chosen.sum() == 5
    assert chosen.tolist() == np.bincount(search.rules_["steady"].view_candidates, minlength=7).tolist()


def test_errors_on_splits_are_intermediate_values():
    search = StabilitySearchCV(Ridge(), ALPHAS, cv=3, scoring="neg_mean_squared_error").fit(X, Y)
    for i, trial in enumerate(add_to_study(search).trials):
        errors = [-search.cv_results_[f"split{split}_test_score"][i] for split in range(3)]
        assert trial.intermediate_values == dict(enumerate(errors))


def test_a_score_is_maximized():
    search = StabilitySearchCV(Ridge(), ALPHAS, scoring="r2").fit(X, Y)
    study = add_to_study(search)
    assert study.direction == optuna.study.StudyDirection.MAXIMIZE
    assert study.best_value == search.cv_results_["mean_test_score"].max()
    other = add_to_study(search, optuna.create_study())  # minimizes
    assert other.best_value == -study.best_value


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        ({"alpha": [0.1, 1.0, 10.0]}, FloatDistribution(0.1, 10.0, log=True)),
        ({"alpha": [1, 2, 3.5]}, FloatDistribution(1.0, 3.5)),
        ({"alpha": [0.0, 1.0, 100.0]}, FloatDistribution(0.0, 100.0)),
        ({"max_iter": np.array([1000, 2000])}, IntDistribution(1000, 2000)),
        ({"max_iter": [10, 100, 1000]}, IntDistribution(10, 1000, log=True)),
        ({"max_iter": [1000]}, IntDistribution(1000, 1000)),
        ({"positive": [True, False]}, CategoricalDistribution([True, False])),
        ({"selection": ["cyclic", "random"]}, CategoricalDistribution(["cyclic", "random"])),
        ({"random_state": [None, 1]}, CategoricalDistribution([None, 1])),
    ],
)
@pytest.mark.filterwarnings("ignore")  # of a Lasso that does not converge
def test_distributions(space, expected):
    search = StabilitySearchCV(Lasso(), space, cv=3).fit(X, Y)
    trial = add_to_study(search).trials[0]
    assert trial.distributions == dict.fromkeys(space, expected)


def test_draws_are_of_the_distributions_that_they_look_like():
    space = {"C": loguniform(1e-2, 1e3), "epsilon": uniform(0, 1)}
    search = StabilityRandomizedSearchCV(SVR(), space, n_iter=20, random_state=0).fit(X[:60], Y[:60])
    found = add_to_study(search).trials[0].distributions
    assert (found["C"].log, found["epsilon"].log) == (True, False)


def test_estimators_are_known_by_their_text():
    grid = [{"model": [Ridge(), Lasso()]}, {"model": [SVR()], "model__C": [1, 2]}]
    search = StabilitySearchCV(Pipeline([("model", Ridge())]), grid, cv=3).fit(X[:60], Y[:60])
    trials = add_to_study(search).trials
    named = ["0: Ridge()", "1: Lasso()", "2: SVR()", "2: SVR()"]
    assert [trial.params["model"] for trial in trials] == named
    assert trials[3].params["model__C"] == 2


class Fails(RegressorMixin, BaseEstimator):
    def __init__(self, at=0):
        self.at = at

    def fit(self, X, y):
        if self.at == 2:
            raise ValueError("no")
        self.mean_ = y.mean() + self.at
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_failed_candidates_are_failed_trials():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = StabilitySearchCV(Fails(), {"at": [1, 2, 3]}).fit(X, Y)
    assert [trial.params["at"] for trial in of_kind(add_to_study(search), "FAIL")] == [2]


def test_who_left_a_race_was_pruned():
    search = StabilitySearchCV(SVR(), {"C": np.logspace(-3, 3, 12)}, race=True).fit(X[:80], Y[:80])
    study = add_to_study(search)
    n_left = np.isnan(search.cv_results_["cv_error"]).sum()
    assert len(of_kind(study, "PRUNED")) == n_left > 0
    assert len(study.trials) == 12


def test_what_was_not_looked_at_is_not_there():
    grid = {"max_depth": range(1, 8), "min_samples_leaf": range(1, 30, 3)}
    search = StabilitySearchCV(DecisionTreeRegressor(), grid, search="coordinate")
    study = add_to_study(search.fit(X, Y))
    known = np.flatnonzero(~np.isnan(search.cv_results_["cv_error"]))
    assert [trial.user_attrs["candidate"] for trial in study.trials] == known.tolist()
    assert len(known) < 70


def test_two_searches_in_one_study():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=3).fit(X, Y)
    study = add_to_study(search, add_to_study(search))
    assert len(study.trials) == 16
    assert study.user_attrs["steady_choice"] == 8 + search.best_index_


def test_optuna_goes_on_from_it():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, cv=3).fit(X, Y)
    study = add_to_study(search)
    trial = study.ask(study.trials[0].distributions)
    assert trial.number == 8
    assert set(trial.params) == set(GRID)


def test_two_objectives_are_refused():
    search = StabilitySearchCV(Ridge(), ALPHAS, cv=3).fit(X, Y)
    with pytest.raises(ValueError, match="one objective, and the study has 2"):
        add_to_study(search, optuna.create_study(directions=["minimize", "minimize"]))


def test_who_has_no_optuna_is_told_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'steadycv\[optuna\]'"):
        add_to_study(None)

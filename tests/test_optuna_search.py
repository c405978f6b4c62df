"""Optuna proposes, the views choose, and what a view must not know it does not."""

import pickle
import sys

import numpy as np
import optuna
import pytest
from joblib import parallel_config
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.stats import binom, loguniform, norm, randint, uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import OptunaSearch, StabilityRandomizedSearchCV, StabilitySearchCV, write_report
from steadycv.optuna_search import suggesting

X, Y = make_regression(60, 5, noise=20, random_state=0)
SPACE = {"max_depth": range(1, 9), "min_samples_leaf": randint(1, 12), "max_features": uniform(0.2, 0.8)}
MODES = pytest.mark.parametrize("per_view", [False, True], ids=["one study", "a study a view"])


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def optuna_search(estimator=None, space=SPACE, *, proposals=None, **how):
    estimator = DecisionTreeRegressor() if estimator is None else estimator
    return StabilitySearchCV(estimator, space, search=proposals or OptunaSearch(15), **how)


def test_proposals_are_those_of_a_study_that_is_told_cross_validation_errors():
    search = optuna_search(proposals=OptunaSearch(25, batch_size=5, per_view=False)).fit(X, Y)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    proposed = []
    for _ in range(5):
        trials = []
        for _ in range(5):
            trial = study.ask()
            params = {
                "max_depth": trial.suggest_int("max_depth", 1, 8),
                "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, 11),
                "max_features": trial.suggest_float("max_features", 0.2, 1.0),
            }
            trials.append(trial)
            proposed.append(params)
        for trial, params in zip(trials, proposed[-5:], strict=True):
            tree = DecisionTreeRegressor(**params, random_state=0)
            study.tell(trial, -cross_val_score(tree, X, Y, scoring="neg_mean_squared_error").mean())
    assert search.cv_results_["params"] == proposed
    np.testing.assert_allclose(search.cv_results_["cv_error"], [t.value for t in study.trials])


def test_with_one_study_all_views_choose_among_all_that_was_proposed():
    search = optuna_search(proposals=OptunaSearch(15, per_view=False)).fit(X, Y)
    proposed = [{name: [value] for name, value in each.items()} for each in search.cv_results_["params"]]
    whole = StabilitySearchCV(DecisionTreeRegressor(), proposed).fit(X, Y)
    assert search.best_params_ == whole.best_params_
    assert (search.promise_, search.nested_error_) == (whole.promise_, whole.nested_error_)
    np.testing.assert_array_equal(search.ledger_.error, whole.ledger_.error)
    assert search.rules_.keys() == whole.rules_.keys()


def choices_of_views(search):
    return [
        [search.cv_results_["params"][c] for c in search.weights_[f"split{view.split}_index"]]
        for view in search.lattice_.views
    ]


@MODES
def test_what_a_view_knows(per_view):
    """Other targets in a fold change nothing of what is chosen without it, if proposals are its own."""
    folds = KFold(3)
    proposals = OptunaSearch(25, per_view=per_view)
    before = choices_of_views(optuna_search(proposals=proposals, cv=folds).fit(X, Y))
    is_same = []
    for number, (_, test) in enumerate(folds.split(X)):
        other = Y.copy()
        other[test] = np.random.default_rng(0).permutation(other[test]) * 3
        after = choices_of_views(optuna_search(proposals=proposals, cv=folds).fit(X, other))
        is_same.append(after[number] == before[number])
    assert all(is_same) == per_view


@MODES
@pytest.mark.parametrize("rule", ["steady", "paper", "plain", "one_standard_error"])
def test_rules_choose_among_what_was_proposed_to_the_view(per_view, rule):
    search = optuna_search(proposals=OptunaSearch(15, per_view=per_view), rule=rule).fit(X, Y)
    looked_at = np.isfinite(search.cv_results_["cv_error"])
    assert looked_at.sum() == 15
    assert (len(looked_at) > 15) == per_view
    assert search.rules_[rule].candidate == search.best_index_
    for view in search.lattice_.views:
        held = search.ledger_.left_from(view) == 0
        assert held.sum() == 15
        assert held[search.weights_[f"split{view.split}_index"]].all()


@MODES
def test_cores_make_no_difference(per_view):
    proposals = OptunaSearch(15, per_view=per_view)
    one = optuna_search(proposals=proposals).fit(X, Y)
    with parallel_config("threading"):
        two = optuna_search(proposals=proposals, n_jobs=2).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    assert one.promise_ == two.promise_
    np.testing.assert_array_equal(one.ledger_.error, two.ledger_.error)


@MODES
def test_a_file_goes_on_with_what_was_proposed(per_view, tmp_path):
    how = {"ledger": tmp_path / "ledger"}
    optuna_search(proposals=OptunaSearch(10, per_view=per_view), **how).fit(X, Y)  # and was stopped
    whole = optuna_search(proposals=OptunaSearch(15, per_view=per_view))
    goes_on = clone(whole).set_params(**how).fit(X, Y)
    assert goes_on.n_fits_ < whole.fit(X, Y).n_fits_
    assert goes_on.promise_ == whole.promise_
    assert goes_on.cv_results_["params"] == whole.cv_results_["params"]
    assert clone(whole).set_params(**how).fit(X, Y).n_fits_ == 0


@pytest.mark.parametrize("deliver", ["committee", "ensemble", "student"])
def test_deliveries(deliver):
    search = optuna_search(proposals=OptunaSearch(15, per_view=False), deliver=deliver)
    assert search.fit(X, Y).predict(X).shape == Y.shape
    with pytest.raises(ValueError, match=r"take OptunaSearch\(..., per_view=False\)"):
        optuna_search(deliver=deliver).fit(X, Y)


@MODES
def test_offers_are_made_of_what_all_views_know(per_view):
    search = optuna_search(proposals=OptunaSearch(15, per_view=per_view)).fit(X, Y)
    assert ("committee" in search.offers_) != per_view


def test_without_nesting_there_is_one_study():
    how = {"nested": False, "stability_weights": 0.0}
    found = [
        optuna_search(proposals=OptunaSearch(15, per_view=each), **how).fit(X, Y) for each in (0, 1)
    ]
    assert found[0].promise_ == found[1].promise_
    assert found[0].n_fits_ == found[1].n_fits_ == 5 * 15


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_study_shows_the_search(direction):
    data = make_classification(random_state=0)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0), direction=direction)
    space = {"C": loguniform(1e-3, 1e3)}
    search = optuna_search(
        LogisticRegression(),
        space,
        proposals=OptunaSearch(12, study=study, per_view=False),
        scoring="roc_auc",
    ).fit(*data)
    sign = 1 if direction == "maximize" else -1
    results = search.cv_results_
    np.testing.assert_allclose(sign * results["mean_test_score"], [t.value for t in study.trials])
    first = study.trials[0]
    assert first.params == results["params"][0]
    assert first.user_attrs == {"candidate": 0, "instability": results["instability"][0]}
    assert first.intermediate_values == pytest.approx(
        {i: sign * results[f"split{i}_test_score"][0] for i in range(5)}
    )
    with pytest.raises(ValueError, match="The study has 12 trials already"):
        search.fit(*data)


@MODES
def test_trials_that_wait_are_looked_at_first(per_view):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.enqueue_trial({"max_depth": 7, "min_samples_leaf": 3, "max_features": 0.5})
    search = optuna_search(proposals=OptunaSearch(12, study=study, per_view=per_view)).fit(X, Y)
    asked = {"max_depth": 7, "min_samples_leaf": 3, "max_features": 0.5}
    assert search.cv_results_["params"][0] == asked
    assert (search.ledger_.left[0] == 0).all()
    assert len(study.trials) == 12


def test_a_sampler_is_used_as_it_came():
    proposals = OptunaSearch(12, optuna.samplers.RandomSampler(seed=3))
    first, again = (optuna_search(proposals=proposals).fit(X, Y).cv_results_["params"] for _ in "ab")
    assert first == again
    assert first != optuna_search(proposals=OptunaSearch(12)).fit(X, Y).cv_results_["params"]


def test_clones_and_copies():
    search = clone(optuna_search(proposals=OptunaSearch(12, study=optuna.create_study()))).fit(X, Y)
    assert pickle.loads(pickle.dumps(search)).best_params_ == search.best_params_


def proposed(space, n=40):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    suggest = suggesting(space)
    return [suggest(study.ask()) for _ in range(n)]


@pytest.mark.parametrize(
    ("values", "kind", "low", "high"),
    [
        (uniform(2, 3), float, 2, 5),
        (loguniform(1e-3, 1e3), float, 1e-3, 1e3),
        (norm(0, 1), float, -4, 4),
        (randint(3, 6), int, 3, 5),
        (binom(10, 0.5), int, 0, 10),
        (range(9, 0, -2), int, 1, 9),
        (np.arange(3), np.integer, 0, 2),
        ([1, 2.5], (int, float), 1, 2.5),
        (FloatDistribution(1, 2, step=0.5), float, 1, 2),
        (IntDistribution(1, 64, log=True), int, 1, 64),
        (CategoricalDistribution([4, 5]), int, 4, 5),
    ],
)
def test_values_that_are_proposed(values, kind, low, high):
    found = [each["a"] for each in proposed({"a": values})]
    assert all(isinstance(value, kind) and low <= value <= high for value in found)
    assert len(set(found)) > 1
    if isinstance(values, range):
        assert set(found) == set(values)


def test_any_objects_can_be_proposed():
    values = [StandardScaler(), MinMaxScaler(), "passthrough"]
    found = [each["scaler"] for each in proposed({"scaler": values})]
    assert {id(each) for each in found} == {id(each) for each in values}
    assert {each["a"] for each in proposed({"a": [True, 1.0]})} == {True}  # and 1.0, which is equal


def test_of_a_list_of_spaces_each_is_proposed_from():
    spaces = [{"alpha": loguniform(1e-3, 1e3)}, {"positive": [True], "alpha": [1.0, 2.0]}]
    assert {tuple(each) for each in proposed(spaces)} == {("alpha",), ("positive", "alpha")}
    search = optuna_search(Ridge(), spaces).fit(X, Y)
    assert search.best_params_["alpha"] > 0


def test_a_function_says_what_depends_on_what():
    ridge, tree = Ridge(), DecisionTreeRegressor()

    def space(trial):
        if trial.suggest_categorical("model", ["ridge", "tree"]) == "ridge":
            return {"model": ridge, "model__alpha": trial.suggest_float("alpha", 0.1, 10)}
        return {"model": tree, "model__max_depth": trial.suggest_int("max_depth", 1, 5)}

    search = optuna_search(Pipeline([("model", ridge)]), space).fit(X, Y)
    assert {len(each) for each in search.cv_results_["params"]} == {2}
    assert isinstance(search.best_params_["model"], Ridge)


class Fails(RegressorMixin, BaseEstimator):
    """Fails for most of its settings."""

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y):
        if self.a > 0.3:
            raise ValueError("too large")
        self.mean_ = y.mean() + self.a
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


@MODES
def test_what_fails_is_told_as_failed(per_view):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    proposals = OptunaSearch(20, study=study, per_view=per_view)
    with pytest.warns(FitFailedWarning, match="too large"):
        search = optuna_search(Fails(), {"a": uniform(0, 1)}, proposals=proposals).fit(X, Y)
    states = {trial.params["a"] > 0.3: trial.state.name for trial in study.trials}
    assert states == {True: "FAIL", False: "COMPLETE"}
    assert search.best_params_["a"] <= 0.3


@MODES
def test_report_says_where_candidates_come_from(per_view, tmp_path):
    search = optuna_search(proposals=OptunaSearch(15, per_view=per_view)).fit(X, Y)
    write_report(search, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text("utf-8")
    assert f"{len(search.ledger_)} were proposed while the search ran" in text
    assert ("of which the search looked at 15" in text) == per_view
    assert "left in round" not in text


@pytest.mark.parametrize(
    ("estimator", "space", "how", "error", "message"),
    [
        (Ridge(), {"alfa": uniform(0, 1)}, {}, ValueError, "Invalid parameter 'alfa'"),
        (Ridge(), [{"alpha": [1.0]}, {"alfa": [1.0]}], {}, ValueError, "Invalid parameter 'alfa'"),
        (Ridge(), lambda trial: {"alfa": 1.0}, {}, ValueError, "Invalid parameter 'alfa'"),
        (
            Ridge(),
            lambda trial: 1.0,
            {},
            TypeError,
            "a dict of parameters, and <lambda> returned",
        ),
        (Ridge(), {"alpha": 1.0}, {}, TypeError, "'alpha' is 1.0"),
        (Ridge(), {"alpha": []}, {}, TypeError, r"'alpha' is \[\]"),
        (Ridge(), {1: [1.0]}, {}, TypeError, "must have names of parameters as keys"),
        (Ridge(), [], {}, ValueError, "param_grid has no candidates"),
        (Ridge(), {"alpha": [1.0]}, {"race": True}, ValueError, "look at the whole grid"),
    ],
)
def test_spaces_that_cannot_be(estimator, space, how, error, message):
    with pytest.raises(error, match=message):
        optuna_search(estimator, space, **how).fit(X, Y)


@pytest.mark.parametrize(
    ("proposals", "message"),
    [
        (OptunaSearch(0), "n_trials of OptunaSearch must be a number from 1 on, got 0"),
        (OptunaSearch(batch_size=2.5), "batch_size of OptunaSearch must be .* got 2.5"),
    ],
)
def test_proposals_that_cannot_be(proposals, message):
    with pytest.raises(ValueError, match=message):
        optuna_search(proposals=proposals).fit(X, Y)


def test_a_study_of_two_objectives_is_refused():
    study = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(ValueError, match="one objective, and the study has 2"):
        optuna_search(proposals=OptunaSearch(study=study)).fit(X, Y)


def test_who_has_no_optuna_is_told_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'steadycv\[optuna\]'"):
        optuna_search().fit(X, Y)


def test_a_random_search_is_no_place_for_it():
    with pytest.raises(TypeError, match="unexpected keyword argument 'search'"):
        StabilityRandomizedSearchCV(Ridge(), {"alpha": [1.0]}, search=OptunaSearch())

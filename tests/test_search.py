"""The random search: RandomizedSearchCV's candidates, and everything that the search of a grid has."""

import inspect
import pickle
import re

import numpy as np
import optuna
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityDisplay, StabilityRandomizedSearchCV, StabilitySearchCV, write_report

X, Y = make_regression(60, 5, noise=20, random_state=0)
TREE = {"max_depth": range(1, 9), "min_samples_leaf": randint(1, 12), "max_features": uniform(0.2, 0.8)}


def random_search(estimator=None, space=None, **how):
    estimator = DecisionTreeRegressor() if estimator is None else estimator
    return StabilityRandomizedSearchCV(
        estimator, TREE if space is None else space, random_state=0, **how
    )


def test_candidates_and_scores_are_those_of_randomized_search():
    search = random_search(LogisticRegression(), {"C": loguniform(1e-3, 1e3)}, scoring="roc_auc")
    ours = search.fit(*make_classification(random_state=0)).cv_results_
    theirs = RandomizedSearchCV(
        LogisticRegression(), {"C": loguniform(1e-3, 1e3)}, random_state=0, scoring="roc_auc"
    )
    theirs = theirs.fit(*make_classification(random_state=0)).cv_results_
    assert ours["params"] == theirs["params"]
    np.testing.assert_allclose(ours["mean_test_score"], theirs["mean_test_score"])


def test_it_is_the_search_of_the_list_that_was_drawn():
    search = random_search(n_iter=15).fit(X, Y)
    drawn = [{name: [value] for name, value in each.items()} for each in search.cv_results_["params"]]
    whole = StabilitySearchCV(DecisionTreeRegressor(), drawn).fit(X, Y)
    assert search.best_params_ == whole.best_params_
    assert (search.promise_, search.nested_error_) == (whole.promise_, whole.nested_error_)
    np.testing.assert_array_equal(search.ledger_.error, whole.ledger_.error)
    assert search.rules_.keys() == whole.rules_.keys()


@pytest.mark.parametrize("how", [{"sampler": "latin"}, {"line_length": 3, "sampler": "sobol"}])
def test_cores_make_no_difference(how):
    one = random_search(**how).fit(X, Y)
    with parallel_config("threading"):
        two = random_search(n_jobs=2, **how).fit(X, Y)
    assert one.cv_results_["params"] == two.cv_results_["params"]
    np.testing.assert_array_equal(one.ledger_.error, two.ledger_.error)
    np.testing.assert_array_equal(one.ledger_.change, two.ledger_.change)


def test_a_file_keeps_what_was_drawn(tmp_path):
    first = random_search(ledger=tmp_path / "ledger", n_iter=6).fit(X, Y)
    again = random_search(ledger=tmp_path / "ledger", n_iter=6).fit(X, Y)
    assert (again.n_fits_, again.promise_) == (0, first.promise_)
    # A larger one, whose first draws are the same, fits the others alone.
    larger = random_search(ledger=tmp_path / "ledger", n_iter=9).fit(X, Y)
    assert larger.n_fits_ == 16 * 3
    np.testing.assert_array_equal(larger.ledger_.error, random_search(n_iter=9).fit(X, Y).ledger_.error)


@pytest.mark.filterwarnings("ignore:The promise is")  # a race may bring somebody else home
def test_many_candidates_with_fits_of_their_own_race():
    search = random_search(n_iter=25, use_paths=False).fit(X, Y)
    assert search.cv_results_["left_in_round"].any()
    assert search.n_fits_ < 16 * 25


@pytest.mark.parametrize("rule", ["paper", "plain", "one_standard_error"])
@pytest.mark.parametrize("deliver", ["model", "committee"])
def test_rules_and_deliveries(rule, deliver):
    search = random_search(rule=rule, deliver=deliver, n_iter=5).fit(X, Y)
    assert search.predict(X).shape == Y.shape
    assert search.rules_[rule].candidate == search.best_index_


@pytest.mark.parametrize("make", [sparse.csr_matrix, pd.DataFrame])
def test_data_of_other_kinds(make):
    search = random_search(Ridge(), {"alpha": loguniform(1e-2, 1e2)}, n_iter=4).fit(make(X), Y)
    np.testing.assert_allclose(
        search.cv_error_,
        random_search(Ridge(), {"alpha": loguniform(1e-2, 1e2)}, n_iter=4).fit(X, Y).cv_error_,
        rtol=1e-6,
    )


def test_clones_and_copies():
    search = clone(random_search(sampler="sobol")).fit(X, Y)
    same = pickle.loads(pickle.dumps(search))
    assert same.best_params_ == search.best_params_
    assert same.get_params()["sampler"] == "sobol"


def test_a_list_of_spaces_has_no_grids_to_compare():
    spaces = [{"alpha": loguniform(1e-2, 1e2)}, {"alpha": [1.0], "positive": [True, False]}]
    search = random_search(Ridge(), spaces, n_iter=8).fit(X, Y)
    assert {len(each) for each in search.cv_results_["params"]} == {1, 2}
    with pytest.raises(AttributeError, match="families_ compares the grids"):
        search.families_  # noqa: B018


def test_pictures_and_report(tmp_path):
    search = random_search(n_iter=5).fit(X, Y)
    assert StabilityDisplay.from_search(search).ax_ is not None
    with pytest.raises(ValueError, match="no grid was searched"):
        StabilityDisplay.from_search(search, kind="grid")
    write_report(search, tmp_path / "report.html")
    assert "drawn at random" in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("estimator", "space", "n_fits"),
    [
        (DecisionTreeRegressor(), {"max_depth": range(1, 7), "min_samples_leaf": range(1, 5)}, 4),
        (GradientBoostingRegressor(), {"n_estimators": range(1, 7), "max_depth": range(1, 5)}, 4),
        (Ridge(), {"alpha": loguniform(1e-2, 1e2), "fit_intercept": [True, False]}, 2),
        (
            make_pipeline(StandardScaler(), Ridge()),
            {"ridge__alpha": uniform(0, 1), "standardscaler__with_mean": [True, False]},
            1,  # a group of a pipeline counts once
        ),
    ],
    ids=["tree", "boosting", "ridge", "pipeline"],
)
def test_a_line_has_the_price_of_a_candidate(estimator, space, n_fits):
    search = random_search(estimator, space, n_iter=4, line_length=6).fit(X, Y)
    n_lines = min(4, max(n_fits, 2))
    assert len(search.cv_results_["params"]) == 6 * n_lines
    assert search.n_fits_ == 16 * n_fits


@pytest.mark.parametrize(
    ("estimator", "space", "how", "message"),
    [
        (SVR(), {"C": uniform(0, 1)}, {"line_length": 3}, "one fit of SVR, and it has none"),
        (
            RandomForestRegressor(),
            {"max_leaf_nodes": [3, 4]},
            {"line_length": 3},
            "those are .*'n_estimators'.* which has 'max_leaf_nodes'. Leave line_length out",
        ),
        (Ridge(), {"alpha": [1, 2]}, {"line_length": 3, "use_paths": False}, "set use_paths=True"),
        (Ridge(), {"alpha": [1, 2]}, {"line_length": 0}, "The 'line_length' parameter"),
        (
            Ridge(),
            {"alpha": [1, 2]},
            {"sampler": "halton"},
            "sampler must be 'random', 'sobol', 'lat",
        ),
        (Ridge(), {"alfa": [1, 2]}, {"n_iter": 2}, "Invalid parameter 'alfa'"),
        (Ridge(), {"alpha": []}, {}, "alpha"),
        (Ridge(), [], {}, "param_distributions has no candidates"),
    ],
)
def test_what_cannot_be_drawn(estimator, space, how, message):
    with pytest.raises(ValueError, match=message):
        random_search(estimator, space, **how).fit(X, Y)


def test_distributions_say_where_they_go():
    lognormal = optuna.distributions.FloatDistribution(1e-2, 1e2, log=True)
    with pytest.raises(TypeError, match=r"'alpha' is FloatDistribution of Optuna: .*OptunaSearch\("):
        random_search(Ridge(), {"alpha": lognormal}).fit(X, Y)
    for values, name in [(loguniform(1e-2, 1e2), "loguniform"), (lognormal, "FloatDistribution")]:
        with pytest.raises(TypeError, match=f"'alpha' is a distribution, {name}. Stability.*Optuna"):
            StabilitySearchCV(Ridge(), {"alpha": values}).fit(X, Y)
    with pytest.raises(TypeError, match=r"A function of a trial \(dict\) goes with search=Optuna"):
        StabilitySearchCV(Ridge(), dict).fit(X, Y)
    with pytest.raises(TypeError, match="param_distributions must have names of parameters as keys"):
        random_search(Ridge(), {1: [2]}).fit(X, Y)


@pytest.mark.parametrize("search", [StabilitySearchCV, StabilityRandomizedSearchCV])
def test_docstrings_have_all_parameters_once_and_in_order(search):
    text = inspect.getdoc(search)
    parameters = text[text.index("Parameters\n---") : text.index("Attributes\n---")]
    assert re.findall(r"^(\w+) :", parameters, re.MULTILINE) == list(
        inspect.signature(search).parameters
    )
    for section in ("Attributes", "See Also", "Notes", "Examples"):
        assert text.count(f"\n{section}\n---") == 1

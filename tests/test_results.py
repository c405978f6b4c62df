"""Results: the tables that a fitted search has, read off its ledger."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV, rules
from steadycv.lattice import Lattice
from steadycv.ledger import Ledger
from steadycv.results import NestedScore, nested_scores, weights_table, why_no_choice
from steadycv.selection import Choices

X = np.random.default_rng(0).normal(size=(30, 2))
Y = X[:, 0] + np.random.default_rng(1).normal(size=30)
GRID = {"alpha": [0.1, 10.0, 100.0]}


@pytest.fixture(scope="module")
def search():
    return StabilitySearchCV(
        *(Ridge(), GRID),
        cv=3,
        rule="paper",
        scoring=["r2", "neg_mean_squared_error"],
        refit="neg_mean_squared_error",
    ).fit(X, Y)


def test_columns_are_read_off_the_ledger(search):
    ledger, results = search.ledger_, search.cv_results_
    assert_array_equal(results["split1_test_r2"], ledger.test_scores["r2"][:, 1])
    assert_array_equal(results["cv_error"], rules.error(ledger, search.lattice_.final))
    assert_array_equal(results["instability"], rules.instability(ledger, search.lattice_.final))
    assert_allclose(results["mean_test_neg_mean_squared_error"], -results["cv_error"])
    weighted = results["cv_error"] + search.stability_weight_ * results["instability"]
    assert_array_equal(results["regularized_error"], weighted)
    assert results["rank_regularized_error"][search.best_index_] == 1


def test_tables_cannot_be_written(search):
    with pytest.raises(ValueError, match="read-only"):
        search.ledger_.error[0] = 0


def test_weights_table(search):
    table, views = search.weights_, search.lattice_.views
    assert len(table["weight"]) == 11
    for view in views:
        chosen = table[f"split{view.split}_index"]
        assert_array_equal(table[f"split{view.split}_error"], search.ledger_.error[chosen, view.judged])
    assert_allclose(table["mean_error"], np.mean([table[f"split{t}_error"] for t in range(3)], axis=0))
    at = rules.first_minimum(table["mean_error"])
    assert search.stability_weight_ == table["weight"][at]
    assert search.nested_error_ == table["mean_error"][at]
    assert search.best_index_ == table["index"][at]
    assert search.kfold_index_ == table["index"][0]


def fastest(ledger, view):
    return int(ledger.error[:, view.evaluations].min(axis=1).argmin())


NAMED = ["paper", "steady", "plain", "one_standard_error"]


@pytest.mark.parametrize("taken", ["steady", "plain", "one_standard_error", fastest])
def test_every_search_compares_all_rules(taken):
    search = StabilitySearchCV(Ridge(), GRID, cv=4, rule=taken).fit(X, Y)
    assert list(search.rules_) == (NAMED if taken in NAMED else [*NAMED, taken])
    for rule, found in search.rules_.items():
        alone = StabilitySearchCV(Ridge(), GRID, cv=4, rule=rule).fit(X, Y)
        assert_array_equal(found.weight, alone.stability_weight_)
        assert found.params == alone.best_params_
        assert (found.candidate, found.cv_error) == (alone.best_index_, alone.cv_error_)
        assert found.nested_error == alone.nested_error_ == found.view_errors.mean()


@pytest.mark.parametrize("weights", [2.0, [0.5, 2.0]])
def test_rules_choose_among_the_weights_that_were_given(weights):
    search = StabilitySearchCV(Ridge(), GRID, cv=4, stability_weights=weights).fit(X, Y)
    plain = StabilitySearchCV(Ridge(), GRID, cv=4, stability_weights=0).fit(X, Y)
    assert {search.rules_[rule].weight for rule in ("paper", "steady")} <= set(np.ravel(weights))
    assert search.rules_["plain"].candidate == plain.best_index_ == search.kfold_index_
    assert search.rules_["plain"].nested_error == plain.nested_error_


def test_adaptive_search_compares_what_it_knows():
    def adaptive(**how):
        return StabilitySearchCV(Ridge(), GRID, cv=4, search="coordinate", **how).fit(X, Y).rules_

    assert list(adaptive()) == ["paper", "steady", "plain"]
    assert list(adaptive(rule="plain")) == ["plain"]
    assert adaptive()["plain"].nested_error == adaptive(rule="plain")["plain"].nested_error
    fixed = adaptive(stability_weights=2.0)
    assert fixed["plain"].candidate == adaptive()["plain"].candidate
    assert np.isnan(fixed["plain"].nested_error)  # the views were not asked for weight 0


def test_rules_without_nesting():
    how = {"cv": 4, "nested": False, "use_paths": False}
    plain = StabilitySearchCV(Ridge(), GRID, rule="plain", **how).fit(X, Y)
    steadiest = StabilitySearchCV(Ridge(), GRID, rule="one_standard_error", **how).fit(X, Y)
    assert (plain.n_fits_, steadiest.n_fits_) == (4 * 3, 5 * 3)
    assert steadiest.best_index_ == rules.one_standard_error(steadiest.ledger_, plain.lattice_.final)
    with pytest.raises(AttributeError, match="nothing to compare rules by with nested=False"):
        plain.rules_  # noqa: B018


def test_rule_without_a_weight_ranks_by_cv_error():
    search = StabilitySearchCV(Ridge(), GRID, cv=4, rule="one_standard_error").fit(X, Y)
    assert np.isnan(search.stability_weight_)
    assert_array_equal(search.cv_results_["regularized_error"], search.cv_results_["cv_error"])
    assert search.weights_["weight"].tolist() == [0]
    assert search.weights_["index"].tolist() == [search.kfold_index_]


def test_rule_that_chooses_what_failed():
    def worst(ledger, view):
        return int(rules.error(ledger, view).argmax())

    search = StabilitySearchCV(Ridge(), {"alpha": [1.0, -1.0]}, cv=3, rule=worst)
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match="none to choose"):
        search.fit(X, Y)


def test_nested_scores_are_those_of_the_choices(search):
    at = list(search.weights_["weight"]).index(search.stability_weight_)
    for name, nested in search.nested_scores_.items():
        scorer = get_scorer(name)
        by_hand = []
        for t, (train, test) in enumerate(KFold(3).split(X)):
            alpha = GRID["alpha"][search.weights_[f"split{t}_index"][at]]
            by_hand.append(scorer(Ridge(alpha=alpha).fit(X[train], Y[train]), X[test], Y[test]))
        assert nested.steady == pytest.approx(np.mean(by_hand))


def test_nested_predictions_are_those_of_the_choices(search):
    at = list(search.weights_["weight"]).index(search.stability_weight_)
    for t, (train, test) in enumerate(KFold(3).split(X)):
        alpha = GRID["alpha"][search.weights_[f"split{t}_index"][at]]
        expected = Ridge(alpha=alpha).fit(X[train], Y[train]).predict(X[test])
        assert_allclose(search.nested_predictions_[test], expected)


def test_views_without_a_choice():
    lattice = Lattice(KFold(3).split(range(6)), 6)
    ledger = Ledger(lattice, 2)
    ledger.error[:], ledger.test_scores["auc"] = 1.0, np.array([[0.5, 0.6, 0.7], [0.8, 0.9, 1.0]])
    chosen = np.array([1, 0, -1])
    choices = Choices({0.0: 1}, {0.0: chosen}, np.ones(2, dtype=bool))
    assert weights_table(ledger, [0.0], choices)["mean_error"].tolist() == [np.inf]
    scores = nested_scores(ledger, np.array([1, 0, 0]), None)
    assert scores == {
        "auc": NestedScore(pytest.approx((0.8 + 0.6 + 0.7) / 3), pytest.approx(np.nan, nan_ok=True))
    }
    assert np.isnan(nested_scores(ledger, chosen, chosen)["auc"].plain)


def test_splits_keep_their_numbers_where_some_are_left_out():
    weight = np.ones(30)
    weight[:10] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = StabilitySearchCV(Ridge(), GRID, cv=KFold(6), scoring="r2").fit(
            X, Y, sample_weight=weight
        )
    results = search.cv_results_
    names = [name for name in results if name.startswith("split")]
    assert set(names) == {f"split{t}_test_score" for t in range(6)}
    assert [np.isnan(results[f"split{t}_test_score"]).all() for t in range(6)] == [True] * 2 + [
        False
    ] * 4
    expected = np.mean([results[f"split{t}_test_score"] for t in range(2, 6)], axis=0)
    assert_allclose(results["mean_test_score"], expected)
    assert search.n_splits_ == 6


def r2_but(value):
    """A score that is another for one of the candidates, or fails there."""

    def score(model, X, y):
        if model.alpha == 10.0 and value is None:
            raise ValueError("not this one")
        return value if model.alpha == 10.0 else model.score(X, y)

    return score


def both_tables(scoring, refit, error_score):
    how = {"cv": 3, "scoring": scoring, "refit": refit, "error_score": error_score}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = GridSearchCV(Ridge(), GRID, **how).fit(X, Y)
        return theirs, StabilitySearchCV(Ridge(), GRID, **how, stability_weights=0).fit(X, Y)


@pytest.mark.parametrize("error_score", [np.nan, 0.0, 9.0, "raise"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_score_that_is_no_number_stays_and_is_never_chosen(value, error_score):
    theirs, ours = both_tables(r2_but(value), True, error_score)
    expected = theirs.cv_results_["mean_test_score"]
    assert_allclose(ours.cv_results_["mean_test_score"], expected)
    assert ours.best_index_ == np.argmax(np.where(np.isfinite(expected), expected, -np.inf))


@pytest.mark.parametrize("refit", ["a", "b"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None])
def test_score_that_fails_leaves_the_others(value, refit):
    scoring = {"a": "neg_median_absolute_error", "b": r2_but(value)}
    theirs, ours = both_tables(scoring, refit, -7.0)
    for name in scoring:
        table = ours.cv_results_[f"mean_test_{name}"]
        assert_allclose(table, theirs.cv_results_[f"mean_test_{name}"])
    assert np.isfinite(ours.nested_scores_["a"].steady)


def test_failed_fit_fills_scores_that_nobody_heard_of():
    def several(model, X, y):
        return {"a": model.score(X, y), "b": 1.0}

    search = StabilitySearchCV(
        Ridge(), {"alpha": [-1.0, 1.0]}, cv=3, scoring=several, refit="a", error_score=-7.0
    )
    with pytest.warns(FitFailedWarning):
        search.fit(X, Y)
    assert search.cv_results_["mean_test_a"][0] == -7
    assert search.cv_results_["mean_test_b"].tolist() == [-7, 1]


def test_why_there_is_no_choice():
    ledger = Ledger(Lattice(KFold(3).split(range(6)), 6), 2)
    ledger.error[:] = 1.0
    assert "split" not in why_no_choice(ledger)
    ledger.error[:, 0] = -np.inf
    ledger.error[:, 2] = [np.inf, np.nan]
    ledger.error[0, 1] = np.inf
    assert "On the test rows of split 0, 2 no candidate has a score" in why_no_choice(ledger)
    assert "stratified, shuffled or larger test sets" in why_no_choice(ledger)


def of_trees(X):
    grid = [{"max_depth": [1, 2], "max_features": [2, "sqrt"]}, {"min_samples_leaf": [1, 3]}]
    return StabilitySearchCV(DecisionTreeRegressor(random_state=0), grid, cv=3).fit(X, Y)


def test_results_as_a_data_frame():
    pandas = pytest.importorskip("pandas")
    search = of_trees(X)
    expected = pandas.DataFrame(search.cv_results_).drop(columns="params")
    pandas.testing.assert_frame_equal(search.frame(), expected)


def test_polars_in_polars_out():
    polars = pytest.importorskip("polars")
    search = of_trees(polars.DataFrame(X, schema=["a", "b"]))
    frame = search.frame()
    assert isinstance(frame, polars.DataFrame)
    assert frame["cv_error"].to_list() == search.cv_results_["cv_error"].tolist()
    assert frame["param_max_depth"].to_list() == [1, 1, 2, 2, None, None]
    assert frame["param_max_features"].to_list() == ["2", "sqrt", "2", "sqrt", None, None]
    assert "params" not in frame.columns

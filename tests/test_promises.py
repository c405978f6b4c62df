"""Promises: by what was chosen without the rows that judge it, or by the choice itself."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.promises import promise_of_model, weights_without_own
from steadycv.rules import choose_weight

RNG = np.random.default_rng(0)
ALL_BUT = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


def test_a_view_has_no_say_in_the_weight_that_it_judges():
    errors = RNG.uniform(size=(4, 6))
    expected = [errors[ALL_BUT[v]].mean(axis=0).argmin() for v in range(4)]
    assert weights_without_own("paper", errors, ALL_BUT) == expected
    for rule in ("steady", "plain"):
        chosen = [choose_weight(rule, errors[ALL_BUT[v]]) for v in range(4)]
        assert weights_without_own(rule, errors, ALL_BUT) == chosen


@pytest.mark.parametrize(("more", "promised"), [(0.1, 1.0), (2.0, 3.0)])
def test_a_choice_that_is_clearly_worse_is_promised_as_what_it_is(more, promised):
    errors = np.array([0.5, 1.5, 0.8, 1.2])
    of_choice = errors + more + np.array([0.1, -0.1, 0.1, -0.1])
    promise = promise_of_model(errors, of_choice, won_in_a_view=True)
    assert promise.error == pytest.approx(promised)
    assert promise.is_about_the_choice == (promised == 3.0)


def test_a_choice_that_won_in_no_view_is_a_remark():
    errors = np.array([0.5, 1.5, 0.8])
    assert (
        "none of these was the choice itself"
        in promise_of_model(errors, errors, won_in_a_view=False).reason
    )
    assert (
        "none of these was the choice itself"
        not in promise_of_model(errors, errors, won_in_a_view=True).reason
    )


def test_the_promise_of_a_search_is_that_of_what_it_delivers():
    X = RNG.normal(size=(60, 3))
    y = X[:, 0] + RNG.normal(size=60)
    cv = KFold(4)
    search = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": [1, 2, 3]}, cv=cv).fit(X, y)
    table = np.stack([search.weights_[f"split{i}_error"] for i in range(4)])
    weights = weights_without_own("steady", table, ALL_BUT)
    assert search.promise_ == pytest.approx(table[range(4), weights].mean())
    assert search.promise_reason_ == search.offers_["model"].reason
    committee = StabilitySearchCV(
        DecisionTreeRegressor(), {"max_depth": [1, 2, 3]}, cv=cv, deliver="committee"
    ).fit(X, y)
    assert committee.promise_ == committee.offers_["committee"].promise
    assert committee.offers_["model"].promise == search.promise_


def test_a_choice_that_fails_on_all_rows_but_its_own_is_told():
    """Every view chooses the line; on all data it is beaten by a hair, and the promise says so."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 1))
    y = X[:, 0] + rng.normal(size=40)
    search = StabilitySearchCV(
        KNeighborsRegressor(), {"n_neighbors": [1, 5, 15]}, cv=KFold(5), stability_weights=[0.0]
    ).fit(X, y)
    own = search.ledger_.error[search.best_index_, search.lattice_.judged]
    nested = np.array([search.weights_[f"split{i}_error"][0] for i in range(5)])
    far = (own - nested).mean() > 2 * (own - nested).std(ddof=1) / np.sqrt(5)
    assert search.promise_ == pytest.approx(own.mean() if far else nested.mean())


def test_no_promise_of_a_choice_that_cannot_be_made_again():
    X, y = RNG.normal(size=(30, 2)), RNG.normal(size=30)
    search = StabilitySearchCV(
        Ridge(), {"alpha": [1.0, 2.0]}, refit=lambda results: int(np.argmin(results["cv_error"]))
    ).fit(X, y)
    with pytest.raises(AttributeError, match="no promise: a callable refit"):
        search.promise_  # noqa: B018

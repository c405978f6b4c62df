"""Prices: what a search takes, before it begins."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import OptunaSearch, StabilityRandomizedSearchCV, StabilitySearchCV
from steadycv.prices import Price
from steadycv.splits import most_training_sets

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:100], Y[:100]
DEPTHS = {"max_depth": [1, 2, 3], "min_samples_leaf": [1, 5]}


@pytest.mark.parametrize(
    "search",
    [
        StabilitySearchCV(DecisionTreeRegressor(), DEPTHS),
        StabilitySearchCV(DecisionTreeRegressor(), DEPTHS, use_paths=False),
        StabilitySearchCV(SVR(), {"C": [1.0, 2.0]}, cv=TimeSeriesSplit(4)),
        StabilitySearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=ShuffleSplit(6, random_state=0)),
        StabilityRandomizedSearchCV(DecisionTreeRegressor(), DEPTHS, n_iter=4, random_state=0),
        StabilitySearchCV(Ridge(), {"alpha": [1.0]}, nested=False, stability_weights=1.0),
    ],
    ids=str,
)
def test_as_many_fits_as_are_made(search):
    price = search.price(X, Y)
    search.fit(X, Y)
    assert price.n_fits == search.n_fits_
    assert price.n_training_sets == search.lattice_.n_training_sets
    assert price.n_plain_fits == len(search.cv_results_["params"]) * search.n_splits_
    assert not price.is_most
    assert price.seconds is None


@pytest.mark.parametrize(
    "options",
    [
        {"race": True},
        {"search": "coordinate"},
        {"search": OptunaSearch(n_trials=3)},
        {"deliver": "student"},
    ],
    ids=str,
)
def test_at_most_so_many(options):
    search = StabilitySearchCV(DecisionTreeRegressor(), DEPTHS, use_paths=False, **options)
    price = search.price(X, Y)
    assert price.is_most
    assert "at most" in str(price)
    assert search.fit(X, Y).n_fits_ <= price.n_fits


def test_what_is_dear_is_said_before_anything_is_fitted():
    class Untouched(Ridge):
        def fit(self, X, y):
            raise AssertionError("nothing is to be fitted")

    search = StabilitySearchCV(Untouched(), {"alpha": [1.0]}, cv=ShuffleSplit(20, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        price = search.price(X, Y)
    assert price.n_training_sets == most_training_sets(20) == 211
    assert "11 times as many training sets as plain cross-validation has: KFold(5) has 16" in str(price)
    assert not StabilitySearchCV(Ridge(), {"alpha": [1.0]}).price(X, Y).cheaper


class Counted(LeavePOut):
    """Leave-two-out that says how many splits it was asked for."""

    n_made = 0

    def split(self, X, y=None, groups=None):
        for each in super().split(X, y, groups):
            self.n_made += 1
            yield each


def test_what_is_refused_has_a_price_too():
    splitter = Counted(2)
    search = StabilitySearchCV(Ridge(), {"alpha": [1.0, 2.0]}, cv=splitter)
    price = search.price(X, Y)
    assert (price.n_splits, price.n_training_sets) == (4950, 12_253_726)
    assert splitter.n_made == 1414
    assert "24,507,452 fits, where GridSearchCV makes 9,900" in str(price)
    with pytest.raises(ValueError, match="4,950 splits may need 12,253,726 training sets"):
        search.fit(X, Y)


def test_repeats_see_their_own_folds():
    price = StabilitySearchCV(Ridge(), {"alpha": [1.0]}, cv=RepeatedKFold(random_state=0)).price(X, Y)
    assert price.n_training_sets == 1 + 10 * 15


def test_a_time_from_a_few_fits():
    made = []

    class Slow(Ridge):
        def fit(self, X, y):
            made.append(self.alpha)
            return super().fit(X, y)

    alphas = np.linspace(1.0, 2.0, 9).tolist()
    price = StabilitySearchCV(Slow(), {"alpha": alphas}, use_paths=False).price(X, Y, timed=3)
    assert set(made) == {1.0, 1.5, 2.0}
    assert 0 < price.seconds < 60
    assert "; about " in str(price)


def test_memory_is_that_of_cells_and_outputs():
    def n_bytes(n_alphas, cv):
        grid = {"alpha": np.arange(1.0, 1.0 + n_alphas)}
        return StabilitySearchCV(SVR(), {"C": grid["alpha"]}, cv=cv).price(X, Y).n_bytes

    five, ten = n_bytes(5, 5), n_bytes(10, 5)
    assert five < ten < 2 * five + 1
    assert n_bytes(5, LeaveOneOut()) > 20 * five


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"no parameter|Invalid parameter"):
        StabilitySearchCV(Ridge(), {"alpa": [1.0]}).price(X, Y)


def test_verbose_says_it_first(capsys):
    search = StabilitySearchCV(Ridge(), {"alpha": [1.0, 2.0]}, verbose=2)
    search.fit(X, Y)
    assert capsys.readouterr().err.startswith(str(search.price(X, Y)))


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.01, "0.1 s"), (59.0, "59 s"), (300.0, "5 min"), (7200.0, "2.0 h"), (9e5, "10 days")],
)
def test_times(seconds, told):
    assert f"about {told} and" in str(Price(1, 5, 16, 16, 5, 0, seconds=seconds))

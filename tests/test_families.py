"""Families of models in one search, compared by their nested errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from steadycv import StabilitySearchCV
from steadycv.families import CLOSE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X @ [2.0, -1.0, 0.5] + RNG.normal(size=80)
PIPELINE = Pipeline([("scaler", StandardScaler()), ("model", Ridge())])
GRIDS = [
    {"model": [KNeighborsRegressor()], "model__n_neighbors": [1, 5, 9]},
    {"model": [Ridge()], "model__alpha": [0.1, 1.0, 10.0]},
]
FOLDS = KFold(5, shuffle=True, random_state=0)
SEARCH = StabilitySearchCV(PIPELINE, GRIDS, cv=FOLDS).fit(X, Y)


def test_each_is_what_a_search_of_its_own_finds():
    for family, grid in zip(SEARCH.families_, GRIDS[::-1], strict=True):
        alone = StabilitySearchCV(PIPELINE, grid, cv=FOLDS).fit(X, Y)
        assert family.nested_error == pytest.approx(alone.nested_error_)
        assert {k: v for k, v in family.params.items() if k != "model"} == {
            k: v for k, v in alone.best_params_.items() if k != "model"
        }


def test_the_best_is_first_and_differences_have_corrected_intervals():
    best, other = SEARCH.families_
    assert (best.name, other.name) == ("Ridge", "KNeighborsRegressor")
    assert (best.difference, best.caution) == (0.0, "")
    alone = [StabilitySearchCV(PIPELINE, grid, cv=FOLDS).fit(X, Y) for grid in GRIDS]
    of_each = [each.rules_[each.rule].view_errors for each in alone]
    apart = of_each[0] - of_each[1]
    spread = np.sqrt((1 / 5 + 16 / 64) * apart.var(ddof=1))
    expected = stats.t.interval(0.9, 4, loc=apart.mean(), scale=spread)
    assert_allclose(other.interval, expected)
    assert other.difference == pytest.approx(apart.mean())


def test_of_models_that_are_alike_nothing_is_claimed():
    grids = [{"model__alpha": [1.0, 2.0]}, {"model__alpha": [1.5, 2.5]}]
    _, other = StabilitySearchCV(PIPELINE, grids, cv=FOLDS).fit(X, Y).families_
    assert other.caution == CLOSE
    assert other.name in ("grid 0", "grid 1")


def test_one_grid_is_one_family():
    with pytest.raises(AttributeError, match="a list of two grids or more"):
        StabilitySearchCV(PIPELINE, GRIDS[0], cv=FOLDS).fit(X, Y).families_  # noqa: B018

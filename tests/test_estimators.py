"""A candidate's estimator: a copy, with its settings and a seed."""

import pytest
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv.estimators import new_estimator, overwrites

TREE = DecisionTreeRegressor()


def test_settings_and_seed():
    new = new_estimator(TREE, {"max_depth": 3})
    assert (new.max_depth, new.random_state) == (3, 0)
    assert (TREE.max_depth, TREE.random_state) == (None, None)


@pytest.mark.parametrize(
    ("estimator", "params", "seed"),
    [
        (DecisionTreeRegressor(random_state=7), {}, 7),
        (TREE, {"random_state": 5}, 5),
        (TREE, {"random_state": None}, 0),
    ],
)
def test_seed_that_was_given(estimator, params, seed):
    assert new_estimator(estimator, params).random_state == seed


def test_seeds_inside():
    new = new_estimator(make_pipeline(StandardScaler(), BaggingRegressor(TREE)), {})
    assert new[-1].random_state == new[-1].estimator.random_state == 0
    assert TREE.random_state is None


def test_estimators_as_settings_are_copied():
    forest = RandomForestRegressor()
    pipeline = make_pipeline(StandardScaler(), TREE)
    settings = {"decisiontreeregressor": forest, "decisiontreeregressor__max_depth": 2}
    new = new_estimator(pipeline, settings)
    assert new[-1] is not forest
    assert (new[-1].max_depth, forest.max_depth) == (2, None)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"copy": False}, True),
        ({"scale__copy": False}, True),
        ({"copy_X": False}, True),
        ({"copy_x": True}, False),
        ({"with_copy": False, "alpha": False}, False),
    ],
)
def test_who_overwrites_data(params, expected):
    assert overwrites(params.items()) == expected

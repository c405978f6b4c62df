"""Truncations: a smaller tree is read off the larger one, node by node."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeRegressor

from steadycv.paths.truncation import GrownTree, Limits, endings, loosest, read

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 1))
Y = np.sin(3 * X[:, 0]) + RNG.normal(size=60)
ALL = Limits(None, 2, 0.0, 0.0)
TREE = DecisionTreeRegressor(random_state=0).fit(X, Y).tree_
GROWN = GrownTree.of(TREE, TREE.value[:, 0, 0], TREE.apply(X.astype(np.float32)))


@pytest.mark.parametrize(
    "limits",
    [
        ALL,
        ALL._replace(max_depth=1),
        ALL._replace(max_depth=3, min_samples_split=15),
        ALL._replace(min_impurity_decrease=0.02),
        ALL._replace(ccp_alpha=0.03),
        ALL._replace(max_depth=4, ccp_alpha=0.01),
    ],
)
def test_outputs_are_those_of_a_smaller_tree(limits):
    # With the loosest beside them, as the tree was grown.
    ends = endings(GROWN, [ALL, limits])
    smaller = DecisionTreeRegressor(random_state=0, **limits._asdict()).fit(X, Y)
    assert_array_equal(read(GROWN.value, ends, GROWN.leaf)[1], smaller.predict(X))


def test_the_loosest_limits_contain_all():
    some = [Limits(3, 9, 0.1, 0.5), Limits(5, 20, 0.0, 0.0)]
    assert loosest(some) == Limits(5, 9, 0.0, 0.0)
    assert loosest([*some, ALL]) == ALL


def test_fractions_of_the_rows():
    assert ALL._replace(min_samples_split=0.3).for_rows(11).min_samples_split == 4
    assert ALL._replace(min_samples_split=0.01).for_rows(11).min_samples_split == 2
    assert ALL.for_rows(11) is ALL


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_depth", 0), ("max_depth", 1.5), ("min_samples_split", 1), ("ccp_alpha", -1.0)],
)
def test_limits_that_are_none(name, value):
    assert ALL.are_valid
    assert not ALL._replace(**{name: value}).are_valid


def test_a_tree_without_the_room_that_it_did_not_need():
    tree = GrownTree.empty(9, 1, 60).cut(3, 1)
    assert (len(tree.children_left), len(tree.value), len(tree.leaf), tree.max_depth) == (3, 3, 60, 1)

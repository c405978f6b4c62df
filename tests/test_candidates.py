"""Candidates keep their numbers; a grid is scikit-learn's, with axes."""

import numpy as np
import pytest
from sklearn.model_selection import ParameterGrid

from steadycv.candidates import Candidates, Grid

GRIDS = [
    {"b": [1, 2], "a": [5, 6, 7]},
    {"a": [5], "c": ["x", "y"], "b": [0, 1]},
    [{"a": [1, 2]}, {}, {"c": [1], "b": [3, 4]}],
]


def test_numbers_stay():
    candidates = Candidates([{"a": 1}])
    assert candidates.add([{"a": 2}, {"a": 3}]).tolist() == [1, 2]
    assert candidates.add([]).tolist() == []
    assert list(candidates) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert (candidates[1], len(candidates)) == ({"a": 2}, 3)


def test_what_is_there_is_not_added_again():
    candidates = Candidates([{"a": 1, "b": "x"}, {"a": 1, "b": "x"}])
    assert candidates.add([{"b": "x", "a": 1}, {"a": 1}, {"a": 1}, {"a": 1.0}]).tolist() == [0, 2, 2, 3]
    assert len(candidates) == 4


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_order_is_that_of_scikit_learn(grid):
    assert list(Grid(grid)) == list(ParameterGrid(grid))


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_table_has_the_candidate_of_each_position(grid):
    for box in Grid(grid).boxes:
        table = box.table()
        assert table.shape == box.shape
        assert table.size == len(box)
        for position in np.ndindex(box.shape):
            assert table[position] == box.candidate(position)


def test_boxes_follow_each_other():
    numbers = np.concatenate([box.table().ravel() for box in Grid(GRIDS[2]).boxes])
    assert sorted(numbers) == list(range(5))


def test_nothing():
    with pytest.raises(ValueError, match="no candidates"):
        Grid([])

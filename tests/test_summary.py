"""The summary says what was chosen and what to expect."""

import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV

DATA = load_diabetes(return_X_y=True)
GRID = {"max_depth": [1, 2, 3]}


def test_both_choices_side_by_side():
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID).fit(*DATA)
    lines = search.summary().splitlines()
    assert lines[2].split() == ["max_depth", "2", "2"]
    assert lines[3].split()[-1] == f"{search.cv_error_:.4g}"
    assert lines[4].split()[-1] == f"{search.instability_:.4g}"
    assert lines[6].split()[-1] == f"{search.nested_error_:.4g}"
    assert f"expect an error of about {search.nested_error_:.4g}" in lines[-1]


@pytest.mark.parametrize(("weight", "instability"), [(0, "not known"), (1.0, "e+03")])
def test_without_nesting_nothing_is_promised(weight, instability):
    search = StabilitySearchCV(DecisionTreeRegressor(), GRID, nested=False, stability_weights=weight)
    text = search.fit(*DATA).summary()
    assert "nested" not in text
    assert "expect" not in text
    assert instability in text or f"{search.instability_:.4g}" in text


def test_a_grid_whose_candidates_have_different_parameters():
    grid = [{"max_depth": [1]}, {"min_samples_leaf": [5]}]
    text = (
        StabilitySearchCV(DecisionTreeRegressor(), grid, stability_weights=[1, 2]).fit(*DATA).summary()
    )
    assert "max_depth" in text
    assert "min_samples_leaf" in text

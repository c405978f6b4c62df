"""Edges: a choice at an end of an axis, and what to try beyond."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilityRandomizedSearchCV, StabilitySearchCV
from steadycv.grid_edges import Edge, widened

X, Y = load_diabetes(return_X_y=True)


class Wanting(RegressorMixin, BaseEstimator):
    """The nearer `a` and `b` are to what is wanted, the lower is its error."""

    def __init__(self, a=1, b=1, want=(5, 5)):
        self.a = a
        self.b = b
        self.want = want

    def fit(self, X, y):
        self.mean_ = y.mean()
        self.off_ = abs(self.a - self.want[0]) + 10 * abs((self.b or 99) - self.want[1])
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + 10 * self.off_)


def edges_of(grid, estimator=None, **want):
    model = estimator or Wanting(**want)
    return StabilitySearchCV(model, grid, stability_weights=0.0).fit(X, Y).edges_


@pytest.mark.parametrize(
    ("values", "want", "is_upper", "to_try"),
    [
        ([1, 2, 3], 9, True, (4, 5)),
        ([3, 4, 5], 0, False, (2, 1)),
        ([0.1, 1.0, 10.0], 99, True, (100.0, 1000.0)),
        ([0.1, 1.0, 10.0], 0, False, (0.01, 0.001)),
        ([10, 1, 5], 99, True, (15, 20)),
        (list(range(1, 17)), 99, True, (17, 18, 19, 20)),
        ([1, 10, 100], 999, True, (1000, 10000)),
    ],
)
def test_what_to_try(values, want, is_upper, to_try):
    [edge] = edges_of({"a": values}, want=(want, 1))
    assert (edge.name, edge.is_upper, edge.to_try) == ("a", is_upper, to_try)
    assert edge.value == (max(values) if is_upper else min(values))


@pytest.mark.parametrize(
    ("values", "want"),
    [
        ([1, 2, 3], 2),  # within
        ([1, 9], 9),  # every value of two is an end
        ([0, 1, 2], 0),  # nothing is less than none
        ([1, 5, 9, None], 99),  # None is the choice, and no number
        ([1, 2, 3, None], 3),  # and stands beyond the largest
    ],
)
def test_natural_limits(values, want):
    assert edges_of({"b": values}, want=(1, want)) == []


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KNeighborsRegressor(), {"n_neighbors": [1, 2, 3]}),
        (DecisionTreeRegressor(), {"max_depth": [1, 2, 3]}),
        (ElasticNet(alpha=0.01), {"l1_ratio": [0.5, 0.75, 1.0]}),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.0, 1e6, 1e9]}),
    ],
)
def test_values_that_an_estimator_does_not_take(estimator, grid):
    """Whichever end is chosen: what is told to try can be fitted."""
    [(name, values)] = grid.items()
    for end in (values[0], values[-1]):
        search = StabilitySearchCV(estimator, grid, refit=lambda results, end=end: values.index(end))
        told = [edge for edge in search.fit(X, Y).edges_ if edge.value == end]
        for value in (each for edge in told for each in edge.to_try):
            estimator.set_params(**{name: value}).fit(X, Y)
    assert not [e for e in told if not e.is_upper]  # each grid begins or ends at a limit


def test_no_more_neighbours_than_rows():
    most = len(X) * 3 // 5
    search = StabilitySearchCV(KNeighborsRegressor(), {"n_neighbors": [10, 100, most - 60]})
    search.fit(X, Y[np.random.default_rng(0).permutation(len(Y))])
    assert all(value <= most for edge in search.edges_ for value in edge.to_try)


def test_several_axes_and_parts():
    grid = [{"a": [1, 2, 3]}, {"a": [1, 2, 3], "b": [1, 2, 3]}]
    model = Wanting(want=(9, 0))
    search = StabilitySearchCV(model, grid, stability_weights=0.0).fit(X, Y)
    assert {edge.name: edge.is_upper for edge in search.edges_} == {"a": True}
    more = widened(grid, search.best_params_, search.edges_)
    part = 0 if "b" not in search.best_params_ else 1
    assert more[part]["a"] == [1, 2, 3, 4, 5]
    assert more[1 - part] == grid[1 - part]


def test_a_widened_grid_goes_on_with_the_ledger(tmp_path):
    def searched(grid):
        return StabilitySearchCV(
            Ridge(), grid, ledger=tmp_path / "ledger", use_paths=False, stability_weights=0.0
        ).fit(X, Y)

    search = searched({"alpha": [10.0, 100.0, 1000.0]})
    [edge] = search.edges_
    again = searched(widened(search.param_grid, search.best_params_, search.edges_))
    assert again.n_fits_ == 16 * len(edge.to_try)
    assert again.best_params_["alpha"] < 10.0


def test_a_flat_end_is_told_as_one():
    [edge] = edges_of({"alpha": [1e-9, 1e-8, 1e-7]}, Ridge())
    assert edge.is_flat
    assert "changed next to nothing" in edge.sentence
    assert not Edge("a", 1, True, (2,), 0.1).is_flat


def test_other_spaces_have_none():
    search = StabilityRandomizedSearchCV(Ridge(), {"alpha": [1.0, 10.0, 100.0]}, n_iter=3)
    assert search.fit(X, Y).edges_ == []


def test_in_words():
    search = StabilitySearchCV(Ridge(), {"alpha": [10.0, 100.0, 1000.0]}).fit(X, Y)
    told = " ".join(search.summary().split())
    assert told.endswith("alpha = 10 is the smallest that was tried: try 1, 0.1 as well.")

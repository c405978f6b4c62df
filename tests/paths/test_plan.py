"""Which candidates one fit serves, and what happens when it cannot."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_regression
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid

from steadycv import StabilitySearchCV
from steadycv.candidates import Grid
from steadycv.paths import find_path, register_path
from steadycv.paths.plan import _lines
from steadycv.testing import check_path

X, y = make_regression(40, 3, noise=5, random_state=0)


class ShrunkMean(RegressorMixin, BaseEstimator):
    """Predicts a part of the mean; counts its fits; cannot take more than all of it away."""

    n_fits = 0

    def __init__(self, shrinkage=0.0, shift=0.0):
        self.shrinkage = shrinkage
        self.shift = shift

    def fit(self, X, y):
        type(self).n_fits += 1
        if self.shrinkage > 1:
            raise ValueError(f"shrinkage {self.shrinkage} is above 1")
        self.mean_ = (1 - self.shrinkage) * np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.shift)


class ShrunkMeanPath:
    def parameters(self, estimator):
        return {"shrinkage"}

    def serves(self, estimator, setting, X, y):
        return setting["shrinkage"] != 0.5

    def prepare(self, estimator, X, y):
        return "prepared"

    def outputs(self, estimator, settings, data):
        assert data.prepared == "prepared"
        shrinkages = np.array([setting["shrinkage"] for setting in settings])
        if (shrinkages > 1).any():
            raise ValueError("cannot")
        mean = (1 - shrinkages) * np.mean(data.y_train)
        return np.repeat(mean[:, None] + estimator.shift, len(data.X), axis=1)


class WrongPath(ShrunkMeanPath):
    def outputs(self, estimator, settings, data):
        raise RuntimeError("a defect of the path")


class ApproximatePath(ShrunkMeanPath):
    def outputs(self, estimator, settings, data):
        return 1.001 * super().outputs(estimator, settings, data)


@pytest.fixture(autouse=True)
def path(monkeypatch):
    ShrunkMean.n_fits = 0
    register_path(ShrunkMean, ShrunkMeanPath())


def same_results(search, other):
    keys = ["best_index_", "cv_error_", "instability_", "stability_weight_"]
    for key in keys + ["nested_error_"] * search.nested:
        assert getattr(search, key) == pytest.approx(getattr(other, key), rel=1e-10)
    np.testing.assert_allclose(search.out_of_fold_predictions_, other.out_of_fold_predictions_)
    for key in ("mean_test_score", "instability", "regularized_error"):
        np.testing.assert_allclose(search.cv_results_[key], other.cv_results_[key])


GRID = {"shrinkage": [0.0, 0.1, 0.5, 0.9], "shift": [-1.0, 1.0]}


@pytest.mark.parametrize(
    "options", [{}, {"search": "coordinate"}, {"nested": False, "stability_weights": 1}]
)
def test_results_are_those_of_separate_fits(options):
    with_path = StabilitySearchCV(ShrunkMean(), GRID, **options).fit(X, y)
    separate = StabilitySearchCV(ShrunkMean(), GRID, use_paths=False, **options).fit(X, y)
    same_results(with_path, separate)
    assert with_path.n_fits_ < separate.n_fits_


def test_what_the_path_does_not_serve_is_fitted_separately():
    search = StabilitySearchCV(ShrunkMean(), GRID, refit=False).fit(X, y)
    assert ShrunkMean.n_fits == 2 * 16  # shrinkage 0.5 with each shift
    assert search.n_fits_ == (2 + 2) * 16


def test_a_candidate_that_fails_does_not_take_the_others_along():
    grid = {"shrinkage": [0.0, 0.1, 2.0]}
    with pytest.warns(
        FitFailedWarning, match=r"16 fits failed out of a total of 48(.|\n)*2.0 is above 1"
    ):
        search = StabilitySearchCV(ShrunkMean(), grid).fit(X, y)
    alone = StabilitySearchCV(ShrunkMean(), {"shrinkage": [0.0, 0.1]}, use_paths=False).fit(X, y)
    assert search.nested_error_ == pytest.approx(alone.nested_error_)
    assert np.isnan(search.cv_results_["mean_test_score"][2])


def test_an_error_of_the_path_itself_is_not_hidden():
    register_path(ShrunkMean, WrongPath())
    with pytest.raises(RuntimeError, match="a defect of the path"):
        StabilitySearchCV(ShrunkMean(), GRID).fit(X, y)


def test_scores_of_a_regressor_are_replayed():
    options = {"scoring": ["r2", "neg_mean_absolute_error"], "refit": "neg_mean_absolute_error"}
    with_path = StabilitySearchCV(ShrunkMean(), GRID, return_train_score=True, **options).fit(X, y)
    separate = StabilitySearchCV(
        ShrunkMean(), GRID, return_train_score=True, use_paths=False, **options
    ).fit(X, y)
    for key in ("mean_test_r2", "mean_train_r2", "split1_test_neg_mean_absolute_error"):
        np.testing.assert_allclose(with_path.cv_results_[key], separate.cv_results_[key])


def test_check_path_sees_an_approximation():
    check_path(ShrunkMean(), {"shrinkage": [0.0, 0.3]}, X, y)
    register_path(ShrunkMean, ApproximatePath())
    with pytest.raises(AssertionError, match="trained on 40 of 40"):
        check_path(ShrunkMean(), {"shrinkage": [0.0, 0.3]}, X, y)
    with pytest.raises(AssertionError, match="does not cover"):
        check_path(ShrunkMean(), {"shift": [0.0]}, X, y)
    with pytest.raises(AssertionError, match="serves 1 of 2"):
        check_path(ShrunkMean(), {"shrinkage": [0.0, 0.5]}, X, y)


def test_subclasses_have_no_path():
    class Mine(ShrunkMean):
        pass

    assert find_path(Mine()) is None
    assert find_path(ShrunkMean()) is not None


@pytest.mark.parametrize("parameters", [{"a"}, {"c", "a"}, {"a", "b", "c"}, {"z"}])
def test_lines_of_a_box_differ_in_the_parameters_only(parameters):
    axes = {"b": [1, 2], "c": [1, 2, 3], "a": [1, 2]}
    grid = Grid(axes)
    lines = list(_lines(grid.boxes[0], parameters))
    assert sorted(np.concatenate(lines).tolist()) == list(range(len(list(ParameterGrid(axes)))))
    for line in lines:
        fixed = [{k: v for k, v in grid.candidates[c].items() if k not in parameters} for c in line]
        assert all(each == fixed[0] for each in fixed)

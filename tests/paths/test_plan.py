"""Which candidates one fit serves, which are asked for together, and what happens when it cannot."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

from steadycv import StabilitySearchCV
from steadycv.paths import find_path, register_path
from steadycv.paths.plan import in_one_fit, kinds, plan
from steadycv.paths.separate import SEPARATE
from steadycv.paths.settings import alike
from steadycv.paths.truncation import Limits
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

    def methods(self, estimator):
        return ("predict",)

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
        return {"predict": np.repeat(mean[:, None] + estimator.shift, len(data.X), axis=1)}


class WrongPath(ShrunkMeanPath):
    def outputs(self, estimator, settings, data):
        raise RuntimeError("a defect of the path")


class ApproximatePath(ShrunkMeanPath):
    def outputs(self, estimator, settings, data):
        return {"predict": 1.001 * super().outputs(estimator, settings, data)["predict"]}


class RoundedByCompany(ShrunkMeanPath):
    """Not all in one line, but not the same in other company either."""

    def line(self, estimator, setting):
        return setting["shrinkage"]

    def outputs(self, estimator, settings, data):
        found = super().outputs(estimator, settings, data)["predict"]
        return {"predict": found * (1 + len(settings) * 1e-15)}


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


def members(groups):
    return [group.members.tolist() for group in groups]


def grid_of(**axes):
    return list(ParameterGrid(axes))


def test_check_path_sees_lines_that_depend_on_company():
    register_path(ShrunkMean, RoundedByCompany())
    with pytest.raises(AssertionError, match="asked for apart"):
        check_path(ShrunkMean(), {"shrinkage": [0.0, 0.3]}, X, y)


def test_check_path_sees_a_method_that_is_not_given():
    with pytest.raises(AssertionError, match="does not give"):
        check_path(ShrunkMean(), {"shrinkage": [0.0]}, X, y, methods=["predict_proba"])


def test_a_group_is_equal_in_all_but_the_parameters_of_the_path():
    groups = plan(Ridge(), grid_of(alpha=[0.1, 1.0], fit_intercept=[True, False]), X, y)
    assert members(groups) == [[0, 2], [1, 3]]
    assert [group.estimator.fit_intercept for group in groups] == [True, False]


def test_the_estimator_of_a_group_is_its_first_candidate():
    [group] = plan(SVR(), grid_of(C=[0.5, 2.0]), X, y)
    assert group.path is find_path(SVR())
    assert group.estimator.C == 0.5


def test_what_is_left_over_comes_after_what_is_served():
    groups = plan(Ridge(), grid_of(alpha=[-1.0, 1.0, "1", 2.0]), X, y)
    assert members(groups) == [[1, 3], [0], [2]]
    assert [group.path is SEPARATE for group in groups] == [False, True, True]


def test_a_parameter_that_is_not_set_is_the_estimators_own():
    groups = plan(Ridge(alpha=7.0), [{"alpha": 1.0}, {}, {"alpha": 2.0}], X, y)
    assert members(groups) == [[0, 2], [1]]
    assert groups[1].estimator.alpha == 7.0


def test_the_order_of_names_does_not_matter():
    settings = [{"alpha": 1.0, "tol": 0.1}, {"tol": 0.1, "alpha": 2.0}]
    assert members(plan(Ridge(), settings, X, y)) == [[0, 1]]


def test_equal_values_of_different_types_are_different():
    groups = plan(Ridge(), [{"tol": 1}, {"tol": 1.0}, {"tol": True}], X, y)
    assert members(groups) == [[0], [1], [2]]


def test_without_paths_all_are_fitted_separately():
    settings = grid_of(alpha=[1.0, 2.0])
    for groups in (
        plan(Ridge(), settings, X, y, use_paths=False),
        plan(LinearRegression(), settings, X, y),
    ):
        assert members(groups) == [[0], [1]]
        assert [group.path for group in groups] == [SEPARATE] * 2


def test_a_transformer_has_no_path_of_its_own():
    assert [group.path for group in plan(PCA(), grid_of(n_components=[1, 2]), X, y)] == [SEPARATE] * 2


@pytest.mark.parametrize(
    "setting", [{"wrong": 1}, {"ridge__wrong": 1}, {"ridge": "passthrough", "ridge__alpha": 1.0}]
)
def test_a_wrong_name_is_left_to_the_separate_fit(setting):
    model = Ridge() if "wrong" in setting else make_pipeline(StandardScaler(), Ridge())
    assert [group.path for group in plan(model, [setting], X, y)] == [SEPARATE]


def test_candidates_behind_a_wrong_one_are_served():
    model = make_pipeline(StandardScaler(), Ridge())
    settings = grid_of(ridge=[LinearRegression(), Ridge()], ridge__alpha=[1.0, 2.0])
    assert members(plan(model, settings, X, y)) == [[2, 3], [0], [1]]


def test_no_path_where_data_are_not_copied():
    assert plan(Ridge(copy_X=False), [{"alpha": 1.0}], X, y)[0].path is SEPARATE
    groups = plan(Ridge(), grid_of(alpha=[1.0], copy_X=[False, True]), X, y)
    assert [group.path is SEPARATE for group in groups] == [True, False]


def test_no_path_without_one_of_the_methods():
    labels = np.arange(40) % 2
    for methods, given in (
        (["predict", "decision_function"], True),
        (["predict", "predict_proba"], False),
    ):
        [group] = plan(SVC(), [{"C": 1.0}], X, labels, methods=methods)
        assert (group.path is not SEPARATE) == given


@pytest.mark.parametrize(
    ("model", "name", "used"),
    [
        (Ridge(), "sample_weight", True),
        (Ridge(), "groups", False),
        (Ridge(), "ridge__sample_weight", False),
        (KNeighborsRegressor(), "sample_weight", False),
        (make_pipeline(StandardScaler(), Ridge()), "ridge__sample_weight", True),
        (make_pipeline(StandardScaler(), Ridge()), "standardscaler__sample_weight", True),
        (make_pipeline(StandardScaler(), Ridge()), "sample_weight", False),
        (make_pipeline(StandardScaler(), Ridge()), "other__sample_weight", False),
        (make_pipeline(None, Ridge()), "passthrough__sample_weight", False),
        (make_pipeline(make_pipeline(Ridge())), "pipeline__ridge__sample_weight", True),
        (
            make_pipeline(StandardScaler(), KNeighborsRegressor()),
            "kneighborsregressor__sample_weight",
            False,
        ),
    ],
)
def test_a_path_is_given_weights_that_fit_takes_and_nothing_else(model, name, used):
    [group] = plan(model, [{}], X, y, fit_params=[name])
    assert (group.path is not SEPARATE) == used


class Lines(ShrunkMeanPath):
    """Lines by the first decimal, and few candidates at a time."""

    def line(self, estimator, setting):
        return int(10 * setting["shrinkage"])

    def at_most(self, estimator):
        return 3


SHRINKAGES = [0.0, 0.11, 0.01, 0.12, 0.21, 0.13, 0.14, 0.22]


def test_groups_are_whole_lines_and_a_long_line_is_cut():
    register_path(ShrunkMean, Lines())
    groups = plan(ShrunkMean(), grid_of(shrinkage=SHRINKAGES), X, y)
    assert members(groups) == [[0, 2], [1, 3, 5], [4, 6, 7]]
    assert [group.lines.tolist() for group in groups] == [[0, 0], [0, 0, 0], [1, 0, 1]]
    assert [group.estimator.shrinkage for group in groups] == [0.0, 0.11, 0.21]


def test_a_line_is_cut_alike_in_any_company():
    register_path(ShrunkMean, Lines())
    [first, second] = plan(ShrunkMean(), grid_of(shrinkage=[0.11, 0.12, 0.13, 0.14]), X, y)
    assert (first.members.tolist(), second.members.tolist()) == ([0, 1, 2], [3])


def test_no_group_has_more_outputs_than_fit_into_memory(monkeypatch):
    monkeypatch.setattr("steadycv.paths.plan.MOST_BYTES", 2 * 8 * 6 * len(y))
    alphas = grid_of(alpha=[1.0, 2.0, 3.0])
    assert members(plan(Ridge(), alphas, X, y)) == [[0, 1], [2]]
    assert members(plan(Ridge(), alphas, X, y, n_held=7)) == [[0], [1], [2]]


def test_the_data_are_looked_at_once(monkeypatch):
    n_looks = []
    monkeypatch.setattr(
        "steadycv.paths.linear.is_table", lambda X: n_looks.append(1) or isinstance(X, np.ndarray)
    )
    plan(Ridge(), grid_of(alpha=np.linspace(0.1, 1, 50)), X, y)
    assert len(n_looks) == 1


@pytest.mark.parametrize("parameters", [{"a"}, {"c", "a"}, {"a", "b", "c"}, {"z"}])
def test_groups_differ_in_the_parameters_only(parameters):
    settings = grid_of(b=[1, 2], c=[1, 2, 3], a=[1, 2])
    lines = alike(settings, but=parameters)
    assert sorted(np.concatenate(lines)) == list(range(len(settings)))
    for line in lines:
        fixed = [{k: v for k, v in settings[c].items() if k not in parameters} for c in line]
        assert all(each == fixed[0] for each in fixed)


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (DecisionTreeRegressor(), {*Limits._fields}),
        (RandomForestRegressor(), {"n_estimators", *Limits._fields}),
        (RandomForestClassifier(), {"n_estimators", "ccp_alpha"}),  # shallower ones draw other features
        (XGBRegressor(), {"n_estimators"}),  # others share the bins alone
        (make_pipeline(PCA(), Ridge()), {"ridge__alpha"}),
        (make_pipeline(StandardScaler(), SVR()), set()),  # share a kernel matrix, and are solved each
        (SVR(), set()),
        (MLPRegressor(), set()),
    ],
)
def test_parameters_that_come_with_one_fit(estimator, names):
    assert set(in_one_fit(estimator)) == names


CLASSIFIERS = [LogisticRegression(), RidgeClassifier(), LogisticRegression(C=2.0)]


@pytest.mark.parametrize(
    ("estimator", "settings", "expected"),
    [
        (Ridge(), [{"alpha": 1.0}, {"alpha": 2.0}], [[0, 1]]),
        (SVC(), [], [[]]),
        (SVC(), [{"C": c, "kernel": k} for c in (1.0, 2.0) for k in ("rbf", "linear")], [[0, 1, 2, 3]]),
        (make_pipeline(Ridge()), [{"ridge": each} for each in CLASSIFIERS], [[0, 2], [1]]),
    ],
)
def test_kinds_have_the_same_methods(estimator, settings, expected):
    assert [positions for _, positions in kinds(estimator, settings)] == expected


def test_numbers_change_no_methods(monkeypatch):
    monkeypatch.setattr("steadycv.paths.plan.new_estimator", lambda *_: made.append(1) or SVC())
    made = []
    kinds(SVC(), [{"C": float(c)} for c in range(1, 50)])
    assert made == [1]

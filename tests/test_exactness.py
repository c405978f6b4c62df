"""The search against the literal Algorithm 1: the same choices, and the same numbers to 1e-10."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import metrics
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ParameterGrid,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import literal
from steadycv import StabilitySearchCV, pinball_loss
from steadycv.lattice import Lattice
from steadycv.measures import Rows

WEIGHTS = [0.0, 0.3, 3.0]
SCORE_OF = {
    "squared_error": "neg_mean_squared_error",
    "absolute_error": "neg_mean_absolute_error",
    "poisson_deviance": "neg_mean_poisson_deviance",
    "gamma_deviance": "neg_mean_gamma_deviance",
    "zero_one": "accuracy",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
}
LOSSES = {**literal.LOSSES, "pinball": literal.pinball(0.2)}
DRIVERS = {loss: [{"loss": loss}, {"scoring": score}] for loss, score in SCORE_OF.items()}
DRIVERS["pinball"] = [{"loss": pinball_loss(0.2)}]
TREE = DecisionTreeRegressor(random_state=0)
TREE_CLASSIFIER = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [4, 1, 2]}
ALPHAS = {"alpha": [0.01, 10.0, 100.0]}
NEIGHBORS = {"n_neighbors": [1, 7, 3]}
SMOOTHINGS = {"var_smoothing": [1e-9, 1.0, 0.1]}


def regression(seed=0, n=30, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, 3 + X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n)


def classification(seed=0, n=30, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=n), np.linspace(-0.7, 0.7, n_classes + 1)[1:-1])
    return X, y


def check(estimator, param_grid, X, y, *, loss="squared_error", cv=None, groups=None, **how):
    """Run the search and the literal algorithm; compare whatever the search reports."""
    cv = KFold(3, shuffle=True, random_state=0) if cv is None else cv
    sample_weight = how.pop("sample_weight", None)
    expected = literal.algorithm_1(
        estimator,
        list(ParameterGrid(param_grid)),
        X,
        y,
        partitions(cv, X, y, groups),
        LOSSES[loss],
        np.unique(how.setdefault("stability_weights", WEIGHTS)),
        sample_weight=sample_weight,
        search=literal.coordinate(param_grid) if how.get("search") == "coordinate" else None,
        nested=how.get("nested", True),
    )
    metadata = {"groups": groups, "sample_weight": sample_weight}
    metadata = {name: value for name, value in metadata.items() if value is not None}
    for driver in DRIVERS[loss]:
        options = {"rule": "paper", "use_paths": False, **driver, **how}
        search = StabilitySearchCV(estimator, param_grid, cv=cv, **options)
        agree(search.fit(X, y, **metadata), expected)
    return search


def agree(search, expected):
    weights, results = search.weights_, search.cv_results_
    assert search.stability_weight_ == expected.weight
    assert search.best_index_ == expected.index
    assert search.best_params_ == results["params"][expected.index] == expected.params
    assert search.kfold_index_ == expected.plain_index
    assert_array_equal(weights["weight"], expected.weights)
    assert_array_equal(weights["index"], expected.index_at)
    if search.nested:
        for i, errors in enumerate(across_folds(expected.outer_error)):
            close(weights[f"split{i}_error"], errors)
        for i, indices in enumerate(across_folds(expected.outer_index)):
            assert_array_equal(weights[f"split{i}_index"], indices)
        close(weights["mean_error"], expected.mean_outer_error)
        close(search.nested_error_, min(expected.mean_outer_error))

    error, instability = np.array(expected.cv_error), np.array(expected.instability)
    seen = ~np.isnan(results["regularized_error"])
    assert seen[list(expected.looked_at)].all()
    close(results["cv_error"][seen], error[seen])
    close(results["regularized_error"][seen], (error + expected.weight * instability)[seen])
    close(search.cv_error_, error[expected.index])
    if search.scoring is not None:  # else it is the estimator's own
        best = 1.0 if search.scoring == "accuracy" else 0.0
        close(results["mean_test_score"][seen], best - error[seen])
        close(search.best_score_, best - error[expected.index])
    assert_array_equal(search.best_score_, results["mean_test_score"][expected.index])
    if search.nested or expected.weight > 0:
        # The outer folds may have looked at all training sets of a candidate but the full one.
        seen = ~np.isnan(results["instability"])
        assert seen[list(expected.looked_at)].all()
        close(results["instability"][seen], instability[seen])
        close(search.instability_, instability[expected.index])

    outputs = search.out_of_fold_predictions_
    outputs = outputs if len(expected.out_of_fold) > 1 else outputs[np.newaxis]
    if outputs.dtype.kind == "f":
        close(outputs, np.array(expected.out_of_fold))
    else:
        assert_array_equal(outputs, expected.out_of_fold)


def close(found, expected):
    # The absolute part is rounding where the numbers, all of order one, cancel to zero.
    assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def across_folds(by_weight):
    """A list of columns, one for each fold of each repeat, each with one value a weight."""
    return np.array(by_weight).reshape(len(by_weight), -1).T


def partitions(cv, X, y, groups=None):
    """The folds of a splitter, one list for each repeat."""
    repeats, covered = [[]], 0
    for _, fold in cv.split(X, y, groups):
        if covered == X.shape[0]:
            repeats.append([])
            covered = 0
        repeats[-1].append(fold)
        covered += len(fold)
    return repeats


# Losses.


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "gamma_deviance", "pinball"])
@pytest.mark.parametrize(
    ("estimator", "param_grid"),
    [(TREE, DEPTHS), (KNeighborsRegressor(), NEIGHBORS)],
    ids=["tree", "neighbors"],
)
def test_losses_of_regressors(estimator, param_grid, loss):
    X, y = regression()
    check(estimator, param_grid, X, np.abs(y) + 0.1, loss=loss)


def test_poisson_deviance_with_counts_of_zero():
    X, y = regression()
    counts = np.random.default_rng(0).poisson(np.exp(y / 3) / 2)
    assert (counts == 0).any()
    check(Ridge(), {"alpha": [10.0, 30.0, 90.0]}, X, counts, loss="poisson_deviance")


@pytest.mark.parametrize("loss", ["log_loss", "zero_one", "brier"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    ("estimator", "param_grid"),
    [(TREE_CLASSIFIER, DEPTHS), (GaussianNB(), SMOOTHINGS)],
    ids=["tree", "bayes"],
)
def test_losses_of_classifiers(estimator, param_grid, loss, n_classes):
    X, y = classification(n_classes=n_classes)
    check(estimator, param_grid, X, y, loss=loss, cv=StratifiedKFold(3))


@pytest.mark.parametrize("loss", ["log_loss", "zero_one", "brier"])
def test_classes_with_names(loss):
    X, y = classification(n_classes=3)
    names = np.array(["yes", "maybe", "no"])[y]
    check(GaussianNB(), SMOOTHINGS, X, names, loss=loss, cv=StratifiedKFold(3))


@pytest.mark.parametrize("loss", ["log_loss", "zero_one", "brier"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_class_missing_from_a_training_set(loss, n_classes):
    X, y = classification(seed=1, n_classes=n_classes)
    # All of the last class is in folds 0 and 1, so that "without 0 and 1" does not know it; with
    # three classes the middle one is in fold 2 alone.
    fold = np.where(y == n_classes - 1, np.arange(30) % 2, np.arange(30) % 4)
    fold[y == n_classes - 2] = 2 if n_classes == 3 else fold[y == 0]
    check(TREE_CLASSIFIER, DEPTHS, X, y, loss=loss, cv=PredefinedSplit(fold))


def test_literal_losses_are_those_of_scikit_learn():
    X, y = regression()
    model = Ridge().fit(X, y)
    y, predicted = np.abs(y), model.predict(X)
    for name, metric in {
        "squared_error": metrics.mean_squared_error,
        "absolute_error": metrics.mean_absolute_error,
        "poisson_deviance": metrics.mean_poisson_deviance,
        "gamma_deviance": metrics.mean_gamma_deviance,
    }.items():
        one_by_one = [metric([t], [p]) for t, p in zip(y, predicted, strict=True)]
        close(literal.LOSSES[name](model, X, y), one_by_one)
    one_by_one = [
        metrics.mean_pinball_loss([t], [p], alpha=0.2) for t, p in zip(y, predicted, strict=True)
    ]
    close(literal.pinball(0.2)(model, X, y), one_by_one)


def test_literal_losses_of_classes_are_those_of_scikit_learn():
    X, y = classification()
    model = TREE_CLASSIFIER.fit(X[:15], y[:15])
    p = model.predict_proba(X)
    assert (p[np.arange(30), y] == 0).any()  # the clipped end of the log loss is there too
    log_losses = [metrics.log_loss([y[i]], p[[i]], labels=[0, 1]) for i in range(30)]
    close(literal.log_loss(model, X, y), log_losses)
    brier_losses = [metrics.brier_score_loss([y[i]], p[i, [1]], pos_label=1) for i in range(30)]
    close(literal.brier(model, X, y), brier_losses)
    close(literal.zero_one(model, X, y), y != model.predict(X))


# Folds.


@pytest.mark.parametrize("k", [3, 5, 10])
def test_number_of_folds(k):
    X, y = regression()
    check(Ridge(), ALPHAS, X, y, cv=KFold(k))


def test_leave_one_out():
    X, y = regression(n=8)
    check(Ridge(), ALPHAS, X, y, cv=LeaveOneOut())
    check(KNeighborsRegressor(), {"n_neighbors": [2, 1, 4]}, X, y, loss="absolute_error", cv=KFold(8))


@pytest.mark.parametrize("seed", range(3))
def test_folds_of_unequal_size(seed):
    X, y = regression(seed)
    fold = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2, 3], [2, 5, 8, 15]))
    check(TREE, DEPTHS, X, y, cv=PredefinedSplit(fold))


def test_splits_whose_rows_are_in_no_order():
    X, y = regression()
    fold = np.arange(30) % 3
    shuffle = np.random.default_rng(0).permutation
    splits = [(shuffle(np.flatnonzero(fold != t)), shuffle(np.flatnonzero(fold == t))) for t in range(3)]
    search = StabilitySearchCV(TREE, DEPTHS, stability_weights=WEIGHTS, cv=splits, use_paths=False).fit(
        X, y
    )
    in_order = check(TREE, DEPTHS, X, y, cv=PredefinedSplit(fold))
    assert search.nested_error_ == in_order.nested_error_
    assert_array_equal(search.out_of_fold_predictions_, in_order.out_of_fold_predictions_)


@pytest.mark.parametrize(
    "cv", [GroupKFold(3), StratifiedGroupKFold(3), LeaveOneGroupOut()], ids=lambda cv: type(cv).__name__
)
def test_groups(cv):
    X, y = classification()
    groups = np.random.default_rng(0).integers(5, size=30)
    check(GaussianNB(), SMOOTHINGS, X, y, loss="log_loss", cv=cv, groups=groups)


def test_repeats():
    X, y = regression(n=22)
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    check(TREE, DEPTHS, X, y, cv=cv)
    check(Ridge(), ALPHAS, X, y, cv=cv, nested=False, stability_weights=2.0)


def test_stratified_repeats():
    X, y = classification(n_classes=3)
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    check(GaussianNB(), SMOOTHINGS, X, y, loss="log_loss", cv=cv)
    check(TREE_CLASSIFIER, DEPTHS, X, y, loss="zero_one", cv=cv)


# Weights.


def test_default_weights_are_zero_and_those_of_the_paper():
    X, y = regression()
    search = check(TREE, DEPTHS, X, y, cv=KFold(5), stability_weights=[0.0, *np.logspace(-4, 4, 10)])
    default = StabilitySearchCV(TREE, DEPTHS, use_paths=False).fit(X, y)
    for column, values in search.weights_.items():
        assert_array_equal(default.weights_[column], values)


def test_weights_in_no_order_and_given_twice():
    X, y = regression()
    check(TREE, DEPTHS, X, y, stability_weights=[3.0, 0.0, 3.0, 0.3])


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("weight", [0.0, 0.5, 20.0])
def test_single_weight(weight, nested):
    X, y = regression()
    check(TREE, DEPTHS, X, y, stability_weights=weight, nested=nested)
    X, y = classification()
    check(GaussianNB(), SMOOTHINGS, X, y, loss="brier", stability_weights=weight, nested=nested)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_two_folds_without_nesting(weight):
    X, y = regression()
    check(TREE, DEPTHS, X, y, cv=KFold(2), stability_weights=weight, nested=False)


def test_no_instability_without_the_full_fit():
    X, y = regression()
    search = StabilitySearchCV(TREE, DEPTHS, stability_weights=0, nested=False, use_paths=False).fit(
        X, y
    )
    assert np.isnan(search.cv_results_["instability"]).all()
    assert list(search.weights_) == ["weight", "index"]


# Sample weights.


@pytest.mark.parametrize("cv", [KFold(4), RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)])
def test_sample_weights(cv):
    X, y = regression()
    sample_weight = np.random.default_rng(0).exponential(size=30)
    sample_weight[::4] = 0
    check(Ridge(), ALPHAS, X, y, sample_weight=sample_weight, cv=cv)
    check(TREE, DEPTHS, X, y, sample_weight=sample_weight, cv=cv, loss="absolute_error")


@pytest.mark.parametrize("loss", ["log_loss", "zero_one", "brier"])
def test_sample_weights_of_classifiers(loss):
    X, y = classification()
    sample_weight = np.random.default_rng(1).integers(4, size=30).astype(float)
    check(GaussianNB(), SMOOTHINGS, X, y, loss=loss, sample_weight=sample_weight)


def test_sample_weights_of_very_different_size():
    # The heavy fold must leave no rounding behind in the means over the other folds.
    sample_weight = np.repeat([1e8, 1 / 3], [10, 20])
    lattice = Lattice(KFold(3).split(range(30)), n_samples=30)
    without_the_heavy = lattice.rows(lattice.views[0].reference)
    changes = np.random.default_rng(0).exponential(size=(1, 30))
    close(Rows(without_the_heavy, sample_weight, 30).mean(changes), changes[:, 10:].mean())


def test_sample_weights_go_to_the_last_step_of_a_pipeline():
    X, y = regression()
    sample_weight = np.random.default_rng(0).exponential(size=30)
    pipeline = make_pipeline(StandardScaler(), Ridge())
    check(pipeline, {"ridge__alpha": [0.1, 10.0]}, X, y, sample_weight=sample_weight)


# Kinds of estimators and data.


def test_pipeline_is_fitted_inside_each_training_set():
    X, y = regression(n_features=5)
    pipeline = make_pipeline(StandardScaler(), SelectKBest(f_regression), Ridge())
    check(pipeline, {"selectkbest__k": [5, 1, 2], "ridge__alpha": [10.0, 0.1]}, X, y)


def test_logistic_regression():
    X, y = classification()
    check(LogisticRegression(), {"C": [1.0, 0.01]}, X, y, loss="log_loss")


def test_pandas():
    X, y = regression()
    shuffled = np.random.default_rng(0).permutation(30)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=shuffled)
    frame["d"] = pd.Categorical(np.where(X[:, 2] > 0, "up", "down"))
    columns = make_column_transformer((OneHotEncoder(), ["d"]), (StandardScaler(), ["a", "b"]))
    pipeline = make_pipeline(columns, Ridge())
    check(pipeline, {"ridge__alpha": [10.0, 0.1]}, frame, pd.Series(y, index=shuffled))


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse(form):
    X, y = regression()
    check(TREE, DEPTHS, form(np.where(X > 0, X, 0)), y)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "pinball"])
def test_several_outputs(loss):
    X, y = regression()
    check(Ridge(), ALPHAS, X, np.column_stack([y, y**2, -X[:, 1]]), loss=loss)


def test_seed_zero_where_there_is_none():
    X, y = regression()
    grid = {"max_depth": [1, 3], "max_features": [1]}
    seeded = check(TREE, grid, X, y)
    search = clone(seeded).set_params(estimator__random_state=None)
    assert search.fit(X, y).nested_error_ == seeded.nested_error_


# Ties.


def test_first_of_equal_candidates():
    X, y = regression()
    search = check(TREE, {"max_depth": [2, 1, 2, 1]}, X, y)
    assert search.best_index_ < 2


def test_smallest_of_equal_weights():
    X, y = regression()
    search = check(TREE, {"max_depth": [2]}, X, y, stability_weights=[5.0, 0.2, 1.0])
    assert search.stability_weight_ == 0.2


def test_constant_target():
    X, _ = regression()
    grid = {"strategy": ["mean", "median"]}
    search = check(DummyRegressor(), grid, X, np.full(30, 2.0))
    assert (search.best_index_, search.stability_weight_, search.nested_error_) == (0, 0.0, 0.0)


def test_ties_of_the_zero_one_loss():
    X, y = classification()
    grid = {"strategy": ["constant"], "constant": [1, 0, 1], "random_state": [0, 1]}
    check(DummyClassifier(), grid, X, y, loss="zero_one", cv=KFold(7))
    check(KNeighborsClassifier(), {"n_neighbors": [3, 1, 2, 5]}, X, y, loss="zero_one", cv=KFold(4))


def test_ties_that_rounding_hides():
    # The errors are those of 0.4 - y and of y, both 0.2 but for the rounding of 0.4 - 0.3.
    y = np.array([0.1, 0.1, 0.3, 0.3])
    grid = {"strategy": ["constant"], "constant": [0.4, 0.0]}
    search = check(DummyRegressor(), grid, y[:, np.newaxis], y, loss="absolute_error", cv=LeaveOneOut())
    first, second = search.cv_results_["regularized_error"]
    assert first > second
    assert search.best_index_ == 0


# Coordinate search.


def coordinate(estimator, param_grid, seed, **how):
    X, y = regression(seed, n_features=5)
    return check(estimator, param_grid, X, y, search="coordinate", **how)


@pytest.mark.parametrize("seed", range(3))
def test_coordinate_search_on_one_axis(seed):
    coordinate(TREE, {"max_depth": [5, 1, 2, 3]}, seed)


@pytest.mark.parametrize("seed", range(4))
def test_coordinate_search_on_two_axes(seed):
    # The axes' names are not in the order of the dict, which is the order of the descent.
    coordinate(TREE, {"min_samples_leaf": [9, 1, 3], "max_depth": [1, 2, 4, 3]}, seed)


@pytest.mark.parametrize("seed", range(2))
def test_coordinate_search_on_three_axes(seed):
    grid = {"max_features": [1, 5], "max_depth": [1, 4, 2], "min_samples_leaf": [8, 1, 2]}
    coordinate(TREE, grid, seed, stability_weights=[0.0, 1.0])


def test_coordinate_search_of_a_list_of_grids():
    grids = [{"max_depth": [1, 4, 2]}, {}, {"min_samples_leaf": [1, 9], "max_features": [5, 1, 3]}]
    coordinate(TREE, grids, seed=0)


def test_coordinate_search_with_equal_settings():
    coordinate(TREE, {"max_depth": [3, 1, 3], "min_samples_leaf": [5, 2, 5, 2]}, seed=0)


def test_coordinate_search_with_repeats_and_sample_weights():
    grid = {"max_depth": [1, 4, 2], "min_samples_leaf": [8, 1]}
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    coordinate(
        TREE, grid, seed=0, cv=cv, sample_weight=np.arange(30.0) % 5, stability_weights=[0.0, 1.0]
    )


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_coordinate_search_without_nesting(weight):
    grid = {"min_samples_leaf": [9, 1, 3], "max_depth": [1, 2, 4, 3]}
    coordinate(TREE, grid, seed=0, nested=False, stability_weights=weight)


class Stairs(RegressorMixin, BaseEstimator):
    """Its error leads down a staircase: an iteration of the coordinate search goes one step."""

    def __init__(self, a=0, b=0):
        self.a, self.b = a, b

    def fit(self, X, y):
        return self

    def predict(self, X):
        on_the_stairs = self.b - self.a in (0, 1)
        return X[:, 0] + 100 - self.a - self.b + 1000 * (not on_the_stairs)


def test_coordinate_search_stops_after_ten_iterations():
    y = np.arange(6.0)
    grid = {"a": range(24), "b": range(24)}
    how = {"search": "coordinate", "nested": False, "stability_weights": 0.0, "cv": KFold(2)}
    search = check(Stairs(), grid, y[:, np.newaxis], y, **how)
    assert search.best_params_ == {"a": 11 + 10, "b": 11 + 10}


# Random problems.


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_random_problems(data):
    draw = data.draw
    k, n_repeats = draw(st.integers(3, 5)), draw(st.integers(1, 2))
    n = draw(st.integers(4 * k, 30))
    X, y = regression(draw(st.integers(0, 10**6)), n=n)
    estimator, param_grid = draw(st.sampled_from([(TREE, DEPTHS), (Ridge(), ALPHAS)]))
    check(
        estimator,
        param_grid,
        X,
        y,
        loss=draw(st.sampled_from(["squared_error", "absolute_error"])),
        cv=RepeatedKFold(n_splits=k, n_repeats=n_repeats, random_state=draw(st.integers(0, 9))),
        stability_weights=draw(st.lists(st.floats(0, 100), min_size=1, max_size=3)),
        sample_weight=draw(st.none() | st.just(np.arange(n) % 3.0)),
        search=draw(st.sampled_from(["grid", "coordinate"])),
    )


def test_problems_here_have_something_to_choose():
    # Agreement would mean little if weight 0 and the plain choice always won.
    searches = [
        StabilitySearchCV(TREE, DEPTHS, stability_weights=WEIGHTS, rule="paper", cv=3).fit(
            *regression(seed)
        )
        for seed in range(10)
    ]
    assert {search.stability_weight_ for search in searches} == set(WEIGHTS)
    assert {search.best_index_ for search in searches} == {0, 1, 2}
    assert any(search.best_index_ != search.kfold_index_ for search in searches)


# Weight 0 is scikit-learn's GridSearchCV.


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("scoring", SCORE_OF.values())
def test_weight_zero_is_grid_search(scoring, nested):
    if scoring in ("accuracy", "neg_log_loss", "neg_brier_score"):
        agrees_with_grid_search(
            GaussianNB(), SMOOTHINGS, *classification(n=40), nested=nested, scoring=scoring
        )
    else:
        X, y = regression(n=40)
        agrees_with_grid_search(TREE, DEPTHS, X, np.abs(y) + 0.1, nested=nested, scoring=scoring)


@pytest.mark.parametrize("nested", [True, False])
def test_weight_zero_is_grid_search_by_default(nested):
    agrees_with_grid_search(GaussianNB(), SMOOTHINGS, *classification(n=40), nested=nested)
    X, y = regression(n=40)
    plain, search = scores_agree(TREE, DEPTHS, X, y, nested=nested)
    # A mean of R^2 weighs folds otherwise than the squared error, which drives.
    errors = search.cv_results_["cv_error"]
    assert search.best_index_ == search.kfold_index_ == errors.argmin() != plain.best_index_
    close(search.score(X, y), search.best_estimator_.score(X, y))


def scores_agree(estimator, param_grid, X, y, *, nested, **params):
    params = {"cv": 4, "return_train_score": True, **params}
    plain = GridSearchCV(estimator, param_grid, **params).fit(X, y)
    search = StabilitySearchCV(
        estimator, param_grid, stability_weights=0, nested=nested, use_paths=False, **params
    )
    search.fit(X, y)
    for column in plain.cv_results_:
        if "_score" in column and "score_time" not in column and "rank" not in column:
            close(search.cv_results_[column], plain.cv_results_[column])
    return plain, search


def agrees_with_grid_search(estimator, param_grid, X, y, **params):
    plain, search = scores_agree(estimator, param_grid, X, y, **params)
    close(search.best_score_, plain.best_score_)
    close(search.score(X, y), plain.score(X, y))
    scores = np.sort(plain.cv_results_["mean_test_score"])
    if scores[-1] - scores[-2] > 1e-12:
        assert search.best_index_ == search.kfold_index_ == plain.best_index_
    if np.diff(scores).min() > 1e-12:  # GridSearchCV ranks what ties by rounding noise
        assert_array_equal(search.cv_results_["rank_test_score"], plain.cv_results_["rank_test_score"])

from collections import Counter
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import (
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    f_regression,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, ParameterGrid
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from steadycv import SparseRidge, StabilitySearchCV
from steadycv.paths import PathData, find_path, register_path
from steadycv.paths.plan import plan
from steadycv.paths.separate import SEPARATE, separate_outputs
from steadycv.testing import check_path

X, Y = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(0)
ALPHAS = [1e-3, 0.1, 10.0]


class Counting(TransformerMixin, BaseEstimator):
    """Multiplies, and counts its fits by factor and number of samples."""

    fits: ClassVar = Counter()

    def __init__(self, factor=1):
        self.factor = factor

    def fit(self, X, y=None):
        self.fits[self.factor, len(X)] += 1
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X * self.factor


class Shrinking(TransformerMixin, BaseEstimator):
    """Treats the training rows differently, as ``TargetEncoder`` does."""

    def __init__(self, by=0.5):
        self.by = by

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X) * self.by

    def transform(self, X):
        return X * 1.0


class OnlyFitAndTransform(BaseEstimator):
    """A transformer without ``fit_transform``."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def transform(self, X):
        return X - self.mean_


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_samples", [442, 90])
def test_components_and_penalties(whiten, n_samples):
    model = make_pipeline(StandardScaler(), PCA(whiten=whiten), Ridge())
    grid = {"pca__n_components": [2, 10, np.int64(5), None, 0.9, "mle"], "ridge__alpha": ALPHAS}
    check_path(model, grid, X[:n_samples], Y[:n_samples])


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "randomized", "arpack"])
@pytest.mark.parametrize("shape", [(40, 60), (60, 30), (200, 15), (30, 520)])
def test_components_are_those_of_a_separate_fit(solver, shape):
    X = RNG.normal(size=shape)
    X[:, 1], X[:, 2] = X[:, 0], 1.0  # the last components are but rounding
    model = make_pipeline(PCA(svd_solver=solver, whiten=True), DecisionTreeRegressor())
    grid = {"pca__n_components": [1, 3, min(shape) // 2 - 1, min(shape) // 2]}
    check_path(model, grid, X, RNG.normal(size=shape[0]), rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(442, 10), (30, 40)])
@pytest.mark.parametrize(
    ("selection", "grid"),
    [
        (SelectKBest(f_regression), {"k": [3, "all", np.int64(5)]}),
        (SelectPercentile(f_regression), {"percentile": [10, 55.5, 100]}),
        (SelectFpr(f_regression), {"alpha": [1e-4, 0.1, 1]}),
        (SelectFdr(f_regression), {"alpha": [1e-4, 0.1, 1]}),
        (SelectFwe(f_regression), {"alpha": [1e-4, 0.1, 1]}),
    ],
)
def test_selections(selection, grid, shape):
    model = Pipeline([("select", selection), ("tree", ExtraTreeRegressor(max_depth=3))])
    some = np.tile(X, 4)[: shape[0], : shape[1]]  # with columns that are equally good
    y = Y[: shape[0]] + 1e4 * some[:, 2]
    grid = {f"select__{name}": values for name, values in grid.items()}
    check_path(model, grid, some, y, rtol=0, atol=0)


def test_depths_behind_a_transformer():
    model = make_pipeline(StandardScaler(), DecisionTreeRegressor())
    grid = {
        "decisiontreeregressor__max_depth": [1, 2, 3],
        "decisiontreeregressor__min_samples_split": [60, 0.3],
    }
    check_path(model, grid, X, Y)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_classification(method):
    model = make_pipeline(StandardScaler(), SelectKBest(), LogisticRegression(tol=1e-10, max_iter=1000))
    grid = {"selectkbest__k": [1, 2, 4], "logisticregression__C": [0.1, 1.0]}
    check_path(model, grid, *load_iris(return_X_y=True), methods=[method], rtol=1e-5, atol=1e-5)


def test_replaced_steps():
    model = Pipeline([("scale", StandardScaler()), ("reduce", PCA()), ("model", Ridge())])
    grid = {
        "scale": [StandardScaler(), MinMaxScaler(), "passthrough", None],
        "reduce": [PCA(3), TruncatedSVD(3), "passthrough"],
        "model": [Ridge(), LinearRegression(), GradientBoostingRegressor(n_estimators=3, subsample=0.5)],
    }
    check_path(model, grid, X[:100], Y[:100])


def test_replaced_step_with_its_parameters():
    model = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    grid = {"model": [Ridge(solver="svd"), Ridge(fit_intercept=False)], "model__alpha": ALPHAS}
    check_path(model, grid, X, Y)


def test_two_tuned_transformers():
    model = make_pipeline(StandardScaler(), SelectKBest(f_regression), PCA(), KNeighborsRegressor())
    grid = {
        "standardscaler__with_std": [False, True],
        "selectkbest__k": [4, 8],
        "pca__n_components": [1, 3],
        "kneighborsregressor__n_neighbors": [1, 5],
        "kneighborsregressor__weights": ["uniform", "distance"],
    }
    check_path(model, grid, X[:150], Y[:150])


def test_rounds_behind_a_transformer():
    model = make_pipeline(PCA(4), GradientBoostingRegressor(subsample=0.5))
    grid = {
        "gradientboostingregressor__n_estimators": [1, 5, 10],
        "gradientboostingregressor__max_depth": [1, 2],
    }
    check_path(model, grid, X, Y, rtol=0, atol=0)


def test_duplicated_samples_behind_rounded_components():
    few = np.repeat(X[:30], 3, axis=0)
    model = make_pipeline(PCA(4), KNeighborsRegressor(weights="distance"))
    check_path(model, {"kneighborsregressor__n_neighbors": [1, 2, 4]}, few, Y[:90])


def test_training_rows_that_are_transformed_differently():
    model = make_pipeline(Shrinking(), Ridge())
    grid = {"shrinking__by": [0.5, 0.9], "ridge__alpha": ALPHAS}
    check_path(model, grid, X, Y)
    check_path(model, grid, csr_array(X), Y)


def test_transformer_without_fit_transform():
    model = make_pipeline(OnlyFitAndTransform(), Ridge())
    check_path(model, {"ridge__alpha": ALPHAS}, X, Y)


@pytest.mark.parametrize("container", ["default", "pandas"])
def test_columns_of_a_frame(container):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"number": X[:, 2], "other": X[:, 8], "letter": RNG.choice(list("abc"), len(X))}
    )
    columns = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["number", "other"]),
            ("letters", OneHotEncoder(sparse_output=False), ["letter"]),
        ]
    )
    model = make_pipeline(columns, PCA(), Ridge()).set_output(transform=container)
    grid = {
        "columntransformer__numbers__with_std": [False, True],
        "pca__n_components": [1, 3],
        "ridge__alpha": ALPHAS,
    }
    check_path(model, grid, frame, Y)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_texts(method):
    words = np.array(["the", "a", "cat", "dog", "sits", "runs", "on", "under", "mat", "tree"])
    texts = np.array([" ".join(RNG.choice(words, 6)) for _ in range(120)], dtype=object)
    kinds = np.array([["other", "cat"]["cat" in text] for text in texts])
    model = make_pipeline(CountVectorizer(), SelectKBest(), LogisticRegression(tol=1e-10, max_iter=1000))
    grid = {
        "countvectorizer__ngram_range": [(1, 1), (1, 2)],
        "selectkbest__k": [2, 5],
        "logisticregression__C": [0.1, 10.0],
    }
    check_path(model, grid, texts, kinds, methods=[method], rtol=1e-5, atol=1e-5)


def test_every_distinct_beginning_is_fitted_once():
    model = Pipeline([("first", Counting()), ("second", Counting()), ("model", Ridge())])
    grid = {"first__factor": [2, 3], "second__factor": [5, 7, 11], "model__alpha": ALPHAS}
    Counting.fits.clear()
    search = StabilitySearchCV(model, grid, cv=3, refit=False).fit(X[:90], Y[:90])
    n_training_sets = {90: 1, 60: 3, 30: 3}
    assert search.n_fits_ == 7
    expected = {(f, n): times for f in (2, 3) for n, times in n_training_sets.items()}
    expected |= {(s, n): 2 * times for s in (5, 7, 11) for n, times in n_training_sets.items()}
    assert Counting.fits == expected


def test_the_given_steps_are_not_fitted():
    scaler, ridge = StandardScaler(), Ridge()
    model = Pipeline([("scaler", scaler), ("model", ridge)])
    StabilitySearchCV(model, {"model__alpha": ALPHAS, "scaler": [scaler]}, cv=3).fit(X, Y)
    assert not hasattr(scaler, "mean_")
    assert not hasattr(ridge, "coef_")


def test_fit_params_go_to_their_steps():
    weight = RNG.uniform(0.1, 2, len(Y))
    model = make_pipeline(StandardScaler(), Ridge())
    path = find_path(model)
    settings = [{"ridge__alpha": alpha} for alpha in ALPHAS]
    rows = np.arange(300)
    fit_params = {"standardscaler__sample_weight": weight[rows], "ridge__sample_weight": weight[rows]}
    [group] = plan(model, settings, X, Y, fit_params=fit_params)
    assert group.path is path
    data = PathData(X, Y, rows, X[rows], Y[rows], fit_params)
    for setting, found in zip(settings, path.outputs(model, settings, data)["predict"], strict=True):
        model.set_params(**setting).fit(X[rows], Y[rows], **fit_params)
        np.testing.assert_allclose(found, model.predict(X), rtol=1e-9)


def test_fit_params_without_a_step_are_left_to_the_separate_fit():
    model = make_pipeline(StandardScaler(), Ridge())
    data = PathData(X, Y, np.arange(len(Y)), X, Y, {"sample_weight": np.ones(len(Y))})
    [group] = plan(model, [{"ridge__alpha": 1.0}], X, Y, fit_params=data.fit_params)
    assert group.path is SEPARATE
    with pytest.raises(ValueError, match="__sample_weight"):
        separate_outputs(model, {}, data)


def test_weights_that_the_last_step_does_not_take_are_refused():
    model = make_pipeline(StandardScaler(), KNeighborsRegressor())
    settings = [{"kneighborsregressor__n_neighbors": k} for k in (1, 2)]
    fit_params = {"kneighborsregressor__sample_weight": np.ones(len(Y))}
    groups = plan(model, settings, X, Y, fit_params=fit_params)
    assert [group.path for group in groups] == [SEPARATE] * 2
    data = PathData(X, Y, np.arange(len(Y)), X, Y, fit_params)
    with pytest.raises(TypeError, match="sample_weight"):
        find_path(model).outputs(model, settings, data)


class CountingPath:
    """Serves the shrinkage of a mean, and counts how often it prepares."""

    n_prepared = 0

    def parameters(self, estimator):
        return ("shrinkage",)

    def methods(self, estimator):
        return ("predict",)

    def line(self, estimator, setting):
        return setting["shrinkage"]

    def serves(self, estimator, setting, X, y):
        return True

    def prepare(self, estimator, X, y):
        type(self).n_prepared += 1

    def outputs(self, estimator, settings, data):
        mean = np.mean(data.y_train)
        return {"predict": [np.full(len(data.X), (1 - s["shrinkage"]) * mean) for s in settings]}


class ShrunkMean(RegressorMixin, BaseEstimator):
    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        self.mean_ = (1 - self.shrinkage) * np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_the_last_step_is_prepared_once_for_what_it_is_given():
    register_path(ShrunkMean, CountingPath())
    model = Pipeline([("scale", StandardScaler()), ("model", ShrunkMean())])
    grid = {"model__shrinkage": [0.0, 0.1, 0.2, 0.5], "scale__with_std": [False, True]}
    settings = list(ParameterGrid(grid))
    data = PathData(X, Y, np.arange(300), X[:300], Y[:300], {})
    CountingPath.n_prepared = 0
    find_path(model).outputs(model, settings, data)
    assert CountingPath.n_prepared == 2
    check_path(model, grid, X, Y)


def lines_of(model, grid):
    """The sizes of a pipeline's lines."""
    settings = list(ParameterGrid(grid))
    [group] = plan(model, settings, X, Y)
    return sorted(np.bincount(group.lines))


def test_lines_are_those_of_the_last_step_behind_each_beginning():
    model = make_pipeline(StandardScaler(), PCA(), Ridge())
    assert lines_of(model, {"pca__n_components": [2, 3], "ridge__alpha": ALPHAS}) == [3, 3]
    assert lines_of(model, {"ridge__fit_intercept": [True, False], "ridge__alpha": ALPHAS}) == [3, 3]
    assert lines_of(model, {"ridge": [Ridge(), Ridge()], "ridge__alpha": ALPHAS}) == [3, 3]
    assert lines_of(model, {"standardscaler": [None, MinMaxScaler()], "ridge__alpha": ALPHAS}) == [3, 3]


def test_lines_of_a_last_step_that_has_its_own_or_no_path():
    svm = make_pipeline(StandardScaler(), SVC())
    [group] = plan(svm, [{"svc__C": c} for c in ALPHAS], X, Y > 100)
    assert group.lines.tolist() == [0, 1, 2]
    trees = make_pipeline(StandardScaler(), DecisionTreeRegressor())
    grid = {"decisiontreeregressor__max_features": [None, 3]}
    assert lines_of(trees, grid | {"decisiontreeregressor__max_depth": [1, 2]}) == [1, 1, 2]
    linear = make_pipeline(StandardScaler(), LinearRegression())
    assert lines_of(linear, {"standardscaler__with_mean": [False, True]}) == [1, 1]


def test_a_step_may_have_the_name_of_a_parameter():
    model = Pipeline([("alpha", StandardScaler()), ("model", Ridge())])
    assert lines_of(model, {"alpha": [None, MinMaxScaler()], "model__alpha": ALPHAS}) == [3, 3]


def test_all_methods_of_the_last_step_come_from_one_fit():
    X, y = load_iris(return_X_y=True)
    names = ["predict", "predict_proba", "decision_function"]
    models = [LogisticRegression(tol=1e-10, max_iter=1000), GradientBoostingClassifier(n_estimators=3)]
    pipeline = Pipeline([("scale", StandardScaler()), ("model", models[0])])
    grid = {"model": models, "scale__with_std": [False, True]}
    check_path(pipeline, grid, X, y, methods=names, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (Pipeline([("a", StandardScaler()), ("b", Ridge())], memory="somewhere"), {"b__alpha": ALPHAS}),
        (Pipeline([("a", StandardScaler()), ("b", Ridge())], verbose=True), {"b__alpha": ALPHAS}),
        (Pipeline([("a", StandardScaler(copy=False)), ("b", Ridge())]), {"b__alpha": ALPHAS}),
        (Pipeline([("a", StandardScaler()), ("b", Ridge())]), {"b__copy_X": [False]}),
        (Pipeline([("a", StandardScaler()), ("b", Ridge())]), {"b": ["passthrough"]}),
        (Pipeline([("a", Ridge()), ("b", Ridge())]), {"b__alpha": ALPHAS}),
        (Pipeline([("a", SVC(kernel="precomputed"))]), {"a__C": ALPHAS}),
    ],
)
def test_what_cannot_share_is_not_served(model, grid):
    check_path(model, grid, X, Y, serves=False)


def test_parameters_that_a_replaced_step_has_not_are_not_served():
    model = Pipeline([("a", StandardScaler()), ("b", Ridge())])
    path = find_path(model)
    assert not path.serves(model, {"b": LinearRegression(), "b__alpha": 1.0}, X, Y)
    assert not path.serves(model, {"a": "passthrough", "a__with_mean": True}, X, Y)
    assert path.serves(model, {"b": Ridge(), "b__alpha": 1.0}, X, Y)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_search_is_the_same_without_paths(n_jobs):
    model = make_pipeline(StandardScaler(), SelectKBest(f_regression), PCA(), DecisionTreeRegressor())
    grid = {
        "selectkbest__k": [4, 8],
        "pca": [PCA(2), PCA(3), "passthrough"],
        "decisiontreeregressor__min_samples_leaf": [5, 20],
    }
    searches = [
        StabilitySearchCV(model, grid, cv=3, use_paths=use, n_jobs=jobs).fit(X[:120], Y[:120])
        for use, jobs in ((True, n_jobs), (False, None))
    ]
    with_paths, without = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_allclose(with_paths, without, rtol=1e-12)
    assert searches[0].best_index_ == searches[1].best_index_


def test_folds_are_not_taken_for_those_of_training_rows_that_were_transformed_differently():
    model = Pipeline([("shrink", Shrinking()), ("model", SparseRidge(1))])
    grid = {"model__sparsity": [1, 3]}
    folds = KFold(3, shuffle=True, random_state=0)
    with_paths, without = (
        StabilitySearchCV(model, grid, cv=folds, use_paths=use).fit(X[:60], Y[:60]).cv_results_
        for use in (True, False)
    )
    for name in ("cv_error", "instability"):
        np.testing.assert_allclose(with_paths[name], without[name], rtol=1e-9)

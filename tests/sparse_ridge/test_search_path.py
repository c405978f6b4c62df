"""A search over sparsities and gammas: by the path what separate fits give; and `SparseRidgeCV`."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from steadycv import SparseRidge, SparseRidgeCV, StabilitySearchCV, sparse_ridge_path
from steadycv.sparse.cv import largest_sparsity
from steadycv.sparse.solvers import SOLVERS
from steadycv.testing import check_path

GRID = {"sparsity": [1, 3, 2], "gamma": [1.0, 1e-3]}
SHUFFLED = KFold(3, shuffle=True, random_state=0)
solvers = pytest.mark.parametrize("solver", SOLVERS)
by_path = ["beam", "rounding"]
path_solvers = pytest.mark.parametrize("solver", [solver for solver in SOLVERS if solver in by_path])
intercepts = pytest.mark.parametrize("fit_intercept", [True, False])
scales = pytest.mark.parametrize("standardize", [True, False])


def plain_data(n_samples=24, n_features=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    return X, X[:, :4] @ [2.0, -1.0, 1.0, 0.5] + rng.normal(size=n_samples) + 10.0


def data(n_samples=40, n_features=7):
    """A column twice, a constant one, one far from zero, one that is mostly zero."""
    X, y = plain_data(n_samples, n_features)
    X[:, 3] += 1000.0
    X[:, 4], X[:, 5] = X[:, 0], 0.1
    X[2:, 6] = 0.0
    return X, y


def search(estimator, grid=GRID, **options):
    return StabilitySearchCV(estimator, grid, **{"cv": SHUFFLED, **options})


def assert_same(estimator, grid, X, y, *, n_jobs=None, fit_params=None, rtol=1e-8, **options):
    """With and without paths: the same errors, instabilities and choices. Returns the first search."""
    fit_params = fit_params or {}
    fast = search(estimator, grid, n_jobs=n_jobs, **options).fit(X, y, **fit_params)
    slow = search(estimator, grid, use_paths=False, **options).fit(X, y, **fit_params)
    assert fast.n_fits_ < slow.n_fits_
    for name in ("cv_error", "instability", "regularized_error", "mean_test_score"):
        np.testing.assert_allclose(fast.cv_results_[name], slow.cv_results_[name], rtol, err_msg=name)
    np.testing.assert_allclose(fast.weights_["mean_error"], slow.weights_["mean_error"], rtol)
    np.testing.assert_array_equal(fast.weights_["index"], slow.weights_["index"])
    assert fast.best_params_ == slow.best_params_
    assert fast.stability_weight_ == slow.stability_weight_
    np.testing.assert_allclose(
        fast.out_of_fold_predictions_, slow.out_of_fold_predictions_, rtol=1e-6, atol=1e-6
    )
    return fast


@path_solvers
@intercepts
@scales
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(40, 7), (12, 80)])
def test_conformance(solver, fit_intercept, standardize, weighted, shape):
    X, y = data(*shape)
    weight = np.random.default_rng(0).uniform(0, 2, len(y)) if weighted else None
    model = SparseRidge(1, solver=solver, fit_intercept=fit_intercept, standardize=standardize)
    check_path(model, GRID, X, y, sample_weight=weight, rtol=1e-7)
    check_path(model, GRID, sparse.csr_matrix(X), y, sample_weight=weight, rtol=1e-7)
    check_path(model, {"gamma": [0.1, 1.0]}, pd.DataFrame(X).add_prefix("x"), y, rtol=1e-7)


@path_solvers
@pytest.mark.parametrize("strategy", ["grid", "coordinate"])
@intercepts
@scales
def test_search(solver, strategy, fit_intercept, standardize):
    model = SparseRidge(1, solver=solver, fit_intercept=fit_intercept, standardize=standardize)
    assert_same(model, GRID, *data(), search=strategy)


@pytest.mark.parametrize(
    "make",
    [sparse.csr_matrix, sparse.csc_array, np.asfortranarray, lambda X: pd.DataFrame(X).add_prefix("x")],
    ids=["csr", "csc_array", "fortran", "pandas"],
)
@scales
def test_kinds_of_data(make, standardize):
    X, y = data()
    assert_same(SparseRidge(1, standardize=standardize), GRID, make(X), y)


def test_integers():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(40, 5))
    assert_same(SparseRidge(1), GRID, X, X[:, 0] + rng.integers(0, 3, size=40))


@scales
def test_weights(standardize):
    X, y = data()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    assert_same(
        SparseRidge(1, standardize=standardize), GRID, X, y, fit_params={"sample_weight": weight}
    )


def test_groups_and_repeats():
    X, y = data()
    groups = np.random.default_rng(0).integers(0, 6, len(y))
    assert_same(SparseRidge(1), GRID, X, y, cv=GroupKFold(3), fit_params={"groups": groups})
    repeated = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    assert_same(SparseRidge(1), GRID, X, y, cv=repeated)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_in_parallel(backend):
    X, y = data()
    with parallel_config(backend=backend):
        found = assert_same(SparseRidge(1), GRID, X, y, n_jobs=2)
    alone = search(SparseRidge(1)).fit(X, y)
    np.testing.assert_array_equal(found.cv_results_["cv_error"], alone.cv_results_["cv_error"])


def test_leave_one_out():
    X, y = plain_data(9)
    assert_same(SparseRidge(1), {**GRID, "sparsity": [1, 3]}, X, y, cv=LeaveOneOut())


def test_many_columns():
    """More than are asked for at once."""
    X, y = data(30, 120)
    assert_same(SparseRidge(1, standardize=True), {"sparsity": range(1, 9), "gamma": [0.01, 1.0]}, X, y)


class Shrinking(TransformerMixin, BaseEstimator):
    """Gives the training rows other values than the same rows among all, as ``TargetEncoder`` does."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X) * 0.5

    def transform(self, X):
        return X * 1.0


@pytest.mark.parametrize(
    "steps",
    [
        (StandardScaler(),),
        (StandardScaler(), PolynomialFeatures(include_bias=True)),
        (Shrinking(),),
        (StandardScaler(with_mean=False), Shrinking()),
    ],
    ids=["scaled", "polynomial", "shrinking", "both"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_last_step_of_a_pipeline(steps, weighted):
    X, y = plain_data(40)
    grid = {f"sparseridge__{name}": values for name, values in GRID.items()}
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    fit_params = {"sample_weight": weight} if weighted else {}
    assert_same(make_pipeline(*steps, SparseRidge(1)), grid, X, y, fit_params=fit_params)


def test_sparse_pipeline():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    encode = ColumnTransformer([("encode", OneHotEncoder(handle_unknown="ignore"), [0, 1, 2])])
    grid = {"sparseridge__sparsity": [1, 4], "sparseridge__gamma": [0.1, 10.0]}
    y = (X[:, 0] == 1) + X[:, 1] + 0.1 * rng.normal(size=60)
    encode.sparse_threshold = 1.0
    assert_same(make_pipeline(encode, SparseRidge(1)), grid, X, y)


# Training sets that are not like the whole.


@intercepts
@scales
def test_columns_constant_in_some_training_sets(fit_intercept, standardize):
    X, y = plain_data()
    folds = np.arange(24) % 4
    X[folds != 0, 1] = 0.1
    X[:, 2] = folds <= 1
    cv = [(np.flatnonzero(folds != t), np.flatnonzero(folds == t)) for t in range(4)]
    model = SparseRidge(1, fit_intercept=fit_intercept, standardize=standardize)
    assert_same(model, {**GRID, "sparsity": [1, 2, 4]}, X, y, cv=cv)


@scales
@pytest.mark.parametrize("size", [1e3, 1e6, 1e9, 1e13])
def test_an_outlier_in_one_fold(standardize, size):
    """Sums over all rows hold nothing of the others' digits."""
    X, y = plain_data()
    X[0, 1] = size
    assert_same(SparseRidge(1, standardize=standardize), {**GRID, "sparsity": [1, 2, 4]}, X, y)
    X, y = plain_data()
    y[0] = size
    assert_same(SparseRidge(1, standardize=standardize), {**GRID, "sparsity": [1, 2, 4]}, X, y)


@pytest.mark.parametrize("far", [1e4, 1e8])
def test_columns_far_from_zero(far):
    X, y = plain_data()
    X = X + far * np.array([1.0, 0.0, -2.0, 0.5])
    assert_same(SparseRidge(1), {**GRID, "sparsity": [1, 2, 4]}, X, y + far, rtol=1e-6)
    assert_same(
        SparseRidge(1), {**GRID, "sparsity": [1, 2, 4]}, sparse.csr_matrix(X), y + far, rtol=1e-6
    )


def test_target_constant_in_some_training_sets():
    X, _ = plain_data()
    y = np.where(np.arange(24) % 4 == 0, np.arange(24.0), 0.1)
    folds = np.where(np.arange(24) % 4 == 0, 0, 1 + np.arange(24) % 3)
    cv = [(np.flatnonzero(folds != t), np.flatnonzero(folds == t)) for t in range(4)]
    assert_same(SparseRidge(1), {**GRID, "sparsity": [1, 2]}, X, y, cv=cv)


# What cannot be fitted.


@solvers
def test_candidates_that_fail(solver):
    """Sparsity beyond the columns, gamma 0: they fail as in a separate fit, and others do not."""
    X, y = plain_data()
    grid = {"sparsity": [1, 5, 2], "gamma": [0.0, 1.0]}
    model, results = SparseRidge(1, solver=solver), []
    for use_paths in (True, False):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = search(model, grid, use_paths=use_paths).fit(X, y)
        texts = [str(w.message) for w in caught if issubclass(w.category, FitFailedWarning)]
        assert any("got 5." in text and "got 0.0." in text for text in texts)
        results.append(found.cv_results_["cv_error"])
    np.testing.assert_allclose(*results, rtol=1e-9)
    sound = [c["sparsity"] < 5 and c["gamma"] > 0 for c in found.cv_results_["params"]]
    np.testing.assert_array_equal(np.isfinite(results[0]), sound)


@pytest.mark.parametrize("use_paths", [True, False])
def test_data_that_fail(use_paths):
    X, y = plain_data()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        search(SparseRidge(1), {"sparsity": [1, 2]}, use_paths=use_paths).fit(X, y)
    X[3, 2] = 1e200
    with pytest.raises(ValueError, match="X, y or sample_weight is too large"):
        search(SparseRidge(1), {"sparsity": [1, 2]}, use_paths=use_paths, error_score="raise").fit(X, y)


@pytest.mark.parametrize("use_paths", [True, False])
def test_two_dimensional_target(use_paths):
    X, y = plain_data()
    with pytest.raises(ValueError, match="y should be a 1d array"):
        search(SparseRidge(1), {"sparsity": [1, 2]}, use_paths=use_paths, error_score="raise").fit(
            X, np.column_stack([y, y])
        )


# All models of a grid.


@solvers
@pytest.mark.parametrize(
    ("fit_intercept", "standardize", "weighted"),
    [(True, False, False), (True, True, True), (False, True, False)],
)
def test_grid_of_models(solver, fit_intercept, standardize, weighted):
    X, y = data()
    weight = np.random.default_rng(0).uniform(0, 2, len(y)) if weighted else None
    options = {"solver": solver, "fit_intercept": fit_intercept, "standardize": standardize}
    sparsities, gammas = [3, 1], [1.0, 1e-3, 50.0]
    path = sparse_ridge_path(X, y, sparsities, gammas, sample_weight=weight, **options)
    assert path.sparsities.tolist() == sparsities
    assert path.gammas.tolist() == gammas
    for t, g in product(range(2), range(3)):
        model = SparseRidge(sparsities[t], gammas[g], **options).fit(X, y, weight)
        np.testing.assert_allclose(path.coef[t, g], model.coef_, rtol=1e-8, atol=1e-12)
        assert path.intercept[t, g] == pytest.approx(model.intercept_, rel=1e-8, abs=1e-8)


# SparseRidgeCV.


@solvers
@pytest.mark.parametrize(("strategy", "standardize"), [("grid", True), ("coordinate", False)])
def test_cv_is_a_search(solver, strategy, standardize):
    X, y = plain_data()
    sparsities, gammas = [1, 2], [0.1, 10.0]
    options = {"solver": solver, "standardize": standardize, "fit_intercept": True, "swaps": True}
    model = SparseRidgeCV(
        sparsities=sparsities, gammas=gammas, search=strategy, cv=SHUFFLED, **options
    ).fit(X, y)
    other = search(
        SparseRidge(1, **options), {"gamma": gammas, "sparsity": sparsities}, search=strategy
    ).fit(X, y)
    assert {"sparsity": model.sparsity_, "gamma": model.gamma_} == other.best_params_
    assert model.nested_error_ == other.nested_error_
    np.testing.assert_array_equal(model.search_.cv_results_["cv_error"], other.cv_results_["cv_error"])
    np.testing.assert_allclose(model.coef_, other.best_estimator_.coef_)
    np.testing.assert_allclose(model.predict(X), other.predict(X))
    assert model.support_.tolist() == other.best_estimator_.support_.tolist()
    assert model.intercept_ == other.best_estimator_.intercept_


@pytest.mark.parametrize(
    "cv", [KFold(4), RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)], ids=["once", "repeated"]
)
def test_gamma_rescaled(cv):
    """To n_train / n of it, n_train without a fold."""
    X, y = data()
    grid = {"sparsities": [2], "gammas": [3.0], "cv": cv}
    model = SparseRidgeCV(rescale_gamma=True, **grid).fit(X, y)
    assert model.gamma_ == 3.0
    assert model.model_.gamma == pytest.approx(3.0 * 30 / 40)
    expected = SparseRidge(2, 3.0 * 30 / 40, standardize=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_)
    assert SparseRidgeCV(**grid).fit(X, y).model_.gamma == 3.0


def test_default_grid():
    X, y = data(12, 7)
    found = SparseRidgeCV().fit(X, y).search_.cv_results_["params"]
    # 6 log 6 = 10.8, and 7 log 7 = 13.6.
    assert sorted({c["sparsity"] for c in found}) == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(sorted({c["gamma"] for c in found}), np.logspace(-3, 3, 20))
    assert len(found) == 120


@pytest.mark.parametrize("n_samples", [1, 2, 3, 10, 100, 12345])
def test_largest_sparsity(n_samples):
    t = np.arange(2, 5000)
    allowed = [1, *t[t * np.log(t) <= n_samples]]
    assert largest_sparsity(n_samples, 5000) == allowed[-1]
    assert largest_sparsity(n_samples, 3) == min(3, allowed[-1])


@pytest.mark.parametrize(
    ("cv", "share"),
    [
        (KFold(5), 0.8),
        (RepeatedKFold(n_splits=4, n_repeats=2, random_state=0), 0.75),
        (ShuffleSplit(6, train_size=0.5, random_state=0), 0.5),
        (TimeSeriesSplit(4), 0.5),  # 8, 16, 24 and 32 of 40 rows
    ],
)
def test_gamma_is_rescaled_by_the_share_of_rows_that_the_splits_train_on(cv, share):
    X, y = data()
    options = {"sparsities": [2], "gammas": [3.0], "stability_weights": 0, "cv": cv}
    assert SparseRidgeCV(**options).fit(X, y).model_.gamma == 3.0
    assert SparseRidgeCV(**options, rescale_gamma=True).fit(X, y).model_.gamma == 3.0 * share


def test_no_nested_error_where_no_split_sees_another():
    X, y = data()
    with pytest.warns(UserWarning, match="No nested cross-validation"):
        model = SparseRidgeCV(sparsities=[1, 2], gammas=[1.0], cv=2).fit(X, y)
    assert model.predict(X).shape == y.shape
    assert not hasattr(model, "nested_error_")
    with pytest.raises(AttributeError, match="There is no nested error: none of these splits sees"):
        model.nested_error_  # noqa: B018
    with pytest.raises(NotFittedError):
        SparseRidgeCV().nested_error_  # noqa: B018


def test_coordinate_search_starts_at_the_middle_gamma():
    X, y = data()
    asked = []

    def watched(grid):
        from steadycv.strategies import coordinate_descent

        questions, answers = coordinate_descent(grid), None
        while True:
            try:
                wanted = questions.send(answers)
            except StopIteration as stop:
                return stop.value
            asked.append([grid[c] for c in wanted])
            answers = yield wanted

    model = SparseRidgeCV(gammas=[0.1, 1.0, 10.0], sparsities=[1, 2, 3, 4], search=watched).fit(X, y)
    assert asked[0] == [{"gamma": 1.0, "sparsity": t} for t in (1, 2, 3, 4)]
    assert {c["sparsity"] for c in asked[-1]} == {1, 2, 3, 4} or len(asked[-1]) == 3
    same = SparseRidgeCV(gammas=[0.1, 1.0, 10.0], sparsities=[1, 2, 3, 4], search="coordinate").fit(X, y)
    assert (model.sparsity_, model.gamma_) == (same.sparsity_, same.gamma_)


def test_cv_with_weights_and_groups():
    X, y = data()
    rng = np.random.default_rng(0)
    weight, groups = rng.uniform(0.5, 2.0, len(y)), rng.integers(0, 6, len(y))
    grid = {"sparsity": [1, 3], "gamma": [0.1, 1.0]}
    model = SparseRidgeCV(sparsities=[1, 3], gammas=[0.1, 1.0], cv=GroupKFold(3))
    model.fit(X, y, sample_weight=weight, groups=groups)
    other = search(SparseRidge(1, standardize=True), grid, cv=GroupKFold(3))
    other.fit(X, y, sample_weight=weight, groups=groups)
    assert model.nested_error_ == pytest.approx(other.nested_error_)
    np.testing.assert_allclose(model.coef_, other.best_estimator_.coef_)


def test_cv_with_metadata_routing():
    from sklearn import config_context

    X, y = data()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = SparseRidgeCV(sparsities=[1, 3], gammas=[0.1, 1.0])
    expected = model.fit(X, y, sample_weight=weight).coef_
    with config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(model.fit(X, y, sample_weight=weight).coef_, expected)

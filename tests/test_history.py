"""One question has one answer, to the last bit: whatever was asked, stored or resumed before."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.paths import find_path

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:150], Y[:150]
DEPTHS = [2, 3, 4, 6, 8, 12]
TREE = make_pipeline(StandardScaler(), DecisionTreeRegressor())
CASES = {
    "tree": (DecisionTreeRegressor(), {"max_depth": DEPTHS, "min_samples_split": [2, 9]}, "max_depth"),
    "scaler and tree": (
        TREE,
        {"decisiontreeregressor__max_depth": DEPTHS, "decisiontreeregressor__min_samples_split": [2, 9]},
        "decisiontreeregressor__max_depth",
    ),
    "forest": (RandomForestRegressor(3), {"max_depth": DEPTHS}, "max_depth"),
    "elastic net": (ElasticNet(), {"alpha": [0.01, 0.1, 0.3, 1.0], "l1_ratio": [0.2, 0.9]}, "alpha"),
    "ridge": (Ridge(), {"alpha": np.logspace(-2, 2, 7)}, "alpha"),
    "neighbors": (
        KNeighborsRegressor(),
        {"n_neighbors": range(1, 9), "weights": ["uniform", "distance"]},
        "n_neighbors",
    ),
}
cases = pytest.mark.parametrize(("estimator", "grid", "axis"), CASES.values(), ids=CASES)


def fit(estimator, grid, **options):
    return StabilitySearchCV(estimator, grid, cv=3, **options).fit(X, Y)


def smaller(grid, axis):
    return {**grid, axis: list(grid[axis])[:3]}


def assert_same_bits(one, other, seen=slice(None)):
    for name in ("cv_error", "instability"):
        np.testing.assert_array_equal(one.cv_results_[name][seen], other.cv_results_[name][seen])
    np.testing.assert_array_equal(one.ledger_.error[seen], other.ledger_.error[seen])
    np.testing.assert_array_equal(one.ledger_.change[seen], other.ledger_.change[seen])


@cases
def test_larger_grid_with_a_ledger(tmp_path, estimator, grid, axis):
    fresh = fit(estimator, grid)
    fit(estimator, smaller(grid, axis), ledger=tmp_path / "ledger")
    for _ in range(3):
        again = fit(estimator, grid, ledger=tmp_path / "ledger")
        assert_same_bits(again, fresh)
        np.testing.assert_array_equal(again.out_of_fold_predictions_, fresh.out_of_fold_predictions_)
        np.testing.assert_array_equal(again.nested_predictions_, fresh.nested_predictions_)
    assert again.n_fits_ == 0


@cases
def test_part_of_a_grid_after_all_of_it(tmp_path, estimator, grid, axis):
    fit(estimator, grid, ledger=tmp_path / "ledger")
    assert_same_bits(
        fit(estimator, smaller(grid, axis), ledger=tmp_path / "ledger"),
        fit(estimator, smaller(grid, axis)),
    )


@cases
def test_by_coordinate_as_by_grid(estimator, grid, axis):
    whole, some = fit(estimator, grid), fit(estimator, grid, search="coordinate")
    seen = ~np.isnan(some.cv_results_["instability"])
    assert seen.any()
    for name in ("cv_error", "instability"):
        np.testing.assert_array_equal(some.cv_results_[name][seen], whole.cv_results_[name][seen])


@cases
def test_out_of_fold_predictions_are_of_the_models_behind_the_error(estimator, grid, axis):
    search = fit(estimator, grid, search="coordinate", loss="squared_error")
    squared = (search.out_of_fold_predictions_ - Y) ** 2
    by_fold = [squared[split.test].mean() for split in search.lattice_.splits]
    assert search.cv_error_ == pytest.approx(np.mean(by_fold), rel=1e-12)


@cases
def test_on_several_cores_with_training_sets_apart(tmp_path, estimator, grid, axis):
    """With few groups, or a ledger, every training set is a task of its own."""
    with parallel_config("threading", n_jobs=2):
        assert_same_bits(fit(estimator, grid), fit(estimator, grid, ledger=tmp_path / "ledger"))
    assert_same_bits(fit(estimator, grid), fit(estimator, grid, ledger=tmp_path / "ledger"))


FAILING = {
    "a tree behind more components than there are": (
        make_pipeline(PCA(), DecisionTreeRegressor()),
        {"pca__n_components": [4], "decisiontreeregressor__max_depth": DEPTHS},
        {"pca__n_components": [4, 90]},
    ),
    "a support vector machine without a penalty": (SVR(), {"C": [1.0, 10.0]}, {"C": [1.0, 10.0, -1.0]}),
    "the same behind a scaler": (
        make_pipeline(StandardScaler(), SVR()),
        {"svr__C": [1.0, 10.0]},
        {"svr__C": [1.0, 10.0, -1.0]},
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(("estimator", "grid", "more"), FAILING.values(), ids=FAILING)
def test_what_fails_changes_nothing_for_others(tmp_path, estimator, grid, more):
    good = fit(estimator, grid, ledger=tmp_path / "ledger")
    fresh = fit(estimator, grid | more)
    assert_same_bits(fit(estimator, grid | more, ledger=tmp_path / "ledger"), fresh)
    worked = [i for i, p in enumerate(fresh.cv_results_["params"]) if p in good.cv_results_["params"]]
    np.testing.assert_array_equal(fresh.ledger_.error[worked], good.ledger_.error)
    np.testing.assert_array_equal(fresh.ledger_.change[worked], good.ledger_.change)
    assert np.isposinf(np.delete(fresh.ledger_.error, worked, axis=0)).any()


def test_long_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(9000, 2))
    y = X[:, 0] + np.abs(X[:, 1])

    def fit(rounds, **options):
        model = HistGradientBoostingRegressor(max_leaf_nodes=3)
        grid = {"max_iter": rounds}
        return StabilitySearchCV(model, grid, cv=3, refit=False, **options).fit(X, y)

    fresh = fit([2, 3, 5])
    fit([3], ledger=tmp_path / "ledger")
    assert_same_bits(fit([2, 3, 5], ledger=tmp_path / "ledger"), fresh)
    with parallel_config("threading", n_jobs=2):
        assert_same_bits(fit([2, 3, 5]), fresh)


def test_a_line_is_part_of_what_a_ledger_knows_a_candidate_by(tmp_path):
    """A shallow tree is a truncation of the deepest that was asked for, so it is another one."""
    tree, path = DecisionTreeRegressor(), tmp_path / "ledger"
    assert find_path(tree) is not None
    fit(tree, {"max_depth": [2, 3, 4]}, ledger=path)
    larger = fit(tree, {"max_depth": DEPTHS}, ledger=path)
    assert larger.n_fits_ == 7  # one for each training set, as without the file
    assert fit(tree, {"max_depth": [2, 3, 4]}, ledger=path).n_fits_ == 0

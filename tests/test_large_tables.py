"""Large tables: what is done a few candidates at a time, or looked up later, changes no bit."""

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from steadycv import StabilitySearchCV
from steadycv.measures import MeanLoss
from steadycv.paths.plan import AT_WORK, plan

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.5 * RNG.normal(size=120)
LABELS = np.array(["a", "b", "c"])[np.digitize(Y, [-1, 1])]
TWO = {
    "scoring": ["neg_mean_squared_error", "neg_median_absolute_error"],
    "refit": "neg_mean_squared_error",
}
DEPTHS = {"max_depth": [1, 2, 3], "ccp_alpha": [0.0, 0.01]}


def tables_are_large(monkeypatch, n_at_once):
    monkeypatch.setattr("steadycv.paths.trees.MOST_READ", 0)
    monkeypatch.setattr("steadycv.paths.growing.MOST_SORTED", 0)
    monkeypatch.setattr("steadycv.reducing.MOST_LOSSES", 1)
    monkeypatch.setattr("steadycv.waiting.MOST_LOSSES", n_at_once * len(X))


@pytest.mark.parametrize("n_at_once", [1, 4])
@pytest.mark.parametrize("to_file", [False, True])
@pytest.mark.parametrize(
    ("estimator", "grid", "y", "options"),
    [
        (DecisionTreeRegressor(random_state=0), DEPTHS, Y, {"return_train_score": True}),
        (DecisionTreeRegressor(random_state=0), DEPTHS, Y, {"scoring": "r2"}),
        (DecisionTreeRegressor(random_state=0), DEPTHS, Y, TWO),
        (DecisionTreeClassifier(random_state=0), DEPTHS, LABELS, {}),
        (DecisionTreeClassifier(random_state=0), DEPTHS, LABELS, {"loss": "log_loss"}),
        (Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0, 1e3]}, Y, {"race": True}),
    ],
)
def test_a_search_of_a_large_table(
    estimator, grid, y, options, to_file, n_at_once, monkeypatch, tmp_path
):
    def searched(name):
        ledger = {"ledger": tmp_path / name} if to_file else {}
        return StabilitySearchCV(estimator, grid, cv=KFold(5), **ledger, **options).fit(X, y)

    expected = searched("small")
    tables_are_large(monkeypatch, n_at_once)
    found = searched("large")
    for name, column in expected.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(found.cv_results_[name], column, err_msg=name)
    assert found.nested_error_ == expected.nested_error_
    assert found.promise_ == expected.promise_
    assert found.best_params_ == expected.best_params_


def test_some_candidates_fail_alone(monkeypatch):
    def fails_below_zero(y, said):
        if (said < 0).any():
            raise ValueError("below zero")
        return (y - said) ** 2

    def searched():
        with pytest.warns(FitFailedWarning, match="below zero"):
            return StabilitySearchCV(
                DecisionTreeRegressor(random_state=0),
                {"max_depth": [1, 2, 3, 6]},
                loss=fails_below_zero,
                refit=False,
            ).fit(X, Y + 1.5)

    expected = searched()
    tables_are_large(monkeypatch, 1)
    found = searched()
    scores = expected.cv_results_["mean_test_score"]
    assert 0 < np.isnan(scores).sum() < len(scores)
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], scores)


def test_a_tree_is_grown_once_for_all_candidates_of_a_large_table(monkeypatch):
    settings = [{"max_depth": depth} for depth in (2, 4, 3)]
    monkeypatch.setattr("steadycv.paths.plan.MOST_BYTES", 8 * 2000 * (1 + AT_WORK))  # one, written out
    data = np.zeros((2000, 1), dtype=np.uint8), np.arange(2000.0)
    estimator = DecisionTreeRegressor(random_state=0)
    assert [len(group.members) for group in plan(estimator, settings, *data)] == [3]
    deep = [*settings, {"max_depth": None}]
    assert [len(group.members) for group in plan(estimator, deep, *data)] == [1] * 4


def test_losses_are_compared_a_few_candidates_at_a_time(monkeypatch):
    tables_are_large(monkeypatch, 3)
    sizes = []
    monkeypatch.setattr(
        MeanLoss, "change", lambda self, a, b, *_: sizes.append((len(a), len(b))) or np.zeros(len(a))
    )
    StabilitySearchCV(Ridge(), {"alpha": np.logspace(0, 1, 8)}, refit=False).fit(X, Y)
    assert set(sizes) == {(3, 3), (2, 2)}
